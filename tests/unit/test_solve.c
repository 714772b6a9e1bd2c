#include "base/rng.h"
#include "solve/cache.h"
#include "solve/path.h"
#include "solve/problem.h"
#include "solve/solve.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- helpers: a pool with one input, short names */

typedef struct World {
    Exprs *p;
    Path *path;
    Rng rng;
} World;

static World world(uint64_t seed)
{
    World w = { .p = exprs_new(NULL), .rng = rng_seeded(seed) };
    exprs_source(w.p, "input", 4096);
    w.path = path_new(w.p);
    return w;
}

static void end(World *w)
{
    path_free(w->path);
    exprs_free(w->p);
}

static Expr byte(World *w, uint32_t i) { return expr_byte(w->p, i); }

static Expr k(World *w, unsigned width, ExprValue v) { return expr_const(w->p, width, v); }

static Expr op(World *w, ExprOp o, Expr a, Expr b) { return expr_binary(w->p, o, a, b); }

static Expr le(World *w, uint32_t from, unsigned n)
{
    Expr b[16];
    for (unsigned i = 0; i < n; i++)
        b[i] = byte(w, from + i);
    return expr_le(w->p, b, n);
}

static void take(World *w, Expr cond, const uint8_t *in, size_t n)
{
    path_add(w->path, cond, 0, expr_eval(w->p, cond, in, n) != 0);
}

/* The answer's input: all conjuncts before hold, the goal does. */
static bool verified(World *w, size_t index, Expr goal, const uint8_t *in, size_t n,
                     const Answer *a)
{
    uint8_t *out = malloc(n + 1);
    memcpy(out, in, n);
    for (size_t i = 0; i < a->nchanges; i++) {
        assert_true(a->changes[i].byte < n);
        out[a->changes[i].byte] = a->changes[i].value;
    }
    bool ok = expr_eval(w->p, goal, out, n) != 0;
    for (size_t i = 0; i < index && ok && a->status == SOLVE_SAT; i++) {
        Expr c = path_at(w->path, i).cond;
        ok = !c || expr_eval(w->p, c, out, n) != 0;
    }
    free(out);
    return ok;
}

static Answer flip(World *w, Solver *s, size_t index, const uint8_t *in, size_t n)
{
    Answer a;
    SolveStatus st = solver_query(s, w->path, index, in, n, &a);
    assert_int_equal(st, a.status);
    if (st == SOLVE_SAT || st == SOLVE_OPTIMISTIC)
        assert_true(verified(w, index, expr_not(w->p, path_at(w->path, index).cond), in, n, &a));
    return a;
}

/* ---- paths and slices */

static void a_slice_has_what_shares_bytes(void **state)
{
    (void)state;
    World w = world(1);
    uint8_t in[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    Expr c0 = op(&w, EXPR_ULT, byte(&w, 0), k(&w, 8, 9));
    Expr c1 = op(&w, EXPR_ULT, byte(&w, 1), byte(&w, 2));
    Expr c2 = op(&w, EXPR_ULT, byte(&w, 5), k(&w, 8, 9));
    Expr c3 = op(&w, EXPR_ULT, byte(&w, 2), byte(&w, 3));
    Expr c4 = op(&w, EXPR_ULT, byte(&w, 3), byte(&w, 5));
    Expr all[] = { c0, c1, c2, c3, c4, c1 };
    for (unsigned i = 0; i < 6; i++)
        take(&w, all[i], in, 8);
    Slice s = { 0 };
    Expr goal = op(&w, EXPR_EQ, byte(&w, 1), k(&w, 8, 7));
    path_slice(w.path, 6, goal, &s);     /* 1-2-3-5, each condition once */
    assert_int_equal(s.len, 4);
    assert_int_equal(s.items[0], c1);
    assert_int_equal(s.items[3], c4);
    path_slice(w.path, 4, goal, &s);     /* c4 did not link 3 and 5 yet */
    assert_int_equal(s.len, 2);
    path_slice(w.path, 1, goal, &s);
    assert_int_equal(s.len, 0);
    path_slice(w.path, 6, goal, &s);     /* the order of questions is free */
    assert_int_equal(s.len, 4);
    vec_release(&s);
    Str text = { 0 };
    path_dump(w.path, &text);
    assert_non_null(strstr(str_c(&text), "0 site 0 taken: input[0] < 9\n"));
    str_release(&text);
    end(&w);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Against the plain definition: grow the set of bytes until it is closed. */
static void slices_agree_with_their_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        World w = world(seed);
        enum { N = 40, BYTES = 24 };
        uint32_t ends[N][2];
        for (unsigned i = 0; i < N; i++) {
            ends[i][0] = (uint32_t)rng_below(&w.rng, BYTES);
            ends[i][1] = (uint32_t)rng_below(&w.rng, BYTES);
            Expr x = byte(&w, ends[i][0]), y = byte(&w, ends[i][1]);
            if (x == y)
                y = k(&w, 8, 100);
            path_add(w.path, op(&w, EXPR_ULT, x, op(&w, EXPR_XOR, y, k(&w, 8, i + 1))), i, true);
        }
        for (unsigned t = 0; t < 30; t++) {
            size_t index = rng_below(&w.rng, N + 1);
            uint32_t b = (uint32_t)rng_below(&w.rng, BYTES);
            bool in[BYTES] = { 0 }, more = true;
            in[b] = true;
            while (more) {
                more = false;
                for (size_t i = 0; i < index; i++)
                    if (in[ends[i][0]] != in[ends[i][1]])
                        in[ends[i][0]] = in[ends[i][1]] = more = true;
            }
            size_t want = 0;
            Expr conds[N];
            for (size_t i = 0; i < index; i++)
                if (in[ends[i][0]])
                    conds[want++] = path_at(w.path, i).cond;
            qsort(conds, want, sizeof *conds, ascending);
            size_t unique = 0;
            for (size_t i = 0; i < want; i++)
                if (!unique || conds[unique - 1] != conds[i])
                    conds[unique++] = conds[i];
            Slice s = { 0 };
            path_slice(w.path, index, byte(&w, b), &s);
            assert_int_equal(s.len, unique);
            if (s.len)
                qsort(s.items, s.len, sizeof *s.items, ascending);
            for (size_t i = 0; i < unique; i++)
                assert_int_equal(s.items[i], conds[i]);
            vec_release(&s);
        }
        end(&w);
    }
}

/* ---- one tier at a time */

static void single_bytes_need_no_search(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, &(SolverPlan){ .no_z3 = true });
    uint8_t in[4] = "5xyz";
    Expr d = op(&w, EXPR_SUB, byte(&w, 0), k(&w, 8, '0'));
    take(&w, op(&w, EXPR_ULT, d, k(&w, 8, 10)), in, 4);
    take(&w, op(&w, EXPR_NE, byte(&w, 0), k(&w, 8, '9')), in, 4);
    take(&w, op(&w, EXPR_ULE, byte(&w, 0), k(&w, 8, '7')), in, 4);
    Answer a = flip(&w, s, 2, in, 4);
    assert_int_equal(a.status, SOLVE_SAT);
    assert_int_equal(a.tier, TIER_BYTES);
    assert_int_equal(a.nchanges, 1);
    assert_int_equal(a.changes[0].value, '8');
    take(&w, op(&w, EXPR_NE, byte(&w, 0), k(&w, 8, 'x')), in, 4);
    a = flip(&w, s, 3, in, 4);
    assert_int_equal(a.exact, SOLVE_UNSAT);
    assert_int_equal(a.status, SOLVE_OPTIMISTIC);   /* 'x' alone is possible */
    assert_int_equal(a.changes[0].value, 'x');
    solver_free(s);
    end(&w);
}

static void magic_words_are_byte_equations(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, &(SolverPlan){ .no_z3 = true });
    uint8_t in[8] = "aaaaaaa";
    take(&w, op(&w, EXPR_EQ, le(&w, 0, 8), k(&w, 64, 0x1122334455667788)), in, 8);
    Answer a = flip(&w, s, 0, in, 8);
    assert_int_equal(a.status, SOLVE_SAT);
    assert_int_equal(a.tier, TIER_BYTES);
    assert_int_equal(a.nchanges, 8);
    assert_int_equal(a.changes[0].value, 0x88);
    solver_free(s);
    end(&w);
}

static void ranges_refute(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, &(SolverPlan){ .no_z3 = true });
    uint8_t in[4] = "42zz";
    Expr n = k(&w, 32, 0);
    for (uint32_t i = 0; i < 2; i++) {
        Expr d = op(&w, EXPR_SUB, byte(&w, i), k(&w, 8, '0'));
        take(&w, op(&w, EXPR_ULT, d, k(&w, 8, 10)), in, 4);
        n = op(&w, EXPR_ADD, op(&w, EXPR_MUL, n, k(&w, 32, 10)), expr_zext(w.p, d, 32));
    }
    take(&w, op(&w, EXPR_ULE, n, k(&w, 32, 70)), in, 4);
    take(&w, op(&w, EXPR_ULE, n, k(&w, 32, 99)), in, 4);
    Answer a = flip(&w, s, 2, in, 4);
    assert_int_equal(a.status, SOLVE_SAT);          /* 71 … 99 */
    a = flip(&w, s, 3, in, 4);
    assert_int_equal(a.exact, SOLVE_UNSAT);
    solver_free(s);
    end(&w);

    /* A condition on a number bounds it for the next. */
    w = world(2);
    s = solver_new(w.p, &(SolverPlan){ .no_z3 = true });
    uint8_t in2[4] = { 5, 0, 0, 0 };
    take(&w, op(&w, EXPR_ULT, le(&w, 0, 4), k(&w, 32, 1000)), in2, 4);
    take(&w, op(&w, EXPR_ULT, le(&w, 0, 4), k(&w, 32, 2000)), in2, 4);
    a = flip(&w, s, 1, in2, 4);
    assert_int_equal(a.exact, SOLVE_UNSAT);
    SolverStats st = solver_stats(s);
    assert_int_equal(st.tier[TIER_INTERVAL].unsat, 1);
    solver_free(s);
    end(&w);
}

static void copies_are_found_in_the_input(void **state)
{
    (void)state;
    World w = world(1);
    uint8_t parent[8] = { 9, 9, 0x12, 0x34, 0x56, 0x78, 9, 9 };
    /* be32(input[2..5]) + something symbolic that must stay */
    Expr be = expr_unary(w.p, EXPR_BSWAP, le(&w, 2, 4));
    Expr noise = op(&w, EXPR_MUL, expr_zext(w.p, byte(&w, 0), 32), expr_zext(w.p, byte(&w, 1), 32));
    Expr sum = op(&w, EXPR_ADD, be, noise);
    Expr cond = op(&w, EXPR_EQ, sum, k(&w, 32, 0xcafe0051));
    Problem q;
    Slice core = { 0 };
    Masks *m = masks_new(64);
    assert_true(problem_init(&q, w.p, m, &cond, 1, 0, parent, 8, &core));
    assert_true(quick_copy(&q, 100000));
    assert_true(problem_holds(&q));
    assert_int_equal(q.values[2], 0xca);
    assert_int_equal(q.values[5], 0x00);
    problem_release(&q);
    masks_free(m);
    vec_release(&core);
    end(&w);
}

static void earlier_assignments_answer(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, &(SolverPlan){ .no_z3 = true });
    uint8_t in[4] = { 1, 1, 1, 1 };
    Expr n = le(&w, 0, 4);
    take(&w, op(&w, EXPR_ULT, n, k(&w, 32, 0x7fffff00)), in, 4);
    Answer a = flip(&w, s, 0, in, 4);
    assert_int_equal(a.status, SOLVE_SAT);
    Expr weaker = op(&w, EXPR_UGT, n, k(&w, 32, 0x7ffffe00));
    assert_int_equal(solver_query_extra(s, w.path, 0, weaker, in, 4, &a), SOLVE_SAT);
    assert_int_equal(a.tier, TIER_ASSIGNMENT);
    assert_int_equal(solver_query_extra(s, w.path, 0, weaker, in, 4, &a), SOLVE_SAT);
    assert_int_equal(a.tier, TIER_REPEAT);
    solver_free(s);
    end(&w);
}

static void cores_answer_for_larger_queries(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, &(SolverPlan){ .no_optimistic = true });
    uint8_t in[4] = { 2, 2, 3, 1 };
    Expr a8 = byte(&w, 0), b8 = byte(&w, 1), c8 = byte(&w, 2), d8 = byte(&w, 3);
    take(&w, op(&w, EXPR_EQ, op(&w, EXPR_ADD, a8, b8), k(&w, 8, 4)), in, 4);
    take(&w, op(&w, EXPR_ULT, op(&w, EXPR_XOR, c8, b8), k(&w, 8, 9)), in, 4);
    Expr parity = expr_extract(w.p, op(&w, EXPR_ADD, a8, b8), 0, 1);
    Answer a;
    assert_int_equal(solver_query_extra(s, w.path, 2, parity, in, 4, &a), SOLVE_UNSAT);
    assert_int_not_equal(a.tier, TIER_CORE);
    take(&w, op(&w, EXPR_ULT, d8, c8), in, 4);
    assert_int_equal(solver_query_extra(s, w.path, 3, parity, in, 4, &a), SOLVE_UNSAT);
    assert_int_equal(a.tier, TIER_CORE);
    /* The twin: another bit is free. */
    Expr other = expr_extract(w.p, op(&w, EXPR_ADD, a8, c8), 0, 1);
    assert_int_equal(solver_query_extra(s, w.path, 3, expr_not(w.p, other), in, 4, &a), SOLVE_SAT);
    solver_free(s);
    end(&w);
}

/* A loop tests the same byte again and again. */
static void a_core_has_each_condition_once(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, &(SolverPlan){ .no_optimistic = true });
    uint8_t in[2] = { 9, 1 };
    Expr a8 = byte(&w, 0), b8 = byte(&w, 1);
    Expr large = op(&w, EXPR_ULT, k(&w, 8, 5), a8), goal = op(&w, EXPR_EQ, a8, k(&w, 8, 2));
    Answer a;
    take(&w, large, in, 2);
    take(&w, large, in, 2);
    assert_int_equal(solver_query_extra(s, w.path, 2, op(&w, EXPR_AND, large, goal), in, 2, &a),
                     SOLVE_UNSAT);
    assert_int_equal(a.tier, TIER_BYTES);
    take(&w, op(&w, EXPR_ULT, b8, a8), in, 2);
    assert_int_equal(solver_query_extra(s, w.path, 3, goal, in, 2, &a), SOLVE_UNSAT);
    assert_int_equal(a.tier, TIER_CORE);
    solver_free(s);
    end(&w);
}

static void z3_tells_which_conditions_clash(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, &(SolverPlan){ .search_steps = 1, .no_optimistic = true });
    uint8_t in[12] = { 3, 5 };
    Expr x = le(&w, 0, 4), y = le(&w, 4, 4), z = le(&w, 8, 4);
    Expr far = op(&w, EXPR_ULE, op(&w, EXPR_XOR, x, z), k(&w, 32, 0xfffffff0));
    Expr near = op(&w, EXPR_ULE, y, op(&w, EXPR_ADD, x, k(&w, 32, 3)));
    take(&w, far, in, 12);
    take(&w, near, in, 12);
    Answer a;
    Expr goal = op(&w, EXPR_ULT, op(&w, EXPR_OR, x, y), op(&w, EXPR_AND, x, y));
    assert_int_equal(solver_query_extra(s, w.path, 2, goal, in, 12, &a), SOLVE_UNSAT);
    assert_int_equal(a.tier, TIER_Z3);
    /* Another path, without what did not matter and with something else. */
    Path *other = path_new(w.p);
    path_add(other, near, 0, true);
    path_add(other, op(&w, EXPR_ULT, x, z), 0, true);
    assert_int_equal(solver_query_extra(s, other, 2, goal, in, 12, &a), SOLVE_UNSAT);
    assert_int_equal(a.tier, TIER_CORE);
    /* The twin has a solution. */
    goal = op(&w, EXPR_ULT, op(&w, EXPR_AND, x, y), op(&w, EXPR_OR, x, y));
    assert_int_equal(solver_query_extra(s, other, 2, goal, in, 12, &a), SOLVE_SAT);
    path_free(other);
    solver_free(s);
    end(&w);
}

static Expr real(World *w, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return k(w, 64, bits);
}

static void equations_of_floats_are_solved(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, &(SolverPlan){ .no_z3 = true });
    double from[2] = { 0, 0 };
    uint8_t in[16];
    memcpy(in, from, 16);
    Expr x = le(&w, 0, 8), y = le(&w, 8, 8);
    /* A square, and it is not negative. */
    take(&w, op(&w, EXPR_FOLE, real(&w, 0), x), in, 16);
    take(&w, op(&w, EXPR_FOEQ, op(&w, EXPR_FMUL, x, x), real(&w, 39.0625)), in, 16);
    Answer a = flip(&w, s, 1, in, 16);
    assert_int_equal(a.status, SOLVE_SAT);
    assert_int_equal(a.tier, TIER_NEWTON);
    /* Two unknowns: x + y == -1.75 is given, x - y == 6.75 is asked for. */
    path_reset(w.path);
    from[1] = -1.75;
    memcpy(in, from, 16);
    take(&w, op(&w, EXPR_FOEQ, op(&w, EXPR_FADD, x, y), real(&w, -1.75)), in, 16);
    take(&w, op(&w, EXPR_FOEQ, op(&w, EXPR_FSUB, x, y), real(&w, 6.75)), in, 16);
    a = flip(&w, s, 1, in, 16);
    assert_int_equal(a.status, SOLVE_SAT);
    assert_int_equal(a.tier, TIER_NEWTON);
    /* No number has a negative square: no answer, and none that is wrong. */
    path_reset(w.path);
    take(&w, op(&w, EXPR_FOEQ, op(&w, EXPR_FMUL, x, x), real(&w, -4)), in, 16);
    a = flip(&w, s, 0, in, 16);
    assert_int_equal(a.exact, SOLVE_UNKNOWN);
    solver_free(s);
    end(&w);
}

static void search_goes_backwards_and_downhill(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, &(SolverPlan){ .no_z3 = true });
    uint8_t in[16] = "0000000000000";
    /* A number of six digits, as atoi makes it, equals 271828. */
    Expr n = k(&w, 32, 0);
    for (uint32_t i = 0; i < 6; i++) {
        Expr d = op(&w, EXPR_SUB, expr_sext(w.p, byte(&w, i), 32), k(&w, 32, '0'));
        take(&w, op(&w, EXPR_ULT, d, k(&w, 32, 10)), in, 16);
        n = op(&w, EXPR_ADD, op(&w, EXPR_MUL, n, k(&w, 32, 10)), d);
    }
    take(&w, op(&w, EXPR_EQ, n, k(&w, 32, 271828)), in, 16);
    Answer a = flip(&w, s, 6, in, 16);
    assert_int_equal(a.status, SOLVE_SAT);
    assert_true(a.tier == TIER_BACK || a.tier == TIER_DOWN);
    /* Two tables in a row. */
    uint8_t sbox[256];
    for (unsigned i = 0; i < 256; i++)
        sbox[i] = (uint8_t)(i * 167 + 13);
    Expr t = expr_table(w.p, sbox, 256, 1, byte(&w, 8));
    t = expr_table(w.p, sbox, 256, 1, op(&w, EXPR_XOR, t, byte(&w, 9)));
    take(&w, op(&w, EXPR_EQ, t, k(&w, 8, 0x5a)), in, 16);
    a = flip(&w, s, 7, in, 16);
    assert_int_equal(a.status, SOLVE_SAT);
    solver_free(s);
    end(&w);
}

static void floats_are_searched(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, &(SolverPlan){ .no_z3 = true });
    uint8_t in[8] = { 0 };
    Expr x = le(&w, 0, 8);
    double limit = 2.5, half = 0.5;
    uint64_t u, h;
    memcpy(&u, &limit, 8);
    memcpy(&h, &half, 8);
    /* exp(x) > 2.5, and sin(x) + x * x == 0.5 within 1e-9 */
    take(&w, op(&w, EXPR_FOGT, expr_fmath(w.p, EXPR_MATH_EXP, x, 0), k(&w, 64, u)), in, 8);
    Answer a = flip(&w, s, 0, in, 8);
    assert_int_equal(a.status, SOLVE_SAT);
    Expr goal = op(&w, EXPR_FOGT, op(&w, EXPR_FMUL, x, k(&w, 64, h)), k(&w, 64, u));
    assert_int_equal(solver_query_extra(s, w.path, 0, goal, in, 8, &a), SOLVE_SAT);
    assert_true(verified(&w, 0, goal, in, 8, &a));
    solver_free(s);
    /* Z3 does it too, where it has a theory. */
    s = solver_new(w.p, &(SolverPlan){ .no_quick = true });
    goal = op(&w, EXPR_FOEQ, op(&w, EXPR_FADD, x, k(&w, 64, h)), k(&w, 64, u));
    assert_int_equal(solver_query_extra(s, w.path, 0, goal, in, 8, &a), SOLVE_SAT);
    assert_true(verified(&w, 0, goal, in, 8, &a));
    goal = op(&w, EXPR_FOEQ, expr_fmath(w.p, EXPR_MATH_SIN, x, 0), k(&w, 64, h));
    assert_int_equal(solver_query_extra(s, w.path, 0, goal, in, 8, &a), SOLVE_UNKNOWN);
    assert_int_equal(a.reason, REASON_FLOAT);
    solver_free(s);
    end(&w);
}

/* ---- the whole, at random */

/* Conditions as parsers and checksums have them, over `n` bytes. */
static Expr random_number(World *w, uint32_t n, unsigned width, unsigned depth)
{
    Rng *r = &w->rng;
    if (!depth || rng_below(r, 5) == 0) {
        unsigned size = width / 8;
        uint32_t from = (uint32_t)rng_below(r, n);
        if (rng_below(r, 2) && from + size <= n)
            return le(w, from, size);
        return rng_below(r, 2) ? expr_zext(w->p, byte(w, from), width)
                               : expr_sext(w->p, byte(w, from), width);
    }
    static const ExprOp ops[] = { EXPR_ADD,  EXPR_SUB,  EXPR_XOR,  EXPR_AND, EXPR_OR,  EXPR_MUL,
                                  EXPR_UREM, EXPR_UDIV, EXPR_LSHR, EXPR_SHL, EXPR_ADD, EXPR_XOR };
    Expr a = random_number(w, n, width, depth - 1);
    ExprOp o = ops[rng_below(r, 12)];
    ExprValue c = rng_below(r, 2) ? rng_below(r, 256) : rng_next(r);
    if (o == EXPR_UREM || o == EXPR_UDIV)
        c = 1 + rng_below(r, 1000);
    if (o == EXPR_LSHR || o == EXPR_SHL)
        c = rng_below(r, width);
    bool constant = o == EXPR_MUL || o == EXPR_UREM || o == EXPR_UDIV || o == EXPR_LSHR ||
                    o == EXPR_SHL || rng_below(r, 2);
    Expr b = constant ? k(w, width, c) : random_number(w, n, width, depth - 1);
    if (rng_below(r, 12) == 0) {
        uint8_t t[64];
        for (unsigned i = 0; i < 64; i++)
            t[i] = (uint8_t)(i * 37 ^ i >> 2);
        return expr_zext(w->p, expr_table(w->p, t, 64, 1, expr_trunc(w->p, a, 6)), width);
    }
    return op(w, o, a, b);
}

static Expr random_condition(World *w, uint32_t n, const uint8_t *near)
{
    static const ExprOp ops[] = {
        EXPR_EQ, EXPR_NE, EXPR_ULT, EXPR_ULE, EXPR_SLT, EXPR_SLE, EXPR_EQ
    };
    Rng *r = &w->rng;
    unsigned widths[] = { 8, 16, 32, 64 }, width = widths[rng_below(r, 4)];
    Expr a = random_number(w, n, width, (unsigned)rng_below(r, 4));
    ExprValue v = near && rng_below(r, 2) ? expr_eval(w->p, a, near, n) : rng_next(r);
    Expr b = rng_below(r, 4) ? k(w, width, v) : random_number(w, n, width, 2);
    Expr c = op(w, ops[rng_below(r, 7)], a, b);
    if (rng_below(r, 8) == 0)
        c = op(w, rng_below(r, 2) ? EXPR_AND : EXPR_OR, c, random_condition(w, n, near));
    return c;
}

/* A path that one input takes, and another that leaves it at `index`. */
static size_t planted(World *w, uint32_t n, uint8_t *in, uint8_t *other)
{
    for (uint32_t i = 0; i < n; i++) {
        in[i] = (uint8_t)rng_next(&w->rng);
        other[i] = rng_below(&w->rng, 2) ? in[i] : (uint8_t)rng_next(&w->rng);
    }
    other[0] = (uint8_t)(in[0] + 1);
    for (;;) {
        Expr c = random_condition(w, n, other);
        bool taken = expr_eval(w->p, c, in, n) != 0;
        path_add(w->path, c, 0, taken);
        if ((expr_eval(w->p, c, other, n) != 0) != taken)
            return path_length(w->path) - 1;
    }
}

static void what_has_a_solution_is_solved(void **state)
{
    (void)state;
    unsigned solved = 0, unknown = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        World w = world(seed);
        uint8_t in[12], other[12];
        uint32_t n = 2 + (uint32_t)rng_below(&w.rng, 11);
        size_t index = planted(&w, n, in, other);
        Solver *s = solver_new(w.p, &(SolverPlan){ .seed = seed });
        Answer a = flip(&w, s, index, in, n);
        assert_int_not_equal(a.exact, SOLVE_UNSAT);
        solved += a.status == SOLVE_SAT;
        unknown += a.exact == SOLVE_UNKNOWN;
        solver_free(s);
        end(&w);
    }
    print_message("%u solved, %u unknown\n", solved, unknown);
    assert_true(unknown <= 3);
}

/* Z3 alone and the quick solvers before it never contradict each other. */
static void quick_solvers_and_z3_agree(void **state)
{
    (void)state;
    unsigned unsat = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        World w = world(seed + 100000);
        uint8_t in[6];
        for (unsigned i = 0; i < 6; i++)
            in[i] = (uint8_t)rng_next(&w.rng);
        for (unsigned i = 0; i < 8; i++)
            take(&w, random_condition(&w, 6, in), in, 6);
        Solver *quick = solver_new(w.p, &(SolverPlan){ .z3_steps = 200000 });
        Solver *z3 =
            solver_new(w.p, &(SolverPlan){
                                .no_quick = true, .no_optimistic = true, .z3_steps = 200000 });
        for (size_t i = 4; i < 8; i++) {
            Answer a = flip(&w, quick, i, in, 6), b = flip(&w, z3, i, in, 6);
            if (a.exact != SOLVE_UNKNOWN && b.exact != SOLVE_UNKNOWN)
                assert_int_equal(a.exact, b.exact);
            unsat += a.exact == SOLVE_UNSAT;
        }
        solver_free(quick);
        solver_free(z3);
        end(&w);
    }
    assert_true(unsat > 20);
}

/* With two bytes, all inputs can be tried. */
static void two_bytes_are_decided_without_z3(void **state)
{
    (void)state;
    unsigned unsat = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        World w = world(seed + 5000);
        uint8_t in[2] = { (uint8_t)rng_next(&w.rng), (uint8_t)rng_next(&w.rng) };
        for (unsigned i = 0; i < 4; i++)
            take(&w, random_condition(&w, 2, in), in, 2);
        Solver *s = solver_new(w.p, &(SolverPlan){ .no_z3 = true, .search_steps = 100000000 });
        Answer a = flip(&w, s, 3, in, 2);
        Expr all[4] = { 0, 0, 0, expr_not(w.p, path_at(w.path, 3).cond) };
        for (unsigned i = 0; i < 3; i++)
            all[i] = path_at(w.path, i).cond;
        Tape *t = tape_new(w.p, all, 4);
        bool any = false;
        for (unsigned v = 0; v < 65536 && !any; v++) {
            uint8_t x[2] = { (uint8_t)v, (uint8_t)(v >> 8) };
            if (tape_nbytes(t) && tape_bytes(t)[0] == 1)
                x[0] = x[1];
            tape_run(t, x);
            any = tape_truths(t) == 4;
        }
        tape_free(t);
        assert_int_equal(a.exact, any ? SOLVE_SAT : SOLVE_UNSAT);
        unsat += !any;
        solver_free(s);
        end(&w);
    }
    assert_true(unsat > 5);
}

static void the_same_seed_gives_the_same_answers(void **state)
{
    (void)state;
    uint64_t sums[2] = { 0, 0 };
    for (int run = 0; run < 2; run++) {
        for (uint64_t seed = 1; seed <= 60; seed++) {
            World w = world(seed + 777);
            uint8_t in[10], other[10];
            size_t index = planted(&w, 10, in, other);
            Solver *s = solver_new(w.p, &(SolverPlan){ .seed = 9 });
            Answer a = flip(&w, s, index, in, 10);
            sums[run] = sums[run] * 31 + a.status * 16 + a.tier;
            for (size_t i = 0; i < a.nchanges; i++)
                sums[run] = sums[run] * 31 + a.changes[i].byte * 256 + a.changes[i].value;
            solver_free(s);
            end(&w);
        }
    }
    assert_true(sums[0] == sums[1]);
}

/* ---- edges */

static void bytes_behind_the_end_stay_zero(void **state)
{
    (void)state;
    for (int quick = 0; quick < 2; quick++) {
        World w = world(1);
        Solver *s =
            solver_new(w.p,
                       &(SolverPlan){ .no_quick = !quick, .no_z3 = quick, .no_optimistic = true });
        uint8_t in[4] = { 1, 2, 3, 4 };
        Answer a;
        Expr sum = op(&w, EXPR_ADD, le(&w, 2, 2), le(&w, 4, 2));
        Expr goal = op(&w, EXPR_EQ, sum, k(&w, 16, 0x7777));
        assert_int_equal(solver_query_extra(s, w.path, 0, goal, in, 4, &a), SOLVE_SAT);
        assert_true(verified(&w, 0, goal, in, 4, &a));
        goal = op(&w, EXPR_EQ, byte(&w, 4), k(&w, 8, 1));
        assert_int_equal(solver_query_extra(s, w.path, 0, goal, in, 4, &a), SOLVE_UNSAT);
        uint8_t longer[5] = { 0 };
        assert_int_equal(solver_query_extra(s, w.path, 0, goal, longer, 5, &a), SOLVE_SAT);
        solver_free(s);
        end(&w);
    }
}

static void constants_and_nothing_are_answered(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, NULL);
    uint8_t in[1] = { 0 };
    Answer a;
    assert_int_equal(solver_query_extra(s, w.path, 0, expr_bool(w.p, true), in, 1, &a), SOLVE_SAT);
    assert_int_equal(a.nchanges, 0);
    assert_int_equal(solver_query_extra(s, w.path, 0, expr_bool(w.p, false), in, 1, &a),
                     SOLVE_UNSAT);
    assert_int_equal(solver_query_extra(s, w.path, 0, 0, in, 1, &a), SOLVE_UNKNOWN);
    assert_int_equal(solver_query_extra(s, w.path, 0, byte(&w, 0), in, 1, &a), SOLVE_UNKNOWN);
    assert_int_equal(a.reason, REASON_OTHER);
    path_add(w.path, 0, 7, true);
    assert_int_equal(solver_query(s, w.path, 0, in, 1, &a), SOLVE_UNKNOWN);
    solver_free(s);
    end(&w);
}

/* A product of two 32-bit primes: out of reach within few steps. */
static Expr hard_goal(World *w)
{
    Expr x = expr_zext(w->p, le(w, 0, 4), 64), y = expr_zext(w->p, le(w, 4, 4), 64);
    Expr m = op(w, EXPR_EQ, op(w, EXPR_MUL, x, y), k(w, 64, 4294967291ull * 4294967279ull));
    Expr big = op(w, EXPR_AND, op(w, EXPR_UGT, x, k(w, 64, 1)), op(w, EXPR_UGT, y, x));
    return op(w, EXPR_AND, m, big);
}

static void limits_hold_and_are_counted(void **state)
{
    (void)state;
    World w = world(1);
    uint8_t in[8] = { 1, 2, 3 };
    Answer a;
    Solver *s = solver_new(w.p, &(SolverPlan){ .z3_steps = 20000, .search_steps = 1000 });
    assert_int_equal(solver_query_extra(s, w.path, 0, hard_goal(&w), in, 8, &a), SOLVE_UNKNOWN);
    assert_int_equal(a.reason, REASON_STEPS);
    SolverStats st = solver_stats(s);
    assert_int_equal(st.reasons[REASON_STEPS], 1);
    assert_int_equal(st.unknown, 1);
    solver_free(s);
    s = solver_new(w.p, &(SolverPlan){
                            .z3_steps = 4000000000u, .z3_seconds = 0.2, .search_steps = 1000 });
    assert_int_equal(solver_query_extra(s, w.path, 0, hard_goal(&w), in, 8, &a), SOLVE_UNKNOWN);
    assert_int_equal(a.reason, REASON_TIME);
    assert_true(a.seconds < 5);
    solver_free(s);
    s = solver_new(w.p, &(SolverPlan){ .z3_memory = 1, .search_steps = 1000 });
    assert_int_equal(solver_query_extra(s, w.path, 0, hard_goal(&w), in, 8, &a), SOLVE_UNKNOWN);
    assert_int_equal(a.reason, REASON_MEMORY);
    solver_free(s);
    s = solver_new(w.p, &(SolverPlan){ .z3_nodes = 3, .search_steps = 1000 });
    assert_int_equal(solver_query_extra(s, w.path, 0, hard_goal(&w), in, 8, &a), SOLVE_UNKNOWN);
    assert_int_equal(a.reason, REASON_SIZE);
    solver_free(s);
    s = solver_new(w.p, &(SolverPlan){ .no_z3 = true, .search_steps = 1000 });
    assert_int_equal(solver_query_extra(s, w.path, 0, hard_goal(&w), in, 8, &a), SOLVE_UNKNOWN);
    assert_int_equal(a.reason, REASON_OFF);
    Str text = { 0 };
    st = solver_stats(s);
    solver_stats_print(&st, &text);
    assert_non_null(strstr(str_c(&text), "unknown because of z3 off: 1"));
    str_release(&text);
    solver_free(s);
    end(&w);
}

static void *interrupt_soon(void *arg)
{
    usleep(150000);
    solver_interrupt(arg);
    return NULL;
}

static void a_query_can_be_interrupted(void **state)
{
    (void)state;
    World w = world(1);
    uint8_t in[8] = { 1, 2, 3 };
    Answer a;
    Solver *s =
        solver_new(w.p, &(SolverPlan){
                            .z3_steps = 4000000000u, .z3_seconds = 60, .search_steps = 1000 });
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, interrupt_soon, s), 0);
    assert_int_equal(solver_query_extra(s, w.path, 0, hard_goal(&w), in, 8, &a), SOLVE_UNKNOWN);
    pthread_join(t, NULL);
    assert_int_equal(a.reason, REASON_INTERRUPTED);
    assert_true(a.seconds < 10);
    solver_resume(s);
    Expr easy = op(&w, EXPR_EQ, byte(&w, 0), k(&w, 8, 7));
    assert_int_equal(solver_query_extra(s, w.path, 0, easy, in, 8, &a), SOLVE_SAT);
    solver_free(s);
    end(&w);
}

static void a_full_pool_gives_no_wrong_answer(void **state)
{
    (void)state;
    World w = { .p = exprs_new(&(ExprsPlan){ .memory = 1 << 20 }) };
    exprs_source(w.p, "input", 4096);
    w.path = path_new(w.p);
    Expr goal = op(&w, EXPR_EQ, op(&w, EXPR_ADD, le(&w, 2, 2), le(&w, 4, 2)), k(&w, 16, 0x7777));
    for (unsigned i = 0; k(&w, 64, (ExprValue)i << 32 | 1); i++)
        ;
    assert_true(exprs_is_full(w.p));
    Solver *s = solver_new(w.p, NULL);
    uint8_t in[6] = { 1, 2, 3, 4, 5, 6 };
    Answer a;
    assert_int_equal(solver_query_extra(s, w.path, 0, goal, in, 4, &a), SOLVE_UNKNOWN);
    assert_int_equal(a.reason, REASON_MEMORY);
    assert_int_equal(solver_query_extra(s, w.path, 0, goal, in, 6, &a), SOLVE_SAT);
    solver_free(s);
    end(&w);
}

/* Nothing of a query stays behind that a child would miss. */
static void a_forked_child_can_ask_too(void **state)
{
    (void)state;
    World w = world(1);
    uint8_t in[8] = { 1, 2, 3 };
    Answer a;
    Solver *s =
        solver_new(w.p, &(SolverPlan){
                            .z3_steps = 4000000000u, .z3_seconds = 0.1, .search_steps = 1000 });
    assert_int_equal(solver_query_extra(s, w.path, 0, hard_goal(&w), in, 8, &a), SOLVE_UNKNOWN);
    pid_t child = fork();
    if (child == 0) {
        Expr easy = op(&w, EXPR_EQ, byte(&w, 0), k(&w, 8, 7));
        bool ok = solver_query_extra(s, w.path, 0, hard_goal(&w), in, 8, &a) == SOLVE_UNKNOWN &&
                  a.reason == REASON_TIME &&
                  solver_query_extra(s, w.path, 0, easy, in, 8, &a) == SOLVE_SAT;
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    solver_free(s);
    end(&w);
}

static void *ask_many(void *arg)
{
    (void)arg;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        World w = world(seed + 31);
        uint8_t in[8], other[8];
        size_t index = planted(&w, 8, in, other);
        Solver *s = solver_new(w.p, &(SolverPlan){ .no_quick = seed % 2 });
        Answer a;
        if (solver_query(s, w.path, index, in, 8, &a) == SOLVE_UNSAT)
            return (void *)1;
        solver_free(s);
        end(&w);
    }
    return NULL;
}

static void threads_with_their_own_solvers_dont_meet(void **state)
{
    (void)state;
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&t[i], NULL, ask_many, NULL), 0);
    for (int i = 0; i < 2; i++) {
        void *wrong;
        pthread_join(t[i], &wrong);
        assert_null(wrong);
    }
}

static void a_reset_pool_empties_the_caches(void **state)
{
    (void)state;
    World w = world(1);
    Solver *s = solver_new(w.p, &(SolverPlan){ .no_z3 = true });
    uint8_t in[2] = { 1, 2 };
    Answer a;
    Expr c = op(&w, EXPR_EQ, byte(&w, 0), k(&w, 8, 7));
    assert_int_equal(solver_query_extra(s, w.path, 0, c, in, 2, &a), SOLVE_SAT);
    assert_int_equal(a.changes[0].value, 7);
    path_reset(w.path);
    exprs_reset(w.p);
    Expr d = op(&w, EXPR_EQ, byte(&w, 1), k(&w, 8, 9));
    assert_int_equal(c, d);              /* the same number, another meaning */
    assert_int_equal(solver_query_extra(s, w.path, 0, d, in, 2, &a), SOLVE_SAT);
    assert_int_equal(a.changes[0].byte, 1);
    assert_int_equal(a.changes[0].value, 9);
    solver_free(s);
    end(&w);
}

/* A loop over 20,000 bytes: slices stay small, queries quick. */
static void long_paths_are_no_problem(void **state)
{
    (void)state;
    enum { N = 4096, LOOPS = 50000 };
    World w = world(1);
    uint8_t *in = calloc(N, 1);
    memset(in, 'a', N);
    for (uint32_t i = 0; i < LOOPS; i++)
        path_add(w.path, op(&w, EXPR_EQ, byte(&w, i % N), k(&w, 8, 'A' + i / N)), i, false);
    Solver *s = solver_new(w.p, &(SolverPlan){ .no_z3 = true });
    for (size_t i = LOOPS - 1; i > LOOPS - 2000; i--) {
        Answer a;
        assert_int_equal(solver_query(s, w.path, i, in, N, &a), SOLVE_SAT);
        assert_int_equal(a.nchanges, 1);
    }
    assert_true(solver_stats(s).seconds < 5);
    solver_free(s);
    free(in);
    end(&w);
}

/* A long chain, asked of every tier. */
static void deep_conditions_are_no_problem(void **state)
{
    (void)state;
    World w = world(1);
    uint8_t in[4] = { 1, 2, 3, 4 };
    Expr e = le(&w, 0, 4);
    for (unsigned i = 0; i < 50000; i++)
        e = op(&w, EXPR_ADD, op(&w, EXPR_XOR, e, le(&w, 0, 4)), k(&w, 32, i | 1));
    Expr bit = expr_extract(w.p, e, 0, 1);
    Answer a;
    Solver *s = solver_new(w.p, &(SolverPlan){ .z3_nodes = 1000000, .z3_steps = 1000 });
    solver_query_extra(s, w.path, 0, bit, in, 4, &a);
    solver_query_extra(s, w.path, 0, expr_not(w.p, bit), in, 4, &a);
    assert_int_equal(solver_stats(s).queries, 2);
    solver_free(s);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_has_what_shares_bytes),
        cmocka_unit_test(slices_agree_with_their_definition),
        cmocka_unit_test(single_bytes_need_no_search),
        cmocka_unit_test(magic_words_are_byte_equations),
        cmocka_unit_test(ranges_refute),
        cmocka_unit_test(copies_are_found_in_the_input),
        cmocka_unit_test(earlier_assignments_answer),
        cmocka_unit_test(cores_answer_for_larger_queries),
        cmocka_unit_test(a_core_has_each_condition_once),
        cmocka_unit_test(z3_tells_which_conditions_clash),
        cmocka_unit_test(equations_of_floats_are_solved),
        cmocka_unit_test(search_goes_backwards_and_downhill),
        cmocka_unit_test(floats_are_searched),
        cmocka_unit_test(what_has_a_solution_is_solved),
        cmocka_unit_test(quick_solvers_and_z3_agree),
        cmocka_unit_test(two_bytes_are_decided_without_z3),
        cmocka_unit_test(the_same_seed_gives_the_same_answers),
        cmocka_unit_test(bytes_behind_the_end_stay_zero),
        cmocka_unit_test(constants_and_nothing_are_answered),
        cmocka_unit_test(limits_hold_and_are_counted),
        cmocka_unit_test(a_query_can_be_interrupted),
        cmocka_unit_test(a_full_pool_gives_no_wrong_answer),
        cmocka_unit_test(a_forked_child_can_ask_too),
        cmocka_unit_test(threads_with_their_own_solvers_dont_meet),
        cmocka_unit_test(a_reset_pool_empties_the_caches),
        cmocka_unit_test(long_paths_are_no_problem),
        cmocka_unit_test(deep_conditions_are_no_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
