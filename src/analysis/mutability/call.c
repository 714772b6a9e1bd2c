/*
 * A call meets what is known of the function it calls: the effects of a body,
 * seen through the arguments; a line of the library's summaries; or nothing,
 * which is an obstacle for all that the call is given.
 */
#include "analysis/mutability/mutability_int.h"
#include <assert.h>
#include <string.h>

typedef struct Actuals {
    const PathSet *sets[64];     /* of the first arguments */
    unsigned n;
    LLVMValueRef call;           /* NULL for a callback: no operands to look at */
    bool unmeant;                /* the function has another type than the call:
                                  * what it writes is a question, no answer */
    uint64_t printed;            /* variadic arguments that a format only prints */
    uint64_t copied;             /* arguments that are structs, copied to the callee */
} Actuals;

static const PathSet nothing;

static const PathSet *actual(const Actuals *a, unsigned i)
{
    return i < a->n ? a->sets[i] : &nothing;
}

static void become(Body *b, bool *flag)
{
    if (!*flag)
        *flag = b->flow.changed = b->grown = true;
}

/* ---- a body's paths, seen from here */

static bool is_byval(LLVMValueRef fn, unsigned i)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);

    return LLVMGetEnumAttributeAtIndex(fn, i + 1, kind) != NULL;
}

static void follow(Body *b, uint32_t op, const Path *p, unsigned from, PathSet *set)
{
    for (unsigned i = from; i < p->depth; i++) {
        PathSet next = { 0 };
        mut_load(b, set, p->at[i], op, &next);
        pathset_release(set);
        *set = next;
    }
    if (p->deeper)
        mut_load_all(b, op, set);
    if (p->off) {
        PathSet moved = { 0 };
        for (uint32_t i = 0; i < set->len; i++)
            pathset_add(&moved, path_plus(set->items[i], p->off));
        pathset_release(set);
        *set = moved;
    }
}

/* The paths `s` with at least this doubt. */
static void add_doubted(PathSet *out, const PathSet *s, uint8_t level)
{
    for (uint32_t i = 0; i < s->len; i++) {
        Path p = s->items[i];
        if (p.maybe < level && p.root != ROOT_UNKNOWN)
            p.maybe = level;
        pathset_add(out, p);
    }
}

/* What was a guess by way of memory stays one; what is meant for another, too. */
static void doubt(PathSet *s, uint8_t level)
{
    PathSet doubted = { 0 };

    add_doubted(&doubted, s, level > PATH_SOMEWHERE ? level : PATH_OF_SEVERAL);
    pathset_release(s);
    *s = doubted;
}

/* The callee's path as paths of the caller. */
static void resolve(Body *b, uint32_t op, const Body *g, const Actuals *a, const Path *p,
                    PathSet *out)
{
    if (p->root == ROOT_UNKNOWN || root_is_global(p->root)) {
        pathset_add(out, path_root(p->root));
        follow(b, op, p, 0, out);
    } else if (p->root < g->nargs) {
        if (!actual(a, p->root)->len)
            return;
        pathset_union(out, actual(a, p->root));
        follow(b, op, p, 0, out);
    } else if (p->root == g->nargs && p->depth) {        /* variadic */
        for (unsigned i = g->nargs; i < a->n; i++) {
            PathSet held = { 0 };
            if (a->copied >> i & 1)
                mut_load(b, actual(a, i), ANYWHERE, op, &held);
            add_doubted(out, a->copied >> i & 1 ? &held : actual(a, i),
                        a->printed >> i & 1 ? PATH_PRINTED : 0);
            pathset_release(&held);
        }
        follow(b, op, p, 1, out);
    }
    if (p->maybe)
        doubt(out, p->maybe);
}

static bool is_of_copy(const Body *g, const Path *p)
{
    return !p->depth && p->root < g->nargs && is_byval(g->value, p->root);
}

static void fresh_result(Body *b, uint32_t op, PathSet *out)
{
    LLVMValueRef inst = b->ops.items[op].inst;

    pathset_add(out, path_root(ROOT_LOCAL | mut_local(b, inst, false)));
}

/* A write that is not certain, of an object that the function gets as const? */
static bool breaks_const(const Body *g, const Effect *e)
{
    return (e->kind == EFFECT_WRITE || e->kind == EFFECT_FREE) && e->maybe && !e->path.depth &&
           e->path.root < g->nargs && g->to_const[e->path.root];
}

/* A variadic argument that leaves by a format of the caller's, which prints what it points to. */
static void take_reason(Body *b, uint32_t op, const PathSet *src, Effect like)
{
    PathSet printed = { 0 }, rest = { 0 };

    for (uint32_t i = 0; i < src->len; i++) {
        bool shown = like.reason == MUT_CAST && src->items[i].maybe == PATH_PRINTED;
        pathset_add(shown ? &printed : &rest, src->items[i]);
    }
    mut_obstacle(b, &rest, op, &like);
    like.reason = MUT_PRINTED;
    mut_obstacle(b, &printed, op, &like);
    pathset_release(&printed);
    pathset_release(&rest);
}

/* The same without the variadic arguments that are pointers. */
static Actuals numbers_of(const Actuals *a, unsigned fixed)
{
    Actuals out = *a;

    for (unsigned i = fixed; a->call && i < a->n; i++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(a->call, i))) == LLVMPointerTypeKind)
            out.sets[i] = &nothing;
    return out;
}

static void take_effect(Body *b, uint32_t op, const Body *g, const Actuals *a, uint32_t index,
                        uint8_t maybe)
{
    assert(index < g->flow.effects.len && b->ops.items[op].kind == OP_CALL);
    Effect e = g->flow.effects.items[index];
    Effect like = { .kind = e.kind,
                    .reason = e.reason,
                    .numbers = e.numbers,
                    .maybe = maybe > e.maybe ? maybe : e.maybe,
                    .inst = b->ops.items[op].inst,
                    .origin = e.origin,
                    .callee = g->value,
                    .next = index };
    PathSet src = { 0 }, dest = { 0 };

    if (is_of_copy(g, &e.path))
        return;
    if (like.maybe < PATH_DECLARED && breaks_const(g, &e))
        like.maybe = PATH_DECLARED;
    bool listed = e.numbers && e.path.root == g->nargs;
    Actuals numbers = listed ? numbers_of(a, g->nargs) : *a;
    like.numbers &= !listed;
    resolve(b, op, g, &numbers, &e.path, &src);
    if (like.maybe)
        doubt(&src, like.maybe);
    switch (src.len ? e.kind : EFFECT_RETURN + 10) {
    case EFFECT_WRITE:
    case EFFECT_FREE:
        if (!a->unmeant) {
            mut_write(b, &src, &like);
            break;
        }
        like.kind = EFFECT_REASON;
        like.reason = MUT_INDIRECT;
        mut_obstacle(b, &src, op, &like);
        break;
    case EFFECT_REASON: take_reason(b, op, &src, like); break;
    case EFFECT_STORE:
        resolve(b, op, g, a, &e.dest, &dest);
        mut_store(b, &dest, &src, op, &like);
        break;
    case EFFECT_RETURN:
        fresh_result(b, op, &dest);
        for (uint32_t i = 0; i < src.len; i++) {
            Path to = e.dest;
            to.root = dest.items[0].root;
            mut_put(b, &to, &src.items[i], op);
        }
        break;
    default: break;
    }
    pathset_release(&src);
    pathset_release(&dest);
}

static void add_result(Body *b, uint32_t op, const PathSet *got)
{
    uint32_t dst = b->ops.items[op].dst;

    assert(dst == NONE || dst < b->sets.len);
    if (dst != NONE)
        b->grown |= pathset_union(&b->sets.items[dst], got);
}

/* Where a call stands with a function. Sets and memory only grow, so their
 * sizes tell whether there is something new. */
static Met *met(Body *b, uint32_t op, const Body *g)
{
    assert(g->fn);               /* it has a body */
    uint64_t key = (uint64_t)op << 32 | g->fn->index;
    uint32_t i = pttable_get(&b->met_of, key);

    if (i == NONE) {
        i = (uint32_t)b->met.len;
        pttable_put(&b->met_of, key, i);
        vec_push(&b->met, ((Met){ .inputs = UINT64_MAX }));
    }
    return &b->met.items[i];
}

static uint64_t inputs(const Body *b, const Actuals *a)
{
    uint64_t sum = (uint64_t)b->memory << 32;

    for (unsigned i = 0; i < a->n; i++)
        sum += a->sets[i]->len;
    return sum;
}

static void meet_effects(Body *b, uint32_t op, const Body *g, const Actuals *a, uint8_t maybe)
{
    Met now = { inputs(b, a), (uint32_t)g->flow.effects.len, g->flow.version };
    Met *before = met(b, op, g);
    bool same = a->call && before->inputs == now.inputs && before->version == now.version;

    for (uint32_t i = same ? before->effects : 0; i < now.effects; i++)
        take_effect(b, op, g, a, i, maybe);
    *met(b, op, g) = now;
}

static void meet_body(Body *b, uint32_t op, const Body *g, const Actuals *a, uint8_t maybe,
                      PathSet *result)
{
    meet_effects(b, op, g, a, maybe);
    for (unsigned i = 0; i < g->nargs && i < a->n; i++)
        if (g->flow.reads[i])
            mut_read(b, actual(a, i));
    if (g->flow.reads_memory)
        become(b, &b->flow.reads_memory);
    if (g->flow.impure)
        become(b, &b->flow.impure);
    if (g->flow.fresh) {
        fresh_result(b, op, result);
        Local *l = &b->locals.items[mut_local(b, b->ops.items[op].inst, false)];
        l->exposed = true;       /* the callee may have filled it */
    }
    for (uint32_t i = 0; i < g->flow.returns.len; i++) {
        PathSet got = { 0 };
        resolve(b, op, g, a, &g->flow.returns.items[i], &got);
        if (maybe)
            doubt(&got, maybe);
        pathset_union(result, &got);
        pathset_release(&got);
    }
}

/* ---- a library function with a summary */

static void term(Body *b, uint32_t op, const SummaryTerm *t, const Summary *s, const Actuals *a,
                 unsigned stars, PathSet *out)
{
    switch (t->kind) {
    case SUMMARY_PARAM: pathset_union(out, actual(a, t->param)); break;
    case SUMMARY_REST:
        for (unsigned i = (unsigned)s->nparams; i < a->n; i++)
            pathset_union(out, actual(a, i));
        break;
    case SUMMARY_NEW:
    case SUMMARY_RETURN:
        if (mut_maps_shared(NULL, b->ops.items[op].inst))
            pathset_add(out, path_root(ROOT_UNKNOWN));
        else
            fresh_result(b, op, out);
        break;
    case SUMMARY_NOTHING: return;
    default: pathset_add(out, path_root(ROOT_UNKNOWN)); return;
    }
    Path p = { .depth = (uint16_t)(stars > MUT_DEREFS ? MUT_DEREFS : stars),
               .off = t->anywhere ? ANYWHERE : 0 };
    follow(b, op, &p, 0, out);
}

static void anywhere(PathSet *s)
{
    PathSet moved = { 0 };

    for (uint32_t i = 0; i < s->len; i++)
        pathset_add(&moved, path_plus(s->items[i], ANYWHERE));
    pathset_release(s);
    *s = moved;
}

static bool copies_text(Mutability *m, Body *b, uint32_t op, const SummaryAssign *x,
                        const Summary *s, const Actuals *a, const Effect *like)
{
    PathSet from = { 0 }, got = { 0 }, to = { 0 };
    bool others = a->call && x->from.kind == SUMMARY_PARAM &&
                  x->from.param < LLVMGetNumArgOperands(a->call) &&
                  mut_has_seen_pointers(m, LLVMGetOperand(a->call, x->from.param), 8);

    if (!s->text)
        return false;
    term(b, op, &x->from, s, a, x->from.stars - 1, &from);
    for (uint32_t i = 0; i < from.len; i++)
        mut_load_part(b, &from.items[i], 8, others, op, &got);
    term(b, op, &x->to, s, a, x->to.stars - 1, &to);
    anywhere(&to);
    mut_store(b, &to, &got, op, like);
    pathset_release(&from);
    pathset_release(&got);
    pathset_release(&to);
    return true;
}

static bool copies_pointers(const Mutability *m, const SummaryTerm *from, const Actuals *a)
{
    return from->kind != SUMMARY_PARAM || !a->call ||
           from->param >= LLVMGetNumArgOperands(a->call) ||
           mut_holds_pointers(m, LLVMGetOperand(a->call, from->param), 0);
}

static void assign(Mutability *m, Body *b, uint32_t op, const SummaryAssign *x, const Summary *s,
                   const Actuals *a, Effect like)
{
    PathSet to = { 0 }, from = { 0 };
    bool memory = x->from.stars && x->to.stars;

    if (memory && (copies_text(m, b, op, x, s, a, &like) || !copies_pointers(m, &x->from, a)))
        return;
    if (x->to.kind == SUMMARY_STATE && x->from.stars == 1 && !x->from.anywhere) {
        PathSet object = { 0 };                  /* all that is stored in it */
        term(b, op, &x->from, s, a, 0, &object);
        mut_load(b, &object, ANYWHERE, op, &from);
        pathset_release(&object);
    } else {
        term(b, op, &x->from, s, a, x->from.stars, &from);
    }
    if (x->to.kind == SUMMARY_STATE) {
        like.reason = MUT_KEPT;
        mut_obstacle(b, &from, op, &like);
    } else {
        term(b, op, &x->to, s, a, x->to.stars ? x->to.stars - 1 : 0, &to);
        if (memory) {
            PathSet all = { 0 };
            pathset_release(&from);
            term(b, op, &x->from, s, a, x->from.stars - 1, &from);
            mut_load(b, &from, ANYWHERE, op, &all);
            pathset_release(&from);
            from = all;
            anywhere(&to);
        }
        mut_store(b, &to, &from, op, &like);
    }
    pathset_release(&to);
    pathset_release(&from);
}

/* Memory that it may write further away. */
static void writes_further(Body *b, uint32_t op, const SummaryTerm *t, const Summary *s,
                           const Actuals *a, Effect like)
{
    PathSet at = { 0 };

    term(b, op, t, s, a, 0, &at);
    for (unsigned i = 0; i < t->stars; i++) {
        PathSet next = { 0 };
        mut_load(b, &at, ANYWHERE, op, &next);
        pathset_release(&at);
        at = next;
    }
    anywhere(&at);
    if (like.maybe < PATH_OF_SEVERAL)
        like.maybe = PATH_OF_SEVERAL;
    mut_write(b, &at, &like);
    pathset_release(&at);
}

/* The arguments that a va_list leads to. */
static void arguments_in(Body *b, const PathSet *list, uint32_t op, PathSet *out)
{
    PathSet memory = { 0 };

    mut_load(b, list, ANYWHERE, op, &memory);
    mut_load(b, &memory, ANYWHERE, op, out);
    pathset_release(&memory);
}

static void use_of(Body *b, uint32_t op, unsigned use, bool others, const PathSet *v, Effect like)
{
    PathSet all = { 0 };

    if (!v->len)
        return;
    pathset_union(&all, v);
    anywhere(&all);
    if (use & SUMMARY_DEEP)
        mut_load_all(b, op, &all);
    if (use & SUMMARY_READ)
        mut_read(b, &all);
    if (use & SUMMARY_WRITE) {
        mut_write(b, &all, &like);
    } else if (use & SUMMARY_MAY) {
        Effect may = like;
        may.maybe = like.maybe > PATH_OF_SEVERAL ? like.maybe : PATH_OF_SEVERAL;
        mut_write(b, &all, &may);
    }
    if (use & (SUMMARY_LEAVES | SUMMARY_TEXT)) {
        Effect gone = like;
        gone.reason = MUT_CAST;
        bool list = use & SUMMARY_DEEP && use & SUMMARY_TEXT;
        PathSet text = { 0 };
        if (list) {
            arguments_in(b, v, op, &text);
            mut_load_all(b, op, &text);
        }
        mut_leaves(b,
                   list                 ? &text
                   : use & SUMMARY_DEEP ? &all
                                        : v,
                   use & SUMMARY_TEXT ? 8 : 0, others, op, &gone);
        pathset_release(&text);
    }
    if (use & SUMMARY_FREE) {
        like.kind = EFFECT_FREE;
        mut_write(b, v, &like);
    }
    if (use & SUMMARY_KEEP) {
        like.reason = MUT_KEPT;
        mut_obstacle(b, v, op, &like);
    }
    pathset_release(&all);
}

/* ---- printf writes with %n only */

static bool has_conversion(const char *s, size_t n, char conversion)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '%')
            continue;
        for (i++; i < n && s[i] && strchr("0123456789$*.#-+ 'hlLjztqI", s[i]); i++)
            ;
        if (i < n && s[i] == conversion)
            return true;
    }
    return false;
}

/* A constant text, narrow or wide, or an array or struct with such texts in it. */
static bool constant_has(LLVMValueRef c, char conversion)
{
    if (LLVMIsAConstantArray(c) || LLVMIsAConstantStruct(c)) {
        bool found = false;
        for (int i = 0; !found && i < LLVMGetNumOperands(c); i++)
            found = constant_has(LLVMGetOperand(c, (unsigned)i), conversion);
        return found;
    }
    if (!LLVMIsAConstantDataArray(c))
        return false;
    size_t n;
    if (LLVMIsConstantString(c)) {
        const char *s = LLVMGetAsString(c, &n);
        return has_conversion(s, n, conversion);
    }
    LLVMTypeRef t = LLVMTypeOf(c);
    if (LLVMGetTypeKind(LLVMGetElementType(t)) != LLVMIntegerTypeKind)
        return false;
    Str text = { 0 };
    for (uint64_t i = 0; i < LLVMGetArrayLength2(t); i++) {
        uint64_t x = LLVMConstIntGetZExtValue(LLVMGetAggregateElement(c, (unsigned)i));
        str_addc(&text, x < 128 ? (char)x : '?');
    }
    bool found = has_conversion(text.data, text.len, conversion);
    str_release(&text);
    return found;
}

static bool literal_has(LLVMValueRef g, char conversion)
{
    LLVMValueRef c = LLVMIsAGlobalVariable(g) ? LLVMGetInitializer(g) : NULL;
    return c && constant_has(c, conversion);
}

/* Is it a text that only goes to scanf() and its kin? Nobody prints by it. */
static bool is_only_scanned(LLVMValueRef g)
{
    bool found = false;

    for (LLVMUseRef u = LLVMGetFirstUse(g); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        LLVMValueRef fn = LLVMIsACallInst(call) ? LLVMGetCalledValue(call) : NULL;
        size_t n;
        found = fn && LLVMIsAFunction(fn) && LLVMIsDeclaration(fn) &&
                str_ends(LLVMGetValueName2(fn, &n), "scanf");
        if (!found)
            return false;
    }
    return found;
}

bool mut_literal_has(LLVMValueRef g, char conversion) { return literal_has(g, conversion); }

bool mut_has_conversion(LLVMModuleRef module, char conversion)
{
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
        if (literal_has(g, conversion) && !(conversion == 'n' && is_only_scanned(g)))
            return true;
    return false;
}

/* May the program itself have made the string there, character by character? */
static bool is_made_here(const Mutability *m, LLVMValueRef string)
{
    PtSet s = pointsto_value(m->pt, string, 0);

    for (size_t i = 0; i < s.n; i++) {
        const PtObject *o = &m->pt->shown[m->pt->locs.items[s.locs[i]].object];
        if (o->kind == PT_STACK || o->kind == PT_HEAP ||
            (o->kind == PT_GLOBAL && o->site && !LLVMIsGlobalConstant(o->site)))
            return true;
    }
    return false;
}

/* A format that a literal gives is looked at; another one is harmless if no
 * string of the program has the conversion, and the program doesn't make strings
 * that are formats. */
static bool format_may_write(const Mutability *m, const Summary *s, LLVMValueRef call)
{
    size_t at = s->nparams - (s->variadic ? 1 : 2);

    if (m->own_conversions)
        return true;
    if (!call || s->nparams < (s->variadic ? 1 : 2) || at >= LLVMGetNumArgOperands(call))
        return m->percent_n;
    LLVMValueRef f = LLVMGetOperand(call, (unsigned)at);
    if (ptvalues_is_literal(f))
        return literal_has(f, 'n');
    return m->percent_n || is_made_here(m, f);
}

/* Does it write only with %n? */
static bool is_formatted(const char *name)
{
    static const char *const names[] = { "warn",         "warnx",         "err",    "errx",
                                         "error",        "vwarn",         "vwarnx", "verr",
                                         "verrx",        "error_at_line", "syslog", "vsyslog",
                                         "__syslog_chk", "__vsyslog_chk" };

    if (strstr(name, "printf"))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static bool formats_it(const Summary *s, unsigned arg)
{
    return is_formatted(s->name) && (arg >= s->nparams || (!s->variadic && arg + 1 == s->nparams));
}

static bool prints_value(const Summary *s, LLVMValueRef call, unsigned arg)
{
    return formats_it(s, arg) &&
           !(call && arg >= s->nparams && mut_is_text(call, (unsigned)s->nparams, arg));
}

bool mut_prints_out(const Mutability *m, const Summary *s, LLVMValueRef call, unsigned arg)
{
    bool list = arg < s->nparams;

    return (m->reads_back || (m->pt->open_world && (!list || m->lists_pointers))) &&
           prints_value(s, call, arg);
}

/* May the program have made the format of this call itself? */
bool mut_makes_format(const Mutability *m, LLVMValueRef call, const Summary *s)
{
    size_t at = s->nparams - (s->variadic ? 1 : 2);

    return is_formatted(s->name) && s->nparams >= (s->variadic ? 1 : 2) &&
           at < LLVMGetNumArgOperands(call) && is_made_here(m, LLVMGetOperand(call, (unsigned)at));
}

/* Its bytes are compared with numbers: so they may be guessed, one by one. */
static bool compares_bytes(const char *name)
{
    return !strcmp(name, "memcmp") || !strcmp(name, "bcmp") || !strcmp(name, "wmemcmp");
}

unsigned mut_use(const Mutability *m, const Summary *s, LLVMValueRef call, unsigned arg)
{
    unsigned use = arg < s->nparams ? s->params[arg].use : s->rest;

    if (use & SUMMARY_READ && compares_bytes(s->name))
        use |= SUMMARY_LEAVES;

    if (formats_it(s, arg) && !format_may_write(m, s, call))
        use &= ~(unsigned)(SUMMARY_WRITE | SUMMARY_MAY);
    return use;
}

static void meet(Mutability *m, Body *b, uint32_t op, LLVMValueRef fn, const Actuals *a,
                 uint8_t maybe, PathSet *result);

static void meet_nothing(Body *b, uint32_t op, LLVMValueRef fn, MutReasonKind reason,
                         const SlotTypes *called, uint64_t shown, const Actuals *a,
                         PathSet *result);

/* The types of a function that the library is given; NULL: they are not to be seen. */
static const SlotTypes *handed_types(Mutability *m, const Body *b, const SummaryCallback *c,
                                     LLVMValueRef call)
{
    if (c->fn.kind != SUMMARY_PARAM || c->fn.stars)
        return NULL;
    return mut_slot_types(m, b, LLVMGetOperand(call, c->fn.param));
}

static void callback(Mutability *m, Body *b, uint32_t op, const SummaryCallback *c,
                     const Summary *s, const Actuals *a)
{
    size_t n;
    const LLVMValueRef *fns = a->call ? pointsto_callbacks(m->pt, a->call, &n) : NULL;
    PathSet args[SUMMARY_MOST_ARGS] = { { 0 } };
    Actuals inner = { .n = c->nargs };
    PathSet result = { 0 };

    for (unsigned i = 0; i < c->nargs; i++) {
        term(b, op, &c->args[i], s, a, c->args[i].stars, &args[i]);
        inner.sets[i] = &args[i];
    }
    bool outside = a->call && pointsto_hands_outside(m->pt, m->summaries, a->call);
    for (size_t i = 0; fns && i < n; i++)
        meet(m, b, op, fns[i], &inner, outside || n > 1, &result);
    if (outside)
        meet_nothing(b, op, NULL, MUT_NO_TARGET, handed_types(m, b, c, a->call), 0, &inner,
                     &result);
    for (unsigned i = 0; i < c->nargs; i++)
        pathset_release(&args[i]);
    pathset_release(&result);
}

static void prints(const Mutability *m, Body *b, uint32_t op, const Summary *s, unsigned i,
                   const PathSet *v, const Effect *gone)
{
    PathSet printed = { 0 };
    Effect like = *gone;
    bool list = i < s->nparams;

    like.numbers = list && !m->reads_back && !m->lists_pointers;
    if (list)
        arguments_in(b, v, op, &printed);
    else
        pathset_union(&printed, v);
    mut_obstacle(b, &printed, op, &like);
    pathset_release(&printed);
}

bool mut_keeps_number(const Summary *s, LLVMValueRef call, unsigned arg)
{
    return call && arg < s->nparams && !s->params[arg].use &&
           LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, arg))) != LLVMPointerTypeKind;
}

/* The result may be one of the arguments, or tell a part of it. */
static void numbers_out(Mutability *m, Body *b, uint32_t op, const Summary *s, const Actuals *a,
                        const Effect *gone, PathSet *result)
{
    if (!a->call || !summary_gives_numbers(s))
        return;
    bool whole = mut_carries(m, LLVMTypeOf(a->call));
    if (!whole && mut_piece_is_harmless(a->call, true, false))
        return;
    for (unsigned i = 0; i < a->n; i++) {
        if (whole)
            pathset_union(result, actual(a, i));
        else
            mut_obstacle(b, actual(a, i), op, gone);
    }
}

static void meet_summary(Mutability *m, Body *b, uint32_t op, LLVMValueRef fn, const Summary *s,
                         const Actuals *a, uint8_t maybe, PathSet *result)
{
    Effect like = { .kind = EFFECT_WRITE,
                    .inst = b->ops.items[op].inst,
                    .maybe = maybe,
                    .origin = b->ops.items[op].inst,
                    .callee = fn,
                    .next = NONE };
    Effect gone = like;

    gone.reason = MUT_CAST;
    for (unsigned i = 0; i < a->n; i++) {
        unsigned use = mut_use(m, s, a->call, i);
        bool leaves = use & (SUMMARY_LEAVES | SUMMARY_TEXT);
        bool others =
            leaves && a->call &&
            mut_has_seen_pointers(m, LLVMGetOperand(a->call, i), use & SUMMARY_TEXT ? 8 : 0);
        use_of(b, op, use, others, actual(a, i), like);
        if (mut_keeps_number(s, a->call, i))
            mut_obstacle(b, actual(a, i), op, &gone);
        else if ((m->reads_back || m->pt->open_world) && prints_value(s, a->call, i))
            prints(m, b, op, s, i, actual(a, i), &gone);
    }
    for (size_t i = 0; i < s->nwrites; i++)
        writes_further(b, op, &s->writes[i], s, a, like);
    for (size_t i = 0; i < s->nassigns; i++)
        assign(m, b, op, &s->assigns[i], s, a, like);
    for (size_t i = 0; i < s->ncallbacks; i++)
        callback(m, b, op, &s->callbacks[i], s, a);
    term(b, op, &s->ret, s, a, s->ret.stars, result);
    numbers_out(m, b, op, s, a, &gone, result);
    if (!mut_is_pure_external(s->name))
        become(b, &b->flow.impure);
}

/* ---- a function of which nothing is known */

/* `called`: the types of a pointer from outside. Code that nobody sees keeps their const. */
/* Arguments that a function outside gets as pointers to const, one bit each. */
static uint64_t shown_to(const Mutability *m, LLVMValueRef fn, const Actuals *a)
{
    size_t n;
    const char *name = LLVMGetValueName2(fn, &n);
    uint64_t shown = 0;

    for (unsigned i = 0; m->plan.takes_const && i < a->n && i < 64; i++)
        shown |= (uint64_t)m->plan.takes_const(name, LLVMCountParams(fn), i, m->plan.declared) << i;
    return shown;
}

/* A number that is more than a pointer's value. */
static bool is_number(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind && !LLVMIsAPtrToIntInst(v);
}

static void meet_nothing(Body *b, uint32_t op, LLVMValueRef fn, MutReasonKind reason,
                         const SlotTypes *called, uint64_t shown, const Actuals *a, PathSet *result)
{
    Effect like = { .kind = EFFECT_REASON,
                    .reason = reason,
                    .callee = fn,
                    .next = NONE,
                    .inst = b->ops.items[op].inst,
                    .origin = b->ops.items[op].inst };

    for (unsigned i = 0; i < a->n; i++) {
        like.reason = called                       ? mut_slot_reason(called, a->n, i)
                      : i < 64 && (shown >> i & 1) ? MUT_SHOWN
                                                   : reason;
        mut_obstacle(b, actual(a, i), op, &like);
        if (a->call && is_number(LLVMGetOperand(a->call, i))) {
            like.reason = MUT_CAST;          /* points-to may not know what it was made of */
            mut_obstacle(b, actual(a, i), op, &like);
        }
        if (!a->call ||
            LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(a->call, i))) == LLVMPointerTypeKind)
            add_doubted(result, actual(a, i), PATH_RETURNED);
    }
    pathset_add(result, path_root(ROOT_UNKNOWN));
    become(b, &b->flow.impure);
}

static void meet(Mutability *m, Body *b, uint32_t op, LLVMValueRef fn, const Actuals *a,
                 uint8_t maybe, PathSet *result)
{
    const Body *g = mut_body(m, fn);
    size_t n;

    if (g) {
        meet_body(b, op, g, a, maybe, result);
        return;
    }
    const Summary *s = summaries_find(m->summaries, LLVMGetValueName2(fn, &n));
    if (s)
        meet_summary(m, b, op, fn, s, a, maybe, result);
    else
        meet_nothing(b, op, fn, MUT_NO_BODY, NULL, shown_to(m, fn, a), a, result);
}

/* A barrier for the optimizer: asm("" : "+r"(p)). */
static bool is_empty_assembly(LLVMValueRef code)
{
    size_t n;
    const char *text = LLVMGetInlineAsmAsmString(code, &n);

    return strspn(text, " \t\n") >= n;
}

/* Each piece of the constraints that takes an operand, in order. */
static void assembly(Body *b, uint32_t op, const Actuals *a, PathSet *result)
{
    size_t n;
    LLVMValueRef code = LLVMGetCalledValue(b->ops.items[op].inst);
    const char *c = LLVMGetInlineAsmConstraintString(code, &n);
    Effect like = { .kind = EFFECT_WRITE,
                    .inst = b->ops.items[op].inst,
                    .origin = b->ops.items[op].inst };
    bool memory = strstr(c, "~{memory}") != NULL;
    bool empty = is_empty_assembly(code);
    unsigned i = 0;

    for (const char *end; *c; c = *end ? end + 1 : end) {
        end = c + strcspn(c, ",");
        bool output = *c == '=', indirect = memchr(c, '*', (size_t)(end - c)) != NULL;
        if (*c == '~' || (output && !indirect))
            continue;
        const PathSet *v = actual(a, i++);
        if (output)
            mut_write(b, v, &like);
        bool kept = !output && *c == '{';    /* the next statement may find it in that register */
        if ((!empty || memory || kept) && (!indirect || (memory && !output))) {
            like.reason = MUT_ASM;
            mut_obstacle(b, v, op, &like);
        }
        if (indirect) {
            PathSet held = { 0 };
            mut_read(b, v);
            mut_load(b, v, ANYWHERE, op, &held);
            pathset_union(result, &held);
            like.reason = MUT_ASM;
            if (!empty && !output)
                mut_leaves(b, v, 0, false, op, &like);
            pathset_release(&held);
        } else {
            pathset_union(result, v);
        }
    }
    become(b, &b->flow.impure);
}

static bool from_outside(const Mutability *m, LLVMValueRef pointer)
{
    PtSet s = pointsto_value(m->pt, pointer, 0);

    for (size_t i = 0; i < s.n; i++)
        if (m->pt->shown[m->pt->locs.items[s.locs[i]].object].kind == PT_EXTERNAL)
            return true;
    return false;
}

/* ---- the types of functions */

const Type *mut_member_type(const Mutability *m, LLVMValueRef address)
{
    while (LLVMIsAGetElementPtrInst(address) &&
           LLVMGetTypeKind(LLVMGetGEPSourceElementType(address)) != LLVMStructTypeKind)
        address = LLVMGetOperand(address, 0);
    Member at = mut_member(m, address);
    const char *name = at.known ? LLVMGetStructName(at.type) : NULL;

    if (!name || !str_starts(name, "struct."))
        return NULL;
    char *plain = xprintf("struct %s", name + 7);
    char *dot = strchr(plain, '.');              /* struct.foo.12 */
    if (dot)
        *dot = 0;
    const Type *t = types_find(program_types(m->program), plain, 0);
    free(plain);
    const Field *f = t && type_is_record(t) ? type_field_at(t, (uint64_t)at.inner * 8) : NULL;
    const Type *p = f ? type_plain(f->type) : NULL;
    while (p && p->kind == TYPE_ARRAY)
        p = type_plain(p->target);
    return p;
}

/* What a constant holds at an offset. */
static LLVMValueRef element_at(const Mutability *m, LLVMValueRef c, uint64_t off)
{
    for (;;) {
        LLVMTypeRef t = LLVMTypeOf(c);
        LLVMTypeKind kind = LLVMGetTypeKind(t);
        unsigned i = 0;
        if (kind == LLVMPointerTypeKind || LLVMIsNull(c))
            return off ? NULL : c;
        if (kind == LLVMStructTypeKind && off < LLVMABISizeOfType(m->layout, t)) {
            i = LLVMElementAtOffset(m->layout, t, off);
            off -= LLVMOffsetOfElement(m->layout, t, i);
        } else if (kind == LLVMArrayTypeKind) {
            uint64_t each = LLVMABISizeOfType(m->layout, LLVMGetElementType(t));
            if (!each || off / each >= LLVMGetArrayLength2(t))
                return NULL;
            i = (unsigned)(off / each);
            off %= each;
        } else {
            return NULL;
        }
        c = LLVMGetAggregateElement(c, i);
        if (!c)
            return NULL;
    }
}

/* The function that a table of the program begins with at the place, with a fixed
 * index, that a called pointer is loaded from; or NULL. */
static LLVMValueRef table_entry(const Mutability *m, LLVMValueRef callee)
{
    LLVMValueRef at = LLVMIsALoadInst(callee) ? LLVMGetOperand(callee, 0) : NULL;
    int64_t off = 0;

    while (at && LLVMIsAConstantExpr(at) && LLVMGetConstOpcode(at) == LLVMGetElementPtr) {
        int64_t more = mut_gep_offset(m, at);
        if (more == ANYWHERE || more < 0)
            return NULL;
        off += more;
        at = LLVMGetOperand(at, 0);
    }
    LLVMValueRef init = at && LLVMIsAGlobalVariable(at) ? LLVMGetInitializer(at) : NULL;
    LLVMValueRef entry = init ? element_at(m, init, (uint64_t)off) : NULL;
    return entry && LLVMIsAFunction(entry) ? entry : NULL;
}

static bool is_target(const LLVMValueRef *t, size_t n, LLVMValueRef fn)
{
    for (size_t i = 0; i < n; i++)
        if (t[i] == fn)
            return true;
    return false;
}

static void call_pointer(Mutability *m, Body *b, uint32_t op, LLVMValueRef callee, Actuals *a,
                         PathSet *result)
{
    size_t n;
    const LLVMValueRef *t = pointsto_targets(m->pt, a->call, &n);
    bool outside = from_outside(m, callee) || pointsto_calls_outside(m->pt, a->call);
    const SlotTypes *called = mut_slot_types(m, b, callee);
    LLVMValueRef entry = n > 1 ? table_entry(m, callee) : NULL;

    if (entry && !is_target(t, n, entry))
        entry = NULL;
    for (size_t i = 0; i < n; i++) {
        uint8_t maybe = n > 1 || outside ? PATH_OF_SEVERAL : 0;
        if (entry && t[i] != entry)
            maybe = PATH_TABLE;
        a->unmeant = (n > 1 || outside) && !mut_is_meant(m, called, t[i]);
        /* from outside it may be any exported one, which says nothing; but where const is
         * trusted, the program itself may have given it away */
        bool anyones = mut_is_exported(t[i]) && !(called->shown && llvm_is_address_taken(t[i]));
        if (!outside || !(a->unmeant || anyones))
            meet(m, b, op, t[i], a, maybe, result);
    }
    if (!n || outside)
        meet_nothing(b, op, NULL, MUT_NO_TARGET, called, 0, a, result);
}

static bool is_copied(LLVMValueRef call, unsigned i)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);

    return LLVMGetCallSiteEnumAttribute(call, i + 1, kind) != NULL;
}

void mut_call(Mutability *m, Body *b, uint32_t op)
{
    LLVMValueRef call = b->ops.items[op].inst, callee = LLVMGetCalledValue(call);
    Actuals a = { .call = call };
    PathSet result = { 0 };

    unsigned count = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < count; i++) {
        uint32_t v = pttable_get(&b->number, (uintptr_t)LLVMGetOperand(call, i));
        const PathSet *set = &b->sets.items[v];
        mut_passed(b, set, op);
        if (i < sizeof a.sets / sizeof *a.sets)
            a.sets[a.n++] = set;
        if (i < sizeof a.sets / sizeof *a.sets && set->len && mut_is_printed(m, call, i))
            a.printed |= UINT64_C(1) << i;
        if (i < sizeof a.sets / sizeof *a.sets && is_copied(call, i))
            a.copied |= UINT64_C(1) << i;
        if (i >= sizeof a.sets / sizeof *a.sets)
            mut_obstacle(b, set, op,
                         &(Effect){
                             .reason = MUT_VARARG, .inst = call, .origin = call, .next = NONE });
    }
    if (LLVMIsAInlineAsm(callee)) {
        assembly(b, op, &a, &result);
    } else if (LLVMIsAFunction(callee) && pointsto_is_replaceable(m->pt, callee)) {
        meet(m, b, op, callee, &a, PATH_OF_SEVERAL, &result);
        meet_nothing(b, op, callee, MUT_NO_BODY, NULL, shown_to(m, callee, &a), &a, &result);
    } else if (LLVMIsAFunction(callee)) {
        meet(m, b, op, callee, &a, false, &result);
    } else {
        call_pointer(m, b, op, callee, &a, &result);
    }
    add_result(b, op, &result);
    pathset_release(&result);
}

/* Library functions that only look at what they are given. */
bool mut_is_pure_external(const char *name)
{
    static const char *const names[] = {
        "strlen",
        "strnlen",
        "strcmp",
        "strncmp",
        "strcasecmp",
        "strncasecmp",
        "memcmp",
        "bcmp",
        "memchr",
        "memrchr",
        "rawmemchr",
        "strchr",
        "strrchr",
        "strchrnul",
        "strstr",
        "strpbrk",
        "strspn",
        "strcspn",
        "strcasestr",
        "memmem",
        "abs",
        "labs",
        "llabs",
        "bsearch",
        "__ctype_b_loc",
        "__ctype_tolower_loc",
        "__ctype_toupper_loc",
        "isalnum",
        "isalpha",
        "isdigit",
        "islower",
        "isupper",
        "isspace",
        "isprint",
        "ispunct",
        "isxdigit",
        "tolower",
        "toupper",
        "atoi",
        "atol",
        "atoll",
        "wcslen",
        "wcscmp",
        "wmemcmp",
        "wcschr",
        "fabs",
        "floor",
        "ceil",
        "trunc",
        "round",
        "htonl",
        "htons",
        "ntohl",
        "ntohs",
        "abort",
        "__assert_fail",
        "exit",
        "_exit",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}
