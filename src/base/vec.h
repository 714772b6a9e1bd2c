/*
 * vec - growing arrays of any type.
 *
 *     Vec(int) v = {0};
 *     vec_push(&v, 3);
 *     for (size_t i = 0; i < v.len; i++) use(v.items[i]);
 *     vec_release(&v);
 *
 * A struct field or a typedef may name the type: typedef Vec(char *) Strings.
 * vec_grow() makes room for one more zeroed item and gives its address.
 */
#ifndef SUNDEW_VEC_H
#define SUNDEW_VEC_H
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define Vec(T)                                                                                     \
    struct {                                                                                       \
        T *items;                                                                                  \
        size_t len, cap;                                                                           \
    }

#define vec_push(v, x)                                                                             \
    ((v)->items = vec_room((v)->items, (v)->len, &(v)->cap, sizeof *(v)->items),                   \
     (v)->items[(v)->len++] = (x))
#define vec_grow(v)                                                                                \
    ((v)->items = vec_room((v)->items, (v)->len, &(v)->cap, sizeof *(v)->items),                   \
     memset(&(v)->items[(v)->len], 0, sizeof *(v)->items), &(v)->items[(v)->len++])
#define vec_release(v) (free((v)->items), (v)->items = NULL, (v)->len = (v)->cap = 0)

/* Room for at least one more item after `len`. */
static inline void *vec_room(void *items, size_t len, size_t *cap, size_t size)
{
    if (len < *cap)
        return items;
    *cap = *cap ? *cap * 2 : 8;
    return xrealloc(items, *cap * size);
}

/* Strings that the vector owns. */
typedef Vec(char *) Strings;
void strings_add(Strings *v, const char *s);           /* copies */
void strings_addf(Strings *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strings_release(Strings *v);
/* The same with a terminating NULL, for exec; owned by the vector. */
char **strings_argv(Strings *v);
#endif
