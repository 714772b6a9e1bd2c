/*
 * Rounds of tests, on all cores, and again later.
 *
 * The work comes in units. Piece n makes and runs some tests of one type, with random
 * numbers of its own; types take turns. What it does depends on what earlier units
 * have found out: pairs of functions that were tested, that met, functions that were left
 * out. All of this is the unit's *news*, a JSON object:
 *
 *     unit 0   unit 1   unit 2   unit 3       a wave: all begin with the same knowledge
 *        \________\________/________/
 *                  news                     applied in the order of the units, by everybody
 *     unit 4   …
 *
 * A wave has the same units however many cores there are, so a seed gives the same
 * search everywhere. The news of each wave go to DIR/search.json; --resume applies what is
 * there and goes on.
 *
 * A test that shows something is news by its number in the unit, with the schedule. Who
 * wants it makes the tests of that unit again, before the unit's news are applied.
 */
#include "base/crew.h"
#include "base/file.h"
#include "base/json.h"
#include "base/progress.h"
#include "technique/threads/library_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 4,
    FIRST_RUNS = 30,
    MOST_RUNS = 400,
    BEGINNINGS = 4,
    FRUITLESS = 8,               /* units of each type that make no new test */
    NATIVE_AGAIN = 60
};
#define FORMAT "sundew threads search 5"

/* A unit, and what was there before it. */
struct Piece {
    size_t number, most_tests;
    Subject *subject;
    Lib lib;                     /* its counters */
    Subject counters;
    unsigned *pairs, *conflicts;
};

static size_t count_good(const Lib *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->subjects.len; i++)
        n += !l->subjects.items[i].why_not;
    return n;
}

/* Types take turns. The last comes first: functions without a handle, with the state that nobody
 * sees. */
static Subject *subject_of(Lib *l, size_t unit)
{
    size_t k = (unit + count_good(l) - 1) % count_good(l);
    for (size_t i = 0;; i++) {
        assert(i < l->subjects.len);
        if (!l->subjects.items[i].why_not && !k--)
            return &l->subjects.items[i];
    }
}

/* More runs of a test, the longer the search is; an old test may come again then. */
static size_t most_runs(const Lib *l, size_t unit)
{
    size_t most = FIRST_RUNS;
    for (size_t r = unit / count_good(l); r >= 4 && most < MOST_RUNS; r -= 4)
        most *= 2;
    return most;
}

static size_t cells_of(const Subject *t) { return t->functions.len * t->functions.len; }

static unsigned *copy_of(const unsigned *from, size_t n)
{
    unsigned *to = xcalloc(n + 1, sizeof *to);
    if (n)
        memcpy(to, from, n * sizeof *to);
    return to;
}

/* -------------------------------------------------------------------- units */

/* The contract that this unit's tests are about. They take turns, because tests of one handle
 * would leave no room for the others. What is promised comes first: a handle of its own in each
 * thread, unless more is said. Sharing that is promised has two turns of three. */
static Contract turn_of(const Lib *l, size_t unit)
{
    bool promised = l->promised && l->contracts[CONTRACT_SHARED];
    size_t turn = unit / count_good(l), n = 0;
    for (unsigned c = 0; c < NCONTRACTS; c++)
        n += l->contracts[c] && !(promised && c == CONTRACT_SHARED);
    if (promised && (!n || turn % 3 < 2))
        return CONTRACT_SHARED;
    turn = (promised ? turn / 3 : turn) % n;
    for (unsigned i = 0;; i++) {
        Contract c = (Contract)((CONTRACT_DISTINCT + i) % NCONTRACTS);
        if (l->contracts[c] && !(promised && c == CONTRACT_SHARED) && !turn--)
            return c;
    }
}

static void unit_begin(Lib *l, Piece *u)
{
    Contract turn = turn_of(l, u->number);
    Subject *t = u->subject;
    u->lib = *l;
    u->counters = *t;
    l->most_runs = most_runs(l, u->number);
    for (unsigned c = 0; c < NCONTRACTS && t->type; c++)
        l->contracts[c] = c == turn;
    u->pairs = copy_of(t->pairs.items, cells_of(t));
    u->conflicts = copy_of(t->conflicts.items, cells_of(t));
    memset(&l->races, 0, sizeof l->races);
    memset(&l->new_tried, 0, sizeof l->new_tried);
    memset(&l->new_disturbed, 0, sizeof l->new_disturbed);
    memset(&l->new_met, 0, sizeof l->new_met);
    memset(&l->hits, 0, sizeof l->hits);
    l->unit = u;
    l->rng = rng_seeded(session_seed(l->s) + 0x9e3779b97f4a7c15u * (u->number + 1));
}

static void hits_release(Lib *l)
{
    for (size_t i = 0; i < l->hits.len; i++)
        schedule_release(&l->hits.items[i].schedule);
    vec_release(&l->hits);
}

/* All is as it was before. */
static void unit_end(Lib *l, Piece *u)
{
    Subject *t = u->subject;
    size_t n = cells_of(t);
    vec_release(&l->races);
    map_release(&l->new_tried);
    map_release(&l->new_disturbed);
    map_release(&l->new_met);
    hits_release(l);
    l->races.items = u->lib.races.items;
    l->races.len = u->lib.races.len;
    l->races.cap = u->lib.races.cap;
    l->dropped.len = u->lib.dropped.len;
    l->tests = u->lib.tests;
    l->runs = u->lib.runs;
    l->serial_runs = u->lib.serial_runs;
    l->unit = NULL;
    memcpy(l->contracts, u->lib.contracts, sizeof l->contracts);
    t->tests = u->counters.tests;
    t->runs = u->counters.runs;
    t->inconclusive = u->counters.inconclusive;
    t->rejected = u->counters.rejected;
    memcpy(t->of_contract, u->counters.of_contract, sizeof t->of_contract);
    if (n) {
        memcpy(t->pairs.items, u->pairs, n * sizeof *u->pairs);
        memcpy(t->conflicts.items, u->conflicts, n * sizeof *u->conflicts);
    }
    free(u->pairs);
    free(u->conflicts);
}

/* The same tests each time, for the same knowledge. */
static bool make_tests(Lib *l, Piece *u, Arena *a, Tests *out, Err *err)
{
    bool ok = true;
    for (unsigned k = 0; ok && !out->len && k < BEGINNINGS && !lib_is_over(l); k++)
        ok = lib_tests_make(l, u->subject, a, out, err);
    return ok;
}

static bool run_tests(Lib *l, Piece *u, Err *err)
{
    Arena a = { 0 };
    Tests tests = { 0 };
    bool ok = make_tests(l, u, &a, &tests, err);
    for (size_t i = 0; ok && i < tests.len && i < u->most_tests && !lib_is_over(l); i++) {
        Arena own = { 0 };
        ok = lib_test_run(l, u->subject, &own, &tests.items[i], i, l->most_runs, err);
        arena_release(&own);
    }
    vec_release(&tests);
    arena_release(&a);
    return ok;
}

/* --------------------------------------------------------------------- news */

/* Cells that have grown: their numbers and by how much. */
static json_t *grown(const unsigned *before, const unsigned *now, size_t n)
{
    json_t *j = json_array();
    for (size_t i = 0; i < n; i++)
        if (now[i] > before[i]) {
            json_array_append_new(j, json_integer((json_int_t)i));
            json_array_append_new(j, json_integer((json_int_t)(now[i] - before[i])));
        }
    return j;
}

static json_t *keys_of(const Map *m)
{
    json_t *j = json_array();
    for (size_t i = 0; i < m->len; i++)
        json_array_append_new(j, json_text(m->entries[i].key));
    return j;
}

static json_t *hits_json(const Lib *l)
{
    json_t *all = json_array();
    for (size_t i = 0; i < l->hits.len; i++) {
        const Hit *h = &l->hits.items[i];
        json_t *forces = json_array(), *hot = json_array();
        for (size_t k = 0; k < h->schedule.forces.len; k++)
            json_array_append_new(forces,
                                  json_pack("[I,I]",
                                            (json_int_t)h->schedule.forces.items[k].decision,
                                            (json_int_t)h->schedule.forces.items[k].thread));
        for (size_t k = 0; k < h->schedule.hot.len; k++)
            json_array_append_new(hot, json_integer((json_int_t)h->schedule.hot.items[k]));
        json_array_append_new(all, json_pack("{s:I,s:f,s:b,s:o,s:o}", "test", (json_int_t)h->test,
                                             "seconds", h->seconds, "native", h->native, "forces",
                                             forces, "hot", hot));
    }
    return all;
}

static json_t *side_json(const struct sundew_side *s)
{
    json_t *held = json_array(), *held_at = json_array(), *stack = json_array();
    for (unsigned i = 0; i < s->nheld && i < SUNDEW_SCHEDULE_HELD; i++) {
        json_array_append_new(held, json_integer((json_int_t)s->held[i]));
        json_array_append_new(held_at, json_integer(s->held_at[i]));
    }
    for (unsigned i = 0; i < SUNDEW_SCHEDULE_STACK && s->stack[i]; i++)
        json_array_append_new(stack, json_integer(s->stack[i]));
    return json_pack("{s:i,s:i,s:i,s:o,s:o,s:o}", "site", (int)s->site, "thread", (int)s->thread,
                     "write", (int)s->write, "held", held, "held_at", held_at, "stack", stack);
}

static json_t *races_json(const Lib *l)
{
    json_t *all = json_array();
    for (size_t i = 0; i < l->races.len; i++) {
        const RaceSeen *r = &l->races.items[i];
        json_array_append_new(all, json_pack("{s:I,s:I,s:o,s:o}", "seen", (json_int_t)r->seen,
                                             "address", (json_int_t)r->race.address, "first",
                                             side_json(&r->race.first), "second",
                                             side_json(&r->race.second)));
    }
    return all;
}

static json_t *dropped_json(const Lib *l, size_t from)
{
    json_t *all = json_array();
    for (size_t i = from; i < l->dropped.len; i++)
        json_array_append_new(all, json_pack("[o,s]", json_text(l->dropped.items[i].function->name),
                                             l->dropped.items[i].why));
    return all;
}

static json_t *contracts_json(const Subject *t, const Subject *before)
{
    json_t *all = json_array();
    for (unsigned c = 0; c < NCONTRACTS; c++)
        json_array_append_new(all, json_integer(
                                       (json_int_t)(t->of_contract[c] - before->of_contract[c])));
    return all;
}

static json_t *news_of(const Lib *l, const Piece *u)
{
    const Subject *t = u->subject;
    size_t n = cells_of(t);
    json_t *j = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "unit", (json_int_t)u->number, "tests",
                          (json_int_t)(l->tests - u->lib.tests), "runs",
                          (json_int_t)(l->runs - u->lib.runs), "serial_runs",
                          (json_int_t)(l->serial_runs - u->lib.serial_runs), "inconclusive",
                          (json_int_t)(t->inconclusive - u->counters.inconclusive), "rejected",
                          (json_int_t)(t->rejected - u->counters.rejected));
    json_object_set_new(j, "contracts", contracts_json(t, &u->counters));
    json_object_set_new(j, "pairs", grown(u->pairs, t->pairs.items, n));
    json_object_set_new(j, "conflicts", grown(u->conflicts, t->conflicts.items, n));
    json_object_set_new(j, "tried", keys_of(&l->new_tried));
    json_object_set_new(j, "disturbed", keys_of(&l->new_disturbed));
    json_object_set_new(j, "met", keys_of(&l->new_met));
    json_object_set_new(j, "dropped", dropped_json(l, u->lib.dropped.len));
    json_object_set_new(j, "shown", hits_json(l));
    json_object_set_new(j, "races", races_json(l));
    return j;
}

static json_t *unit_run(Lib *l, size_t number, size_t most_tests, Err *err)
{
    Piece u = { .number = number, .most_tests = most_tests, .subject = subject_of(l, number) };
    unit_begin(l, &u);
    json_t *news = run_tests(l, &u, err) ? news_of(l, &u) : NULL;
    if (news && lib_is_over(l))
        json_object_set_new(news, "cut", json_true());
    unit_end(l, &u);
    return news;
}

/* -------------------------------------------------------------------- apply */

static size_t number(const json_t *j, const char *key)
{
    long long n = json_int(j, key, 0);
    return n > 0 ? (size_t)n : 0;
}

static void add_cells(const json_t *pairs, unsigned *cells, size_t n)
{
    for (size_t i = 0; i + 1 < json_array_size(pairs); i += 2) {
        json_int_t at = json_integer_value(json_array_get(pairs, i));
        if (at >= 0 && (size_t)at < n)
            cells[at] += (unsigned)json_integer_value(json_array_get(pairs, i + 1));
    }
}

static void add_keys(const json_t *keys, Map *to)
{
    size_t i;
    json_t *key;
    json_array_foreach(keys, i, key) if (json_is_string(key))
        map_put(to, json_string_value(key), NULL);
}

/* The reason stays with us: it is one of few. */
static void add_dropped(Lib *l, const json_t *all)
{
    size_t i;
    json_t *row;
    json_array_foreach(all, i, row)
    {
        const char *name = json_string_value(json_array_get(row, 0)),
                   *why = json_string_value(json_array_get(row, 1));
        const ApiFunction *f = name ? api_function(l->api, name) : NULL;
        if (f && why)
            lib_drop(l, f, arena_strdup(&l->arena, why));
    }
}

static struct sundew_side side_of(const json_t *j)
{
    const json_t *held = json_object_get(j, "held"), *held_at = json_object_get(j, "held_at"),
                 *stack = json_object_get(j, "stack");
    struct sundew_side s = { .site = (uint32_t)number(j, "site"),
                             .thread = (uint8_t)number(j, "thread"),
                             .write = number(j, "write") != 0 };
    for (; s.nheld < SUNDEW_SCHEDULE_HELD && s.nheld < json_array_size(held); s.nheld++) {
        s.held[s.nheld] = (uint64_t)json_integer_value(json_array_get(held, s.nheld));
        s.held_at[s.nheld] = (uint32_t)json_integer_value(json_array_get(held_at, s.nheld));
    }
    for (size_t i = 0; i < SUNDEW_SCHEDULE_STACK && i < json_array_size(stack); i++)
        s.stack[i] = (uint32_t)json_integer_value(json_array_get(stack, i));
    return s;
}

static void add_races(Lib *l, const json_t *all)
{
    size_t i;
    json_t *j;
    json_array_foreach(all, i, j)
    {
        struct sundew_race r = { (uint64_t)json_int(j, "address", 0),
                                 side_of(json_object_get(j, "first")),
                                 side_of(json_object_get(j, "second")) };
        if (scheduler_site(l->quick, r.first.site) && scheduler_site(l->quick, r.second.site))
            lib_note_race(l, &r, number(j, "seen"));
    }
}

static void add_news(Lib *l, const json_t *news)
{
    Subject *t = subject_of(l, number(news, "unit"));
    t->turns++;
    l->tests += number(news, "tests");
    l->runs += number(news, "runs");
    l->serial_runs += number(news, "serial_runs");
    t->tests += number(news, "tests");
    t->runs += number(news, "runs");
    t->inconclusive += number(news, "inconclusive");
    t->rejected += number(news, "rejected");
    for (unsigned c = 0; c < NCONTRACTS; c++)
        t->of_contract[c] +=
            (size_t)json_integer_value(json_array_get(json_object_get(news, "contracts"), c));
    add_cells(json_object_get(news, "pairs"), t->pairs.items, cells_of(t));
    add_cells(json_object_get(news, "conflicts"), t->conflicts.items, cells_of(t));
    add_keys(json_object_get(news, "tried"), &l->tried);
    add_keys(json_object_get(news, "disturbed"), &l->disturbed);
    add_keys(json_object_get(news, "met"), &l->met);
    add_dropped(l, json_object_get(news, "dropped"));
    add_races(l, json_object_get(news, "races"));
}

static void read_schedule(const json_t *j, Schedule *out)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(j, "forces"), i, row)
        vec_push(&out->forces,
                 ((struct sundew_force){ (uint32_t)json_integer_value(json_array_get(row, 0)),
                                         (uint32_t)json_integer_value(json_array_get(row, 1)) }));
    json_array_foreach(json_object_get(j, "hot"), i, row)
        vec_push(&out->hot, (uint32_t)json_integer_value(row));
}

/* The test that a unit has found, once more under its schedule. */
static bool show_again(Lib *l, const json_t *hit, Tests *tests, size_t before, bool *shown,
                       Err *err)
{
    size_t k = number(hit, "test");
    Arena a = { 0 };
    Schedule schedule = { 0 };
    ScheduleRun run = { 0 };
    End end = { 0 };
    Serials serials = { 0 };
    Violation v = { 0 };
    bool ok = true;
    *shown = false;
    if (k < tests->len) {
        Test *t = &tests->items[k];
        t->native = json_is_true(json_object_get(hit, "native"));
        read_schedule(hit, &schedule);
        ok = oracle_serial(l, &a, t, &serials, err);     /* a leak is judged against these */
        for (unsigned i = 0; ok && !*shown && i < (t->native ? NATIVE_AGAIN : 1); i++) {
            end_release(&end);
            violation_release(&v);
            ok = oracle_run(l, l->quick, &a, t, &schedule, &run, &end, err);
            *shown = ok && oracle_judge(l, &a, t, &serials, &run, &end, &v, err);
        }
        if (*shown) {
            v.seconds = json_number_value(json_object_get(hit, "seconds"));
            v.test_number = before + k + 1;
            lib_note_violation(l, t, &v, &schedule);
        }
    }
    if (!*shown)
        violation_release(&v);
    serials_release(&serials);
    end_release(&end);
    schedule_run_release(&run);
    schedule_release(&schedule);
    arena_release(&a);
    return ok;
}

/* Makes the tests of a unit again, and runs those that showed something. */
static bool take_shown(Lib *l, const json_t *news, size_t before, Err *err)
{
    const json_t *shown = json_object_get(news, "shown"), *hit;
    Piece u = { .number = number(news, "unit") };
    Arena a = { 0 };
    Tests tests = { 0 };
    size_t i;
    if (!json_array_size(shown))
        return true;
    u.subject = subject_of(l, u.number);
    unit_begin(l, &u);
    bool ok = make_tests(l, &u, &a, &tests, err);
    for (i = 0; ok && i < json_array_size(shown); i++) {
        bool again;
        hit = json_array_get(shown, i);
        ok = show_again(l, hit, &tests, before, &again, err);
        if (ok && !again)
            session_note(l->s, "a test that showed something did not do so again");
    }
    unit_end(l, &u);
    vec_release(&tests);
    arena_release(&a);
    return ok;
}

static bool apply(Lib *l, const json_t *wave, bool shows, Err *err)
{
    size_t i, before = l->tests;
    json_t *news;
    bool ok = true;
    json_array_foreach(wave, i, news)
    {
        ok = ok && (!shows || take_shown(l, news, before, err));
        before += number(news, "tests");
    }
    json_array_foreach(wave, i, news) if (ok) add_news(l, news);
    return ok;
}

/* --------------------------------------------------------------------- crew */

static bool begin(void *lib, Err *err)
{
    Lib *l = lib;
    l->exec = l->moved = NULL;           /* those of the maker are not ours */
    l->quick = l->watched = NULL;
    return lib_open_player(l, err);
}

static void end(void *lib) { lib_close_player(lib); }

static void put_line(const json_t *j, Str *out)
{
    char *text = json_dumps(j, JSON_COMPACT);
    str_add(out, text ? text : "null");
    free(text);
}

static bool work(void *lib, const Str *request, Str *answer, Err *err)
{
    unsigned long long n = 0, most = 0;
    sscanf(str_c((Str *)request), "%llu %llu", &n, &most);
    json_t *news = unit_run(lib, n, most, err);
    if (news)
        put_line(news, answer);
    json_decref(news);
    return news != NULL;
}

static bool hear(void *lib, const Str *news, Err *err)
{
    json_t *wave = json_parse(news->data, news->len, err);
    bool ok = wave && apply(lib, wave, false, err);
    json_decref(wave);
    return ok;
}

/* The units of a wave, by the crew or by ourselves; their news. NULL: failed. */
static json_t *run_wave(Lib *l, Crew *crew, size_t first, size_t n, size_t left, Err *err)
{
    Str requests[LANES] = { 0 }, answers[LANES] = { 0 };
    json_t *wave = json_array();
    assert(n <= LANES);
    for (size_t i = 0; i < n; i++) {
        size_t most = left - i * UNIT_TESTS < UNIT_TESTS ? left - i * UNIT_TESTS : UNIT_TESTS;
        str_addf(&requests[i], "%zu %zu", first + i, most);
    }
    bool ok = !crew || crew_do(crew, requests, n, answers, err);
    for (size_t i = 0; ok && i < n; i++) {
        ok = crew || work(l, &requests[i], &answers[i], err);
        json_t *news = ok ? json_parse(answers[i].data, answers[i].len, err) : NULL;
        ok = news && json_array_append_new(wave, news) == 0;
    }
    for (size_t i = 0; i < LANES; i++) {
        str_release(&requests[i]);
        str_release(&answers[i]);
    }
    if (!ok) {
        json_decref(wave);
        wave = NULL;
    }
    return wave;
}

/* ------------------------------------------------------------------ journal */

static json_t *title_of(const Lib *l)
{
    const char *type = session_option(l->s, "type");
    return json_pack("{s:s,s:o,s:I,s:o,s:b,s:[b,b,b],s:b}", "format", FORMAT, "build",
                     json_text(path_base(l->build.path)), "seed", (json_int_t)session_seed(l->s),
                     "type", json_text(type ? type : ""), "outputs", l->outputs, "contracts",
                     l->contracts[0], l->contracts[1], l->contracts[2], "example",
                     session_has_tail(l->s));
}

static char *journal_path(const Lib *l) { return path_join(l->out, "search.json"); }

static bool add_line(FILE *f, const json_t *j)
{
    Str line = { 0 };
    put_line(j, &line);
    str_addc(&line, '\n');
    bool ok = fwrite(line.data, 1, line.len, f) == line.len && fflush(f) == 0;
    str_release(&line);
    return ok;
}

/* A line that was cut short when the process died is as if it were not there. */
static bool read_lines(Lib *l, char *text, size_t *units, Err *err)
{
    Err why = { 0 };
    char *rest = text, *line = strsep(&rest, "\n");
    json_t *title = line ? json_parse(line, strlen(line), &why) : NULL, *want = title_of(l);
    bool ok = title && json_equal(title, want);
    json_decref(title);
    json_decref(want);
    if (!ok)
        return err_set(err, "it is of another build, seed, type, contract or example");
    while (ok && (line = strsep(&rest, "\n"))) {
        json_t *wave = rest ? json_parse(line, strlen(line), &why) : NULL;
        if (!json_is_array(wave)) {
            json_decref(wave);
            break;
        }
        ok = apply(l, wave, true, err);
        *units += json_array_size(wave);
        json_decref(wave);
    }
    return ok;
}

static bool resume(Lib *l, size_t *units, Err *err)
{
    char *path = journal_path(l);
    Str text = { 0 };
    bool ok = file_read(path, &text, err);
    if (ok) {
        char *copy = xstrdup(str_c(&text));
        ok = read_lines(l, copy, units, err) || err_ctx(err, "--resume: %s", path);
        free(copy);
    }
    str_release(&text);
    free(path);
    return ok;
}

/* NULL: the search goes on without. */
static FILE *open_journal(Lib *l, bool resumed)
{
    char *path = journal_path(l);
    FILE *f = dir_make(l->out, NULL) ? fopen(path, resumed ? "ae" : "we") : NULL;
    json_t *title = title_of(l);
    if (f && !resumed)
        add_line(f, title);
    json_decref(title);
    free(path);
    return f;
}

static bool is_cut(const json_t *wave)
{
    size_t i;
    json_t *news;
    json_array_foreach(wave, i, news) if (json_object_get(news, "cut")) return true;
    return false;
}

/* ------------------------------------------------------------------- search */

static bool share(Crew *crew, const json_t *wave, Err *err)
{
    Str text = { 0 };
    put_line(wave, &text);
    bool ok = !crew || crew_tell(crew, &text, err);
    str_release(&text);
    return ok;
}

static bool one_wave(Lib *l, Crew *crew, FILE *journal, size_t *units, size_t left, Err *err)
{
    size_t n =
        (left + UNIT_TESTS - 1) / UNIT_TESTS < LANES ? (left + UNIT_TESTS - 1) / UNIT_TESTS : LANES;
    json_t *wave = run_wave(l, crew, *units, n, left, err);
    bool cut = wave && is_cut(wave);
    bool ok = wave && (cut || share(crew, wave, err)) && apply(l, wave, true, err);
    if (ok && journal && !cut)
        add_line(journal, wave);
    *units += n;
    json_decref(wave);
    return ok;
}

bool lib_search(Lib *l, Err *err)
{
    size_t most = l->most ? l->most : SIZE_MAX / 2, units = 0;
    unsigned jobs = session_jobs(l->s) < LANES ? session_jobs(l->s) : LANES;
    bool resumes = session_flag(l->s, "resume");
    if (resumes && !resume(l, &units, err))
        return false;
    CrewPlan plan = { .n = jobs, .begin = begin, .work = work, .hear = hear, .end = end, .arg = l };
    Crew *crew = jobs > 1 ? crew_new(&plan, err) : NULL;
    FILE *journal = open_journal(l, resumes);
    Progress p = progress_start("tests from two threads", 0);
    bool ok = jobs == 1 || crew;
    size_t fruitful = units;
    while (ok && !lib_is_over(l) && l->tests - l->kept < most && !l->exhausted) {
        size_t before = l->tests;
        ok = one_wave(l, crew, journal, &units, most - (l->tests - l->kept), err);
        fruitful = l->tests > before ? units : fruitful;
        l->exhausted = units - fruitful > FRUITLESS * count_good(l);
        progress_step(&p, l->tests, NULL);
    }
    progress_end(&p);
    if (journal)
        fclose(journal);
    crew_free(crew);
    return ok;
}
