/*
 * symbols - the symbols of an object file or program, as nm tells.
 *
 *     Map symbols = {0};                      name → ObjectSymbol *
 *     symbols_read("a.o", &arena, &symbols);
 */
#ifndef SUNDEW_SYMBOLS_H
#define SUNDEW_SYMBOLS_H
#include "base/map.h"
#include "base/mem.h"

typedef struct ObjectSymbol {
    char kind;                   /* as nm says: t, T, d, b …; r: only the loader
                                  * writes it */
    uint64_t address, size;
} ObjectSymbol;

/* A file that can't be read has none. */
void symbols_read(const char *file, Arena *a, Map *out);
/* Is it a function that other files can call? */
bool symbol_is_global_function(const ObjectSymbol *s);   /* NULL is fine: no */
#endif
