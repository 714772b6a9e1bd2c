/*
 * From a tape to Z3 and back. A slot has up to three forms in Z3, made when
 * they are asked for: a bit-vector; for one bit, a truth value; for numbers of
 * 32 and 64 bits that floats are computed with, a float.
 */
#include "solve/smt.h"
#include "base/mem.h"
#include "solve/expr_int.h"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <z3.h>

typedef struct Smt {
    Z3_context z;
    const Exprs *p;
    const Tape *tape;
    Z3_ast *bits, *truth, *number;   /* one for each slot, NULL: not made */
    Z3_ast *bytes;                   /* constants for the tape's bytes */
    Z3_ast nearest, to_zero;         /* rounding */
} Smt;

static void keep_quiet(Z3_context c, Z3_error_code e)
{
    (void)c;
    (void)e;
}

static void smt_open(Smt *s, const Exprs *p, const Tape *t)
{
    Z3_config config = Z3_mk_config();
    /* Not reference-counted: everything goes with the context. */
    Z3_context z = Z3_mk_context(config);
    Z3_del_config(config);
    Z3_set_error_handler(z, keep_quiet);
    size_t n = tape_size(t);
    *s = (Smt){ .z = z, .p = p, .tape = t };
    s->bits = xcalloc(n, sizeof(Z3_ast));
    s->truth = xcalloc(n, sizeof(Z3_ast));
    s->number = xcalloc(n, sizeof(Z3_ast));
    s->bytes = xcalloc(tape_nbytes(t), sizeof(Z3_ast));
    Z3_sort byte = Z3_mk_bv_sort(z, 8);
    for (size_t i = 0; i < tape_nbytes(t); i++)
        s->bytes[i] = Z3_mk_const(z, Z3_mk_int_symbol(z, (int)i), byte);
}

static void smt_close(Smt *s)
{
    free(s->bits);
    free(s->truth);
    free(s->number);
    free(s->bytes);
    Z3_del_context(s->z);
}

/* ---- constants, and one form from another */

static Z3_ast numeral(Smt *s, unsigned width, ExprValue v)
{
    Z3_sort sort = Z3_mk_bv_sort(s->z, width);
    if (!(v >> 64))
        return Z3_mk_unsigned_int64(s->z, (uint64_t)v, sort);
    bool bits[EXPR_MAX_WIDTH];
    for (unsigned i = 0; i < width; i++)
        bits[i] = v >> i & 1;
    return Z3_mk_bv_numeral(s->z, width, bits);
}

static Z3_ast bits(Smt *s, size_t slot)
{
    if (!s->bits[slot] && s->truth[slot])
        s->bits[slot] = Z3_mk_ite(s->z, s->truth[slot], numeral(s, 1, 1), numeral(s, 1, 0));
    if (!s->bits[slot])
        s->bits[slot] = Z3_mk_fpa_to_ieee_bv(s->z, s->number[slot]);
    return s->bits[slot];
}

static Z3_ast truth(Smt *s, size_t slot)
{
    if (!s->truth[slot])
        s->truth[slot] = Z3_mk_eq(s->z, bits(s, slot), numeral(s, 1, 1));
    return s->truth[slot];
}

static Z3_sort float_sort(Smt *s, unsigned width)
{
    return width == 32 ? Z3_mk_fpa_sort_32(s->z) : Z3_mk_fpa_sort_64(s->z);
}

static Z3_ast number(Smt *s, size_t slot)
{
    unsigned width = tape_steps(s->tape)[slot].node.width;
    if (!s->number[slot])
        s->number[slot] = Z3_mk_fpa_to_fp_bv(s->z, bits(s, slot), float_sort(s, width));
    return s->number[slot];
}

/* ---- steps */

/* Elements [from, from + 2^bit) of a table, by the index's bits below `bit`;
 * equal halves need no choice. */
static Z3_ast table_tree(Smt *s, const ExprTable *t, Z3_ast index, uint32_t from, unsigned bit)
{
    if (bit == 0)
        return numeral(s, t->size * 8, expr_table_at(t, from));
    bit--;
    Z3_ast low = table_tree(s, t, index, from, bit);
    Z3_ast high = from + ((uint64_t)1 << bit) < t->n
                      ? table_tree(s, t, index, from + (1u << bit), bit)
                      : numeral(s, t->size * 8, 0);
    if (low == high)
        return low;
    Z3_ast one = Z3_mk_eq(s->z, Z3_mk_extract(s->z, bit, bit, index), numeral(s, 1, 1));
    return Z3_mk_ite(s->z, one, high, low);
}

static Z3_ast table(Smt *s, size_t slot, const TapeStep *step)
{
    const ExprTable *t = tape_table(s->tape, slot);
    Z3_ast index = bits(s, step->node.a);
    unsigned bit = 0;
    while (bit < step->wa && (ExprValue)1 << bit < t->n)
        bit++;
    Z3_ast e = table_tree(s, t, index, 0, bit);
    if (bit == step->wa)
        return e;
    Z3_ast beyond = Z3_mk_extract(s->z, step->wa - 1, bit, index);
    Z3_ast inside = Z3_mk_eq(s->z, beyond, numeral(s, step->wa - bit, 0));
    return Z3_mk_ite(s->z, inside, e, numeral(s, t->size * 8, 0));
}

static void float_step(Smt *s, size_t slot, const TapeStep *step)
{
    Z3_context z = s->z;
    const ExprNode *n = &step->node;
    ExprOp op = (ExprOp)n->op;
    Z3_sort sort = float_sort(s, n->width);
    if (!s->nearest) {
        s->nearest = Z3_mk_fpa_rne(z);
        s->to_zero = Z3_mk_fpa_rtz(z);
    }
    if (op == EXPR_UTOF || op == EXPR_STOF) {
        Z3_ast i = bits(s, n->a);
        s->number[slot] = op == EXPR_UTOF ? Z3_mk_fpa_to_fp_unsigned(z, s->nearest, i, sort)
                                          : Z3_mk_fpa_to_fp_signed(z, s->nearest, i, sort);
        return;
    }
    Z3_ast a = number(s, n->a), b = step->wb ? number(s, n->b) : NULL;
    Z3_ast modes[] = { Z3_mk_fpa_rtn(z), Z3_mk_fpa_rtp(z), Z3_mk_fpa_rtz(z), Z3_mk_fpa_rne(z),
                       Z3_mk_fpa_rna(z) };
    switch (op) {
    case EXPR_FADD: s->number[slot] = Z3_mk_fpa_add(z, s->nearest, a, b); break;
    case EXPR_FSUB: s->number[slot] = Z3_mk_fpa_sub(z, s->nearest, a, b); break;
    case EXPR_FMUL: s->number[slot] = Z3_mk_fpa_mul(z, s->nearest, a, b); break;
    case EXPR_FDIV: s->number[slot] = Z3_mk_fpa_div(z, s->nearest, a, b); break;
    case EXPR_FSQRT: s->number[slot] = Z3_mk_fpa_sqrt(z, s->nearest, a); break;
    case EXPR_FROUND: s->number[slot] = Z3_mk_fpa_round_to_integral(z, modes[n->k], a); break;
    case EXPR_FTOF: s->number[slot] = Z3_mk_fpa_to_fp_float(z, s->nearest, a, sort); break;
    case EXPR_FTOU: s->bits[slot] = Z3_mk_fpa_to_ubv(z, s->to_zero, a, n->width); break;
    case EXPR_FTOS: s->bits[slot] = Z3_mk_fpa_to_sbv(z, s->to_zero, a, n->width); break;
    case EXPR_FOEQ: s->truth[slot] = Z3_mk_fpa_eq(z, a, b); break;
    case EXPR_FOLT: s->truth[slot] = Z3_mk_fpa_lt(z, a, b); break;
    case EXPR_FOLE: s->truth[slot] = Z3_mk_fpa_leq(z, a, b); break;
    default: {
        Z3_ast either[] = { Z3_mk_fpa_is_nan(z, a), Z3_mk_fpa_is_nan(z, b) };
        assert(op == EXPR_FUNO);
        s->truth[slot] = Z3_mk_or(z, 2, either);
        break;
    }
    }
}

/* One bit: as truth values. False if the operation is not one of those. */
static bool truth_step(Smt *s, size_t slot, const ExprNode *n)
{
    Z3_context z = s->z;
    Z3_ast *out = &s->truth[slot];
    ExprOp op = (ExprOp)n->op;
    if (op == EXPR_EQ && tape_steps(s->tape)[n->a].node.width == 1)
        *out = Z3_mk_iff(z, truth(s, n->a), truth(s, n->b));
    else if (op == EXPR_EQ)
        *out = Z3_mk_eq(z, bits(s, n->a), bits(s, n->b));
    else if (op == EXPR_ULT)
        *out = Z3_mk_bvult(z, bits(s, n->a), bits(s, n->b));
    else if (op == EXPR_ULE)
        *out = Z3_mk_bvule(z, bits(s, n->a), bits(s, n->b));
    else if (op == EXPR_SLT)
        *out = Z3_mk_bvslt(z, bits(s, n->a), bits(s, n->b));
    else if (op == EXPR_SLE)
        *out = Z3_mk_bvsle(z, bits(s, n->a), bits(s, n->b));
    else if (n->width != 1)
        return false;
    else if (op == EXPR_NOT)
        *out = Z3_mk_not(z, truth(s, n->a));
    else if (op == EXPR_AND)
        *out = Z3_mk_and(z, 2, (Z3_ast[]){ truth(s, n->a), truth(s, n->b) });
    else if (op == EXPR_OR)
        *out = Z3_mk_or(z, 2, (Z3_ast[]){ truth(s, n->a), truth(s, n->b) });
    else if (op == EXPR_XOR)
        *out = Z3_mk_xor(z, truth(s, n->a), truth(s, n->b));
    else if (op == EXPR_ITE)
        *out = Z3_mk_ite(z, truth(s, n->a), truth(s, n->b), truth(s, n->c));
    else
        return false;
    return true;
}

typedef Z3_ast Binary(Z3_context, Z3_ast, Z3_ast);

static Binary *const binaries[EXPR_NOPS] = {
    [EXPR_ADD] = Z3_mk_bvadd,   [EXPR_SUB] = Z3_mk_bvsub,     [EXPR_MUL] = Z3_mk_bvmul,
    [EXPR_UDIV] = Z3_mk_bvudiv, [EXPR_SDIV] = Z3_mk_bvsdiv,   [EXPR_UREM] = Z3_mk_bvurem,
    [EXPR_SREM] = Z3_mk_bvsrem, [EXPR_SHL] = Z3_mk_bvshl,     [EXPR_LSHR] = Z3_mk_bvlshr,
    [EXPR_ASHR] = Z3_mk_bvashr, [EXPR_AND] = Z3_mk_bvand,     [EXPR_OR] = Z3_mk_bvor,
    [EXPR_XOR] = Z3_mk_bvxor,   [EXPR_CONCAT] = Z3_mk_concat,
};

static void translate_step(Smt *s, size_t slot)
{
    Z3_context z = s->z;
    const TapeStep *step = &tape_steps(s->tape)[slot];
    const ExprNode *n = &step->node;
    Z3_ast *out = &s->bits[slot];
    switch ((ExprOp)n->op) {
    case EXPR_CONST: *out = numeral(s, n->width, tape_slot(s->tape, slot)); return;
    case EXPR_BYTE: *out = s->bytes[n->a]; return;
    case EXPR_TABLE: *out = table(s, slot, step); return;
    case EXPR_ZEXT: *out = Z3_mk_zero_ext(z, n->width - step->wa, bits(s, n->a)); return;
    case EXPR_SEXT: *out = Z3_mk_sign_ext(z, n->width - step->wa, bits(s, n->a)); return;
    case EXPR_EXTRACT: *out = Z3_mk_extract(z, n->k + n->width - 1u, n->k, bits(s, n->a)); return;
    default: break;
    }
    if (truth_step(s, slot, n))
        return;
    if (n->op >= EXPR_FADD)
        float_step(s, slot, step);
    else if (n->op == EXPR_NOT)
        *out = Z3_mk_bvnot(z, bits(s, n->a));
    else if (n->op == EXPR_NEG)
        *out = Z3_mk_bvneg(z, bits(s, n->a));
    else if (n->op == EXPR_ITE)
        *out = Z3_mk_ite(z, truth(s, n->a), bits(s, n->b), bits(s, n->c));
    else
        *out = binaries[n->op](z, bits(s, n->a), bits(s, n->b));
}

static void translate(Smt *s)
{
    for (size_t i = 0; i < tape_size(s->tape); i++)
        translate_step(s, i);
}

/* ---- limits: a thread that interrupts Z3 when time is up. It is CPU time, so that answers don't
 * depend on what else the machine does; within reason. */

enum { BUSY = 4 };             /* seconds by the clock for one of CPU time */

typedef struct Watch {
    Z3_context z;
    double seconds;
    const atomic_bool *stop;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t done_changed;
    bool done, out_of_time, stopped;
    clockid_t cpu;             /* of the thread that solves */
} Watch;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *watch(void *arg)
{
    Watch *w = arg;
    double end = now(CLOCK_MONOTONIC) + BUSY * w->seconds, cpu_end = now(w->cpu) + w->seconds;
    pthread_mutex_lock(&w->lock);
    while (!w->done) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        t.tv_nsec += 20 * 1000 * 1000;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->done_changed, &w->lock, &t);
        if (w->done)
            break;
        w->out_of_time = now(w->cpu) > cpu_end || now(CLOCK_MONOTONIC) > end;
        w->stopped = w->stop && atomic_load(w->stop);
        if (w->out_of_time || w->stopped)
            Z3_interrupt(w->z);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static bool watch_start(Watch *w, Z3_context z, const SmtPlan *plan)
{
    *w = (Watch){ .z = z, .seconds = plan->seconds, .stop = plan->stop };
    pthread_condattr_t attr;
    if (pthread_getcpuclockid(pthread_self(), &w->cpu) != 0)
        w->cpu = CLOCK_MONOTONIC;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->done_changed, &attr);
    pthread_condattr_destroy(&attr);
    return pthread_create(&w->thread, NULL, watch, w) == 0;
}

static void watch_end(Watch *w, bool started)
{
    pthread_mutex_lock(&w->lock);
    w->done = true;
    pthread_cond_signal(&w->done_changed);
    pthread_mutex_unlock(&w->lock);
    if (started)
        pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->done_changed);
    pthread_mutex_destroy(&w->lock);
}

/* ---- checking */

/* One by one: a version that does not know one of them takes the others. */
static void set_knob(Z3_context z, Z3_solver solver, const char *name, unsigned value)
{
    Z3_params params = Z3_mk_params(z);
    Z3_params_inc_ref(z, params);
    Z3_params_set_uint(z, params, Z3_mk_string_symbol(z, name), value);
    Z3_solver_set_params(z, solver, params);
    Z3_params_dec_ref(z, params);
}

/* Limits; and Ctrl-C stays the caller's, where Z3 would catch it and end one check. */
static void set_limits(Z3_context z, Z3_solver solver, const SmtPlan *plan)
{
    set_knob(z, solver, "rlimit", plan->rlimit);
    set_knob(z, solver, "max_memory", plan->memory_mb);
    Z3_params params = Z3_mk_params(z);
    Z3_params_inc_ref(z, params);
    Z3_params_set_bool(z, params, Z3_mk_string_symbol(z, "ctrl_c"), false);
    Z3_solver_set_params(z, solver, params);
    Z3_params_dec_ref(z, params);
}

static Z3_solver new_solver(Smt *s, bool floats, const SmtPlan *plan)
{
    static const char *const chain[] = { "simplify",     "propagate-values", "solve-eqs",
                                         "elim-uncnstr", "simplify",         "bit-blast",
                                         "sat" };
    Z3_context z = s->z;
    Z3_tactic t = Z3_mk_tactic(z, floats ? "fpa2bv" : chain[0]);
    Z3_tactic_inc_ref(z, t);
    for (size_t i = floats ? 0 : 1; i < sizeof chain / sizeof *chain; i++) {
        Z3_tactic next = Z3_mk_tactic(z, chain[i]);
        Z3_tactic_inc_ref(z, next);
        Z3_tactic both = Z3_tactic_and_then(z, t, next);
        Z3_tactic_inc_ref(z, both);
        Z3_tactic_dec_ref(z, t);
        Z3_tactic_dec_ref(z, next);
        t = both;
    }
    Z3_solver solver = Z3_mk_solver_from_tactic(z, t);
    Z3_solver_inc_ref(z, solver);
    Z3_tactic_dec_ref(z, t);
    set_limits(z, solver, plan);
    set_knob(z, solver, "random_seed", plan->seed);
    return solver;
}

static bool read_byte(Smt *s, Z3_model m, size_t i, uint8_t *value)
{
    Z3_ast v;
    unsigned n;
    if (!Z3_model_eval(s->z, m, s->bytes[i], false, &v) ||
        Z3_get_ast_kind(s->z, v) != Z3_NUMERAL_AST || !Z3_get_numeral_uint(s->z, v, &n))
        return false;
    *value = (uint8_t)n;
    return true;
}

static void read_assignment(Smt *s, Z3_solver solver, uint8_t *values)
{
    Z3_model m = Z3_solver_get_model(s->z, solver);
    if (!m)
        return;
    Z3_model_inc_ref(s->z, m);
    for (size_t i = 0; i < tape_nbytes(s->tape); i++)
        read_byte(s, m, i, &values[i]);
    Z3_model_dec_ref(s->z, m);
}

static SolveReason why(Smt *s, Z3_solver solver, const Watch *w)
{
    if (w->stopped)
        return REASON_INTERRUPTED;
    if (w->out_of_time)
        return REASON_TIME;
    const char *text = Z3_get_error_code(s->z) == Z3_OK
                           ? Z3_solver_get_reason_unknown(s->z, solver)
                           : Z3_get_error_msg(s->z, Z3_get_error_code(s->z));
    if (strstr(text, "memory"))
        return REASON_MEMORY;
    if (strstr(text, "cancel") || strstr(text, "resource") || strstr(text, "interrupt"))
        return REASON_STEPS;
    return REASON_OTHER;
}

/* One check with limits. `names` are assumptions, or NULL. */
static Z3_lbool check(Smt *s, Z3_solver solver, const SmtPlan *plan, const Z3_ast *names, size_t n,
                      SolveReason *reason)
{
    Watch w;
    bool started = watch_start(&w, s->z, plan);
    Z3_lbool r = names ? Z3_solver_check_assumptions(s->z, solver, (unsigned)n, names)
                       : Z3_solver_check(s->z, solver);
    watch_end(&w, started);
    if (r == Z3_L_UNDEF)
        *reason = why(s, solver, &w);
    return r;
}

/* Ask again with a name for each root; Z3 tells which names it needed. That
 * solver simplifies less, so it gets a part of the steps only. */
static void find_core(Smt *s, size_t nroots, const SmtPlan *plan, bool *core)
{
    Z3_context z = s->z;
    SmtPlan less = *plan;
    SolveReason ignored = REASON_NONE;
    less.rlimit = plan->rlimit / 4 + 1;
    Z3_solver solver = Z3_mk_solver_for_logic(z, Z3_mk_string_symbol(z, "QF_BV"));
    Z3_solver_inc_ref(z, solver);
    set_limits(z, solver, &less);
    Z3_ast *names = xcalloc(nroots, sizeof *names);
    for (size_t i = 0; i < nroots; i++) {
        names[i] = Z3_mk_fresh_const(z, "root", Z3_mk_bool_sort(z));
        Z3_solver_assert(z, solver, Z3_mk_implies(z, names[i], truth(s, tape_root(s->tape, i))));
        core[i] = true;
    }
    if (check(s, solver, &less, names, nroots, &ignored) == Z3_L_FALSE) {
        Z3_ast_vector used = Z3_solver_get_unsat_core(z, solver);
        Z3_ast_vector_inc_ref(z, used);
        unsigned n = Z3_ast_vector_size(z, used);
        for (size_t i = 0; i < nroots; i++) {
            core[i] = false;
            for (unsigned k = 0; k < n && !core[i]; k++)
                core[i] = Z3_is_eq_ast(z, Z3_ast_vector_get(z, used, k), names[i]);
        }
        Z3_ast_vector_dec_ref(z, used);
    }
    free(names);
    Z3_solver_dec_ref(z, solver);
}

/* Is it something that Z3 should be given at all? */
static bool admissible(const Tape *t, const SmtPlan *plan, bool *floats, SolveReason *reason)
{
    size_t n = 0;
    const TapeStep *steps = tape_steps(t);
    for (size_t i = 0; i < tape_size(t); i++) {
        n += steps[i].node.op >= EXPR_FADD;
        if (steps[i].node.op == EXPR_FMATH || steps[i].node.op == EXPR_FREM)
            n += plan->max_float_nodes;
    }
    *floats = n != 0;
    *reason = tape_size(t) > plan->max_nodes ? REASON_SIZE
              : n > plan->max_float_nodes    ? REASON_FLOAT
                                             : REASON_NONE;
    return *reason == REASON_NONE;
}

SolveStatus smt_check(const Exprs *p, const Tape *t, size_t nroots, const SmtPlan *plan,
                      uint8_t *values, bool *core, SolveReason *reason)
{
    bool floats;
    if (!admissible(t, plan, &floats, reason))
        return SOLVE_UNKNOWN;
    Smt s;
    smt_open(&s, p, t);
    translate(&s);
    Z3_solver solver = new_solver(&s, floats, plan);
    for (size_t i = 0; i < nroots; i++)
        Z3_solver_assert(s.z, solver, truth(&s, tape_root(t, i)));
    Z3_lbool r = check(&s, solver, plan, NULL, 0, reason);
    if (r == Z3_L_TRUE)
        read_assignment(&s, solver, values);
    else if (r == Z3_L_FALSE && core && !floats)
        find_core(&s, nroots, plan, core);
    else if (r == Z3_L_FALSE && core)
        memset(core, true, nroots);
    Z3_solver_dec_ref(s.z, solver);
    smt_close(&s);
    return r == Z3_L_TRUE ? SOLVE_SAT : r == Z3_L_FALSE ? SOLVE_UNSAT : SOLVE_UNKNOWN;
}

bool smt_evaluate(const Exprs *p, const Tape *t, const uint8_t *values, ExprValue *v)
{
    Smt s;
    smt_open(&s, p, t);
    translate(&s);
    size_t n = tape_nbytes(t);
    Z3_ast *to = xcalloc(n, sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[i] = numeral(&s, 8, values[i]);
    Z3_ast e = Z3_substitute(s.z, bits(&s, tape_root(t, 0)), (unsigned)n, s.bytes, to);
    e = Z3_simplify(s.z, e);
    bool ok = Z3_get_ast_kind(s.z, e) == Z3_NUMERAL_AST;
    *v = 0;
    for (const char *c = ok ? Z3_get_numeral_string(s.z, e) : ""; *c; c++)
        *v = *v * 10 + (unsigned)(*c - '0');
    free(to);
    smt_close(&s);
    return ok;
}
