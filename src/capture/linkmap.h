/*
 * linkmap - which files the linker really took, from the map it writes.
 *
 * Of an archive the linker takes only the members it needs; the map names
 * them. Understood are the maps of GNU ld and gold, and those of lld and mold.
 */
#ifndef SUNDEW_LINKMAP_H
#define SUNDEW_LINKMAP_H
#include "base/vec.h"

/* Each object once, as "path" or "archive(member)", in the order of the map;
 * only files that exist, seen from `cwd`; paths made absolute. */
void linkmap_objects(const char *map, const char *cwd, Strings *out);

/* "archive(member)" split; NULL if it is a plain path. Frees nothing. */
char *linkmap_archive(const char *object, char **member);
#endif
