/*
 * optables - from initialisers and stores to tables of operations.
 *
 * A struct with a field that points to a function may be a table. Its variables are read
 * by offset, so that it does not matter how the compiler has laid out the initialiser.
 * For tables filled at run time, stores of functions are grouped by the function that has
 * the store and the pointer that it stores through:
 *
 *     %p = getelementptr %struct.ops, ptr %o, i32 0, i32 1
 *     store ptr @fast_put, ptr %p                     slot 1 of what %o points to
 *
 * A store to the first field may have no such instruction: it counts if others to the same
 * place say which struct it is.
 */
#include "program/optables.h"
#include "base/map.h"
#include "base/vec.h"
#include "program/program_llvm.h"
#include <assert.h>
#include <string.h>

typedef Vec(OpTable) Tables;
typedef Vec(OpImpl) Impls;
typedef Vec(const Function *) Functions;

typedef struct Finder {
    const Program *program;
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    Arena *arena;
    Tables tables;
    Vec(Impls) impls;            /* by table */
    Map by_name;                 /* "struct.ops" in the IR -> table + 1 */
} Finder;

/* ---- tables */

static const Type *slot_type(const Field *f)
{
    const Type *t = type_plain(f->type);
    const Type *to = t->kind == TYPE_POINTER ? type_plain(t->target) : NULL;
    return to && to->kind == TYPE_FUNCTION ? to : NULL;
}

static void add_table(Finder *x, const Type *t)
{
    unsigned n = 0;
    for (unsigned i = 0; i < t->nfields; i++)
        n += *t->fields[i].name && slot_type(&t->fields[i]);
    if (t->kind != TYPE_STRUCT || !n || (!*t->name && !t->alias))
        return;
    OpTable table = { .type = t, .slots = arena_array(x->arena, OpSlot, n) };
    table.name = *t->name ? arena_printf(x->arena, "struct %s", t->name) : t->alias->name;
    for (unsigned i = 0; i < t->nfields; i++) {
        const Type *f = slot_type(&t->fields[i]);
        if (f && *t->fields[i].name)
            table.slots[table.nslots++] = (OpSlot){ t->fields[i].name, f, t->fields[i].offset / 8 };
    }
    char *ir = arena_printf(x->arena, "struct.%s", *t->name ? t->name : t->alias->name);
    vec_push(&x->tables, table);
    vec_push(&x->impls, (Impls){ 0 });
    map_put(&x->by_name, ir, (void *)x->tables.len);
}

/* "struct.ops.12", too: of a second module. 0: none. */
static size_t table_of(const Finder *x, LLVMTypeRef t)
{
    if (LLVMGetTypeKind(t) != LLVMStructTypeKind || !LLVMGetStructName(t))
        return 0;
    const char *name = LLVMGetStructName(t), *dot = strrchr(name, '.');
    size_t found = (size_t)map_get(&x->by_name, name);
    if (!found && dot && dot > name + 7 && strspn(dot + 1, "0123456789") == strlen(dot + 1))
        found = (size_t)map_getn(&x->by_name, name, (size_t)(dot - name));
    return found;
}

/* ---- initialisers */

/* The constant that stands at an offset of an initialiser; NULL: zero, or none. */
static LLVMValueRef constant_at(const Finder *x, LLVMValueRef c, uint64_t at)
{
    while (LLVMGetTypeKind(LLVMTypeOf(c)) != LLVMPointerTypeKind) {
        LLVMTypeRef t = LLVMTypeOf(c);
        unsigned i;
        if (LLVMIsNull(c) || LLVMIsUndef(c))
            return NULL;
        if (LLVMGetTypeKind(t) == LLVMStructTypeKind && LLVMCountStructElementTypes(t)) {
            i = LLVMElementAtOffset(x->layout, t, at);
            if (i >= LLVMCountStructElementTypes(t))
                return NULL;
            at -= LLVMOffsetOfElement(x->layout, t, i);
        } else if (LLVMGetTypeKind(t) == LLVMArrayTypeKind && LLVMIsAConstantArray(c)) {
            uint64_t size = LLVMABISizeOfType(x->layout, LLVMGetElementType(t));
            if (!size || at / size >= LLVMGetArrayLength2(t))
                return NULL;
            i = (unsigned)(at / size);
            at %= size;
        } else {
            return NULL;
        }
        c = LLVMGetAggregateElement(c, i);
        if (!c)
            return NULL;
    }
    return at ? NULL : c;
}

static const Function *function_of(const Finder *x, LLVMValueRef c)
{
    if (!c || !LLVMIsAFunction(c))
        return NULL;
    const Function *f = program_function_of(x->program, c);
    return f && !f->intrinsic ? f : NULL;
}

/* The text that a pointer in an initialiser leads to; NULL: none. */
static const char *text_of(const Finder *x, LLVMValueRef c)
{
    size_t n;
    LLVMValueRef v = c && LLVMIsAGlobalVariable(c) ? LLVMGetInitializer(c) : NULL;
    if (!v || !LLVMIsAConstantDataSequential(v) || !LLVMIsConstantString(v))
        return NULL;
    const char *s = LLVMGetAsString(v, &n);
    n = strnlen(s, n);
    return n && n < 64 ? arena_strndup(x->arena, s, n) : NULL;
}

static const char *label_of(const Finder *x, const Type *t, LLVMValueRef c, uint64_t at)
{
    static const char *const names[] = { "name", "id", "label", "zName", "title", NULL };
    for (unsigned i = 0; i < t->nfields; i++)
        if (str_is_one_of(t->fields[i].name, names)) {
            const char *text = text_of(x, constant_at(x, c, at + t->fields[i].offset / 8));
            if (text)
                return text;
        }
    return NULL;
}

/* ---- who names a variable */

static void add_user(Functions *out, const Function *f)
{
    for (size_t i = 0; i < out->len; i++)
        if (out->items[i] == f)
            return;
    if (f)
        vec_push(out, f);
}

static void find_users(const Finder *x, LLVMValueRef v, int depth, Functions *out)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef by = LLVMGetUser(u);
        if (LLVMIsAInstruction(by))
            add_user(out, program_function_of(x->program, LLVMGetBasicBlockParent(
                                                              LLVMGetInstructionParent(by))));
        else if (LLVMIsAConstantExpr(by) && depth < 4)
            find_users(x, by, depth + 1, out);
    }
}

static void take_users(Finder *x, OpImpl *impl, Functions *users)
{
    impl->users = arena_array(x->arena, const Function *, users->len + 1);
    if (users->len)
        memcpy(impl->users, users->items, users->len * sizeof *users->items);
    impl->nusers = users->len;
    vec_release(users);
}

/* ---- types of functions */

static bool compatible(const Type *a, const Type *b, int depth);

static bool same_parameters(const Type *a, const Type *b, int depth)
{
    if (a->nparams != b->nparams || a->variadic != b->variadic)
        return false;
    for (unsigned i = 0; i < a->nparams; i++)
        if (!compatible(a->params[i], b->params[i], depth + 1))
            return false;
    return compatible(a->target, b->target, depth + 1);
}

/* As C has it, but all data pointers fit each other: casts of tables do that. */
static bool compatible(const Type *a, const Type *b, int depth)
{
    a = a ? type_plain(a) : NULL;
    b = b ? type_plain(b) : NULL;
    if (a == b || !a || !b || depth > 4)
        return true;
    if (a->kind == TYPE_FUNCTION && b->kind == TYPE_FUNCTION)
        return !a->prototyped || !b->prototyped || same_parameters(a, b, depth);
    if (a->kind == TYPE_ENUM || b->kind == TYPE_ENUM)
        return a->size == b->size;
    if (a->kind == TYPE_POINTER && b->kind == TYPE_POINTER)
        return (type_plain(a->target)->kind == TYPE_FUNCTION) ==
               (type_plain(b->target)->kind == TYPE_FUNCTION);
    return a->kind == b->kind && a->size == b->size &&
           (a->kind != TYPE_SCALAR ||
            (a->encoding == ENCODING_FLOAT) == (b->encoding == ENCODING_FLOAT));
}

static void check_type(Finder *x, const OpTable *t, OpImpl *impl, unsigned slot)
{
    const Function *f = impl->slots[slot];
    if (impl->wrong || !f->type || compatible(t->slots[slot].type, f->type, 0))
        return;
    Str has = { 0 }, wants = { 0 };
    type_print(f->type, NULL, &has);
    type_print(t->slots[slot].type, NULL, &wants);
    impl->wrong = arena_printf(x->arena, "slot %s has the type %s, %s() is %s", t->slots[slot].name,
                               str_c(&wants), f->name, str_c(&has));
    str_release(&has);
    str_release(&wants);
}

static void add_impl(Finder *x, size_t table, OpImpl *impl, Functions *users)
{
    const OpTable *t = &x->tables.items[table];
    for (unsigned i = 0; i < t->nslots; i++)
        if (impl->slots[i]) {
            impl->nfilled++;
            check_type(x, t, impl, i);
        }
    if (!impl->nfilled) {
        vec_release(users);
        return;
    }
    take_users(x, impl, users);
    vec_push(&x->impls.items[table], *impl);
}

/* ---- variables */

static const Variable *variable_of(const Finder *x, LLVMValueRef g)
{
    size_t n;
    const Variable *all = program_variables(x->program, &n);
    const char *name = LLVMGetValueName2(g, &(size_t){ 0 });
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].symbol, name) == 0)
            return &all[i];
    return NULL;
}

/* A table that stands at an offset of a variable's initialiser. */
static void read_table(Finder *x, size_t table, LLVMValueRef g, const Variable *v, uint64_t at,
                       const char *name)
{
    const OpTable *t = &x->tables.items[table];
    LLVMValueRef init = LLVMGetInitializer(g);
    Functions users = { 0 };
    OpImpl impl = { .name = name,
                    .symbol = arena_strdup(x->arena, LLVMGetValueName2(g, &(size_t){ 0 })),
                    .at = at,
                    .is_static = !v || v->linkage != LINKAGE_EXTERNAL,
                    .file = v ? v->file : "",
                    .line = v ? v->line : 0,
                    .slots = arena_array(x->arena, const Function *, t->nslots),
                    .label = label_of(x, t->type, init, at) };
    for (unsigned i = 0; i < t->nslots; i++)
        impl.slots[i] = function_of(x, constant_at(x, init, at + t->slots[i].offset));
    find_users(x, g, 0, &users);
    if (!v && users.len == 1)        /* a constant that a function copies */
        impl.name = users.items[0]->name;
    add_impl(x, table, &impl, &users);
}

static void read_variable(Finder *x, LLVMValueRef g)
{
    LLVMValueRef init = LLVMGetInitializer(g);
    const Variable *v = variable_of(x, g);
    const Type *t = v && v->type ? type_plain(v->type) : NULL;
    uint64_t n = 1, size;
    size_t table = 0;
    const char *name = v ? v->name : LLVMGetValueName2(g, &(size_t){ 0 });
    if (!init || LLVMIsNull(init))
        return;
    if (t && t->kind == TYPE_ARRAY) {
        n = t->count;
        t = type_plain(t->target);
    }
    for (size_t i = 0; t && i < x->tables.len; i++)
        if (x->tables.items[i].type == t)
            table = i + 1;
    if (!t)
        table = table_of(x, LLVMTypeOf(init));
    if (!table)
        return;
    size = x->tables.items[table - 1].type->size;
    for (uint64_t i = 0; i < n && i < 256; i++)
        read_table(x, table - 1, g, v, i * size,
                   n > 1 ? arena_printf(x->arena, "%s[%u]", name, (unsigned)i)
                         : arena_strdup(x->arena, name));
}

/* ---- stores */

/* The stores of one function into one table: where it begins is a pointer, and bytes
 * behind it. */
typedef struct Filling {
    LLVMValueRef base;
    int64_t start;
    size_t table;                /* + 1; 0: not known yet */
    LLVMValueRef first;          /* the function at offset 0; NULL */
    OpImpl impl;
} Filling;
typedef Vec(Filling) Fillings;

static Filling *filling_of(Fillings *all, LLVMValueRef base, int64_t start)
{
    for (size_t i = 0; i < all->len; i++)
        if (all->items[i].base == base && all->items[i].start == start)
            return &all->items[i];
    Filling *f = vec_grow(all);
    f->base = base;
    f->start = start;
    return f;
}

static LLVMTypeRef type_of_base(LLVMValueRef base)
{
    return LLVMIsAAllocaInst(base)       ? LLVMGetAllocatedType(base)
           : LLVMIsAGlobalVariable(base) ? LLVMGlobalGetValueType(base)
                                         : NULL;
}

static bool is_gep(LLVMValueRef v)
{
    return LLVMIsAGetElementPtrInst(v) ||
           (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

/* The place that an address names. */
typedef struct Place {
    LLVMValueRef base;
    int64_t start, at;           /* of the table in it; of the slot in the table */
    size_t table;                /* + 1; 0: not known */
} Place;

static bool place_of(const Finder *x, LLVMValueRef to, Place *out)
{
    int64_t total = 0, off;
    *out = (Place){ 0 };
    for (; is_gep(to); to = LLVMGetOperand(to, 0)) {
        if (!llvm_gep_offset(x->layout, to, &off))
            return false;
        total += off;
        size_t table = out->table ? 0 : table_of(x, LLVMGetGEPSourceElementType(to));
        if (table) {
            out->table = table;
            out->at = total;
        }
    }
    LLVMTypeRef known = type_of_base(to);
    if (!out->table && known && (out->table = table_of(x, known)) != 0)
        out->at = total;
    out->base = to;
    out->start = total - out->at;
    return out->at >= 0;
}

static void see_store(Finder *x, Fillings *all, LLVMValueRef store)
{
    LLVMValueRef fn = LLVMGetOperand(store, 0);
    Place place;
    if (!function_of(x, fn) || !place_of(x, LLVMGetOperand(store, 1), &place))
        return;
    Filling *f = filling_of(all, place.base, place.start);
    if (!f->table && place.table) {
        f->table = place.table;
        f->impl.slots =
            arena_array(x->arena, const Function *, x->tables.items[place.table - 1].nslots);
    }
    if (!place.at)
        f->first = fn;
    for (unsigned i = 0; f->table && i < x->tables.items[f->table - 1].nslots; i++)
        if (place.at && x->tables.items[f->table - 1].slots[i].offset == (uint64_t)place.at)
            f->impl.slots[i] = function_of(x, fn);
}

static void end_filling(Finder *x, const Function *by, Filling *f)
{
    Functions users = { 0 };
    if (!f->table)
        return;
    const OpTable *t = &x->tables.items[f->table - 1];
    for (unsigned i = 0; f->first && i < t->nslots; i++)
        if (!t->slots[i].offset)
            f->impl.slots[i] = function_of(x, f->first);
    f->impl.at_run_time = true;
    f->impl.name = by->name;
    f->impl.file = by->file;
    f->impl.line = by->line;
    if (LLVMIsAGlobalVariable(f->base)) {
        const Variable *v = variable_of(x, f->base);
        f->impl.symbol = arena_strdup(x->arena, LLVMGetValueName2(f->base, &(size_t){ 0 }));
        f->impl.name = v ? v->name : f->impl.symbol;
        f->impl.is_static = !v || v->linkage != LINKAGE_EXTERNAL;
    }
    vec_push(&users, by);
    add_impl(x, f->table - 1, &f->impl, &users);
}

static void read_stores(Finder *x, LLVMValueRef fn)
{
    Fillings all = { 0 };
    const Function *by = program_function_of(x->program, fn);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); by && b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMStore)
                see_store(x, &all, i);
    for (size_t i = 0; i < all.len; i++)
        end_filling(x, by, &all.items[i]);
    vec_release(&all);
}

/* ---- whole */

static void take_tables(Finder *x, OpTables *out)
{
    out->all = arena_array(&out->arena, OpTable, x->tables.len + 1);
    for (size_t i = 0; i < x->tables.len; i++) {
        Impls *impls = &x->impls.items[i];
        OpTable *t = &out->all[out->n];
        if (impls->len) {
            *t = x->tables.items[i];
            t->nimpls = impls->len;
            t->impls = arena_array(&out->arena, OpImpl, impls->len);
            memcpy(t->impls, impls->items, impls->len * sizeof *t->impls);
            out->n++;
        }
        vec_release(impls);
    }
}

bool optables_find(const Program *p, OpTables *out, Err *err)
{
    if (!program_load_module(p, err))
        return false;
    Finder x = { .program = p, .module = program_module(p), .arena = &out->arena };
    size_t n;
    const Type *const *types = types_all(program_types(p), &n);
    x.layout = LLVMGetModuleDataLayout(x.module);
    for (size_t i = 0; i < n; i++)
        add_table(&x, types[i]);
    for (LLVMValueRef g = LLVMGetFirstGlobal(x.module); g; g = LLVMGetNextGlobal(g))
        read_variable(&x, g);
    for (LLVMValueRef f = LLVMGetFirstFunction(x.module); f; f = LLVMGetNextFunction(f))
        read_stores(&x, f);
    take_tables(&x, out);
    vec_release(&x.tables);
    vec_release(&x.impls);
    map_release(&x.by_name);
    optables_check(out);
    return true;
}

void optables_release(OpTables *t)
{
    arena_release(&t->arena);
    *t = (OpTables){ 0 };
}

const OpTable *optables_table(const OpTables *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *whole = t->all[i].name, *space = strchr(whole, ' ');
        if (strcmp(whole, name) == 0 || (space && strcmp(space + 1, name) == 0))
            return &t->all[i];
    }
    return NULL;
}

const OpImpl *optable_impl(const OpTable *t, const char *name)
{
    const OpImpl *found = NULL;
    size_t n = 0;
    for (size_t i = 0; i < t->nimpls; i++)
        if (strcmp(t->impls[i].name, name) == 0)
            return &t->impls[i];
    for (size_t i = 0; i < t->nimpls; i++)
        if (t->impls[i].label && strcmp(t->impls[i].label, name) == 0)
            return &t->impls[i];
    for (size_t i = 0; i < t->nimpls; i++)
        if (str_ends(t->impls[i].name, name)) {
            found = &t->impls[i];
            n++;
        }
    return n == 1 ? found : NULL;
}

void optables_check(const OpTables *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const OpTable *o = &t->all[i];
        assert(o->type->kind == TYPE_STRUCT && o->nslots && o->nimpls && *o->name);
        for (unsigned k = 0; k < o->nslots; k++)
            assert(o->slots[k].type->kind == TYPE_FUNCTION && o->slots[k].offset < o->type->size);
        for (size_t k = 0; k < o->nimpls; k++) {
            assert(o->impls[k].nfilled && o->impls[k].nfilled <= o->nslots);
            assert(o->impls[k].symbol || o->impls[k].at_run_time);
        }
    }
}
