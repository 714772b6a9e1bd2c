/*
 * One unit, read with libclang into the tables of an AST index.
 *
 * libclang shows the tree as cursors. Visiting them is slow, so only the
 * bodies of functions in the project's own files are walked; of the rest only
 * the top-level function declarations are looked at, for the names that
 * parameters have there.
 */
#include "base/file.h"
#include "base/sha256.h"
#include "ast/parse_int.h"
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what variables are set to */

static bool is_worth_following(const AstType *t)
{
    if (t->kind == AST_POINTER && t->pointee)
        return t->pointee->kind == AST_VOID || t->pointee->kind == AST_CHARACTER;
    return t->kind == AST_INTEGER;
}

static Variable *variable_of(Parse *p, CXCursor decl)
{
    const void *key = decl.data[0];
    void **slot = map_slotn(&p->variables, &key, sizeof key);
    if (!*slot)
        *slot = arena_new(&p->scratch, Variable);
    return *slot;
}

static void variable_gets(Parse *p, CXCursor decl, CXCursor value)
{
    if (!is_worth_following(ast_type_of(p, clang_getCursorType(decl), 0)))
        return;
    CXCursor c = ast_peel_casts(value);
    enum CXCursorKind k = clang_getCursorKind(c);
    if (k == CXCursor_IntegerLiteral || k == CXCursor_CharacterLiteral)
        return;
    const AstType *t = ast_type_of(p, clang_getCursorType(c), 0);
    if (strstr(t->canonical, "__va_list_tag"))       /* va_arg(): what it gives is not known */
        return;
    Variable *v = variable_of(p, decl);
    ast_add_type(p->st, &v->types, &v->n, t);
}

/* A parameter of type void * or char * that becomes something else. */
static void parameter_becomes(Parse *p, CXCursor value, CXType target)
{
    CXCursor c = ast_peel_casts(value);
    if (clang_getCursorKind(c) != CXCursor_DeclRefExpr)
        return;
    CXCursor decl = clang_getCursorReferenced(c);
    if (clang_getCursorKind(decl) != CXCursor_ParmDecl)
        return;
    const AstType *from = ast_type_of(p, clang_getCursorType(decl), 0);
    const AstType *to = ast_type_of(p, target, 0);
    if (from->kind != AST_POINTER || to->kind != AST_POINTER || !is_worth_following(from) ||
        to->pointee->plain == from->pointee->plain || to->pointee->kind == AST_VOID)
        return;
    int n = clang_Cursor_getNumArguments(p->caller_cursor);
    for (int i = 0; i < n && (size_t)i < p->caller->nparams; i++) {
        if (!clang_equalCursors(decl, clang_Cursor_getArgument(p->caller_cursor, (unsigned)i)))
            continue;
        AstParam *param = &p->caller->params[i];
        ast_add_type(p->st, &param->becomes, &param->nbecomes, to);
    }
}

/* ---- calls */

static void read_arg(Parse *p, CXCursor c, const AstCall *call, AstArg *a)
{
    CXCursor bare = ast_peel_implicit(c), inner = ast_peel_casts(c);
    a->parameter = -1;
    a->passed = ast_type_of(p, clang_getCursorType(c), 0);
    a->type = ast_type_of(p, clang_getCursorType(bare), 0);
    a->inner = ast_type_of(p, clang_getCursorType(inner), 0);
    a->cast = clang_getCursorKind(bare) == CXCursor_CStyleCastExpr;
    ast_set_range(p, c, a);
    if (ast_same_place(a->range.begin, call->place) && call->in_macro) {
        a->in_macro = true;
        a->text = NULL;
    }
    ast_set_name(p, inner, a);
    ast_set_macro(p, c, a, call->in_macro && a->in_macro);
    if (!a->enum_decl && a->inner->kind == AST_ENUM)
        ast_set_enum(p, clang_getCursorType(inner), a);
    a->integer = ast_integer_kind(a);
}

static void read_call(Parse *p, CXCursor c)
{
    CXCursor decl = ast_callee_decl(c);
    if (clang_Cursor_isNull(decl))
        return;
    AstFunction *callee = ast_callee_of_decl(p, decl);
    int n = clang_Cursor_getNumArguments(c);
    if (!callee || n < 0)
        return;
    CXSourceRange extent = clang_getCursorExtent(c);
    CXSourceLocation at = clang_getRangeStart(extent);
    Spot where = ast_spot(p, at), text = ast_spelled(p, at);
    if (!where.source || !text.source)
        return;
    AstCall call = { .callee = callee,
                     .caller = p->caller,
                     .place = where.place,
                     .spelling = text.place,
                     .nargs = (size_t)n };
    call.in_macro = !ast_same_place(where.place, text.place);
    call.end_offset = ast_spot(p, clang_getRangeEnd(extent)).place.offset;
    call.args = arena_array(&p->scratch, AstArg, (size_t)n);
    for (int i = 0; i < n; i++) {
        CXCursor arg = clang_Cursor_getArgument(c, (unsigned)i);
        read_arg(p, arg, &call, &call.args[i]);
        CXCursor inner = ast_peel_casts(arg);
        if (!call.args[i].local || call.args[i].form != AST_IDENTIFIER ||
            clang_getCursorKind(inner) != CXCursor_DeclRefExpr)
            continue;
        Variable *v = variable_of(p, clang_getCursorReferenced(inner));
        Use use = { p->calls.len, (size_t)i };
        vec_push(&v->uses, use);
    }
    vec_push(&p->calls, call);
}

static enum CXChildVisitResult body(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    Parse *p = data;
    Children ch;
    switch ((int)clang_getCursorKind(c)) {
    case CXCursor_CallExpr: read_call(p, c); break;
    case CXCursor_VarDecl: {
        CXCursor init = clang_Cursor_getVarDeclInitializer(c);
        if (!clang_Cursor_isNull(init)) {
            variable_gets(p, c, init);
            parameter_becomes(p, init, clang_getCursorType(c));
        }
        break;
    }
    case CXCursor_BinaryOperator:
        if (clang_getCursorBinaryOperatorKind(c) != CXBinaryOperator_Assign)
            break;
        ch = ast_children_of(c);
        if (ch.n != 2)
            break;
        parameter_becomes(p, ch.items[1], clang_getCursorType(c));
        if (clang_getCursorKind(ch.items[0]) == CXCursor_DeclRefExpr)
            variable_gets(p, clang_getCursorReferenced(ch.items[0]), ch.items[1]);
        break;
    case CXCursor_CStyleCastExpr: parameter_becomes(p, c, clang_getCursorType(c)); break;
    }
    return CXChildVisit_Recurse;
}

static void end_function(Parse *p)
{
    for (size_t i = 0; i < p->variables.len; i++) {
        Variable *v = p->variables.entries[i].value;
        for (size_t k = 0; k < v->uses.len; k++) {
            AstArg *a = &p->calls.items[v->uses.items[k].call].args[v->uses.items[k].arg];
            a->sources = v->types;
            a->nsources = v->n;
        }
        vec_release(&v->uses);
    }
    for (size_t i = 0; i < p->calls.len; i++)
        ast_add_call(p->st, &p->calls.items[i]);
    map_release(&p->variables);
    p->calls.len = 0;
}

static void read_function(Parse *p, CXCursor fn)
{
    p->caller = ast_function_of(p, fn);
    p->caller_cursor = fn;
    clang_visitChildren(fn, body, p);
    end_function(p);
}

/* First all declarations, so that each function knows all its names. */
static enum CXChildVisitResult declaration(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    Parse *p = data;
    if (clang_getCursorKind(c) == CXCursor_FunctionDecl)
        vec_push(&ast_cursors_of(p, c)->decls, c);
    return CXChildVisit_Continue;
}

static void read_unit(Parse *p)
{
    clang_visitChildren(clang_getTranslationUnitCursor(p->tu), declaration, p);
    for (size_t i = 0; i < p->functions.len; i++) {
        FunctionCursors *fc = p->functions.entries[i].value;
        for (size_t k = 0; k < fc->decls.len; k++) {
            CXCursor c = fc->decls.items[k];
            if (clang_isCursorDefinition(c) && ast_home_of(p, c) == AST_PROJECT)
                read_function(p, c);
        }
    }
}

/* ---- the unit as a whole */

/* Units share headers: each is hashed once by a worker. */
static void set_id(Parse *p, AstInput *in, const char *content, size_t size)
{
    char *key = xprintf("%s|%lld", in->path, (long long)in->mtime);
    void **slot = map_slot(p->ids, key);
    free(key);
    if (!*slot) {
        sha256_id(content, size, in->id);
        *slot = xstrdup(in->id);
    }
    strcpy(in->id, *slot);
}

/* A file of the system is known by its size and time alone: hashing all of
 * them would take as long as parsing. */
static void included(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data)
{
    (void)stack, (void)depth;
    Parse *p = data;
    struct stat sb;
    size_t size = 0;
    CXString name = clang_getFileName(file);
    char *path = path_in(p->directory, clang_getCString(name));
    clang_disposeString(name);
    const char *content = clang_getFileContents(p->tu, file, &size);
    if (content && stat(path, &sb) == 0 && S_ISREG(sb.st_mode)) {
        AstInput *in = vec_grow(&p->st->inputs);
        in->path = ast_text(p->st, path);
        in->size = sb.st_size;
        in->mtime = sb.st_mtim.tv_sec * 1000000000LL + sb.st_mtim.tv_nsec;
        if (!ast_below(path, "/usr"))
            set_id(p, in, content, size);
    }
    free(path);
}

/* The first real error, as one line; NULL: it compiled. */
static const char *first_error(Parse *p)
{
    unsigned n = clang_getNumDiagnostics(p->tu);
    const char *said = NULL;
    for (unsigned i = 0; i < n && !said; i++) {
        CXDiagnostic d = clang_getDiagnostic(p->tu, i);
        if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
            Spot at = ast_spot(p, clang_getDiagnosticLocation(d));
            CXString s = clang_getDiagnosticSpelling(d);
            char *line = at.place.file ? xprintf("%s:%u: %s", path_base(at.place.file->path),
                                                 at.place.line, clang_getCString(s))
                                       : xstrdup(clang_getCString(s));
            said = ast_text(p->st, line);
            free(line);
            clang_disposeString(s);
        }
        clang_disposeDiagnostic(d);
    }
    return said;
}

/* What gcc takes with a warning, and old code is full of. */
static const char *const lenient[] = {
    "-w",
    "-ferror-limit=1",
    "-fno-spell-checking",
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-function-pointer-types",
    "-Wno-error=return-type",
    "-Wno-error=incompatible-pointer-types",
    /* isdigit() is a call, not glibc's macro; so is curl_easy_setopt() */
    "-D__NO_CTYPE",
    "-DCURL_DISABLE_TYPECHECK",
};

bool ast_parse(AstStore *st, const CompileCommand *cmd, const char *root, Map *ids, Err *err)
{
    Vec(const char *) argv = { 0 };
    for (size_t i = 0; i < cmd->clang.len; i++)
        vec_push(&argv, cmd->clang.items[i]);
    for (size_t i = 0; i < sizeof lenient / sizeof *lenient; i++)
        vec_push(&argv, lenient[i]);
    Parse p = { .st = st, .directory = cmd->directory, .root = root, .ids = ids };
    CXIndex index = clang_createIndex(1, 0);
    enum CXErrorCode code =
        clang_parseTranslationUnit2(index, cmd->file, argv.items, (int)argv.len, NULL, 0,
                                    CXTranslationUnit_KeepGoing, &p.tu);
    vec_release(&argv);
    if (code != CXError_Success || !p.tu) {
        clang_disposeIndex(index);
        return err_set(err, code == CXError_Crashed ? "the parser crashed" : "could not be parsed");
    }
    clang_getInclusions(p.tu, included, &p);
    st->error = first_error(&p);
    if (!st->error)
        read_unit(&p);
    for (size_t i = 0; i < p.functions.len; i++)
        vec_release(&((FunctionCursors *)p.functions.entries[i].value)->decls);
    map_release(&p.sources);
    map_release(&p.types);
    map_release(&p.functions);
    vec_release(&p.calls);
    arena_release(&p.scratch);
    clang_disposeTranslationUnit(p.tu);
    clang_disposeIndex(index);
    return true;
}
