/* What watched programs saw: evidence for warnings, observations and counts of writes. */
#include "fuzz.h"
#include "../unit/compile.h"
#include "../unit/tree.h"
#include "analysis/mutability/facts.h"
#include "technique/confirm/confirm_int.h"
#include <stdlib.h>
#include <string.h>

/* ---- evidence: how many slots, then a file of evidence */

static Compiled watched_program(const char *name)
{
    Compiled c = compiled_begin();
    char *path = in_tree(name);
    Str text = { 0 };
    if (!file_read(path, &text, NULL))
        abort();
    compiled_add(&c, "subject.c", str_c(&text), NULL);
    compiled_open(&c);
    str_release(&text);
    free(path);
    return c;
}

/* Each site that a rule has in a program is a warning. */
static Inquiry *open_inquiry(const char *name)
{
    Inquiry *q = xcalloc(1, sizeof *q);
    Compiled c = watched_program(name);
    Err err = { 0 };
    size_t n;
    q->program = c.program;
    q->enough = 1;
    q->woven = weave_begin(c.program, &err);
    map_put(&q->lines, "*", q);
    q->watch = q->woven ? watch_scan(q->woven, true, &q->lines) : NULL;
    if (!q->watch)
        abort();
    WatchSite *const *all = watch_sites(q->watch, &n);
    for (size_t i = 0; i < n; i++)
        all[i]->wanted = true;
    if (!inquiry_prepare(q, &err))
        abort();
    for (size_t i = 0; i < n; i++)
        if (all[i]->slot)
            vec_push(&q->warnings.items, ((Warning){ .site = all[i] }));
    return q;
}

static Inquiry *inquiry(unsigned which)
{
    static const char *const names[] = { "tests/subjects/confirm/twins.c",
                                         "tests/subjects/confirm/more.c",
                                         "tests/subjects/confirm/races.c" };
    static Inquiry *all[3];
    if (!all[which])
        all[which] = open_inquiry(names[which]);
    return all[which];
}

/* The head is short in an input: the processes come from its first bytes. */
#define SAME_KEY "the same program"     /* keys are of this process */
enum { HEAD = offsetof(struct sundew_watch_file, processes), WORDS = 16 };

static void add_evidence(Samples_ *out, unsigned which, struct sundew_watch_slot s, int wrong)
{
    unsigned n = watch_nslots(inquiry(which)->watch);
    struct sundew_watch_file *f = xcalloc(1, sizeof *f);
    Str bytes = { 0 };
    f->magic = SUNDEW_WATCH_MAGIC + (wrong == 1);
    f->nslots = n + (wrong == 2);
    strcpy(f->key, wrong == 3 ? "another" : SAME_KEY);
    str_addc(&bytes, (char)which);
    str_addn(&bytes, (char *)f, HEAD);
    str_addn(&bytes, "prog\0some words", WORDS);
    for (unsigned i = 0; i < n - (wrong == 4); i++) {
        struct sundew_watch_slot x = s;
        if (s.spare)                   /* each another one */
            x.bits = 1ull << i % 64, x.bad = i % 3, x.value += i, x.process = i % 70;
        str_addn(&bytes, (char *)&x, sizeof x);
    }
    vec_push(out, bytes);
    free(f);
}

static void make_evidence(Samples_ *out)
{
    static const struct sundew_watch_slot kinds[] = {
        { .low = INT64_MAX, .high = INT64_MIN, .low2 = INT64_MAX, .high2 = INT64_MIN },
        { .n = 5, .low = 1, .high = 9, .low2 = 2, .high2 = 3, .bits = 3 },
        { .n = 5,
          .bad = 2,
          .low = -1,
          .high = 9,
          .bits = UINT64_MAX,
          .bad_bits = UINT64_MAX,
          .value = 3,
          .value2 = 4,
          .error = 4,
          .process = 1,
          .stack = { 0x1000, 0x2000 } },
        { .n = 1,
          .bad = 7,
          .low = INT64_MIN,
          .high = INT64_MAX,
          .low2 = INT64_MIN,
          .high2 = INT64_MAX,
          .value = INT64_MIN,
          .value2 = -1,
          .process = 99 },
        { .n = 9, .low = 0, .high = 4, .low2 = 0, .high2 = 4, .value = 1, .spare = 1 },
        { .bad = 1, .error = UINT32_MAX },
    };
    for (unsigned which = 0; which < 3; which++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            add_evidence(out, which, kinds[i], 0);
    for (int wrong = 1; wrong < 5; wrong++)
        add_evidence(out, 0, kinds[1], wrong);
}

static void read_evidence(const uint8_t *data, size_t n)
{
    Inquiry *q = inquiry(n ? data[0] % 3 : 0);
    static struct sundew_watch_file f;
    Err err = { 0 };
    Str bytes = { 0 };
    memset(&f, 0, sizeof f);
    n = n ? n - 1 : 0;
    memcpy(&f, data + 1, n < HEAD + WORDS ? n : HEAD + WORDS);
    if (!strncmp(f.key, SAME_KEY, sizeof f.key))
        memcpy(f.key, q->key, sizeof f.key);
    for (unsigned i = 0; i < SUNDEW_WATCH_PROCESSES; i++)
        memcpy(&f.processes[i], (char *)&f + HEAD, WORDS);
    str_addn(&bytes, (char *)&f, sizeof f);
    if (n > HEAD + WORDS)
        str_addn(&bytes, (const char *)data + 1 + HEAD + WORDS, n - HEAD - WORDS);
    const char *path = fuzz_file("evidence", (uint8_t *)str_c(&bytes), bytes.len);
    free(q->slots);
    q->slots = NULL;
    for (int round = 0; round < 2; round++) {       /* of this run, and of one before */
        bool ok = inquiry_take(q, path, &err);
        fuzz_said(ok, &err);
        if (ok)
            inquiry_judge(q);
    }
    str_release(&bytes);
}

/* ---- writes that a run saw (observed), and what was found out before (facts) */

static const char subject[] =
    "struct s { int a; struct s *next; };\n"
    "void set(struct s *p, int v) { p->a = v; }\n"
    "int get(const struct s *p) { return p->a; }\n"
    "void (*hook)(struct s *);\n"
    "void any(struct s *p, char *t) { hook(p); *t = 0; }\n"
    "int main(void) { struct s x = { 1 }; char t; any(&x, &t); set(&x, 2);\n"
    "return get(&x); }\n";

typedef struct Written {
    Compiled c;
    Calls *calls;
} Written;

static const Written *written(void)
{
    static Written w;
    Err err = { 0 };
    if (w.calls)
        return &w;
    char *share = in_tree("share");
    w.c = compiled(subject);
    w.calls = calls_open(w.c.program, &(CallsPlan){ .share = share }, &err);
    if (!w.calls)
        abort();
    free(share);
    return &w;
}

static void read_observed(const uint8_t *data, size_t n)
{
    static Mutability *m;
    static unsigned count;
    const Written *w = written();
    Err err = { 0 };
    if (count++ % 500 == 0) {          /* observations stay in it */
        mutability_free(m);
        m = mutability_new(w->c.program, w->calls, &(MutabilityPlan){ 0 });
    }
    fuzz_said(mut_observations_read(m, w->c.program, fuzz_file("observed", data, n), &err), &err);
}

static void make_facts(Samples_ *out)
{
    const Written *w = written();
    Mutability *m = mutability_new(w->c.program, w->calls, &(MutabilityPlan){ 0 });
    Str s = { 0 };
    mut_facts_print(m, w->c.program, &s);
    mutability_free(m);
    vec_push(out, s);
}

static void read_facts(const uint8_t *data, size_t n)
{
    const Written *w = written();
    Err err = { 0 };
    char *path = program_cache_path(w->c.program, "mutability");
    if (!file_write(path, n ? data : (const uint8_t *)"", n, &err))
        abort();
    MutFacts *facts = mut_facts_open(w->c.program);
    size_t nfunctions;
    const Function *const *all = program_functions(w->c.program, &nfunctions);
    for (size_t i = 0; facts && i < nfunctions; i++)
        for (unsigned k = 0; k < all[i]->nparams; k++) {
            const MutFact *f = mut_facts_param(facts, all[i], k);
            if (f && (f->function != all[i] || f->index != k))
                abort();
        }
    mut_facts_close(facts);
    free(path);
}

const FuzzReader fuzz_seen[] = {
    { .name = "evidence", .read = read_evidence, .make = make_evidence },
    { .name = "observed",
      .read = read_observed,
      .texts = { "set 0 0 12 a.c\tset main\nany 0 1 7 b c.c\tany any main\nany 1 0 7 x.c\tnone\n",
                 "get 0 9 4294967295 \n%73et 7 0 1 a.c\n", "set 0 0\n",
                 "none 0 0 1 a%2ec\tx%y main\n", "\n\n", "set 0 0 1 a.c\t\n\tset" } },
    { .name = "facts",
      .read = read_facts,
      .make = make_facts,
      .texts = { "sundew-mutability 1\nset 0 m!A m!A mi?? Uurkcd\nany 1 m?0 i!0 ???? -\n",
                 "sundew-mutability 1\nset 0 x x x x\n%73et 0 m!0 m!0 mmmm -\nset 9 m!0 m!0 mmmm -\n",
                 "sundew-mutability 2\n",
                 "sundew-mutability 1\nset 0x m!0 m!0 mmmm -\nset 0 m!Q m!0 mmmm -\nset\n" } },
    { 0 },
};
