/*
 * Types and functions for the files of the concolic weave; concolic.c explains the
 * idea.
 *
 *     concolic.c   chooses the functions; dispatch, tables
 *     plan.c       cuts a body into pieces, each with a region; values that cross
 *     rows.c       instructions as rows of a region's description
 *     body.c       writes f.sym, twice: clean and dirty
 *     call.c       calls, copies, returns
 *     goto.c       computed goto
 */
#ifndef SUNDEW_CONCOLIC_WEAVE_H
#define SUNDEW_CONCOLIC_WEAVE_H
#include "analysis/symbolic/symbolic_llvm.h"
#include "runtime/concolic/concolic.h"
#include "runtime/format/concolic_log.h"
#include "weave/edges_llvm.h"
#include "weave/weave_int.h"

enum {
    MOST_LEAVES = 8,             /* scalars of an aggregate that are followed */
    MOST_DEPTH = 4,              /* … and how deep they lie */
    MOST_ROWS = 128,             /* of a region */
    MOST_SLOTS = 400,
};

typedef struct Val Val;

/* A function that may see something symbolic. */
typedef struct Twin {
    LLVMValueRef f;              /* what everyone calls: looks and goes on */
    LLVMValueRef native;         /* as it was */
    LLVMValueRef sym;
    LLVMTypeRef type, sym_type;
    bool variadic;               /* labels come in sundew_passing only */
    bool interposable;           /* another may be linked in its place */
    bool in_place;               /* f is the body as it was, with the look in front: its
                                  * blocks have addresses, which can't move */
    unsigned nparams;
    unsigned *nlabels;           /* of each parameter; BYVAL */
    unsigned nresults;           /* labels that come with the result */
    uint32_t edge, site;         /* first ones; see edges.h */
    const Function *fn;          /* NULL: a standin */
} Twin;

enum { BYVAL = 1000 };           /* nlabels[i]: its bytes are copied; where from is passed */

typedef struct Concolic {
    Woven *w;
    ConcolicPlan plan;
    Map twins;                   /* f -> Twin */
    Vec(Twin *) list;
    Map marks;                   /* instruction, parameter -> flags, see Mark */
    Map texts;
    LLVMValueRef alive, passing, cold, copy, fill, room, forget;
    LLVMTypeRef passing_type, region_type, row_type;
    ConcolicFigures figures;
} Concolic;

enum Mark {
    MARK_SEES = 1,               /* may see something symbolic: symbolic_instruction() */
    MARK_VALUE = 2,              /* may be symbolic: symbolic_value() */
    MARK_MEMORY = 4,             /* copies bytes that may be */
};

/* A scalar within a value. */
typedef struct Leaf {
    LLVMTypeRef type;
    unsigned bits;
    unsigned path[MOST_DEPTH], depth;
    uint64_t offset;             /* in memory, bytes */
} Leaf;
typedef struct Leaves {
    Leaf at[MOST_LEAVES];
    unsigned n;                  /* 0: not followed */
} Leaves;

/* The scalar that a value (or a part of it) is, after casts and insertions that
 * change no bits. */
typedef struct Ref {
    LLVMValueRef v;
    unsigned leaf;
    Val *val;                    /* NULL: a constant */
} Ref;

/* An instruction or parameter of the body that is being rewritten. */
struct Val {
    LLVMValueRef v;
    bool is_param, is_phi;
    bool fixed;                  /* `now` is good everywhere: parameters, stack slots */
    bool woven;                  /* needs looking at */
    bool labelled;               /* may have labels */
    bool outside;                /* the analysis says that it can't: self-check */
    uint32_t site;
    unsigned block, piece;
    Leaves leaves;
    bool crosses;                /* used in another piece: goes through `slot` */
    bool label_used;             /* … its labels: through `labels` */
    LLVMValueRef slot, in;       /* in: of a phi, filled by who jumps here */
    LLVMValueRef labels[MOST_LEAVES], labels_in[MOST_LEAVES];
    unsigned live;               /* number of its first label */
    LLVMValueRef now;            /* its new value in the piece being written … */
    unsigned stamp;              /* … if this is that piece's */
    unsigned region;             /* 1 + the piece in whose region it has slots … */
    uint16_t slots[MOST_LEAVES]; /* … these */
};

typedef struct Slot {
    Ref ref;                     /* val NULL and v NULL: a temporary */
    bool result;                 /* of a row */
    bool wide;                   /* and the next */
    uint8_t low, count;          /* only these bits of it, if count is not 0 */
} Slot;

/* Memory that is touched: [low, high) from a base. */
typedef struct Touch {
    LLVMValueRef base;
    int64_t low, high;
} Touch;

typedef struct Region {
    Vec(struct sundew_row) rows;
    Vec(LLVMValueRef) words;
    Vec(Slot) slots;
    Vec(Touch) touches;
    LLVMValueRef description;    /* made with the first use */
} Region;

/* A stretch of a block that ends where labels may appear. */
typedef struct Piece {
    unsigned block, first, end;  /* instructions, as indices into Body.all */
    Region region;               /* of its rows, done at its end */
} Piece;

typedef struct Block {
    LLVMBasicBlockRef b;
    unsigned first, last;        /* pieces */
    bool header;                 /* of a loop */
    Vec(unsigned) next;          /* blocks */
    uint64_t *gen, *kill, *live;
} Block;

enum { CLEAN, DIRTY };

typedef struct LabelUse {
    Val *val;
    unsigned block;
} LabelUse;

typedef struct Body {
    Concolic *c;
    Woven *w;
    Twin *t;
    LLVMValueRef native, sym;
    Arena arena;
    Map vals;                    /* value -> Val */
    Vec(Val *) all;              /* instructions in order of `blocks` */
    Vec(Block) blocks;           /* reachable ones, callers before callees: reverse
                                  * postorder */
    Map block_at;                /* LLVM block -> index + 1 */
    Vec(Piece) pieces;
    Vec(Val *) params;
    Vec(LabelUse) uses;
    unsigned nlabels;            /* numbers of labels given out */
    /* writing */
    unsigned version, stamp, piece;
    LLVMBasicBlockRef *starts[2];    /* of each piece */
    LLVMValueRef values, labels; /* arrays for sundew_region() */
    unsigned nslots;             /* the most of a region */
    unsigned nkept;              /* labels of values, behind them in `labels` */
    LLVMValueRef variadic;       /* struct sundew_variadic; NULL: takes no more arguments */
    unsigned fixed;              /* labels of the parameters that have names */
    Vec(LLVMValueRef) forgets;   /* stack slots that may hold labels */
    Vec(uint64_t) forget_sizes;
    Map addresses;               /* constants with block addresses -> theirs */
} Body;

/* ---- concolic.c */
Twin *concolic_twin(Concolic *c, LLVMValueRef f);
unsigned concolic_mark(const Concolic *c, LLVMValueRef v);
LLVMValueRef concolic_text(Concolic *c, const char *s);
/* Scalars of a type. */
Leaves concolic_leaves(Woven *w, LLVMTypeRef type);
unsigned concolic_bits(Woven *w, LLVMTypeRef type);  /* 0: not followed */
uint64_t concolic_size(Woven *w, LLVMTypeRef type);  /* bytes in memory */

/* ---- plan.c */
void plan_body(Body *b);
void release_body(Body *b);
Val *val_of(const Body *b, LLVMValueRef v);           /* NULL: a constant */
Ref ref_of(Body *b, LLVMValueRef v, unsigned leaf);
/* Its label is needed in that piece. */
void use_label(Body *b, Ref r, unsigned piece);

/* ---- rows.c: rows are added to the last piece */
bool rows_of(Body *b, Val *v);                        /* false: it needs none */
void row_pin(Body *b, LLVMValueRef v, unsigned why, uint32_t site);
/* It goes where it can't be followed: noted if it has a label. */
void row_lost(Body *b, LLVMValueRef v, unsigned why, uint32_t site);
/* How much memory is asked for; false: it is no such call. */
bool row_allocation(Body *b, Val *v, const char *name);
bool is_row_intrinsic(LLVMValueRef call);
LLVMValueRef describe_region(Body *b, Region *r);

/* ---- call.c */
typedef enum {
    CALL_NOTHING,                /* left out: debug info */
    CALL_PLAIN,                  /* as it is, and no matter to memory */
    CALL_ROWS,                   /* an intrinsic with rows */
    CALL_COPY,
    CALL_FILL,
    CALL_TWIN,                   /* labels as arguments */
    CALL_PASSING,                /* through a pointer: labels in sundew_passing */
    CALL_OUTSIDE,
} CallKind;
CallKind call_kind(const Body *b, LLVMValueRef call);
/* Do labels come back with it? */
bool call_returns_labels(Body *b, const Val *v);
void plan_call(Body *b, Val *v);             /* pins, before the call's piece */
void plan_call_uses(Body *b, Val *v);        /* in the call's piece */
void write_call(Body *b, Val *v);
void write_return(Body *b, Val *v);
void write_entry(Body *b);                   /* takes labels, goes to one of the versions */
void write_dispatch(Concolic *c, Twin *t);

/* ---- goto.c */
bool goto_is_computed(LLVMValueRef f);       /* has it blocks with addresses? */
bool goto_is_tame(LLVMValueRef f);           /* … that stay within it */
void goto_renumber(Body *b);                 /* fills `addresses` */

/* ---- body.c */
void write_body(Body *b);
LLVMValueRef value_now(Body *b, LLVMValueRef v);      /* in the current piece */
void set_now(Body *b, Val *v, LLVMValueRef now);
LLVMValueRef label_now(Body *b, Ref r);               /* i32 */
void set_label(Body *b, Val *v, unsigned leaf, LLVMValueRef label);
LLVMValueRef or_labels(Body *b, LLVMValueRef x, LLVMValueRef y);   /* NULL: none */
/* From clean to dirty code: there are no labels yet. `version` is DIRTY then. */
void become_dirty(Body *b);
/* The tags of n bytes at p, or-ed, as an integer that is 0 if there are none. n is at
 * most MOST_TAGGED. */
enum { MOST_TAGGED = 464 };
LLVMValueRef tags_of(Woven *w, LLVMValueRef p, uint64_t n);
/* The value as words of 64 bits: 1 or 2. */
unsigned to_words(Woven *w, LLVMValueRef v, LLVMValueRef out[2]);
#endif
