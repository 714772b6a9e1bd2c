/*
 * The rules that prune, on random programs (the specification's T-C5), and on small ones
 * made by hand. Nothing is woven, built or run: programs are trees that this file
 * executes, and what an execution did is handed to prune_add().
 *
 * A program has two variables, an event is a number from 0 to 3. A path is the
 * sequence of outcomes of all conditions. Of the events that take the same path one
 * stands for all; a variable whose value differs among them is symbolic.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "engine/events/events_int.h"
#include <stdlib.h>
#include <string.h>

enum { VARIABLES = 2, EVENTS = 4, MOST_NODES = 64, MOST_LABELS = 32 };

/* ---- programs */

typedef enum { SKIP, ASSIGN, SEQUENCE, IF } Op;

/* An operand: 0 to 3 a constant, 4 the event, 5 and 6 the variables, 7 and 8 the same plus one,
 * modulo 3. */
typedef struct Tree {
    Op op;
    int to, value;                   /* ASSIGN */
    int left, right;                 /* IF: left == right */
    int label;
    int a, b;                        /* SEQUENCE, IF: trees */
} Tree;

typedef struct Toy {
    Tree trees[MOST_NODES];
    int n, labels;
} Toy;

static int grow(Toy *t, Rng *r, unsigned depth)
{
    int at = t->n++;
    unsigned kind = depth ? rng_below(r, 8) : rng_below(r, 3);
    Tree x = { .op = kind == 0 ? SKIP : kind < 3 ? ASSIGN : kind < 5 ? SEQUENCE : IF };
    x.to = (int)rng_below(r, VARIABLES);
    x.value = (int)rng_below(r, 9);
    x.left = rng_below(r, 2) ? 4 : 5 + (int)rng_below(r, 2);
    x.right = rng_below(r, 3) ? (int)rng_below(r, 4) : 5 + (int)rng_below(r, 2);
    if (x.op >= SEQUENCE) {
        x.label = x.op == IF ? t->labels++ : 0;
        x.a = grow(t, r, depth - 1);
        x.b = grow(t, r, depth - 1);
    }
    t->trees[at] = x;
    return at;
}

/* ---- executions */

typedef struct Run {
    int state[VARIABLES];
    int event;
    uint8_t marks[VARIABLES];        /* SUNDEW_EVENT_… */
    uint8_t edges[2 * MOST_LABELS];
    uint64_t way;
} Run;

static int value_of(Run *r, int operand)
{
    if (operand < 4)
        return operand;
    if (operand == 4)
        return r->event;
    int v = (operand - 5) % 2;
    if (!(r->marks[v] & SUNDEW_EVENT_TOUCHED))
        r->marks[v] |= SUNDEW_EVENT_READ;
    return operand < 7 ? r->state[v] : (r->state[v] + 1) % 3;
}

static void execute(const Toy *t, int at, Run *r)
{
    const Tree *x = &t->trees[at];
    if (x->op == ASSIGN) {
        int v = value_of(r, x->value);
        r->marks[x->to] |= SUNDEW_EVENT_TOUCHED;
        r->state[x->to] = v;
    } else if (x->op == SEQUENCE) {
        execute(t, x->a, r);
        execute(t, x->b, r);
    } else if (x->op == IF) {
        bool yes = value_of(r, x->left) == value_of(r, x->right);
        int edge = 2 * x->label + !yes;
        r->edges[edge] = 1;
        r->way = (r->way ^ (uint64_t)(edge + 1)) * 0xff51afd7ed558ccdull;
        execute(t, yes ? x->a : x->b, r);
    }
}

static Run run_event(const Toy *t, const int *state, int event)
{
    Run r = { .event = event, .way = 1 };
    memcpy(r.state, state, sizeof r.state);
    execute(t, 0, &r);
    for (int v = 0; v < VARIABLES; v++)
        if (r.state[v] != state[v])
            r.marks[v] |= SUNDEW_EVENT_CHANGED;
    return r;
}

/* ---- the search, as the engine does it */

typedef Vec(uint32_t) Numbers;

typedef struct Search {
    Events e;
    EventLayout layout;
    EventObject objects[VARIABLES];
    EventsPlan plan;
    const Toy *toy;
    Vec(Run) runs;                   /* of each node */
    uint8_t covered[2 * MOST_LABELS];
    bool inverted;                   /* the seeded bug: read-only is the wrong way round */
} Search;

static uint64_t hash_state(const Search *s, const int *state)
{
    uint64_t h = 7;
    for (uint32_t v = 0; v < VARIABLES; v++) {
        Place p = { v, 0, 4, 0 };
        h = h * 31 + (place_is_ignored(&s->e, &p) ? 0 : (uint64_t)state[v] + 1);
    }
    return h;
}

/* Variables that differ among the events of this path. */
static void find_symbolic(const Search *s, const int *before, const Run *r, Places *out)
{
    for (int event = 0; event < EVENTS; event++) {
        Run other = run_event(s->toy, before, event);
        for (uint32_t v = 0; other.way == r->way && v < VARIABLES; v++) {
            Place p = { v, 0, 4, SUNDEW_EVENT_SYMBOLIC };
            if (other.state[v] != r->state[v] && !place_meets(out, &p, SUNDEW_EVENT_SYMBOLIC))
                vec_push(out, p);
        }
    }
}

static bool add_trace(Search *s, uint32_t parent, const Run *r, const int *before)
{
    Watched w = { .done = true, .after = hash_state(s, r->state) };
    Places symbolic = { 0 };
    uint8_t all[8] = { 0 };
    const Node *before_it = &s->e.nodes.items[parent];
    assert_true(before_it->depth < sizeof all);
    if (before_it->depth)
        memcpy(all, before_it->bytes, before_it->depth);
    all[before_it->depth] = (uint8_t)r->event;
    for (uint32_t v = 0; v < VARIABLES; v++)
        if (r->marks[v])
            vec_push(&w.places, ((Place){ v, 0, 4, r->marks[v] }));
    find_symbolic(s, before, r, &symbolic);
    places_note(&s->e, &w.places);
    uint32_t n = prune_add(&s->e, parent, &w, &symbolic, true, r->way, all, 0);
    assert_int_equal(n, s->runs.len);
    vec_push(&s->runs, *r);
    TraceEnd end = s->e.nodes.items[n].end;
    vec_release(&w.places);
    vec_release(&symbolic);
    return s->inverted ? end == END_READ_ONLY : end == END_EXTENDED;
}

/* All paths of one event after `node`. */
static void extend(Search *s, uint32_t node, Numbers *next)
{
    uint64_t seen[EVENTS];
    int n = 0, before[VARIABLES];
    memcpy(before, s->runs.items[node].state, sizeof before);
    for (int event = 0; event < EVENTS; event++) {
        Run r = run_event(s->toy, before, event);
        int k = 0;
        while (k < n && seen[k] != r.way)
            k++;
        if (k < n)
            continue;
        seen[n++] = r.way;
        for (size_t i = 0; i < sizeof r.edges; i++)
            s->covered[i] |= r.edges[i];
        if (add_trace(s, node, &r, before))
            vec_push(next, (uint32_t)(s->runs.len - 1));
    }
}

static void release_nodes(Search *s)
{
    Events *e = &s->e;
    for (size_t i = 0; i < e->nodes.len; i++)
        vec_release(&e->nodes.items[i].places);
    vec_release(&e->nodes);
    map_release(&e->hashes);
    map_release(&e->kept);
    vec_release(&e->levels);
    vec_release(&s->runs);
    e->hashes = e->kept = (Map){ 0 };
    memset(s->covered, 0, sizeof s->covered);
}

static void pass(Search *s, unsigned rules, unsigned depth)
{
    Events *e = &s->e;
    Numbers level = { 0 };
    release_nodes(s);
    e->prune = rules;
    e->again = false;
    Run start = { 0 };
    Node first = { .hash = hash_state(s, start.state) };
    vec_push(&e->nodes, first);
    vec_push(&s->runs, start);
    map_putn(&e->hashes, &first.hash, sizeof first.hash, e);
    vec_push(&level, 0u);
    for (unsigned k = 0; k < depth; k++) {
        Numbers next = { 0 };
        for (size_t i = 0; i < level.len; i++)
            extend(s, level.items[i], &next);
        vec_release(&level);
        level = next;
    }
    vec_release(&level);
}

static void search(Search *s, const Toy *toy, unsigned rules, unsigned depth, bool inverted)
{
    Events *e = &s->e;
    *s = (Search){ .toy = toy };
    s->layout = (EventLayout){ .name = "", .size = 1 };
    s->objects[0] = (EventObject){ .name = "x", .size = 4 };
    s->objects[1] = (EventObject){ .name = "y", .size = 4 };
    e->plan = &s->plan;
    e->layout = &s->layout;
    e->build = (EventsBuild){ .objects = s->objects, .nobjects = VARIABLES };
    if (rules & PRUNE_NEVER_READ) {
        e->prune = rules;
        pass(s, 0, 2);
        e->prune = rules;
        places_learn(e);
    }
    s->inverted = inverted;
    for (unsigned i = 0; i < 8; i++) {
        pass(s, rules, depth);
        if (!e->again)
            break;
        places_learn(e);
    }
    assert_false(e->again);
}

static void search_release(Search *s)
{
    release_nodes(s);
    map_release(&s->e.read);
    map_release(&s->e.changed);
    vec_release(&s->e.ignored);
    arena_release(&s->e.arena);
}

/* ---- random programs */

static void every_combination_covers_what_classic_covers(void **state)
{
    (void)state;
    Rng rng = rng_seeded(20);
    unsigned fewer = 0;
    for (unsigned program = 0; program < 400; program++) {
        Toy toy = { 0 };
        Search classic, pruned;
        do {
            toy = (Toy){ 0 };
            grow(&toy, &rng, 4);
        } while (!toy.labels || toy.labels >= MOST_LABELS);
        search(&classic, &toy, PRUNE_NOTHING, 3, false);
        for (unsigned rules = 1; rules <= PRUNE_ALL; rules++) {
            search(&pruned, &toy, rules, 3, false);
            if (memcmp(classic.covered, pruned.covered, sizeof classic.covered) != 0)
                fail_msg("program %u, rules %u: other branches than CLASSIC", program, rules);
            assert_true(pruned.runs.len <= classic.runs.len);
            fewer += pruned.runs.len < classic.runs.len;
            search_release(&pruned);
        }
        search_release(&classic);
    }
    assert_true(fewer > 400);        /* they do prune */
}

static void the_seeded_bug_is_caught(void **state)
{
    (void)state;
    Rng rng = rng_seeded(21);
    unsigned caught = 0;
    for (unsigned program = 0; program < 400; program++) {
        Toy toy = { 0 };
        Search classic, wrong;
        do {
            toy = (Toy){ 0 };
            grow(&toy, &rng, 4);
        } while (!toy.labels || toy.labels >= MOST_LABELS);
        search(&classic, &toy, PRUNE_NOTHING, 3, false);
        search(&wrong, &toy, PRUNE_READ_ONLY | PRUNE_SILENT, 3, true);
        caught += memcmp(classic.covered, wrong.covered, sizeof classic.covered) != 0;
        search_release(&classic);
        search_release(&wrong);
    }
    assert_true(caught > 20);
}

/* ---- by hand */

static uint32_t do_event(Search *s, uint32_t node, int event)
{
    int before[VARIABLES];
    memcpy(before, s->runs.items[node].state, sizeof before);
    Run r = run_event(s->toy, before, event);
    add_trace(s, node, &r, before);
    return (uint32_t)(s->runs.len - 1);
}

/* if (event == 1) x = x + 1; else if (event == 2) y = y + 1; */
static const Toy counters = { .n = 7,
                              .labels = 2,
                              .trees = {
                                  { .op = IF, .left = 4, .right = 1, .a = 1, .b = 2 },
                                  { .op = ASSIGN, .to = 0, .value = 7 },
                                  { .op = IF, .left = 4, .right = 2, .label = 1, .a = 3, .b = 4 },
                                  { .op = ASSIGN, .to = 1, .value = 8 },
                                  { .op = SKIP } } };

static void independent_events_are_kept_in_one_order(void **state)
{
    (void)state;
    Search s;
    search(&s, &counters, PRUNE_INDEPENDENT, 0, false);
    uint32_t a = do_event(&s, 0, 1), b = do_event(&s, 0, 2);
    uint32_t ab = do_event(&s, a, 2), ba = do_event(&s, b, 1), aa = do_event(&s, a, 1);
    assert_int_equal(s.e.nodes.items[ab].end, END_EXTENDED);
    assert_int_equal(s.e.nodes.items[ba].end, END_INDEPENDENT);
    assert_int_equal(s.e.nodes.items[aa].end, END_EXTENDED);
    search_release(&s);
}

static void an_event_that_changes_nothing_ends_a_sequence(void **state)
{
    (void)state;
    Search s;
    search(&s, &counters, PRUNE_READ_ONLY | PRUNE_SILENT, 0, false);
    uint32_t none = do_event(&s, 0, 3), one = do_event(&s, 0, 1);
    assert_int_equal(s.e.nodes.items[none].end, END_READ_ONLY);
    assert_int_equal(s.e.nodes.items[one].end, END_EXTENDED);
    assert_int_equal(s.e.levels.items[0].explored, 2);
    assert_int_equal(s.e.levels.items[0].ends[END_READ_ONLY], 1);
    search_release(&s);
}

/* if (event == 1) x = 0; where x is 0 already: a silent store */
static const Toy silent = { .n = 3,
                            .labels = 1,
                            .trees = { { .op = IF, .left = 4, .right = 1, .a = 1, .b = 2 },
                                       { .op = ASSIGN, .to = 0, .value = 0 },
                                       { .op = SKIP } } };

static void a_silent_store_is_a_write_only_if_the_rule_is_off(void **state)
{
    (void)state;
    Search s;
    search(&s, &silent, PRUNE_READ_ONLY | PRUNE_SILENT, 0, false);
    assert_int_equal(s.e.nodes.items[do_event(&s, 0, 1)].end, END_READ_ONLY);
    search_release(&s);
    search(&s, &silent, PRUNE_READ_ONLY, 0, false);
    assert_int_equal(s.e.nodes.items[do_event(&s, 0, 1)].end, END_EXTENDED);
    search_release(&s);
}

/* x = event: equal to the old value on this run only */
static const Toy stores = { .n = 1, .trees = { { .op = ASSIGN, .to = 0, .value = 4 } } };

static void a_store_of_the_event_is_never_silent(void **state)
{
    (void)state;
    Search s;
    search(&s, &stores, PRUNE_READ_ONLY | PRUNE_SILENT | PRUNE_HASH, 0, false);
    assert_int_equal(s.e.nodes.items[do_event(&s, 0, 0)].end, END_EXTENDED);
    search_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_covers_what_classic_covers),
        cmocka_unit_test(the_seeded_bug_is_caught),
        cmocka_unit_test(independent_events_are_kept_in_one_order),
        cmocka_unit_test(an_event_that_changes_nothing_ends_a_sequence),
        cmocka_unit_test(a_silent_store_is_a_write_only_if_the_rule_is_off),
        cmocka_unit_test(a_store_of_the_event_is_never_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
