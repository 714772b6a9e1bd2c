/*
 * source - the text of source files that findings point into, read once each.
 *
 *     Sources *all = sources_new(root);
 *     const Source *s = sources_get(all, "src/buf.c");      NULL: not there
 *     size_t n;
 *     const char *line = source_line(s, 17, &n);            NULL: no such line
 *     sources_free(all);
 *
 * A path comes from debug information and may be hostile: what is not a
 * regular file, is larger than 64 MiB, or lies outside the root without the
 * look of a C source (so that no key file ends up in a report) is "not there".
 */
#ifndef SUNDEW_SOURCE_H
#define SUNDEW_SOURCE_H
#include "base/str.h"
#include "finding/csyntax.h"

typedef struct Sources Sources;
typedef struct Source Source;

Sources *sources_new(const char *root);
void sources_free(Sources *all);                    /* NULL is fine */

/* The name of a file that stays when the tree is moved: relative to the root, also one or two folders
 * above it, where a build's folder is the root. To be freed. */
char *sources_name(const Sources *all, const char *file);
const Source *sources_get(Sources *all, const char *file);
/* Does `word` occur in the file? Cheaper than sources_get(), and keeps nothing. */
bool sources_mention(const Sources *all, const char *file, const char *word);
int source_lines(const Source *s); /* how many; NULL is fine */
/* Without its newline; lines count from 1. */
const char *source_line(const Source *s, int line, size_t *len);
CState source_state(const Source *s, int line); /* at the line's begin */
/* Appends the line's code without blanks and comments. */
void source_line_bare(const Source *s, int line, Str *out);
#endif
