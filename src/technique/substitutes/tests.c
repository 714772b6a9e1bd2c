/*
 * The smallest test of a difference as a C file in two variants:
 *
 *     make check                      the candidate: fails
 *     make check CFLAGS=-DREFERENCE   the reference: passes
 *
 * The common calls are named use_SLOT; a block of macros says which function each is.
 * Two libraries differ by what the test is linked with, so their test has no such block.
 */
#include "base/escape.h"
#include "base/file.h"
#include "engine/suite/describe.h"
#include "engine/suite/write.h"
#include "finding/ctest.h"
#include "technique/substitutes/substitutes_int.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Does the C test have a block for each side? Else the library that is linked makes the difference. */
static bool has_variants(const Pair *p) { return p->side[0].impl || p->backend; }

/* ---- names */

static char *use_name(Arena *a, const char *name)
{
    Str s = { 0 };
    escape_c_identifier(&s, name, strlen(name));
    char *out = arena_printf(a, "use_%s", str_c(&s));
    str_release(&s);
    return out;
}

/* The same calls under the names that both variants have. */
static Seq *renamed(const Pair *p, Arena *a, const Seq *s)
{
    Seq *out = seq_copy(a, s);
    for (unsigned i = 0; i < out->n && has_variants(p); i++) {
        if (!out->steps[i].f)
            continue;
        ApiFunction *f = arena_new(a, ApiFunction);
        Function *fn = arena_new(a, Function);
        *f = *out->steps[i].f;
        *fn = *f->fn;
        fn->name = f->name = use_name(a, p->calls[f->index].name);
        f->fn = fn;
        out->steps[i].f = f;
    }
    return out;
}

/* ---- files */

static const Variable *variable_of(const Side *side)
{
    size_t n;
    const Variable *all = program_variables(side->program, &n);
    for (size_t i = 0; i < n && side->impl && side->impl->symbol && !side->impl->at_run_time; i++)
        if (strcmp(all[i].symbol, side->impl->symbol) == 0)
            return &all[i];
    return NULL;
}

/* Files that have to be included: a header, or the unit that has something static. */
static void add_file(Map *files, const char *file)
{
    if (*file)
        map_put(files, file, NULL);
}

/* The unit of main() is not linked. */
static void add_function_file(Map *files, const Program *program, const Function *f)
{
    const Function *start = program_function(program, "main");
    if (f->linkage == LINKAGE_INTERNAL ||
        (start && start->defined && strcmp(start->file, f->file) == 0))
        add_file(files, f->file);
}

/* The folder of a type that the reader of a header needs. */
static void add_type_file(Map *files, const Type *t)
{
    unsigned levels;
    const Type *r = t ? type_pointed_record(t, &levels) : NULL;
    if (r && *r->file && str_ends(r->file, ".h") && !str_starts(r->file, "/usr/"))
        add_file(files, r->file);
}

static void files_of_side(const Pair *p, SideOf which, const Seq *s, Map *files)
{
    const Side *side = &p->side[which];
    const Variable *v = variable_of(side);
    if (v && v->linkage != LINKAGE_EXTERNAL)
        add_file(files, v->file);
    for (unsigned i = 0; i < s->n; i++) {
        if (!s->steps[i].f)
            continue;
        const CallMap *c = &p->calls[s->steps[i].f->index];
        const ApiFunction *f = which == SIDE_REFERENCE ? c->to : s->steps[i].f;
        if (!v || !c->common)
            add_function_file(files, side->program, f->fn);
        add_type_file(files, f->fn->returns);
        for (unsigned k = 0; k < f->nparams; k++)
            add_type_file(files, f->fn->params[k].type);
    }
}

static void add_includes(const Map *files, Str *out)
{
    for (int units = 0; units < 2; units++)
        for (size_t i = 0; i < files->len; i++) {
            const char *file = files->entries[i].key;
            if (str_ends(file, ".c") != (units == 1))
                continue;
            str_add(out, units ? "#define main sundew_program_main\n#include " : "#include ");
            escape_c_include(out, file);
            str_add(out, units ? "\n#undef main\n" : "\n");
        }
}

/* ---- the two variants */

static void add_constant(const SeqValue *v, Str *out)
{
    switch (v->kind) {
    case VALUE_INTEGER: str_addf(out, "%" PRId64, (int64_t)v->integer); break;
    case VALUE_STRING:
        str_addc(out, '"');
        escape_c_string(out, (const char *)v->bytes, v->n);
        str_addc(out, '"');
        break;
    default: str_add(out, "NULL");
    }
}

static void add_macro(const Pair *p, SideOf which, const ApiFunction *f, const char *table,
                      Str *out)
{
    const CallMap *c = &p->calls[f->index];
    const ApiFunction *own = which == SIDE_REFERENCE ? c->to : f;
    Arena a = { 0 };
    str_addf(out, "#define %s", use_name(&a, c->name));
    if (c->common) {
        str_addc(out, ' ');
        if (table)
            str_addf(out, "%s.%s\n", table, c->name);
        else
            str_addf(out, "%s\n", own->name);
        arena_release(&a);
        return;
    }
    str_addc(out, '(');
    for (unsigned i = 0; i < f->nparams; i++)
        str_addf(out, i ? ", a%u" : "a%u", i);
    str_addf(out, ") %s(", own->name);
    for (unsigned i = 0; i < own->nparams; i++) {
        int place = which == SIDE_REFERENCE ? c->args[i].place : (int)i;
        bool pinned = own->pinned && own->pinned[i].kind == VALUE_FUNCTION;
        str_add(out, i ? ", " : "");
        if (pinned)
            str_addf(out, "&%s", table ? table : own->pinned[i].symbol);
        else if (place >= 0)
            str_addf(out, "(a%d)", place);
        else
            add_constant(&c->args[i].value, out);
    }
    str_add(out, ")\n");
    arena_release(&a);
}

/* Declarations of variables and functions that no included unit has. */
static void add_declarations(const Pair *p, SideOf which, const Seq *s, Str *out)
{
    const Side *side = &p->side[which];
    const Variable *v = variable_of(side);
    if (v && v->linkage == LINKAGE_EXTERNAL && v->type) {
        str_add(out, "extern ");
        type_print(v->type, v->name, out);
        str_add(out, ";\n");
    }
    for (unsigned i = 0; i < s->n && !p->backend; i++) { /* its headers declare them */
        const CallMap *c = s->steps[i].f ? &p->calls[s->steps[i].f->index] : NULL;
        const ApiFunction *f = !c ? NULL : which == SIDE_REFERENCE ? c->to : s->steps[i].f;
        if (!f || (c->common && v) || f->fn->linkage != LINKAGE_EXTERNAL)
            continue;
        str_add(out, "extern ");
        type_print(f->fn->type, f->name, out);
        str_add(out, ";\n");
    }
}

static void add_variant(const Pair *p, SideOf which, const Seq *s, Str *out)
{
    Map files = { 0 }, done = { 0 };
    const Variable *v = variable_of(&p->side[which]);
    files_of_side(p, which, s, &files);
    add_includes(&files, out);
    add_declarations(p, which, s, out);
    for (unsigned i = 0; i < s->n; i++)
        if (s->steps[i].f && map_put(&done, p->calls[s->steps[i].f->index].name, NULL))
            add_macro(p, which, s->steps[i].f, v ? p->side[which].impl->name : NULL, out);
    map_release(&files);
    map_release(&done);
}

static char *preamble(const Pair *p, const Seq *s, const WriteFile *file)
{
    Str out = { 0 };
    str_add(&out, "#define SUNDEW_TEST_QUIET\n#include <errno.h>\n#include <stddef.h>\n"
                  "#include <stdlib.h>\n#include <string.h>\n");
    for (char **h = session_option_all(p->all->s, "headers"); h && *h; h++) {
        char *full = path_absolute(*h);
        str_add(&out, "#include ");
        escape_c_include(&out, full);
        str_addc(&out, '\n');
        free(full);
    }
    if (has_variants(p)) {
        Map type = { 0 };
        if (p->all->table)
            add_file(&type, p->all->table->type->file);
        if (type.len && str_ends(type.entries[0].key, ".h"))
            add_includes(&type, &out);
        map_release(&type);
        str_add(&out, "\n#ifdef REFERENCE\n");
        add_variant(p, SIDE_REFERENCE, s, &out);
        str_add(&out, "#else\n");
        add_variant(p, SIDE_CANDIDATE, s, &out);
        str_add(&out, "#endif\n");
    }
    if (file->stubs.len)
        str_addf(&out, "\n%s", str_c(&file->stubs));
    return str_take(&out);
}

/* ---- what it is linked with */

/* Objects of a program, without the unit of main() and those that the test includes. */
static void add_objects(const Program *program, const char *includes, Strings *out)
{
    const CapturedProgram *c = program_captured(program);
    const Function *start = program_function(program, "main");
    for (size_t i = 0; i < c->nunits; i++) {
        const Unit *u = c->units[i];
        if ((start && start->defined && strcmp(start->file, u->source) == 0) ||
            strstr(includes, u->source) || !file_exists(u->output))
            continue;
        strings_add(out, u->output);
    }
}

static void add_libraries(const Pair *p, const char *includes, Strings *out)
{
    const Side *side = &p->side[SIDE_CANDIDATE];
    const CapturedProgram *c = side->program ? program_captured(side->program) : NULL;
    if (!has_variants(p)) {
        char *full = path_absolute(side->name);
        strings_add(out, full);
        free(full);
    }
    if (has_variants(p) && (c->kind == PROGRAM_ARCHIVE || c->kind == PROGRAM_SHARED))
        strings_add(out, c->path);
    else if (has_variants(p))
        add_objects(side->program, includes, out);
    for (char **w = session_option_all(p->all->s, "link"); w && *w; w++)
        strings_add(out, *w);
    strings_add(out, "-pthread");
    strings_add(out, "-lm");
}

/* ---- whole */

/* What the reference gave in the place that differs: the test demands it. */
static bool expected(Pair *p, Arena *a, const Difference *d, SeqTest *t, Err *err)
{
    Outcome both[NSIDES] = { 0 };
    Divergence how;
    bool differs;
    static bool stable[1] = { true };
    if (!oracle_try(p, a, d->seq, 0, 0, both, &differs, &how, err))
        return false;
    int place = d->how.place;
    const CallMap *c = &p->calls[d->function];
    for (unsigned i = 0; place >= 0 && i < c->to->nparams; i++)
        if (c->args[i].place == d->how.place)
            place = (int)i;
    const Observation *o = outcome_at(&both[SIDE_REFERENCE], d->how.step, place);
    if (o && d->how.kind != DIFFERENCE_CRASH) {
        Observation *one = arena_new(a, Observation);
        *one = *o;
        one->place = d->how.place;
        t->out.obs = one;
        t->out.nobs = 1;
        t->stable = stable;
    }
    return true;
}

bool test_write(Pair *p, Difference *d, Err *err)
{
    Substitutes *x = p->all;
    Arena a = { 0 };
    WriteFile file = { 0 };
    Str name = { 0 }, body = { 0 };
    size_t assertions;
    SeqTest t = { .seq = renamed(p, &a, d->seq) };
    bool ok = expected(p, &a, d, &t, err);
    if (ok) {
        Str sentence = { 0 };
        write_test(&file, &t, &body, &assertions);
        describe_test(&t, NULL, false, &name, &sentence);
        str_release(&sentence);
        char *includes = preamble(p, d->seq, &file);
        char *folder = xprintf("%s/%zu", x->out, ++x->written);
        char *why = arena_printf(&a, "%s: %s %s, %s %s. %s.", p->calls[d->function].name,
                                 p->side[SIDE_REFERENCE].name, d->reference_did,
                                 p->side[SIDE_CANDIDATE].name, d->candidate_did,
                                 difference_cause_name(d->cause));
        CTestCase one = { .name = str_c(&name), .purpose = why, .body = str_c(&body) };
        CTestFile all = { .name = "substitute", .includes = includes, .tests = &one, .ntests = 1 };
        Strings cflags = { 0 }, libraries = { 0 };
        for (char **w = session_option_all(x->s, "cflags"); w && *w; w++)
            strings_add(&cflags, *w);
        add_libraries(p, includes, &libraries);
        CTestProject project = { .cflags = strings_argv(&cflags),
                                 .libraries = strings_argv(&libraries) };
        ok = ctest_write(folder, session_share(x->s), &all, 1, &project, err);
        d->folder = arena_strdup(&p->arena, folder);
        strings_release(&cflags);
        strings_release(&libraries);
        free(includes);
        free(folder);
    }
    write_release(&file);
    str_release(&name);
    str_release(&body);
    arena_release(&a);
    return ok;
}
