/*
 * Compiler calls: from the workspace or from a compile_commands.json, and the
 * flags with which clang-19 sees the same program as the build's compiler.
 */
#include "base/file.h"
#include "capture/capture_int.h"
#include <stdlib.h>
#include <ctype.h>
#include <string.h>
#include <unistd.h>

char *clang_find(void)
{
    const char *prefix = getenv("SUNDEW_LLVM_PREFIX");
    char *path = xprintf("%s/bin/clang", prefix ? prefix : SUNDEW_LLVM);
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return path_search("clang-19", NULL);
}

static bool is_machine(const char *name)
{
    static const char *const machines[] = {
        "x86_64-",   "i386-", "i486-",   "i586-", "i686-", "aarch64-", "arm-",
        "armv",      "riscv", "powerpc", "ppc",   "mips",  "s390x-",   "sparc",
        "loongarch", "m68k-", "alpha-",  "hppa",  "sh4-",  "xtensa",   "avr-",
    };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (str_starts(name, machines[i]) && strchr(name, '-'))
            return true;
    return false;
}

/* aarch64-linux-gnu-gcc-12 compiles for aarch64-linux-gnu. */
static char *cross_target(const char *compiler)
{
    const char *base = path_base(compiler);
    static const char *const tails[] = { "-gcc", "-clang", "-cc", "-g++", "-c++" };
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        const char *at = strstr(base, tails[i]);
        /* a target begins with a known machine: my-fast-gcc has none */
        if (at && is_machine(base))
            return xstrndup(base, (size_t)(at - base));
    }
    return NULL;
}

void clang_flags(const Cmdline *c, const char *compiler, Strings *out)
{
    char *target = cross_target(compiler);
    if (target)
        strings_addf(out, "--target=%s", target);
    free(target);
    /* Some of clang's warnings are errors by default (implicit declarations,
     * mismatched pointers); to gcc they are not, so they are in real code. */
    strings_add(out, "-Wno-everything");
    strings_add(out, "-fbracket-depth=4096"); /* gcc has no limit: hash macros nest deeply */
    /* c89 and c99 are scripts that say this by themselves. */
    const char *name = path_base(compiler);
    if (str_starts(name, "c89") || str_starts(name, "c99"))
        strings_addf(out, "-std=%.3s", name);
    for (size_t i = 0; i < c->clang.len; i++)
        strings_add(out, c->clang.items[i]);
    for (size_t i = 0; i < c->unsure.len; i++)
        strings_add(out, c->unsure.items[i]);
}

bool is_configure_check(const char *cwd, const char *file)
{
    static const char *const folders[] = {
        "/CMakeFiles/CMakeTmp", "/CMakeFiles/CMakeScratch",
        "/CompilerIdC",         "/_CMakeLTOTest-",
        "/meson-private",       "/.conf_check",
        "/config.tests",        "/ffconf.",
        "/config-temp/",
    };
    static const char *const names[] = { "conftest", "CMakeCCompilerId", "testCCompiler",
                                         "_configtest", "ztest" };
    const char *base = path_base(file);
    if (str_starts(base, "lib"))
        base += strlen("lib");               /* libconftest.a */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(base, names[i], n) == 0 && !isalpha((unsigned char)base[n]))
            return true;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strstr(cwd, folders[i]) || strstr(file, folders[i]))
            return true;
    return false;
}

/* Fills `clang` of a command from its arguments. */
static void derive(CompileCommand *cc)
{
    Cmdline c = { 0 };
    cmdline_parse(&c, (int)cc->arguments.len, cc->arguments.items, cc->directory, false);
    clang_flags(&c, cc->arguments.len ? cc->arguments.items[0] : "cc", &cc->clang);
    cmdline_release(&c);
}

static void add(CompileCommands *out, const char *directory, const char *file, const char *output,
                const Strings *arguments)
{
    CompileCommand *cc = vec_grow(out);
    cc->directory = xstrdup(directory);
    cc->file = path_in(directory, file);
    cc->output = xstrdup(output);
    for (size_t i = 0; i < arguments->len; i++)
        strings_add(&cc->arguments, arguments->items[i]);
    derive(cc);
}

void command_release(CompileCommand *cc)
{
    free((char *)cc->directory);
    free((char *)cc->file);
    free((char *)cc->output);
    strings_release(&cc->arguments);
    strings_release(&cc->clang);
}

/* Adds a unit once per source and flags. */
static void add_unit(const Unit *u, Map *seen, CompileCommands *out)
{
    if (u->status == UNIT_FOREIGN || !cmdline_is_c(u->language))
        return;
    add(out, u->directory, u->source, u->output, &u->arguments);
    CompileCommand *cc = &out->items[out->len - 1];
    Str key = { 0 };
    str_addf(&key, "%s\n%s", cc->directory, cc->file);
    for (size_t i = 0; i < cc->clang.len; i++)
        if (!str_starts(cc->clang.items[i], "-fPI") && !str_starts(cc->clang.items[i], "-fpi") &&
            strcmp(cc->clang.items[i], "-DPIC") != 0)
            str_addf(&key, "\n%s", cc->clang.items[i]);
    bool fresh = map_put(seen, str_c(&key), NULL);
    str_release(&key);
    if (!fresh)
        command_release(&out->items[--out->len]);
}

bool commands_of_workspace(Workspace *ws, CompileCommands *out, Err *err)
{
    size_t n;
    Map seen = { 0 };
    const CapturedProgram **programs = workspace_programs(ws, &n, err), *damaged = NULL;
    if (!programs)
        return false;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < programs[i]->nunits; k++)
            add_unit(programs[i]->units[k], &seen, out);
        if (programs[i]->ndamaged)
            damaged = programs[i];
        for (size_t k = 0; k < programs[i]->nfailed; k++)
            if (!programs[i]->failed[k]->damaged)
                add_unit(programs[i]->failed[k], &seen, out);
    }
    Strings names = { 0 };
    char *dir = workspace_path(ws, "units");
    bool ok = !damaged || err_set(err,
                                  "%zu units of %s are damaged in the workspace (sundew doctor "
                                  "tells which); build them again",
                                  damaged->ndamaged, damaged->name);
    ok = ok && (n || dir_list(dir, &names, err));
    for (size_t i = 0; i < names.len; i++) {
        if (!str_ends(names.items[i], ".json"))
            continue;
        names.items[i][strlen(names.items[i]) - 5] = 0;
        const Unit *u = workspace_unit(ws, names.items[i]);
        if (u && u->damaged)
            ok = err_set(err, "%s: %s (sundew doctor looks at the whole workspace)", u->source,
                         u->reason);
        else if (u && file_exists(u->source))      /* a configuration deletes its own */
            add_unit(u, &seen, out);
    }
    strings_release(&names);
    free(dir);
    map_release(&seen);
    return ok;
}

bool commands_read(const char *path, CompileCommands *out, Err *err)
{
    json_t *list = json_read(path, err), *o;
    size_t i;
    if (!list)
        return false;
    if (!json_is_array(list)) {
        json_decref(list);
        return err_set(err, "%s: not a compilation database (no array)", path);
    }
    char *full = path_absolute(path), *folder = path_dir(full);
    json_array_foreach(list, i, o)
    {
        Strings arguments = { 0 };
        const char *file = json_str(o, "file");
        json_get_strings(o, "arguments", &arguments);
        if (!arguments.len)
            cmdline_split(json_str(o, "command"), true, &arguments);
        char *dir = path_in(folder, json_str(o, "directory"));
        if (*file && arguments.len && str_ends(file, ".c"))
            add(out, dir, file, json_str(o, "output"), &arguments);
        free(dir);
        strings_release(&arguments);
    }
    free(full);
    free(folder);
    json_decref(list);
    return true;
}

void commands_release(CompileCommands *c)
{
    for (size_t i = 0; i < c->len; i++)
        command_release(&c->items[i]);
    vec_release(c);
}
