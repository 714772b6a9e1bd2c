/*
 * mutability_int - types and functions for the files of the mutability analysis.
 *
 *     path.c         access paths and sets of them
 *     lower.c        a function's instructions as a short list of operations
 *     flow.c         the paths that each value of a function holds; its effects
 *     pieces.c       pointers that leave in pieces
 *     call.c         applies a summary at a call, of a body or of the library
 *     slots.c        the source types of called pointers
 *     format.c       arguments that a literal format only prints
 *     memory.c       stage M: references that were stored
 *     length.c       pairs of parameters: an object and its length
 *     summary.c      a function as a line of a summary file
 *     facts.c        the facts file: writes it, reads it
 *     mutability.c   the order of the work, and the verdicts
 *
 * A *path* describes the origin of a pointer. The address of `p->next->x` is root
 * p, one dereference at the offset of next, then the offset of x. Each load makes
 * a path longer; a path of more than MUT_DEREFS loads is cut and marked `deeper`.
 * The *effects* of a function are its operations on paths that begin at its
 * arguments (IR arguments, numbered as LLVM does) or at globals: writes, frees,
 * stores of a reference, obstacles. At each call, the callee's effects are
 * translated into the caller's paths.
 */
#ifndef SUNDEW_MUT_INT_H
#define SUNDEW_MUT_INT_H
#include "analysis/pointsto/modref.h"
#include "analysis/mutability/mutability.h"
#include "program/program_llvm.h"
#include "analysis/pointsto/pt_answer.h"

enum { MUT_DEREFS = 3 };
#define ANYWHERE INT32_MIN       /* an offset that is not known */

/* Roots. An argument is its number; the one after the last stands for the
 * memory that holds the variadic arguments. */
#define ROOT_LOCAL   0x40000000u /* | index in Body.locals: an object made here */
#define ROOT_GLOBAL  0x80000000u /* | number of the variable */
#define ROOT_RESULT  0xfffffffeu /* in effects: the fresh object it returns */
#define ROOT_UNKNOWN 0xffffffffu /* memory of which nothing is known */

typedef struct Path {
    uint32_t root;
    int32_t off;                 /* from the last pointer loaded */
    int32_t at[MUT_DEREFS];      /* offset of each load on the way */
    uint16_t depth;              /* loads; at most MUT_DEREFS */
    uint8_t deeper;              /* more loads than that */
    uint8_t maybe;               /* it may be another one. The surest first: */
} Path;
enum {
    PATH_OF_SEVERAL = 1,         /* one of those that were stored there */
    PATH_SOMEWHERE = 2,          /* … in memory of the heap, at an unknown offset */
    /* From here on, stage L takes it for another one: */
    PATH_PRINTED = 3,            /* a variadic argument that a format prints */
    PATH_TABLE = 4,              /* by another function than the table's own */
    PATH_MEMBER = 5,             /* by what may be another member of a union */
    PATH_REPLACED = 6,           /* by a place where another was stored just before */
    PATH_RETURNED = 7,           /* what a function without body was given, and returns */
    PATH_DECLARED = 8,           /* by a function that gets it as a pointer to const */
};

/* Sorted; a Path of {0} is the first argument, a set of {0} is empty. */
typedef struct PathSet {
    Path *items;
    uint32_t len, cap;
} PathSet;

bool root_is_local(uint32_t root);
bool root_is_global(uint32_t root);
bool root_is_argument(uint32_t root);
Path path_root(uint32_t root);
Path path_plus(Path p, int64_t off);         /* ANYWHERE: somewhere */
Path path_loaded(Path p);                    /* what is stored there */
bool path_same_place(const Path *a, const Path *b);
bool path_is_exact(const Path *p);           /* no offset unknown, nothing cut */
Path path_flat(Path p);                      /* all offsets forgotten */
bool pathset_add(PathSet *s, Path p);        /* true: it has grown */
bool pathset_union(PathSet *s, const PathSet *from);
void pathset_release(PathSet *s);

/* ---- operations */

typedef enum {
    OP_COPY,                     /* dst gets a, `off` further */
    OP_LOAD,                     /* dst gets what is at a */
    OP_STORE,                    /* b goes to a */
    OP_MEMCPY,                   /* the memory at b goes to a */
    OP_MEMSET,                   /* a is written */
    OP_PIECE,                    /* a part of a goes where nobody follows it */
    OP_VA_START,                 /* a is a va_list */
    OP_CALL,
    OP_ASM,
    OP_RETURN,                   /* a */
} OpKind;

typedef struct Op {
    OpKind kind;
    uint32_t block;
    uint32_t dst, a, b;          /* values; NONE */
    int32_t off;
    bool pointer;                /* OP_LOAD: what is loaded can be a pointer */
    bool piece; /* OP_LOAD, OP_MEMCPY: what is loaded may be a part of a pointer, and
                                  * goes where nobody follows it */
    bool compared;               /* OP_PIECE, piece: it only tells some bits */
    LLVMValueRef inst;
    LLVMValueRef origin; /* OP_STORE, OP_MEMCPY: the first store that goes to
                                  * the same places, for all of them */
} Op;

/* ---- what a function does */

typedef enum {
    EFFECT_WRITE,
    EFFECT_FREE,
    EFFECT_STORE, /* the reference `path` is stored at `dest` */
    EFFECT_RETURN, /* … in the fresh object that is returned */
    EFFECT_REASON, /* nobody knows what happens to it */
} EffectKind;

typedef struct Effect {
    EffectKind kind;
    MutReasonKind reason; /* EFFECT_REASON */
    bool numbers; /* … of variadic arguments that are numbers: pointers are texts */
    uint8_t maybe; /* PATH_OF_SEVERAL …; also by an indirect call with
                                  * other targets */
    Path path, dest;
    LLVMValueRef inst; /* here: the store or the call */
    LLVMValueRef origin; /* the store itself, wherever it is, or one that goes
                                  * to the same places; NULL: one of too many */
    LLVMValueRef callee; /* whose effect it was; NULL: it is here */
    uint32_t next; /* its index there */
} Effect;

typedef struct Flow {
    Vec(Effect) effects;
    Map known; /* EffectKey -> index + 1 */
    PathSet returns;
    uint32_t nglobal; /* effects on globals */
    uint32_t version; /* counts effects that were replaced */
    PtTable count; /* kind, root -> effects */
    bool fresh; /* may return an object it has made */
    bool *reads; /* by argument: its object is read */
    bool *passed; /* by argument: given to some call */
    bool reads_memory; /* of anybody's */
    bool impure; /* I/O, volatile, writes to memory unknown */
    bool changed;
} Flow;

typedef struct Local {
    LLVMValueRef site;
    bool stack; /* else fresh memory, or a callee's result */
    bool one_of; /* a union with several kinds of pointers */
    bool exposed; /* others may have stored pointers in it */
    bool captured; /* its address was stored where others see it */
    uint32_t by; /* op that did it */
} Local;

typedef struct Content {
    Path dest, src;
    uint32_t op; /* that stores it; NONE: some */
} Content;

typedef struct Bucket {
    uint32_t root;
    Vec(Content) items;
} Bucket;

/* How far a call has met a function: what hasn't changed is not done again. */
typedef struct Met {
    uint64_t inputs; /* sizes of what the arguments hold, and of memory */
    uint32_t effects, version;
} Met;

/* A function with a body, while and after it is looked at. */
typedef struct Body {
    const Function *fn;
    LLVMValueRef value;
    uint32_t nargs; /* IR arguments; also the variadic root */
    bool *plain; /* by argument: its object holds no pointers */
    bool *to_const; /* by argument: the source says const */
    Vec(Op) ops;
    PtTable number; /* LLVMValueRef -> value */
    Vec(PathSet) sets; /* by value */
    uint32_t nblocks;
    PtTable block_number;
    uint64_t **reach; /* by block, made when asked for: blocks that
                                  * can come after it */
    Vec(LLVMBasicBlockRef) blocks;
    Vec(uint32_t) again; /* blocks where a call returns twice, as setjmp() does */
    bool *calls; /* by block, if there are such: it has a call */
    Vec(Local) locals;
    PtTable local_of; /* site -> index */
    Vec(Bucket) buckets;
    PtTable bucket_of; /* root -> index */
    Map stored; /* dest, src, op */
    uint32_t memory; /* grows with what is stored in memory */
    bool coarse; /* too much is stored: all local objects are one, */
    uint32_t merged; /* this one */
    Vec(Met) met;
    PtTable met_of; /* op, function -> index */
    Flow flow;
    Vec(uint32_t) callers; /* bodies to look at again */
    bool lowered, grown, queued;
} Body;

struct Mutability {
    const Program *program;
    const Calls *calls;
    const PointsTo *pt;
    const Summaries *summaries;
    ModRef *modref;
    MutabilityPlan plan;
    LLVMTargetDataRef layout;
    Body *bodies; /* by Function.index; .fn NULL: no body */
    size_t nbodies;
    Vec(LLVMValueRef) globals;
    PtTable global_of;
    Map store_class; /* places and member -> the first store there */
    PtTable body_of; /* function value -> Function.index */
    Arena arena;
    MutParam **params; /* by Function.index */
    MutPurity *purity;
    struct LoadIndex *loads; /* memory.c */
    LLVMValueRef changed_by; /* … the function that was asked about last, */
    PtBits changed; /* and the objects it changes */
    bool percent_n; /* some format has it */
    bool own_conversions; /* the program registers its own with the library's printf */
    bool breaks_const; /* some exported function writes what it gets as const */
    bool finds_names; /* it asks for functions by name: nobody knows which */
    bool rebuilds; /* it makes pointers of integers of unknown origin */
    bool reads_back; /* it does, or loads a pointer from memory that may hold a number */
    bool lists_pointers; /* what its own functions print by a va_list may be the value of a
                          * pointer */
    PtBits numbers; /* pieces.c: locations where numbers are stored */
    PtTable seen_pointers; /* pieces.c: places, size -> bool */
    PtTable slot_of; /* slots.c: called pointer -> index */
    Vec(struct SlotTypes *) slots;
    PtTable prints; /* format.c: function -> what its formats show */
    bool printed[256]; /* … conversions that only read */
    size_t steps; /* work: places that were gone through for numbers and changes */
    bool stopped;
};

/* lower.c */
/* Is it one address: the same value, or the same constant offset from one? */
bool mut_same_address(const Mutability *m, LLVMValueRef x, LLVMValueRef y);
int64_t mut_gep_offset(const Mutability *m, LLVMValueRef gep); /* or ANYWHERE */
/* Is it a pointer as a number? What is taken from it is a distance. */
bool mut_is_address(const Mutability *m, LLVMValueRef v);
/* (char *)NULL + n: the index is the pointer. */
bool mut_is_index_of_null(const Mutability *m, LLVMValueRef gep);
void mut_lower(Mutability *m, Body *b);
void mut_body_release(Body *b);
/* Are there pointers in the `size` bytes at an address (0: in the object), as far
 * as points-to has seen? */
bool mut_holds_pointers(const Mutability *m, LLVMValueRef address, int64_t size);
/* May control come from one operation to another? */
bool mut_reaches(Body *b, uint32_t from, uint32_t to);
/* … after at least one other, so that an operation in a loop comes again. */
bool mut_comes_later(Body *b, uint32_t from, uint32_t to);

/* pieces.c */
/* Can a value of the type be a whole pointer, or hold one? */
bool mut_carries(const Mutability *m, LLVMTypeRef t);
/* Does a part of a pointer go nowhere, and decide nothing but by an alignment? `copied`: stores
 * of the value itself are followed otherwise. */
bool mut_piece_is_harmless(LLVMValueRef piece, bool index, bool copied);
/* Is it only compared, or (`index`) an index? */
bool mut_piece_is_compared(LLVMValueRef piece, bool index, bool copied);
/* Is it a number made from a pointer, of which a comparison tells some bits? */
bool mut_tells_bits(LLVMValueRef v);
/* Is `v` compared with a number of unknown origin? So it may be guessed. */
bool mut_is_guessed(const Mutability *m, LLVMValueRef compare, LLVMValueRef v);
bool mut_is_shifted(LLVMValueRef v, int depth);
/* Is it a number, or a pointer made of one, that was computed here? */
bool mut_is_computed(LLVMValueRef v, int depth);
/* Has points-to seen pointers in the `size` bytes there (0: in the object)? The outside
 * doesn't count. */
bool mut_has_seen_pointers(Mutability *m, LLVMValueRef address, int64_t size);
/* The references that are stored in the `size` bytes (0: in the object) at these places
 * leave in pieces. `others`: also from memory that isn't ours. */
void mut_leaves(Body *b, const PathSet *from, int64_t size, bool others, uint32_t op,
                const Effect *like);
/* Sets `rebuilds` and `reads_back`. */
void mut_find_rebuilt(Mutability *m);
/* Objects whose address leaves in pieces, and all that they lead to: pointers that nobody
 * knows may read and write what is stored there. */
PtBits mut_exposed(Mutability *m);

/* flow.c */
/* The references that overlap the `size` bytes (0: all of the object) at a place. */
void mut_load_part(Body *b, const Path *p, int64_t size, bool others, uint32_t op, PathSet *out);
void mut_flow(Mutability *m, Body *b);
/* What is stored at the places, as seen at operation `op`. */
void mut_load(Body *b, const PathSet *from, int32_t off, uint32_t op, PathSet *out);
/* The references `v` go to the places `to`. */
void mut_store(Body *b, const PathSet *to, const PathSet *v, uint32_t op, const Effect *like);
/* The places are written. `like` says by whom. */
void mut_write(Body *b, const PathSet *to, const Effect *like);
/* Nobody knows what is done with the references and all they lead to. */
void mut_obstacle(Body *b, const PathSet *v, uint32_t op, const Effect *like);
/* The places are read. */
void mut_read(Body *b, const PathSet *from);
/* `src` is in the object at `dest`, which nobody else sees. */
void mut_put(Body *b, const Path *dest, const Path *src, uint32_t op);
/* Whatever can be loaded from there, again and again. */
void mut_load_all(Body *b, uint32_t op, PathSet *set);
uint32_t mut_local(Body *b, LLVMValueRef site, bool stack);
/* Marks all arguments that the references lead to as passed on. */
void mut_passed(Body *b, const PathSet *v, uint32_t op);
Body *mut_body(const Mutability *m, LLVMValueRef fn);

/* call.c */
/* The member that an address names: of the outermost struct and of the innermost. */
typedef struct Member {
    bool known;
    int64_t outer, inner; /* offsets */
    LLVMTypeRef type; /* the innermost struct */
    LLVMTypeRef top; /* the outermost */
} Member;
Member mut_member(const Mutability *m, LLVMValueRef address);
/* The source type of the member, or of the elements of a table there; or NULL. */
const Type *mut_member_type(const Mutability *m, LLVMValueRef address);
void mut_call(Mutability *m, Body *b, uint32_t op);
bool mut_is_pure_external(const char *name);
/* What a library function does with an argument of a call (SUMMARY_READ …).
 * `call` NULL: not known which call. */
unsigned mut_use(const Mutability *m, const Summary *s, LLVMValueRef call, unsigned arg);
/* May a printf() of the library print the pointer itself, and somebody make a pointer of the text
 * again? Of an argument that is a va_list: the pointers in it. */
bool mut_prints_out(const Mutability *m, const Summary *s, LLVMValueRef call, unsigned arg);
/* Is it a printf() whose format the program may have made itself? */
bool mut_makes_format(const Mutability *m, LLVMValueRef call, const Summary *s);
/* Is it a text that has the conversion? */
bool mut_literal_has(LLVMValueRef g, char conversion);
/* Does the argument go into the library as a number, of which the summary says no more? The
 * position of a file, the size of a stack, a counter: another call gives it back. */
bool mut_keeps_number(const Summary *s, LLVMValueRef call, unsigned arg);
/* Is there a string in the program that has the conversion, as %n? */
bool mut_has_conversion(LLVMModuleRef module, char conversion);

/* slots.c */
bool mut_is_exported(LLVMValueRef fn);
typedef struct SlotTypes {
    const Type **types; /* of functions; none: not known */
    unsigned n;
    uint64_t shown; /* by argument: code outside gets it as a pointer to const */
    uint64_t offered; /* … as a pointer that is not */
} SlotTypes;
/* The types that a called pointer may have in the source. */
const SlotTypes *mut_slot_types(Mutability *m, const Body *b, LLVMValueRef callee);
/* Could a pointer of such a type have been set to the function, without a cast? */
bool mut_is_meant(const Mutability *m, const SlotTypes *s, LLVMValueRef fn);
/* How code outside gets an argument: SHOWN, OFFERED, or NO_TARGET if that is not known. */
MutReasonKind mut_slot_reason(const SlotTypes *s, unsigned nargs, unsigned arg);

/* format.c */
void mut_formats(Mutability *m);
/* Sets `lists_pointers`. */
void mut_find_lists(Mutability *m);
/* Have all formats that the call may have, literals, %s for this argument? `fixed`: the
 * parameters up to the format. */
bool mut_is_text(LLVMValueRef call, unsigned fixed, unsigned arg);
/* Does a literal format only print this variadic argument? */
bool mut_is_printed(const Mutability *m, LLVMValueRef call, unsigned arg);

/* memory.c: is a parameter immutable although references to it are stored?
 * `first`, `n`: its IR arguments. Fills in what it met otherwise. */
typedef struct MemoryAnswer {
    bool deep, own; /* no write is possible */
    LLVMValueRef obstacle; /* what may write */
    LLVMValueRef own_obstacle;
} MemoryAnswer;
MemoryAnswer mut_memory(Mutability *m, Body *b, unsigned first, unsigned n);
void mut_memory_release(Mutability *m);
/* Does the call map memory that may be mapped elsewhere too: shmat(), mmap() if not private?
 * With `pt`, wrappers of these count too. */
bool mut_maps_shared(const PointsTo *pt, LLVMValueRef call);
/* Is nothing that is reachable from the value written during the function? */
void mut_unchanged(Mutability *m, LLVMValueRef fn, LLVMValueRef arg, bool *own, bool *deep);
#endif
