/*
 * Samples as a file: lines of words, a word without blanks (others as \ooo).
 *
 *     sundew-samples 3
 *     text WORD                                 in the order of their numbers
 *     function NAME FILE LINE NPARAMS PUBLIC CALLS LEFT HANDLE SIGNATURE
 *     point entry|exit NVARS TOTAL
 *     var NAME KEY TYPE KIND ROLE ORIG UNSIGNED BOOL FLAGS BITS PARAM TWIN UNIT DEPTH
 *         PARENT NVALUES PARTIAL LOOKED_UP TAKES_NULL PUT PUT_OTHER STORED ALWAYS_STORED
 *         TESTED NPUTS CONSTANT…
 *     value NUMBER NAME                         of the variable before
 *     related A B HOW                           numbers of variables; a Relation
 *     row COUNT CELL…                           a cell is "-" if it is not known
 *     end
 */
#include "base/file.h"
#include "engine/contract/sample.h"
#include "base/str.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_word(Str *out, const char *word)
{
    str_addc(out, ' ');
    if (!*word)
        str_add(out, "\\e");
    for (; *word; word++)
        if (*word > 32 && *word < 127 && *word != '\\')
            str_addc(out, *word);
        else
            str_addf(out, "\\%03o", (unsigned char)*word);
}

static void put_var(Str *out, const Var *v)
{
    str_add(out, "var");
    put_word(out, v->name);
    put_word(out, v->key);
    put_word(out, v->type);
    str_addf(out, " %d %d %d %d %d %d %u %d %d %u %u %u %u", (int)v->kind, (int)v->role, v->orig,
             v->is_unsigned, v->is_bool, v->is_flags, v->bits, v->param, v->twin, v->unit, v->depth,
             v->parent, v->nvalues);
    str_addf(out, " %d %d %d %d %d %d %d %d %u", v->is_partial, v->is_looked_up, v->takes_null,
             v->is_put, v->is_put_other, v->is_stored, v->is_always_stored, v->is_tested, v->nputs);
    for (unsigned i = 0; i < v->nputs; i++)
        str_addf(out, " %" PRId64, v->puts[i]);
    str_addc(out, '\n');
    for (unsigned i = 0; i < v->nvalues; i++) {
        str_addf(out, "value %" PRId64, v->values[i].value);
        put_word(out, v->values[i].name);
        str_addc(out, '\n');
    }
}

static void put_point(Str *out, const Point *p)
{
    if (!p->nvars)
        return;
    str_addf(out, "point %s %u %" PRIu64 "\n", p->is_exit ? "exit" : "entry", p->nvars, p->total);
    for (unsigned v = 0; v < p->nvars; v++)
        put_var(out, &p->vars[v]);
    for (unsigned a = 0; a < p->nvars; a++)
        for (unsigned b = a + 1; b < p->nvars; b++)
            if (p->related && p->related[(size_t)a * p->nvars + b])
                str_addf(out, "related %u %u %d\n", a, b, p->related[(size_t)a * p->nvars + b]);
    for (size_t r = 0; r < p->rows.len; r++) {
        const Row *row = &p->rows.items[r];
        str_addf(out, "row %" PRIu64, row->count);
        for (unsigned v = 0; v < p->nvars; v++)
            if (row->known[v])
                str_addf(out, " %" PRId64, row->cells[v].i);
            else
                str_add(out, " -");
        str_addc(out, '\n');
    }
}

bool samples_write(const Samples *s, const char *path, Err *err)
{
    Str out = { 0 };

    str_add(&out, "sundew-samples 3\n");
    for (size_t i = 0; i < s->texts.len; i++) {
        str_add(&out, "text");
        put_word(&out, s->texts.items[i]);
        str_addc(&out, '\n');
    }
    for (size_t i = 0; i < s->functions.len; i++) {
        const FunctionSamples *f = s->functions.items[i];
        str_add(&out, "function");
        put_word(&out, f->name);
        put_word(&out, f->file);
        str_addf(&out, " %u %u %d %" PRIu64 " %" PRIu64, f->line, f->nparams, f->is_public,
                 f->calls, f->left);
        put_word(&out, f->handle);
        put_word(&out, f->signature);
        str_addc(&out, '\n');
        put_point(&out, &f->entry);
        put_point(&out, &f->exit);
    }
    str_add(&out, "end\n");
    bool ok = file_write(path, out.data, out.len, err);
    str_release(&out);
    return ok;
}

/* --- reading */

enum { MOST_VARS = 4096, MOST_VALUES = 65536 };

typedef struct Reader {
    Samples *s;
    char *at;                 /* the next word of the line */
    unsigned line;
    bool bad, ended;
    FunctionSamples *f;
    Point *p;
    Var *vars;                /* being read */
    unsigned nvars, wanted;
    VarValue *values;
    unsigned nvalues;
    uint64_t total;
} Reader;

/* Takes the escapes out of a word, in place. */
static void unescape(char *word)
{
    char *to = word;

    for (char *p = word; *p; p++) {
        if (*p != '\\') {
            *to++ = *p;
        } else if (p[1] == 'e') {
            p++;
        } else if (p[1] && p[2] && p[3]) {
            *to++ = (char)((p[1] & 7) << 6 | (p[2] & 7) << 3 | (p[3] & 7));
            p += 3;
        }
    }
    *to = 0;
}

static char *word(Reader *r)
{
    static char none[1];
    char *w = r->at;

    if (!w || !*w) {
        r->bad = true;
        return none;
    }
    char *end = strchrnul(w, ' ');
    r->at = *end ? end + 1 : end;
    *end = 0;
    unescape(w);
    return w;
}

static int64_t number(Reader *r, int64_t least, int64_t most)
{
    char *w = word(r), *end;

    errno = 0;
    int64_t x = strtoll(w, &end, 10);
    if (end == w || *end || errno || x < least || x > most) {
        r->bad = true;
        return least > 0 ? least : 0;
    }
    return x;
}

static void finish_point(Reader *r);

static void read_function(Reader *r)
{
    finish_point(r);
    const char *name = word(r);

    if (r->bad || samples_find(r->s, name)) {
        r->bad = true;
        return;
    }
    r->f = samples_function(r->s, name);
    r->p = NULL;
    r->f->file = arena_strdup(&r->s->arena, word(r));
    r->f->line = (unsigned)number(r, 0, INT32_MAX);
    r->f->nparams = (unsigned)number(r, 0, MOST_VARS);
    r->f->is_public = number(r, 0, 1);
    r->f->calls = (uint64_t)number(r, 0, INT64_MAX);
    r->f->left = (uint64_t)number(r, 0, INT64_MAX);
    r->f->handle = arena_strdup(&r->s->arena, word(r));
    r->f->signature = arena_strdup(&r->s->arena, word(r));
}

static void read_point(Reader *r)
{
    finish_point(r);
    const char *side = word(r);

    if (!r->f) {
        r->bad = true;
        return;
    }
    r->p = strcmp(side, "exit") == 0 ? &r->f->exit : &r->f->entry;
    r->wanted = (unsigned)number(r, 1, MOST_VARS);
    r->total = (uint64_t)number(r, 0, INT64_MAX);
    r->nvars = 0;
    r->bad |= r->p->vars != NULL;
    r->vars = arena_array(&r->s->arena, Var, r->wanted + 1);
}

static void read_var(Reader *r)
{
    if (!r->p || !r->vars || r->nvars >= r->wanted) {
        r->bad = true;
        return;
    }
    Var *v = &r->vars[r->nvars++];
    v->name = arena_strdup(&r->s->arena, word(r));
    v->key = arena_strdup(&r->s->arena, word(r));
    v->type = arena_strdup(&r->s->arena, word(r));
    v->kind = (VarKind)number(r, VAR_INT, VAR_FACT);
    v->role = (VarRole)number(r, ROLE_PARAM, ROLE_ERRNO);
    v->orig = number(r, 0, 1);
    v->is_unsigned = number(r, 0, 1);
    v->is_bool = number(r, 0, 1);
    v->is_flags = number(r, 0, 1);
    v->bits = (unsigned)number(r, 0, 64);
    v->param = (int)number(r, -1, MOST_VARS);
    v->twin = (int)number(r, -1, (int64_t)r->wanted - 1);
    v->unit = (unsigned)number(r, 0, INT32_MAX);
    v->depth = (unsigned)number(r, 0, 16);
    v->parent = (unsigned)number(r, 0, INT32_MAX);
    v->nvalues = (unsigned)number(r, 0, MOST_VALUES);
    v->is_partial = number(r, 0, 1);
    v->is_looked_up = number(r, 0, 1);
    v->takes_null = number(r, 0, 1);
    v->is_put = number(r, 0, 1);
    v->is_put_other = number(r, 0, 1);
    v->is_stored = number(r, 0, 1);
    v->is_always_stored = number(r, 0, 1);
    v->is_tested = number(r, 0, 1);
    v->nputs = (unsigned)number(r, 0, VAR_PUTS);
    for (unsigned i = 0; i < v->nputs; i++)
        v->puts[i] = number(r, INT64_MIN, INT64_MAX);
    r->nvalues = 0;
    r->values = arena_array(&r->s->arena, VarValue, v->nvalues + 1);
    v->values = r->values;
}

static void read_value(Reader *r)
{
    if (!r->nvars || !r->values || r->nvalues >= r->vars[r->nvars - 1].nvalues) {
        r->bad = true;
        return;
    }
    VarValue *v = &r->values[r->nvalues++];
    v->value = number(r, INT64_MIN, INT64_MAX);
    v->name = arena_strdup(&r->s->arena, word(r));
}

/* Twins point at each other: one was before, one is now. */
static bool twins_fit(const Reader *r)
{
    for (unsigned i = 0; i < r->nvars; i++) {
        const Var *v = &r->vars[i];
        if (v->orig && !r->p->is_exit)
            return false;
        if (v->twin >= 0 && r->vars[v->twin].orig == v->orig)
            return false;
        for (unsigned k = 0; k < v->nvalues; k++)
            if (!v->values[k].name)
                return false;
    }
    return true;
}

/* The variables are complete: the point gets them. */
static bool set_vars(Reader *r)
{
    if (!r->p || r->nvars != r->wanted || (!r->p->vars && !twins_fit(r))) {
        r->bad = true;
        return false;
    }
    if (!r->p->vars)
        point_vars(r->s, r->p, r->vars, r->nvars);
    return true;
}

/* A point without a row, too. */
static void finish_point(Reader *r)
{
    if (r->p && !r->p->vars && set_vars(r))
        r->p->total = r->total;
    r->p = NULL;
}

static void read_related(Reader *r)
{
    if (!set_vars(r))
        return;
    unsigned a = (unsigned)number(r, 0, (int64_t)r->nvars - 1);
    unsigned b = (unsigned)number(r, 0, (int64_t)r->nvars - 1);
    Relation how = (Relation)number(r, RELATED, RELATED | COMPARED | APART);
    if (!r->bad)
        point_relate(r->s, r->p, a, b, how);
}

static void read_row(Reader *r)
{
    if (!set_vars(r))
        return;
    Cell *cells = xcalloc(r->nvars + 1, sizeof *cells);
    uint8_t *known = xcalloc(r->nvars + 1, 1);
    uint64_t count = (uint64_t)number(r, 1, INT64_MAX);
    for (unsigned v = 0; v < r->nvars && !r->bad; v++) {
        if (r->at && r->at[0] == '-' && (r->at[1] == ' ' || !r->at[1])) {
            word(r);
            continue;
        }
        cells[v].i = number(r, INT64_MIN, INT64_MAX);
        known[v] = 1;
    }
    if (!r->bad)
        point_add_times(r->s, r->p, cells, known, count);
    r->p->total = r->total;
    free(cells);
    free(known);
}

static void read_line(Reader *r, char *line)
{
    static const struct {
        const char *name;
        void (*read)(Reader *r);
    } lines[] = {
        { "function", read_function }, { "point", read_point }, { "var", read_var },
        { "value", read_value },       { "row", read_row },     { "related", read_related },
    };

    r->at = line;
    const char *kind = word(r);
    if (strcmp(kind, "end") == 0) {
        finish_point(r);
        r->ended = true;
        return;
    }
    if (strcmp(kind, "text") == 0) {
        samples_text_number(r->s, word(r));
        return;
    }
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        if (strcmp(kind, lines[i].name) == 0) {
            lines[i].read(r);
            return;
        }
    r->bad = true;
}

Samples *samples_read(const char *path, uint64_t seed, Err *err)
{
    Str text = { 0 };
    Reader r = { .s = samples_new(seed) };

    r.s->rows_kept = SIZE_MAX / 2;             /* all that were kept */
    if (!file_read(path, &text, err))
        goto fail;
    str_addc(&text, 0);
    char *line = text.data;
    if (strncmp(line, "sundew-samples 3\n", 17) != 0) {
        err_set(err, "not a file of samples, or of another version; record again");
        goto fail;
    }
    for (line = strchr(line, '\n') + 1; *line && !r.bad && !r.ended;) {
        char *end = strchrnul(line, '\n');
        bool last = !*end;
        *end = 0;
        r.line++;
        read_line(&r, line);
        line = last ? end : end + 1;
    }
    if (r.bad || !r.ended) {
        err_set(err, "damaged at line %u; record again", r.line + 1);
        goto fail;
    }
    str_release(&text);
    return r.s;

fail:
    err_ctx(err, "%s", path);
    str_release(&text);
    samples_free(r.s);
    return NULL;
}
