/*
 * Sites of all rules, and the weave that puts probes at them: see watch.h.
 *
 * A rule is asked for each instruction and each function. What it adds is a site;
 * groups of sites without a wanted one get no probes, so a program without
 * suspects stays as it is.
 */
#include "weave/watch/watch_int.h"
#include "base/file.h"
#include <assert.h>
#include <inttypes.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>

const char *watch_grade_name(WatchGrade g)
{
    static const char *const names[] = { "none",       "simulated", "usage",
                                         "predictive", "strong",    "manifest" };
    assert(g < GRADES);
    return names[g];
}

const WatchRule *watch_rule(const char *family)
{
    for (const WatchRule *const *r = watch_rules; *r; r++)
        if (!strcmp((*r)->family, family))
            return *r;
    return NULL;
}

/* ---- sites */

/* Code without places and names of values: opcodes, callees, constants. */
static uint64_t hash_body(LLVMValueRef fn)
{
    uint64_t h = 14695981039346656037ULL;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            const char *callee = watch_callee(i);
            h = (h ^ (uint64_t)LLVMGetInstructionOpcode(i)) * 1099511628211ULL;
            h ^= callee ? hash_bytes(callee, strlen(callee)) : 0;
            for (int k = 0; k < LLVMGetNumOperands(i); k++) {
                int64_t c;
                LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
                if (v && watch_constant(v, &c))
                    h = (h ^ (uint64_t)c) * 1099511628211ULL;
            }
        }
    return h;
}

static uint64_t body_of(Watch *watch, LLVMValueRef fn)
{
    void **slot = map_slotn(&watch->bodies, &fn, sizeof fn);
    if (!*slot) {
        uint64_t *h = arena_new(&watch->arena, uint64_t);
        *h = hash_body(fn);
        *slot = h;
    }
    return *(uint64_t *)*slot;
}

void watch_place(WatchSite *site, LLVMValueRef at)
{
    unsigned line = LLVMGetDebugLocLine(at), column = LLVMGetDebugLocColumn(at);
    for (unsigned i = 0; i < site->nplaces; i++)
        if (site->places[i].line == line && site->places[i].column == column)
            return;
    if (line && site->nplaces < sizeof site->places / sizeof *site->places)
        site->places[site->nplaces++] = (WatchPlace){ line, column };
}

WatchSite *watch_add(Watch *watch, LLVMValueRef at, WatchRole role, const char *group,
                     const char *subject)
{
    bool is_function = LLVMIsAFunction(at) != NULL;
    assert(watch->rule && group && subject);
    LLVMValueRef fn = is_function ? at : watch_function_of(at);
    const Function *f = program_function(watch->w->program, watch_name(fn));
    WatchSite *s = arena_new(&watch->arena, WatchSite);
    Str path = { 0 };
    if (is_function) {
        s->file = arena_strdup(&watch->arena, f ? f->file : "");
        s->places[0] = (WatchPlace){ f ? f->line : 0, f ? f->column : 0 };
        s->nplaces = f && f->line;
    } else {
        weave_path_of(at, &path);
        char *whole = path.len ? path_absolute(str_c(&path)) : xstrdup("");
        s->file = arena_strdup(&watch->arena, whole);
        watch_place(s, at);
        free(whole);
    }
    s->rule = watch->rule;
    s->role = role;
    s->group = arena_strdup(&watch->arena, group);
    s->kind = "";
    s->subject = arena_strdup(&watch->arena, subject);
    s->function = arena_strdup(&watch->arena, f ? f->name : watch_name(fn));
    s->head = f ? f->line : 0;
    s->at[0] = at;
    s->nslots = watch->rule->slots ? watch->rule->slots : 1;
    s->body = body_of(watch, fn);
    char *key = xprintf("%s %s %s", watch->rule->family, watch_name(fn), subject);
    uintptr_t n = (uintptr_t)map_get(&watch->ordinals, key);
    map_put(&watch->ordinals, key, (void *)(n + 1));
    s->key = arena_printf(&watch->arena, "%s %zu", key, (size_t)n);
    free(key);
    str_release(&path);
    vec_push(&watch->sites, s);
    return s;
}

WatchSite *const *watch_sites(const Watch *watch, size_t *n)
{
    *n = watch->sites.len;
    return watch->sites.items;
}

void watch_ask(WatchLines *lines, const char *file, unsigned line)
{
    char *key = xprintf("%u %s", line, path_base(file)), *alone = xprintf("%u", line);
    map_put(lines, key, lines);
    map_put(lines, alone, lines);    /* to say no quickly */
    free(key);
    free(alone);
}

static bool is_asked(const Watch *watch, LLVMValueRef i)
{
    unsigned line = LLVMGetDebugLocLine(i);
    char alone[16];
    Str path = { 0 };
    snprintf(alone, sizeof alone, "%u", line);
    if (map_has(watch->lines, "*"))
        return line != 0;
    if (!line || !map_has(watch->lines, alone))
        return false;
    weave_path_of(i, &path);
    char *key = xprintf("%s %s", alone, path_base(str_c(&path)));
    bool asked = map_has(watch->lines, key);
    free(key);
    str_release(&path);
    return asked;
}

static void scan_function(Watch *watch, LLVMValueRef fn)
{
    if (watch->rule->function)
        watch->rule->function(watch, fn);
    if (!watch->rule->instruction)
        return;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (!watch->rule->asked || is_asked(watch, i))
                watch->rule->instruction(watch, i);
}

Watch *watch_scan(Woven *w, bool races, const WatchLines *lines)
{
    Watch *watch = xcalloc(1, sizeof *watch);
    watch->w = w;
    watch->races = races;
    watch->lines = lines;
    for (const WatchRule *const *r = watch_rules; *r; r++) {
        watch->rule = *r;
        if (watch->rule->asked && !lines)
            continue;
        for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
            if (!LLVMIsDeclaration(f) && !weave_has(f, "naked"))
                scan_function(watch, f);
    }
    return watch;
}

void watch_free(Watch *watch)
{
    if (!watch)
        return;
    for (size_t i = 0; i < watch->sources.len; i++) {
        Str *text = watch->sources.entries[i].value;
        str_release(text);
        free(text);
    }
    for (size_t i = 0; i < watch->uses.len; i++) {
        WatchUses *u = watch->uses.entries[i].value;
        vec_release(&u->all);
        free(u);
    }
    for (size_t i = 0; i < watch->refusing.len; i++) {
        WatchValues *v = watch->refusing.entries[i].value;
        vec_release(v);
        free(v);
    }
    map_release(&watch->refusing);
    map_release(&watch->uses);
    map_release(&watch->casts);
    map_release(&watch->sources);
    map_release(&watch->ordinals);
    map_release(&watch->bodies);
    map_release(&watch->memory_facts);
    map_release(&watch->exports);
    map_release(&watch->null_facts);
    map_release(&watch->pure_facts);
    map_release(&watch->bool_facts);
    map_release(&watch->unset_facts);
    vec_release(&watch->sites);
    arena_release(&watch->arena);
    free(watch);
}

/* ---- probes */

void watch_go_before(Watch *watch, LLVMValueRef i)
{
    LLVMMetadataRef line = LLVMInstructionGetDebugLoc(i);
    LLVMValueRef noted = LLVMGetPreviousInstruction(i);
    const char *name = noted ? watch_callee(noted) : NULL;
    bool frees = name && !strcmp(name, "sundew_watch_free");
    LLVMPositionBuilderBefore(watch->w->builder, frees ? noted : i);
    LLVMSetCurrentDebugLocation2(watch->w->builder,
                                 line ? line : weave_line_of(watch->w, watch_function_of(i)));
}

void watch_go_after(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef next = LLVMGetNextInstruction(i);
    assert(next);                    /* a terminator has no result to look at */
    while (LLVMIsAPHINode(next))
        next = LLVMGetNextInstruction(next);
    watch_go_before(watch, next);
    LLVMMetadataRef line = LLVMInstructionGetDebugLoc(i);
    if (line)
        LLVMSetCurrentDebugLocation2(watch->w->builder, line);
}

void watch_go_behind_note(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef next = LLVMGetNextInstruction(i), note = NULL;
    for (; next && !note && !LLVMIsATerminatorInst(next); next = LLVMGetNextInstruction(next)) {
        const char *name = LLVMIsACallInst(next) ? watch_callee(next) : "sundew_";
        if (!name || !str_starts(name, "sundew_"))
            break; /* other probes may stand between them, the program does not */
        if (str_starts(name, "sundew_watch_alloc") && LLVMGetOperand(next, 0) == i)
            note = next;
    }
    watch_go_after(watch, note ? note : i);
}

LLVMValueRef watch_slot_value(Watch *watch, const WatchSite *site, unsigned k)
{
    assert(k < site->nslots);
    return weave_int(watch->w, watch->w->i32, site->slot + k);
}

LLVMValueRef watch_i64(Watch *watch, LLVMValueRef v, bool is_signed)
{
    Woven *w = watch->w;
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(w->builder, v, w->i64, "");
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind)
        return weave_int(w, w->i64, 0); /* a declaration that is not the library's */
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(v));
    if (bits == 64)
        return v;
    if (bits > 64)
        return LLVMBuildTrunc(w->builder, v, w->i64, "");
    return is_signed ? LLVMBuildSExt(w->builder, v, w->i64, "")
                     : LLVMBuildZExt(w->builder, v, w->i64, "");
}

void watch_replace(LLVMValueRef user, LLVMValueRef old, LLVMValueRef new)
{
    for (int k = 0; k < LLVMGetNumOperands(user); k++)
        if (LLVMGetOperand(user, (unsigned)k) == old)
            LLVMSetOperand(user, (unsigned)k, new);
}

static LLVMValueRef declare(Watch *watch, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                            unsigned n)
{
    LLVMTypeRef types[8];
    assert(n <= 8);
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    return weave_declare(watch->w, name, LLVMFunctionType(result, types, n, false));
}

LLVMValueRef watch_call(Watch *watch, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                        unsigned n)
{
    return weave_call_out(watch->w, declare(watch, name, result, args, n), args, n);
}

LLVMValueRef watch_call_in(Watch *watch, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                           unsigned n)
{
    return weave_call(watch->w, declare(watch, name, result, args, n), args, n);
}

void watch_probe_hit(Watch *watch, WatchSite *s)
{
    LLVMValueRef slot = watch_slot_value(watch, s, 0);
    watch_go_before(watch, s->at[0]);
    watch_call(watch, "sundew_watch_hit", watch->w->void_, &slot, 1);
}

static void define_text(Woven *w, const char *name, const char *text)
{
    LLVMValueRef bytes = LLVMConstStringInContext2(w->ctx, text, strlen(text), false);
    LLVMValueRef g = LLVMAddGlobal(w->module, LLVMTypeOf(bytes), name);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, true);
    LLVMSetVisibility(g, LLVMHiddenVisibility);
}

static void define_settings(Watch *watch, const WatchPlan *plan)
{
    Woven *w = watch->w;
    define_text(w, "sundew_watch_path", plan->path ? plan->path : "");
    define_text(w, "sundew_watch_key", plan->key);
    LLVMValueRef n = LLVMAddGlobal(w->module, w->i32, "sundew_watch_nslots");
    LLVMSetInitializer(n, weave_int(w, w->i32, watch->nslots));
    LLVMSetGlobalConstant(n, true);
    LLVMSetVisibility(n, LLVMHiddenVisibility);
}

/* malloc and its kin; which arguments make the size. */
static const struct allocator {
    const char *name;
    int size, times; /* -1: none */
    bool text; /* as long as its text */
} allocators[] = {
    { "malloc", 0, -1, false },        { "calloc", 0, 1, false }, { "realloc", 1, -1, false },
    { "aligned_alloc", 1, -1, false }, { "strdup", 0, -1, true }, { "strndup", 0, -1, true },
};

static const char *const closers[] = { "free", "fclose", "pclose", NULL };
static const char *const openers[] = { "fopen", "fdopen", "tmpfile", "popen", "fopen64", NULL };
enum { STREAM = 216 }; /* bytes of a FILE */

static void probe_heap(Watch *watch, LLVMValueRef i)
{
    Woven *w = watch->w;
    const char *name = watch_library(i);
    if (name && str_is_one_of(name, closers) && LLVMGetNumArgOperands(i) == 1) {
        LLVMValueRef p = LLVMGetOperand(i, 0);
        watch_go_before(watch, i);
        watch_call(watch, "sundew_watch_free", w->void_, &p, 1);
    }
    if (name && str_is_one_of(name, openers) && LLVMTypeOf(i) == w->ptr) {
        LLVMValueRef args[] = { i, weave_int(w, w->i64, STREAM) };
        watch_go_after(watch, i);
        watch_call(watch, "sundew_watch_alloc", w->void_, args, 2);
    }
    for (size_t k = 0; name && k < sizeof allocators / sizeof *allocators; k++) {
        const struct allocator *a = &allocators[k];
        if (strcmp(a->name, name) || LLVMGetNumArgOperands(i) <= (unsigned)a->size)
            continue;
        if (!strcmp(name, "realloc")) {
            LLVMValueRef old = LLVMGetOperand(i, 0);
            watch_go_before(watch, i);
            watch_call(watch, "sundew_watch_free", w->void_, &old, 1);
        }
        watch_go_after(watch, i);
        if (a->text) {
            LLVMValueRef text = i;
            watch_call(watch, "sundew_watch_alloc_text", w->void_, &text, 1);
            continue;
        }
        LLVMValueRef size = watch_i64(watch, LLVMGetOperand(i, (unsigned)a->size), false);
        if (a->times >= 0)
            size = LLVMBuildMul(w->builder, size,
                                watch_i64(watch, LLVMGetOperand(i, (unsigned)a->times), false), "");
        LLVMValueRef args[] = { i, size };
        watch_call(watch, "sundew_watch_alloc", w->void_, args, 2);
    }
}

static void weave_heap(Watch *watch)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(watch->w->module); f; f = LLVMGetNextFunction(f)) {
        Vec(LLVMValueRef) calls = { 0 };
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (watch_callee(i))
                    vec_push(&calls, i);
        for (size_t k = 0; k < calls.len; k++)
            probe_heap(watch, calls.items[k]);
        vec_release(&calls);
    }
}

/* The groups that have a wanted site: "family group". */
static void wanted_groups(const Watch *watch, Map *groups)
{
    for (size_t i = 0; i < watch->sites.len; i++) {
        const WatchSite *s = watch->sites.items[i];
        char *key = xprintf("%s %s", s->rule->family, s->group);
        if (s->wanted)
            map_put(groups, key, groups);
        free(key);
    }
}

bool weave_watch(Watch *watch, const WatchPlan *plan, Err *err)
{
    Map groups = { 0 };
    bool heap = false;
    assert(plan->key && strlen(plan->key) < SUNDEW_WATCH_KEY);
    wanted_groups(watch, &groups);
    watch->inject = plan->inject;
    watch->nslots = 1; /* slot 0 is nobody's */
    for (size_t i = 0; i < watch->sites.len; i++) {
        WatchSite *s = watch->sites.items[i];
        char *key = xprintf("%s %s", s->rule->family, s->group);
        if (map_has(&groups, key)) {
            s->slot = watch->nslots;
            watch->nslots += s->nslots;
            heap |= s->rule->heap;
        }
        free(key);
    }
    map_release(&groups);
    if (watch->nslots > SUNDEW_WATCH_MOST)
        return err_set(err, "the program has too many sites to watch");
    if (heap)
        weave_heap(watch);
    for (size_t i = 0; i < watch->sites.len; i++)
        if (watch->sites.items[i]->slot)
            watch->sites.items[i]->rule->probe(watch, watch->sites.items[i]);
    define_settings(watch, plan);
    return true;
}

unsigned watch_nslots(const Watch *watch) { return watch->nslots; }

bool watch_file_make(const Watch *watch, const char *path, const char *key, Err *err)
{
    size_t n = sizeof(struct sundew_watch_file) + watch->nslots * sizeof(struct sundew_watch_slot);
    struct sundew_watch_file *f = xcalloc(1, n);
    struct sundew_watch_slot *slots = (struct sundew_watch_slot *)(f + 1);
    f->magic = SUNDEW_WATCH_MAGIC;
    f->nslots = watch->nslots;
    snprintf(f->key, sizeof f->key, "%s", key);
    for (unsigned i = 0; i < watch->nslots; i++) {
        slots[i].low = slots[i].low2 = INT64_MAX;
        slots[i].high = slots[i].high2 = INT64_MIN;
    }
    bool ok = file_write(path, f, n, err);
    free(f);
    return ok;
}

/* ---- joins */

const struct sundew_watch_slot *watch_slot(const WatchEvidence *all, const WatchSite *site,
                                           unsigned k)
{
    assert(site->slot && k < site->nslots);
    return &all->slots[site->slot + k];
}

const WatchSite *watch_other(const WatchEvidence *all, const WatchSite *site, size_t *at)
{
    while (*at < all->watch->sites.len) {
        const WatchSite *s = all->watch->sites.items[(*at)++];
        if (s != site && s->slot && s->rule == site->rule && !strcmp(s->group, site->group))
            return s;
    }
    return NULL;
}

void watch_say(WatchJudgement *j, WatchGrade grade, const WatchSite *where,
               const struct sundew_watch_slot *seen, const char *fmt, ...)
{
    if (grade <= j->grade && j->grade != GRADE_NONE)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(j->text, sizeof j->text, fmt, ap);
    va_end(ap);
    j->grade = grade;
    j->seen_at = where;
    j->seen = seen;
}

void watch_judge(const Watch *watch, const WatchSite *site, const struct sundew_watch_slot *slots,
                 WatchJudgement *out)
{
    WatchEvidence all = { watch, slots };
    *out = (WatchJudgement){ 0 };
    assert(site->slot && site->slot + site->nslots <= watch->nslots);
    site->rule->join(site, watch_slot(&all, site, 0), &all, out);
    assert(out->grade == GRADE_NONE || *out->text);
}
