/*
 * expr - what a program computed from its input, as a graph of expressions.
 *
 * A pool holds expressions over the bytes of named inputs. Equal expressions
 * have the same number (they are hash-consed), operands always have smaller
 * numbers than what uses them, and nothing is ever changed. So the graph needs
 * no recursion to walk: ascending numbers are a topological order.
 *
 *     Exprs *p = exprs_new(NULL);
 *     uint32_t in = exprs_source(p, "input", 4096);
 *     Expr x = expr_byte(p, in + 3);                     input[3]
 *     Expr c = expr_binary(p, EXPR_EQ, x, expr_const(p, 8, 'a'));
 *     Str s = {0};
 *     expr_print(p, c, &s);                              input[3] == 'a'
 *     exprs_free(p);
 *
 * Everything is a bit-vector of 1 to 128 bits; a truth value is one bit. Wider
 * values are the caller's to split. Floating-point operations work on the bit
 * patterns of 32-bit and 64-bit IEEE numbers.
 *
 * The number 0 says "no expression: the value is concrete, or given up". An
 * operation on 0 gives 0, and so does one for which the pool has no room or no
 * meaning (widths that don't fit); exprs_is_full() tells. A client therefore
 * checks nothing while it builds.
 *
 * Operations mean what they mean in SMT-LIB, which agrees with LLVM wherever
 * LLVM's result is no poison: x / 0 is all ones, x % 0 is x, a shift by the
 * width or more gives 0 (or copies of the sign), a read behind the end of a
 * table gives 0.
 *
 * Constructors simplify: constants, neutral elements, extensions, extracts and
 * concatenations, comparisons against constants. The printed form is therefore
 * not always the one that was built.
 */
#ifndef SUNDEW_SOLVE_EXPR_H
#define SUNDEW_SOLVE_EXPR_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t Expr;
typedef unsigned __int128 ExprValue;
typedef struct Exprs Exprs;

enum { EXPR_MAX_WIDTH = 128 };

typedef enum ExprOp {
    /* Leaves. */
    EXPR_CONST,
    EXPR_BYTE,
    /* One operand. */
    EXPR_NOT,
    EXPR_NEG,
    EXPR_ZEXT,
    EXPR_SEXT,
    EXPR_EXTRACT,
    /* Two operands of one width. */
    EXPR_ADD,
    EXPR_SUB,
    EXPR_MUL,
    EXPR_UDIV,
    EXPR_SDIV,
    EXPR_UREM,
    EXPR_SREM,
    EXPR_SHL,
    EXPR_LSHR,
    EXPR_ASHR,
    EXPR_AND,
    EXPR_OR,
    EXPR_XOR,
    EXPR_CONCAT,                       /* of any widths, the high part first */
    EXPR_EQ,
    EXPR_ULT,
    EXPR_ULE,
    EXPR_SLT,
    EXPR_SLE,
    /* Others. */
    EXPR_ITE,
    EXPR_TABLE,
    /* Floating point; the operand's width says which. */
    EXPR_FADD,
    EXPR_FSUB,
    EXPR_FMUL,
    EXPR_FDIV,
    EXPR_FREM,
    EXPR_FOEQ,
    EXPR_FOLT,
    EXPR_FOLE,
    EXPR_FUNO,
    EXPR_FSQRT,
    EXPR_FROUND,           /* to an integer, see ExprRound */
    EXPR_FTOF,                         /* from 32 to 64 bits or back */
    EXPR_FTOU,
    EXPR_FTOS,
    EXPR_UTOF,
    EXPR_STOF,
    EXPR_FMATH,                        /* libm, see ExprMath */
    EXPR_NOPS,

    /* Accepted by expr_binary() and expressed through those above. */
    EXPR_NE = EXPR_NOPS,
    EXPR_UGT,
    EXPR_UGE,
    EXPR_SGT,
    EXPR_SGE,
    EXPR_FONE,
    EXPR_FOGT,
    EXPR_FOGE,
    EXPR_FORD,
    EXPR_FUEQ,
    EXPR_FUNE,
    EXPR_FULT,
    EXPR_FULE,
    EXPR_FUGT,
    EXPR_FUGE,
    EXPR_UMIN,
    EXPR_UMAX,
    EXPR_SMIN,
    EXPR_SMAX,
    EXPR_UADD_SAT,
    EXPR_USUB_SAT,
    EXPR_SADD_SAT,
    EXPR_SSUB_SAT,
    /* One bit: does the operation overflow? */
    EXPR_UADD_OVERFLOWS,
    EXPR_SADD_OVERFLOWS,
    EXPR_USUB_OVERFLOWS,
    EXPR_SSUB_OVERFLOWS,
    EXPR_UMUL_OVERFLOWS,
    EXPR_SMUL_OVERFLOWS,
    /* Accepted by expr_unary(). */
    EXPR_BSWAP,
    EXPR_BITREVERSE,
    EXPR_CTPOP,
    EXPR_CTLZ,
    EXPR_CTTZ,
    EXPR_ABS,
    EXPR_FNEG,
    EXPR_FABS,
    EXPR_ALL_OPS
} ExprOp;

typedef enum ExprRound {
    EXPR_ROUND_FLOOR,
    EXPR_ROUND_CEIL,
    EXPR_ROUND_TRUNC,
    EXPR_ROUND_EVEN,                   /* rint, nearbyint */
    EXPR_ROUND_AWAY,                   /* round */
} ExprRound;

typedef enum ExprMath {
    EXPR_MATH_SIN,
    EXPR_MATH_COS,
    EXPR_MATH_TAN,
    EXPR_MATH_ASIN,
    EXPR_MATH_ACOS,
    EXPR_MATH_ATAN,
    EXPR_MATH_SINH,
    EXPR_MATH_COSH,
    EXPR_MATH_TANH,
    EXPR_MATH_EXP,
    EXPR_MATH_EXP2,
    EXPR_MATH_LOG,
    EXPR_MATH_LOG2,
    EXPR_MATH_LOG10,
    EXPR_MATH_CBRT,
    EXPR_MATH_POW,
    EXPR_MATH_ATAN2,
    EXPR_MATH_HYPOT,  /* two operands */
    EXPR_MATH_N
} ExprMath;

/* What a pool may cost. {0} and NULL mean the defaults. */
typedef struct ExprsPlan {
    size_t memory;            /* bytes, about; default 512 MiB */
} ExprsPlan;

Exprs *exprs_new(const ExprsPlan *plan);
void exprs_free(Exprs *p);             /* NULL is fine */
/* Forget all expressions and tables, keep the sources. What was derived from
 * the old numbers must be dropped too: see exprs_generation(). */
void exprs_reset(Exprs *p);
uint32_t exprs_generation(const Exprs *p);   /* counts resets */
bool exprs_is_full(const Exprs *p);
size_t exprs_count(const Exprs *p);          /* valid numbers are below it */
size_t exprs_memory(const Exprs *p);         /* bytes in use */

/* A named input of at most `capacity` bytes. Bytes of all sources are numbered
 * through: the result is the number of its first. A name seen before gives
 * the same number if the capacity is the same too, and else UINT32_MAX. */
uint32_t exprs_source(Exprs *p, const char *name, uint32_t capacity);
/* The source of a byte and, through `index`, its place there; NULL if none. */
const char *exprs_source_of(const Exprs *p, uint32_t byte, uint32_t *index);

/* ---- building */

Expr expr_const(Exprs *p, unsigned width, ExprValue v);   /* v is cut off */
Expr expr_bool(Exprs *p, bool v);
Expr expr_byte(Exprs *p, uint32_t byte);
Expr expr_unary(Exprs *p, ExprOp op, Expr a);
Expr expr_binary(Exprs *p, ExprOp op, Expr a, Expr b);
Expr expr_not(Exprs *p, Expr a);
Expr expr_zext(Exprs *p, Expr a, unsigned width);         /* or the same */
Expr expr_sext(Exprs *p, Expr a, unsigned width);
Expr expr_trunc(Exprs *p, Expr a, unsigned width);
Expr expr_extract(Exprs *p, Expr a, unsigned low, unsigned width);
Expr expr_ite(Exprs *p, Expr cond, Expr yes, Expr no);
/* The high or low half of high:low shifted by `by` modulo the width, as
 * LLVM's fshl and fshr. */
Expr expr_funnel(Exprs *p, bool left, Expr high, Expr low, Expr by);
/* Bytes as a program has them in memory, least significant first. */
Expr expr_le(Exprs *p, const Expr *bytes, unsigned n);

/* A constant array of n elements of `size` bytes each (1, 2, 4 or 8, little
 * endian), read at `index`. The bytes are copied, and kept once. */
Expr expr_table(Exprs *p, const void *bytes, uint32_t n, unsigned size, Expr index);
/* The same where elements are expressions, all of one width. */
Expr expr_choose(Exprs *p, const Expr *items, uint32_t n, Expr index);

Expr expr_fround(Exprs *p, ExprRound how, Expr a);
Expr expr_fmath(Exprs *p, ExprMath fn, Expr a, Expr b);   /* b may be 0 */
/* FTOF, FTOU, FTOS, UTOF, STOF to a result of this width. */
Expr expr_fconvert(Exprs *p, ExprOp op, Expr a, unsigned width);

/* ---- looking */

typedef struct ExprNode {
    uint8_t op;               /* below EXPR_NOPS */
    uint8_t width;
    uint8_t k;                /* EXTRACT: lowest bit; FROUND, FMATH: which */
    uint8_t flags;            /* of this and of all below: EXPR_HAS_… */
    uint32_t a, b, c;         /* operands; BYTE: a; TABLE: b is the table */
} ExprNode;

enum {
    EXPR_HAS_FLOAT = 1,       /* Z3 is slow at it */
    EXPR_HAS_MATH = 2,        /* Z3 can't do it */
};

ExprNode expr_node(const Exprs *p, Expr e);
unsigned expr_width(const Exprs *p, Expr e);          /* 0 for no expression */
unsigned expr_arity(ExprOp op);                       /* 0 to 3 operands */
bool expr_is_const(const Exprs *p, Expr e, ExprValue *v);   /* v may be NULL */

typedef struct ExprTable {
    const uint8_t *bytes;
    uint32_t n;
    unsigned size;
} ExprTable;
ExprValue expr_table_at(const ExprTable *t, ExprValue index);

/* The input bytes that an expression depends on: ascending ranges [from, to)
 * that don't touch. Exact up to 32 ranges; beyond, the nearest are joined, so
 * that a byte may be named without need, never left out. */
typedef struct ByteRange {
    uint32_t from, to;
} ByteRange;
const ByteRange *expr_bytes(const Exprs *p, Expr e, size_t *n);
/* Sets are numbered: equal sets have equal numbers, 0 is empty. */
uint32_t expr_bytes_id(const Exprs *p, Expr e);
uint32_t expr_bytes_count(const Exprs *p, Expr e);

/* The value under an assignment of bytes; bytes at or beyond n are 0. Each
 * node is computed once. For many assignments see tape.h. */
ExprValue expr_eval(const Exprs *p, Expr e, const uint8_t *bytes, size_t n);

/* As a person would write it; cut with "…" where it gets long. */
void expr_print(const Exprs *p, Expr e, Str *out);
/* Every node below it, one a line, operands first. */
void expr_dump(const Exprs *p, Expr e, Str *out);
/* Asserts what always holds in a pool: operands come first, equal nodes are one, byte sets and
 * flags are those of the operands. */
void exprs_check(const Exprs *p);
#endif
