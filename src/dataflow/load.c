#include "dataflow/load.h"
#include "base/file.h"
#include "base/json.h"
#include "dataflow/datum_json.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>

enum { MOST_LINE = 16 << 20 };

typedef enum { FORM_DELIMITED, FORM_TEXT, FORM_JSON, FORM_CSV } Form;

static bool name_has(const char *name, const char *part) { return name && strcasestr(name, part); }

static Form form_of(const Op *op, const char *path)
{
    if (name_has(op->loader, "TextLoader"))
        return FORM_TEXT;
    if (name_has(op->loader, "Json"))
        return FORM_JSON;
    if (name_has(op->loader, "CSV"))
        return FORM_CSV;
    bool plain = !op->rules && (!op->loader || str_ends(op->loader, "PigStorage"));
    if (path && (str_ends(path, ".json") || str_ends(path, ".jsonl")))
        return FORM_JSON;
    return !plain && path && str_ends(path, ".csv") ? FORM_CSV : FORM_DELIMITED;
}

/* Tables of SQL have no loader: the name of the file tells. */
static char delimiter_of(const Op *op, const char *path)
{
    const char *d = op->nloader_args ? op->loader_args[0] : NULL;
    if (op->rules && path)
        return str_ends(path, ".csv") ? ',' : str_ends(path, ".tbl") ? '|' : '\t';
    if (name_has(op->loader, "CSV"))
        return d && *d && !d[1] ? *d : ',';
    if (!d || !*d || (op->loader && !str_ends(op->loader, "PigStorage")))
        return '\t';
    if (d[0] == '\\' && d[1] == 't')
        return '\t';
    if (d[0] == '\\' && (d[1] == 'u' || d[1] == 'x'))
        return (char)strtol(d + 2, NULL, 16);
    if (d[0] == '\\' && d[1])
        return d[1];
    return *d;
}

char *load_find(const Op *op, const char *dir)
{
    static const char *const ends[] = { "",       ".txt", ".tsv",  ".csv", ".json",
                                        ".jsonl", ".tbl", ".data", NULL };
    char *copy = xstrdup(op->path);
    while (*copy && copy[strlen(copy) - 1] == '/')
        copy[strlen(copy) - 1] = 0;
    const char *below = copy;
    while (*below == '/')
        below++;
    const char *names[] = { below, path_base(copy), op->alias };
    char *found = NULL;
    for (size_t i = 0; i < 3 && !found; i++)
        for (size_t k = 0; ends[k] && names[i] && *names[i] && !found; k++) {
            char *with = xprintf("%s%s", names[i], ends[k]);
            char *path = path_join(dir, with);
            if (file_exists(path) && !strstr(names[i], ".."))
                found = xstrdup(path);
            free(path);
            free(with);
        }
    free(copy);
    return found;
}

/* ---- one line */

typedef Vec(Datum) Data;

static void add_field(Arena *a, Data *out, const char *s, size_t n)
{
    vec_push(out, n ? datum_bytesn(a, s, n) : datum_null());
}

static void split_line(Arena *a, const char *s, size_t n, char delimiter, Data *out)
{
    size_t from = 0;
    for (size_t i = 0; i <= n; i++)
        if (i == n || s[i] == delimiter) {
            add_field(a, out, s + from, i - from);
            from = i + 1;
        }
}

static void split_csv(Arena *a, const char *s, size_t n, char delimiter, Data *out)
{
    Str field = { 0 };
    bool quoted = false;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && s[i] == '"') {
            if (quoted && i + 1 < n && s[i + 1] == '"')
                str_addc(&field, s[++i]);
            else
                quoted = !quoted;
        } else if (i == n || (s[i] == delimiter && !quoted)) {
            add_field(a, out, str_c(&field), field.len);
            str_reset(&field);
        } else {
            str_addc(&field, s[i]);
        }
    }
    str_release(&field);
}

static Datum json_datum(Arena *a, const json_t *v, Type t);

static Tuple *json_tuple(Arena *a, const json_t *v, const Schema *s)
{
    size_t n = s ? s->n : json_is_array(v) ? json_array_size(v) : json_object_size(v);
    Tuple *r = tuple_new(a, n);
    if (json_is_object(v) && !s) {
        const char *key;
        json_t *x;
        size_t i = 0;
        json_object_foreach((json_t *)v, key, x) r->fields[i++] =
            json_datum(a, x, dtype_of(DATUM_BYTES));
        return r;
    }
    for (size_t i = 0; i < n; i++) {
        const char *name = s ? s->fields[i].name : NULL;
        const json_t *x = json_is_array(v) ? json_array_get(v, i)
                          : name           ? json_object_get(v, name)
                                           : NULL;
        if (x)
            r->fields[i] = json_datum(a, x, s ? s->fields[i].type : dtype_of(DATUM_BYTES));
    }
    return r;
}

static Datum json_map(Arena *a, const json_t *v, Type t)
{
    DatumMap *m = arena_new(a, DatumMap);
    size_t n = json_object_size(v);
    const char *key;
    json_t *x;
    m->keys = arena_array(a, Datum, n + 1);
    m->values = arena_array(a, Datum, n + 1);
    json_object_foreach((json_t *)v, key, x)
    {
        m->keys[m->n] = datum_text(a, key);
        m->values[m->n++] =
            json_datum(a, x,
                       t.inner && t.inner->n ? t.inner->fields[0].type : dtype_of(DATUM_BYTES));
    }
    return (Datum){ .kind = DATUM_MAP, .u.map = m };
}

static Datum json_bag(Arena *a, const json_t *v, Type t)
{
    Bag *b = bag_new(a, json_array_size(v));
    for (size_t i = 0; i < b->n; i++) {
        const json_t *x = json_array_get(v, i);
        if (json_is_object(x) || json_is_array(x)) {
            b->items[i] = json_tuple(a, x, t.inner);
        } else {
            Tuple *one = tuple_new(a, 1);
            one->fields[0] =
                json_datum(a, x,
                           t.inner && t.inner->n ? t.inner->fields[0].type : dtype_of(DATUM_BYTES));
            b->items[i] = one;
        }
    }
    return datum_bag(b);
}

static Datum json_datum(Arena *a, const json_t *v, Type t)
{
    Datum raw = datum_null(), out;
    switch (json_typeof(v)) {
    case JSON_NULL: return raw;
    case JSON_TRUE:
    case JSON_FALSE: raw = datum_bool(json_is_true(v)); break;
    case JSON_INTEGER: raw = datum_long(json_integer_value(v)); break;
    case JSON_REAL: raw = datum_double(json_real_value(v)); break;
    case JSON_STRING: raw = datum_textn(a, json_string_value(v), json_string_length(v)); break;
    case JSON_OBJECT:
        return t.kind == DATUM_TUPLE ? datum_tuple(json_tuple(a, v, t.inner)) : json_map(a, v, t);
    case JSON_ARRAY:
        return t.kind == DATUM_TUPLE ? datum_tuple(json_tuple(a, v, t.inner)) : json_bag(a, v, t);
    }
    if (t.kind == DATUM_BYTES) {
        /* Untyped: the text of the value. */
        datum_cast(a, &raw, dtype_of(DATUM_TEXT), &out);
        out.kind = DATUM_BYTES;
        return out;
    }
    return datum_cast(a, &raw, t, &out) ? out : datum_null();
}

static const Tuple *fit(const Op *op, Arena *a, Data *fields)
{
    const Schema *s = op->schema;
    Tuple *t = tuple_new(a, s ? s->n : fields->len);
    for (size_t i = 0; i < t->n && i < fields->len; i++) {
        t->fields[i] = fields->items[i];
        Datum out;
        if (s && s->fields[i].type.kind != DATUM_BYTES)
            t->fields[i] =
                datum_cast(a, &fields->items[i], s->fields[i].type, &out) ? out : datum_null();
    }
    return t;
}

/* A table's file may begin with the names of the columns. */
static bool is_header(const Op *op, const Data *fields)
{
    bool same = op->rules && op->schema && fields->len == op->schema->n && fields->len;
    for (size_t i = 0; i < fields->len && same; i++) {
        const Datum *d = &fields->items[i];
        const char *name = op->schema->fields[i].name;
        same = name && d->kind == DATUM_BYTES && strlen(name) == d->len &&
               !strncasecmp(name, d->u.s, d->len);
    }
    return same;
}

static const Tuple *read_line(const Op *op, Form form, char delimiter, Arena *a, const char *s,
                              size_t n)
{
    Data fields = { 0 };
    if (form == FORM_JSON) {
        json_t *v = json_loadb(s, n, JSON_DECODE_ANY, NULL);
        const Tuple *t = NULL;
        if (json_is_object(v) || json_is_array(v))
            t = json_tuple(a, v, op->schema);
        json_decref(v);
        return t;
    }
    if (form == FORM_TEXT)
        add_field(a, &fields, s, n);
    else if (form == FORM_CSV)
        split_csv(a, s, n, delimiter, &fields);
    else
        split_line(a, s, n, delimiter, &fields);
    const Tuple *t = is_header(op, &fields) ? NULL : fit(op, a, &fields);
    vec_release(&fields);
    return t;
}

/* ---- a file: lines by reservoir sampling */

typedef struct Line {
    char *s;
    size_t n, number;
} Line;

typedef struct Reservoir {
    Vec(Line) lines;
    size_t seen, most;
    Rng *rng;
} Reservoir;

static void offer(Reservoir *r, const char *s, size_t n)
{
    size_t at = r->lines.len;
    if (at >= r->most) {
        at = (size_t)rng_below(r->rng, r->seen + 1);
        if (at < r->most)
            free(r->lines.items[at].s);
    } else {
        vec_grow(&r->lines);
    }
    if (at < r->most)
        r->lines.items[at] = (Line){ xmemdup(s, n), n, r->seen };
    r->seen++;
}

static bool skips_header(const Op *op)
{
    for (size_t i = 0; i < op->nloader_args; i++)
        if (!strcmp(op->loader_args[i], "SKIP_INPUT_HEADER"))
            return true;
    return false;
}

/* Without its end. A line that is too long is given when that is known. */
static bool next_line(FILE *f, Str *line)
{
    int c = getc_unlocked(f);
    str_reset(line);
    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n' && line->len <= MOST_LINE; c = getc_unlocked(f))
        str_addc(line, (char)c);
    while (line->len && line->data[line->len - 1] == '\r')
        line->data[--line->len] = 0;
    return true;
}

static bool read_lines(const Op *op, const char *path, Reservoir *r, Err *err)
{
    int fd = file_open_regular(path, true, err);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!f)
        return fd >= 0 ? err_errno(err, "%s", path) : false;
    Str line = { 0 };
    bool first = true, ok = true;
    while (ok && next_line(f, &line)) {
        if (line.len > MOST_LINE)
            ok = err_set(err, "%s: a line is longer than 16 MiB", path);
        else if (!(first && skips_header(op)))
            offer(r, str_c(&line), line.len);
        first = false;
    }
    str_release(&line);
    fclose(f);
    return ok;
}

static bool read_path(const Op *op, const char *path, Reservoir *r, Err *err)
{
    if (!file_is_dir(path))
        return read_lines(op, path, r, err);
    Strings names = { 0 };
    bool ok = dir_list(path, &names, err);
    for (size_t i = 0; ok && i < names.len; i++) {
        if (names.items[i][0] == '_' || names.items[i][0] == '.')
            continue;
        char *inner = path_join(path, names.items[i]);
        if (file_is_regular(inner))
            ok = read_lines(op, inner, r, err);
        free(inner);
    }
    strings_release(&names);
    return ok;
}

static int by_number(const void *x, const void *y)
{
    const Line *a = x, *b = y;
    return a->number < b->number ? -1 : 1;
}

bool load_table(const Op *op, const char *path, const LoadPlan *lp, Arena *a, Input *out,
                size_t *total, Err *err)
{
    assert(op->kind == OP_LOAD && lp->rng);
    Reservoir r = { .most = lp->sample ? lp->sample : 1000, .rng = lp->rng };
    bool ok = read_path(op, path, &r, err);
    Form form = form_of(op, path);
    char delimiter = delimiter_of(op, path);
    if (r.lines.len)
        qsort(r.lines.items, r.lines.len, sizeof(Line), by_number);
    out->n = 0;
    out->rows = arena_array(a, const Tuple *, r.lines.len + 1);
    for (size_t i = 0; i < r.lines.len; i++) {
        const Line *x = &r.lines.items[i];
        const Tuple *t = ok ? read_line(op, form, delimiter, a, x->s, x->n) : NULL;
        if (t)
            out->rows[out->n++] = t;
        free(r.lines.items[i].s);
    }
    vec_release(&r.lines);
    *total = r.seen;
    return ok;
}

void load_text(const Op *op, const char *text, Arena *a, Input *out)
{
    size_t lines = 1;
    for (const char *s = text; *s; s++)
        lines += *s == '\n';
    out->n = 0;
    out->rows = arena_array(a, const Tuple *, lines);
    while (*text) {
        size_t n = strcspn(text, "\n");
        const Tuple *t = read_line(op, form_of(op, NULL), delimiter_of(op, NULL), a, text, n);
        if (t)
            out->rows[out->n++] = t;
        text += n + (text[n] == '\n');
    }
}

/* ---- writing */

static void print_csv(Str *out, const char *s, size_t n)
{
    str_addc(out, '"');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"')
            str_addc(out, '"');
        str_addc(out, s[i]);
    }
    str_addc(out, '"');
}

void load_print(const Op *op, const Input *in, Str *out)
{
    Form form = form_of(op, NULL);
    char delimiter = delimiter_of(op, NULL);
    for (size_t i = 0; i < in->n; i++) {
        if (form == FORM_JSON) {
            Datum d = datum_tuple(in->rows[i]);
            Type type = dtype_tuple(op->schema);
            json_t *o = datum_json(&d, &type);
            char *text = json_dumps(o, JSON_COMPACT | JSON_ENCODE_ANY);
            str_add(out, text ? text : "null");
            free(text);
            json_decref(o);
            str_addc(out, '\n');
            continue;
        }
        for (size_t k = 0; k < in->rows[i]->n; k++) {
            Str cell = { 0 };
            datum_print(&cell, &in->rows[i]->fields[k], false);
            if (k)
                str_addc(out, delimiter);
            if (form == FORM_CSV && strpbrk(str_c(&cell), "\",\n"))
                print_csv(out, str_c(&cell), cell.len);
            else
                str_addn(out, str_c(&cell), cell.len);
            str_release(&cell);
        }
        str_addc(out, '\n');
    }
}
