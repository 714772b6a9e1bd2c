#include "base/json.h"
#include "base/escape.h"
#include "base/file.h"
#include <string.h>

json_t *json_parse(const char *text, size_t n, Err *err)
{
    json_error_t e;
    json_t *v = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);
    if (!v)
        err_set(err, "line %d: not JSON as expected: %s", e.line, e.text);
    return v;
}

json_t *json_read(const char *path, Err *err)
{
    Str text = { 0 };
    json_t *v = NULL;
    if (file_size(path) > (int64_t)1 << 30)
        err_set(err, "%s: larger than 1 GiB", path);
    else if (file_read(path, &text, err)) {
        v = json_parse(str_c(&text), text.len, err);
        if (!v)
            err_ctx(err, "%s", path);
    }
    str_release(&text);
    return v;
}

json_t *json_textn(const char *s, size_t n)
{
    Str clean = { 0 };
    escape_utf8(&clean, s, n);
    json_t *v = json_stringn(str_c(&clean), clean.len);
    str_release(&clean);
    return v;
}

json_t *json_text(const char *s) { return s ? json_textn(s, strlen(s)) : json_null(); }

json_t *json_strings(char *const *items, size_t n)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(a, json_text(items[i]));
    return a;
}

static int append(const char *bytes, size_t n, void *out)
{
    str_addn(out, bytes, n);
    return 0;
}

/* JSON may be read on a terminal: what would control or deceive it there is
 * written as \u escapes. Outside of strings all is ASCII, so this is right
 * everywhere. */
static void add_visibly(Str *out, const Str *text)
{
    size_t clean = 0, i = 0;
    while (i < text->len) {
        unsigned cp = 0xfffd;
        size_t len = utf8_decode(text->data + i, text->len - i, &cp);
        if ((cp >= 0x7f && cp <= 0x9f) || utf8_is_deceiving(cp)) {
            str_addn(out, text->data + clean, i - clean);
            str_addf(out, "\\u%04X", cp);
            clean = i + len;
        }
        i += len ? len : 1;
    }
    str_addn(out, text->data + clean, i - clean);
}

void json_print(const json_t *v, Str *out)
{
    Str text = { 0 };
    json_dump_callback(v, append, &text,
                       JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    add_visibly(out, &text);
    str_addc(out, '\n');
    str_release(&text);
}

bool json_write(const char *path, const json_t *v, Err *err)
{
    Str text = { 0 };
    json_print(v, &text);
    bool ok = file_write(path, str_c(&text), text.len, err);
    str_release(&text);
    return ok;
}

const char *json_str(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

long long json_int(const json_t *o, const char *key, long long otherwise)
{
    const json_t *v = json_object_get(o, key);
    return json_is_integer(v) ? json_integer_value(v) : otherwise;
}

void json_get_strings(const json_t *o, const char *key, Strings *out)
{
    size_t i;
    json_t *v;
    json_array_foreach(json_object_get(o, key), i, v) if (json_is_string(v))
        strings_add(out, json_string_value(v));
}
