/*
 * link - many units, one module.
 *
 * Units come in the order of the link. LLVM's linker does what a linker does:
 * statics of one name are renamed apart, weak and common definitions give way.
 * Where a real linker would refuse, we don't: an archive may hold two programs
 * with a main() each, and both are worth looking at. The first definition of a
 * name keeps it; a later one becomes internal to its unit (LLVM renames it) and
 * a note says so. A unit that can't be read or linked at all is left out with
 * a note.
 *
 * A name that a shared library keeps to itself may be another one elsewhere. If it is, it
 * is renamed in all units of the library before they are linked.
 *
 * Each call of LLVM's linker looks at the whole of the module that it links into,
 * so adding one unit after the other would take quadratic time. Units are merged
 * like the runs of a merge sort instead: neighbours of equal weight first.
 *
 * After that the module is put into SSA form; nothing is inlined, so that
 * functions and source names stay.
 */
#include "program/debuginfo.h"
#include "program/program_int.h"
#include <assert.h>
#include <ctype.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>

/* Some units in one module. */
typedef struct Part {
    LLVMModuleRef module;
    size_t units;
} Part;

typedef struct Linker {
    LLVMContextRef ctx;
    Vec(Part) parts;          /* in order, heavier ones first */
    char *layout, *target;    /* of the first unit */
    BuildState *state;
    Arena *arena;
    Notes *notes;
    const char *unit;         /* the one at work */
    Map strong;               /* symbol -> name of the unit that defines it */
    Strings later;            /* renamed definitions, to be made internal */
    Map apart;                /* "LIBRARY\nNAME" -> its other name */
    unsigned renamed;
    bool careful;
    Str said;                 /* diagnostics about this unit */
    bool failed;
} Linker;

static void note(Linker *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(Linker *l, const char *fmt, ...)
{
    Str s = { 0 };
    va_list ap;
    va_start(ap, fmt);
    str_addv(&s, fmt, ap);
    va_end(ap);
    ProgramNote *n = vec_grow(l->notes);
    n->unit = arena_strdup(l->arena, l->unit);
    n->text = arena_strdup(l->arena, str_c(&s));
    str_release(&s);
}

/* LLVM says it here instead of printing it and, for errors, ending us. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *arg)
{
    Linker *l = arg;
    LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    if (severity != LLVMDSError && severity != LLVMDSWarning)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    if (l->said.len)
        str_add(&l->said, "; ");
    str_add(&l->said, text);
    if (severity == LLVMDSError)
        l->failed = true;
    LLVMDisposeMessage(text);
}

static LLVMValueRef named(LLVMModuleRef m, const char *name)
{
    size_t n = strlen(name);
    LLVMValueRef v = LLVMGetNamedFunction(m, name);
    v = v ? v : LLVMGetNamedGlobal(m, name);
    v = v ? v : LLVMGetNamedGlobalAlias(m, name, n);
    return v ? v : LLVMGetNamedGlobalIFunc(m, name, n);
}

static bool is_strong(LLVMValueRef v)
{
    LLVMLinkage linkage = LLVMGetLinkage(v);
    return !LLVMIsDeclaration(v) && linkage == LLVMExternalLinkage;
}

/* A second definition of a name gets another one, so that the linker takes it
 * over (it would drop an unused internal one), and is made internal later. */
static void settle_name(Linker *l, LLVMModuleRef m, LLVMValueRef v)
{
    if (!is_strong(v))
        return;
    size_t n;
    const char *name = LLVMGetValueName2(v, &n);
    const char *first = map_getn(&l->strong, name, n);
    if (!first) {
        map_putn(&l->strong, name, n, (void *)l->unit);
        return;
    }
    note(l,
         "%s is defined in %s already: both are kept, other units use the "
         "first",
         name, first);
    char *other = NULL;
    do {
        free(other);
        other = xprintf("%s.%u", name, ++l->renamed);
    } while (named(m, other) || map_has(&l->strong, other));
    LLVMSetValueName2(v, other, strlen(other));
    strings_add(&l->later, other);
    free(other);
}

static void settle_names(Linker *l, LLVMModuleRef m)
{
    LLVMValueRef v;
    for (v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v))
        settle_name(l, m, v);
    for (v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v))
        settle_name(l, m, v);
    for (v = LLVMGetFirstGlobalAlias(m); v; v = LLVMGetNextGlobalAlias(v))
        settle_name(l, m, v);
    for (v = LLVMGetFirstGlobalIFunc(m); v; v = LLVMGetNextGlobalIFunc(v))
        settle_name(l, m, v);
}

/* NULL with a note. */
static LLVMModuleRef read_unit(Linker *l, const char *path)
{
    LLVMMemoryBufferRef buffer;
    char *said = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &said)) {
        note(l, "cannot be read: %s", said);
        LLVMDisposeMessage(said);
        return NULL;
    }
    LLVMModuleRef m = NULL;
    bool bad = LLVMParseBitcodeInContext2(l->ctx, buffer, &m);
    LLVMDisposeMemoryBuffer(buffer);
    if (bad) {
        note(l, "broken bitcode: %s", l->said.len ? str_c(&l->said) : "no reason given");
        return NULL;
    }
    if (LLVMVerifyModule(m, LLVMReturnStatusAction, &said)) {
        char *end = strchr(said, '\n');
        if (end)
            *end = 0;
        note(l, "broken bitcode: %s", said);
        LLVMDisposeMessage(said);
        LLVMDisposeModule(m);
        return NULL;
    }
    LLVMDisposeMessage(said);
    return m;
}

/* Can a unit go with the ones that are already in? */
static bool fits(Linker *l, LLVMModuleRef m)
{
    if (!l->layout) {
        l->layout = arena_strdup(l->arena, LLVMGetDataLayoutStr(m));
        l->target = arena_strdup(l->arena, LLVMGetTarget(m));
    }
    if (strcmp(l->layout, LLVMGetDataLayoutStr(m)) == 0)
        return true;
    note(l, "left out: it is for another machine (%s) than the first unit (%s)", LLVMGetTarget(m),
         l->target);
    return false;
}

static bool make_ssa(LLVMModuleRef m, Err *err)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = LLVMRunPasses(m, "function(sroa,mem2reg)", NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (!e)
        return true;
    char *text = LLVMGetErrorMessage(e);
    err_set(err, "LLVM: %s", text);
    LLVMDisposeErrorMessage(text);
    return false;
}

/* Puts a copy of a unit through what the whole will be put through; the
 * process may die of it, which is the point. False with a note. */
static bool rehearse(Linker *l, LLVMModuleRef m)
{
    Err err = { 0 };
    DebugInfo d = { 0 };
    LLVMModuleRef copy = LLVMCloneModule(m);
    bool ok = make_ssa(copy, &err);
    if (ok) {
        LLVMMemoryBufferRef b = LLVMWriteBitcodeToMemoryBuffer(copy);
        ok = debuginfo_read(&d, LLVMGetBufferStart(b), LLVMGetBufferSize(b), &err);
        debuginfo_release(&d);
        LLVMDisposeMemoryBuffer(b);
    }
    LLVMDisposeModule(copy);
    if (!ok) {
        note(l, "broken bitcode: %s", err.msg);
        LLVMDisposeModule(m);
    }
    return ok;
}

/* The last two parts become one. */
static void merge_last(Linker *l)
{
    assert(l->parts.len >= 2);
    Part *last = &l->parts.items[l->parts.len - 1], *before = last - 1;
    l->failed = false;
    str_reset(&l->said);
    if (LLVMLinkModules2(before->module, last->module) || l->failed)
        note(l, "not linked cleanly: %s", l->said.len ? str_c(&l->said) : "no reason given");
    before->units += last->units;
    l->parts.len--;
}

static void add_part(Linker *l, LLVMModuleRef m)
{
    vec_push(&l->parts, ((Part){ m, 1 }));
    if (l->careful) {                /* one by one, to know who is guilty */
        if (l->parts.len == 2)
            merge_last(l);
        return;
    }
    l->state->unit = -1;
    while (l->parts.len >= 2 &&
           l->parts.items[l->parts.len - 1].units >= l->parts.items[l->parts.len - 2].units)
        merge_last(l);
}

/* ---- names of libraries */

static bool is_own(const Map *exports, LLVMValueRef v, const char *name)
{
    return is_strong(v) &&
           (LLVMGetVisibility(v) == LLVMHiddenVisibility || !map_has(exports, name));
}

/* One definition, seen before anything is linked: `owners` has the part of the program
 * that each name belongs to. */
static void foresee(Linker *l, const LinkUnit *u, const Map *exports, LLVMValueRef v, Map *owners)
{
    size_t n;
    const char *name = LLVMGetValueName2(v, &n);
    const void *part = u->library ? (const void *)u->library : l;
    if (!is_strong(v))
        return;
    const void *owner = map_get(owners, name);
    if (!owner) {
        map_put(owners, name, (void *)part);
    } else if (owner != part && u->library && is_own(exports, v, name)) {
        char *key = xprintf("%s\n%s", u->library->path, name);
        if (!map_has(&l->apart, key))
            map_put(&l->apart, key,
                    arena_printf(l->arena, "%s.%s.%u", name, u->library->name, ++l->renamed));
        free(key);
    }
}

static LLVMModuleRef peek(Linker *l, const LinkUnit *u)
{
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef m = NULL;
    char *said = NULL;
    if (u->excluded || LLVMCreateMemoryBufferWithContentsOfFile(u->bitcode, &buffer, &said)) {
        LLVMDisposeMessage(said);
        return NULL;
    }
    if (LLVMGetBitcodeModuleInContext2(l->ctx, buffer, &m)) {      /* bodies are not read */
        LLVMDisposeMemoryBuffer(buffer);
        return NULL;
    }
    return m;
}

/* Finds the names that mean one thing in a library and another elsewhere. */
static void foresee_names(Linker *l, const LinkUnit *units, size_t n)
{
    Map owners = { 0 }, exports = { 0 };
    const CapturedProgram *read = NULL;
    for (size_t i = 0; i < n; i++) {
        l->state->unit = (long)i;
        LLVMModuleRef m = peek(l, &units[i]);
        if (units[i].library && units[i].library != read) {
            map_release(&exports);
            exports = (Map){ 0 };
            read = units[i].library;
            library_exports(read, &exports);
        }
        if (!m)
            continue;
        for (LLVMValueRef v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v))
            foresee(l, &units[i], &exports, v, &owners);
        for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v))
            foresee(l, &units[i], &exports, v, &owners);
        LLVMDisposeModule(m);
    }
    l->state->unit = -1;
    map_release(&owners);
    map_release(&exports);
}

static void take_apart(const Linker *l, const LinkUnit *u, LLVMModuleRef m)
{
    size_t n = strlen(u->library->path);
    for (size_t i = 0; i < l->apart.len; i++) {
        const char *key = l->apart.entries[i].key;
        LLVMValueRef v =
            strncmp(key, u->library->path, n) == 0 && key[n] == '\n' ? named(m, key + n + 1) : NULL;
        if (!v)
            continue;
        const char *other = l->apart.entries[i].value;
        LLVMSetValueName2(v, other, strlen(other));
    }
}

/* ---- symbols that the link renames */

static void add_pair(Strings *out, const char *from, const char *to)
{
    strings_add(out, from);
    strings_add(out, to);
}

static void add_wrapped(Strings *out, const char *name)
{
    char *wrap = xprintf("__wrap_%s", name), *real = xprintf("__real_%s", name);
    add_pair(out, name, wrap);
    add_pair(out, real, name);
    free(wrap);
    free(real);
}

/* NAME=OTHER; an expression is no name of a variable. */
static void add_defined(Strings *out, char *text)
{
    char *to = strchr(text, '=');
    if (!to)
        return;
    *to++ = 0;
    if (*text && *to && !isdigit((unsigned char)*to) && !strpbrk(to, "+-*/()<>&|~ \t"))
        add_pair(out, text, to);
}

/* One word for the linker; `before`: the option whose value it is, or NULL. Which option is this one? */
static const char *add_renamed(const char *word, size_t n, const char *before, Strings *out)
{
    static const char *const options[] = { "wrap", "defsym", "fini" };
    const char *option = before;
    if (!option)
        while (n && *word == '-')
            word++, n--;
    for (size_t i = 0; !option && i < sizeof options / sizeof *options; i++) {
        size_t len = strlen(options[i]);
        if (n < len || memcmp(word, options[i], len) != 0)
            continue;
        if (n == len)
            return options[i];
        if (word[len] == '=') {
            option = options[i];
            word += len + 1;
            n -= len + 1;
        }
    }
    if (!option || !n)
        return NULL;
    char *text = xstrndup(word, n);
    if (!strcmp(option, "wrap"))
        add_wrapped(out, text);
    else if (!strcmp(option, "fini"))
        add_pair(out, "", text);
    else
        add_defined(out, text);
    free(text);
    return NULL;
}

void link_renamed(const Strings *command, Strings *out)
{
    const char *before = NULL;
    for (size_t i = 0; i < command->len; i++) {
        const char *word = command->items[i];
        if (strcmp(word, "-Xlinker") == 0 && i + 1 < command->len) {
            word = command->items[++i];
            before = add_renamed(word, strlen(word), before, out);
        } else if (str_starts(word, "-Wl,")) {
            for (const char *part = word + 4, *end; *part; part = *end ? end + 1 : end) {
                end = part + strcspn(part, ",");
                before = add_renamed(part, (size_t)(end - part), before, out);
            }
        }
    }
}

/* What this unit takes from elsewhere by one name, it takes by the other. */
static void redirect(LLVMModuleRef m, const char *from, const char *to)
{
    LLVMValueRef v = named(m, from), other = named(m, to);
    if (!v || v == other || !LLVMIsDeclaration(v))
        return;
    if (!other) {
        LLVMSetValueName2(v, to, strlen(to));
        return;
    }
    LLVMReplaceAllUsesWith(v, other);
    if (LLVMIsAFunction(v))
        LLVMDeleteFunction(v);
    else
        LLVMDeleteGlobal(v);
}

/* The linker's -fini: this function runs when the program ends. */
static const char end_mark[] = "sundew-runs-at-end";

static void mark_end(LLVMModuleRef m, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    if (f)
        LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                LLVMCreateStringAttribute(LLVMGetModuleContext(m), end_mark,
                                                          sizeof end_mark - 1, "", 0));
}

bool program_runs_at_end(LLVMValueRef function)
{
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, end_mark,
                                         sizeof end_mark - 1);
}

static void rename_symbols(LLVMModuleRef m, const Strings *command)
{
    Strings renamed = { 0 };
    link_renamed(command, &renamed);
    for (size_t i = 0; i + 1 < renamed.len; i += 2)
        if (*renamed.items[i])
            redirect(m, renamed.items[i], renamed.items[i + 1]);
        else
            mark_end(m, renamed.items[i + 1]);
    strings_release(&renamed);
}

static void add_unit(Linker *l, const LinkUnit *u)
{
    l->unit = u->name;
    str_reset(&l->said);
    if (u->excluded)
        note(l, "%s", u->excluded);
    LLVMModuleRef m = u->excluded ? NULL : read_unit(l, u->bitcode);
    if (m && l->careful && !rehearse(l, m))
        m = NULL;
    if (m && !fits(l, m)) {
        LLVMDisposeModule(m);
        m = NULL;
    }
    if (m) {
        if (u->link)
            rename_symbols(m, u->link);
        if (u->library)
            take_apart(l, u, m);
        settle_names(l, m);
        add_part(l, m);
    } else {
        /* Whoever gave the unit up has just said why. */
        assert(l->notes->len && !l->notes->items[l->notes->len - 1].left_out);
        l->notes->items[l->notes->len - 1].left_out = true;
    }
}

static void hide_renamed(Linker *l, LLVMModuleRef m)
{
    for (size_t i = 0; i < l->later.len; i++) {
        LLVMValueRef v = named(m, l->later.items[i]);
        if (!v)
            continue;
        LLVMSetVisibility(v, LLVMDefaultVisibility);
        LLVMSetDLLStorageClass(v, LLVMDefaultStorageClass);
        LLVMSetLinkage(v, LLVMInternalLinkage);
    }
}

LLVMModuleRef link_units(LLVMContextRef ctx, const LinkUnit *units, size_t n, BuildState *state,
                         Arena *a, Notes *notes, Err *err)
{
    Linker l = {
        .ctx = ctx, .arena = a, .notes = notes, .state = state, .careful = state->careful
    };
    LLVMContextSetDiagnosticHandler(ctx, on_diagnostic, &l);
    if (n && units[n - 1].library)
        foresee_names(&l, units, n);
    for (size_t i = 0; i < n; i++) {
        state->unit = (long)i;
        add_unit(&l, &units[i]);
    }
    state->unit = -1;
    while (l.parts.len > 1)
        merge_last(&l);
    LLVMModuleRef m = l.parts.len ? l.parts.items[0].module : NULL;
    bool ok = m != NULL;
    if (!ok && notes->len)
        err_set(err, "no unit could be linked: %s: %s", notes->items[0].unit, notes->items[0].text);
    else if (!ok)
        err_set(err, "it has no captured units");
    else
        hide_renamed(&l, m);
    ok = ok && make_ssa(m, err);
    LLVMContextSetDiagnosticHandler(ctx, NULL, NULL);
    map_release(&l.strong);
    map_release(&l.apart);
    str_release(&l.said);
    vec_release(&l.parts);
    strings_release(&l.later);
    return ok ? m : NULL;
}
