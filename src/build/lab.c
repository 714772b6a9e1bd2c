#include "build/lab.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/tempdir.h"
#include "build/lab_int.h"
#include "capture/elf.h"
#include "capture/recompile.h"
#include "capture/relink.h"
#include "capture/wrapper.h"
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const asan_flags[] = {
    "-fsanitize=address",
    "-fno-omit-frame-pointer",
    NULL,
};

/* Behind the build's own flags. */
static const char *const our_flags[] = {
    "-g",
    "-w",
    "-Wno-error",
    "-Wno-incompatible-pointer-types",
    "-Wno-int-conversion",
    "-Wno-implicit-function-declaration",
    "-fno-lto",
    "-fasynchronous-unwind-tables",
    "-fno-delete-null-pointer-checks",     /* an access to null faults, it is not dropped */
    NULL,
};

static const char *const gcc_flags[] = {
    "-fno-ipa-cp",
    "-fno-ipa-pure-const",
    "-fno-isolate-erroneous-paths-dereference",
    NULL,
};

static void read_flags(LabUnit *u, bool asan)
{
    recompile_flags(u->unit, &u->flags);
    for (const char *const *f = our_flags; *f; f++)
        strings_add(&u->flags, *f);
    /* gcc must not see through the test's call: neither the constants that are
     * passed, nor that nobody uses the result. */
    bool gcc = !strstr(u->flags.items[0], "clang");
    for (const char *const *f = gcc_flags; gcc && *f; f++)
        strings_add(&u->flags, *f);
    for (const char *const *f = asan_flags; asan && *f; f++)
        strings_add(&u->flags, *f);
}

/* ---- objects */

/* Is the build's own object still there, of this unit, with debug information? */
static bool has_good_object(const LabUnit *u)
{
    Str data = { 0 };
    Strings ids = { 0 };
    bool ok = file_is_regular(u->unit->output) && file_read(u->unit->output, &data, NULL) &&
              elf_kind(str_c(&data), data.len) == ELF_OBJECT &&
              elf_ids(str_c(&data), data.len, &ids) && ids.len == 1 &&
              strcmp(ids.items[0], u->unit->id) == 0 &&
              memmem(data.data, data.len, "\0.debug_info", 12) != NULL;
    strings_release(&ids);
    str_release(&data);
    return ok;
}

static bool copy_file(const char *from, const char *to, Err *err)
{
    Str data = { 0 };
    bool ok = file_read(from, &data, err) && file_write(to, str_c(&data), data.len, err);
    str_release(&data);
    return ok;
}

static bool prepare_object(Lab *lab, LabUnit *u, Err *err)
{
    if (!lab->plan.asan && has_good_object(u))
        return copy_file(u->unit->output, u->object, err);
    return recompile_run(u->unit, &u->flags, u->unit->source, u->object, err) ||
           err_ctx(err, "%s", u->unit->source);
}

static bool prepare_units(Lab *lab, const char *objects, Err *err)
{
    const CapturedProgram *c = lab->captured;
    lab->units = arena_array(&lab->arena, LabUnit, c->nunits + 1);
    for (size_t i = 0; i < c->nunits; i++) {
        LabUnit *u = &lab->units[lab->nunits++];
        char *base = path_safe_name(path_base(c->units[i]->source));
        u->unit = c->units[i];
        u->number = (unsigned)i + 1;
        u->object = arena_printf(&lab->arena, "%s/%s.%u.plain.o", objects, base, u->number);
        u->edited = arena_printf(&lab->arena, "%s/%s.%u.o", objects, base, u->number);
        free(base);
        read_flags(u, lab->plan.asan);
        if (lab->plan.interrupted && lab->plan.interrupted(lab->plan.arg))
            return err_set(err, "interrupted");
        if (!prepare_object(lab, u, err))
            return false;
    }
    return true;
}

static const ObjectSymbol *symbol_of(Lab *lab, LabUnit *u, const char *name)
{
    if (!u->has_symbols)
        symbols_read(u->object, &lab->arena, &u->symbols);
    u->has_symbols = true;
    return map_get(&u->symbols, name);
}

bool lab_renames_main(Lab *lab, LabUnit *u)
{
    return symbol_is_global_function(symbol_of(lab, u, "main"));
}

/* A static inside a function is "name.0" or so in the object. */
static const char *local_static(Lab *lab, LabUnit *u, const Variable *v)
{
    const char *found = NULL;
    size_t n = strlen(v->name), hits = 0;
    symbol_of(lab, u, v->name);
    for (size_t i = 0; i < u->symbols.len; i++) {
        const char *key = u->symbols.entries[i].key;
        const ObjectSymbol *s = u->symbols.entries[i].value;
        if (strncmp(key, v->name, n) == 0 && key[n] == '.' && isdigit((unsigned char)key[n + 1]) &&
            strchr("bdBD", s->kind) && s->size == v->size) {
            found = key;
            hits++;
        }
    }
    return hits == 1 ? found : NULL;
}

/* Static names become global ones, and main() another function's name. */
static bool edit_object(Lab *lab, LabUnit *u, Err *err)
{
    Strings argv = { 0 };
    if (u->edited_now)
        return true;
    strings_add(&argv, "objcopy");
    for (size_t i = 0; i < u->edits.len; i++) {
        const char *from = u->edits.entries[i].key, *to = u->edits.entries[i].value;
        strings_addf(&argv, "--globalize-symbol=%s", to);    /* renames come first */
        strings_addf(&argv, "--redefine-sym=%s=%s", from, to);
    }
    if (lab_renames_main(lab, u))
        strings_add(&argv, "--redefine-sym=main=program_main");
    bool ok;
    if (argv.len == 1) {
        ok = copy_file(u->object, u->edited, err);
    } else {
        strings_add(&argv, u->object);
        strings_add(&argv, u->edited);
        ok = recompile_tool(strings_argv(&argv), NULL, NULL, err);
    }
    u->edited_now = ok;
    strings_release(&argv);
    return ok;
}

static const char *global_name(Lab *lab, LabUnit *u, const char *symbol)
{
    const char *name = map_get(&u->edits, symbol);
    assert(map_has(&u->symbols, symbol));
    if (name)
        return name;
    Str s = { 0 };
    escape_c_identifier(&s, symbol, strlen(symbol));
    name = arena_printf(&lab->arena, "sundew_%u_%s", u->number, str_c(&s));
    str_release(&s);
    map_put(&u->edits, symbol, (void *)name);
    u->edited_now = false;
    return name;
}

/* ---- what a unit sees */

static void take_file(LabUnit *u, const char *name)
{
    char *path = path_in(u->unit->directory, name), *real = path_real(path);
    map_put(&u->files, path, NULL);
    if (real)
        map_put(&u->files, real, NULL);
    free(path);
    free(real);
}

/* The files of "a.o: a.c b.h \" */
static void read_dependencies(LabUnit *u, char *text)
{
    char *save = NULL, *at = strchr(text, ':');
    for (char *w = at ? strtok_r(at + 1, " \n\\", &save) : NULL; w;
         w = strtok_r(NULL, " \n\\", &save))
        take_file(u, w);
}

static void read_macros(LabUnit *u, char *text)
{
    char *save = NULL;
    for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
        if (str_starts(l, "#define ")) {
            char *name = l + 8;
            name[strcspn(name, " (")] = 0;
            map_put(&u->taken, name, NULL);
        }
}

static bool ask_preprocessor(const LabUnit *u, const char *how, const char *more, Str *out,
                             Err *err)
{
    Strings argv = { 0 };
    for (size_t i = 0; i < u->flags.len; i++)
        strings_add(&argv, u->flags.items[i]);
    strings_add(&argv, how);
    if (more)
        strings_add(&argv, more);
    strings_add(&argv, u->unit->source);
    bool ok = recompile_tool(strings_argv(&argv), u->unit->directory, out, err);
    strings_release(&argv);
    return ok;
}

static void take_program_names(Lab *lab, LabUnit *u)
{
    size_t n;
    const Function *const *fns = program_functions(lab->plan.program, &n);
    for (size_t i = 0; i < n; i++)
        map_put(&u->taken, fns[i]->name, NULL);
    const Variable *vars = program_variables(lab->plan.program, &n);
    for (size_t i = 0; i < n; i++)
        map_put(&u->taken, vars[i].name, NULL);
    const Type *const *types = types_all(program_types(lab->plan.program), &n);
    for (size_t i = 0; i < n; i++) {
        if (types[i]->kind == TYPE_TYPEDEF)
            map_put(&u->taken, types[i]->name, NULL);
        for (unsigned k = 0; k < types[i]->nvalues; k++)
            map_put(&u->taken, types[i]->values[k].name, NULL);
    }
}

static bool look_at_unit(Lab *lab, LabUnit *u, Err *err)
{
    Str text = { 0 };
    if (u->looked)
        return true;
    bool ok = ask_preprocessor(u, "-M", NULL, &text, err);
    if (ok)
        read_dependencies(u, text.data ? text.data : "");
    map_put(&u->files, u->unit->source, NULL);
    str_reset(&text);
    ok = ok && ask_preprocessor(u, "-E", "-dM", &text, err);
    if (ok && text.data)
        read_macros(u, text.data);
    str_release(&text);
    take_program_names(lab, u);
    u->looked = ok;
    return ok;
}

/* Generated sources name the files that they were made of: # 12 "grammar.y". Functions and types
 * are declared there, as far as the compiler knows. */
static bool read_line_directives(Lab *lab, LabUnit *u)
{
    Str text = { 0 };
    if (u->read_lines || !look_at_unit(lab, u, NULL))
        return u->looked;
    u->read_lines = true;
    bool ok = ask_preprocessor(u, "-E", NULL, &text, NULL);
    char *save = NULL;
    for (char *l = ok && text.data ? strtok_r(text.data, "\n", &save) : NULL; l;
         l = strtok_r(NULL, "\n", &save)) {
        char *from = str_starts(l, "# ") ? strchr(l, '"') : NULL;
        char *to = from ? strchr(from + 1, '"') : NULL;
        if (!to || from[1] == '<')
            continue;
        *to = 0;
        take_file(u, from + 1);
    }
    str_release(&text);
    return true;
}

bool lab_sees(const LabView *v, const char *file) { return map_has(&v->unit->files, file); }

const Map *lab_taken(const LabView *v) { return &v->unit->taken; }

static bool is_source(const LabUnit *u, const char *file)
{
    return strcmp(u->unit->source, file) == 0;
}

static LabUnit *unit_of_file(Lab *lab, const char *file)
{
    for (size_t i = 0; i < lab->nunits; i++)
        if (is_source(&lab->units[i], file))
            return &lab->units[i];
    return NULL;
}

/* extern TYPE NAME __asm__("SYMBOL"); */
static void print_declaration(const LabView *v, const char *name, const char *symbol,
                              const Variable *var, Str *out)
{
    str_add(out, "extern ");
    if (var)
        v->plan.declaration(v->plan.arg, var, name, out);
    else
        str_addf(out, "void %s(void)", name);
    str_add(out, " __asm__(\"");
    escape_c_string(out, symbol, strlen(symbol));
    str_add(out, "\");");
}

/* A name of our own for a symbol: program_NAME, or with a number behind it if
 * another symbol has that. */
static const char *declare(LabView *v, const char *name, const char *symbol, const Variable *var)
{
    Lab *lab = v->lab;
    Str c = { 0 }, d = { 0 };
    const char *mine, *had;
    escape_c_identifier(&c, name, strlen(name));
    for (unsigned n = 1;; n++) {
        mine = n == 1 ? arena_printf(&lab->arena, "program_%s", str_c(&c))
                      : arena_printf(&lab->arena, "program_%s_%u", str_c(&c), n);
        str_reset(&d);
        print_declaration(v, mine, symbol, var, &d);
        had = map_get(&v->declared, mine);
        if (!had || strcmp(had, str_c(&d)) == 0)
            break;
    }
    if (!had)
        map_put(&v->declared, mine, arena_strdup(&lab->arena, str_c(&d)));
    str_release(&c);
    str_release(&d);
    return mine;
}

const char *lab_variable(LabView *v, const Variable *var, bool *fixed)
{
    Lab *lab = v->lab;
    if (var->thread_local_ || !var->size)
        return NULL;
    bool here = is_source(v->unit, var->file) ||
                (var->linkage == LINKAGE_INTERNAL && lab_sees(v, var->file));
    LabUnit *u = here ? v->unit : unit_of_file(lab, var->file);
    const ObjectSymbol *sym = u ? symbol_of(lab, u, var->name) : NULL;
    *fixed = sym && strchr("rR", sym->kind);
    if (here && sym && !v->plan.plain)
        return arena_strdup(&lab->arena, var->name);
    if (var->linkage != LINKAGE_INTERNAL)
        return declare(v, var->name, var->symbol, var);
    if (!u)
        return NULL;
    const char *symbol = sym ? var->name : local_static(lab, u, var);
    if (!symbol)
        return NULL;
    return declare(v, var->name, here ? symbol : global_name(lab, u, symbol), var);
}

const char *lab_function(LabView *v, const char *symbol)
{
    Lab *lab = v->lab;
    const Function *fn = program_function(lab->plan.program, symbol);
    if (!fn || !fn->defined || fn->linkage != LINKAGE_INTERNAL)
        return declare(v, symbol, symbol, NULL);
    if (is_source(v->unit, fn->file) || lab_sees(v, fn->file))
        return arena_strdup(&lab->arena, fn->name);
    LabUnit *u = unit_of_file(lab, fn->file);
    if (!u || !symbol_of(lab, u, fn->name))
        return NULL;
    return declare(v, fn->name, global_name(lab, u, fn->name), NULL);
}

/* ---- tests */

const LabUnit *lab_unit_of(Lab *lab, const Function *fn, const LabUnit *near)
{
    LabUnit *u = unit_of_file(lab, fn->file);
    if (u)
        return u;
    if (near && look_at_unit(lab, (LabUnit *)near, NULL) && map_has(&near->files, fn->file))
        return near;
    for (size_t i = 0; i < lab->nunits; i++)
        if (look_at_unit(lab, &lab->units[i], NULL) && map_has(&lab->units[i].files, fn->file))
            return &lab->units[i];
    for (size_t i = 0; i < lab->nunits; i++)
        if (read_line_directives(lab, &lab->units[i]) && map_has(&lab->units[i].files, fn->file))
            return &lab->units[i];
    return NULL;
}

const char *lab_unit_source(const LabUnit *u) { return u->unit->source; }

LabView *lab_view(Lab *lab, const LabUnit *unit, const LabViewPlan *plan, Err *err)
{
    LabUnit *u = (LabUnit *)unit;
    assert(u >= lab->units && u < lab->units + lab->nunits && plan->declaration);
    if (!look_at_unit(lab, u, err))
        return NULL;
    LabView *v = arena_new(&lab->arena, LabView);
    v->lab = lab;
    v->unit = u;
    v->plan = *plan;
    vec_push(&lab->views, v);
    return v;
}

/* Is the name in the text, as a word? */
static bool names(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p += n)
        if (!isalnum((unsigned char)p[n]) && p[n] != '_' &&
            (p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_')))
            return true;
    return false;
}

void lab_preamble(const LabView *v, const char *body, Str *out)
{
    bool any = false;
    str_add(out, "#define main program_main\n#include ");
    escape_c_include(out, v->unit->unit->source);
    str_add(out, "\n#undef main\n");
    for (const char *const *f = v->lab->plan.support; f && *f; f++)
        if (str_ends(*f, ".h"))
            str_addf(out, "#include \"%s\"\n", path_base(*f));
    str_addc(out, '\n');
    for (size_t i = 0; i < v->declared.len; i++)
        if (names(body, v->declared.entries[i].key)) {
            str_addf(out, "%s\n", (const char *)v->declared.entries[i].value);
            any = true;
        }
    if (any)
        str_addc(out, '\n');
}

void lab_link_words(const Lab *lab, Strings *out)
{
    bool is_ld = tool_kind(path_base(lab->captured->link.items[0])) == TOOL_LD;
    if (lab->plan.asan)
        strings_add(out, "-fsanitize=address");
    for (const char *const *f = lab->plan.wrapped; f && *f; f++)
        strings_addf(out, "%s--wrap=%s", is_ld ? "" : "-Wl,", *f);
}

static bool link_test(Lab *lab, const LabUnit *u, const char *object, const char *out, bool trial,
                      Err *err)
{
    Map ids = { 0 };
    Strings objects = { 0 }, argv = { 0 }, more = { 0 };
    bool ok = true;
    strings_add(&objects, object);
    for (size_t i = 0; i < lab->support.len; i++)
        strings_add(&objects, lab->support.items[i]);
    if (trial && lab->trial)
        strings_add(&objects, lab->trial);
    for (size_t i = 0; ok && i < lab->nunits; i++) {
        map_put(&ids, lab->units[i].unit->id, NULL);
        if (&lab->units[i] == u)
            continue;
        ok = edit_object(lab, &lab->units[i], err);
        strings_add(&objects, lab->units[i].edited);
    }
    lab_link_words(lab, &more);
    const char *scratch = tempdir_new(NULL, err);
    Relink r = { .units = &ids,
                 .objects = strings_argv(&objects),
                 .out = out,
                 .more = strings_argv(&more),
                 .scratch = scratch };
    ok = ok && scratch &&
         relink_command(program_workspace(lab->plan.program), lab->captured, &r, &argv, err) &&
         recompile_tool(strings_argv(&argv), lab->captured->link_directory, NULL, err);
    if (scratch)
        tempdir_remove(scratch);
    strings_release(&objects);
    strings_release(&argv);
    strings_release(&more);
    map_release(&ids);
    return ok;
}

bool lab_is_optimised(const LabUnit *u)
{
    bool is = false;
    for (size_t i = 0; i < u->flags.len; i++)      /* the last one counts */
        if (str_starts(u->flags.items[i], "-O"))
            is = strcmp(u->flags.items[i], "-O0") != 0;
    return is;
}

bool lab_build(Lab *lab, const LabUnit *u, const char *source, const char *out, unsigned how,
               Err *err)
{
    static const char *const plain[] = { LAB_PLAIN_FLAGS, NULL };
    char *object = xprintf("%s.o", out);
    char *include = xprintf("-I%s", lab->plan.folder);
    LabUnit with = *u;
    with.flags = (Strings){ 0 };
    for (size_t i = 0; i < u->flags.len; i++)
        strings_add(&with.flags, u->flags.items[i]);
    for (const char *const *f = plain; (how & LAB_UNOPTIMISED) && *f; f++)
        strings_add(&with.flags, *f);
    strings_add(&with.flags, include);
    bool ok = recompile_run(with.unit, &with.flags, source, object, err) &&
              link_test(lab, u, object, out, how & LAB_TRIAL, err);
    unlink(object);
    strings_release(&with.flags);
    free(include);
    free(object);
    return ok;
}

/* A support file beside the tests, or with the objects; compiled if it is C. */
static char *prepare_file(Lab *lab, const char *from, const char *folder, const char *objects,
                          Err *err)
{
    const char *name = path_base(from);
    char *to = path_join(folder, name), *object = xprintf("%s/%s.o", objects, name);
    char *argv[] = {
        lab->units[0].flags.items[0], "-g", "-O1", "-fPIC", "-c", to, "-o", object, NULL
    };
    bool ok = copy_file(from, to, err) &&
              (!str_ends(name, ".c") || recompile_tool(argv, NULL, NULL, err));
    free(to);
    if (ok)
        return object;
    free(object);
    return NULL;
}

static bool prepare_support(Lab *lab, const char *objects, Err *err)
{
    for (const char *const *f = lab->plan.support; f && *f; f++) {
        char *object = prepare_file(lab, *f, lab->plan.folder, objects, err);
        if (object && str_ends(*f, ".c"))
            strings_add(&lab->support, object);
        free(object);
        if (!object)
            return false;
    }
    if (lab->plan.trial)
        lab->trial = prepare_file(lab, lab->plan.trial, objects, objects, err);
    return !lab->plan.trial || lab->trial;
}

Lab *lab_new(const LabPlan *plan, Err *err)
{
    Lab *lab = xcalloc(1, sizeof *lab);
    lab->plan = *plan;
    assert(program_captured(plan->program));
    lab->captured = program_captured(plan->program);
    char *objects = path_join(plan->folder, plan->asan ? "objects-asan" : "objects");
    bool ok = dir_make(objects, err);
    if (ok && !lab->captured->nunits)
        ok = err_set(err, "%s has no captured unit", lab->captured->name);
    ok = ok && prepare_units(lab, objects, err) && prepare_support(lab, objects, err);
    free(objects);
    if (ok)
        return lab;
    err_ctx(err, "building tests");
    lab_free(lab);
    return NULL;
}

Lab *lab_with_asan(const Lab *first, Err *err)
{
    LabPlan plan = first->plan;
    assert(!plan.asan);
    plan.asan = true;
    Lab *lab = lab_new(&plan, err);
    for (size_t i = 0; lab && i < lab->nunits; i++) {
        const Map *edits = &first->units[i].edits;
        assert(lab->units[i].unit == first->units[i].unit);
        for (size_t k = 0; k < edits->len; k++)
            map_put(&lab->units[i].edits, edits->entries[k].key, edits->entries[k].value);
    }
    return lab;
}

void lab_free(Lab *lab)
{
    if (!lab)
        return;
    for (size_t i = 0; i < lab->nunits; i++) {
        LabUnit *u = &lab->units[i];
        strings_release(&u->flags);
        map_release(&u->symbols);
        map_release(&u->files);
        map_release(&u->taken);
        map_release(&u->edits);
    }
    for (size_t i = 0; i < lab->views.len; i++)
        map_release(&lab->views.items[i]->declared);
    vec_release(&lab->views);
    strings_release(&lab->support);
    free(lab->trial);
    arena_release(&lab->arena);
    free(lab);
}
