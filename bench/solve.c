/*
 * Queries a second on made-up paths, and who answers them. Each workload is a
 * path as a parser or checksum would leave it, every conjunct is asked for in
 * turn. Run by bench/solve.
 */
#include "solve/solve.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Run {
    Exprs *p;
    Path *path;
    uint8_t in[4096];
    size_t len;
} Run;

static Expr k(Run *r, unsigned w, ExprValue v)
{
    return expr_const(r->p, w, v);
}

static Expr op(Run *r, ExprOp o, Expr a, Expr b)
{
    return expr_binary(r->p, o, a, b);
}

static Expr le(Run *r, uint32_t from, unsigned n)
{
    Expr b[16];
    for (unsigned i = 0; i < n; i++)
        b[i] = expr_byte(r->p, from + i);
    return expr_le(r->p, b, n);
}

static bool branch(Run *r, Expr cond)
{
    static uint32_t site;
    bool taken = expr_eval(r->p, cond, r->in, r->len) != 0;
    path_add(r->path, cond, site++, taken);
    return taken;
}

/* Chunks of a container: magic words, lengths, versions. */
static void magic(Run *r)
{
    memcpy(r->in, "AAAABBBBCCCCDDDD", 16);
    r->len = 1024;
    for (uint32_t c = 0; c < 60; c++) {
        uint32_t at = c * 16;
        branch(r, op(r, EXPR_EQ, le(r, at, 4), k(r, 32, 0x46464952 + c)));
        branch(r, op(r, EXPR_EQ, expr_unary(r->p, EXPR_BSWAP, le(r, at + 4, 4)), k(r, 32, 0xcafebabe)));
        branch(r, op(r, EXPR_UGT, le(r, at + 8, 4), k(r, 32, 4096)));
        branch(r, op(r, EXPR_SLT, le(r, at + 8, 4), k(r, 32, 0)));
        branch(r, op(r, EXPR_UGE, op(r, EXPR_ADD, le(r, at + 12, 2), k(r, 16, 3)), le(r, at + 14, 2)));
    }
}

/* Words of a grammar: character classes and comparisons, byte by byte. */
static void tokens(Run *r)
{
    r->len = 200;
    memset(r->in, 'x', r->len);
    uint8_t kind[256];
    for (int i = 0; i < 256; i++)
        kind[i] = (uint8_t)((i >= '0' && i <= '9') | (i == ' ') << 1 | (i >= 'a' && i <= 'z') << 2);
    for (uint32_t i = 0; i < r->len; i++) {
        Expr c = expr_byte(r->p, i), t = expr_table(r->p, kind, 256, 1, c);
        branch(r, op(r, EXPR_NE, op(r, EXPR_AND, t, k(r, 8, 2)), k(r, 8, 0)));
        branch(r, op(r, EXPR_NE, op(r, EXPR_AND, t, k(r, 8, 1)), k(r, 8, 0)));
        for (const char *s = "{}[],:\"\\"; *s; s++)
            branch(r, op(r, EXPR_EQ, expr_sext(r->p, c, 32), k(r, 32, (ExprValue)*s)));
    }
}

/* Decimal numbers and what is asked about them. */
static void numbers(Run *r)
{
    r->len = 400;
    memset(r->in, '7', r->len);
    for (uint32_t f = 0; f < 40; f++) {
        Expr n = k(r, 32, 0);
        for (uint32_t i = 0; i < 6; i++) {
            Expr d = op(r, EXPR_SUB, expr_sext(r->p, expr_byte(r->p, f * 10 + i), 32), k(r, 32, '0'));
            branch(r, op(r, EXPR_ULT, d, k(r, 32, 10)));
            n = op(r, EXPR_ADD, op(r, EXPR_MUL, n, k(r, 32, 10)), d);
        }
        branch(r, op(r, EXPR_EQ, n, k(r, 32, 123456 + f)));
        branch(r, op(r, EXPR_SGT, n, k(r, 32, 900000)));
        branch(r, op(r, EXPR_SGT, n, k(r, 32, 1000000)));        /* never */
        branch(r, op(r, EXPR_EQ, op(r, EXPR_UREM, n, k(r, 32, 97)), k(r, 32, f)));
    }
}

/* Sums over blocks, compared with a field or with a constant. */
static void checksums(Run *r)
{
    uint32_t crc[256];
    for (uint32_t i = 0; i < 256; i++) {
        crc[i] = i;
        for (int b = 0; b < 8; b++)
            crc[i] = crc[i] >> 1 ^ (crc[i] & 1 ? 0xedb88320 : 0);
    }
    r->len = 640;
    for (uint32_t i = 0; i < r->len; i++)
        r->in[i] = (uint8_t)(i * 7);
    for (uint32_t f = 0; f < 20; f++) {
        uint32_t at = f * 32;
        Expr a = k(r, 32, 1), b = k(r, 32, 0), c = k(r, 32, 0xffffffff), x = k(r, 8, 0);
        for (uint32_t i = 0; i < 16; i++) {
            Expr v = expr_byte(r->p, at + i);
            a = op(r, EXPR_UREM, op(r, EXPR_ADD, a, expr_zext(r->p, v, 32)), k(r, 32, 65521));
            b = op(r, EXPR_UREM, op(r, EXPR_ADD, b, a), k(r, 32, 65521));
            x = op(r, EXPR_XOR, x, v);
            if (i < 8) {
                Expr index = op(r, EXPR_XOR, expr_trunc(r->p, c, 8), v);
                c = op(r, EXPR_XOR, op(r, EXPR_LSHR, c, k(r, 32, 8)), expr_table(r->p, crc, 256, 4, index));
            }
        }
        branch(r, op(r, EXPR_EQ, x, expr_byte(r->p, at + 16)));
        branch(r, op(r, EXPR_EQ, op(r, EXPR_OR, op(r, EXPR_SHL, b, k(r, 32, 16)), a), le(r, at + 20, 4)));
        branch(r, op(r, EXPR_EQ, expr_not(r->p, c), le(r, at + 24, 4)));
        branch(r, op(r, EXPR_EQ, expr_not(r->p, c), k(r, 32, 0x12345678)));
    }
}

/* Tables behind tables. */
static void tables(Run *r)
{
    uint8_t sbox[256];
    for (unsigned i = 0; i < 256; i++)
        sbox[i] = (uint8_t)(i * 167 + 13);
    r->len = 256;
    for (uint32_t f = 0; f < 40; f++) {
        Expr s = k(r, 8, 0x55);
        for (uint32_t i = 0; i < 4; i++)
            s = expr_table(r->p, sbox, 256, 1, op(r, EXPR_XOR, s, expr_byte(r->p, f * 6 + i)));
        branch(r, op(r, EXPR_EQ, s, k(r, 8, 7 + f)));
        branch(r, op(r, EXPR_ULT, expr_table(r->p, sbox, 256, 1, expr_byte(r->p, f * 6)), k(r, 8, 9)));
        branch(r, op(r, EXPR_EQ, op(r, EXPR_ADD, s, expr_byte(r->p, f * 6 + 4)), k(r, 8, f)));
    }
}

/* Sizes and products: overflows, alignment, bounds between fields. */
static void sizes(Run *r)
{
    r->len = 512;
    memset(r->in, 1, r->len);
    for (uint32_t f = 0; f < 30; f++) {
        uint32_t at = f * 16;
        Expr w = le(r, at, 4), h = le(r, at + 4, 4), size = le(r, at + 8, 4);
        branch(r, op(r, EXPR_UGT, w, k(r, 32, 0x10000)));
        branch(r, op(r, EXPR_NE, op(r, EXPR_AND, w, k(r, 32, 3)), k(r, 32, 0)));
        branch(r, op(r, EXPR_UMUL_OVERFLOWS, w, h));
        branch(r, op(r, EXPR_EQ, op(r, EXPR_MUL, w, h), size));
        branch(r, op(r, EXPR_ULT, op(r, EXPR_ADD, w, size), w));
        branch(r, op(r, EXPR_EQ, op(r, EXPR_UREM, size, op(r, EXPR_OR, h, k(r, 32, 1))), k(r, 32, 5)));
    }
}

/* Sorting: comparisons between elements, most of the second half implied. */
static void sorting(Run *r)
{
    enum { N = 24 };
    r->len = N * 4;
    for (uint32_t i = 0; i < N; i++)
        r->in[i * 4] = (uint8_t)(i * 37 % 101);
    uint32_t order[N];
    for (uint32_t i = 0; i < N; i++) {
        uint32_t at = i;
        while (at > 0 && branch(r, op(r, EXPR_SLT, le(r, i * 4, 4), le(r, order[at - 1] * 4, 4)))) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

/* The same with many elements and fewer comparisons. */
static void merging(Run *r)
{
    enum { N = 128 };
    r->len = N * 4;
    uint32_t order[N], out[N];
    for (uint32_t i = 0; i < N; i++) {
        r->in[i * 4] = (uint8_t)(i * 37 % 101);
        order[i] = i;
    }
    for (uint32_t w = 1; w < N; w *= 2) {
        for (uint32_t at = 0; at < N; at += 2 * w) {
            uint32_t a = at, b = at + w, o = at;
            while (a < at + w && b < at + 2 * w)
                out[o++] = branch(r, op(r, EXPR_SLT, le(r, order[b] * 4, 4), le(r, order[a] * 4, 4))) ? order[b++] : order[a++];
            while (a < at + w)
                out[o++] = order[a++];
            while (b < at + 2 * w)
                out[o++] = order[b++];
        }
        memcpy(order, out, sizeof out);
    }
}

static const struct {
    const char *name;
    void (*make)(Run *r);
} workloads[] = {
    { "magic", magic },         { "tokens", tokens }, { "numbers", numbers },
    { "checksums", checksums }, { "tables", tables }, { "sizes", sizes },
    { "sorting", sorting },     { "merging", merging },
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static SolverStats ask_all(Run *r, const SolverPlan *plan, size_t most, double *seconds)
{
    Solver *s = solver_new(r->p, plan);
    size_t n = path_length(r->path), step = n > most ? n / most : 1;
    double begin = now();
    for (size_t i = 0; i < n; i += step) {
        Answer a;
        solver_query(s, r->path, i, r->in, r->len, &a);
    }
    *seconds = now() - begin;
    SolverStats st = solver_stats(s);
    solver_free(s);
    return st;
}

/* ---- how quickly graphs grow: sha256 of one kibibyte, all of it symbolic */

static Expr rotated(Exprs *p, Expr x, unsigned by)
{
    return expr_funnel(p, false, x, x, expr_const(p, 32, by));
}

static Expr xor3(Exprs *p, Expr a, Expr b, Expr c)
{
    return expr_binary(p, EXPR_XOR, expr_binary(p, EXPR_XOR, a, b), c);
}

static Expr sum(Exprs *p, Expr a, Expr b)
{
    return expr_binary(p, EXPR_ADD, a, b);
}

/* The shape of sha256; its constants don't matter here. */
static Expr hash_block(Exprs *p, Expr *state, uint32_t at)
{
    Expr w[64], v[8];
    for (unsigned i = 0; i < 64; i++) {
        if (i < 16) {
            Expr b[4];
            for (unsigned k2 = 0; k2 < 4; k2++)
                b[k2] = expr_byte(p, at + i * 4 + 3 - k2);
            w[i] = expr_le(p, b, 4);
            continue;
        }
        Expr x = w[i - 15], y = w[i - 2], three = expr_const(p, 32, 3);
        Expr s0 = xor3(p, rotated(p, x, 7), rotated(p, x, 18), expr_binary(p, EXPR_LSHR, x, three));
        Expr s1 = xor3(p, rotated(p, y, 17), rotated(p, y, 19), expr_binary(p, EXPR_LSHR, y, expr_const(p, 32, 10)));
        w[i] = sum(p, sum(p, w[i - 16], s0), sum(p, w[i - 7], s1));
    }
    memcpy(v, state, sizeof v);
    for (unsigned i = 0; i < 64; i++) {
        Expr e = v[4], a = v[0];
        Expr s1 = xor3(p, rotated(p, e, 6), rotated(p, e, 11), rotated(p, e, 25));
        Expr ch = expr_binary(p, EXPR_XOR, expr_binary(p, EXPR_AND, e, v[5]), expr_binary(p, EXPR_AND, expr_not(p, e), v[6]));
        Expr t1 = sum(p, sum(p, v[7], s1), sum(p, sum(p, ch, expr_const(p, 32, 0x9e3779b9 * (i + 1))), w[i]));
        Expr s0 = xor3(p, rotated(p, a, 2), rotated(p, a, 13), rotated(p, a, 22));
        Expr maj = xor3(p, expr_binary(p, EXPR_AND, a, v[1]), expr_binary(p, EXPR_AND, a, v[2]), expr_binary(p, EXPR_AND, v[1], v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] = sum(p, v[4], t1);
        v[0] = sum(p, t1, sum(p, s0, maj));
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] = sum(p, state[i], v[i]);
    return state[0];
}

static void growth(void)
{
    Exprs *p = exprs_new(NULL);
    Expr state[8], e = 0;
    double begin = now();
    for (unsigned i = 0; i < 8; i++)
        state[i] = expr_const(p, 32, 0x6a09e667u + i);
    for (uint32_t at = 0; at < 1024; at += 64)
        e = hash_block(p, state, at);
    double built = now() - begin;
    uint8_t in[1024] = { 0 };
    begin = now();
    expr_eval(p, e, in, sizeof in);
    double computed = now() - begin;
    printf("\nsha256 of 1 KiB: %zu nodes, %.1f MiB, built in %.3f s (%.0f ns a node), computed once in %.3f s\n",
           exprs_count(p), (double)exprs_memory(p) / 0x1p20, built,
           1e9 * built / (double)exprs_count(p), computed);
    exprs_free(p);
}

int main(int argc, char **argv)
{
    SolverStats all = { 0 };
    printf("%-10s %7s %6s %6s %6s %9s %9s %7s\n", "workload", "queries", "sat",
           "unsat", "unkn.", "q/s", "z3 alone", "pre-z3");
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (argc > 1 && strcmp(argv[1], workloads[i].name))
            continue;
        Run r = { .p = exprs_new(NULL), .len = 0 };
        exprs_source(r.p, "input", sizeof r.in);
        r.path = path_new(r.p);
        workloads[i].make(&r);
        double t, tz;
        SolverPlan quick = { .no_optimistic = true };
        SolverPlan z3 = { .no_optimistic = true, .no_quick = true, .no_cores = true };
        SolverStats st = ask_all(&r, &quick, SIZE_MAX, &t);
        SolverStats sz = ask_all(&r, &z3, 60, &tz);
        uint64_t by_z3 = st.tier[TIER_Z3].sat + st.tier[TIER_Z3].unsat + st.unknown;
        printf("%-10s %7llu %6llu %6llu %6llu %9.0f %9.0f %6.1f%%\n",
               workloads[i].name, (unsigned long long)st.queries,
               (unsigned long long)st.sat, (unsigned long long)st.unsat,
               (unsigned long long)st.unknown, (double)st.queries / t,
               (double)sz.queries / tz,
               100.0 * (double)(st.queries - by_z3) / (double)st.queries);
        for (int k2 = 0; k2 < TIER_N; k2++) {
            all.tier[k2].asked += st.tier[k2].asked;
            all.tier[k2].sat += st.tier[k2].sat;
            all.tier[k2].unsat += st.tier[k2].unsat;
            all.tier[k2].seconds += st.tier[k2].seconds;
        }
        path_free(r.path);
        exprs_free(r.p);
    }
    printf("\n%-10s %8s %8s %8s %12s\n", "tier", "asked", "sat", "unsat", "us each");
    for (int i = 0; i < TIER_N; i++)
        if (all.tier[i].asked)
            printf("%-10s %8llu %8llu %8llu %12.1f\n",
                   solve_tier_name((SolveTier)i),
                   (unsigned long long)all.tier[i].asked,
                   (unsigned long long)all.tier[i].sat,
                   (unsigned long long)all.tier[i].unsat,
                   1e6 * all.tier[i].seconds / (double)all.tier[i].asked);
    growth();
    return 0;
}
