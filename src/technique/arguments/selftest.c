/*
 * How good is the technique on this very program? Exchange two arguments of
 * one call, as if its author had, judge that call, put it back; many times.
 *
 * Calls that take part have two equally typed arguments with different names,
 * which the compiler would take the other way round, too, and something to
 * compare with: names of parameters, or another call. Functions that are
 * symmetric by their name, callers that are about exchanging, and generated
 * files are left out: there the order means nothing, or nobody wrote it. A seed is found if the
 * report names exactly the two positions. Precision counts, on the same calls,
 * the reports on what was seeded against those on what was not.
 */
#include "base/json.h"
#include "session/session.h"
#include "technique/arguments/arguments_int.h"
#include <string.h>

typedef enum { SEED_IDENTIFIERS, SEED_MEMBERS, SEED_OTHER, SEED_KINDS } SeedKind;

static const char *const kind_names[] = {
    [SEED_IDENTIFIERS] = "identifiers",
    [SEED_MEMBERS] = "members",
    [SEED_OTHER] = "other",
};

typedef struct Score {
    unsigned seeds, found, wrong, alarms;
} Score;

typedef struct Seed {
    ArgGroup *group;
    size_t call;
    unsigned x, y;             /* of the group's positions, x < y */
} Seed;

typedef Vec(Seed) Seeds;

static bool has_own_name(const AstArg *a)
{
    return a->name && !a->lent && a->form != AST_LITERAL && a->form != AST_OTHER;
}

static bool draw_positions(const View *v, Rng *rng, unsigned *x, unsigned *y)
{
    Vec(unsigned) named = { 0 };
    bool ok = false;
    for (unsigned i = 0; i < v->group->k; i++)
        if (has_own_name(view_arg(v, i)))
            vec_push(&named, i);
    if (named.len >= 2) {
        size_t i = rng_below(rng, named.len), k = rng_below(rng, named.len - 1);
        k += k >= i;
        *x = named.items[i < k ? i : k];
        *y = named.items[i < k ? k : i];
        const AstArg *a = view_arg(v, *x), *b = view_arg(v, *y);
        ok = (a->name != b->name || a->owner != b->owner) && finder_is_silent(v, *x, *y);
    }
    vec_release(&named);
    return ok;
}

static void gather(Finder *f, Rng *rng, char *const *paths, size_t npaths, Seeds *out)
{
    for (size_t i = 0; i < f->groups.len; i++) {
        ArgGroup *g = f->groups.items[i];
        if (g->relaxed || finder_is_symmetric(f, g->fn) || (!g->first && g->calls.len < 2))
            continue;
        for (size_t c = 0; c < g->calls.len; c++) {
            View v = { .group = g, .call = c };
            Seed seed = { .group = g, .call = c };
            const AstFile *file = g->calls.items[c]->place.file;
            if (!file->generated && ast_wanted(file->path, paths, npaths) &&
                !finder_is_symmetric(f, g->calls.items[c]->caller) &&
                draw_positions(&v, rng, &seed.x, &seed.y))
                vec_push(out, seed);
        }
    }
}

static SeedKind kind_of(const AstArg *a, const AstArg *b)
{
    if (a->form == AST_IDENTIFIER && b->form == AST_IDENTIFIER)
        return SEED_IDENTIFIERS;
    bool plain = (a->form == AST_IDENTIFIER || a->form == AST_MEMBER) &&
                 (b->form == AST_IDENTIFIER || b->form == AST_MEMBER);
    return plain ? SEED_MEMBERS : SEED_OTHER;
}

static json_t *place_of(const AstArg *a)
{
    return json_pack("[i,i]", (int)a->range.begin.offset, (int)a->range.end.offset);
}

/* A seed with the bytes to exchange, for those who want to do it in a file. */
static void list_seed(json_t *list, const Seed *seed, bool found)
{
    View v = { .group = seed->group, .call = seed->call };
    const AstCall *call = seed->group->calls.items[seed->call];
    const AstArg *a = view_arg(&v, seed->x), *b = view_arg(&v, seed->y);
    if (call->in_macro || a->in_macro || b->in_macro || !a->text || !b->text)
        return;
    json_array_append_new(list, json_pack("{s:o, s:i, s:i, s:o, s:[i,i], s:o, s:o, s:s, s:b}",
                                          "file", json_text(call->place.file->path), "line",
                                          (int)call->place.line, "column", (int)call->place.column,
                                          "callee", json_text(call->callee->name), "positions",
                                          (int)seed->group->pos[seed->x] + 1,
                                          (int)seed->group->pos[seed->y] + 1, "first", place_of(a),
                                          "second", place_of(b), "form", kind_names[kind_of(a, b)],
                                          "found", found));
}

static bool try_seed(Finder *f, const Seed *seed, Score scores[SEED_KINDS])
{
    enum { MOST = 64 };
    unsigned order[MOST];
    View plain = { .group = seed->group, .call = seed->call };
    View seeded = plain;
    Suspect s;
    Score *score = &scores[kind_of(view_arg(&plain, seed->x), view_arg(&plain, seed->y))];
    for (unsigned i = 0; i < seed->group->k; i++)
        order[i] = i;
    order[seed->x] = seed->y;
    order[seed->y] = seed->x;
    seeded.order = order;
    score->alarms += finder_judge(f, &plain, &s);
    score->seeds++;
    if (!finder_judge(f, &seeded, &s))
        return false;
    bool right =
        s.anomaly.size == 2 && s.anomaly.from[0] == seed->x && s.anomaly.from[1] == seed->y;
    score->found += right;
    score->wrong += !right;
    return right;
}

static double share(unsigned part, unsigned whole) { return whole ? (double)part / whole : 0; }

static void add_score(Session *s, json_t *all, const char *name, const Score *score)
{
    unsigned reports = score->found + score->wrong + score->alarms;
    if (!session_flag(s, "json"))
        str_addf(session_out(s),
                 "%-12s %6u seeds, %6u found: recall %.3f, "
                 "precision %.3f\n",
                 name, score->seeds, score->found, share(score->found, score->seeds),
                 share(score->found, reports));
    json_object_set_new(all, name,
                        json_pack("{s:i, s:i, s:f, s:f}", "seeds", (int)score->seeds, "found",
                                  (int)score->found, "recall", share(score->found, score->seeds),
                                  "precision", share(score->found, reports)));
}

bool self_test(Session *s, Finder *f, Err *err)
{
    size_t npaths;
    char **paths = session_args(s, &npaths);
    const char *text = session_option(s, "seeds");
    char *end;
    unsigned long wanted = strtoul(text, &end, 10);
    if (end == text || *end || !wanted)
        return err_set(err, "--seeds %s: not a number", text);
    Seeds seeds = { 0 };
    Score scores[SEED_KINDS] = { 0 }, total = { 0 };
    json_t *all = json_object(), *list = json_array();
    gather(f, session_rng(s), paths, npaths, &seeds);
    for (size_t i = 0; i < seeds.len && i < wanted; i++) {
        size_t k = i + rng_below(session_rng(s), seeds.len - i);
        Seed seed = seeds.items[k];
        seeds.items[k] = seeds.items[i];
        list_seed(list, &seed, try_seed(f, &seed, scores));
    }
    for (unsigned k = 0; k < SEED_KINDS; k++) {
        add_score(s, all, kind_names[k], &scores[k]);
        total.seeds += scores[k].seeds;
        total.found += scores[k].found;
        total.wrong += scores[k].wrong;
        total.alarms += scores[k].alarms;
    }
    add_score(s, all, "all", &total);
    json_object_set_new(all, "sites", list);
    if (session_flag(s, "json"))
        json_print(all, session_out(s));
    else
        str_addf(session_out(s), "of %zu calls that could be seeded; seed %llu\n", seeds.len,
                 (unsigned long long)session_seed(s));
    json_decref(all);
    vec_release(&seeds);
    return true;
}
