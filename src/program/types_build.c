/*
 * types_build - from debug nodes to types, each of which stands once.
 *
 * LLVM's linker already merges equal metadata, but not where it runs in
 * circles, and `struct list` in a hundred units is a hundred circles. So equal
 * types are found by refining a partition: at first two nodes are alike if what
 * they say without looking at others is equal (kind, name, size, the members'
 * names and offsets); then, round by round, only if also what they refer to was
 * alike in the round before. When a round splits nothing, what is alike is
 * equal. The classes are kept as 64-bit hashes.
 *
 *     round 0   {list/a.c, list/b.c}  {item/a.c, item/b.c}     by shape
 *     round 1   list/a.c -> item/a.c, list/b.c -> item/b.c     still alike
 *               item/a.c -> int,      item/b.c -> long         split
 *     round 2   … which now splits list, too
 *
 * A declaration without definition (`struct item;`) stands for the definition
 * if all definitions of that name turn out to be one type. That may depend on
 * itself, so it is assumed first; where it proves wrong the work is done again
 * without the assumption for that name.
 *
 * One struct of one header can still come out as several types: it holds a
 * pointer to `struct priv`, and two units each define a struct priv of their own.
 * So structs that stand at the same place and differ only behind pointers to
 * structs of the same name are united; what most units see there is kept.
 */
#include "program/debuginfo.h"
#include "program/program_int.h"

enum {
    TAG_ARRAY = 0x01,
    TAG_CLASS = 0x02,
    TAG_ENUM = 0x04,
    TAG_MEMBER = 0x0d,
    TAG_POINTER = 0x0f,
    TAG_STRUCT = 0x13,
    TAG_TYPEDEF = 0x16,
    TAG_UNION = 0x17,
    TAG_INHERITANCE = 0x1c,
    TAG_CONST = 0x26,
    TAG_FRIEND = 0x2a,
    TAG_VARIABLE = 0x34,
    TAG_VOLATILE = 0x35,
    TAG_RESTRICT = 0x37,
    TAG_ATOMIC = 0x47,
};

#define NO_TYPE ((uint32_t)-1)           /* void, where a child is expected */
enum { MOST_ROUNDS = 200 };

typedef struct Builder {
    DebugInfo *d;
    Arena *arena;
    Vec(NodeId) nodes;          /* the type nodes; the rest counts by position */
    uint32_t *position;         /* NodeId -> position, or NO_TYPE */
    uint32_t *stands_for;       /* position -> position of the definition */
    uint64_t *shape, *now, *next;
    Vec(uint32_t) children;     /* positions */
    size_t *first_child;        /* nodes.len + 1 of them */
    uint32_t *class;            /* position -> position of the first alike */
    Type **type;                /* position -> type, for the first of a class */
    Map arrays;                 /* ArrayKey -> Type */
    Vec(Type *) all;
    Type *void_type;
} Builder;

static uint64_t mix(uint64_t h, uint64_t v)
{
    h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
    h *= 0xff51afd7ed558ccdull;
    return h ^ (h >> 32);
}

static uint64_t mix_text(uint64_t h, const char *s) { return mix(h, hash_bytes(s, strlen(s))); }

/* ---- what nodes are types, and what they refer to */

static unsigned tag_of(const Builder *b, NodeId n)
{
    return (unsigned)debug_op(b->d, n, DERIVED_TAG);
}

static bool is_type(const Builder *b, NodeId n)
{
    switch (debug_code(b->d, n)) {
    case MD_BASIC_TYPE:
    case MD_COMPOSITE_TYPE:
    case MD_SUBROUTINE_TYPE: return true;
    case MD_DERIVED_TYPE:
        switch (tag_of(b, n)) {
        case TAG_MEMBER:
        case TAG_INHERITANCE:
        case TAG_FRIEND:
        case TAG_VARIABLE: return false;
        }
        return true;
    default: return false;
    }
}

static bool is_declaration(const Builder *b, NodeId n)
{
    return debug_code(b->d, n) == MD_COMPOSITE_TYPE &&
           (debug_op(b->d, n, DERIVED_FLAGS) & FLAG_FORWARD);
}

/* The elements of a composite, the types of a function: a list node. */
static unsigned list_len(const Builder *b, NodeId list)
{
    return debug_code(b->d, list) == MD_NODE ? b->d->nodes.items[list].nops : 0;
}

static void add_child(Builder *b, NodeId n)
{
    uint32_t at = NO_TYPE;
    if (n != NO_NODE)
        at = b->position[n];
    vec_push(&b->children, at);
}

static void add_children(Builder *b, NodeId n)
{
    const DebugInfo *d = b->d;
    NodeId list = NO_NODE;
    switch (debug_code(d, n)) {
    case MD_DERIVED_TYPE: add_child(b, debug_ref(d, n, DERIVED_BASE)); break;
    case MD_COMPOSITE_TYPE:
        add_child(b, debug_ref(d, n, DERIVED_BASE));
        list = debug_ref(d, n, COMPOSITE_ELEMENTS);
        for (unsigned i = 0; i < list_len(b, list); i++) {
            NodeId e = debug_ref(d, list, i);
            if (debug_code(d, e) == MD_DERIVED_TYPE && tag_of(b, e) == TAG_MEMBER)
                add_child(b, debug_ref(d, e, DERIVED_BASE));
        }
        break;
    case MD_SUBROUTINE_TYPE:
        list = debug_ref(d, n, SUBROUTINE_TYPES);
        for (unsigned i = 0; i < list_len(b, list); i++)
            add_child(b, debug_ref(d, list, i));
        break;
    default: break;
    }
}

/* ---- array lengths */

typedef struct Length {
    uint64_t count;
    bool flexible, variable;
} Length;

static Length length_of(const Builder *b, NodeId subrange)
{
    const DebugInfo *d = b->d;
    int64_t n;
    NodeId count = debug_ref(d, subrange, SUBRANGE_COUNT);
    NodeId upper = debug_ref(d, subrange, SUBRANGE_UPPER);
    if (count != NO_NODE && debug_constant(d, count, &n))
        return n < 0 ? (Length){ .flexible = true } : (Length){ .count = (uint64_t)n };
    if (count == NO_NODE && upper != NO_NODE && debug_constant(d, upper, &n))
        return (Length){ .count = (uint64_t)n + 1 };
    if (count == NO_NODE && upper == NO_NODE)
        return (Length){ .flexible = true };
    return (Length){ .variable = true };
}

/* ---- shapes: what a node says by itself */

static uint64_t element_shape(const Builder *b, NodeId e)
{
    const DebugInfo *d = b->d;
    uint64_t h = debug_code(d, e);
    switch (debug_code(d, e)) {
    case MD_DERIVED_TYPE:
        h = mix(h, tag_of(b, e));
        h = mix_text(h, debug_text(d, e, DERIVED_NAME));
        h = mix(h, debug_op(d, e, DERIVED_OFFSET));
        h = mix(h, debug_op(d, e, DERIVED_SIZE));
        return mix(h, debug_op(d, e, DERIVED_FLAGS) & FLAG_BIT_FIELD);
    case MD_ENUMERATOR:
        h = mix_text(h, debug_text(d, e, ENUMERATOR_NAME));
        return mix(h, debug_op(d, e, ENUMERATOR_VALUE));
    case MD_SUBRANGE: {
        Length l = length_of(b, e);
        return mix(mix(mix(h, l.count), l.flexible), l.variable);
    }
    default: return h;
    }
}

static uint64_t composite_shape(const Builder *b, NodeId n, uint64_t h)
{
    DebugInfo *d = b->d;
    const char *name = debug_text(d, n, DERIVED_NAME);
    unsigned tag = tag_of(b, n);
    h = mix(h, debug_op(d, n, DERIVED_FLAGS) & (FLAG_FORWARD | FLAG_VECTOR));
    if (!*name && tag != TAG_ARRAY) {
        h = mix_text(h, debug_path(d, debug_ref(d, n, DERIVED_FILE)));
        h = mix(h, debug_op(d, n, DERIVED_LINE));
    }
    NodeId list = debug_ref(d, n, COMPOSITE_ELEMENTS);
    for (unsigned i = 0; i < list_len(b, list); i++)
        h = mix(h, element_shape(b, debug_ref(d, list, i)));
    return h;
}

static uint64_t shape_of(const Builder *b, NodeId n)
{
    const DebugInfo *d = b->d;
    MdCode code = debug_code(d, n);
    uint64_t h = mix(17, code);
    if (code == MD_SUBROUTINE_TYPE)
        return h;
    h = mix(h, debug_op(d, n, DERIVED_TAG));
    h = mix_text(h, debug_text(d, n, DERIVED_NAME));    /* also of basic types */
    if (code == MD_BASIC_TYPE) {
        h = mix(h, debug_op(d, n, BASIC_SIZE));
        return mix(h, debug_op(d, n, BASIC_ENCODING));
    }
    h = mix(h, debug_op(d, n, DERIVED_SIZE));
    h = mix(h, debug_op(d, n, DERIVED_ALIGN));
    return code == MD_COMPOSITE_TYPE ? composite_shape(b, n, h) : h;
}

/* ---- declarations and definitions */

static char *tag_key(const Builder *b, NodeId n)
{
    return xprintf("%u %s", tag_of(b, n), debug_text(b->d, n, DERIVED_NAME));
}

/* Lets each declaration stand for the first definition of its name, but not
 * for names in `unclear`. */
static void assume_definitions(Builder *b, const Map *unclear)
{
    Map definitions = { 0 };
    for (size_t i = 0; i < b->nodes.len; i++) {
        NodeId n = b->nodes.items[i];
        b->stands_for[i] = (uint32_t)i;
        if (debug_code(b->d, n) != MD_COMPOSITE_TYPE || is_declaration(b, n) ||
            !*debug_text(b->d, n, DERIVED_NAME))
            continue;
        char *key = tag_key(b, n);
        void **slot = map_slot(&definitions, key);
        if (!*slot)
            *slot = (void *)(i + 1);
        free(key);
    }
    for (size_t i = 0; i < b->nodes.len; i++) {
        NodeId n = b->nodes.items[i];
        if (!is_declaration(b, n))
            continue;
        char *key = tag_key(b, n);
        size_t found = (size_t)map_get(&definitions, key);
        if (found && !map_has(unclear, key))
            b->stands_for[i] = (uint32_t)(found - 1);
        free(key);
    }
    map_release(&definitions);
}

/* Adds the names whose definitions are not all one type though a declaration
 * stands for one of them. True if there were new ones. */
static bool find_unclear(Builder *b, Map *unclear)
{
    Map declared = { 0 };
    for (size_t i = 0; i < b->nodes.len; i++) {
        if (b->stands_for[i] == i)
            continue;
        char *key = tag_key(b, b->nodes.items[i]);
        map_put(&declared, key, (void *)(size_t)(b->stands_for[i] + 1));
        free(key);
    }
    bool any = false;
    for (size_t i = 0; i < b->nodes.len && declared.len; i++) {
        NodeId n = b->nodes.items[i];
        if (debug_code(b->d, n) != MD_COMPOSITE_TYPE || is_declaration(b, n))
            continue;
        char *key = tag_key(b, n);
        size_t chosen = (size_t)map_get(&declared, key);
        if (chosen && b->now[chosen - 1] != b->now[i])
            any = map_put(unclear, key, NULL) || any;
        free(key);
    }
    map_release(&declared);
    return any;
}

/* ---- refining */

/* How many different values there are; fills `class` if it is not NULL. */
static size_t count_classes(Builder *b, const uint64_t *h, uint32_t *class)
{
    size_t size = 16, n = 0;
    while (size < b->nodes.len * 2)
        size *= 2;
    uint32_t *slots = xcalloc(size, sizeof *slots);
    for (size_t i = 0; i < b->nodes.len; i++) {
        size_t at = h[i] & (size - 1);
        while (slots[at] && h[slots[at] - 1] != h[i])
            at = (at + 1) & (size - 1);
        if (!slots[at]) {
            slots[at] = (uint32_t)i + 1;
            n++;
        }
        if (class)
            class[i] = slots[at] - 1;
    }
    free(slots);
    return n;
}

static void refine_once(Builder *b)
{
    for (size_t i = 0; i < b->nodes.len; i++) {
        size_t as = b->stands_for[i];
        uint64_t h = b->shape[as];
        for (size_t k = b->first_child[as]; k < b->first_child[as + 1]; k++) {
            uint32_t c = b->children.items[k];
            h = mix(h, c == NO_TYPE ? 3 : b->now[c]);
        }
        b->next[i] = h;
    }
    uint64_t *swap = b->now;
    b->now = b->next;
    b->next = swap;
}

static void refine(Builder *b)
{
    for (size_t i = 0; i < b->nodes.len; i++)
        b->now[i] = b->shape[b->stands_for[i]];
    size_t before = 0, classes = count_classes(b, b->now, NULL);
    for (int round = 0; round < MOST_ROUNDS && classes != before; round++) {
        before = classes;
        refine_once(b);
        classes = count_classes(b, b->now, NULL);
    }
}

/* ---- structs of one place */

static bool is_named_record(const Builder *b, NodeId n)
{
    unsigned tag = tag_of(b, n);
    return debug_code(b->d, n) == MD_COMPOSITE_TYPE && (tag == TAG_STRUCT || tag == TAG_UNION) &&
           *debug_text(b->d, n, DERIVED_NAME);
}

/* If a node is a pointer to a struct with a name: a hash of that name; else 0. */
static uint64_t named_pointer(const Builder *b, size_t i)
{
    if (debug_code(b->d, b->nodes.items[i]) != MD_DERIVED_TYPE ||
        tag_of(b, b->nodes.items[i]) != TAG_POINTER)
        return 0;
    uint32_t at = b->children.items[b->first_child[i]];
    for (int step = 0; step < 50 && at != NO_TYPE; step++) {
        NodeId n = b->nodes.items[at];
        if (is_named_record(b, n))
            return mix_text(mix(29, tag_of(b, n)), debug_text(b->d, n, DERIVED_NAME));
        if (debug_code(b->d, n) != MD_DERIVED_TYPE || tag_of(b, n) == TAG_POINTER)
            return 0;
        at = b->children.items[b->first_child[at]];
    }
    return 0;
}

/* Hashes as in refine(), but of pointers to named structs only the name. The
 * caller frees them. */
static uint64_t *loose_hashes(Builder *b)
{
    size_t n = b->nodes.len, before = 0;
    uint64_t *pointer = xcalloc(n + 1, sizeof *pointer);
    uint64_t *now = xcalloc(n + 1, sizeof *now), *next = xcalloc(n + 1, sizeof *next);
    for (size_t i = 0; i < n; i++) {
        pointer[i] = named_pointer(b, i);
        now[i] = b->shape[i];
    }
    size_t classes = count_classes(b, now, NULL);
    for (int round = 0; round < MOST_ROUNDS && classes != before; round++) {
        for (size_t i = 0; i < n; i++) {
            uint64_t h = b->shape[i];
            for (size_t k = b->first_child[i]; k < b->first_child[i + 1]; k++) {
                uint32_t c = b->children.items[k];
                h = mix(h, c == NO_TYPE ? 3 : pointer[c] ? pointer[c] : now[c]);
            }
            next[i] = h;
        }
        uint64_t *swap = now;
        now = next;
        next = swap;
        before = classes;
        classes = count_classes(b, now, NULL);
    }
    free(pointer);
    free(next);
    return now;
}

/* How often each class of a struct at one place is seen. */
typedef struct Variant {
    uint64_t hash;
    uint32_t first;           /* position */
    size_t seen;
} Variant;

typedef Vec(Variant) Variants;

static void count_variant(Variants *v, uint64_t hash, uint32_t position)
{
    for (size_t i = 0; i < v->len; i++)
        if (v->items[i].hash == hash) {
            v->items[i].seen++;
            return;
        }
    vec_push(v, ((Variant){ hash, position, 1 }));
}

static uint32_t most_seen(const Variants *v)
{
    size_t best = 0;
    for (size_t i = 1; i < v->len; i++)
        if (v->items[i].seen > v->items[best].seen)
            best = i;
    return v->items[best].first;
}

/* The place of a struct and what it says, loosely; 0: it has no place. */
static uint64_t place_of(Builder *b, size_t i, const uint64_t *loose)
{
    NodeId n = b->nodes.items[i];
    if (!is_named_record(b, n) || is_declaration(b, n) || !debug_op(b->d, n, DERIVED_LINE))
        return 0;
    uint64_t h = mix(loose[i], debug_op(b->d, n, DERIVED_LINE));
    return mix_text(h, debug_path(b->d, debug_ref(b->d, n, DERIVED_FILE)));
}

/* Lets structs of one place stand for the variant that is seen most. True if
 * any had several. */
static bool unite_places(Builder *b)
{
    size_t n = b->nodes.len;
    uint64_t *loose = loose_hashes(b);
    Map places = { 0 };                   /* hash -> Variants */
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = place_of(b, i, loose);
        if (!key)
            continue;
        Variants **slot = (Variants **)map_slotn(&places, &key, sizeof key);
        if (!*slot)
            *slot = xcalloc(1, sizeof **slot);
        count_variant(*slot, b->now[i], (uint32_t)i);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t key = place_of(b, i, loose);
        Variants *v = key ? map_getn(&places, &key, sizeof key) : NULL;
        if (!v || v->len < 2)
            continue;
        b->stands_for[i] = most_seen(v);
        any = true;
    }
    for (size_t i = 0; i < n; i++)      /* declarations of these, too */
        b->stands_for[i] = b->stands_for[b->stands_for[i]];
    for (size_t i = 0; i < places.len; i++) {
        Variants *v = places.entries[i].value;
        vec_release(v);
        free(v);
    }
    map_release(&places);
    free(loose);
    return any;
}

static void find_equal_types(Builder *b)
{
    Map unclear = { 0 };
    size_t n = b->nodes.len;
    b->shape = xcalloc(n + 1, sizeof *b->shape);
    b->now = xcalloc(n + 1, sizeof *b->now);
    b->next = xcalloc(n + 1, sizeof *b->next);
    b->stands_for = xcalloc(n + 1, sizeof *b->stands_for);
    b->class = xcalloc(n + 1, sizeof *b->class);
    for (size_t i = 0; i < n; i++)
        b->shape[i] = shape_of(b, b->nodes.items[i]);
    do {
        assume_definitions(b, &unclear);
        refine(b);
        if (unite_places(b))
            refine(b);
    } while (find_unclear(b, &unclear));
    count_classes(b, b->now, b->class);
    map_release(&unclear);
}

/* ---- making types */

static Type *new_type(Builder *b, TypeKind kind)
{
    Type *t = arena_new(b->arena, Type);
    t->kind = kind;
    t->name = t->file = "";
    t->index = (unsigned)b->all.len;
    vec_push(&b->all, t);
    return t;
}

/* void for what is no type. */
static Type *type_at(const Builder *b, uint32_t position)
{
    if (position == NO_TYPE)
        return b->void_type;
    return b->type[b->class[b->stands_for[position]]];
}

static Type *type_of_node(const Builder *b, NodeId n)
{
    return n == NO_NODE ? b->void_type : type_at(b, b->position[n]);
}

static Type *base_of(const Builder *b, NodeId n)
{
    return type_of_node(b, debug_ref(b->d, n, DERIVED_BASE));
}

static const char *keep(Builder *b, const char *s) { return *s ? arena_strdup(b->arena, s) : ""; }

static TypeKind kind_of(const Builder *b, NodeId n)
{
    MdCode code = debug_code(b->d, n);
    if (code == MD_BASIC_TYPE)
        return debug_op(b->d, n, BASIC_ENCODING) ? TYPE_SCALAR : TYPE_UNKNOWN;
    if (code == MD_SUBROUTINE_TYPE)
        return TYPE_FUNCTION;
    switch (tag_of(b, n)) {
    case TAG_ARRAY:
        return debug_op(b->d, n, DERIVED_FLAGS) & FLAG_VECTOR ? TYPE_VECTOR : TYPE_ARRAY;
    case TAG_ENUM: return TYPE_ENUM;
    case TAG_POINTER: return TYPE_POINTER;
    case TAG_CLASS:
    case TAG_STRUCT: return TYPE_STRUCT;
    case TAG_UNION: return TYPE_UNION;
    case TAG_TYPEDEF: return TYPE_TYPEDEF;
    case TAG_CONST:
    case TAG_VOLATILE:
    case TAG_RESTRICT:
    case TAG_ATOMIC: return TYPE_QUALIFIED;
    default: return TYPE_UNKNOWN;
    }
}

static Encoding encoding_of(uint64_t dwarf)
{
    static const Encoding known[] = {
        [0x02] = ENCODING_BOOL,          [0x03] = ENCODING_COMPLEX,     [0x04] = ENCODING_FLOAT,
        [0x05] = ENCODING_SIGNED,        [0x06] = ENCODING_SIGNED_CHAR, [0x07] = ENCODING_UNSIGNED,
        [0x08] = ENCODING_UNSIGNED_CHAR, [0x10] = ENCODING_UTF,
    };
    if (dwarf == 0x80)                  /* complex integers, a GNU extension */
        return ENCODING_COMPLEX;
    if (dwarf >= sizeof known / sizeof *known || !known[dwarf])
        return ENCODING_OTHER;
    return known[dwarf];
}

static void fill_scalar(Builder *b, Type *t, NodeId n)
{
    uint64_t dwarf = debug_op(b->d, n, BASIC_ENCODING);
    t->name = keep(b, debug_text(b->d, n, BASIC_NAME));
    t->size = (debug_op(b->d, n, BASIC_SIZE) + 7) / 8;
    t->encoding = encoding_of(dwarf);
    /* clang calls them all "complex" */
    if (dwarf == 0x03)
        t->name = t->size == 8    ? "_Complex float"
                  : t->size == 16 ? "_Complex double"
                                  : "_Complex long double";
    else if (dwarf == 0x80)
        t->name = t->size == 2   ? "_Complex char"
                  : t->size == 4 ? "_Complex short"
                  : t->size == 8 ? "_Complex int"
                                 : "_Complex long";
}

static void fill_fields(Builder *b, Type *t, NodeId list)
{
    const DebugInfo *d = b->d;
    t->fields = arena_array(b->arena, Field, list_len(b, list));
    for (unsigned i = 0; i < list_len(b, list); i++) {
        NodeId e = debug_ref(d, list, i);
        if (debug_code(d, e) != MD_DERIVED_TYPE || tag_of(b, e) != TAG_MEMBER)
            continue;
        Field *f = &t->fields[t->nfields++];
        f->name = keep(b, debug_text(d, e, DERIVED_NAME));
        f->type = base_of(b, e);
        f->offset = debug_op(d, e, DERIVED_OFFSET);
        f->width = debug_op(d, e, DERIVED_SIZE);
        f->bit_field = debug_op(d, e, DERIVED_FLAGS) & FLAG_BIT_FIELD;
        f->line = (unsigned)debug_op(d, e, DERIVED_LINE);
    }
}

static void fill_values(Builder *b, Type *t, NodeId list)
{
    const DebugInfo *d = b->d;
    t->values = arena_array(b->arena, Enumerator, list_len(b, list));
    for (unsigned i = 0; i < list_len(b, list); i++) {
        NodeId e = debug_ref(d, list, i);
        if (debug_code(d, e) != MD_ENUMERATOR)
            continue;
        Enumerator *v = &t->values[t->nvalues++];
        v->name = keep(b, debug_text(d, e, ENUMERATOR_NAME));
        v->is_unsigned = debug_op(d, e, 0) & 2;
        v->value = debug_signed(debug_op(d, e, ENUMERATOR_VALUE));
        uint64_t bits = debug_op(d, e, ENUMERATOR_BITS);
        if (!v->is_unsigned && bits > 0 && bits < 64)
            v->value = (int64_t)((uint64_t)v->value << (64 - bits)) >> (64 - bits);
    }
}

typedef struct ArrayKey {
    uint64_t element, count, kind;
} ArrayKey;

static ArrayKey array_key(const Type *element, TypeKind kind, Length l)
{
    return (ArrayKey){ (uintptr_t)element, l.count, kind * 4u + l.flexible * 2u + l.variable };
}

static void set_array(Type *t, Type *element, Length l)
{
    t->target = element;
    t->count = l.count;
    t->flexible = l.flexible;
    t->variable = l.variable;
}

/* Arrays of one dimension are all known when those of several are made. */
static Type *inner_array(Builder *b, Type *element, TypeKind kind, Length l)
{
    ArrayKey key = array_key(element, kind, l);
    Type *t = map_getn(&b->arrays, &key, sizeof key);
    if (t)
        return t;
    t = new_type(b, kind);
    set_array(t, element, l);
    map_putn(&b->arrays, &key, sizeof key, t);
    return t;
}

/* int a[2][3] is one node with two lengths. */
static void fill_array(Builder *b, Type *t, NodeId n, bool many)
{
    NodeId list = debug_ref(b->d, n, COMPOSITE_ELEMENTS);
    unsigned dimensions = list_len(b, list);
    if ((dimensions > 1) != many)
        return;
    Type *element = base_of(b, n);
    for (unsigned i = dimensions; i > 1; i--)
        element = inner_array(b, element, t->kind, length_of(b, debug_ref(b->d, list, i - 1)));
    Length l = { .flexible = true };
    if (dimensions)
        l = length_of(b, debug_ref(b->d, list, 0));
    set_array(t, element, l);
    ArrayKey key = array_key(element, t->kind, l);
    map_putn(&b->arrays, &key, sizeof key, t);
}

/* types: result, parameters; a last NULL is "…", and alone it is "()". */
static void fill_function(Builder *b, Type *t, NodeId n)
{
    NodeId list = debug_ref(b->d, n, SUBROUTINE_TYPES);
    unsigned len = list_len(b, list);
    t->target = b->void_type;
    t->prototyped = true;
    if (len == 0)
        return;
    t->target = type_of_node(b, debug_ref(b->d, list, 0));
    t->params = arena_array(b->arena, const Type *, len);
    for (unsigned i = 1; i < len; i++) {
        NodeId p = debug_ref(b->d, list, i);
        if (p == NO_NODE && i == 1)
            t->prototyped = false;
        else if (p == NO_NODE)
            t->variadic = true;
        else
            t->params[t->nparams++] = type_of_node(b, p);
    }
}

static Qualifier qualifier_of(unsigned tag)
{
    switch (tag) {
    case TAG_VOLATILE: return QUALIFIER_VOLATILE;
    case TAG_RESTRICT: return QUALIFIER_RESTRICT;
    case TAG_ATOMIC: return QUALIFIER_ATOMIC;
    default: return QUALIFIER_CONST;
    }
}

/* What stands in a function has that, or a block of it, around it; a struct in a
 * struct, that struct. */
static bool is_local(DebugInfo *d, NodeId n)
{
    for (unsigned depth = 0; depth < 32; depth++) {
        NodeId scope = debug_ref(d, n, DERIVED_SCOPE);
        if (scope == NO_NODE)
            return false;
        MdCode code = debug_code(d, scope);
        if (code != MD_COMPOSITE_TYPE)
            return code != MD_FILE && code != MD_COMPILE_UNIT;
        n = scope;
    }
    return false;
}

static void fill(Builder *b, Type *t, NodeId n)
{
    DebugInfo *d = b->d;
    MdCode code = debug_code(d, n);
    if (code == MD_BASIC_TYPE) {
        fill_scalar(b, t, n);
        return;
    }
    if (code == MD_SUBROUTINE_TYPE) {
        fill_function(b, t, n);
        return;
    }
    NodeId list = code == MD_COMPOSITE_TYPE ? debug_ref(d, n, COMPOSITE_ELEMENTS) : NO_NODE;
    t->name = keep(b, debug_text(d, n, DERIVED_NAME));
    t->file = keep(b, debug_path(d, debug_ref(d, n, DERIVED_FILE)));
    t->line = (unsigned)debug_op(d, n, DERIVED_LINE);
    t->size = (debug_op(d, n, DERIVED_SIZE) + 7) / 8;
    t->align = (unsigned)(debug_op(d, n, DERIVED_ALIGN) / 8);
    t->incomplete = is_declaration(b, n);
    t->local = is_local(d, n);
    switch (t->kind) {
    case TYPE_STRUCT:
    case TYPE_UNION: fill_fields(b, t, list); break;
    case TYPE_ENUM:
        t->target = base_of(b, n);
        fill_values(b, t, list);
        break;
    case TYPE_POINTER:
    case TYPE_TYPEDEF: t->target = base_of(b, n); break;
    case TYPE_QUALIFIED:
        t->target = base_of(b, n);
        t->qualifier = qualifier_of(tag_of(b, n));
        break;
    case TYPE_ARRAY:
    case TYPE_VECTOR: fill_array(b, t, n, false); break;
    default: break;
    }
}

/* Sizes that debug information leaves out: of typedefs, qualified types and
 * of the inner arrays. */
static uint64_t settle_size(Type *t, int depth)
{
    if (t->size || depth > 100 || !t->target)
        return t->size;
    uint64_t n = 0;
    switch (t->kind) {
    case TYPE_TYPEDEF:
    case TYPE_QUALIFIED: return t->size = settle_size((Type *)t->target, depth + 1);
    case TYPE_ARRAY:
    case TYPE_VECTOR:
        n = settle_size((Type *)t->target, depth + 1);
        if (n && t->count > UINT64_MAX / n)
            n = 0;
        return t->size = n * t->count;
    default: return t->size;
    }
}

/* ---- circles
 *
 * C's types run in circles only through a pointer to a struct or union. Who
 * prints a type, or looks into a struct, relies on it; bitcode made by hand may
 * differ. Two walks cut what would not end: along the types a declarator is
 * made of, and along what lies in a struct by value. */

enum { NEW, OPEN, DONE, DEEPEST = 1000 };

typedef struct Walk {
    unsigned char *state;     /* by Type.index */
    const Type *instead;
    bool by_value;
    int depth;
} Walk;

static void walk(Walk *w, Type *t);

static void walk_edge(Walk *w, const Type **edge)
{
    Type *to = (Type *)*edge;
    if (!to || w->state[to->index] == DONE)
        return;
    if (w->state[to->index] == OPEN || w->depth > DEEPEST)
        *edge = w->instead;
    else
        walk(w, to);
}

static void walk(Walk *w, Type *t)
{
    bool stop = w->by_value && (t->kind == TYPE_POINTER || t->kind == TYPE_FUNCTION);
    w->state[t->index] = OPEN;
    w->depth++;
    if (!stop)
        walk_edge(w, &t->target);
    for (unsigned i = 0; i < t->nparams && !w->by_value; i++)
        walk_edge(w, &t->params[i]);
    for (unsigned i = 0; i < t->nfields && w->by_value; i++)
        walk_edge(w, &t->fields[i].type);
    w->depth--;
    w->state[t->index] = DONE;
}

static void cut_circles(Builder *b)
{
    Walk w = { .instead = b->void_type };
    for (int by_value = 0; by_value < 2; by_value++) {
        w.by_value = by_value;
        w.state = xcalloc(b->all.len, 1);
        for (size_t i = 0; i < b->all.len; i++)
            if (w.state[i] == NEW)
                walk(&w, b->all.items[i]);
        free(w.state);
    }
}

static void make_types(Builder *b)
{
    size_t n = b->nodes.len;
    b->type = xcalloc(n + 1, sizeof *b->type);
    b->void_type = new_type(b, TYPE_VOID);
    b->void_type->name = "void";
    /* The first of a class may be a declaration that stands for another. */
    for (size_t i = 0; i < n; i++)
        if (b->class[i] == i)
            b->type[i] = new_type(b, kind_of(b, b->nodes.items[b->stands_for[i]]));
    for (size_t i = 0; i < n; i++)
        if (b->class[i] == i)
            fill(b, b->type[i], b->nodes.items[b->stands_for[i]]);
    for (size_t i = 0; i < n; i++)
        if (b->class[i] == i && (b->type[i]->kind == TYPE_ARRAY || b->type[i]->kind == TYPE_VECTOR))
            fill_array(b, b->type[i], b->nodes.items[i], true);
    cut_circles(b);
    for (size_t i = 0; i < b->all.len; i++) {
        Type *t = b->all.items[i];
        settle_size(t, 0);
        if (t->kind == TYPE_TYPEDEF) {
            Type *to = (Type *)t->target;
            if (!*to->name && !to->alias &&
                (to->kind == TYPE_STRUCT || to->kind == TYPE_UNION || to->kind == TYPE_ENUM))
                to->alias = t;
        }
    }
}

void types_build(DebugInfo *d, Arena *a, Types *out, TypeOfNode *of)
{
    Builder b = { .d = d, .arena = a };
    size_t n = d->nodes.len;
    b.position = xcalloc(n + 1, sizeof *b.position);
    for (NodeId i = 0; i < n; i++) {
        b.position[i] = is_type(&b, i) ? (uint32_t)b.nodes.len : NO_TYPE;
        if (b.position[i] != NO_TYPE)
            vec_push(&b.nodes, i);
    }
    b.first_child = xcalloc(b.nodes.len + 1, sizeof *b.first_child);
    for (size_t i = 0; i < b.nodes.len; i++) {
        add_children(&b, b.nodes.items[i]);
        b.first_child[i + 1] = b.children.len;
    }
    find_equal_types(&b);
    make_types(&b);

    out->n = b.all.len;
    out->all = arena_array(a, Type *, b.all.len);
    memcpy(out->all, b.all.items, b.all.len * sizeof *out->all);
    of->void_type = b.void_type;
    of->type = xcalloc(n + 1, sizeof *of->type);
    of->n = n;
    for (NodeId i = 0; i < n; i++)
        if (b.position[i] != NO_TYPE)
            of->type[i] = type_at(&b, b.position[i]);

    free(b.position);
    free(b.stands_for);
    free(b.shape);
    free(b.now);
    free(b.next);
    free(b.class);
    free(b.type);
    free(b.first_child);
    vec_release(&b.nodes);
    vec_release(&b.children);
    vec_release(&b.all);
    map_release(&b.arrays);
}

const Type *type_of_debug(const TypeOfNode *of, uint32_t node)
{
    return node < of->n ? of->type[node] : of->void_type;
}
