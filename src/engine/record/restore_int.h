/* What only restore.c, restore_piece.c and restore_print.c share. */
#ifndef SUNDEW_RESTORE_INT_H
#define SUNDEW_RESTORE_INT_H
#include "engine/record/restore.h"

typedef struct Item Item;

/* Where a pointer of the subject leads to, in the test. */
typedef struct Ref {
    enum { REF_NULL, REF_ITEM, REF_TEXT, REF_RAW } kind;
    Item *item;
    uint64_t offset;          /* into the item, or before it (wraps); of REF_RAW: the address */
    const char *text;         /* a C expression: function, FILE, literal */
} Ref;

/*
 * Some bytes of an item. With a `path` they are a member or element and can be
 * written as one ("a.b[2]"; "" is the item itself), else they are addressed by
 * their offset.
 */
typedef struct Piece {
    enum { PIECE_VALUE, PIECE_STRING, PIECE_BYTES, PIECE_POINTER } kind;
    uint64_t offset;
    size_t size;
    size_t element;           /* of an array of items */
    size_t part;              /* of the item's parts, plus 1; 0: none */
    const char *path;
    const char *value;        /* of PIECE_VALUE: C */
    const Type *type;         /* of PIECE_POINTER and PIECE_VALUE; or NULL */
    Ref ref;
    bool on;
} Piece;

/* A record inside of something larger: programs that allocate in arenas have one object for all. */
typedef struct Part {
    uint64_t offset;
    const Type *type;
    const char *hint;
    const char *name; /* of the pointer to it; NULL: it is written as bytes */
    unsigned depth; /* pointers between an argument and it; RESTORE_FAR */
} Part;

struct Item {
    const CrashObject *object;
    const Variable *variable; /* a global: stays where it is */
    const char *lvalue; /* its name */
    const char *name; /* else: of the pointer to it */
    const char *hint; /* what it might be called */
    const Type *type; /* of an element; NULL: bytes */
    const Type *walked; /* the type with which its pointers were followed */
    bool was_walked;
    bool typed; /* the type can be written in the test */
    Part *parts; /* what pointers to records say, by offset; they don't overlap */
    size_t nparts, parts_cap;
    bool mixed; /* records of several types: no array of its type */
    uint64_t count;
    uint8_t *bytes; /* as they were at the entry */
    bool *known;
    uint64_t size; /* of what is restored */
    bool constant; /* is there already as it was */
    bool literal; /* a string that is written where it is used */
    bool freed;
    bool on; /* a global: is restored at all */
    Piece *pieces;
    size_t npieces, cap;
    size_t cutting; /* the part that is being cut, plus 1 */
    size_t step; /* the number of its first step */
    unsigned depth; /* pointers between an argument and it; RESTORE_FAR */
};

typedef struct Arg {
    const Param *param;
    const char *text; /* C; of a pointer: NULL, see `ref` */
    uint8_t *bytes;
    size_t size;
    Ref ref;
    bool pointer;
} Arg;

/* A jmp_buf that was set: longjmp() to it leaves the function under test. */
typedef struct Jump {
    size_t item;
    uint64_t offset;
} Jump;

struct Restore {
    Arena arena;
    const Crash *crash;
    const Program *program;
    size_t frame;
    bool revive, revives;
    const Function *function;
    const RestoreWorld *world;
    Vec(Item *) items;
    Map by_object; /* CrashObject * → Item * */
    Map names;
    Map numbers; /* of names that were taken: the last one tried */
    size_t nsteps;
    Arg *args;
    size_t nargs;
    RestoreArg *views;
    Vec(Jump) jumps;
    Vec(const char *) files; /* statements that make a FILE each */
    Map by_file;
    Map unreached; /* variables that the test can't name */
    Strings notes;
    size_t lost_pointers, lost_bytes;
    const Type *inside[8]; /* structs that are being described, one in the other */
    unsigned ninside;
};

/* The part with a name that begins there; NULL: none. */
const Part *restore_part(const Item *it, uint64_t offset);

/* What a pointer to `target` (may be NULL) with this value leads to. Makes the
 * item if it is new. */
Ref restore_ref(Restore *r, uint64_t value, const Type *target, const char *hint);
/* The same for a field of a record in an item, if it points one element before an object. */
bool restore_ref_before(Restore *r, const Item *it, const Type *record, uint64_t at,
                        const Field *field, Ref *out);
/* Is the word at these bytes probably a pointer, whatever its type says? */
bool restore_is_pointer(const Restore *r, uint64_t value);
bool restore_is_pointer_at(const Restore *r, const Item *it, uint64_t at);
bool restore_sees_type(const RestoreWorld *w, const Type *t);

/* restore_piece.c: from bytes to pieces, and to values. */
void restore_pieces(Restore *r, Item *it);
/* A value of any type in a register or a copy: "(struct p){ .x = 1 }". */
/* Is it a jmp_buf? */
bool restore_is_jump_buffer(const Type *t);
/* Finds the jmp_bufs of all items. */
void restore_find_jumps(Restore *r);
const char *restore_literal(Restore *r, const Type *t, const uint8_t *bytes, size_t n);
void restore_ref_text(const Restore *r, Ref ref, const Type *pointer, Str *out);
void restore_type_name(const RestoreWorld *w, const Type *t, const char *name, Str *out);
bool restore_is_char(const Type *t);
#endif
