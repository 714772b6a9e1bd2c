/*
 * Which variables a function's entry and exit have, from the types of its
 * parameters. The near ones come first: all parameters, then what they point to,
 * then what that points to, so that a limit cuts off the far ones.
 */
#include "engine/contract/observe_int.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/str.h"
#include <assert.h>
#include <string.h>

enum { MOST_VARS = 48, MOST_FIELDS = 32, MOST_PARTNERS = 2, MOST_ENUM = 64 };
enum { UNIT_OF_TEXTS = INT32_MAX };

/* A place on the walk. */
typedef struct Spot {
    const Type *type;
    char *name, *key;
    Access at;
    VarRole role;
    int param;
    unsigned depth;           /* pointers behind us */
    unsigned place;           /* of units.h */
    unsigned parent;          /* number of the struct that it is in */
    const Type *record;       /* that it is a field of; NULL */
    uint64_t in_record;       /* … at this offset */
    const Variable *variable; /* that it is; NULL */
} Spot;

typedef struct Builder {
    Arena *a;
    const ObservePlan *plan;
    const Function *fn;
    bool is_exit;
    Vec(Spot) queue;
    Vars *vars;
    Places *places;
    Accesses *accesses;
    unsigned parents;
    size_t most;
    uint64_t left_out;
    Vec(size_t) arrays;       /* places in the queue that are arrays */
} Builder;

static char *type_text(Arena *a, const Type *t)
{
    Str s = { 0 };

    type_print(t, NULL, &s);
    char *text = arena_strdup(a, str_c(&s));
    str_release(&s);
    return text;
}

static bool is_integer(const Type *t)
{
    return t->kind == TYPE_ENUM || (t->kind == TYPE_SCALAR && t->encoding != ENCODING_FLOAT &&
                                    t->encoding != ENCODING_COMPLEX &&
                                    t->encoding != ENCODING_OTHER && t->encoding != ENCODING_NONE);
}

static bool is_float(const Type *t)
{
    return t->kind == TYPE_SCALAR && t->encoding == ENCODING_FLOAT && t->size <= 8;
}

static bool is_char(const Type *t)
{
    return t->kind == TYPE_SCALAR && t->size == 1 &&
           (t->encoding == ENCODING_SIGNED_CHAR || t->encoding == ENCODING_UNSIGNED_CHAR) &&
           strcmp(t->name, "char") == 0;
}

/* All its enumerators are single bits. */
static bool is_flags(const Type *t)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < t->nvalues; i++) {
        int64_t x = t->values[i].value;
        if (x < 0 || (x & (x - 1)))
            return false;
        bits += x > 2;
    }
    return bits > 0 && t->nvalues > 2;
}

static void set_values(Builder *b, Var *v, const Type *t)
{
    unsigned n = t->nvalues < MOST_ENUM ? t->nvalues : MOST_ENUM;
    VarValue *values = arena_array(b->a, VarValue, n + 1);

    for (unsigned i = 0; i < n; i++)
        values[i] = (VarValue){ t->values[i].value, t->values[i].name };
    v->values = values;
    v->nvalues = n;
    v->is_flags = is_flags(t);
}

/* What the source puts there. At the exit that is what the function and those that
 * it calls put there, if they do. */
static Put put_of(const Builder *b, const Spot *s, bool *stored)
{
    const Units *u = b->plan->units;
    Put put = { 0 };

    *stored = false;
    if (s->at.base == BASE_PARAM && s->at.nhops == 1 && !s->record)
        return units_put_param(u, b->fn, s->at.index);
    if (s->role == ROLE_RESULT && !s->record)
        return units_put_result(u, b->fn);
    if (s->record && b->is_exit)
        put = units_put_field_in(u, b->fn, s->record, s->in_record);
    *stored = put.any;
    if (s->record)
        return put.any ? put : units_put_field(u, s->record, s->in_record);
    return s->variable ? units_put_variable(u, s->variable) : put;
}

/* Constants have a sign in the program; the variable may have none. */
static int64_t as_seen(const Var *v, int64_t x)
{
    if (v->kind == VAR_INT && v->is_unsigned && x < 0 && v->bits && v->bits < 64)
        return (int64_t)((uint64_t)x & (((uint64_t)1 << v->bits) - 1));
    return v->kind == VAR_INT && v->is_unsigned && x < 0 ? INT64_MAX : x;
}

/* Does a struct have parts that are not looked at? */
static bool has_unseen(const Type *t, unsigned depth)
{
    t = t ? type_plain(t) : NULL;
    if (!t || t->kind != TYPE_STRUCT)
        return t && (t->kind == TYPE_UNION || (t->kind == TYPE_ARRAY && depth > 0));
    if (t->nfields > MOST_FIELDS || t->incomplete)
        return true;
    for (unsigned i = 0; i < t->nfields; i++)
        if (has_unseen(t->fields[i].type, depth + 1))
            return true;
    return false;
}

static void set_puts(const Builder *b, const Spot *s, Var *v)
{
    bool is_null = s->at.base == BASE_PARAM && s->at.nhops == 1 && !s->record;

    if (!b->plan->units)
        return;
    Put put = put_of(b, s, &v->is_stored);
    static_assert((int)VAR_PUTS == (int)PUTS_MOST, "one number of constants");
    v->is_looked_up =
        v->role == ROLE_PARAM || v->role == ROLE_RESULT || s->record || (s->variable && put.any);
    v->is_put = put.any;
    v->is_put_other = put.other;
    v->nputs = put.n;
    for (unsigned i = 0; i < put.n; i++)
        v->puts[i] = as_seen(v, put.constants[i]);
    v->is_always_stored =
        v->is_stored && units_always_puts(b->plan->units, b->fn, s->record, s->in_record);
    v->is_tested = s->record && units_is_tested(b->plan->units, s->place);
    v->is_partial = v->kind == VAR_POINTER && has_unseen(type_plain(s->type)->target, 0);
    v->takes_null =
        is_null && v->kind == VAR_POINTER && units_takes_null(b->plan->units, b->fn, s->at.index);
}

static bool add_var(Builder *b, const Spot *s, Var v, const Access *at)
{
    if (b->vars->len >= b->most) {
        b->left_out++;
        return false;
    }
    assert(b->vars->len == b->accesses->len);
    v.depth = s ? s->depth : 0;
    v.parent = s ? s->parent : 0;
    unsigned place = s && v.kind == VAR_INT && at->look == LOOK_VALUE ? s->place : 0;
    if (at->look == LOOK_LENGTH && b->plan->units)
        place = units_text_length(b->plan->units);
    v.unit = place ? units_of_place(b->plan->units, place) : 0;
    if (at->look == LOOK_LENGTH && b->plan->units && !place)
        v.unit = UNIT_OF_TEXTS;        /* no number of the program measures texts */
    if (s && at->look == LOOK_VALUE && (v.kind == VAR_INT || v.kind == VAR_POINTER))
        set_puts(b, s, &v);
    vec_push(b->places, place);
    vec_push(b->vars, v);
    vec_push(b->accesses, *at);
    return true;
}

static Var var_of(Builder *b, const Spot *s, VarKind kind)
{
    const Type *t = type_plain(s->type);
    Var v = { .name = s->name,
              .key = s->key,
              .type = type_text(b->a, s->type),
              .kind = kind,
              .role = s->role,
              .param = s->param,
              .twin = -1,
              .bits = (unsigned)(t->size <= 8 ? 8 * t->size : 0) };
    if (kind == VAR_INT) {
        v.is_unsigned = t->kind == TYPE_ENUM ? t->nvalues && t->values[0].is_unsigned
                                             : t->encoding == ENCODING_UNSIGNED ||
                                                   t->encoding == ENCODING_UNSIGNED_CHAR ||
                                                   t->encoding == ENCODING_BOOL;
        v.is_bool = t->kind == TYPE_SCALAR && t->encoding == ENCODING_BOOL;
        if (t->kind == TYPE_ENUM)
            set_values(b, &v, t);
    }
    return v;
}

/* Something computed from a place: NAME(place). */
static Var derived(Builder *b, const Spot *s, const char *function, VarKind kind)
{
    Var v = {
        .kind = kind, .role = s->role, .param = s->param, .twin = -1, .bits = 64, .type = "size_t"
    };

    v.name = arena_printf(b->a, "%s(%s)", function, s->name);
    v.key = arena_printf(b->a, "%s(%s)", function, s->key);
    return v;
}

static void add_text(Builder *b, const Spot *s)
{
    Access at = s->at;
    Var v = derived(b, s, "strlen", VAR_INT);

    v.is_unsigned = true;
    at.look = LOOK_LENGTH;
    add_var(b, s, v, &at);
    v = derived(b, s, "", VAR_STRING);
    v.name = s->name;
    v.key = arena_printf(b->a, "text(%s)", s->key);
    at.look = LOOK_TEXT;
    add_var(b, s, v, &at);
    at.look = LOOK_PRINTABLE;
    if (s->depth < 2 && !s->parent)
        add_var(b, s, derived(b, s, "printable", VAR_FACT), &at);
}

static void enqueue(Builder *b, const Spot *s) { vec_push(&b->queue, *s); }

/* A field that no captured code reads or writes says nothing about the program: it
 * is padding, or what the stack of a caller held. */
static bool is_untouched(const Builder *b, const Spot *field, const Field *f)
{
    const Type *t = type_plain(f->type);
    bool leaf = is_integer(t) || is_float(t) || t->kind == TYPE_POINTER;
    const Type *r = field->record;

    return b->plan->units && leaf && *f->name && !f->bit_field && !field->place &&
           r->kind == TYPE_STRUCT && (*r->name || r->alias);
}

/* The fields of a struct that lies at the spot. */
static void add_fields(Builder *b, const Spot *s, const Type *record, const char *separator)
{
    unsigned parent = ++b->parents;

    for (unsigned i = 0; i < record->nfields; i++) {
        const Field *f = &record->fields[i];
        Spot field = *s;
        if (i >= MOST_FIELDS) {
            b->left_out += record->nfields - i;
            return;
        }
        field.type = f->type;
        field.record = record;
        field.in_record = f->offset / 8;
        if (*f->name) {
            field.name = arena_printf(b->a, "%s%s%s", s->name, separator, f->name);
            field.key = arena_printf(b->a, "%s%s%s", s->key, separator, f->name);
        } else {                       /* anonymous: its members are the parent's */
            field.name = s->name;
            field.key = s->key;
        }
        field.at.offset[field.at.nhops - 1] += f->offset / 8;
        if (f->bit_field) {
            field.at.bit = f->offset % 8;
            field.at.width = f->width;
        }
        field.parent = parent;
        field.place =
            b->plan->units && *f->name ? units_field(b->plan->units, record, f->offset / 8) : 0;
        if (is_untouched(b, &field, f))
            continue;
        if (!*f->name && type_is_record(f->type))
            add_fields(b, &field, type_plain(f->type), separator);
        else
            enqueue(b, &field);
    }
}

/* What a pointer leads to. */
static void add_pointed(Builder *b, const Spot *s, const Type *target)
{
    Spot there = *s;

    if (s->at.nhops >= MOST_HOPS || s->depth >= 2)
        return;
    there.at.offset[there.at.nhops++] = 0;
    there.depth = s->depth + 1;
    if (there.role == ROLE_PARAM)
        there.role = ROLE_MEMORY;
    if (there.role == ROLE_RESULT)
        there.role = ROLE_MEMORY;
    there.type = target;
    there.at.type = type_plain(target);
    if (is_char(target)) {
        there.name = s->name;
        there.key = s->key;
        add_text(b, &there);
    } else if (target->kind == TYPE_STRUCT && !str_starts(target->file, "/usr/") &&
               strcmp(target->name, "__va_list_tag") != 0) {
        add_fields(b, &there, target, "->");
    } else if (is_integer(target) || is_float(target) || target->kind == TYPE_POINTER) {
        there.name = arena_printf(b->a, "*%s", s->name);
        there.key = arena_printf(b->a, "*%s", s->key);
        there.place = 0;
        there.at.single = true;
        there.record = NULL;
        there.variable = NULL;
        if (target->kind == TYPE_POINTER)
            there.depth = 2;           /* no further */
        enqueue(b, &there);
        Spot array = there;
        array.at.single = false;
        array.name = s->name;
        array.key = s->key;
        array.record = s->record;
        array.place = s->place;
        vec_push(&b->queue, array);
        vec_push(&b->arrays, b->queue.len - 1);
    }
}

static bool is_array_spot(const Builder *b, size_t i)
{
    for (size_t k = 0; k < b->arrays.len; k++)
        if (b->arrays.items[k] == i)
            return true;
    return false;
}

static void visit(Builder *b, const Spot *s)
{
    const Type *t = type_plain(s->type);
    Access at = s->at;

    at.type = t;
    if (is_integer(t)) {
        add_var(b, s, var_of(b, s, VAR_INT), &at);
    } else if (is_float(t)) {
        add_var(b, s, var_of(b, s, VAR_FLOAT), &at);
    } else if (t->kind == TYPE_POINTER && s->role != ROLE_PARAM &&
               type_plain(t->target)->kind == TYPE_FUNCTION) {
        return;                        /* a table of functions: nothing to tell */
    } else if (t->kind == TYPE_POINTER) {
        if (add_var(b, s, var_of(b, s, VAR_POINTER), &at))
            add_pointed(b, s, type_plain(t->target));
    } else if (t->kind == TYPE_STRUCT) {
        add_fields(b, s, t, ".");
    } else if (t->kind == TYPE_ARRAY && t->count) {
        Spot array = *s;
        array.at.type = type_plain(t->target);
        array.at.count = t->count;
        array.type = t->target;
        if (is_char(array.at.type)) {
            add_text(b, &array);
        } else if (is_integer(array.at.type) || array.at.type->kind == TYPE_POINTER) {
            vec_push(&b->queue, array);
            vec_push(&b->arrays, b->queue.len - 1);
        }
    }
}

/* --- arrays: their size, and what they hold up to a number beside them */

static void add_look(Builder *b, const Spot *s, Look look, int with, VarKind kind, const char *name,
                     const char *key)
{
    Access at = s->at;
    Var v = { .kind = kind,
              .role = s->role,
              .param = s->param,
              .twin = -1,
              .bits = kind == VAR_INT ? (unsigned)(8 * s->at.type->size) : 64,
              .type = kind == VAR_FACT ? "" : type_text(b->a, s->type),
              .name = name,
              .key = key };

    at.look = look;
    at.with = with;
    add_var(b, s, v, &at);
}

/* A number that may say how many elements are in use: in the same struct, or a
 * parameter beside a parameter. */
static bool is_partner(const Builder *b, const Spot *array, size_t v)
{
    const Var *x = &b->vars->items[v];
    const Access *at = &b->accesses->items[v];

    if (x->kind != VAR_INT || x->is_bool || x->nvalues || at->look != LOOK_VALUE || at->width ||
        x->bits < 16 || x->param < 0)
        return false;
    if (b->plan->units && !units_is_index(b->plan->units, array->place, b->places->items[v]))
        return false;
    if (array->record)
        return x->role == ROLE_MEMORY && x->param == array->param &&
               at->nhops + 1 == array->at.nhops + (array->at.count ? 1 : 0) && at->nhops > 1;
    return x->role == ROLE_PARAM && array->at.base == BASE_PARAM;
}

static void add_array(Builder *b, const Spot *s)
{
    const Type *t = s->at.type;
    bool pointers = t->kind == TYPE_POINTER, integers = is_integer(t);
    unsigned partners = 0;
    size_t n = b->vars->len;

    if (!s->at.count) {
        Access at = s->at;
        Var v = derived(b, s, "size", VAR_INT);
        at.look = LOOK_SIZE;
        add_var(b, s, v, &at);
    }
    if (!pointers && !integers)
        return;
    for (size_t i = 0; i < n && partners < MOST_PARTNERS; i++) {
        if (!is_partner(b, s, i))
            continue;
        const char *x = b->vars->items[i].name, *k = b->vars->items[i].key;
        partners++;
        if (!b->plan->units || units_indexes(b->plan->units, s->place, b->places->items[i]))
            add_look(b, s, LOOK_ELEMENT, (int)i, pointers ? VAR_POINTER : VAR_INT,
                     arena_printf(b->a, "%s[%s]", s->name, x),
                     arena_printf(b->a, "%s[%s]", s->key, k));
        if (pointers) {
            add_look(b, s, LOOK_NONNULL, (int)i, VAR_FACT,
                     arena_printf(b->a, "nonnull(%s, %s)", s->name, x),
                     arena_printf(b->a, "nonnull(%s, %s)", s->key, k));
            continue;
        }
        add_look(b, s, LOOK_LEAST, (int)i, VAR_INT, arena_printf(b->a, "least(%s, %s)", s->name, x),
                 arena_printf(b->a, "least(%s, %s)", s->key, k));
        add_look(b, s, LOOK_MOST, (int)i, VAR_INT, arena_printf(b->a, "most(%s, %s)", s->name, x),
                 arena_printf(b->a, "most(%s, %s)", s->key, k));
        add_look(b, s, LOOK_ASCENDING, (int)i, VAR_FACT,
                 arena_printf(b->a, "ascending(%s, %s)", s->name, x),
                 arena_printf(b->a, "ascending(%s, %s)", s->key, k));
        add_look(b, s, LOOK_DISTINCT, (int)i, VAR_FACT,
                 arena_printf(b->a, "distinct(%s, %s)", s->name, x),
                 arena_printf(b->a, "distinct(%s, %s)", s->key, k));
    }
}

static void run(Builder *b)
{
    for (size_t i = 0; i < b->queue.len; i++) {
        Spot s = b->queue.items[i];
        if (!is_array_spot(b, i))
            visit(b, &s);
    }
    for (size_t i = 0; i < b->arrays.len; i++) {
        Spot s = b->queue.items[b->arrays.items[i]];
        add_array(b, &s);
    }
}

/* --- roots */

static const Type *pointed_struct(const Type *t)
{
    const Type *p = t ? type_plain(t) : NULL;
    const Type *to = p && p->kind == TYPE_POINTER ? type_plain(p->target) : NULL;

    return to && to->kind == TYPE_STRUCT && !to->incomplete ? to : NULL;
}

/* How many parameters point to this struct. */
static unsigned count_params(const Function *fn, const Type *record)
{
    unsigned n = 0;

    for (unsigned i = 0; i < fn->nparams; i++)
        n += pointed_struct(fn->params[i].type) == record;
    return n;
}

static char *key_of_param(Arena *a, const Function *fn, unsigned i)
{
    const Type *record = pointed_struct(fn->params[i].type);

    if (record && count_params(fn, record) == 1)
        return arena_printf(a, "(%s)", type_text(a, record));
    return arena_printf(a, "arg%uof%u", i + 1, fn->nparams);
}

static void add_params(Builder *b, const Function *fn)
{
    for (unsigned i = 0; i < fn->nparams; i++) {
        const Param *p = &fn->params[i];
        if (!p->type || !*p->name)
            continue;
        Spot s = { .type = p->type,
                   .name = arena_strdup(b->a, p->name),
                   .key = key_of_param(b->a, fn, i),
                   .role = ROLE_PARAM,
                   .param = (int)i };
        s.at = (Access){ .base = BASE_PARAM, .index = i, .nhops = 1 };
        s.place = b->plan->units ? units_param(b->plan->units, fn, i) : 0;
        enqueue(b, &s);
    }
}

static void add_globals(Builder *b, const Variable *const *globals, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        Spot s = { .type = globals[i]->type,
                   .name = arena_strdup(b->a, globals[i]->name),
                   .key = arena_printf(b->a, "::%s", globals[i]->name),
                   .role = ROLE_GLOBAL,
                   .param = -1,
                   .depth = 1 };
        s.at = (Access){ .base = BASE_VARIABLE, .variable = globals[i], .nhops = 1 };
        s.variable = globals[i];
        s.place = b->plan->units ? units_variable(b->plan->units, globals[i]) : 0;
        enqueue(b, &s);
    }
}

static void add_result(Builder *b, const Function *fn)
{
    const Type *t = fn->returns ? type_plain(fn->returns) : NULL;

    if (!t || t->kind == TYPE_VOID)
        return;
    const Type *record = pointed_struct(fn->returns);
    Spot s = {
        .type = fn->returns, .name = "return", .key = "return", .role = ROLE_RESULT, .param = -1
    };
    s.at = (Access){ .base = BASE_RESULT, .nhops = 1 };
    s.place = b->plan->units ? units_param(b->plan->units, fn, fn->nparams) : 0;
    if (record && !count_params(fn, record))
        s.key = arena_printf(b->a, "(%s)", type_text(b->a, record));
    enqueue(b, &s);
}

static void add_errno(Builder *b)
{
    Var v = { .name = "errno",
              .key = "errno",
              .type = "int",
              .kind = VAR_INT,
              .role = ROLE_ERRNO,
              .param = -1,
              .twin = -1,
              .bits = 32 };
    Access at = { .base = BASE_ERRNO, .nhops = 1 };

    b->most++;
    add_var(b, NULL, v, &at);
}

static void builder_release(Builder *b)
{
    vec_release(&b->queue);
    vec_release(&b->arrays);
}

/* --- a function */

/* The entry's variables once more at the exit: parameters as they are, all else as
 * orig(). Facts about arrays are not worth it. */
static void add_origs(Arena *a, Shape *s)
{
    for (size_t i = 0; i < s->entry.len; i++) {
        Var v = s->entry.items[i];
        if (v.role != ROLE_PARAM) {
            v.name = arena_printf(a, "orig(%s)", v.name);
            v.key = arena_printf(a, "orig(%s)", v.key);
            v.orig = true;
        }
        vec_push(&s->exit, v);
        vec_push(&s->exit_places, s->entry_places.items[i]);
    }
    s->nentry = (unsigned)s->exit.len;
}

static void pair_twins(Shape *s)
{
    for (size_t i = 0; i < s->nentry; i++) {
        if (!s->exit.items[i].orig)
            continue;
        for (size_t k = s->nentry; k < s->exit.len && s->exit.items[i].twin < 0; k++)
            if (s->exit.items[k].twin < 0 && s->exit.items[k].kind == s->entry.items[i].kind &&
                strcmp(s->exit.items[k].name, s->entry.items[i].name) == 0) {
                s->exit.items[i].twin = (int)k;
                s->exit.items[k].twin = (int)i;
            }
    }
}

/* The same walk at the exit; the parameters themselves are as at entry. */
static void build_exit(Builder *b, const Function *fn, Shape *s, const Variable *const *globals,
                       size_t nglobals)
{
    Vars now = { 0 };
    Accesses at = { 0 };
    Places places = { 0 };

    b->vars = &now;
    b->accesses = &at;
    b->places = &places;
    add_params(b, fn);
    add_globals(b, globals, nglobals);
    run(b);
    size_t plain = now.len;
    Builder r = { .a = b->a,
                  .plan = b->plan,
                  .fn = fn,
                  .is_exit = true,
                  .vars = &now,
                  .accesses = &at,
                  .places = &places,
                  .parents = b->parents + 100,
                  .most = now.len + b->most };
    add_result(&r, fn);
    run(&r);
    add_errno(&r);
    builder_release(&r);
    for (size_t i = 0; i < now.len; i++) {
        if (i < plain && now.items[i].role == ROLE_PARAM) {
            now.items[i].kind = VAR_FACT;      /* a number for `with`, no variable */
            now.items[i].name = now.items[i].key = "";
        }
        vec_push(&s->exit, now.items[i]);
        vec_push(&s->exit_at, at.items[i]);
        vec_push(&s->exit_places, places.items[i]);
    }
    vec_release(&places);
    vec_release(&now);
    vec_release(&at);
}

static const char *handle_of(Arena *a, const Function *fn)
{
    for (unsigned i = 0; i < fn->nparams; i++) {
        const Type *record = pointed_struct(fn->params[i].type);
        if (record && count_params(fn, record) == 1)
            return type_text(a, record);
    }
    const Type *record = pointed_struct(fn->returns);
    return record && !count_params(fn, record) ? type_text(a, record) : "";
}

/* What the program brings together, near enough to mean it: of fields far away only
 * those of one struct. */
static void relate(Samples *s, Point *p, const Places *places, const Units *units)
{
    for (unsigned a = 0; a < p->nvars; a++)
        for (unsigned b = a + 1; b < p->nvars; b++) {
            const Var *x = &p->vars[a], *y = &p->vars[b];
            bool far = x->depth > 1 || y->depth > 1;
            if (!places->items[a] || !places->items[b] || (far && x->parent != y->parent))
                continue;
            unsigned u = places->items[a], v = places->items[b];
            int how = units_compared(units, u, v)  ? COMPARED
                      : units_related(units, u, v) ? RELATED
                                                   : NOT_RELATED;
            if (x->role == ROLE_MEMORY && y->role == ROLE_MEMORY && x->parent && y->parent &&
                u != v && units_stored_apart(units, u, v))
                how |= APART;
            if (how)
                point_relate(s, p, a, b, (Relation)how);
        }
}

Shape *shape_new(Arena *a, const Function *fn, const char *name, const ObservePlan *plan,
                 const Variable *const *globals, size_t nglobals, Samples *samples)
{
    Shape *s = arena_new(a, Shape);
    size_t most = plan->most_vars ? plan->most_vars : MOST_VARS;
    Builder entry = { .a = a,
                      .plan = plan,
                      .fn = fn,
                      .vars = &s->entry,
                      .accesses = &s->entry_at,
                      .places = &s->entry_places,
                      .most = most };
    Builder exit = { .a = a, .plan = plan, .fn = fn, .is_exit = true, .most = most };

    s->fn = fn;
    add_params(&entry, fn);
    add_globals(&entry, globals, nglobals);
    run(&entry);
    add_origs(a, s);
    build_exit(&exit, fn, s, globals, nglobals);
    pair_twins(s);
    s->left_out = entry.left_out;
    builder_release(&entry);
    builder_release(&exit);

    FunctionSamples *f = s->f = samples_function(samples, name);
    f->file = arena_strdup(&samples->arena, fn->file);
    f->line = fn->line;
    f->signature = arena_strdup(&samples->arena, fn->signature ? fn->signature : "");
    f->nparams = fn->nparams;
    f->is_public = fn->linkage != LINKAGE_INTERNAL;
    f->handle = arena_strdup(&samples->arena, handle_of(a, fn));
    point_vars(samples, &f->entry, s->entry.items, (unsigned)s->entry.len);
    point_vars(samples, &f->exit, s->exit.items, (unsigned)s->exit.len);
    if (plan->units) {
        relate(samples, &f->entry, &s->entry_places, plan->units);
        relate(samples, &f->exit, &s->exit_places, plan->units);
    }
    return s;
}
