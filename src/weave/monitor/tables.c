/*
 * The tables of runtime/format/tables.h as constants of the woven module.
 *
 * They are written when the module has been optimised: a table that names a
 * static function or variable would keep LLVM from inlining it and from
 * dropping it. What is gone by then has address 0.
 *
 * A table without pointers is an array of bytes, just as the structs are laid
 * out here (the subjects that can be monitored have the same layout). One with
 * pointers is an array of { address, symbol, rest as bytes }.
 */
#include "weave/monitor/monitor_int.h"
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTERS = 4096, MOST_REPEATS = 64 };

typedef struct Writer {
    Woven *w;
    Monitoring *m;
    Str names;                   /* all texts, NUL-terminated */
    Map name_at;                 /* text -> its place + 1 */
    LLVMValueRef names_global;
    Vec(SundewType) types;
    Vec(SundewPointer) pointers;
    Vec(SundewHidden) hidden;
} Writer;

uint32_t monitor_type_number(const Type *t) { return t ? t->index + 1 : 0; }

/* ---- types */

/* Objects of libraries that mean nothing without their library. */
static const char *const foreign[] = {
    "_IO_FILE",           "FILE",
    "__dirstream",        "DIR",
    "pthread_mutex_t",    "pthread_cond_t",
    "pthread_rwlock_t",   "pthread_barrier_t",
    "pthread_attr_t",     "pthread_mutexattr_t",
    "pthread_condattr_t", "sem_t",
    "__jmp_buf_tag",      "re_pattern_buffer",
    "__locale_struct",    "ucontext_t",
    "__va_list_tag",
};

static bool is_named(const Type *t, const char *name)
{
    return strcmp(t->name, name) == 0 || (t->alias && strcmp(t->alias->name, name) == 0);
}

static bool is_foreign(const Type *t)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (is_named(t, foreign[i]))
            return true;
    return false;
}

static enum SundewKind kind_of(const Type *t)
{
    switch (t->kind) {
    case TYPE_FUNCTION: return SUNDEW_CODE;
    case TYPE_SCALAR:
        return t->size == 1 && (t->encoding == ENCODING_SIGNED_CHAR ||
                                t->encoding == ENCODING_UNSIGNED_CHAR)
                   ? SUNDEW_CHAR
                   : SUNDEW_DATA;
    case TYPE_STRUCT:
    case TYPE_UNION:
        if (is_foreign(t))
            return SUNDEW_FOREIGN;
        return t->incomplete ? SUNDEW_UNKNOWN : SUNDEW_DATA;
    default: return t->size ? SUNDEW_DATA : SUNDEW_UNKNOWN;
    }
}

static bool ends_in_flexible_array(const Type *t)
{
    if (t->kind != TYPE_STRUCT || !t->nfields)
        return false;
    const Type *last = type_plain(t->fields[t->nfields - 1].type);
    return (last->kind == TYPE_ARRAY && (last->flexible || last->count == 0)) ||
           ends_in_flexible_array(last);
}

typedef Vec(SundewPointer) Pointers;

static void collect(const Type *type, uint64_t at, bool unsure, Pointers *out, unsigned depth);

static void collect_element(const Type *t, uint64_t at, bool unsure, Pointers *out, unsigned depth)
{
    const Type *element = type_plain(t->target);
    uint64_t size = element->size;
    Pointers one = { 0 };
    collect(element, 0, unsure, &one, depth + 1);
    for (size_t i = 0; i < one.len && size && out->len < MOST_POINTERS; i++) {
        SundewPointer p = one.items[i];
        bool whole = (uint64_t)p.count * p.stride == size;
        p.offset += (uint32_t)at;
        if (p.count == 1 || whole) {
            p.stride = p.count == 1 ? (uint32_t)size : p.stride;
            p.count = (uint32_t)(t->count * p.count);
            vec_push(out, p);
            continue;
        }
        for (uint64_t k = 0; k < t->count && k < MOST_REPEATS; k++) {
            vec_push(out, p);
            p.offset += (uint32_t)size;
        }
    }
    vec_release(&one);
}

/* The pointers in a type, from byte `at` on. */
static void collect(const Type *type, uint64_t at, bool unsure, Pointers *out, unsigned depth)
{
    const Type *t = type_plain(type);
    if (depth > 32 || out->len >= MOST_POINTERS || at > UINT32_MAX / 2)
        return;
    if (t->kind == TYPE_POINTER) {
        SundewPointer p = { .offset = (uint32_t)at,
                            .count = 1,
                            .stride = 8,
                            .type = monitor_type_number(t->target),
                            .unsure = unsure };
        vec_push(out, p);
    } else if (t->kind == TYPE_ARRAY) {
        collect_element(t, at, unsure, out, depth);
    } else if (type_is_record(t) && !is_foreign(t)) {
        bool shared = unsure || (t->kind == TYPE_UNION && t->nfields > 1);
        for (unsigned i = 0; i < t->nfields; i++)
            if (!t->fields[i].bit_field)
                collect(t->fields[i].type, at + t->fields[i].offset / 8, shared, out, depth + 1);
    }
}

static int by_offset(const void *a, const void *b)
{
    const SundewPointer *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->type < y->type ? -1 : x->type > y->type;
}

static void add_pointers(Writer *wr, const Type *t, SundewType *row)
{
    Pointers list = { 0 };
    collect(t, 0, false, &list, 0);
    if (list.len)
        qsort(list.items, list.len, sizeof *list.items, by_offset);
    row->first = (uint32_t)wr->pointers.len;
    for (size_t i = 0; i < list.len; i++)
        if (!i || by_offset(&list.items[i - 1], &list.items[i]) != 0)
            vec_push(&wr->pointers, list.items[i]);
    assert(wr->pointers.len - row->first <= UINT16_MAX);
    row->npointers = (uint16_t)(wr->pointers.len - row->first);
    vec_release(&list);
}

/* "TYPE.FIELD", the type by its tag or typedef, with or without "struct". */
static bool is_hidden(const Monitoring *m, const Type *t, const char *field)
{
    for (char *const *h = m->plan.hidden; h && *h; h++) {
        const char *dot = strrchr(*h, '.'), *name = *h;
        if (!dot || strcmp(dot + 1, field) != 0)
            continue;
        name += str_starts(name, "struct ") ? 7 : str_starts(name, "union ") ? 6 : 0;
        char *type = xstrndup(name, (size_t)(dot - name));
        bool same = is_named(t, type);
        free(type);
        if (same)
            return true;
    }
    return false;
}

static void add_hidden(Writer *wr, const Type *type, uint64_t at, unsigned depth)
{
    const Type *t = type_plain(type);
    if (depth > 32)
        return;
    if (t->kind == TYPE_ARRAY) {
        const Type *element = type_plain(t->target);
        for (uint64_t i = 0; type_is_record(element) && i < t->count && i < 256; i++)
            add_hidden(wr, element, at + i * element->size, depth + 1);
    }
    for (unsigned i = 0; type_is_record(t) && i < t->nfields; i++) {
        const Field *f = &t->fields[i];
        if (is_hidden(wr->m, t, f->name))
            vec_push(&wr->hidden, ((SundewHidden){ (uint32_t)(at + f->offset / 8),
                                                   (uint32_t)((f->width + 7) / 8) }));
        else
            add_hidden(wr, f->type, at + f->offset / 8, depth + 1);
    }
}

static void add_type(Writer *wr, const Type *type)
{
    const Type *t = type_plain(type);
    SundewType row = { .kind = (uint8_t)kind_of(t),
                       .tail = ends_in_flexible_array(t),
                       .size = t->size > UINT32_MAX ? 0 : (uint32_t)t->size };
    add_pointers(wr, t, &row);
    row.first_hidden = (uint32_t)wr->hidden.len;
    if (wr->m->plan.hidden)
        add_hidden(wr, t, 0, 0);
    row.nhidden = (uint32_t)wr->hidden.len - row.first_hidden;
    vec_push(&wr->types, row);
}

static void add_types(Writer *wr)
{
    size_t n;
    const Type *const *all = types_all(program_types(wr->w->program), &n);
    vec_push(&wr->types, ((SundewType){ 0 }));
    for (size_t i = 0; i < n; i++) {
        assert(wr->types.len == monitor_type_number(all[i]));
        add_type(wr, all[i]);
    }
}

/* ---- constants */

static LLVMValueRef bytes(Writer *wr, const void *data, size_t n)
{
    return LLVMConstStringInContext2(wr->w->ctx, data, n, true);
}

static LLVMValueRef global(Writer *wr, const char *name, LLVMValueRef value)
{
    LLVMModuleRef m = wr->w->module;
    LLVMValueRef old = LLVMGetNamedGlobal(m, name);
    LLVMValueRef g = LLVMAddGlobal(m, LLVMTypeOf(value), old ? "" : name);
    if (old) {
        LLVMReplaceAllUsesWith(old, g);
        LLVMDeleteGlobal(old);
        LLVMSetValueName2(g, name, strlen(name));
    }
    LLVMSetInitializer(g, value);
    LLVMSetAlignment(g, 8);
    LLVMSetVisibility(g, LLVMHiddenVisibility);
    LLVMSetGlobalConstant(g, true);
    return g;
}

static LLVMValueRef table(Writer *wr, const char *name, const void *data, size_t n, size_t size)
{
    static const char none[64];
    assert(size <= sizeof none);
    return global(wr, name, n ? bytes(wr, data, n * size) : bytes(wr, none, size));
}

/* A pointer to a text. All stand in one array, which gets its content at the
 * end. */
static LLVMValueRef text(Writer *wr, const char *s)
{
    void **at = map_slot(&wr->name_at, s);
    if (!*at) {
        *at = (void *)(wr->names.len + 1);
        str_addn(&wr->names, s, strlen(s) + 1);
    }
    LLVMValueRef index = weave_int(wr->w, wr->w->i64, (size_t)*at - 1);
    return LLVMConstInBoundsGEP2(wr->w->i8, wr->names_global, &index, 1);
}

/* { u64 address, const char *symbol, bytes }; `value` NULL: no address. */
static LLVMValueRef entry(Writer *wr, LLVMValueRef value, const char *symbol, const void *rest,
                          size_t n)
{
    Woven *w = wr->w;
    LLVMValueRef fields[] = {
        value ? LLVMConstPtrToInt(value, w->i64) : weave_int(w, w->i64, 0),
        text(wr, symbol),
        bytes(wr, rest, n),
    };
    return LLVMConstStructInContext(w->ctx, fields, 3, false);
}

typedef Vec(LLVMValueRef) Entries;

static LLVMValueRef entries(Writer *wr, const char *name, Entries *all, size_t rest)
{
    static const char none[64];
    size_t n = all->len;
    assert(rest <= sizeof none);
    if (!n)
        vec_push(all, entry(wr, NULL, "", none, rest));
    LLVMValueRef array = LLVMConstArray2(LLVMTypeOf(all->items[0]), all->items, all->len);
    vec_release(all);
    return global(wr, name, array);
}

/* What stands behind address and symbol. */
#define REST(row, first)                                                                           \
    ((char *)&(row) + offsetof(__typeof__(row), first)),                                           \
        (sizeof(row) - offsetof(__typeof__(row), first))

/* ---- the tables */

typedef struct Flat {
    Vec(SundewParam) params;
    Vec(SundewLocal) locals;
    Vec(SundewStep) steps;
    Vec(uint32_t) uses;
} Flat;

static SundewFunction flatten(const Row *row, Flat *flat)
{
    assert(row->nslots <= MOST_SLOTS && row->locals.len <= MOST_LOCALS);
    assert(row->params.len <= UINT16_MAX && row->steps.len <= UINT16_MAX);
    SundewFunction f = {
        .id = row->fn->index + 1,
        .nslots = (uint16_t)row->nslots,
        .nparams = (uint16_t)row->params.len,
        .nlocals = (uint16_t)row->locals.len,
        .nsteps = (uint16_t)row->steps.len,
        .nuses = (uint32_t)row->uses.len,
        .params = (uint32_t)flat->params.len,
        .locals = (uint32_t)flat->locals.len,
        .steps = (uint32_t)flat->steps.len,
        .uses = (uint32_t)flat->uses.len,
        .result = monitor_type_number(row->fn->returns),
        .in_memory = row->fn->returns_in_memory,
    };
    for (size_t i = 0; i < row->params.len; i++)
        vec_push(&flat->params, row->params.items[i]);
    for (size_t i = 0; i < row->locals.len; i++)
        vec_push(&flat->locals, row->locals.items[i].local);
    for (size_t i = 0; i < row->steps.len; i++)
        vec_push(&flat->steps, row->steps.items[i]);
    for (size_t i = 0; i < row->uses.len; i++)
        vec_push(&flat->uses, row->uses.items[i]);
    return f;
}

static LLVMValueRef functions(Writer *wr, Flat *flat)
{
    Entries all = { 0 };
    for (size_t i = 0; i < wr->m->rows.len; i++) {
        const Row *row = &wr->m->rows.items[i];
        SundewFunction f = flatten(row, flat);
        LLVMValueRef value = LLVMGetNamedFunction(wr->w->module, row->fn->symbol);
        bool there = value && !LLVMIsDeclaration(value);
        vec_push(&all, entry(wr, there ? value : NULL, row->fn->symbol, REST(f, id)));
    }
    return entries(wr, "sundew_functions", &all,
                   sizeof(SundewFunction) - offsetof(SundewFunction, id));
}

static LLVMValueRef globals(Writer *wr, uint32_t *count)
{
    Entries all = { 0 };
    size_t n;
    const Variable *vars = program_variables(wr->w->program, &n);
    for (size_t i = 0; i < n; i++) {
        const Variable *v = &vars[i];
        LLVMValueRef value = LLVMGetNamedGlobal(wr->w->module, v->symbol);
        if (!v->defined || !v->type)
            continue;
        SundewGlobal g = { .id = (uint32_t)i + 1,
                           .type = monitor_type_number(v->type),
                           .size = v->size,
                           .constant = v->constant };
        bool there = value && !LLVMIsDeclaration(value) && !v->thread_local_;
        vec_push(&all, entry(wr, there ? value : NULL, v->symbol, REST(g, id)));
    }
    *count = (uint32_t)all.len;
    return entries(wr, "sundew_globals", &all, sizeof(SundewGlobal) - offsetof(SundewGlobal, id));
}

static LLVMValueRef externals(Writer *wr, uint32_t *count)
{
    Entries all = { 0 };
    for (LLVMValueRef f = LLVMGetFirstFunction(wr->w->module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        if (LLVMIsDeclaration(f) && !LLVMGetIntrinsicID(f) && llvm_is_address_taken(f))
            vec_push(&all, entry(wr, f, name, "", 0));
    }
    *count = (uint32_t)all.len;
    return entries(wr, "sundew_externals", &all, 0);
}

/* All but second-chance programs begin with everything on. */
static LLVMValueRef modes(Writer *wr)
{
    const MonitorPlan *plan = &wr->m->plan;
    char mode = plan->second_chance                ? SUNDEW_OFF
                : plan->strategy == COPY_REFERENCE ? SUNDEW_REFERENCE
                                                   : SUNDEW_FULL;
    size_t n = wr->m->rows.len + !wr->m->rows.len;
    char *all = xmalloc(n);
    memset(all, mode, n);
    LLVMValueRef g = global(wr, "sundew_modes", bytes(wr, all, n));
    LLVMSetGlobalConstant(g, false);
    free(all);
    return g;
}

void monitor_write_tables(Woven *w, void *arg)
{
    Monitoring *m = arg;
    Writer wr = { .w = w, .m = m };
    Flat flat = { 0 };
    SundewTables t = { .version = SUNDEW_TABLES_VERSION,
                       .overhead = m->plan.overhead,
                       .strategy = (uint32_t)m->plan.strategy,
                       .second_chance = m->plan.second_chance,
                       .variant = m->plan.variant & 0xffffff,
                       .nfunctions = (uint32_t)m->rows.len };
    wr.names_global = LLVMAddGlobal(w->module, w->i8, "sundew.names.later");
    add_types(&wr);
    t.ntypes = (uint32_t)wr.types.len;
    const CapturedProgram *captured = program_captured(w->program);
    const char *key = program_key(w->program);
    LLVMValueRef fns = functions(&wr, &flat);
    LLVMValueRef fields[] = {
        bytes(&wr, &t, offsetof(SundewTables, key)),
        text(&wr, key ? key : ""),
        text(&wr, captured ? captured->name : "program"),
        text(&wr, m->plan.build ? m->plan.build : ""),
        table(&wr, "sundew_types", wr.types.items, wr.types.len, sizeof(SundewType)),
        table(&wr, "sundew_pointers", wr.pointers.items, wr.pointers.len, sizeof(SundewPointer)),
        table(&wr, "sundew_hidden", wr.hidden.items, wr.hidden.len, sizeof(SundewHidden)),
        fns,
        table(&wr, "sundew_params", flat.params.items, flat.params.len, sizeof(SundewParam)),
        table(&wr, "sundew_locals", flat.locals.items, flat.locals.len, sizeof(SundewLocal)),
        table(&wr, "sundew_steps", flat.steps.items, flat.steps.len, sizeof(SundewStep)),
        table(&wr, "sundew_uses", flat.uses.items, flat.uses.len, sizeof(uint32_t)),
        globals(&wr, &t.nglobals),
        externals(&wr, &t.nexternals),
        modes(&wr),
        NULL,
    };
    fields[15] = bytes(&wr, REST(t, ntypes));
    LLVMValueRef names = global(&wr, "sundew_names", bytes(&wr, str_c(&wr.names), wr.names.len));
    LLVMReplaceAllUsesWith(wr.names_global, names);
    LLVMDeleteGlobal(wr.names_global);
    global(&wr, "sundew_tables", LLVMConstStructInContext(w->ctx, fields, 16, false));
    vec_release(&wr.types);
    vec_release(&wr.pointers);
    vec_release(&wr.hidden);
    vec_release(&flat.params);
    vec_release(&flat.locals);
    vec_release(&flat.steps);
    vec_release(&flat.uses);
    str_release(&wr.names);
    map_release(&wr.name_at);
}
