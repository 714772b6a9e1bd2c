/*
 * Which functions and values are worth more than others.
 *
 * Two releases of a library differ in some functions: those, and functions that call them, are
 * called more often, and the constants in which the two versions differ are tried first. What a
 * library that was not captured knows stands in its constant data. Headers name values in quotes.
 */
#include "base/file.h"
#include "capture/elf.h"
#include "program/changes.h"
#include "technique/substitutes/substitutes_int.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 400, LONGEST_WORD = 40, LARGEST_HEADER = 1 << 20 };

/* ---- words of a header */

static void prefer_quoted(Pool *pool, const char *s)
{
    size_t words = 0;
    for (const char *end; words < MOST_WORDS && (s = strchr(s, '"')); s = end + 1) {
        size_t n = strcspn(s + 1, "\"\n");
        end = s + 1 + n;
        if (!*end)
            return;
        if (*end != '"' || !n || n > LONGEST_WORD || memchr(s + 1, '\\', n) ||
            (n > 2 && memcmp(end - 2, ".h", 2) == 0))
            continue;
        char word[LONGEST_WORD + 1];
        memcpy(word, s + 1, n);
        word[n] = 0;
        pool_prefer_text(pool, word);
        words++;
    }
}

static void prefer_headers(Pair *p)
{
    for (char **h = session_option_all(p->all->s, "headers"); h && *h; h++) {
        Str text = { 0 };
        if (file_read(*h, &text, NULL) && text.len < LARGEST_HEADER)
            prefer_quoted(p->pool, str_c(&text));
        str_release(&text);
    }
}

/* ---- files of a corpus */

static void prefer_file(Pool *pool, const char *path)
{
    enum { LARGEST = 4000, MOST_LINES = 40 };
    Str text = { 0 };
    if (file_read(path, &text, NULL) && text.len && text.len <= LARGEST) {
        pool_prefer_text(pool, str_c(&text));
        char *rest = NULL;
        unsigned n = 0;
        for (char *line = strtok_r(text.data, "\n", &rest); line && n < MOST_LINES; n++) {
            pool_prefer_text(pool, line);
            line = strtok_r(NULL, "\n", &rest);
        }
    }
    str_release(&text);
}

static bool prefer_corpus(Pair *p, const char *folder, Err *err)
{
    enum { MOST_FILES = 200 };
    Strings names = { 0 };
    bool ok = dir_list(folder, &names, err);
    for (size_t i = 0; ok && i < names.len && i < MOST_FILES; i++) {
        char *path = path_join(folder, names.items[i]);
        prefer_file(p->pool, path);
        free(path);
    }
    strings_release(&names);
    return ok;
}

/* ---- a library that was not captured */

static void prefer_data(Pair *p, const Side *side)
{
    Str text = { 0 };
    Strings words = { 0 };
    if (file_read(side->library, &text, NULL))
        elf_words(text.data, text.len, MOST_WORDS, &words);
    for (size_t i = 0; i < words.len; i++)
        pool_prefer_text(p->pool, words.items[i]);
    strings_release(&words);
    str_release(&text);
}

/* ---- releases */

static void prefer_constants(Pair *p, const Constants *c)
{
    for (size_t i = 0; i < c->nintegers && i < MOST_WORDS; i++)
        pool_prefer_number(p->pool, c->integers[i]);
    for (size_t i = 0; i < c->nstrings && i < MOST_WORDS; i++)
        pool_prefer_text(p->pool, c->strings[i]);
}

/* How much more often: the nearer it is to a change. */
static void prefer_functions(Pair *p, const Changes *c)
{
    const Api *api = p->side[SIDE_CANDIDATE].api;
    p->worth = arena_array(&p->arena, double, api->nfunctions + 1);
    for (size_t i = 0; i < api->nfunctions; i++) {
        unsigned d = c->distance[api->functions[i].fn->index];
        p->worth[i] = d == CHANGES_FAR ? 0.3 : d == 0 ? 1.5 : 1;
    }
}

/* ---- where a test goes */

static void mark_blocks(Pair *p, SideOf which, const Changes *c)
{
    Side *side = &p->side[which];
    size_t n = cover_nblocks(side->points);
    side->changed = arena_array(&p->arena, bool, n + 1);
    for (size_t i = 0; i < n; i++) {
        const Function *f = program_function(side->program, cover_function(side->points, i));
        if (f)
            side->changed[i] =
                which == SIDE_CANDIDATE ? c->distance[f->index] == 0 : c->was_changed[f->index];
    }
}

/* The functions of blocks that ran, each once, as one number whatever their order. */
static uint64_t sum_of(const Side *side, const Outcome *o)
{
    Map seen = { 0 };
    uint64_t sum = 0;
    for (size_t i = 0; i < o->nfresh; i++) {
        if (o->fresh[i] >= cover_nblocks(side->points) || !side->changed[o->fresh[i]])
            continue;
        const char *name = cover_function(side->points, o->fresh[i]);
        if (map_put(&seen, name, NULL))
            sum += hash_bytes(name, strlen(name)) | 1;
    }
    map_release(&seen);
    return sum;
}

bool pair_where(Pair *p, const Seq *s, uint64_t *out, Err *err)
{
    Arena a = { 0 };
    bool ok = true;
    *out = 0;
    const Seq *there = p->side[0].changed && p->side[1].changed ? translate(p, &a, s) : NULL;
    for (int i = 0; ok && there && i < NSIDES; i++) {
        ExecJob job = { .seq = i == SIDE_CANDIDATE ? s : there, .all = true };
        Outcome o = { 0 };
        ok = exec_run(p->side[i].exec, &a, &job, 1, &o, err);
        *out = *out * 31 + (ok ? sum_of(&p->side[i], &o) : 0);
    }
    arena_release(&a);
    return ok;
}

/* Two releases: not two implementations that have nothing in common. */
static bool are_releases(const Program *now, const Changes *c)
{
    size_t n, defined = 0;
    const Function *const *fns = program_functions(now, &n);
    for (size_t i = 0; i < n; i++)
        defined += fns[i]->defined;
    return c->nchanged < defined;
}

bool pair_prefer(Pair *p, Err *err)
{
    const Side *ref = &p->side[SIDE_REFERENCE], *cand = &p->side[SIDE_CANDIDATE];
    Changes changes = { 0 };
    Constants theirs = { 0 };
    bool ok = true;
    const char *corpus = session_option(p->all->s, "corpus");
    if (corpus && !prefer_corpus(p, corpus, err))
        return false;
    pool_give_rooms(p->pool);
    if (cand->impl || p->backend)
        return true;                         /* one program: the pool has its constants */
    prefer_headers(p);
    for (int i = 0; i < NSIDES; i++)
        if (p->side[i].own)
            prefer_data(p, &p->side[i]);
    if (!ref->own && !cand->own) {
        ok = program_changes(ref->program, cand->program, &changes, err);
        if (ok)
            prefer_constants(p, &changes.constants);
        if (ok && are_releases(cand->program, &changes)) {
            prefer_functions(p, &changes);
            for (int i = 0; i < NSIDES && ref->points && cand->points; i++)
                mark_blocks(p, (SideOf)i, &changes);
        }
    } else if (!ref->own) {
        ok = program_constants(ref->program, &theirs, err);
        prefer_constants(p, &theirs);
    }
    changes_release(&changes);
    constants_release(&theirs);
    return ok;
}
