/*
 * A child process walks one unit and writes what it found as lines:
 *
 *     S node file offset              const can be written here
 *     X node reason                   pinned
 *     F from to                       the value of one goes to the other
 *     P node function file line index parameter of a definition
 *
 * Two functions decide what a piece of an expression is: values() gives the nodes
 * whose pointer an expression holds (p, p + 1, c ? p : q, &p->x, and p->a where
 * a is an array), bases() the nodes through which an lvalue is reached (p for *p,
 * p[i], p->x.y). A store pins the bases of its left side.
 *
 * A *slot* is what can hold a function: a variable, a member, a parameter, or the
 * typedef that they share. Its prototype has nodes like a function's. Where a
 * function goes to a slot, or one slot to another, the nodes of both need const
 * together; where it goes elsewhere, they are pinned.
 */
#include "ast/qualifiers.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"
#include "base/tempdir.h"
#include <clang-c/Index.h>
#include <string.h>
#include <unistd.h>

/* ---- the walk over one unit */

typedef struct Walk {
    Str *out;
    const char *directory;
    CXCursor function;           /* whose body this is */
    Map followed;                /* names of functions whose way is known, and
                                  * addresses of pointers that may become const */
} Walk;

typedef Vec(char *) Names;       /* nodes; each is freed */

typedef Vec(CXCursor) Cursors;

static enum CXChildVisitResult gather(CXCursor c, CXCursor parent, CXClientData data)
{
    Cursors *all = data;
    (void)parent;
    vec_push(all, c);
    return CXChildVisit_Continue;
}

static Cursors children(CXCursor c)
{
    Cursors all = { 0 };
    clang_visitChildren(c, gather, &all);
    return all;
}

static char *text(CXString s)
{
    char *copy = xstrdup(clang_getCString(s) ? clang_getCString(s) : "");
    clang_disposeString(s);
    return copy;
}

/* The file and offset of a place that is written as it stands, perhaps as argument
 * of a macro; NULL: a macro's own text. */
static char *plain_place(Walk *w, CXSourceLocation at, unsigned *offset, unsigned *line)
{
    CXFile file, spelled;
    unsigned other;

    clang_getFileLocation(at, &file, line, NULL, offset);
    clang_getSpellingLocation(at, &spelled, NULL, NULL, &other);
    if (!file || !spelled || !clang_File_isEqual(file, spelled) || other != *offset)
        return NULL;
    char *name = text(clang_getFileName(file));
    char *path = path_in(w->directory, name);
    free(name);
    if (strpbrk(path, "\t\n")) {
        free(path);
        return NULL;
    }
    return path;
}

static bool is_ours(CXCursor c)
{
    return !clang_Location_isInSystemHeader(clang_getCursorLocation(c));
}

static char *param_node(CXCursor fn, unsigned i)
{
    char *usr = text(clang_getCursorUSR(fn));
    char *node = xprintf("%s#%u", usr, i);
    free(usr);
    return node;
}

static char *variable_node(Walk *w, CXCursor decl)
{
    unsigned offset, line;
    char *file = plain_place(w, clang_getCursorLocation(decl), &offset, &line);
    char *node = file ? xprintf("v:%s:%u", file, offset) : NULL;
    free(file);
    return node;
}

static bool is_pointer(CXType t) { return clang_getCanonicalType(t).kind == CXType_Pointer; }

static bool is_array(CXType t)
{
    enum CXTypeKind k = clang_getCanonicalType(t).kind;
    return k == CXType_ConstantArray || k == CXType_IncompleteArray || k == CXType_VariableArray ||
           k == CXType_DependentSizedArray;
}

static CXType target(CXType t)
{
    t = clang_getCanonicalType(t);
    return t.kind == CXType_Pointer ? clang_getPointeeType(t) : clang_getArrayElementType(t);
}

/* A pointer to something that is no function and not const. */
static bool is_open(CXType t)
{
    if (!is_pointer(t) && !is_array(t))
        return false;
    CXType to = target(t);
    return !clang_isConstQualifiedType(to) && to.kind != CXType_FunctionProto &&
           to.kind != CXType_FunctionNoProto;
}

static void pin(Walk *w, const char *node, const char *why)
{
    str_addf(w->out, "X\t%s\t%s\n", node, why);
}

/* Why const can't be written in front of a declaration of this type; or NULL. */
static const char *hidden(CXType t)
{
    if (t.kind == CXType_Elaborated)
        t = clang_Type_getNamedType(t);
    if (t.kind == CXType_Typedef)
        return "the pointer is in a typedef";
    if (t.kind != CXType_Pointer && !is_array(t))
        return "its type is not a plain pointer";
    if (is_array(clang_getPointeeType(t)) && t.kind == CXType_Pointer)
        return "a pointer to arrays";
    return NULL;
}

static CXType plain_type(CXType t)
{
    return t.kind == CXType_Elaborated ? clang_Type_getNamedType(t) : t;
}

/* char **p, char *p[]: const stands behind the inner star. */
static bool is_double(CXType t)
{
    t = plain_type(t);
    if (t.kind == CXType_Pointer)
        return plain_type(clang_getPointeeType(t)).kind == CXType_Pointer;
    return is_array(t) && plain_type(clang_getArrayElementType(t)).kind == CXType_Pointer;
}

/* In front of the last star, or of the name of an array. False: not to be found. */
static bool place_in_declarator(CXCursor decl, CXSourceLocation *at)
{
    CXTranslationUnit tu = clang_Cursor_getTranslationUnit(decl);
    CXToken *tokens;
    unsigned n, offset, name;
    bool found = false, array = is_array(plain_type(clang_getCursorType(decl)));

    clang_getSpellingLocation(clang_getCursorLocation(decl), NULL, NULL, NULL, &name);
    clang_tokenize(tu, clang_getCursorExtent(decl), &tokens, &n);
    for (unsigned i = 0; i < n; i++) {
        char *word = text(clang_getTokenSpelling(tu, tokens[i]));
        CXSourceLocation here = clang_getTokenLocation(tu, tokens[i]);
        clang_getSpellingLocation(here, NULL, NULL, NULL, &offset);
        bool paren = !strcmp(word, "("), is_name = offset == name && strcmp(word, "*");
        if (array ? is_name : !strcmp(word, "*") && offset <= name) {
            *at = here;
            found = true;
        }
        free(word);
        if (paren) {
            found = false;
            break;
        }
    }
    clang_disposeTokens(tu, tokens, n);
    return found;
}

static void declare(Walk *w, CXCursor decl, const char *node)
{
    unsigned offset, line;
    const char *why = hidden(clang_getCursorType(decl));
    CXSourceLocation at = clang_getRangeStart(clang_getCursorExtent(decl));
    if (!why && is_double(clang_getCursorType(decl)) && !place_in_declarator(decl, &at))
        why = "its declarator is not simple";
    char *file = plain_place(w, at, &offset, &line);

    unsigned name_at, name_line;
    char *named = plain_place(w, clang_getCursorLocation(decl), &name_at, &name_line);

    if (why || !file)
        pin(w, node, why ? why : "written by a macro");
    else if (named && name_at == offset && !is_double(clang_getCursorType(decl)))
        ;                        /* the b of `int *a, *b`: a's place is its own */
    else
        str_addf(w->out, "S\t%s\t%s\t%u\n", node, file, offset);
    free(named);
    free(file);
}

static void bases(Walk *w, CXCursor e, Names *out);

static void values(Walk *w, CXCursor e, Names *out);

/* A parameter or a variable. */
static void reference_values(Walk *w, CXCursor e, Names *out)
{
    CXCursor ref = clang_getCursorReferenced(e);
    enum CXCursorKind kind = clang_getCursorKind(ref);

    if (!is_open(clang_getCursorType(ref)))
        return;
    if (kind == CXCursor_ParmDecl) {
        CXCursor fn = clang_getCursorSemanticParent(ref);
        int n = clang_Cursor_getNumArguments(fn);
        for (int i = 0; i < n; i++)
            if (clang_equalCursors(clang_Cursor_getArgument(fn, (unsigned)i), ref))
                vec_push(out, param_node(fn, (unsigned)i));
    } else if (kind == CXCursor_VarDecl && is_pointer(clang_getCursorType(ref))) {
        char *node = variable_node(w, ref);
        if (node)
            vec_push(out, node);
    }
}

static void unary_values(Walk *w, CXCursor e, const Cursors *kids, Names *out)
{
    switch (clang_getCursorUnaryOperatorKind(e)) {
    case CXUnaryOperator_AddrOf: bases(w, kids->items[0], out); break;
    case CXUnaryOperator_Deref:
        if (is_array(clang_getCursorType(e)))
            bases(w, e, out);
        break;
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec:
    case CXUnaryOperator_Extension: values(w, kids->items[0], out); break;
    default: break;
    }
}

static void binary_values(Walk *w, CXCursor e, const Cursors *kids, Names *out)
{
    switch (clang_getCursorBinaryOperatorKind(e)) {
    case CXBinaryOperator_Add:
    case CXBinaryOperator_Sub:
        for (size_t i = 0; is_pointer(clang_getCursorType(e)) && i < kids->len; i++)
            if (is_pointer(clang_getCursorType(kids->items[i])))
                values(w, kids->items[i], out);
        break;
    case CXBinaryOperator_Assign: values(w, kids->items[0], out); break;
    case CXBinaryOperator_Comma: values(w, kids->items[kids->len - 1], out); break;
    default: break;
    }
}

static void values(Walk *w, CXCursor e, Names *out)
{
    Cursors kids = children(e);
    enum CXCursorKind kind = clang_getCursorKind(e);

    switch (kids.len || kind == CXCursor_DeclRefExpr ? kind : CXCursor_NoDeclFound) {
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr: values(w, kids.items[kids.len - 1], out); break;
    case CXCursor_DeclRefExpr: reference_values(w, e, out); break;
    case CXCursor_MemberRefExpr:
    case CXCursor_ArraySubscriptExpr:
        if (is_array(clang_getCursorType(e)))
            bases(w, e, out);
        break;
    case CXCursor_UnaryOperator: unary_values(w, e, &kids, out); break;
    case CXCursor_CompoundAssignOperator: values(w, kids.items[0], out); break;
    case CXCursor_BinaryOperator: binary_values(w, e, &kids, out); break;
    case CXCursor_ConditionalOperator:
        for (size_t i = 1; i < kids.len; i++)
            values(w, kids.items[i], out);
        break;
    default: break;
    }
    vec_release(&kids);
}

static void bases(Walk *w, CXCursor e, Names *out)
{
    Cursors kids = children(e);
    enum CXCursorKind kind = clang_getCursorKind(e);

    if (!kids.len) {
        vec_release(&kids);
        return;
    }
    if (kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr) {
        bases(w, kids.items[kids.len - 1], out);
    } else if (kind == CXCursor_MemberRefExpr) {
        if (is_pointer(clang_getCursorType(kids.items[0])))
            values(w, kids.items[0], out);
        else
            bases(w, kids.items[0], out);
    } else if (kind == CXCursor_ArraySubscriptExpr) {
        for (size_t i = 0; i < kids.len; i++)
            if (is_pointer(clang_getCursorType(kids.items[i])) ||
                is_array(clang_getCursorType(kids.items[i])))
                values(w, kids.items[i], out);
    } else if (kind == CXCursor_UnaryOperator &&
               clang_getCursorUnaryOperatorKind(e) == CXUnaryOperator_Deref) {
        values(w, kids.items[0], out);
    }
    vec_release(&kids);
}

static void release(Names *names)
{
    for (size_t i = 0; i < names->len; i++)
        free(names->items[i]);
    vec_release(names);
}

static void pin_values(Walk *w, CXCursor e, const char *why)
{
    Names from = { 0 };
    values(w, e, &from);
    for (size_t i = 0; i < from.len; i++)
        pin(w, from.items[i], why);
    release(&from);
}

static void pin_bases(Walk *w, CXCursor e, const char *why)
{
    Names from = { 0 };
    bases(w, e, &from);
    for (size_t i = 0; i < from.len; i++)
        pin(w, from.items[i], why);
    release(&from);
}

static void flow(Walk *w, CXCursor e, const char *to)
{
    Names from = { 0 };
    values(w, e, &from);
    for (size_t i = 0; i < from.len; i++)
        if (strcmp(from.items[i], to))
            str_addf(w->out, "F\t%s\t%s\n", from.items[i], to);
    release(&from);
}

static CXCursor peel(CXCursor e)
{
    for (;;) {
        enum CXCursorKind k = clang_getCursorKind(e);
        Cursors kids = children(e);
        bool on = (k == CXCursor_UnexposedExpr || k == CXCursor_ParenExpr) && kids.len;
        if (on)
            e = kids.items[kids.len - 1];
        vec_release(&kids);
        if (!on)
            return e;
    }
}

/* `&p` goes where const T ** is accepted: const on p is just right there. */
static void accept_address(Walk *w, CXCursor e, CXType to)
{
    CXCursor address = peel(e);
    CXType inner = is_pointer(to) ? target(to) : to;
    unsigned hash = clang_hashCursor(address);

    if (clang_getCursorKind(address) == CXCursor_UnaryOperator &&
        clang_getCursorUnaryOperatorKind(address) == CXUnaryOperator_AddrOf && is_pointer(inner) &&
        clang_isConstQualifiedType(target(inner)))
        map_putn(&w->followed, &hash, sizeof hash, w);
}

/* ---- functions in slots */

static bool is_function_pointer(CXType t)
{
    t = clang_getCanonicalType(t);
    while (is_array(t))
        t = clang_getCanonicalType(clang_getArrayElementType(t));
    if (t.kind == CXType_Pointer)
        t = clang_getCanonicalType(clang_getPointeeType(t));
    return t.kind == CXType_FunctionProto;
}

/* The declaration whose text has the prototype; null: there is none. */
static CXCursor slot(CXCursor decl)
{
    CXType t = clang_getCursorKind(decl) == CXCursor_TypedefDecl
                   ? clang_getTypedefDeclUnderlyingType(decl)
                   : clang_getCursorType(decl);

    for (;;) {
        t = plain_type(t);
        if (t.kind == CXType_Typedef)
            return slot(clang_getTypeDeclaration(t));
        if (t.kind == CXType_FunctionProto)
            return decl;
        if (t.kind == CXType_Unexposed)
            return clang_getCanonicalType(t).kind == CXType_FunctionProto ? decl
                                                                          : clang_getNullCursor();
        if (t.kind == CXType_Pointer)
            t = clang_getPointeeType(t);
        else if (is_array(t))
            t = clang_getArrayElementType(t);
        else
            return clang_getNullCursor();
    }
}

static char *slot_name(Walk *w, CXCursor decl)
{
    CXCursor s = slot(decl);
    unsigned offset, line;
    char *file = clang_Cursor_isNull(s) || !is_ours(s)
                     ? NULL
                     : plain_place(w, clang_getCursorLocation(s), &offset, &line);
    char *name = file ? xprintf("slot:%s:%u", file, offset) : NULL;

    free(file);
    return name;
}

/* The prototype of a slot: its parameters are nodes. */
static void declare_slot(Walk *w, CXCursor decl)
{
    CXCursor s = slot(decl);
    char *name = clang_Cursor_isNull(s) || !clang_equalCursors(s, decl) ? NULL : slot_name(w, decl);
    Cursors kids = children(decl);

    for (size_t i = 0, k = 0; name && i < kids.len; i++) {
        if (clang_getCursorKind(kids.items[i]) != CXCursor_ParmDecl)
            continue;
        char *node = xprintf("%s#%zu", name, k++);
        if (is_open(clang_getCursorType(kids.items[i])))
            declare(w, kids.items[i], node);
        free(node);
    }
    vec_release(&kids);
    free(name);
}

/* Where functions can be in an expression: names of functions and slots. False:
 * somewhere that nobody follows. */
static bool holders(Walk *w, CXCursor e, Names *out)
{
    Cursors kids = children(e);
    CXCursor ref = clang_getCursorReferenced(e);
    char *name = NULL;
    bool ok = true;

    switch (clang_getCursorKind(e)) {
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr:
    case CXCursor_UnaryOperator: ok = kids.len && holders(w, kids.items[kids.len - 1], out); break;
    case CXCursor_ConditionalOperator:
        for (size_t i = 1; i < kids.len; i++)
            ok &= holders(w, kids.items[i], out);
        break;
    case CXCursor_ArraySubscriptExpr: ok = kids.len && holders(w, kids.items[0], out); break;
    case CXCursor_IntegerLiteral:
    case CXCursor_GNUNullExpr: break;
    case CXCursor_CStyleCastExpr:
        /* (void *)0 */
        ok = kids.len &&
             clang_getCursorKind(peel(kids.items[kids.len - 1])) == CXCursor_IntegerLiteral;
        break;
    case CXCursor_DeclRefExpr:
    case CXCursor_MemberRefExpr:
        if (clang_getCursorKind(ref) == CXCursor_FunctionDecl) {
            unsigned hash = clang_hashCursor(e);
            map_putn(&w->followed, &hash, sizeof hash, w);
            name = is_ours(ref) ? text(clang_getCursorUSR(ref)) : NULL;
        } else {
            name = slot_name(w, ref);
        }
        ok = name != NULL;
        if (name)
            vec_push(out, name);
        break;
    default: ok = false;
    }
    vec_release(&kids);
    return ok;
}

enum { MOST_PARAMETERS = 16 };

static void pin_holders(Walk *w, const Names *names)
{
    for (size_t i = 0; i < names->len; i++)
        for (unsigned k = 0; k < MOST_PARAMETERS; k++) {
            char *node = xprintf("%s#%u", names->items[i], k);
            pin(w, node, "the function's address goes where nobody follows it");
            free(node);
        }
}

/* All of them are the same from now on. */
static void link_holders(Walk *w, const Names *names)
{
    for (size_t i = 1; i < names->len; i++)
        for (unsigned k = 0; k < MOST_PARAMETERS; k++)
            if (strcmp(names->items[0], names->items[i]))
                str_addf(w->out, "F\t%s#%u\t%s#%u\nF\t%s#%u\t%s#%u\n", names->items[0], k,
                         names->items[i], k, names->items[i], k, names->items[0], k);
}

/* A function, or what holds one, goes to a slot; NULL: to an unknown place. */
static void bind(Walk *w, CXCursor value, char *to)
{
    Names names = { 0 };
    bool ok = holders(w, value, &names) && to;

    if (to)
        vec_push(&names, xstrdup(to));
    if (ok)
        link_holders(w, &names);
    else
        pin_holders(w, &names);
    release(&names);
}

static void bind_to_decl(Walk *w, CXCursor value, CXCursor decl)
{
    char *to = slot_name(w, decl);
    bind(w, value, to);
    free(to);
}

static enum CXVisitorResult add_field(CXCursor c, CXClientData data)
{
    Cursors *fields = data;
    vec_push(fields, c);
    return CXVisit_Continue;
}

/* { .get = f } and { f, g }, as far as members are clear. */
static void bind_members(Walk *w, CXCursor list)
{
    Cursors kids = children(list), fields = { 0 };
    bool in_order = true;

    clang_Type_visitFields(clang_getCanonicalType(clang_getCursorType(list)), add_field, &fields);
    for (size_t i = 0; i < kids.len; i++) {
        CXCursor value = kids.items[i];
        Cursors inner = children(value);
        if (inner.len == 2 && clang_getCursorKind(inner.items[0]) == CXCursor_MemberRef) {
            in_order = false;
            if (is_function_pointer(clang_getCursorType(inner.items[1])))
                bind_to_decl(w, inner.items[1], clang_getCursorReferenced(inner.items[0]));
        } else if (is_function_pointer(clang_getCursorType(value)) &&
                   clang_getCursorKind(value) != CXCursor_InitListExpr) {
            bool fits =
                in_order && i < fields.len &&
                clang_equalTypes(clang_getCanonicalType(clang_getCursorType(value)),
                                 clang_getCanonicalType(clang_getCursorType(fields.items[i])));
            if (fits)
                bind_to_decl(w, value, fields.items[i]);
            else if (fields.len)
                bind(w, value, NULL);
        }
        vec_release(&inner);
    }
    vec_release(&kids);
    vec_release(&fields);
}

/* A variable that holds functions, or a table of them. */
static void bind_variable(Walk *w, CXCursor var, CXCursor init)
{
    Cursors kids = { 0 };

    if (clang_getCursorKind(init) != CXCursor_InitListExpr) {
        bind_to_decl(w, init, var);
        return;
    }
    kids = children(init);
    for (size_t i = 0; i < kids.len; i++)
        bind_to_decl(w, kids.items[i], var);
    vec_release(&kids);
}

/* ---- statements */

/* A local variable of a function, not a global or static of the file. */
static bool is_local(CXCursor var)
{
    CXCursor up = clang_getCursorSemanticParent(var);
    return clang_getCursorKind(up) == CXCursor_FunctionDecl;
}

static void assign(Walk *w, CXCursor lhs, CXCursor rhs)
{
    CXCursor to = peel(lhs), decl = clang_getCursorReferenced(to);
    Names dest = { 0 };

    pin_bases(w, lhs, "written through");
    if (is_function_pointer(clang_getCursorType(lhs))) {
        Names names = { 0 };
        bool known = holders(w, lhs, &names) && names.len == 1;
        bind(w, rhs, known ? names.items[0] : NULL);
        if (!known)
            pin_holders(w, &names);
        release(&names);
    }
    if (!is_open(clang_getCursorType(lhs)))
        return;
    if (clang_getCursorKind(to) == CXCursor_DeclRefExpr &&
        (clang_getCursorKind(decl) == CXCursor_ParmDecl || is_local(decl)))
        values(w, to, &dest);
    if (dest.len)
        flow(w, rhs, dest.items[0]);
    else
        pin_values(w, rhs, "stored where const is not accepted");
    release(&dest);
}

static void pin_function(Walk *w, CXCursor fn)
{
    int n = clang_Cursor_getNumArguments(fn);
    for (int i = 0; i < n; i++) {
        char *node = param_node(fn, (unsigned)i);
        pin(w, node, "the function's address is taken");
        free(node);
    }
}

static void pass(Walk *w, CXCursor call)
{
    CXCursor fn = clang_getCursorReferenced(call);
    bool direct = clang_getCursorKind(fn) == CXCursor_FunctionDecl;
    Cursors kids = children(call);
    CXType type =
        direct ? clang_getCursorType(fn)
        : kids.len
            ? clang_getPointeeType(clang_getCanonicalType(clang_getCursorType(kids.items[0])))
            : clang_getCursorType(call);
    int n = clang_Cursor_getNumArguments(call), have = clang_getNumArgTypes(type);

    Names by = { 0 };
    if (!direct && kids.len && (!holders(w, kids.items[0], &by) || by.len != 1)) {
        pin_holders(w, &by);
        release(&by);
    }
    for (int i = 0; i < n; i++) {
        CXCursor arg = clang_Cursor_getArgument(call, (unsigned)i);
        if (is_function_pointer(clang_getCursorType(arg))) {
            CXCursor parm =
                direct ? clang_Cursor_getArgument(fn, (unsigned)i) : clang_getNullCursor();
            bool known = direct && is_ours(fn) && !clang_Cursor_isNull(parm);
            char *to = known ? slot_name(w, parm) : NULL;
            bind(w, arg, to);
            free(to);
        }
        if (i < have)
            accept_address(w, arg, clang_getArgType(type, (unsigned)i));
        if (i >= have || !is_open(clang_getArgType(type, (unsigned)i)))
            continue;
        char *node = direct && is_ours(fn) ? param_node(fn, (unsigned)i)
                     : by.len              ? xprintf("%s#%d", by.items[0], i)
                                           : NULL;
        if (node)
            flow(w, arg, node);
        else
            pin_values(w, arg,
                       direct ? "passed to a function of the system"
                              : "passed to a function by pointer");
        free(node);
    }
    release(&by);
    vec_release(&kids);
}

static void define_variable(Walk *w, CXCursor var)
{
    CXCursor init = clang_Cursor_getVarDeclInitializer(var);
    CXType type = clang_getCursorType(var);
    bool none = clang_Cursor_isNull(init);

    if (is_function_pointer(type)) {
        declare_slot(w, var);
        if (!none)
            bind_variable(w, var, init);
    }
    if (is_pointer(type) && is_open(type)) {
        char *node = variable_node(w, var);
        if (node && is_local(var)) {
            declare(w, var, node);
            if (!none)
                flow(w, init, node);
        } else if (!none) {
            pin_values(w, init, "stored where const is not accepted");
        }
        if (node && !is_local(var))
            pin(w, node, "a global variable");
        free(node);
    }
}

/* `char *a, *b;` has one place for const. */
static void declarations(Walk *w, CXCursor stmt)
{
    Cursors vars = children(stmt);
    char *first = NULL;

    for (size_t i = 0; vars.len > 1 && i < vars.len; i++) {
        CXType type = clang_getCursorType(vars.items[i]);
        char *node = variable_node(w, vars.items[i]);
        bool open = clang_getCursorKind(vars.items[i]) == CXCursor_VarDecl && is_pointer(type) &&
                    is_open(type) && !is_double(type);
        if (!node || !open) {
            for (size_t k = 0; k < vars.len; k++) {
                char *other = variable_node(w, vars.items[k]);
                if (other)
                    pin(w, other, "declared together with something else");
                free(other);
            }
            free(node);
            break;
        }
        if (!first) {
            first = node;
            continue;
        }
        str_addf(w->out, "F\t%s\t%s\nF\t%s\t%s\n", first, node, node, first);
        unsigned offset, line;
        CXCursor whose = vars.items[0];
        char *file =
            plain_place(w, clang_getRangeStart(clang_getCursorExtent(whose)), &offset, &line);
        if (file)
            str_addf(w->out, "S\t%s\t%s\t%u\n", node, file, offset);
        free(file);
        free(node);
    }
    free(first);
    vec_release(&vars);
}

/* Is the way of this reference, or of this address, known? */
static bool is_followed(const Walk *w, CXCursor c)
{
    unsigned hash = clang_hashCursor(c);
    return map_getn(&w->followed, &hash, sizeof hash) != NULL;
}

/* ++ and -- write; & may give a pointer's own address away. */
static void change_or_address(Walk *w, CXCursor c, CXCursor operand)
{
    switch (clang_getCursorUnaryOperatorKind(c)) {
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec: pin_bases(w, operand, "written through"); break;
    case CXUnaryOperator_AddrOf:
        if (!is_followed(w, c) && clang_getCursorKind(peel(operand)) == CXCursor_DeclRefExpr)
            pin_values(w, operand, "its own address is taken");
        break;
    default: break;
    }
}

static void initialise(Walk *w, CXCursor list, const Cursors *kids)
{
    for (size_t i = 0; i < kids->len; i++)
        if (is_open(clang_getCursorType(kids->items[i])))
            pin_values(w, kids->items[i], "stored where const is not accepted");
    bind_members(w, list);
}

/* What a statement or an expression with these children does by itself. */
static void effect(Walk *w, CXCursor c, const Cursors *kids)
{
    switch ((int)clang_getCursorKind(c)) {
    case CXCursor_DeclStmt: declarations(w, c); break;
    case CXCursor_VarDecl: define_variable(w, c); break;
    case CXCursor_InitListExpr: initialise(w, c, kids); break;
    case CXCursor_BinaryOperator:
        if (clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign && kids->len == 2)
            assign(w, kids->items[0], kids->items[1]);
        break;
    case CXCursor_CompoundAssignOperator:
        if (kids->len)
            pin_bases(w, kids->items[0], "written through");
        break;
    case CXCursor_UnaryOperator:
        if (kids->len)
            change_or_address(w, c, kids->items[0]);
        break;
    case CXCursor_CStyleCastExpr:
        if (kids->len)
            accept_address(w, kids->items[kids->len - 1], clang_getCursorType(c));
        break;
    case CXCursor_ReturnStmt:
        if (kids->len && is_open(clang_getCursorResultType(w->function)))
            pin_values(w, kids->items[0], "returned");
        break;
    case CXCursor_CallExpr: pass(w, c); break;
    case CXCursor_DeclRefExpr: {
        CXCursor ref = clang_getCursorReferenced(c);
        if (clang_getCursorKind(ref) == CXCursor_FunctionDecl && !is_followed(w, c))
            pin_function(w, ref);
        break;
    }
    }
}

static enum CXChildVisitResult statement(CXCursor c, CXCursor parent, CXClientData data)
{
    Walk *w = data;
    Cursors kids = children(c);
    (void)parent;

    effect(w, c, &kids);
    /* the name of who is called takes no address */
    bool named = clang_getCursorKind(c) == CXCursor_CallExpr && kids.len &&
                 clang_getCursorKind(peel(kids.items[0])) == CXCursor_DeclRefExpr;
    for (size_t i = named; i < kids.len; i++)
        statement(kids.items[i], c, data);
    vec_release(&kids);
    return CXChildVisit_Continue;
}

/* ---- functions */

static void function(Walk *w, CXCursor fn)
{
    bool body = clang_isCursorDefinition(fn) != 0;
    int n = clang_Cursor_getNumArguments(fn);
    char *name = text(clang_getCursorSpelling(fn));
    unsigned offset, line;
    char *file = plain_place(w, clang_getCursorLocation(fn), &offset, &line);

    for (int i = 0; i < n; i++) {
        CXCursor parm = clang_Cursor_getArgument(fn, (unsigned)i);
        char *node = param_node(fn, (unsigned)i);
        if (is_function_pointer(clang_getCursorType(parm)))
            declare_slot(w, parm);
        if (is_open(clang_getCursorType(parm))) {
            if (!strcmp(name, "main"))
                pin(w, node, "main() is called from outside");
            declare(w, parm, node);
            if (body && file)
                str_addf(w->out, "P\t%s\t%s\t%s\t%u\t%d\n", node, name, file, line, i);
        }
        free(node);
    }
    free(file);
    free(name);
    if (body) {
        w->function = fn;
        clang_visitChildren(fn, statement, w);
    }
}

static void members(Walk *w, CXCursor record)
{
    Cursors kids = children(record);

    for (size_t i = 0; i < kids.len; i++) {
        enum CXCursorKind k = clang_getCursorKind(kids.items[i]);
        if (k == CXCursor_FieldDecl && is_function_pointer(clang_getCursorType(kids.items[i])))
            declare_slot(w, kids.items[i]);
        else if (k == CXCursor_StructDecl || k == CXCursor_UnionDecl)
            members(w, kids.items[i]);
    }
    vec_release(&kids);
}

static enum CXChildVisitResult top(CXCursor c, CXCursor parent, CXClientData data)
{
    Walk *w = data;
    (void)parent;
    if (!is_ours(c))
        return CXChildVisit_Continue;
    if (clang_getCursorKind(c) == CXCursor_FunctionDecl)
        function(w, c);
    else if (clang_getCursorKind(c) == CXCursor_TypedefDecl)
        declare_slot(w, c);
    else if (clang_getCursorKind(c) == CXCursor_StructDecl ||
             clang_getCursorKind(c) == CXCursor_UnionDecl)
        members(w, c);
    else if (clang_getCursorKind(c) == CXCursor_VarDecl)
        statement(c, parent, w);
    return CXChildVisit_Continue;
}

/* In the child. Lines only if the unit compiles. */
static bool walk(const CompileCommand *cmd, Str *out)
{
    CXIndex index = clang_createIndex(0, 0);
    Vec(const char *) args = { 0 };
    CXTranslationUnit tu = NULL;
    Walk w = { .out = out, .directory = cmd->directory };

    for (size_t i = 0; i < cmd->clang.len; i++)
        vec_push(&args, cmd->clang.items[i]);
    vec_push(&args, "-w");
    if (chdir(cmd->directory) != 0 ||
        clang_parseTranslationUnit2(index, cmd->file, args.items, (int)args.len, NULL, 0,
                                    CXTranslationUnit_None, &tu) != CXError_Success)
        return false;
    for (unsigned i = 0; i < clang_getNumDiagnostics(tu); i++)
        if (clang_getDiagnosticSeverity(clang_getDiagnostic(tu, i)) >= CXDiagnostic_Error)
            return false;
    clang_visitChildren(clang_getTranslationUnitCursor(tu), top, &w);
    return true;
}

/* ---- the graph */

typedef struct Node {
    const char *pinned;          /* why; NULL: it is not */
    bool slot;
    QualifierNodes to;
    Vec(QualifierSite) sites;
    Vec(QualifierParam) params;
} Node;

struct Qualifiers {
    Arena arena;
    Map names;                   /* -> number + 1 */
    Vec(Node) nodes;
    Map lines;                   /* seen: a header is read by many units */
    Map params;                  /* "function\tfile\tline\tindex" -> number + 1 */
    size_t failed;
};

static uint32_t node_of(Qualifiers *q, const char *name)
{
    void **slot = map_slot(&q->names, name);

    if (!*slot) {
        vec_grow(&q->nodes)->slot = str_starts(name, "slot:");
        *slot = (void *)(uintptr_t)q->nodes.len;
    }
    return (uint32_t)((uintptr_t)*slot - 1);
}

static void read_line(Qualifiers *q, char *line)
{
    char *word[6] = { 0 }, *rest = NULL;
    size_t n = 0;

    if (!map_put(&q->lines, line, q))
        return;
    for (char *x = strtok_r(line, "\t", &rest); x && n < 6; x = strtok_r(NULL, "\t", &rest))
        word[n++] = x;
    if (n < 3)
        return;
    uint32_t node = node_of(q, word[1]);
    Node *x = &q->nodes.items[node];
    if (*word[0] == 'X') {
        if (!x->pinned)
            x->pinned = arena_strdup(&q->arena, word[2]);
    } else if (*word[0] == 'F') {
        uint32_t to = node_of(q, word[2]);
        vec_push(&q->nodes.items[node].to, to);
    } else if (*word[0] == 'S' && n == 4) {
        QualifierSite s = { arena_strdup(&q->arena, word[2]),
                            (unsigned)strtoul(word[3], NULL, 10) };
        vec_push(&x->sites, s);
    } else if (*word[0] == 'P' && n == 6) {
        QualifierParam p = { arena_strdup(&q->arena, word[2]), arena_strdup(&q->arena, word[3]),
                             (unsigned)strtoul(word[4], NULL, 10),
                             (unsigned)strtoul(word[5], NULL, 10) };
        vec_push(&x->params, p);
        char *key = xprintf("%s\t%s\t%u\t%u", p.function, p.file, p.line, p.index);
        map_put(&q->params, key, (void *)(uintptr_t)(node + 1));
        free(key);
    }
}

static bool read_unit(Qualifiers *q, const CompileCommand *cmd, const char *path, Err *err)
{
    pid_t pid = proc_fork();

    if (pid < 0)
        return err_set(err, "cannot start a process");
    if (!pid) {
        Str out = { 0 };
        Err no = { 0 };
        alarm(300);
        bool ok = walk(cmd, &out) && file_write(path, str_c(&out), out.len, &no);
        _exit(ok ? 0 : 1);
    }
    ProcResult r = { 0 };
    Str s = { 0 };
    proc_wait(pid, &r);
    if (r.status == 0 && file_read(path, &s, err)) {
        char *rest = NULL;
        str_addc(&s, '\n');
        str_addc(&s, '\0');
        for (char *line = strtok_r(s.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            read_line(q, line);
    } else {
        q->failed++;
    }
    str_release(&s);
    proc_result_release(&r);
    return true;
}

Qualifiers *qualifiers_read(const CompileCommands *commands, const char *root, bool (*stop)(void *),
                            void *arg, Err *err)
{
    Qualifiers *q = xcalloc(1, sizeof *q);
    const char *dir = tempdir_new(NULL, err);
    bool ok = dir != NULL;

    (void)root;
    for (size_t i = 0; ok && i < commands->len && !(stop && stop(arg)); i++) {
        char *path = path_join(dir, "unit");
        ok = read_unit(q, &commands->items[i], path, err);
        free(path);
    }
    if (dir)
        tempdir_remove(dir);
    if (!ok) {
        qualifiers_close(q);
        return NULL;
    }
    return q;
}

void qualifiers_close(Qualifiers *q)
{
    if (!q)
        return;
    for (size_t i = 0; i < q->nodes.len; i++) {
        vec_release(&q->nodes.items[i].to);
        vec_release(&q->nodes.items[i].sites);
        vec_release(&q->nodes.items[i].params);
    }
    vec_release(&q->nodes);
    map_release(&q->names);
    map_release(&q->lines);
    map_release(&q->params);
    arena_release(&q->arena);
    free(q);
}

size_t qualifiers_failed(const Qualifiers *q) { return q->failed; }

uint32_t qualifiers_param(const Qualifiers *q, const char *fn, const char *file, unsigned line,
                          unsigned index)
{
    char *key = xprintf("%s\t%s\t%u\t%u", fn, file, line, index);
    uintptr_t at = (uintptr_t)map_get(&q->params, key);

    free(key);
    return at ? (uint32_t)at - 1 : QUALIFIER_NONE;
}

bool qualifiers_closure(const Qualifiers *q, uint32_t node, QualifierNodes *set, const char **why)
{
    bool *seen = xcalloc(q->nodes.len + 1, sizeof(bool)), ok = true;

    set->len = 0;
    vec_push(set, node);
    seen[node] = true;
    for (size_t i = 0; ok && i < set->len; i++) {
        const Node *x = &q->nodes.items[set->items[i]];
        if (x->pinned || !x->sites.len) {
            *why = x->pinned ? x->pinned : "it is declared where nothing can be changed";
            ok = false;
        }
        for (size_t k = 0; k < x->to.len; k++)
            if (!seen[x->to.items[k]]) {
                seen[x->to.items[k]] = true;
                vec_push(set, x->to.items[k]);
            }
    }
    free(seen);
    return ok;
}

bool qualifiers_is_slot(const Qualifiers *q, uint32_t node) { return q->nodes.items[node].slot; }

const QualifierSite *qualifiers_sites(const Qualifiers *q, uint32_t node, size_t *n)
{
    *n = q->nodes.items[node].sites.len;
    return q->nodes.items[node].sites.items;
}

const QualifierParam *qualifiers_params(const Qualifiers *q, uint32_t node, size_t *n)
{
    *n = q->nodes.items[node].params.len;
    return q->nodes.items[node].params.items;
}
