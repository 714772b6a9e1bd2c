/*
 * describe - what debug information adds to functions and variables: source
 * names, places, types, parameters.
 *
 * Parameters. The source has `f(struct pair p, int n)`, the IR may have
 * f(i64, i64, i32), f(ptr byval, i32) or f(i128, i32): the ABI decides. The two
 * lists are walked side by side. A scalar takes one IR argument; a struct by
 * value (and what else is wider than a register: complex numbers, __int128,
 * vectors) takes one pointer (byval, or above two words on machines that pass a
 * pointer to a copy), or as many arguments as are needed to cover it in pieces
 * of a word, or none if it is empty. If the lists do not come out even, all
 * parameters of that function are PASSED_UNKNOWN rather than wrong.
 */
#include "base/file.h"
#include "program/debuginfo.h"
#include "program/program_int.h"
#include <assert.h>
#include <ctype.h>
#include <llvm-c/Target.h>

typedef struct Describer {
    DebugInfo *d;
    const TypeOfNode *of;
    Arena *arena;
    LLVMTargetDataRef layout;
    unsigned word;            /* bytes of a register: the size of a pointer */
    unsigned byval;           /* attribute kind */
    Map sources;              /* path -> Source */
} Describer;

/* ---- columns: debug information has lines only, so the name is looked up in
 * the source, if it is there and fits. */

typedef struct Source {
    Str text;
    Vec(size_t) lines;        /* offsets */
} Source;

static Source *source_of(Describer *s, const char *path)
{
    Source **slot = (Source **)map_slot(&s->sources, path);
    if (*slot)
        return *slot;
    Source *src = *slot = xcalloc(1, sizeof *src);
    if (!file_is_regular(path) || file_size(path) > 64 << 20 || !file_read(path, &src->text, NULL))
        return src;
    vec_push(&src->lines, 0);
    for (size_t i = 0; i < src->text.len; i++)
        if (src->text.data[i] == '\n')
            vec_push(&src->lines, i + 1);
    return src;
}

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static bool is_word_at(const char *t, size_t i, size_t len, size_t begin, size_t end)
{
    return (i == begin || !in_word(t[i - 1])) && (i + len == end || !in_word(t[i + len]));
}

/* The column of `name` as a word in that line: where a "(" follows, as in
 * `struct list *list(void)`, else the first; 0: it is not there. */
static unsigned column_of(Describer *s, const char *path, unsigned line, const char *name)
{
    size_t len = strlen(name);
    Source *src = *path ? source_of(s, path) : NULL;
    if (!src || line == 0 || line > src->lines.len || len == 0)
        return 0;
    size_t begin = src->lines.items[line - 1];
    size_t end = line < src->lines.len ? src->lines.items[line] : src->text.len;
    const char *t = src->text.data;
    unsigned first = 0;
    for (size_t i = begin; i + len <= end; i++) {
        if (memcmp(t + i, name, len) != 0 || !is_word_at(t, i, len, begin, end))
            continue;
        unsigned column = (unsigned)(i - begin + 1);
        size_t next = i + len;
        while (next < end && (t[next] == ' ' || t[next] == '\t' || t[next] == ')'))
            next++;
        if (next < end && t[next] == '(')
            return column;
        first = first ? first : column;
    }
    return first;
}

static void release_sources(Describer *s)
{
    for (size_t i = 0; i < s->sources.len; i++) {
        Source *src = s->sources.entries[i].value;
        str_release(&src->text);
        vec_release(&src->lines);
        free(src);
    }
    map_release(&s->sources);
}

/* ---- parameters */

/* May a value of this type arrive in other ways than as one IR argument? */
static bool may_be_split(const Describer *s, const Type *t)
{
    t = type_plain(t);
    return type_is_record(t) || t->size > s->word ||
           (t->kind == TYPE_SCALAR && t->encoding == ENCODING_COMPLEX);
}

/* How many IR arguments from `at` on carry such a value; 0 with
 * PASSED_UNKNOWN: it can't be told. */
static unsigned cover(Describer *s, LLVMValueRef fn, unsigned at, const Type *t, Passing *how)
{
    unsigned have = LLVMCountParams(fn);
    assert(may_be_split(s, t) && s->word);
    uint64_t size = type_plain(t)->size, covered = 0;
    *how = size == 0 ? PASSED_NOT_AT_ALL : PASSED_UNKNOWN;
    if (size == 0 || at >= have)
        return 0;
    LLVMTypeRef first = LLVMTypeOf(LLVMGetParam(fn, at));
    if (LLVMGetEnumAttributeAtIndex(fn, at + 1, s->byval) ||
        (size > 2 * s->word && LLVMGetTypeKind(first) == LLVMPointerTypeKind)) {
        *how = PASSED_BY_COPY;
        return 1;
    }
    unsigned n = 0;
    while (covered < size && at + n < have) {
        LLVMTypeRef piece = LLVMTypeOf(LLVMGetParam(fn, at + n++));
        uint64_t bytes = LLVMABISizeOfType(s->layout, piece);
        covered += (bytes + s->word - 1) / s->word * s->word;
    }
    if (covered < size)
        return 0;
    *how = n == 1 ? PASSED_DIRECTLY : PASSED_SPLIT;
    return n;
}

static void match_arguments(Describer *s, Function *fn, LLVMValueRef v)
{
    unsigned at = fn->returns_in_memory ? 1 : 0, have = LLVMCountParams(v);
    bool even = true;
    for (unsigned i = 0; i < fn->nparams && even; i++) {
        Param *p = &fn->params[i];
        p->first_arg = at;
        p->passing = PASSED_DIRECTLY;
        p->nargs = 1;
        if (may_be_split(s, p->type))
            p->nargs = cover(s, v, at, p->type, &p->passing);
        even = p->passing != PASSED_UNKNOWN;
        at += p->nargs;
    }
    if (even && at == have)
        return;
    for (unsigned i = 0; i < fn->nparams; i++) {
        fn->params[i].passing = PASSED_UNKNOWN;
        fn->params[i].first_arg = fn->params[i].nargs = 0;
    }
}

/* Types from the function's type; names, and types as they were written, from
 * its local variables that are parameters. */
static void read_params(Describer *s, Function *fn, const DebugFunction *df)
{
    DebugInfo *d = s->d;
    unsigned n = fn->type ? fn->type->nparams : 0;
    for (NodeId i = df->params_begin; i < df->params_end; i++)
        if (debug_code(d, i) == MD_LOCAL_VAR && debug_ref(d, i, LOCAL_SCOPE) == df->subprogram &&
            debug_op(d, i, LOCAL_ARG) > n && !fn->prototyped && debug_op(d, i, LOCAL_ARG) < 1000)
            n = (unsigned)debug_op(d, i, LOCAL_ARG);
    fn->nparams = n;
    fn->params = arena_array(s->arena, Param, n);
    for (unsigned i = 0; i < n; i++) {
        fn->params[i].name = "";
        if (fn->type && i < fn->type->nparams)
            fn->params[i].type = fn->type->params[i];
    }
    for (NodeId i = df->params_begin; i < df->params_end; i++) {
        uint64_t arg = debug_op(d, i, LOCAL_ARG);
        if (debug_code(d, i) != MD_LOCAL_VAR || arg == 0 || arg > n ||
            debug_ref(d, i, LOCAL_SCOPE) != df->subprogram)
            continue;
        Param *p = &fn->params[arg - 1];
        p->name = arena_strdup(s->arena, debug_text(d, i, LOCAL_NAME));
        p->type = type_of_debug(s->of, debug_ref(d, i, LOCAL_TYPE));
    }
    for (unsigned i = 0; i < n; i++)
        if (!fn->params[i].type)        /* a K&R parameter we know nothing of */
            fn->params[i].type = type_of_debug(s->of, NO_NODE);
}

/* ---- signatures */

static void sign_from_source(Function *fn, Str *out)
{
    Str declarator = { 0 };
    str_addf(&declarator, "%s(", fn->name);
    for (unsigned i = 0; i < fn->nparams; i++) {
        if (i)
            str_add(&declarator, ", ");
        type_print(fn->params[i].type, fn->params[i].name, &declarator);
    }
    if (fn->variadic && fn->prototyped)
        str_add(&declarator, fn->nparams ? ", ..." : "...");
    else if (fn->nparams == 0 && fn->prototyped)
        str_add(&declarator, "void");
    str_addc(&declarator, ')');
    type_print(fn->returns, str_c(&declarator), out);
    str_release(&declarator);
}

static void add_ir_type(LLVMTypeRef t, Str *out)
{
    char *text = LLVMPrintTypeToString(t);
    str_add(out, text);
    LLVMDisposeMessage(text);
}

static void sign_from_ir(Function *fn, LLVMValueRef v, Str *out)
{
    LLVMTypeRef t = LLVMGlobalGetValueType(v);
    add_ir_type(LLVMGetReturnType(t), out);
    str_addf(out, " %s(", fn->name);
    for (unsigned i = 0; i < LLVMCountParams(v); i++) {
        if (i)
            str_add(out, ", ");
        add_ir_type(LLVMTypeOf(LLVMGetParam(v, i)), out);
    }
    if (LLVMIsFunctionVarArg(t))
        str_add(out, LLVMCountParams(v) ? ", ..." : "...");
    str_addc(out, ')');
}

static void describe_function(Describer *s, Function *fn, LLVMValueRef v, const DebugFunction *df)
{
    DebugInfo *d = s->d;
    NodeId sp = df->subprogram;
    Str text = { 0 };
    if (sp != NO_NODE) {
        if (*debug_text(d, sp, SUBPROGRAM_NAME))
            fn->name = arena_strdup(s->arena, debug_text(d, sp, SUBPROGRAM_NAME));
        fn->file = arena_strdup(s->arena, debug_path(d, debug_ref(d, sp, SUBPROGRAM_FILE)));
        fn->line = (unsigned)debug_op(d, sp, SUBPROGRAM_LINE);
        fn->column = column_of(s, fn->file, fn->line, fn->name);
        fn->prototyped = debug_op(d, sp, SUBPROGRAM_FLAGS) & FLAG_PROTOTYPED;
        fn->type = type_of_debug(s->of, debug_ref(d, sp, SUBPROGRAM_TYPE));
        if (fn->type && fn->type->kind != TYPE_FUNCTION)
            fn->type = NULL;
    }
    if (fn->type) {
        fn->returns = fn->type->target;
        if (!fn->prototyped)            /* in the IR, f() looks variadic */
            fn->variadic = false;
        read_params(s, fn, df);
        match_arguments(s, fn, v);
        sign_from_source(fn, &text);
    } else {
        sign_from_ir(fn, v, &text);
    }
    fn->signature = arena_strdup(s->arena, str_c(&text));
    str_release(&text);
}

static void describe_variable(Describer *s, Variable *var, NodeId n)
{
    DebugInfo *d = s->d;
    if (n == NO_NODE)
        return;
    var->name = arena_strdup(s->arena, debug_text(d, n, GLOBAL_NAME));
    var->file = arena_strdup(s->arena, debug_path(d, debug_ref(d, n, GLOBAL_FILE)));
    var->line = (unsigned)debug_op(d, n, GLOBAL_LINE);
    var->type = type_of_debug(s->of, debug_ref(d, n, GLOBAL_TYPE));
}

void describe(DebugInfo *d, const TypeOfNode *of, LLVMModuleRef m, Arena *a, Function *fns,
              size_t nfns, Variable *vars, size_t nvars)
{
    Describer s = { .d = d, .of = of, .arena = a };
    s.layout = LLVMGetModuleDataLayout(m);
    s.word = LLVMPointerSize(s.layout);
    assert(s.word && of->void_type);
    s.byval = LLVMGetEnumAttributeKindForName("byval", 5);
    Map functions = { 0 }, variables = { 0 };
    for (size_t i = 0; i < nfns; i++)
        map_put(&functions, fns[i].symbol, &fns[i]);
    for (size_t i = 0; i < nvars; i++)
        map_put(&variables, vars[i].symbol, &vars[i]);
    for (size_t i = 0; i < d->functions.len; i++) {
        DebugFunction *df = &d->functions.items[i];
        LLVMValueRef v = LLVMGetNamedFunction(m, df->symbol);
        Function *fn = map_get(&functions, df->symbol);
        if (v && fn)
            describe_function(&s, fn, v, df);
    }
    for (size_t i = 0; i < d->variables.len; i++) {
        Variable *var = map_get(&variables, d->variables.items[i].symbol);
        if (var)
            describe_variable(&s, var, d->variables.items[i].variable);
    }
    map_release(&functions);
    map_release(&variables);
    release_sources(&s);
}
