/*
 * facade - declarations become a C file with empty functions.
 *
 * Clang prints the headers with one declaration a line, macros expanded:
 *
 *     extern int inflate(z_streamp strm, int flush);
 *
 * For an exported name the line, up to the end of its parameters, gets a body. The body hands
 * all parameters to a function that nobody knows, so that no analysis concludes anything from it.
 */
#include "engine/api/facade.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "capture/capture.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool run(Strings *argv, Str *out, Err *err)
{
    Proc p = { .argv = strings_argv(argv), .capture = true, .seconds = 120 };
    ProcResult r = { 0 };
    bool ok = proc_run(&p, &r, err);
    if (ok && r.status != 0) {
        const char *e = strstr(str_c(&r.err), "error: ");
        e = e ? e : str_c(&r.err);
        size_t n = strcspn(e, "\n"), line = e[n] ? strcspn(e + n + 1, "\n") : 0;
        ok = err_set(err, "%.*s in: %.*s", (int)(n > 300 ? 300 : n), e,
                     (int)(line > 200 ? 200 : line), e[n] ? e + n + 1 : "");
    }
    if (ok)
        str_addn(out, str_c(&r.out), r.out.len);
    proc_result_release(&r);
    return ok;
}

bool facade_exports(const char *library, Map *out, Err *err)
{
    Strings argv = { 0 };
    Str text = { 0 };
    if (!file_exists(library))
        return err_set(err, "%s: there is no such file", library);
    strings_add(&argv, "nm");
    strings_add(&argv, "-D");
    strings_add(&argv, "--defined-only");
    strings_add(&argv, library);
    bool ok = run(&argv, &text, err) || err_ctx(err, "%s is no shared library", library);
    for (const char *p = str_c(&text); ok && *p;) {
        size_t n = strcspn(p, "\n");
        const char *kind = memchr(p, ' ', n);
        if (kind && (kind[1] == 'T' || kind[1] == 'W' || kind[1] == 'i') && kind[2] == ' ')
            map_putn(out, kind + 3, strcspn(kind + 3, "@\n"), (void *)1);
        p += n + (p[n] == '\n');
    }
    str_release(&text);
    strings_release(&argv);
    return ok;
}

/* ---- declarations */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The ")" that closes the "(" at s; NULL: none in the line. */
static const char *closing(const char *s, const char *end)
{
    int depth = 0;
    for (; s < end; s++) {
        depth += *s == '(';
        depth -= *s == ')';
        if (!depth)
            return s;
    }
    return NULL;
}

/* The name before the first "(" of a line; false: none. */
static bool declared_name(const char *line, const char *end, const char **name, const char **open)
{
    const char *p = memchr(line, '(', (size_t)(end - line));
    if (!p || p == line || isspace((unsigned char)*line) || *line == '#')
        return false;
    const char *w = p;
    while (w > line && is_word(w[-1]))
        w--;
    *name = w;
    *open = p;
    return w < p && w > line;
}

/* A parameter in the text of a declaration; `name` is inside of it, or NULL. */
typedef struct Parameter {
    const char *text, *name;
    size_t n, name_len;
} Parameter;

static bool is_type_word(const char *w, size_t n)
{
    static const char *const words[] = { "int",      "char",    "long",  "short",    "unsigned",
                                         "signed",   "double",  "float", "void",     "_Bool",
                                         "restrict", "const",   "bool",  "volatile", "__restrict",
                                         "_Complex", "__int128" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && memcmp(words[i], w, n) == 0)
            return true;
    return false;
}

/* Is there a type before the name, other than qualifiers and "struct"? */
static bool has_type_before(const char *from, const char *name)
{
    static const char *const no_type[] = { "struct", "union", "enum", "const", "volatile" };
    for (const char *w = from; w < name;) {
        size_t n = 0;
        bool none = false;
        if (!is_word(*w)) {
            if (*w == '*')
                return true;
            w++;
            continue;
        }
        while (is_word(w[n]))
            n++;
        for (size_t i = 0; i < sizeof no_type / sizeof *no_type; i++)
            none |= strlen(no_type[i]) == n && memcmp(no_type[i], w, n) == 0;
        /* the tag behind "struct" is the type */
        if (!none)
            return true;
        w += n;
    }
    return false;
}

static void find_name(Parameter *p)
{
    const char *end = p->text + p->n, *inside = memchr(p->text, '(', p->n), *w;
    if (inside) {                            /* int (*fn)(void *) */
        w = inside + 1;
        while (w < end && (*w == '*' || *w == ' '))
            w++;
    } else {
        const char *bracket = memchr(p->text, '[', p->n);
        w = bracket ? bracket : end;
        while (w > p->text && w[-1] == ' ')
            w--;
        end = w;
        while (w > p->text && is_word(w[-1]))
            w--;
    }
    size_t n = 0;
    while (w + n < end && is_word(w[n]))
        n++;
    if (n && !is_type_word(w, n) && (inside || has_type_before(p->text, w))) {
        p->name = w;
        p->name_len = n;
    }
}

enum { MOST_PARAMETERS = 64 };

static size_t split(const char *open, const char *close, Parameter *out)
{
    size_t n = 0;
    for (const char *p = open + 1; p < close && n < MOST_PARAMETERS;) {
        int depth = 0;
        const char *end = p;
        while (end < close && (depth || *end != ',')) {
            depth += *end == '(';
            depth -= *end == ')';
            end++;
        }
        out[n] = (Parameter){ .text = p, .n = (size_t)(end - p) };
        find_name(&out[n++]);
        for (p = end + 1; p < close && *p == ' ';)
            p++;
    }
    return n;
}

static void add_definition(Str *out, const char *line, const char *open, const char *close)
{
    Parameter all[MOST_PARAMETERS];
    size_t n = split(open, close, all);
    const char *from = strncmp(line, "extern ", 7) == 0 ? line + 7 : line;
    bool none = n == 1 && all[0].n == 4 && memcmp(all[0].text, "void", 4) == 0;
    const char *name = open;
    while (name > from && is_word(name[-1]))
        name--;
    str_addf(out, "#undef %.*s\n", (int)(open - name), name);     /* it may be a macro, too */
    str_addn(out, from, (size_t)(open - from) + 1);
    for (size_t i = 0; i < n; i++) {
        const Parameter *p = &all[i];
        bool plain = p->name || none || (p->n == 3 && memcmp(p->text, "...", 3) == 0);
        str_add(out, i ? ", " : "");
        if (plain)
            str_addn(out, p->text, p->n);
        else
            str_addf(out, "__typeof__(%.*s) p%zu", (int)p->n, p->text, i);
    }
    str_add(out, ")\n{\n    sundew_facade(0");
    for (size_t i = 0; i < n && !none; i++)
        if (all[i].name)
            str_addf(out, ", %.*s", (int)all[i].name_len, all[i].name);
        else if (*all[i].text != '.')
            str_addf(out, ", p%zu", i);
    str_add(out, ");\n    __builtin_trap();\n}\n");
}

static void add_definitions(Str *out, const char *text, const Map *exports)
{
    Map done = { 0 };
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        const char *name, *open, *close;
        if (declared_name(p, p + n, &name, &open) && strncmp(p, "static", 6) != 0 &&
            strncmp(p, "typedef", 7) != 0 && map_getn(exports, name, (size_t)(open - name)) &&
            (close = closing(open, p + n)) != NULL &&
            map_putn(&done, name, (size_t)(open - name), NULL))
            add_definition(out, p, open, close);
        p += n + (p[n] == '\n');
    }
    map_release(&done);
}

/* ---- the program */

static void common_words(Strings *argv, const char *clang, char *const *headers, char *const *flags)
{
    strings_add(argv, clang);
    for (char *const *h = headers; h && *h; h++) {
        char *dir = path_dir(*h);
        strings_addf(argv, "-I%s", dir);
        free(dir);
    }
    for (char *const *f = flags; f && *f; f++)
        strings_add(argv, *f);
    strings_add(argv, "-w");
    strings_add(argv, "-fno-builtin");
}

static void add_includes(Str *out, char *const *headers)
{
    for (char *const *h = headers; h && *h; h++) {
        char *full = path_absolute(*h);
        str_add(out, "#include ");
        escape_c_include(out, full);
        str_addc(out, '\n');
        free(full);
    }
}

static bool compile(const char *clang, const char *dir, char *const *headers, char *const *flags,
                    const Map *exports, char **bitcode, Err *err)
{
    char *source = path_join(dir, "facade.c");
    Strings argv = { 0 };
    Str text = { 0 }, printed = { 0 };
    *bitcode = path_join(dir, "facade.bc");
    add_includes(&text, headers);
    bool ok = file_write(source, text.data, text.len, err);
    common_words(&argv, clang, headers, flags);
    strings_add(&argv, "-fsyntax-only");
    strings_add(&argv, "-Xclang");
    strings_add(&argv, "-ast-print");
    strings_add(&argv, source);
    ok = ok && (run(&argv, &printed, err) || err_ctx(err, "the headers can't be read"));
    strings_release(&argv);
    str_add(&text, "void sundew_facade(int, ...);\n");
    if (ok)
        add_definitions(&text, str_c(&printed), exports);
    common_words(&argv, clang, headers, flags);
    strings_add(&argv, "-g");
    strings_add(&argv, "-c");
    strings_add(&argv, "-emit-llvm");
    strings_add(&argv, source);
    strings_add(&argv, "-o");
    strings_add(&argv, *bitcode);
    ok = ok && file_write(source, text.data, text.len, err) &&
         (run(&argv, &printed, err) || err_ctx(err, "the declarations can't be compiled"));
    strings_release(&argv);
    str_release(&text);
    str_release(&printed);
    free(source);
    return ok;
}

static bool no_pipes(char *const *headers, Err *err)
{
    for (char *const *h = headers; h && *h; h++)
        if (file_is_pipe(*h))
            return err_set(err, "%s: a pipe, not a header", *h);
    return true;
}

Program *facade_open(const char *library, char *const *headers, char *const *flags, Err *err)
{
    Map exports = { 0 };
    char *clang = clang_find(), *bitcode = NULL;
    const char *dir = tempdir_new(NULL, err);
    Program *p = NULL;
    bool ok = dir && no_pipes(headers, err) &&
              (clang || err_set(err, "clang-19 is not there: it reads the headers"));
    ok = ok && facade_exports(library, &exports, err) &&
         compile(clang, dir, headers, flags, &exports, &bitcode, err);
    if (ok)
        p = program_open_bitcode((const char *const *)&bitcode, 1, err);
    map_release(&exports);
    free(bitcode);
    free(clang);
    if (dir)
        tempdir_remove(dir);
    return p;
}
