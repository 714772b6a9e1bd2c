/* A body of JSON, as parameters: JSON[user], JSON[ids][0]; request.h tells more. */
#include "base/json.h"
#include "web/request.h"
#include <assert.h>
#include <inttypes.h>

enum { MOST_DEPTH = 16, MOST_ELEMENTS = 200 };

/* The next key of a path "[a][b]"; NULL: its end. To free. */
static char *next_key(const char **path)
{
    const char *end = **path == '[' ? strchr(*path, ']') : NULL;
    if (!end)
        return NULL;
    size_t len;
    Str kept = { 0 };          /* "+" is a blank in a query, and no blank here */
    for (const char *c = *path + 1; c < end; c++)
        str_add(&kept, *c == '+' ? "%2B" : (char[]){ *c, '\0' });
    char *key = url_decode(str_c(&kept), kept.len, &len);
    str_release(&kept);
    *path = end + 1;
    return key;
}

static json_t *value_of(const Param *p)
{
    switch (p->type) {
    case PHP_INT: return json_integer(strtoll(p->text, NULL, 10));
    case PHP_FLOAT: return json_real(strtod(p->text, NULL));
    case PHP_TRUE: return json_true();
    case PHP_FALSE: return json_false();
    default: return json_textn(p->text, p->n);
    }
}

static void put(json_t *into, const Param *p)
{
    const char *path = strchr(p->path, '[');
    char *key = next_key(&path);
    while (key && *path == '[') {
        json_t *below = json_object_get(into, key);
        if (!json_is_object(below)) {
            below = json_object();
            json_object_set_new(into, key, below);
        }
        free(key);
        into = below;
        key = next_key(&path);
    }
    if (key)
        json_object_set_new(into, key, value_of(p));
    free(key);
}

/* What has the keys 0, 1, 2 … is a list. */
static json_t *with_lists(json_t *o)
{
    const char *key;
    json_t *v;
    size_t n = 0;
    bool list = json_object_size(o) > 0;
    json_object_foreach(o, key, v)
    {
        char number[32];
        snprintf(number, sizeof number, "%zu", n++);
        list = list && strcmp(key, number) == 0;
    }
    json_t *out = list ? json_array() : json_object();
    json_object_foreach(o, key, v)
    {
        json_t *own = json_is_object(v) ? with_lists(v) : json_incref(v);
        if (list)
            json_array_append_new(out, own);
        else
            json_object_set_new(out, key, own);
    }
    return out;
}

void request_json(const Request *r, Str *out)
{
    json_t *o = json_object();
    for (size_t i = 0; i < r->params.len; i++)
        if (str_starts(r->params.items[i].path, "JSON["))
            put(o, &r->params.items[i]);
    json_t *whole = with_lists(o);
    char *text = json_dumps(whole, JSON_COMPACT);
    str_add(out, text ? text : "{}");
    free(text);
    json_decref(o);
    json_decref(whole);
}

/* ---- reading */

static void add_key(Str *path, const char *key)
{
    str_addc(path, '[');
    for (const char *c = key; *c; c++)
        if ((unsigned char)*c < 0x20 || strchr("[]%", *c))
            str_addf(path, "%%%02X", (unsigned char)*c);
        else
            str_addc(path, *c);
    str_addc(path, ']');
}

static void take(Request *r, const char *path, const json_t *v, unsigned depth);

static void take_below(Request *r, const char *path, const char *key, const json_t *v,
                       unsigned depth)
{
    Str below = { 0 };
    str_add(&below, path);
    add_key(&below, key);
    take(r, str_c(&below), v, depth + 1);
    str_release(&below);
}

static void take(Request *r, const char *path, const json_t *v, unsigned depth)
{
    const char *key;
    const json_t *element;
    char number[40];
    if (depth > MOST_DEPTH || r->params.len > MOST_ELEMENTS)
        return;
    if (json_is_object(v)) {
        json_object_foreach((json_t *)v, key, element) take_below(r, path, key, element, depth);
    } else if (json_is_array(v)) {
        for (size_t i = 0; i < json_array_size(v); i++) {
            snprintf(number, sizeof number, "%zu", i);
            take_below(r, path, number, json_array_get(v, i), depth);
        }
    } else if (depth && json_is_string(v)) {
        request_set(r, path, json_string_value(v), json_string_length(v));
    } else if (depth && (json_is_integer(v) || json_is_real(v) || json_is_boolean(v))) {
        if (json_is_real(v))
            snprintf(number, sizeof number, "%.17g", json_real_value(v));
        else
            snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
                     json_is_boolean(v) ? json_is_true(v) : json_integer_value(v));
        request_set_typed(r, path, number, strlen(number),
                          json_is_real(v)      ? PHP_FLOAT
                          : json_is_integer(v) ? PHP_INT
                          : json_is_true(v)    ? PHP_TRUE
                                               : PHP_FALSE);
    }
}

bool request_add_json(Request *r, const char *text, size_t n)
{
    json_t *v = json_parse(text, n, NULL), *again = NULL;
    if (!v)
        return false;
    Request *own = request_new("");
    take(own, "JSON", v, 0);
    /* Empty lists, null and more than 200 elements are no parameters. */
    Str whole = { 0 };
    request_json(own, &whole);
    again = json_parse(str_c(&whole), whole.len, NULL);
    bool same = own->params.len && again && json_equal(v, again);
    for (size_t i = 0; same && i < own->params.len; i++) {
        const Param *p = &own->params.items[i];
        request_set_typed(r, p->path, p->text, p->n, p->type);
    }
    str_release(&whole);
    request_free(own);
    json_decref(v);
    json_decref(again);
    return same;
}
