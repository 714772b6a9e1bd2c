/*
 * The Makefile of a folder of tests: see lab.h. The shell finds out where it is (pwd):
 * if make pasted its $(CURDIR), the shell would execute what the folder's name says.
 */
#include "base/escape.h"
#include "base/file.h"
#include "build/lab_int.h"
#include "capture/relink.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void make_words(Str *out, const Strings *words)
{
    for (size_t i = 0; i < words->len; i++) {
        str_addc(out, i ? ' ' : '\t');
        escape_make_recipe(out, words->items[i]);
    }
}

/* A file name that make can have as a prerequisite. */
static bool is_plain_path(const char *path)
{
    return !strpbrk(path, " \t\n$#:%\\;*?[]~'\"`()&|<>!={}");
}

static void make_compile(const LabUnit *u, const char *source, bool plain, const char *to, Str *out)
{
    static const char *const words[] = { LAB_PLAIN_FLAGS, NULL };
    str_add(out, "\there=$$(pwd); cd ");
    escape_make_recipe(out, u->unit->directory);
    str_add(out, " && \\\n");
    make_words(out, &u->flags);
    for (const char *const *w = words; plain && *w; w++)
        str_addf(out, " %s", *w);
    str_add(out, " -MMD -MF \"$$here/$@.d\" -I\"$$here\" -c ");
    if (source)
        escape_make_recipe(out, source);
    else
        str_add(out, "\"$$here/$<\"");
    str_addf(out, " -o \"$$here/%s\"\n", to);
    /* make would misread such names: what they say is left out. */
    str_add(out, "\t@! grep -q \"[;&|<>%\\`'\\\"]\" $@.d || rm -f $@.d\n");
}

static const char *object_name(const LabUnit *u) { return path_base(u->edited); }

static void make_unit(Lab *lab, LabUnit *u, Str *out)
{
    str_addf(out, "objects/%s:", object_name(u));
    if (is_plain_path(u->unit->source))
        str_addf(out, " %s", u->unit->source);
    str_add(out, " | objects\n");
    make_compile(u, u->unit->source, false, "$@", out);
    bool renames = lab_renames_main(lab, u);
    if (u->edits.len || renames) {
        str_add(out, "\tobjcopy");
        for (size_t i = 0; i < u->edits.len; i++) {
            char *a = xprintf("--globalize-symbol=%s", (const char *)u->edits.entries[i].value);
            char *b = xprintf("--redefine-sym=%s=%s", u->edits.entries[i].key,
                              (const char *)u->edits.entries[i].value);
            str_addc(out, ' ');
            escape_make_recipe(out, a);
            str_addc(out, ' ');
            escape_make_recipe(out, b);
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
    Map ids = { 0 };
    Strings argv = { 0 };
    char *objects[] = { "@OBJECTS@", NULL };
    Strings more = { 0 };
    char *scratch = path_join(lab->plan.folder, "archives");
    for (size_t i = 0; i < lab->nunits; i++)
        map_put(&ids, lab->units[i].unit->id, NULL);
    lab_link_words(lab, &more);
    Relink r = { .units = &ids,
                 .objects = objects,
                 .out = "@OUT@",
                 .more = strings_argv(&more),
                 .scratch = scratch };
    bool ok = relink_command(program_workspace(lab->plan.program), lab->captured, &r, &argv, err);
    str_add(out, "link = here=$$(pwd); cd ");
    escape_make_variable(out, lab->captured->link_directory);
    str_add(out, " &&");
    for (size_t i = 0; ok && i < argv.len; i++) {
        str_addc(out, ' ');
        if (strcmp(argv.items[i], "@OBJECTS@") == 0)
            str_add(out, "$(patsubst %,\"$$here/%\",$(1))");
        else if (strcmp(argv.items[i], "@OUT@") == 0)
            str_add(out, "\"$$here/$(2)\"");
        else
            escape_make_variable(out, argv.items[i]);
    }
    str_add(out, "\n\n");
    free(scratch);
    strings_release(&more);
    strings_release(&argv);
    map_release(&ids);
    return ok;
}

/* " restore.h restore.o", or the objects alone. */
static void make_support(const Lab *lab, bool headers, Str *out)
{
    for (const char *const *f = lab->plan.support; f && *f; f++) {
        const char *name = path_base(*f);
        if (str_ends(name, ".c"))
            str_addf(out, " %.*so", (int)strlen(name) - 1, name);
        else if (headers)
            str_addf(out, " %s", name);
    }
}

/* Tests of one unit share the list of the other units' objects. */
static void make_test(Lab *lab, const LabTest *test, Str *out)
{
    const LabUnit *u = test->unit;
    str_addf(out, "%s: %s.c", test->name, test->name);
    make_support(lab, true, out);
    if (is_plain_path(u->unit->source))
        str_addf(out, " %s", u->unit->source);
    str_addf(out, " $(filter-out objects/%s,$(objects))\n", object_name(u));
    make_compile(u, NULL, test->unoptimised, "$@.o", out);
    str_add(out, "\t$(call link,$@.o");
    make_support(lab, false, out);
    str_addf(out, " $(filter-out objects/%s,$(objects)),$@)\n\n", object_name(u));
}

/* How the support files are compiled. */
static void make_support_rules(const Lab *lab, Str *out)
{
    for (const char *const *f = lab->plan.support; f && *f; f++) {
        const char *name = path_base(*f);
        if (!str_ends(name, ".c"))
            continue;
        str_addf(out, "%.*so: %s\n\t", (int)strlen(name) - 1, name, name);
        escape_make_recipe(out, lab->units[0].flags.items[0]);
        str_addf(out, " -g -O1 -fPIC -c %s -o $@\n\n", name);
    }
}

bool lab_makefile(Lab *lab, const LabTest *tests, size_t n, Str *out, Err *err)
{
    assert(lab->nunits);
    str_add(out, "objects =");
    for (size_t i = 0; i < lab->nunits; i++)
        str_addf(out, " objects/%s", object_name(&lab->units[i]));
    str_add(out, "\n");
    if (!make_link(lab, out, err))
        return false;
    for (size_t i = 0; i < n; i++)
        make_test(lab, &tests[i], out);
    make_support_rules(lab, out);
    str_add(out, "objects:\n\tmkdir -p $@\n\n");
    for (size_t i = 0; i < lab->nunits; i++)
        make_unit(lab, &lab->units[i], out);
    str_add(out, "-include $(wildcard objects/*.d *.d)\n");
    return true;
}
