/*
 * An argument is peeled like an onion until something with a name appears:
 *
 *     (void *)&p->buf[3]
 *       UnexposedExpr   an implicit conversion: its child has the type before
 *       CStyleCastExpr  an explicit one; may begin with a TypeRef child
 *       UnaryOperator   & and * keep the name
 *       ArraySubscript  the array is the first child
 *       MemberRefExpr   "buf", owner "p"
 *
 * Names of constants that macros hide are read from the text: where the
 * expansion of `BUFSZ` stands in the file, the file says "BUFSZ". This needs
 * no record of macro expansions, which would double the time to parse.
 */
#include "ast/parse_int.h"
#include <ctype.h>
#include <string.h>

/* ---- peeling expressions */

static enum CXChildVisitResult gather(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    Children *ch = data;
    if (clang_getCursorKind(c) == CXCursor_TypeRef)
        ch->type_ref = c;
    if (!clang_isExpression(clang_getCursorKind(c)))
        return CXChildVisit_Continue;
    if (ch->n < 2)
        ch->items[ch->n] = c;
    ch->items[2] = c;
    ch->n++;
    return CXChildVisit_Continue;
}

Children ast_children_of(CXCursor c)
{
    Children ch = { .n = 0, .type_ref = clang_getNullCursor() };
    clang_visitChildren(c, gather, &ch);
    return ch;
}

/* Through parentheses and implicit conversions. */
CXCursor ast_peel_implicit(CXCursor c)
{
    for (;;) {
        enum CXCursorKind k = clang_getCursorKind(c);
        if (k != CXCursor_UnexposedExpr && k != CXCursor_ParenExpr)
            return c;
        Children ch = ast_children_of(c);
        if (ch.n != 1)
            return c;
        c = ch.items[0];
    }
}

CXCursor ast_peel_casts(CXCursor c)
{
    for (;;) {
        c = ast_peel_implicit(c);
        if (clang_getCursorKind(c) != CXCursor_CStyleCastExpr)
            return c;
        Children ch = ast_children_of(c);
        if (!ch.n)
            return c;
        c = ch.items[2];
    }
}

CXCursor ast_callee_decl(CXCursor call)
{
    CXCursor decl = clang_getCursorReferenced(call);
    if (!clang_Cursor_isNull(decl))
        return decl;
    /* (*fp)(x), table[i](x): the name is inside */
    CXCursor c = ast_children_of(call).items[0];
    if (ast_children_of(call).n == 0)
        return decl;
    for (int depth = 0; depth < 10; depth++) {
        c = ast_peel_casts(c);
        enum CXCursorKind k = clang_getCursorKind(c);
        if (k == CXCursor_DeclRefExpr || k == CXCursor_MemberRefExpr)
            return clang_getCursorReferenced(c);
        if (k != CXCursor_UnaryOperator && k != CXCursor_ArraySubscriptExpr)
            break;
        Children ch = ast_children_of(c);
        if (!ch.n)
            break;
        c = ch.items[0];
    }
    return clang_getNullCursor();
}

/* Does it begin inside a macro's body? Then the macro's name in the file. */
static const char *macro_at(Parse *p, CXCursor c)
{
    CXSourceLocation at = clang_getCursorLocation(c);
    Spot file = ast_spot(p, at), text = ast_spelled(p, at);
    if (ast_same_place(file.place, text.place))
        return NULL;
    size_t n = ast_word_at(file.source, file.place.offset);
    return n ? ast_textn(p->st, file.source->text + file.place.offset, n) : NULL;
}

typedef struct Lender {
    Parse *p;
    const char *name;
    bool several;
} Lender;

/* The only name inside an expression. */
static enum CXChildVisitResult lend(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    Lender *l = data;
    enum CXCursorKind k = clang_getCursorKind(c);
    if (k == CXCursor_UnaryExpr)
        return CXChildVisit_Continue;
    if (k != CXCursor_DeclRefExpr && k != CXCursor_MemberRefExpr && k != CXCursor_CallExpr)
        return CXChildVisit_Recurse;
    const char *name = ast_take(l->p, clang_getCursorSpelling(c));
    if (!*name || (l->name && l->name != name)) {
        l->several = true;
        return CXChildVisit_Break;
    }
    l->name = name;
    return k == CXCursor_DeclRefExpr ? CXChildVisit_Recurse : CXChildVisit_Continue;
}

static bool is_no_name(const char *macro)
{
    static const char *const words[] = {
        "NULL", "true", "false", "TRUE", "FALSE", "True", "False", "YES", "NO",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(macro, words[i]) == 0)
            return true;
    return false;
}

static void evaluate(CXCursor c, AstArg *a)
{
    CXEvalResult r = clang_Cursor_Evaluate(c);
    if (!r)
        return;
    if (clang_EvalResult_getKind(r) == CXEval_Int) {
        a->has_value = true;
        a->value = clang_EvalResult_getAsLongLong(r);
    }
    clang_EvalResult_dispose(r);
}

static void set_sizeof(Parse *p, CXCursor c, AstArg *a)
{
    Children ch = ast_children_of(c);
    CXSourceRange extent = clang_getCursorExtent(c);
    Spot from = ast_spelled(p, clang_getRangeStart(extent));
    Spot to = ast_spelled(p, clang_getRangeEnd(extent));
    if (ch.n) {
        CXType t = clang_getCursorType(ast_peel_implicit(ch.items[0]));
        if (clang_getCursorKind(ch.items[0]) == CXCursor_ParenExpr)
            t = clang_getCursorType(ch.items[0]);
        a->sizeof_type = ast_type_of(p, t, 0);
    }
    if (!from.source || from.source != to.source || to.place.offset > from.source->size ||
        ast_word_at(from.source, from.place.offset) != 6)
        return;
    const char *s = from.source->text + from.place.offset + 6;
    const char *e = from.source->text + to.place.offset;
    for (; s < e && isspace((unsigned char)*s); s++)
        ;
    if (s < e && *s == '(' && e[-1] == ')')
        s++, e--;
    if (e <= s || e - s > 200)
        return;
    a->sizeof_text = ast_textn(p->st, s, (size_t)(e - s));
    if (!ch.n && !clang_Cursor_isNull(ch.type_ref) && e[-1] != '*')
        a->sizeof_type = ast_type_of(p, clang_getCursorType(ch.type_ref), 0);
    /* sizeof(struct s[3]): the child is the bound, and the type not known */
    if (ch.n && e[-1] == ']' &&
        clang_getCursorKind(ast_peel_implicit(ch.items[0])) != CXCursor_ArraySubscriptExpr)
        a->sizeof_type = NULL;
}

static bool sizeof_of_pointer(const AstArg *a)
{
    if (a->sizeof_type)
        return a->sizeof_type->kind == AST_POINTER;
    size_t n = a->sizeof_text ? strlen(a->sizeof_text) : 0;
    return n && a->sizeof_text[n - 1] == '*';
}

void ast_set_enum(Parse *p, CXType t, AstArg *a)
{
    CXCursor decl = clang_getTypeDeclaration(clang_getCanonicalType(t));
    a->enum_decl = ast_take(p, clang_getCursorUSR(decl));
    a->enum_name = ast_take(p, clang_getTypeSpelling(clang_getCursorType(decl)));
}

/* The name that a declaration lends to an expression. */
static void set_decl(Parse *p, CXCursor c, AstArg *a)
{
    CXCursor decl = clang_getCursorReferenced(c);
    enum CXCursorKind k = clang_getCursorKind(decl);
    a->name = ast_take(p, clang_getCursorSpelling(c));
    a->decl = ast_take(p, clang_getCursorUSR(decl));
    if (k == CXCursor_EnumConstantDecl) {
        a->form = AST_ENUMERATOR;
        a->has_value = true;
        a->value = clang_getEnumConstantDeclValue(decl);
        CXCursor parent = clang_getCursorSemanticParent(decl);
        a->enum_decl = ast_take(p, clang_getCursorUSR(parent));
        a->enum_name = ast_take(p, clang_getTypeSpelling(clang_getCursorType(parent)));
    } else if (k == CXCursor_FunctionDecl) {
        a->form = AST_FUNCTION_NAME;
    } else if (k == CXCursor_ParmDecl ||
               (k == CXCursor_VarDecl && clang_getCursorLinkage(decl) == CXLinkage_NoLinkage)) {
        a->local = true;
    }
    if (k == CXCursor_ParmDecl && p->caller) {
        int n = clang_Cursor_getNumArguments(p->caller_cursor);
        for (int i = 0; i < n; i++)
            if (clang_equalCursors(decl, clang_Cursor_getArgument(p->caller_cursor, (unsigned)i)))
                a->parameter = i;
    }
}

/* What a member belongs to: "q" of q->to, p.q->to and f(q)->to. */
static const char *owner_of(Parse *p, CXCursor member)
{
    CXCursor c = member;
    for (int depth = 0; depth < 10; depth++) {
        Children ch = ast_children_of(c);
        if (!ch.n)
            return NULL;
        c = ast_peel_casts(ch.items[0]);
        enum CXCursorKind k = clang_getCursorKind(c);
        if (k == CXCursor_DeclRefExpr || k == CXCursor_MemberRefExpr || k == CXCursor_CallExpr) {
            const char *name = ast_take(p, clang_getCursorSpelling(c));
            return *name ? name : NULL;
        }
    }
    return NULL;
}

static bool is_boolean_operator(CXCursor c)
{
    enum CXBinaryOperatorKind k = clang_getCursorBinaryOperatorKind(c);
    return (k >= CXBinaryOperator_LT && k <= CXBinaryOperator_NE) || k == CXBinaryOperator_LAnd ||
           k == CXBinaryOperator_LOr;
}

static void set_arithmetic(Parse *p, CXCursor c, AstArg *a)
{
    Lender l = { .p = p };
    clang_visitChildren(c, lend, &l);
    a->form = AST_ARITHMETIC;
    if (l.name && !l.several) {
        a->name = l.name;
        a->lent = true;
    }
}

static void set_call(Parse *p, CXCursor c, AstArg *a)
{
    CXCursor decl = ast_callee_decl(c);
    AstFunction *f = clang_Cursor_isNull(decl) ? NULL : ast_callee_of_decl(p, decl);
    a->form = AST_CALL;
    if (f) {
        a->name = f->name;
        a->called = f->key;
        a->decl = f->usr;
    }
}

static void set_literal(Parse *p, CXCursor c, AstArg *a)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    a->form = AST_LITERAL;
    a->macro = macro_at(p, c);
    a->is_string |= kind == CXCursor_StringLiteral;
    if (kind == CXCursor_CharacterLiteral)
        a->integer = AST_INT_CHARACTER;
    if (!a->is_string)
        evaluate(c, a);
}

/* -x, !x, ~x, x++; without a name in it a constant. */
static void set_unary(Parse *p, CXCursor c, AstArg *a)
{
    if (!ast_children_of(c).n)
        return;
    set_arithmetic(p, c, a);
    if (clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_LNot)
        a->integer = AST_INT_BOOLEAN;
    if (!a->name) {
        a->form = AST_LITERAL;
        a->macro = macro_at(p, c);
        evaluate(c, a);
    }
}

/* x[i], &x and *x are named after the x. */
static bool is_wrapper(CXCursor c)
{
    enum CXUnaryOperatorKind k = clang_getCursorUnaryOperatorKind(c);
    return clang_getCursorKind(c) == CXCursor_ArraySubscriptExpr ||
           (clang_getCursorKind(c) == CXCursor_UnaryOperator &&
            (k == CXUnaryOperator_AddrOf || k == CXUnaryOperator_Deref));
}

/* Of an expression that is no wrapper. */
static void set_form(Parse *p, CXCursor c, AstArg *a)
{
    switch ((int)clang_getCursorKind(c)) {
    case CXCursor_DeclRefExpr:
        a->form = AST_IDENTIFIER;
        set_decl(p, c, a);
        break;
    case CXCursor_MemberRefExpr:
        a->form = AST_MEMBER;
        set_decl(p, c, a);
        a->owner = owner_of(p, c);
        break;
    case CXCursor_UnaryOperator: set_unary(p, c, a); break;
    case CXCursor_CallExpr: set_call(p, c, a); break;
    case CXCursor_UnaryExpr:
        a->form = AST_SIZEOF;
        a->name = ast_text(p->st, "size");
        set_sizeof(p, c, a);
        break;
    case CXCursor_StringLiteral:
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_CharacterLiteral: set_literal(p, c, a); break;
    case CXCursor_BinaryOperator:
        if (is_boolean_operator(c))
            a->integer = AST_INT_BOOLEAN;
        /* fall through */
    case CXCursor_ConditionalOperator:
    case CXCursor_CompoundAssignOperator:
    case CXCursor_UnexposedExpr: set_arithmetic(p, c, a); break;
    default: a->form = AST_OTHER;
    }
}

/* Fills form, name and what belongs to them; `c` has no casts around it. */
void ast_set_name(Parse *p, CXCursor c, AstArg *a)
{
    enum { MOST_WRAPPERS = 50 };
    bool subscript = false;
    c = ast_peel_casts(c);
    for (int depth = 0; is_wrapper(c) && depth < MOST_WRAPPERS; depth++) {
        Children inside = ast_children_of(c);
        if (!inside.n)
            return;
        if (clang_getCursorKind(c) == CXCursor_ArraySubscriptExpr)
            subscript = true;
        else if (clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_AddrOf)
            a->address = true;
        else
            a->deref = true;
        c = ast_peel_casts(inside.items[0]);
    }
    set_form(p, c, a);
    if (subscript && (a->form == AST_IDENTIFIER || a->form == AST_MEMBER))
        a->form = AST_SUBSCRIPT;
}

/* An argument that is written as one macro, `BUFSZ` or `FIELD(p)`. A name that
 * was found inside stays; a constant gets the macro's. */
void ast_set_macro(Parse *p, CXCursor c, AstArg *a, bool call_in_macro)
{
    if (!a->macro && !call_in_macro && a->text &&
        ast_word_at(&(Source){ .text = a->text, .size = strlen(a->text) }, 0)) {
        CXSourceLocation at = clang_getRangeStart(clang_getCursorExtent(c));
        Spot file = ast_spot(p, at), text = ast_spelled(p, at);
        size_t n = ast_word_at(file.source, file.place.offset);
        const char *rest = a->text + n;
        if (!ast_same_place(file.place, text.place) && n && (!*rest || *rest == '('))
            a->macro = ast_textn(p->st, a->text, n);
    }
    if (a->macro && call_in_macro)
        a->macro = NULL;            /* it is the name of the outer macro */
    if (!a->macro)
        return;
    bool constant =
        a->form == AST_LITERAL || a->form == AST_OTHER || (a->form == AST_ARITHMETIC && !a->name);
    if (constant && !is_no_name(a->macro)) {
        a->form = AST_MACRO;
        a->name = a->macro;
    }
}

AstIntKind ast_integer_kind(const AstArg *a)
{
    AstTypeKind k = a->inner->kind;
    if (a->type->kind == AST_POINTER)
        return AST_NOT_INTEGER;
    if (k != AST_BOOL && k != AST_CHARACTER && k != AST_INTEGER && k != AST_ENUM)
        return AST_NOT_INTEGER;
    if (a->form == AST_SIZEOF)
        return sizeof_of_pointer(a) ? AST_INT_SIZEOF_POINTER : AST_INT_SIZEOF;
    if (a->enum_decl)
        return AST_INT_ENUM;
    if (a->macro && is_no_name(a->macro))
        return AST_INT_BOOLEAN;
    if (a->form == AST_MACRO)
        return AST_INT_MACRO;
    if (a->integer)
        return a->integer;
    if (k == AST_BOOL)
        return AST_INT_BOOLEAN;
    if (k == AST_CHARACTER)
        return AST_INT_CHARACTER;
    if (a->form == AST_CALL && a->name && strstr(a->name, "strlen"))
        return AST_INT_STRLEN;
    if (a->form == AST_LITERAL && a->has_value)
        return a->value == 0 ? AST_INT_ZERO : a->value == -1 ? AST_INT_MINUS_ONE : AST_INT_LITERAL;
    return AST_INT_PLAIN;
}

/* ---- text around arguments */

/* The word in a comment that ends before `at` or begins at `at`, if the
 * comment says nothing but one word. */
static const char *comment_word(Parse *p, const char *s, size_t n)
{
    while (n && (isspace((unsigned char)*s) || *s == '*' || *s == '.'))
        s++, n--;
    while (n && (isspace((unsigned char)s[n - 1]) || strchr("*=:.", s[n - 1])))
        n--;
    if (!n || n > 60)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_')
            return NULL;
    return ast_textn(p->st, s, n);
}

static void set_comment(Parse *p, const Source *src, AstArg *a)
{
    size_t at = a->range.begin.offset, end = a->range.end.offset;
    if (!src || at > src->size || end > src->size)
        return;
    while (at && isspace((unsigned char)src->text[at - 1]))
        at--;
    if (at >= 4 && src->text[at - 1] == '/' && src->text[at - 2] == '*') {
        size_t open = at - 2;
        while (open >= 2 && at - open < 80 &&
               !(src->text[open - 1] == '*' && src->text[open - 2] == '/'))
            open--;
        if (open >= 2 && at - open < 80)
            a->comment = comment_word(p, src->text + open, at - 2 - open);
    }
    while (end < src->size && (src->text[end] == ' ' || src->text[end] == '\t'))
        end++;
    if (!a->comment && end + 4 <= src->size && src->text[end] == '/' && src->text[end + 1] == '*') {
        const char *s = src->text + end + 2;
        size_t most = src->size - end - 2, n = 0;
        while (n + 1 < most && n < 80 && !(s[n] == '*' && s[n + 1] == '/'))
            n++;
        if (n + 1 < most && n < 80)
            a->comment = comment_word(p, s, n);
    }
}

void ast_set_range(Parse *p, CXCursor c, AstArg *a)
{
    CXSourceRange extent = clang_getCursorExtent(c);
    CXSourceLocation b = clang_getRangeStart(extent), e = clang_getRangeEnd(extent);
    Spot from = ast_spot(p, b), to = ast_spot(p, e);
    a->range.begin = from.place;
    a->range.end = to.place;
    if (!from.source || from.source != to.source || from.place.offset >= to.place.offset ||
        to.place.offset > from.source->size) {
        a->range.end = a->range.begin;
        a->in_macro = true;
        return;
    }
    size_t n = to.place.offset - from.place.offset;
    a->text = ast_textn(p->st, from.source->text + from.place.offset, n < 200 ? n : 200);
    set_comment(p, from.source, a);
}
