/*
 * Counting, folding constants into families, and the statistic.
 *
 * Families. A macro has no type, so what belongs together must be seen from
 * the names: O_RDONLY, O_CREAT, O_TRUNC. The first word is often too coarse (all
 * of a library's constants begin with it) and the longest too fine, so it is
 * the constants that callers do pass here that decide. The prefix grows word by
 * word as long as nine tenths of the weight have it in common and at least two
 * names are left:
 *
 *     SQLITE_OPEN_READONLY 20, SQLITE_OPEN_CREATE 14, SQLITE_LIMIT_LENGTH 1
 *     SQLITE_       35 of 35
 *     SQLITE_OPEN_  34 of 35       the family here; SQLITE_LIMIT_* is another
 */
#include "technique/types/histogram.h"
#include "base/file.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IN_COMMON 0.9          /* of the weight has the family's prefix */

const Limits limits_default = { 30, 6, 10, 0.05, 3, 0.85 };
const Limits limits_recall = { 25, 10, 1, 0.5, 10, 0.5 };

void histograms_release(Histograms *hs)
{
    for (size_t i = 0; i < hs->map.len; i++) {
        Histogram *h = hs->map.entries[i].value;
        vec_release(&h->bins);
    }
    map_release(&hs->map);
    map_release(&hs->texts);
    arena_release(&hs->arena);
}

Histogram *histogram_find(const Histograms *hs, const char *key) { return map_get(&hs->map, key); }

Histogram *histogram_at(Histograms *hs, const char *key)
{
    Histogram *h = map_get(&hs->map, key);
    if (h)
        return h;
    h = arena_new(&hs->arena, Histogram);
    h->key = arena_strdup(&hs->arena, key);
    map_put(&hs->map, key, h);
    return h;
}

static Bin *bin_at(Histograms *hs, Histogram *h, const char *label)
{
    for (size_t i = 0; i < h->bins.len; i++)
        if (strcmp(h->bins.items[i].label, label) == 0)
            return &h->bins.items[i];
    const char *text = map_get(&hs->texts, label);
    if (!text) {
        text = arena_strdup(&hs->arena, label);
        map_put(&hs->texts, label, (void *)text);
    }
    Bin *b = vec_grow(&h->bins);
    b->label = text;
    return b;
}

void histogram_add(Histograms *hs, Histogram *h, const char *label, double weight)
{
    assert(isfinite(weight));
    bin_at(hs, h, label)->own += weight;
}

void histogram_declare(Histograms *hs, Histogram *h, const char *label)
{
    if (h->declared)
        return;
    Bin *b = bin_at(hs, h, label);
    b->known += DECLARED;
    h->declared = b->label;
}

void histograms_learn(Histograms *hs, const Histograms *other)
{
    for (size_t i = 0; i < other->map.len; i++) {
        const Histogram *from = other->map.entries[i].value;
        Histogram *to = histogram_at(hs, from->key);
        for (size_t k = 0; k < from->bins.len; k++) {
            const Bin *b = &from->bins.items[k];
            Bin *t = bin_at(hs, to, b->label);
            t->known += b->own;
            t->programs += b->own > 0;
        }
    }
}

/* ---- families */

static const char *constant_name(const char *label)
{
    return str_starts(label, "const ") ? label + 6 : NULL;
}

/* The length of `name` up to and with its first underscore after `from`;
 * 0: there is none that ends a word. */
static size_t word_end(const char *name, size_t from)
{
    size_t i = from;
    while (name[i] == '_')
        i++;
    const char *u = strchr(name + i, '_');
    return u ? (size_t)(u - name) + 1 : 0;
}

static double weight_of(const Bin *b) { return b->own + b->known; }

/* The weight and the number of names that begin with `prefix`. */
static double with_prefix(const Histogram *h, const char *prefix, size_t n, unsigned *names)
{
    double sum = 0;
    *names = 0;
    for (size_t i = 0; i < h->bins.len; i++) {
        const Bin *b = &h->bins.items[i];
        const char *name = constant_name(b->label);
        if (name && weight_of(b) > 0 && strncmp(name, prefix, n) == 0) {
            sum += weight_of(b);
            ++*names;
        }
    }
    return sum;
}

/* The prefix that nearly all constants here have, as a part of one's name. */
static const char *common_prefix(const Histogram *h, size_t *len)
{
    unsigned names;
    double all = with_prefix(h, "", 0, &names);
    const char *best = "";
    *len = 0;
    for (bool grew = true; grew;) {
        grew = false;
        for (size_t i = 0; i < h->bins.len && !grew; i++) {
            const char *name = constant_name(h->bins.items[i].label);
            if (!name || strncmp(name, best, *len) != 0)
                continue;
            size_t n = word_end(name, *len);
            if (n > *len && with_prefix(h, name, n, &names) >= IN_COMMON * all && names >= 2) {
                best = name;
                *len = n;
                grew = true;
            }
        }
    }
    return best;
}

/* "const O_RDONLY" becomes "O_*", given what most have in common. */
static const char *folded(Arena *a, const char *label, const char *common, size_t len)
{
    const char *name = constant_name(label);
    if (!name)
        return label;
    size_t n = word_end(name, 0);
    if (len && strncmp(name, common, len) == 0)
        n = len;
    else if (len && n && strncmp(name, common, n) == 0 && word_end(name, n))
        n = word_end(name, n);       /* a sister of the common family */
    else if (len && n && strncmp(name, common, n) == 0)
        n = 0;
    if (n == 0)
        return name;
    return arena_printf(a, "%.*s*", (int)n, name);
}

static int by_weight(const void *x, const void *y)
{
    const ViewBin *a = x, *b = y;
    double wa = a->own + a->known, wb = b->own + b->known;
    if (wa != wb)
        return wa < wb ? 1 : -1;
    return strcmp(a->label, b->label);
}

void histogram_view(const Histogram *h, View *v)
{
    size_t len;
    const char *common = common_prefix(h, &len);
    *v = (View){ 0 };
    for (size_t i = 0; i < h->bins.len; i++) {
        const Bin *b = &h->bins.items[i];
        if (weight_of(b) <= 1e-9)
            continue;
        const char *label = folded(&v->arena, b->label, common, len);
        size_t k = 0;
        while (k < v->bins.len && strcmp(v->bins.items[k].label, label) != 0)
            k++;
        ViewBin *t = k < v->bins.len ? &v->bins.items[k] : vec_grow(&v->bins);
        t->label = label;
        t->own += b->own;
        t->known += b->known;
        if (b->programs > t->programs)
            t->programs = b->programs;
        t->names += constant_name(b->label) != NULL;
        v->total += weight_of(b);
    }
    if (v->bins.len)
        qsort(v->bins.items, v->bins.len, sizeof *v->bins.items, by_weight);
    assert(v->bins.len <= h->bins.len);
}

void view_release(View *v)
{
    vec_release(&v->bins);
    arena_release(&v->arena);
}

const ViewBin *view_bin(const View *v, const Histogram *h, const char *label)
{
    Arena a = { 0 };
    size_t len;
    const char *common = common_prefix(h, &len);
    const char *want = folded(&a, label, common, len);
    const ViewBin *found = NULL;
    for (size_t i = 0; i < v->bins.len && !found; i++)
        if (strcmp(v->bins.items[i].label, want) == 0)
            found = &v->bins.items[i];
    arena_release(&a);
    return found;
}

/* ---- the statistic */

/* P(X <= t) for X of Binomial(n, p). */
static double binomial_tail(double t, double n, double p)
{
    double sum = 0;
    for (double i = 0; i <= t && i < 10000; i++)
        sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) +
                   (n - i) * log1p(-p));
    return sum;
}

double share_confidence(double t, double n)
{
    t = floor(t + 0.5);
    n = floor(n + 0.5);
    if (n < 1 || t >= n)
        return 0;
    double low = t / n, high = 1;
    assert(low >= 0 && low < high);
    for (int i = 0; i < 60; i++) {
        double p = (low + high) / 2;
        if (binomial_tail(t, n, p) > 0.05)
            low = p;
        else
            high = p;
    }
    return 1 - (low + high) / 2;
}

/* Does the label of `b` stand out, taken alone? */
static bool stands_out(const View *v, const ViewBin *b, double kinds, const Limits *l, double *drop)
{
    double t = b->own + b->known;
    *drop = kinds < 2 ? 0 : (v->total - t) / (kinds - 1) - v->total / kinds;
    return *drop >= l->drop - 1e-9;
}

/* Among constants the names are the evidence that there is a choice to make:
 * where everybody passes BUFSIZ, a PATH_MAX is no slip. */
static bool has_expectation(const View *v)
{
    return v->bins.len > 0 && v->bins.items[0].names != 1;
}

/* A name of the C library's own families: an errno, an open() flag … */
static bool is_library_constant(const char *name)
{
    static const char *const prefixes[] = { "O_",    "SEEK_", "S_I",  "AF_",  "PF_",
                                            "SOCK_", "PROT_", "MAP_", "EXIT_" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (str_starts(name, prefixes[i]))
            return true;
    for (int e = 1; name[0] == 'E' && e < 134; e++) {
        const char *known = strerrorname_np(e);
        if (known && strcmp(known, name) == 0)
            return true;
    }
    return false;
}

/*
 * A macro may stand for a number, a character or an enumerator; only among
 * other macros, or truth values, is it one of the wrong family. One of the C
 * library's is no enumerator of the program's own either. Where callers
 * write characters, only an enum or a truth value is none. A number is odd only
 * where all others have a name for theirs. A long in a list of arguments is
 * wider than the int that is read, which does no harm; the reverse does.
 */
bool view_compares(const View *v, const char *label)
{
    const ViewBin *usual = v->bins.len ? &v->bins.items[0] : NULL;
    bool is_enum = str_starts(label, "enum ");
    bool is_truth = strcmp(label, TRUTH) == 0;
    if (!usual)
        return false;
    if (strcmp(label, INT_ZERO) == 0)
        return strcmp(usual->label, NULL_POINTER) == 0;
    if (strcmp(usual->label, NUMBER) == 0 ||
        (strcmp(usual->label, AN_INT) == 0 && strcmp(label, A_LONG) == 0))
        return false;
    if (strcmp(usual->label, CHARACTER) == 0)
        return is_enum || is_truth;
    if (strcmp(label, NUMBER) == 0)
        return usual->names || str_starts(usual->label, "enum ");
    const char *name = constant_name(label);
    if (name && str_starts(usual->label, "enum ") && is_library_constant(name))
        return true;
    return !name || usual->names || strcmp(usual->label, TRUTH) == 0;
}

/* The same for a bin, which may be a family. */
static bool is_comparable(const View *v, const ViewBin *bin)
{
    char label[256];
    if (!bin->names)
        return view_compares(v, bin->label);
    snprintf(label, sizeof label, "const %s", bin->label);
    return view_compares(v, label);
}

Judgement view_judge(const View *v, const ViewBin *bin, const Limits *l)
{
    Judgement j = { .bin = bin };
    double kinds = (double)v->bins.len;
    assert(!bin || (bin >= v->bins.items && bin < v->bins.items + v->bins.len));
    j.evidence = v->total >= l->calls - 1e-9 && kinds <= l->kinds && has_expectation(v);
    if (!bin || !j.evidence)
        return j;
    double deviant = 0, drop;
    for (size_t i = 0; i < v->bins.len; i++) {
        const ViewBin *b = &v->bins.items[i];
        if (stands_out(v, b, kinds, l, &drop))
            deviant += b->own + b->known;
    }
    if (!stands_out(v, bin, kinds, l, &j.drop) || deviant > l->share * v->total + 1e-9 ||
        bin->own > l->sites + 1e-9 || bin->programs > 1 || !is_comparable(v, bin))
        return j;
    j.confidence = share_confidence(bin->own + bin->known, v->total);
    j.deviates = j.confidence >= l->threshold;
    return j;
}

/* ---- files */

/* Cuts the last tab-separated field off `line` and gives it; NULL: none. */
static char *last_field(char *line)
{
    char *tab = strrchr(line, '\t');
    if (!tab)
        return NULL;
    *tab = 0;
    return tab + 1;
}

static bool read_row(Histograms *hs, char *line)
{
    char *programs = last_field(line);
    char *callers = programs ? last_field(line) : NULL;
    char *label = callers ? last_field(line) : NULL;
    if (!label || !*label || !*line)
        return false;
    char *end1, *end2;
    double n = strtod(callers, &end1);
    long p = strtol(programs, &end2, 10);
    if (*end1 || *end2 || end1 == callers || end2 == programs || !isfinite(n) || n < 0 || p < 0 ||
        p > 1000000)
        return false;
    Histogram *h = histogram_at(hs, line);
    if (strcmp(label, "*") == 0) {
        h->any = true;
        return true;
    }
    Bin *b = bin_at(hs, h, label);
    b->known += n;
    b->programs += (unsigned)p;
    return true;
}

bool histograms_read(Histograms *hs, const char *path, Err *err)
{
    Str text = { 0 };
    if (!file_read(path, &text, err))
        return false;
    bool ok = strlen(str_c(&text)) == text.len ||
              err_set(err, "%s: no text: it has a byte of zero", path);
    unsigned line = 0;
    char *next = NULL;
    for (char *at = text.data; ok && at && *at; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = 0;
        line++;
        if (*at == '#' || *at == 0)
            continue;
        ok = read_row(hs, at) || err_set(err, "%s:%u: not a row of a histogram", path, line);
    }
    str_release(&text);
    return ok;
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

void histograms_write(const Histograms *hs, bool (*wanted)(const char *key), Str *out)
{
    Strings rows = { 0 };
    for (size_t i = 0; i < hs->map.len; i++) {
        const Histogram *h = hs->map.entries[i].value;
        for (size_t k = 0; k < h->bins.len; k++) {
            const Bin *b = &h->bins.items[k];
            if (b->own <= 0 || (wanted && !wanted(h->key)))
                continue;
            if (strpbrk(b->label, "\t\n") || strchr(h->key, '\n'))
                continue;
            strings_addf(&rows, "%s\t%s\t%g\t1\n", h->key, b->label, b->own);
        }
    }
    if (rows.len)
        qsort(rows.items, rows.len, sizeof *rows.items, by_text);
    for (size_t i = 0; i < rows.len; i++)
        str_add(out, rows.items[i]);
    strings_release(&rows);
}
