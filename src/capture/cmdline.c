/*
 * A table says for each flag how it takes its value and what it means for the
 * bitcode: most flags choose warnings, optimisations or things of the linker
 * and do not change which program the source is. The first row that fits
 * decides, so the telling rows stand above the general ones.
 */
#include "capture/cmdline.h"
#include "base/file.h"
#include "base/str.h"
#include <stdlib.h>
#include <string.h>

typedef enum {
    KEEP,                     /* clang needs it */
    TRY,                      /* clang may refuse it */
    DROP,                     /* does not matter to the bitcode */
    LOSE,                     /* matters, but clang can't: noted */
    OTHER,                    /* makes the command CMDLINE_OTHER */
    OUTPUT,
    LANGUAGE,
    COMPILE,
    CPP,
    LINKER,
    FRONT,
    FILE_MAP,  /* special */
} Action;

typedef enum {
    ALONE,                    /* exactly this */
    PREFIX,                   /* begins so; the value, if any, is joined */
    NEXT,                     /* the value is the next word */
    EITHER,                   /* joined or the next word */
} Form;

static const struct row {
    const char *name;
    Form form;
    Action action;
} table[] = {
    { "-o", EITHER, OUTPUT },
    { "--output=", PREFIX, OUTPUT },
    { "--output", NEXT, OUTPUT },
    { "-c", ALONE, COMPILE },
    { "-x", EITHER, LANGUAGE },
    { "-E", ALONE, OTHER },
    { "-S", ALONE, OTHER },
    { "-M", ALONE, OTHER },
    { "-MM", ALONE, OTHER },
    { "-fsyntax-only", ALONE, OTHER },
    { "-###", ALONE, OTHER },
    { "-emit-llvm", ALONE, OTHER },
    { "--analyze", ALONE, OTHER },
    { "-print-", PREFIX, OTHER },
    { "--print-", PREFIX, OTHER },
    { "-dumpbase", NEXT, DROP },
    { "-dumpbase-ext", NEXT, DROP },
    { "-dumpdir", NEXT, DROP },
    { "-dump", PREFIX, DROP },
    { "--version", ALONE, OTHER },
    { "--help", PREFIX, OTHER },
    { "-cc1", ALONE, OTHER },

    /* preprocessor */
    { "-D", EITHER, KEEP },
    { "-U", EITHER, KEEP },
    { "-I", EITHER, KEEP },
    { "-isystem", EITHER, KEEP },
    { "-iquote", EITHER, KEEP },
    { "-idirafter", EITHER, KEEP },
    { "--define-macro=", PREFIX, KEEP },
    { "--define-macro", NEXT, KEEP },
    { "--undefine-macro=", PREFIX, KEEP },
    { "--undefine-macro", NEXT, KEEP },
    { "--include-directory=", PREFIX, KEEP },
    { "--include-directory", NEXT, KEEP },
    { "--include=", PREFIX, KEEP },
    { "--include", NEXT, KEEP },
    { "-include-pch", NEXT, LOSE },
    { "-include", EITHER, KEEP },
    { "-imacros", EITHER, KEEP },
    { "-isysroot", EITHER, KEEP },
    { "-iprefix", EITHER, KEEP },
    { "-iwithprefixbefore", EITHER, KEEP },
    { "-iwithprefix", EITHER, KEEP },
    { "-imultilib", NEXT, DROP },
    { "-iframework", EITHER, KEEP },
    { "-ivfsoverlay", EITHER, KEEP },
    { "-working-directory", EITHER, KEEP },
    { "-F", EITHER, KEEP },
    { "--sysroot=", PREFIX, KEEP },
    { "--sysroot", NEXT, KEEP },
    { "-nostdinc", ALONE, KEEP },
    { "-undef", ALONE, KEEP },
    { "-trigraphs", ALONE, KEEP },
    { "-MF", EITHER, DROP },
    { "-MT", EITHER, DROP },
    { "-MQ", EITHER, DROP },
    { "-MJ", EITHER, DROP },
    { "-M", PREFIX, DROP },
    { "-Wp,", PREFIX, CPP },
    { "-Xpreprocessor", NEXT, CPP },

    /* language */
    { "-std=", PREFIX, KEEP },
    { "--std=", PREFIX, KEEP },
    { "-ansi", ALONE, KEEP },
    { "-pthread", ALONE, KEEP },
    { "-ffile-prefix-map=", PREFIX, FILE_MAP },
    { "-fdebug-prefix-map=", PREFIX, DROP },
    { "-fmacro-prefix-map=", PREFIX, KEEP },
    { "-fsigned-char", ALONE, KEEP },
    { "-funsigned-char", ALONE, KEEP },
    { "-fno-signed-char", ALONE, KEEP },
    { "-fno-unsigned-char", ALONE, KEEP },
    { "-fshort-enums", ALONE, KEEP },
    { "-fno-short-enums", ALONE, KEEP },
    { "-fshort-wchar", ALONE, KEEP },
    { "-fno-short-wchar", ALONE, KEEP },
    { "-fsigned-bitfields", ALONE, DROP },
    { "-funsigned-bitfields", ALONE, LOSE },
    { "-fsingle-precision-constant", ALONE, LOSE },
    { "-fexec-charset=", PREFIX, TRY },
    { "-fwide-exec-charset=", PREFIX, LOSE },
    { "-fgnu-tm", ALONE, LOSE },
    { "-fleading-underscore", ALONE, LOSE },
    { "-fpcc-struct-return", ALONE, TRY },
    { "-freg-struct-return", ALONE, TRY },
    { "-fasm", ALONE, KEEP },
    { "-fno-asm", ALONE, KEEP },
    { "-fasm-blocks", ALONE, KEEP },
    { "-fhosted", ALONE, KEEP },
    { "-fno-hosted", ALONE, KEEP },
    { "-ffast-math", ALONE, KEEP },
    { "-fno-fast-math", ALONE, KEEP },
    { "-ffinite-math-only", ALONE, KEEP },
    { "-ftrivial-auto-var-init=", PREFIX, KEEP },
    { "-flax-vector-conversions", PREFIX, KEEP },
    { "-fno-lax-vector-conversions", ALONE, KEEP },
    { "-fdeclspec", ALONE, KEEP },
    { "-fpack-struct", PREFIX, KEEP },
    { "-fms-extensions", ALONE, KEEP },
    { "-fms-compatibility", PREFIX, KEEP },
    { "-fno-gnu89-inline", ALONE, KEEP },
    { "-fgnu89-inline", ALONE, KEEP },
    { "-fcommon", ALONE, KEEP },
    { "-fno-common", ALONE, KEEP },
    { "-fwrapv", ALONE, KEEP },
    { "-ftrapv", ALONE, KEEP },
    { "-fno-strict-overflow", ALONE, KEEP },
    { "-ffreestanding", ALONE, KEEP },
    { "-fno-builtin", PREFIX, KEEP },
    { "-fexceptions", ALONE, KEEP },
    { "-fblocks", ALONE, KEEP },
    { "-fvisibility=", PREFIX, KEEP },
    { "-fdollars-in-identifiers", ALONE, KEEP },
    { "-fno-dollars-in-identifiers", ALONE, KEEP },
    { "-finput-charset=", PREFIX, TRY },
    { "-fPIC", ALONE, KEEP },
    { "-fpic", ALONE, KEEP },
    { "-fPIE", ALONE, KEEP },
    { "-fpie", ALONE, KEEP },
    { "-fno-PIC", ALONE, KEEP },
    { "-fno-pic", ALONE, KEEP },
    { "-fno-PIE", ALONE, KEEP },
    { "-fno-pie", ALONE, KEEP },
    { "-fplan9-extensions", ALONE, LOSE },
    { "-fopenmp", PREFIX, LOSE },
    { "-fopenacc", PREFIX, LOSE },
    { "-fnested-functions", ALONE, LOSE },
    { "-finstrument-functions", PREFIX, LOSE },

    /* target */
    { "-mllvm", NEXT, DROP },
    { "-m16", ALONE, KEEP },
    { "-m32", ALONE, KEEP },
    { "-m64", ALONE, KEEP },
    { "-mx32", ALONE, KEEP },
    { "-m", PREFIX, TRY },
    { "--target=", PREFIX, KEEP },
    { "-target", NEXT, KEEP },
    { "--gcc-toolchain=", PREFIX, KEEP },

    /* optimisation, code generation, debugging, diagnostics */
    { "-fsanitize", PREFIX, LOSE },
    { "-fprofile", PREFIX, DROP },
    { "-fplugin", PREFIX, LOSE },
    { "-f", PREFIX, DROP },
    { "-O", PREFIX, DROP },
    { "-gcc-toolchain", NEXT, KEEP },
    { "-g", PREFIX, DROP },
    { "-W", ALONE, DROP },
    { "-Wl,", PREFIX, LINKER },
    { "-Wa,", PREFIX, DROP },
    { "-W", PREFIX, DROP },
    { "-w", ALONE, DROP },
    { "-pedantic", PREFIX, DROP },
    { "-pipe", ALONE, DROP },
    { "-p", ALONE, DROP },
    { "-pg", ALONE, DROP },
    { "-coverage", ALONE, DROP },
    { "--coverage", ALONE, DROP },
    { "-save-temps", PREFIX, DROP },
    { "--save-temps", PREFIX, DROP },
    { "-time", PREFIX, DROP },
    { "-v", ALONE, DROP },
    { "-d", PREFIX, DROP },
    { "-Q", PREFIX, DROP },
    { "-aux-info", NEXT, DROP },
    { "--param", NEXT, DROP },
    { "--param=", PREFIX, DROP },
    { "-specs=", PREFIX, LOSE },
    { "--specs=", PREFIX, LOSE },
    { "-wrapper", NEXT, DROP },
    { "-no-canonical-prefixes", ALONE, DROP },
    { "-P", ALONE, DROP },
    { "-C", ALONE, DROP },
    { "-CC", ALONE, DROP },
    { "-H", ALONE, DROP },
    { "-Xclang", NEXT, FRONT },

    /* linker */
    { "--print-map", ALONE, DROP },
    { "-Xanalyzer", NEXT, DROP },
    { "-Xarch_", PREFIX, LOSE },
    { "--serialize-diagnostics", NEXT, DROP },
    { "-Xlinker", NEXT, LINKER },
    { "-Xassembler", NEXT, DROP },
    { "-L", EITHER, DROP },
    { "-l", EITHER, DROP },
    { "-T", EITHER, DROP },
    { "-u", EITHER, DROP },
    { "-e", EITHER, DROP },
    { "-z", EITHER, DROP },
    { "-B", EITHER, DROP },
    { "-A", EITHER, DROP },
    { "-rdynamic", ALONE, DROP },
    { "-r", ALONE, DROP },
    { "-s", ALONE, DROP },
    { "-shared", PREFIX, DROP },
    { "-static", PREFIX, DROP },
    { "-pie", ALONE, DROP },
    { "-no-pie", ALONE, DROP },
    { "-nopie", ALONE, DROP },
    { "-nostdlib", PREFIX, DROP },
    { "-nodefaultlibs", ALONE, DROP },
    { "-nostartfiles", ALONE, DROP },
    { "-nolibc", ALONE, DROP },
    { "-symbolic", ALONE, DROP },
    { "-rpath", NEXT, DROP },
    { "-soname", NEXT, DROP },
    { "--no-undefined", ALONE, DROP },
};

/* What the driver makes of a file by its ending. */
static const struct {
    const char *ending, *language;
} endings[] = {
    { ".c", "c" },
    { ".i", "cpp-output" },
    { ".h", "c-header" },
    { ".s", "assembler" },
    { ".S", "assembler-with-cpp" },
    { ".sx", "assembler-with-cpp" },
    { ".asm", "assembler" },
    { ".cc", "c++" },
    { ".cp", "c++" },
    { ".cxx", "c++" },
    { ".cpp", "c++" },
    { ".CPP", "c++" },
    { ".c++", "c++" },
    { ".C", "c++" },
    { ".ii", "c++" },
    { ".hh", "c++-header" },
    { ".hpp", "c++-header" },
    { ".H", "c++-header" },
    { ".m", "objective-c" },
    { ".mm", "objective-c++" },
    { ".M", "objective-c++" },
    { ".f", "fortran" },
    { ".F", "fortran" },
    { ".f90", "fortran" },
    { ".F90", "fortran" },
    { ".f95", "fortran" },
    { ".for", "fortran" },
    { ".ads", "ada" },
    { ".adb", "ada" },
    { ".d", "d" },
    { ".go", "go" },
    { ".ll", "llvm-ir" },
    { ".bc", "llvm-ir" },
    { ".cu", "cuda" },
};

bool cmdline_is_c(const char *language)
{
    return language && (strcmp(language, "c") == 0 || strcmp(language, "cpp-output") == 0);
}

bool cmdline_is_stdin(const char *path)
{
    static const char *const names[] = { "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0)
            return true;
    return false;
}

static const char *language_of(const char *path, const char *forced, bool cxx)
{
    const char *found = NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends(path, endings[i].ending))
            found = endings[i].language;
    if (forced)
        found = forced;
    if (cxx && found && !forced && cmdline_is_c(found))
        found = "c++";
    return found;
}

void cmdline_split(const char *p, bool shell, Strings *out)
{
    static const char blanks[] = " \t\r\n\f\v";
    while (*(p += strspn(p, blanks))) {
        Str word = { 0 };
        for (char quote = 0; *p && (quote || !strchr(blanks, *p)); p++) {
            bool escapes = !shell || !quote || (quote == '"' && p[1] && strchr("\"\\$`", p[1]));
            if (*p == '\\' && p[1] && escapes)
                str_addc(&word, *++p);
            else if (quote && *p == quote)
                quote = 0;
            else if (!quote && (*p == '\'' || *p == '"'))
                quote = *p;
            else
                str_addc(&word, *p);
        }
        vec_push(out, str_take(&word));
    }
}

enum { MOST_WORDS = 100000 };

static void expand_word(const char *word, const char *cwd, int depth, Strings *out)
{
    Str text = { 0 };
    char *path = word[0] == '@' ? path_in(cwd, word + 1) : NULL;
    bool more = depth < 8 && out->len < MOST_WORDS;      /* a file may name itself, often */
    if (path && more && file_is_regular(path) && file_read(path, &text, NULL)) {
        Strings words = { 0 };
        cmdline_split(str_c(&text), false, &words);
        for (size_t i = 0; i < words.len && out->len < MOST_WORDS; i++)
            expand_word(words.items[i], cwd, depth + 1, out);
        strings_release(&words);
    } else {
        strings_add(out, word);
    }
    str_release(&text);
    free(path);
}

void cmdline_expand(int argc, char *const *argv, const char *cwd, Strings *out)
{
    for (int i = 0; i < argc; i++)
        expand_word(argv[i], cwd, 0, out);
}

static const struct row *row_of(const char *word, const char **value)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct row *r = &table[i];
        size_t n = strlen(r->name);
        if (strncmp(word, r->name, n) != 0)
            continue;
        bool exact = word[n] == 0;
        if ((r->form == ALONE || r->form == NEXT) && !exact)
            continue;
        *value = exact && r->form != PREFIX ? NULL : word + n;
        return r;
    }
    return NULL;
}

CmdlineFlag cmdline_flag(const char *word, const char *next)
{
    const char *value = NULL;
    const struct row *r = row_of(word, &value);
    bool takes_next = r && !value && next && (r->form == NEXT || r->form == EITHER);
    return (CmdlineFlag){ .name = r ? r->name : NULL,
                          .value = takes_next ? next : value,
                          .words = takes_next ? 2 : 1 };
}

/* Flags for the preprocessor in -Wp,… and -Xpreprocessor …: only some of them
 * matter to us. `takes` says what the next word is the value of: 'k' a flag to
 * keep, 'd' one to drop. */
static void preprocessor_word(Cmdline *c, const char *text, char *takes)
{
    static const char *const keeps[] = { "-D",       "-U",       "-I",      "-include",
                                         "-imacros", "-isystem", "-iquote", "-idirafter" };
    char *copy = xstrdup(text), *save = NULL;
    for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
        char was = *takes;
        *takes = 0;
        bool keep = was == 'k';
        for (size_t i = 0; !was && i < sizeof keeps / sizeof *keeps; i++) {
            keep |= str_starts(w, keeps[i]);
            if (strcmp(w, keeps[i]) == 0)
                *takes = 'k';
        }
        if (!was && (strcmp(w, "-MF") == 0 || strcmp(w, "-MT") == 0 || strcmp(w, "-MQ") == 0 ||
                     strcmp(w, "-MD") == 0 || strcmp(w, "-MMD") == 0))
            *takes = 'd';
        if (keep)
            strings_add(&c->clang, w);
    }
    free(copy);
}

/* -Wl,-Map,file and -Wl,-Map=file and -Xlinker -Map …; `pending` is set when
 * the name is to follow. */
static void linker_word(Cmdline *c, const char *text, bool *pending)
{
    char *copy = xstrdup(text), *save = NULL;
    for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
        const char *name = NULL;
        if (*pending)
            name = w;
        else if (str_starts(w, "-Map=") || str_starts(w, "--Map="))
            name = strchr(w, '=') + 1;
        *pending = strcmp(w, "-Map") == 0 || strcmp(w, "--Map") == 0;
        c->prints_map |= strcmp(w, "-M") == 0 || strcmp(w, "--print-map") == 0;
        if (name) {
            free(c->map);
            c->map = xstrdup(name);
        }
    }
    free(copy);
}

/* clang's own -Xclang words: precompiled headers are replaced by the header
 * they were made from, which stands beside them as -Xclang -include. */
static void front_word(Cmdline *c, const char *word, char *last, size_t size)
{
    if (strcmp(last, "-include") == 0) {
        strings_add(&c->clang, "-include");
        strings_add(&c->clang, word);
        word = "";
    } else if (strcmp(last, "-include-pch") == 0) {
        word = "";
    } else if (strcmp(word, "-include") != 0 && strcmp(word, "-include-pch") != 0) {
        strings_addf(&c->dropped, "-Xclang %s", word);
    }
    strncpy(last, word, size - 1);
}

static void add_flag(Strings *to, const char *word, const char *value, bool next)
{
    strings_add(to, word);
    if (next && value)
        strings_add(to, value);
}

static void add_input(Cmdline *c, const char *path, const char *forced, bool cxx)
{
    CmdlineInput *in = vec_grow(&c->inputs);
    in->path = xstrdup(path);
    in->language = language_of(path, forced, cxx);
    c->reads_stdin |= cmdline_is_stdin(path);
}

/* Languages as -x names them, so that a row can keep a pointer. */
static const char *forced_language(const char *name, bool *known)
{
    static const char *const names[] = {
        "c",
        "cpp-output",
        "c-header",
        "assembler",
        "assembler-with-cpp",
        "c++",
        "c++-header",
        "c++-cpp-output",
        "objective-c",
        "objective-c++",
        "fortran",
        "ada",
        "d",
        "go",
        "ir",
        "cuda",
    };
    *known = true;
    if (strcmp(name, "none") == 0)
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return names[i];
    *known = false;
    return "other";
}

void cmdline_parse(Cmdline *c, int argc, char *const *argv, const char *cwd, bool cxx)
{
    Strings words = { 0 };
    const char *language = NULL;
    bool compile = false, other = false, map_follows = false, known;
    char last_front[64] = "", takes = 0;
    cmdline_expand(argc, argv, cwd, &words);

    for (size_t i = 1; i < words.len; i++) {
        const char *word = words.items[i], *value = NULL;
        if (word[0] != '-' || word[1] == 0) {
            add_input(c, word, language, cxx);
            continue;
        }
        const struct row *r = row_of(word, &value);
        bool next = false;
        if (r && !value && (r->form == NEXT || r->form == EITHER) && i + 1 < words.len) {
            value = words.items[++i];
            next = true;
        }
        switch (r ? r->action : TRY) {
        case KEEP: add_flag(&c->clang, word, value, next); break;
        case TRY: add_flag(&c->unsure, word, value, next); break;
        case LOSE: add_flag(&c->dropped, word, value, next); break;
        case DROP: break;
        case OTHER: other = true; break;
        case OUTPUT:
            free(c->output);
            c->output = xstrdup(value ? value : "");
            break;
        case LANGUAGE: language = forced_language(value ? value : "none", &known); break;
        case COMPILE: compile = true; break;
        case CPP: preprocessor_word(c, value ? value : "", &takes); break;
        case LINKER: linker_word(c, value ? value : "", &map_follows); break;
        case FRONT: front_word(c, value ? value : "", last_front, sizeof last_front); break;
        case FILE_MAP: strings_addf(&c->clang, "-fmacro-prefix-map=%s", value ? value : ""); break;
        }
    }
    /* Headers are precompiled, not made into objects. */
    size_t real = 0;
    for (size_t i = 0; i < c->inputs.len; i++) {
        CmdlineInput *in = &c->inputs.items[i];
        if (in->language && str_ends(in->language, "-header"))
            free(in->path);
        else
            c->inputs.items[real++] = *in;
    }
    c->inputs.len = real;
    c->mode = other || !c->inputs.len ? CMDLINE_OTHER : compile ? CMDLINE_COMPILE : CMDLINE_LINK;
    strings_release(&words);
}

void cmdline_release(Cmdline *c)
{
    for (size_t i = 0; i < c->inputs.len; i++)
        free(c->inputs.items[i].path);
    vec_release(&c->inputs);
    free(c->output);
    free(c->map);
    strings_release(&c->clang);
    strings_release(&c->unsure);
    strings_release(&c->dropped);
    *c = (Cmdline){ 0 };
}

char *cmdline_object_name(const char *input)
{
    const char *base = path_base(input);
    const char *dot = strrchr(base, '.');
    int n = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
    return xprintf("%.*s.o", n, base);
}
