/* locate - which function is at a place of an executable or library. */
#ifndef SUNDEW_LOCATE_H
#define SUNDEW_LOCATE_H
#include "base/mem.h"
#include <stdint.h>

/* Turns the place in an ELF file into its address in the file's own image, and
 * names the function there (in the arena; NULL if there is no symbol). */
uint64_t elf_locate(Arena *a, const char *path, uint64_t file_offset, const char **function);
#endif
