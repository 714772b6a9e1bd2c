#include "engine/sequence/keep.h"
#include "base/json.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_STEPS = SEQ_LIMIT };

/* ------------------------------------------------------------------ write */

static json_t *hex(const uint8_t *bytes, size_t n)
{
    Str s = { 0 };
    for (size_t i = 0; i < n; i++)
        str_addf(&s, "%02x", bytes[i]);
    json_t *j = json_text(str_c(&s));
    str_release(&s);
    return j;
}

static json_t *value_to_json(const SeqValue *v);

static json_t *links_to_json(const SeqValue *v)
{
    json_t *all = json_array();
    for (size_t i = 0; i < v->nlinks; i++)
        json_array_append_new(all, json_pack("[io]", (int)v->links[i].offset,
                                             value_to_json(&v->links[i].value)));
    return all;
}

static json_t *value_to_json(const SeqValue *v)
{
    char text[64];
    switch (v->kind) {
    case VALUE_NULL: return json_null();
    case VALUE_INTEGER:
        snprintf(text, sizeof text, "%" PRIu64, v->integer);
        return json_pack("{s:s}", "integer", text);
    case VALUE_FLOAT:
        snprintf(text, sizeof text, "%a", v->real);
        return json_pack("{s:s}", "float", text);
    case VALUE_STRING:
        return json_pack("{s:o,s:b}", "string", hex(v->bytes, v->n), "given", v->given);
    case VALUE_BYTES:
        return json_pack("{s:o,s:b,s:o}", "bytes", hex(v->bytes, v->n), "given", v->given, "links",
                         links_to_json(v));
    case VALUE_ROOM: return json_pack("{s:I,s:b}", "room", (json_int_t)v->n, "given", v->given);
    case VALUE_WITHIN:
        return json_pack("{s:[iI]}", "within", (int)v->param, (json_int_t)v->integer);
    case VALUE_RESULT: return json_pack("{s:i}", "result", (int)v->step);
    case VALUE_STORED: return json_pack("{s:[ii]}", "stored", (int)v->step, (int)v->param);
    case VALUE_STORAGE: return json_pack("{s:[ii]}", "storage", (int)v->step, (int)v->param);
    case VALUE_FUNCTION: return json_pack("{s:o}", "function", json_text(v->symbol));
    default: return NULL;
    }
}

static json_t *step_to_json(const SeqStep *st)
{
    if (!st->f)
        return st->storage ? json_pack("{s:o}", "storage", json_text(st->storage->name)) : NULL;
    if (st->f->shape_of)
        return NULL;
    json_t *args = json_array();
    for (unsigned i = 0; i < st->nargs; i++) {
        json_t *v = value_to_json(&st->args[i]);
        if (!v) {
            json_decref(args);
            return NULL;
        }
        json_array_append_new(args, v);
    }
    return json_pack("{s:o,s:o,s:b,s:b}", "call", json_text(st->f->name), "args", args, "closing",
                     st->closing, "looking", st->looking);
}

json_t *seq_to_json(const Seq *s)
{
    json_t *all = json_array();
    for (unsigned i = 0; i < s->n; i++) {
        json_t *st = step_to_json(&s->steps[i]);
        if (!st) {
            json_decref(all);
            return NULL;
        }
        json_array_append_new(all, st);
    }
    return all;
}

/* ------------------------------------------------------------------- read */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(Arena *a, const char *text, SeqValueKind kind, SeqValue *out)
{
    size_t n = strlen(text) / 2;
    if (strlen(text) % 2 || n > MOST_BYTES)
        return false;
    uint8_t *bytes = arena_array(a, uint8_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    *out = (SeqValue){ .kind = kind, .bytes = bytes, .n = n };
    return true;
}

/* A step that was there before, and a place that it has. */
static bool read_made(const Seq *s, const json_t *where, SeqValueKind kind, SeqValue *out)
{
    long long step = json_is_integer(where) ? json_integer_value(where)
                                            : json_integer_value(json_array_get(where, 0));
    long long param = json_integer_value(json_array_get(where, 1));
    if (step < 0 || step >= s->n || param < 0)
        return false;
    const SeqStep *st = &s->steps[step];
    *out = (SeqValue){ .kind = kind, .step = (unsigned)step, .param = (unsigned)param };
    if (kind == VALUE_RESULT)
        return st->f != NULL;
    return st->f ? param < st->nargs : kind == VALUE_STORAGE && st->storage && param == 0;
}

static bool read_value(Arena *a, const Seq *s, const json_t *j, SeqValue *out);

/* Pointers in bytes, each where there is room for one. */
static bool read_links(Arena *a, const Seq *s, const json_t *list, SeqValue *out)
{
    size_t n = json_array_size(list);
    SeqLink *links = arena_array(a, SeqLink, n + 1);
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(list, i);
        long long at = json_integer_value(json_array_get(row, 0));
        if (at < 0 || (size_t)at + sizeof(void *) > out->n ||
            !read_value(a, s, json_array_get(row, 1), &links[i].value) ||
            value_is_made(&links[i].value) || links[i].value.kind == VALUE_WITHIN)
            return false;
        links[i].offset = (uint32_t)at;
    }
    out->links = links;
    out->nlinks = n;
    return true;
}

static bool read_within(const json_t *where, SeqValue *out)
{
    long long param = json_integer_value(json_array_get(where, 0));
    long long offset = json_integer_value(json_array_get(where, 1));
    *out = value_within((unsigned)param, (uint64_t)offset);
    return param >= 0 && param < 32 && offset >= 0 && offset <= MOST_BYTES;
}

static bool read_value(Arena *a, const Seq *s, const json_t *j, SeqValue *out)
{
    const json_t *v;
    if (json_is_null(j)) {
        *out = value_null();
    } else if (*json_str(j, "integer")) {
        *out = value_integer(strtoull(json_str(j, "integer"), NULL, 10));
    } else if (*json_str(j, "float")) {
        *out = value_float(strtod(json_str(j, "float"), NULL));
    } else if (json_is_string(v = json_object_get(j, "string"))) {
        if (!read_hex(a, json_string_value(v), VALUE_STRING, out))
            return false;
        out->given = json_is_true(json_object_get(j, "given"));
    } else if (json_is_string(v = json_object_get(j, "bytes"))) {
        if (!read_hex(a, json_string_value(v), VALUE_BYTES, out))
            return false;
        out->given = json_is_true(json_object_get(j, "given"));
        return read_links(a, s, json_object_get(j, "links"), out);
    } else if ((v = json_object_get(j, "within"))) {
        return read_within(v, out);
    } else if (json_is_integer(v = json_object_get(j, "room"))) {
        long long n = json_integer_value(v);
        *out = value_room((size_t)n);
        out->given = json_is_true(json_object_get(j, "given"));
        return n >= 0 && n <= MOST_BYTES;
    } else if ((v = json_object_get(j, "result"))) {
        return read_made(s, v, VALUE_RESULT, out);
    } else if ((v = json_object_get(j, "stored"))) {
        return read_made(s, v, VALUE_STORED, out);
    } else if ((v = json_object_get(j, "storage"))) {
        return read_made(s, v, VALUE_STORAGE, out);
    } else if ((v = json_object_get(j, "function"))) {
        *out = value_function(json_is_string(v) ? arena_strdup(a, json_string_value(v)) : NULL);
    } else {
        return false;
    }
    return true;
}

static bool read_storage(Arena *a, const Api *api, Seq *s, const char *name, Err *err)
{
    for (size_t i = 0; i < api->ntypes; i++)
        if (!strcmp(api->types[i].name, name)) {
            seq_storage(a, s, &api->types[i]);
            return true;
        }
    return err_set(err, "the header has no type %s", name);
}

static bool read_step(Arena *a, const Api *api, Seq *s, const json_t *j, Err *err)
{
    const char *name = json_str(j, "call");
    if (!*name && json_is_string(json_object_get(j, "storage")))
        return read_storage(a, api, s, json_str(j, "storage"), err);
    const ApiFunction *f = *name ? api_function(api, name) : NULL;
    if (!f && !strcmp(name, "free"))
        f = api->release;
    if (!f)
        return err_set(err, "the header has no function %s", *name ? name : "without a name");
    const json_t *args = json_object_get(j, "args");
    if (json_array_size(args) != f->nparams)
        return err_set(err, "%s has another number of parameters now", name);
    SeqValue *values = arena_array(a, SeqValue, f->nparams + 1);
    for (unsigned i = 0; i < f->nparams; i++)
        if (!read_value(a, s, json_array_get(args, i), &values[i]))
            return err_set(err, "an argument of %s is not understood", name);
    for (unsigned i = 0; i < f->nparams; i++)
        if (values[i].kind == VALUE_WITHIN &&
            (values[i].param >= f->nparams || values[values[i].param].kind == VALUE_WITHIN))
            return err_set(err, "an argument of %s lies in another that is not there", name);
    SeqStep *st = seq_call(a, s, f);
    memcpy(st->args, values, f->nparams * sizeof *values);
    st->closing = json_is_true(json_object_get(j, "closing"));
    st->looking = json_is_true(json_object_get(j, "looking"));
    return true;
}

Seq *seq_from_json(Arena *a, const Api *api, const json_t *steps, Err *err)
{
    Seq *s = seq_new(a);
    size_t i;
    json_t *j;
    if (!json_is_array(steps) || json_array_size(steps) > MOST_STEPS) {
        err_set(err, "this is no sequence");
        return NULL;
    }
    json_array_foreach(steps, i, j) if (!read_step(a, api, s, j, err)) return NULL;
    seq_check(s);
    return s;
}

/* ------------------------------------------------------------------ files */

json_t *seq_files_to_json(const SeqFile *files, size_t n)
{
    json_t *all = json_object();
    for (size_t i = 0; i < n; i++)
        json_object_set_new(all, files[i].name, hex(files[i].bytes, files[i].n));
    return all;
}

/* They go into the folder of a test, and nowhere else. */
static bool is_file_name(const char *name)
{
    enum { LONGEST_NAME = 200 };
    return *name && strlen(name) <= LONGEST_NAME && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

bool seq_files_from_json(Arena *a, const json_t *j, const SeqFile **files, size_t *n, Err *err)
{
    const char *name;
    json_t *bytes;
    SeqFile *all = arena_array(a, SeqFile, json_object_size(j) + 1);
    *n = 0;
    json_object_foreach((json_t *)j, name, bytes)
    {
        SeqValue v = { 0 };
        const char *text = json_string_value(bytes);
        if (!is_file_name(name) || !text || !read_hex(a, text, VALUE_BYTES, &v))
            return err_set(err, "a file of a test has no proper name or content");
        all[(*n)++] = (SeqFile){ arena_strdup(a, name), v.bytes, v.n };
    }
    *files = all;
    return true;
}
