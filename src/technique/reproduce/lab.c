#include "technique/reproduce/lab.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "capture/elf.h"
#include "capture/recompile.h"
#include "capture/relink.h"
#include "runtime/monitor/monitor.h"
#include <ctype.h>
#include <string.h>
#include <unistd.h>

/* A symbol of an object file. */
typedef struct Symbol {
    char kind;                         /* as nm says: t, T, d, b … */
    uint64_t address, size;
} Symbol;

struct LabUnit {
    const Unit *unit;
    unsigned number;
    char *object;                      /* as compiled, absolute */
    char *edited;                      /* what is linked */
    Strings flags;                     /* compiler and its flags, no files */
    bool has_symbols, looked, edited_now;
    Map symbols;                       /* name → Symbol * */
    Map files;                         /* that it includes, itself too */
    Map taken;                         /* names that are something in it */
    Map edits;                         /* symbol → new name */
};

/* What the tests of one unit have named so far. */
typedef struct View {
    Lab *lab;
    LabUnit *unit;
    Map declared;                      /* C name → declaration */
    RestoreWorld world;
} View;

struct Lab {
    Arena arena;
    LabPlan plan;
    const CapturedProgram *captured;
    LabUnit *units;
    size_t nunits;
    Vec(View *) views;
    Map code;                          /* address of the subject → symbol */
    bool has_code;
    Map places;                        /* "binary address" → Places * */
    Vec(Places *) all_places;
    char *namer;                       /* of addresses: addr2line */
    char *support, *trial;             /* objects of share/reproduce */
};

static const char *const asan_flags[] = {
    "-fsanitize=address", "-fno-omit-frame-pointer", NULL,
};

/* Behind the build's own flags. */
static const char *const our_flags[] = {
    "-g", "-w", "-Wno-error", "-Wno-incompatible-pointer-types",
    "-Wno-int-conversion", "-Wno-implicit-function-declaration", "-fno-lto",
    "-fasynchronous-unwind-tables", NULL,
};

/* ---- the build's own command */

static void read_flags(LabUnit *u, bool asan)
{
    recompile_flags(u->unit, &u->flags);
    for (const char *const *f = our_flags; *f; f++)
        strings_add(&u->flags, *f);
    /* gcc must not see through the test's call: neither the constants that are
     * passed, nor that nobody uses the result. */
    if (!strstr(u->flags.items[0], "clang")) {
        strings_add(&u->flags, "-fno-ipa-cp");
        strings_add(&u->flags, "-fno-ipa-pure-const");
    }
    for (const char *const *f = asan_flags; asan && *f; f++)
        strings_add(&u->flags, *f);
}

/* ---- objects */

/* Is the build's own object still there, of this unit, with debug information? */
static bool has_good_object(const LabUnit *u)
{
    Str data = {0};
    Strings ids = {0};
    bool ok = file_is_regular(u->unit->output) &&
              file_read(u->unit->output, &data, NULL) &&
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
    Str data = {0};
    bool ok = file_read(from, &data, err) &&
              file_write(to, str_c(&data), data.len, err);
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
        u->object = arena_printf(&lab->arena, "%s/%s.%u.plain.o", objects, base,
                                 u->number);
        u->edited = arena_printf(&lab->arena, "%s/%s.%u.o", objects, base, u->number);
        free(base);
        read_flags(u, lab->plan.asan);
        if (session_interrupted(lab->plan.session))
            return err_set(err, "interrupted");
        if (!prepare_object(lab, u, err))
            return false;
    }
    return true;
}

static Symbol *new_symbol(Lab *lab, char kind, uint64_t address, uint64_t size)
{
    Symbol *s = arena_new(&lab->arena, Symbol);
    *s = (Symbol){ kind, address, size };
    return s;
}

/* "name |0000000000000040| T | FUNC|0000000000000012| |.text" */
static bool read_symbol(Lab *lab, char *line, Map *symbols)
{
    char *part[7] = {0};
    for (int i = 0; i < 7; i++)
        part[i] = strsep(&line, "|");
    if (!part[6])
        return false;
    part[0][strcspn(part[0], " ")] = 0;
    char kind = part[2][strspn(part[2], " ")];
    if (str_starts(part[6], ".data.rel.ro"))
        kind = 'r';                     /* written by the loader only */
    map_put(symbols, part[0], new_symbol(lab, kind, strtoull(part[1], NULL, 16),
                                         strtoull(part[4], NULL, 16)));
    return true;
}

static void read_symbols(Lab *lab, const char *file, Map *symbols)
{
    char *argv[] = { "nm", "-f", "sysv", (char *)file, NULL };
    Str out = {0};
    char *save = NULL;
    recompile_tool(argv, NULL, &out, NULL);
    for (char *l = out.data ? strtok_r(out.data, "\n", &save) : NULL; l;
         l = strtok_r(NULL, "\n", &save))
        read_symbol(lab, l, symbols);
    str_release(&out);
}

static const Symbol *symbol_of(Lab *lab, LabUnit *u, const char *name)
{
    if (!u->has_symbols)
        read_symbols(lab, u->object, &u->symbols);
    u->has_symbols = true;
    return map_get(&u->symbols, name);
}

/* A static inside a function is "name.0" or so in the object. */
static const char *local_static(Lab *lab, LabUnit *u, const Variable *v)
{
    const char *found = NULL;
    size_t n = strlen(v->name), hits = 0;
    symbol_of(lab, u, v->name);
    for (size_t i = 0; i < u->symbols.len; i++) {
        const char *key = u->symbols.entries[i].key;
        const Symbol *s = u->symbols.entries[i].value;
        if (strncmp(key, v->name, n) == 0 && key[n] == '.' &&
            isdigit((unsigned char)key[n + 1]) && strchr("bdBD", s->kind) &&
            s->size == v->size) {
            found = key;
            hits++;
        }
    }
    return hits == 1 ? found : NULL;
}

/* Static names become global ones, and main() another function's name. */
static bool edit_object(Lab *lab, LabUnit *u, Err *err)
{
    Strings argv = {0};
    if (u->edited_now)
        return true;
    strings_add(&argv, "objcopy");
    for (size_t i = 0; i < u->edits.len; i++) {
        const char *from = u->edits.entries[i].key, *to = u->edits.entries[i].value;
        strings_addf(&argv, "--globalize-symbol=%s", to);    /* renames come first */
        strings_addf(&argv, "--redefine-sym=%s=%s", from, to);
    }
    const Symbol *m = symbol_of(lab, u, "main");
    if (m && strchr("TW", m->kind))
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
    if (name)
        return name;
    Str s = {0};
    escape_c_identifier(&s, symbol, strlen(symbol));
    name = arena_printf(&lab->arena, "sundew_%u_%s", u->number, str_c(&s));
    str_release(&s);
    map_put(&u->edits, symbol, (void *)name);
    u->edited_now = false;
    return name;
}

/* ---- what a unit sees */

/* The files of "a.o: a.c b.h \" */
static void read_dependencies(LabUnit *u, char *text)
{
    char *save = NULL, *at = strchr(text, ':');
    for (char *w = at ? strtok_r(at + 1, " \n\\", &save) : NULL; w;
         w = strtok_r(NULL, " \n\\", &save)) {
        char *path = path_in(u->unit->directory, w), *real = path_real(path);
        map_put(&u->files, path, NULL);
        if (real)
            map_put(&u->files, real, NULL);
        free(path);
        free(real);
    }
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

static bool ask_preprocessor(const LabUnit *u, const char *how, const char *more,
                             Str *out, Err *err)
{
    Strings argv = {0};
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
    Str text = {0};
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

static bool sees(void *arg, const char *file)
{
    const View *v = arg;
    return map_has(&v->unit->files, file);
}

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
static void print_declaration(const View *v, const char *name, const char *symbol,
                              const Variable *var, Str *out)
{
    str_add(out, "extern ");
    if (var)
        restore_declaration(&v->world, var, name, out);
    else
        str_addf(out, "void %s(void)", name);
    str_add(out, " __asm__(\"");
    escape_c_string(out, symbol, strlen(symbol));
    str_add(out, "\");");
}

/* A name of our own for a symbol: program_NAME, or with a number behind it if
 * another symbol has that. */
static const char *declare(View *v, const char *name, const char *symbol,
                           const Variable *var)
{
    Lab *lab = v->lab;
    Str c = {0}, d = {0};
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

static const char *name_variable(void *arg, const Variable *var, bool *fixed)
{
    View *v = arg;
    Lab *lab = v->lab;
    if (var->thread_local_ || !var->size)
        return NULL;
    bool here = is_source(v->unit, var->file) ||
                (var->linkage == LINKAGE_INTERNAL && sees(v, var->file));
    LabUnit *u = here ? v->unit : unit_of_file(lab, var->file);
    const Symbol *sym = u ? symbol_of(lab, u, var->name) : NULL;
    *fixed = sym && strchr("rR", sym->kind);
    if (here && sym && !v->world.plain)
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

/* The program took the address of malloc() and got the runtime's. */
static const char *redirected(const char *symbol)
{
#define NAME(name) #name,
    static const char *const names[] = { SUNDEW_REDIRECTED(NAME) NULL };
#undef NAME
    static const char prefix[] = "sundew_";
    if (str_starts(symbol, prefix) && str_is_one_of(symbol + sizeof prefix - 1, names))
        return symbol + sizeof prefix - 1;
    return symbol;
}

/* Where the monitored program's functions are. */
static void read_code(Lab *lab)
{
    Map symbols = {0};
    lab->has_code = true;
    read_symbols(lab, lab->plan.monitored, &symbols);
    for (size_t i = 0; i < symbols.len; i++) {
        const Symbol *s = symbols.entries[i].value;
        uint64_t address = s->address + crash_slide(lab->plan.crash);
        const char *name = symbols.entries[i].key;
        /* What is local and not the program's is the runtime's. */
        bool its_own = s->kind != 't' || redirected(name) != name ||
                       program_function(lab->plan.program, name);
        if (its_own && strchr("tTwW", s->kind) && s->address &&
            !map_getn(&lab->code, &address, 8))
            map_putn(&lab->code, &address, 8,
                     arena_strdup(&lab->arena, name));
    }
    map_release(&symbols);
}

static const char *name_code(void *arg, uint64_t address)
{
    View *v = arg;
    Lab *lab = v->lab;
    if (!lab->has_code)
        read_code(lab);
    const char *symbol = map_getn(&lab->code, &address, 8);
    if (!symbol)
        symbol = crash_external(lab->plan.crash, address);
    symbol = symbol ? redirected(symbol) : NULL;
    const Function *fn = symbol ? program_function(lab->plan.program, symbol) : NULL;
    if (!symbol)
        return NULL;
    if (!fn || !fn->defined || fn->linkage != LINKAGE_INTERNAL)
        return declare(v, symbol, symbol, NULL);
    if (is_source(v->unit, fn->file) || sees(v, fn->file))
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
    if (near && look_at_unit(lab, (LabUnit *)near, NULL) &&
        map_has(&near->files, fn->file))
        return near;
    for (size_t i = 0; i < lab->nunits; i++)
        if (look_at_unit(lab, &lab->units[i], NULL) &&
            map_has(&lab->units[i].files, fn->file))
            return &lab->units[i];
    return NULL;
}

const char *lab_unit_source(const LabUnit *u)
{
    return u->unit->source;
}

const RestoreWorld *lab_world(Lab *lab, const LabUnit *unit, bool plain, Err *err)
{
    LabUnit *u = (LabUnit *)unit;
    if (!look_at_unit(lab, u, err))
        return NULL;
    for (size_t i = 0; i < lab->views.len; i++) {
        View *had = lab->views.items[i];
        if (had->unit == u && had->world.plain == plain)
            return &had->world;
    }
    View *v = arena_new(&lab->arena, View);
    v->lab = lab;
    v->unit = u;
    v->world = (RestoreWorld){ .sees = sees, .code = name_code,
                               .variable = name_variable, .arg = v,
                               .taken = &u->taken, .plain = plain };
    vec_push(&lab->views, v);
    return &v->world;
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

/* Names after #include have no escapes; one that would end it can't be written. */
static void header_name(Str *out, const char *path)
{
    bool plain = true;
    for (const char *at = path; *at; at++)
        plain = plain && *at != '"' && (unsigned char)*at >= ' ';
    if (plain)
        str_add(out, path);
    else
        escape_c_string(out, path, strlen(path));
}

void lab_preamble(const Lab *lab, const RestoreWorld *w, const char *body, Str *out)
{
    const View *v = w->arg;
    bool any = false;
    (void)lab;
    str_add(out, "#define main program_main\n#include \"");
    header_name(out, v->unit->unit->source);
    str_add(out, "\"\n#undef main\n#include \"restore.h\"\n\n");
    for (size_t i = 0; i < v->declared.len; i++)
        if (names(body, v->declared.entries[i].key)) {
            str_addf(out, "%s\n", (const char *)v->declared.entries[i].value);
            any = true;
        }
    if (any)
        str_addc(out, '\n');
}

static bool link_test(Lab *lab, const LabUnit *u, const char *object, const char *out,
                      bool trial, Err *err)
{
    Map ids = {0};
    Strings objects = {0}, argv = {0}, more = {0};
    bool ok = true;
    strings_add(&objects, object);
    strings_add(&objects, lab->support);
    if (trial)
        strings_add(&objects, lab->trial);
    for (size_t i = 0; ok && i < lab->nunits; i++) {
        map_put(&ids, lab->units[i].unit->id, NULL);
        if (&lab->units[i] == u)
            continue;
        ok = edit_object(lab, &lab->units[i], err);
        strings_add(&objects, lab->units[i].edited);
    }
    if (lab->plan.asan)
        strings_add(&more, "-fsanitize=address");
    const char *scratch = tempdir_new(NULL, err);
    Relink r = { .units = &ids, .objects = strings_argv(&objects), .out = out,
                 .more = strings_argv(&more), .scratch = scratch };
    ok = ok && scratch &&
         relink_command(session_workspace(lab->plan.session), lab->captured, &r, &argv,
                        err) &&
         recompile_tool(strings_argv(&argv), lab->captured->link_directory, NULL, err);
    if (scratch)
        tempdir_remove(scratch);
    strings_release(&objects);
    strings_release(&argv);
    strings_release(&more);
    map_release(&ids);
    return ok;
}

bool lab_build(Lab *lab, const LabUnit *u, const char *source, const char *out,
               bool trial, Err *err)
{
    char *object = xprintf("%s.o", out);
    char *include = xprintf("-I%s", lab->plan.folder);
    LabUnit with = *u;
    with.flags = (Strings){0};
    for (size_t i = 0; i < u->flags.len; i++)
        strings_add(&with.flags, u->flags.items[i]);
    strings_add(&with.flags, include);
    bool ok = recompile_run(with.unit, &with.flags, source, object, err) &&
              link_test(lab, u, object, out, trial, err);
    unlink(object);
    strings_release(&with.flags);
    free(include);
    free(object);
    return ok;
}

/* restore.c and trial.c, as objects; restore.h and restore.c stay beside the
 * tests. */
static bool prepare_support(Lab *lab, const char *objects, Err *err)
{
    static const char *const names[] = { "restore.h", "restore.c", "trial.c" };
    const char *share = session_share(lab->plan.session);
    bool ok = true;
    for (int i = 0; ok && i < 3; i++) {
        char *from = xprintf("%s/reproduce/%s", share, names[i]);
        char *to = xprintf("%s/%s", i < 2 ? lab->plan.folder : objects, names[i]);
        ok = copy_file(from, to, err);
        if (ok && i > 0) {
            char *o = arena_printf(&lab->arena, "%s/%s.o", objects, names[i]);
            char *argv[] = { lab->units[0].flags.items[0], "-g", "-O1", "-fPIC", "-c",
                             to, "-o", o, NULL };
            ok = recompile_tool(argv, NULL, NULL, err);
            *(i == 1 ? &lab->support : &lab->trial) = o;
        }
        free(from);
        free(to);
    }
    return ok;
}

static char *find_namer(void);

Lab *lab_new(const LabPlan *plan, Err *err)
{
    Lab *lab = xcalloc(1, sizeof *lab);
    lab->plan = *plan;
    lab->captured = program_captured(plan->program);
    lab->namer = find_namer();
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
    for (size_t i = 0; i < lab->all_places.len; i++) {
        vec_release(lab->all_places.items[i]);
        free(lab->all_places.items[i]);
    }
    vec_release(&lab->all_places);
    free(lab->namer);
    map_release(&lab->places);
    map_release(&lab->code);
    for (size_t i = 0; i < lab->views.len; i++)
        map_release(&lab->views.items[i]->declared);
    vec_release(&lab->views);
    arena_release(&lab->arena);
    free(lab);
}

/* ---- places */

static void add_place(Lab *lab, Places *to, const char *function, char *where)
{
    Place p = { .function = arena_strdup(&lab->arena, function) };
    char *colon = strrchr(where, ':');
    p.line = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
    if (colon)
        *colon = 0;
    p.file = arena_strdup(&lab->arena, where[0] == '?' ? "" : where);
    vec_push(to, p);
}

/* LLVM's own knows functions that LLVM inlined; binutils' does not always. */
static char *find_namer(void)
{
    char *clang = clang_find(), *dir = clang ? path_dir(clang) : NULL;
    char *real = clang ? path_real(clang) : NULL, *bin = real ? path_dir(real) : NULL;
    char *found = NULL;
    const char *const folders[] = { dir, bin };
    for (int i = 0; i < 2 && !found; i++) {
        found = folders[i] ? path_join(folders[i], "llvm-addr2line") : NULL;
        if (found && !file_exists(found)) {
            free(found);
            found = NULL;
        }
    }
    free(bin);
    free(real);
    free(dir);
    free(clang);
    return found ? found : xstrdup("addr2line");
}

/* addr2line -a: the address, then pairs of lines up to the next address. */
static void ask_places(Lab *lab, Strings *argv, Places **wanted)
{
    Str out = {0};
    char *save = NULL;
    size_t k = 0;
    Places *to = NULL;
    recompile_tool(strings_argv(argv), NULL, &out, NULL);
    for (char *l = out.data ? strtok_r(out.data, "\n", &save) : NULL; l;
         l = strtok_r(NULL, "\n", &save)) {
        if (str_starts(l, "0x") && wanted[k]) {
            to = wanted[k++];
            continue;
        }
        char *where = strtok_r(NULL, "\n", &save);
        if (to && where)
            add_place(lab, to, l, where);
    }
    str_release(&out);
}

bool lab_places(Lab *lab, const char *binary, const uint64_t *at, size_t n,
                Places *out)
{
    Strings argv = {0};
    Vec(Places *) wanted = {0};
    strings_add(&argv, lab->namer);
    strings_add(&argv, "-afie");
    strings_add(&argv, binary);
    for (size_t i = 0; i < n; i++) {
        char *key = xprintf("%s %llx", binary, (unsigned long long)at[i]);
        if (!map_has(&lab->places, key)) {
            Places *p = xcalloc(1, sizeof *p);
            vec_push(&lab->all_places, p);
            map_put(&lab->places, key, p);
            vec_push(&wanted, p);
            strings_addf(&argv, "0x%llx", (unsigned long long)at[i]);
        }
        free(key);
    }
    vec_push(&wanted, NULL);
    if (wanted.len > 1)
        ask_places(lab, &argv, wanted.items);
    for (size_t i = 0; i < n; i++) {
        char *key = xprintf("%s %llx", binary, (unsigned long long)at[i]);
        const Places *p = map_get(&lab->places, key);
        for (size_t k = 0; p && k < p->len; k++)
            vec_push(out, p->items[k]);
        free(key);
    }
    vec_release(&wanted);
    strings_release(&argv);
    return out->len > 0;
}

/* ---- the Makefile */

/* A word for a recipe: quoted for the shell, and $ doubled for make. */
static void make_word(Str *out, const char *word)
{
    Str quoted = {0};
    escape_shell(&quoted, word);
    for (size_t i = 0; i < quoted.len; i++) {
        if (quoted.data[i] == '$')
            str_addc(out, '$');
        str_addc(out, quoted.data[i] == '\n' ? ' ' : quoted.data[i]);
    }
    str_release(&quoted);
}

static void make_words(Str *out, const Strings *words)
{
    for (size_t i = 0; i < words->len; i++) {
        str_addc(out, i ? ' ' : '\t');
        make_word(out, words->items[i]);
    }
}

/* A file name that make can have as a prerequisite. */
static bool is_plain_path(const char *path)
{
    return !strpbrk(path, " \t\n$#:%\\;*?[]~'\"");
}

static void make_compile(const LabUnit *u, const char *source, const char *to, Str *out)
{
    str_add(out, "\tcd ");
    make_word(out, u->unit->directory);
    str_add(out, " && \\\n");
    make_words(out, &u->flags);
    str_add(out, " -MMD -MF \"$(CURDIR)/$@.d\" -I\"$(CURDIR)\" -c ");
    if (source)
        make_word(out, source);
    else
        str_add(out, "\"$(CURDIR)/$<\"");
    str_addf(out, " -o \"$(CURDIR)/%s\"\n", to);
}

static const char *object_name(const LabUnit *u)
{
    return path_base(u->edited);
}

static void make_unit(Lab *lab, LabUnit *u, Str *out)
{
    str_addf(out, "objects/%s:", object_name(u));
    if (is_plain_path(u->unit->source))
        str_addf(out, " %s", u->unit->source);
    str_add(out, " | objects\n");
    make_compile(u, u->unit->source, "$@", out);
    const Symbol *m = symbol_of(lab, u, "main");
    bool renames = m && strchr("TW", m->kind);
    if (u->edits.len || renames) {
        str_add(out, "\tobjcopy");
        for (size_t i = 0; i < u->edits.len; i++) {
            char *a = xprintf("--globalize-symbol=%s",
                              (const char *)u->edits.entries[i].value);
            char *b = xprintf("--redefine-sym=%s=%s", u->edits.entries[i].key,
                              (const char *)u->edits.entries[i].value);
            str_addc(out, ' ');
            make_word(out, a);
            str_addc(out, ' ');
            make_word(out, b);
            free(a);
            free(b);
        }
        str_addf(out, "%s $@\n", renames ? " --redefine-sym=main=program_main" : "");
    }
    str_addc(out, '\n');
}

/* The link command, with $(1) for the objects and $(2) for the output. */
static bool make_link(Lab *lab, Str *out, Err *err)
{
    Map ids = {0};
    Strings argv = {0};
    char *objects[] = { "@OBJECTS@", NULL };
    char *more[] = { lab->plan.asan ? "-fsanitize=address" : NULL, NULL };
    char *scratch = path_join(lab->plan.folder, "archives");
    for (size_t i = 0; i < lab->nunits; i++)
        map_put(&ids, lab->units[i].unit->id, NULL);
    Relink r = { .units = &ids, .objects = objects, .out = "@OUT@", .more = more,
                 .scratch = scratch };
    bool ok = relink_command(session_workspace(lab->plan.session), lab->captured, &r,
                             &argv, err);
    str_add(out, "link = cd ");
    make_word(out, lab->captured->link_directory);
    str_add(out, " &&");
    for (size_t i = 0; ok && i < argv.len; i++) {
        str_addc(out, ' ');
        if (strcmp(argv.items[i], "@OBJECTS@") == 0)
            str_add(out, "$(patsubst %,\"$(CURDIR)/%\",$(1))");
        else if (strcmp(argv.items[i], "@OUT@") == 0)
            str_add(out, "\"$(CURDIR)/$(2)\"");
        else
            make_word(out, argv.items[i]);
    }
    str_add(out, "\n\n");
    free(scratch);
    strings_release(&argv);
    map_release(&ids);
    return ok;
}

/* Tests of one unit share the list of the other units' objects. */
static void make_test(Lab *lab, const char *test, const LabUnit *unit, Str *out)
{
    LabUnit *u = (LabUnit *)unit;
    str_addf(out, "%s: %s.c restore.h restore.o", test, test);
    if (is_plain_path(u->unit->source))
        str_addf(out, " %s", u->unit->source);
    str_addf(out, " $(filter-out objects/%s,$(objects))\n", object_name(u));
    make_compile(u, NULL, "$@.o", out);
    str_addf(out, "\t$(call link,$@.o restore.o $(filter-out objects/%s,$(objects)),"
             "$@)\n\n", object_name(u));
    (void)lab;
}

bool lab_makefile(Lab *lab, const Strings *tests, const LabUnit *const *units,
                  Str *out, Err *err)
{
    str_add(out, "objects =");
    for (size_t i = 0; i < lab->nunits; i++)
        str_addf(out, " objects/%s", object_name(&lab->units[i]));
    str_add(out, "\n");
    if (!make_link(lab, out, err))
        return false;
    for (size_t i = 0; i < tests->len; i++)
        make_test(lab, tests->items[i], units[i], out);
    str_add(out, "restore.o: restore.c\n");
    str_add(out, "\t");
    make_word(out, lab->units[0].flags.items[0]);
    str_add(out, " -g -O1 -fPIC -c restore.c -o $@\n\nobjects:\n\tmkdir -p $@\n\n");
    for (size_t i = 0; i < lab->nunits; i++)
        make_unit(lab, &lab->units[i], out);
    str_add(out, "-include $(wildcard objects/*.d *.d)\n");
    return true;
}
