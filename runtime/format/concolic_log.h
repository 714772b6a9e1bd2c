/*
 * concolic_log - what a concolic run tells: shared memory between a woven
 * program and the explorer.
 *
 * The explorer makes the memory (memfd), fills in the header, and passes it as
 * descriptor SUNDEW_LOG_FD. The program appends; the explorer reads when the
 * run is over, however it ended: an entry counts once `nodes` or `records` is
 * beyond it, so a run that was killed leaves a log that can be read up to there.
 * Nothing in it is trusted by the reader: operands are smaller than what uses
 * them, widths fit, or the log is refused.
 *
 *     header | nodes: 16 bytes each | records: 16 bytes each | bytes
 *
 * A node is an expression over bytes of the input. Its number is its place,
 * from 1; 0 says "concrete". Operations mean what src/solve/expr.h says of the
 * EXPR_ with the same name. A record is something that happened, in order.
 */
#ifndef SUNDEW_CONCOLIC_LOG_H
#define SUNDEW_CONCOLIC_LOG_H
#include <stdint.h>

enum {
    SUNDEW_LOG_FD = 199,
    SUNDEW_LOG_MAGIC = 0x6c436453,             /* "SdCl" */
    SUNDEW_LOG_VERSION = 2,
};

/* X(name) for each operation; the number is the place. One operand: a. Two: a, b.
 * Those of expr.h that are only "accepted" are here too: the reader builds them
 * with expr_unary() and expr_binary(). */
/* clang-format off */
#define SUNDEW_NODE_OPS(X) \
    X(CONST)      /* bits; value: a low word, b next; up to 64 bits */ \
    X(BYTE)       /* byte `a` of the input */ \
    X(NOT) X(NEG) X(ZEXT) X(SEXT) /* to `bits` */ \
    X(EXTRACT)    /* `bits` from bit k on */ \
    X(ADD) X(SUB) X(MUL) X(UDIV) X(SDIV) X(UREM) X(SREM) \
    X(SHL) X(LSHR) X(ASHR) X(AND) X(OR) X(XOR) \
    X(CONCAT)     /* a is the high part */ \
    X(EQ) X(ULT) X(ULE) X(SLT) X(SLE) X(NE) X(UGT) X(UGE) X(SGT) X(SGE) \
    X(ITE)        /* a ? b : c */ \
    X(TABLE)      /* bytes at offset b (elements of k bytes, c of them), read at a */ \
    X(CHOOSE)     /* the same where element i is node words[i] at offset b; c of them */ \
    X(FADD) X(FSUB) X(FMUL) X(FDIV) X(FREM) \
    X(FOEQ) X(FOLT) X(FOLE) X(FUNO) X(FONE) X(FOGT) X(FOGE) X(FORD) \
    X(FUEQ) X(FUNE) X(FULT) X(FULE) X(FUGT) X(FUGE) \
    X(FSQRT) X(FROUND) /* k: as ExprRound */ \
    X(FTOF) X(FTOU) X(FTOS) X(UTOF) X(STOF) X(FNEG) X(FABS) \
    X(FMATH)      /* k: as ExprMath; a, b */ \
    X(UMIN) X(UMAX) X(SMIN) X(SMAX) \
    X(UADD_SAT) X(USUB_SAT) X(SADD_SAT) X(SSUB_SAT) \
    X(UADD_OVERFLOWS) X(SADD_OVERFLOWS) X(USUB_OVERFLOWS) \
    X(SSUB_OVERFLOWS) X(UMUL_OVERFLOWS) X(SMUL_OVERFLOWS) \
    X(BSWAP) X(BITREVERSE) X(CTPOP) X(CTLZ) X(CTTZ) X(ABS) \
    X(FSHL) X(FSHR) /* a high, b low, c by */
/* clang-format on */

enum {
#define X(name) SUNDEW_NODE_##name,
    SUNDEW_NODE_OPS(X)
#undef X
        SUNDEW_NODE_N
};

struct sundew_node {
    uint8_t op;
    uint8_t bits;                  /* of the result: 1 to 128 */
    uint16_t k;
    uint32_t a, b, c;
};

enum {
    SUNDEW_REC_BRANCH = 1,         /* node (one bit) was `value`: a conjunct. at: edge taken;
                                      other: the edge if not */
    SUNDEW_REC_OTHER,              /* node could have been `value` here: another case of
                                      a switch, or its default. at: its edge. No conjunct. */
    SUNDEW_REC_PIN,                /* node was `value` and stays so: a conjunct. k: why */
    SUNDEW_REC_BUG,                /* if node can be true, there is a bug. k: which */
    SUNDEW_REC_IMPRECISE,          /* k: why; node: text offset of a name, or 0 */
    SUNDEW_REC_END,                /* a budget is used up; k: which */
    SUNDEW_REC_NUMBER, /* node is the number that `other` bytes of the input, from byte
                                      `at` on, are the text of. k: which kind; value: its base */
};

/* Kinds of numbers. */
enum {
    SUNDEW_NUMBER_FLOAT = 1,
    SUNDEW_NUMBER_SIGNED,
    SUNDEW_NUMBER_UNSIGNED,
    SUNDEW_NUMBER_N,
    SUNDEW_NUMBER_LONGEST = 64 /* bytes of text */
};

/* Why something was pinned or lost. */
enum {
    SUNDEW_WHY_ADDRESS = 1, /* symbolic address */
    SUNDEW_WHY_SIZE, /* symbolic length */
    SUNDEW_WHY_CALL, /* call through a symbolic pointer */
    SUNDEW_WHY_EXTERNAL, /* passed to code that is not woven */
    SUNDEW_WHY_WITNESS, /* code that is not woven wrote over it */
    SUNDEW_WHY_FLOAT, /* floating point given up: x87, vectors */
    SUNDEW_WHY_ASM,
    SUNDEW_WHY_WIDE, /* more than 128 bits */
    SUNDEW_WHY_THREAD, /* made in another thread */
    SUNDEW_WHY_VARIADIC,
    SUNDEW_WHY_INSIDE, /* PIN of one bit: an address stays in its object. Nothing
                                      is lost but what BUG records ask for */
    SUNDEW_WHY_ANALYSIS, /* self-check: a label where the analysis saw none */
    SUNDEW_WHY_MEMORY, /* no room for labels */
    SUNDEW_WHY_N
};

enum {
    SUNDEW_BUG_BOUNDS = 1, /* index outside of its object */
    SUNDEW_BUG_NULL,
    SUNDEW_BUG_DIVISION, /* by zero */
    SUNDEW_BUG_DIVISION_OVERFLOW, /* INT_MIN / -1 */
    SUNDEW_BUG_OVERFLOW, /* signed */
    SUNDEW_BUG_SHIFT,
    SUNDEW_BUG_ALLOCATION, /* negative or wrapping size */
    SUNDEW_BUG_FORMAT, /* a format string from the input: node is its first byte == '%' */
    SUNDEW_BUG_STATE, /* no bug: after an event, a location of the state may have another
                          value than it has (runtime/events_follow/labels.c). at: the location */
    SUNDEW_BUG_N
};

enum {
    SUNDEW_END_NODES = 1,
    SUNDEW_END_RECORDS,
    SUNDEW_END_BYTES,
    SUNDEW_END_SITE, /* this site's branches are no longer recorded: what
                                      follows may lack conjuncts */
};

struct sundew_record {
    uint8_t kind;
    uint8_t k;
    uint8_t value; /* BRANCH, OTHER: 0 or 1. BRANCH: k is 1 if it is not worth
                                      asking for the opposite: the site has had its budget,
                                      or OTHER records say all */
    uint8_t unused;
    uint32_t node;
    uint32_t at; /* edge (BRANCH, OTHER) or site (the rest): see
                                      src/weave/edges.h */
    uint32_t other; /* BRANCH: the other edge. PIN: index of the node of the
                                      constant. */
};

/* Which part of the input is symbolic. Input is one string of bytes, see
 * runtime/input/input.h. */
struct sundew_log {
    uint32_t magic, version;
    uint64_t size; /* of all */
    /* filled in by the explorer */
    uint32_t most_nodes, most_records, most_bytes;
    uint32_t most_per_site; /* branches recorded of one site; 0: all */
    uint32_t from, to; /* bytes of the input that are symbolic: [from, to) */
    uint32_t flags; /* SUNDEW_LOG_… */
    uint32_t lock; /* the program's: who appends, among threads and children */
    /* filled in by the program */
    uint32_t nodes; /* in use, the unused number 0 included */
    uint32_t records;
    uint32_t bytes;
    uint32_t started; /* 1: the runtime was there */
    uint64_t regions; /* cold regions done: what tracing costs */
    uint64_t stale; /* expressions dropped: see SUNDEW_WHY_WITNESS */
    uint64_t reserved[8];
};

enum {
    SUNDEW_LOG_NO_BUGS = 1, /* no BUG records */
    SUNDEW_LOG_NO_FLOAT = 2,
    SUNDEW_LOG_FULL = 4, /* self-check: see weave/concolic.h */
};

static inline struct sundew_node *sundew_log_nodes(struct sundew_log *l)
{
    return (struct sundew_node *)(l + 1);
}

static inline struct sundew_record *sundew_log_records(struct sundew_log *l)
{
    return (struct sundew_record *)(sundew_log_nodes(l) + l->most_nodes);
}

static inline uint8_t *sundew_log_bytes(struct sundew_log *l)
{
    return (uint8_t *)(sundew_log_records(l) + l->most_records);
}
#endif
