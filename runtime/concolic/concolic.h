/*
 * concolic - the symbolic side of a woven program.
 *
 * Beside each byte of memory and each value may stand a label: the number of a
 * node of the log (concolic_log.h), or 0 for "concrete". The program computes
 * as ever; where labels meet, the runtime computes what follows for them.
 *
 * Two bodies. A function f that may see something symbolic is there twice: `f`
 * as it was, with one test at its entry, and `f.sym`, which keeps labels. While
 * nothing symbolic is alive (sundew_alive is 0) only the first runs.
 *
 * Regions. f.sym tests no single instruction. A region is a straight-line
 * stretch between calls; at its end the labels that enter it and the tags of
 * the memory that it touched are or-ed together, and only if something is
 * there, its instructions are done again, for labels, by sundew_region() from a
 * constant description.
 *
 * Tags. One byte for each 64 bytes of address space, at a fixed address: not 0
 * if a byte there, or among the 15 behind, has a label. An access of up to 16
 * bytes so needs one tag.
 */
#ifndef SUNDEW_CONCOLIC_H
#define SUNDEW_CONCOLIC_H
#include <stdint.h>

typedef uint32_t sundew_label;

#define SUNDEW_TAGS 0x200000000000ull          /* 2^45; 2^41 bytes of them */
enum { SUNDEW_TAG_SHIFT = 6, SUNDEW_TAG_REACH = 15 };

/* ---- a region's description: constant, made by the weave */

/* Operations of rows: those of nodes (SUNDEW_NODE_ADD …: a, b, c are operands, bits the
 * result's width, `from` the operands' if it differs; EXTRACT: k is the lowest bit; CONCAT:
 * `from` is the width of a, b has the rest; FROUND, FMATH: k), and: */
enum {
    SUNDEW_ROW_LOAD = 128,     /* dst = bits at address a */
    SUNDEW_ROW_STORE,          /* bits of b to address a */
    SUNDEW_ROW_ADDRESS,        /* dst = a + b * words[c]; b is sign-extended from `from` bits.
                                  The value is computed, not passed. `object`: see below */
    SUNDEW_ROW_BRANCH,         /* a, one bit; x: edge if true, x + 1 if false */
    SUNDEW_ROW_SWITCH,         /* a; x: edge of the default, x + 1 + i that of case i;
                                  words[b .. b + c): the cases' values */
    SUNDEW_ROW_PIN,            /* a is needed concretely; k: SUNDEW_WHY_…; x: site */
    SUNDEW_ROW_SAME,           /* dst has a's label (freeze, bitcast, inttoptr of same width) */
    SUNDEW_ROW_LOST,           /* dst can't be followed; k: why; x: site. Says so if a, b or
                                  c has a label */
    SUNDEW_ROW_ALLOCATION,     /* a (times b, if it is not SUNDEW_NONE) bytes are asked for,
                                  both of `bits` bits: a bug if it is negative or wraps */
    /* Floating point of `bits` bits that has no node of its own: */
    SUNDEW_ROW_FMULADD,        /* a * b + c, rounded twice */
    SUNDEW_ROW_FMIN,
    SUNDEW_ROW_FMAX,  /* as fmin(), fmax() */
    SUNDEW_ROW_COPYSIGN,
};

/* An operand: a slot of the values, or with this bit a word of the description. */
enum { SUNDEW_WORD = 0x8000, SUNDEW_NONE = 0xffff };

struct sundew_row {
    uint8_t op;
    uint8_t bits;              /* 1 to 128 */
    uint8_t from;              /* operands' width if it is not `bits`; else 0 */
    uint8_t flags;             /* SUNDEW_ROW_… below */
    uint16_t k;
    uint16_t dst;              /* slot of the result; SUNDEW_NONE */
    uint16_t a, b, c;
    uint16_t object;           /* ADDRESS: 1 + index of the word that has the size of the
                                  array that begins at a, if the weave knows it: a local,
                                  a global, an array within a struct; 0: not known */
    uint32_t x;                /* site (or edge) */
};

enum {
    SUNDEW_ROW_SIGNED = 1,     /* nsw: overflow would be a bug */
    SUNDEW_ROW_OUTSIDE = 2,    /* the analysis says that no operand has a label: if one has,
                                  SUNDEW_WHY_ANALYSIS is recorded (self-check) */
};

/* A slot is 64 bits. A value of 65 to 128 bits has two, low part first; its
 * label is that of the first. */
struct sundew_region {
    const struct sundew_row *rows;
    const uint64_t *words;
    uint32_t nrows;
    uint16_t nslots;
    uint16_t unused;
};

/* After the region ran: `values` are what the program computed, `labels` those of outside
 * operands (0 for the rest); labels of results, and values of ADDRESS rows, are filled
 * in. Never changes what the program sees: errno included. */
void sundew_region(const struct sundew_region *r, uint64_t *values, sundew_label *labels);

/* ---- what is tested all the time */

/* This run has symbolic input. Set before main() if there is a log, or with the first
 * symbolic byte, and reset only when the log is full: the bodies as they were call each
 * other without looking again. Tags are mapped by then. */
extern volatile uint8_t sundew_alive;

/* Labels from caller to callee. The caller of a .sym function sets `callee` to what
 * identifies it (the address of f, or 0 if no argument has a label), and then
 * labels; the callee takes them only if `callee` is itself. Back: `result`. */
enum { SUNDEW_ARGS = 32, SUNDEW_RESULTS = 4 };
struct sundew_passing {
    uintptr_t callee;
    sundew_label args[SUNDEW_ARGS];
    uintptr_t returns;                         /* as `callee`: who returned with labels; or 0 */
    sundew_label results[SUNDEW_RESULTS];      /* one a scalar; those of structs in order */
    const char *external;                      /* the function outside that was called last:
                                                  who is blamed for what it overwrote. Set
                                                  before each call to one */
    const char *shape;                         /* calls of variadic functions: how each of
                                                  args goes: g in a register or word, G in
                                                  two, f as floating point, x as long double,
                                                  b in memory */
};
extern _Thread_local struct sundew_passing sundew_passing
    __attribute__((tls_model("initial-exec")));

/* ---- memory: woven code calls these in place of intrinsics and at ends of frames */
void sundew_copy(void *to, const void *from, uint64_t n, sundew_label nlabel, uint32_t site);
void sundew_fill(void *to, uint8_t c, sundew_label clabel, uint64_t n, sundew_label nlabel,
                 uint32_t site);               /* before it happens: shadows only */
void sundew_room(const void *at, const void *object, uint64_t size, sundew_label nlabel,
                 uint32_t site);               /* before copy and fill: `at` points into a
                                                  local variable of that size */
/* `name`, which is not woven, gets this pointer: it may read bytes that have labels. */
void sundew_outside(const void *at, const char *name, uint32_t site);
void sundew_forget(const void *at, uint64_t n);/* the bytes are concrete now: allocas at
                                                  return, free(), buffers that were written */

/* Variadic functions: what came is kept at the entry (`mine`: the callee is this one), labels
 * are put where va_start() finds the arguments behind the first `fixed` of args, and
 * forgotten at the return. */
struct sundew_variadic {
    const char *shape;
    sundew_label args[SUNDEW_ARGS];
    uintptr_t saved, stack, stacked;           /* where labels were put: registers, words */
};
void sundew_va_keep(struct sundew_variadic *v, uint32_t mine);
void sundew_va_start(void *list, struct sundew_variadic *v, uint32_t fixed);
void sundew_va_end(struct sundew_variadic *v);

/* Calls of these in woven code go to sundew_malloc() …: objects' bounds are known, labels
 * move with realloc(), and children write into the same log. */
/* clang-format off */
#define SUNDEW_CONCOLIC_REDIRECTED(X) \
    X(malloc) X(calloc) X(realloc) X(reallocarray) X(free) X(aligned_alloc) \
    X(memalign) X(posix_memalign) X(valloc) X(fork)
/* clang-format on */
int sundew_fork(void);

/* First in each run: after the fork server has forked, and again in each round of
 * persistent mode. All labels are gone. */
void sundew_concolic_begin(void);

/* ---- for standins and sources (runtime/standins/), plain calls in their C */
/* n bytes at `at` are bytes of the input from `offset` on; makes things alive. */
void sundew_symbolic(void *at, uint64_t n, uint64_t offset);
int sundew_is_symbolic(const void *at, uint64_t n);
/* The label of one byte in memory, a node of 8 bits (made if need be), or 0; and back: for
 * bytes that leave memory and return, through files and pipes, in other processes too (nodes
 * are numbered for all processes that share the log). The byte's value is what it is now. */
sundew_label sundew_byte_label(const void *at);
void sundew_set_byte_label(void *at, sundew_label l);
/* The `bits` (32 or 64) at `result` are the function `which` (as ExprMath) of those at a and b,
 * which is NULL if it has one argument. */
void sundew_math(void *result, const void *a, const void *b, unsigned which, unsigned bits);
/* Something is no longer followed: SUNDEW_WHY_…, in the library function `name`. */
void sundew_note(unsigned why, const char *name);
/* The 64 bits at `value` are the number (SUNDEW_NUMBER_…, in this base) that the n bytes at `text`
 * say; 0: a string begins with it, and it is decimal. There may be spaces before it. The log tells it
 * if the input has these bytes as they stand here. Nothing is asked of them: no branch is recorded. */
void sundew_number(const void *value, const char *text, uint64_t n, unsigned kind, unsigned base);
/* The n bytes there stay what they are in this path: SUNDEW_WHY_… */
void sundew_pin(const void *at, uint64_t n, unsigned why);
/* A string that is used as a format: a bug if it comes from the input. */
void sundew_format(const char *format);
/* Globals of the program, for the bounds of objects: the weave's table. */
struct sundew_object {
    const void *at;
    uint64_t size;
};
extern const struct sundew_object sundew_objects[];
extern const uint64_t sundew_nobjects;
#endif
