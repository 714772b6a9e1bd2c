/*
 * json - JSON in and out, on jansson.
 *
 * Reading goes through json_read(), which names the file and the line of an
 * error and limits the size. Writing goes through json_print(); strings are
 * made with json_text(), which takes any bytes and never fails.
 *
 *     json_t *o = json_pack("{s:o, s:i}", "name", json_text(name), "line", 3);
 *     json_print(o, &out);
 *     json_decref(o);
 */
#ifndef SUNDEW_JSON_H
#define SUNDEW_JSON_H
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include <jansson.h>

json_t *json_read(const char *path, Err *err);
json_t *json_parse(const char *text, size_t n, Err *err);
json_t *json_text(const char *s);                  /* NULL becomes null */
json_t *json_textn(const char *s, size_t n);
json_t *json_strings(char *const *items, size_t n);
void json_print(const json_t *v, Str *out);        /* indented, with a newline */
bool json_write(const char *path, const json_t *v, Err *err);

/* Fields of an object; a missing or wrongly typed one gives the default. */
const char *json_str(const json_t *o, const char *key);       /* or "" */
long long json_int(const json_t *o, const char *key, long long otherwise);
void json_get_strings(const json_t *o, const char *key, Strings *out);
#endif
