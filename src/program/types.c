/* types - asking and printing them. */
#include "program/types.h"
#include "program/program_int.h"
#include <assert.h>

const char *type_kind_name(TypeKind k)
{
    /* clang-format off */
    static const char *const names[] = {
        [TYPE_VOID] = "void",         [TYPE_SCALAR] = "scalar",
        [TYPE_ENUM] = "enum",         [TYPE_POINTER] = "pointer",
        [TYPE_ARRAY] = "array",       [TYPE_VECTOR] = "vector",
        [TYPE_STRUCT] = "struct",     [TYPE_UNION] = "union",
        [TYPE_TYPEDEF] = "typedef",   [TYPE_QUALIFIED] = "qualified",
        [TYPE_FUNCTION] = "function", [TYPE_UNKNOWN] = "unknown",
    };
    /* clang-format on */
    assert((size_t)k < sizeof names / sizeof *names);
    return names[k];
}

const char *encoding_name(Encoding e)
{
    /* clang-format off */
    static const char *const names[] = {
        [ENCODING_NONE] = "",               [ENCODING_BOOL] = "bool",
        [ENCODING_SIGNED] = "signed",       [ENCODING_UNSIGNED] = "unsigned",
        [ENCODING_SIGNED_CHAR] = "signed char",
        [ENCODING_UNSIGNED_CHAR] = "unsigned char",
        [ENCODING_FLOAT] = "float",         [ENCODING_COMPLEX] = "complex",
        [ENCODING_UTF] = "utf",             [ENCODING_OTHER] = "other",
    };
    /* clang-format on */
    assert((size_t)e < sizeof names / sizeof *names);
    return names[e];
}

/* ---- finding */

/* "struct " for a struct, and so on; "" for what has no tag. */
static const char *tag_word(const Type *t)
{
    switch (t->kind) {
    case TYPE_STRUCT: return "struct ";
    case TYPE_UNION: return "union ";
    case TYPE_ENUM: return "enum ";
    default: return "";
    }
}

typedef Vec(const Type *) TypeList;

static void types_index(Types *ts)
{
    for (size_t i = 0; i < ts->n; i++) {
        const Type *t = ts->all[i];
        assert(t->index == i);
        if (!*t->name)
            continue;
        char *key = xprintf("%s%s", tag_word(t), t->name);
        TypeList **list = (TypeList **)map_slot(&ts->by_name, key);
        if (!*list)
            *list = xcalloc(1, sizeof **list);
        vec_push(*list, t);
        free(key);
    }
    ts->indexed = true;
}

void types_release(Types *ts)
{
    for (size_t i = 0; i < ts->by_name.len; i++) {
        TypeList *list = ts->by_name.entries[i].value;
        vec_release(list);
        free(list);
    }
    map_release(&ts->by_name);
}

const Type *const *types_all(const Types *ts, size_t *n)
{
    *n = ts->n;
    return (const Type *const *)ts->all;
}

const Type *types_find(const Types *ts, const char *name, unsigned nth)
{
    if (!ts->indexed)
        types_index((Types *)ts);
    const TypeList *list = map_get(&ts->by_name, name);
    return list && nth < list->len ? list->items[nth] : NULL;
}

/* ---- asking */

const Type *type_plain(const Type *t)
{
    while (t && (t->kind == TYPE_TYPEDEF || t->kind == TYPE_QUALIFIED))
        t = t->target;
    return t;
}

const Type *type_unqualified(const Type *t)
{
    while (t && t->kind == TYPE_QUALIFIED)
        t = t->target;
    return t;
}

bool type_has_qualifier(const Type *t, Qualifier q)
{
    for (; t && (t->kind == TYPE_TYPEDEF || t->kind == TYPE_QUALIFIED); t = t->target)
        if (t->kind == TYPE_QUALIFIED && t->qualifier == q)
            return true;
    return false;
}

bool type_is_char(const Type *t)
{
    const Type *plain = type_plain(t);
    return plain->kind == TYPE_SCALAR && strcmp(plain->name, "char") == 0;
}

bool type_is_record(const Type *t)
{
    t = type_plain(t);
    return t && (t->kind == TYPE_STRUCT || t->kind == TYPE_UNION);
}

const Type *type_pointed_record(const Type *t, unsigned *levels)
{
    *levels = 0;
    for (t = type_plain(t); t && t->kind == TYPE_POINTER; t = type_plain(t->target))
        ++*levels;
    return *levels && type_is_record(t) ? t : NULL;
}

const Field *type_field_at(const Type *t, uint64_t bit)
{
    const Field *found = NULL;
    t = type_plain(t);
    while (t) {
        const Field *f = NULL;
        if (t->kind == TYPE_ARRAY && t->target->size && found) {
            bit %= t->target->size * 8;
            t = type_plain(t->target);
            continue;
        }
        if (!type_is_record(t))
            break;
        for (unsigned i = 0; i < t->nfields && !f; i++)
            if (bit >= t->fields[i].offset && bit - t->fields[i].offset < t->fields[i].width)
                f = &t->fields[i];
        if (!f)
            break;
        found = f;
        bit -= f->offset;
        t = type_plain(f->type);
    }
    return found;
}

/* ---- printing: C's declarators are read from the name outwards, so the text
 * around the name grows while we walk from the outermost type to the base. */

/* clang-format off */
static const char *const qualifier_words[] = {
    [QUALIFIER_CONST] = "const",       [QUALIFIER_VOLATILE] = "volatile",
    [QUALIFIER_RESTRICT] = "restrict", [QUALIFIER_ATOMIC] = "_Atomic",
};
/* clang-format on */

static void add_qualifiers(unsigned set, Str *out)
{
    for (unsigned q = QUALIFIER_CONST; q <= QUALIFIER_ATOMIC; q++)
        if (set & (1u << q)) {
            str_add(out, qualifier_words[q]);
            str_addc(out, ' ');
        }
}

static void print_base(const Type *t, Str *out)
{
    if (*t->name || t->kind == TYPE_VOID) {
        str_addf(out, "%s%s", tag_word(t), *t->name ? t->name : "void");
    } else if (t->alias) {
        str_add(out, t->alias->name);
    } else if (*tag_word(t)) {
        str_addf(out, "%s{...}", tag_word(t));
    } else {
        str_add(out, "?");
    }
}

static void print_params(const Type *t, Str *out)
{
    str_addc(out, '(');
    for (unsigned i = 0; i < t->nparams; i++) {
        if (i)
            str_add(out, ", ");
        type_print(t->params[i], NULL, out);
    }
    if (t->variadic)
        str_add(out, t->nparams ? ", ..." : "...");
    else if (t->nparams == 0 && t->prototyped)
        str_add(out, "void");
    str_addc(out, ')');
}

/* The declarator so far, with "* const " in front and perhaps in brackets. */
static void wrap_pointer(Str *declarator, unsigned qualifiers, const Type *target)
{
    Str s = { 0 };
    TypeKind k = type_unqualified(target)->kind;
    bool brackets = k == TYPE_ARRAY || k == TYPE_FUNCTION;
    str_add(&s, brackets ? "(*" : "*");
    add_qualifiers(qualifiers, &s);
    if (qualifiers && !declarator->len)
        s.data[--s.len] = 0;
    str_add(&s, str_c(declarator));
    if (brackets)
        str_addc(&s, ')');
    str_release(declarator);
    *declarator = s;
}

void type_print(const Type *t, const char *name, Str *out)
{
    Str declarator = { 0 };
    unsigned qualifiers = 0;
    str_add(&declarator, name ? name : "");
    for (bool done = false; t && !done;) {
        switch (t->kind) {
        case TYPE_QUALIFIED:
            assert(t->qualifier <= QUALIFIER_ATOMIC);
            qualifiers |= 1u << t->qualifier;
            t = t->target;
            break;
        case TYPE_POINTER:
            wrap_pointer(&declarator, qualifiers, t->target);
            qualifiers = 0;
            t = t->target;
            break;
        case TYPE_ARRAY:
            if (t->flexible)
                str_add(&declarator, "[]");
            else if (t->variable)
                str_add(&declarator, "[*]");
            else
                str_addf(&declarator, "[%llu]", (unsigned long long)t->count);
            t = t->target;
            break;
        case TYPE_VECTOR:
            str_addf(&declarator, "%s__attribute__((vector_size(%llu)))", declarator.len ? " " : "",
                     (unsigned long long)t->size);
            t = t->target;
            break;
        case TYPE_FUNCTION:
            print_params(t, &declarator);
            qualifiers = 0;
            t = t->target;
            break;
        default: done = true;
        }
    }
    add_qualifiers(qualifiers, out);
    if (t)
        print_base(t, out);
    if (declarator.len)
        str_addf(out, " %s", str_c(&declarator));
    str_release(&declarator);
}

static void print_members(const Type *t, int depth, Str *out)
{
    for (unsigned i = 0; i < t->nfields; i++) {
        const Field *f = &t->fields[i];
        str_addf(out, "%*s", depth * 4, "");
        bool inside = !*f->type->name && type_is_record(f->type) && f->type->kind != TYPE_TYPEDEF &&
                      !f->type->alias && depth < 20;
        if (inside) {
            str_addf(out, "%s{\n", tag_word(f->type));
            print_members(f->type, depth + 1, out);
            str_addf(out, "%*s}%s%s", depth * 4, "", *f->name ? " " : "", f->name);
        } else {
            type_print(f->type, f->name, out);
        }
        if (f->bit_field)
            str_addf(out, " : %llu", (unsigned long long)f->width);
        str_add(out, ";\n");
    }
}

void type_print_definition(const Type *t, Str *out)
{
    if (t->kind == TYPE_TYPEDEF) {
        str_add(out, "typedef ");
        type_print(t->target, t->name, out);
        str_add(out, ";\n");
        return;
    }
    str_addf(out, "%s%s", tag_word(t), t->name);
    if (!t->incomplete && (type_is_record(t) || t->kind == TYPE_ENUM)) {
        str_add(out, *t->name ? " {\n" : "{\n");
        print_members(t, 1, out);
        for (unsigned i = 0; i < t->nvalues; i++)
            if (t->values[i].is_unsigned)
                str_addf(out, "    %s = %llu,\n", t->values[i].name,
                         (unsigned long long)t->values[i].value);
            else
                str_addf(out, "    %s = %lld,\n", t->values[i].name, (long long)t->values[i].value);
        str_addc(out, '}');
    }
    str_add(out, ";\n");
}
