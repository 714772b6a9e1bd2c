/*
 * The folder that a reproduction leaves:
 *
 *     README.md             the crash: what failed, the stack, the tests
 *     test_FUNCTION.c …     one for each frame that reproduces it
 *     Makefile              `make check` builds and runs them
 *     restore.h, restore.c  what the tests use to put the state back
 *     files/                what lay beside the program; each test gets a copy
 *     stdin                 its standard input, if that is known
 */
#include "base/escape.h"
#include "base/file.h"
#include "technique/reproduce/reproduce_int.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

#define MARK "<!-- written by sundew reproduce -->"

static bool is_ours(const char *folder)
{
    char *readme = path_join(folder, "README.md");
    Str text = { 0 };
    Strings names = { 0 };
    dir_list(folder, &names, NULL);
    bool ours = !names.len || (file_read(readme, &text, NULL) && strstr(str_c(&text), MARK));
    strings_release(&names);
    str_release(&text);
    free(readme);
    return ours;
}

/* Tests of an earlier time may have been edited: they are kept under another
 * name. */
static bool move_away(const char *folder, Err *err)
{
    for (unsigned k = 1;; k++) {
        char *to = xprintf("%s.old%u", folder, k);
        bool there = file_exists(to);
        bool ok = !there && rename(folder, to) == 0;
        if (!there && !ok)
            err_set(err, "%s: %s", folder, strerror(errno));
        free(to);
        if (!there)
            return ok;
    }
}

bool folder_begin(Reproduction *rp, const char *wanted, Err *err)
{
    Str name = { 0 };
    const char *base = path_base(rp->path);
    size_t n = str_ends(base, ".crash") ? strlen(base) - 6 : strlen(base);
    str_addn(&name, base, n);
    str_add(&name, ".tests");
    char *full = path_absolute(wanted ? wanted : str_c(&name));
    rp->folder = arena_strdup(&rp->arena, full);
    str_release(&name);
    free(full);
    if (file_is_dir(rp->folder) && !is_ours(rp->folder))
        return err_set(err,
                       "%s is there already and was not made by sundew reproduce: "
                       "name another folder with --out",
                       rp->folder);
    if (file_is_dir(rp->folder) &&
        (!session_claim(rp->session, rp->folder, err) || !move_away(rp->folder, err)))
        return false;
    char *readme = path_join(rp->folder, "README.md");
    bool ok = session_claim(rp->session, rp->folder, err) && dir_make(rp->folder, err) &&
              file_write(readme, MARK "\n", strlen(MARK "\n"), err);
    free(readme);
    if (!ok)
        dir_remove(rp->folder);
    return ok;
}

/* ---- a test */

static bool has_input(const Reproduction *rp) { return file_is_regular(rp->input); }

static void add_comment(Str *out, const char *text)
{
    str_add(out, " * ");
    escape_c_comment(out, text, strlen(text));
    str_addc(out, '\n');
}

static void add_begin(Str *out, const char *name, const char *where, const char *data, size_t n)
{
    enum { LONG = 120 };
    Str line = { 0 };
    size_t used = 0;
    str_addf(&line, n ? "  %s%s begins with \"" : "  %s%s is empty", where, name);
    for (; used < n && line.len < LONG; used++)
        escape_c_string(&line, data + used, 1);
    if (n)
        str_add(&line, used == n ? "\"" : "\"...");
    add_comment(out, str_c(&line));
    str_release(&line);
}

/* Is the file named? Alone or behind its folder; to the program also as a part of an argument. */
static bool is_passed(const Strings *passed, const char *name, bool program)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < passed->len; i++) {
        const char *text = passed->items[i];
        for (const char *at = text; (at = strstr(at, name)) != NULL; at += n)
            if (program || (at > text && strchr("\"/", at[-1]) && at[n] == '"'))
                return true;
    }
    return false;
}

/* A test reads more than its arguments: files that these name, the program standard input. */
static void write_input(const Reproduction *rp, const Candidate *c, const Strings *passed, Str *out)
{
    bool program = strcmp(c->fn->name, "main") == 0;
    enum { MOST = 4 };
    unsigned shown = 0;
    Str text = { 0 }, lines = { 0 };
    for (size_t i = 0; i < rp->files->len && shown < MOST; i++) {
        const RunFile *f = &rp->files->items[i];
        if (is_passed(passed, f->name, program))
            add_begin(&lines, f->name, "files/", f->data, f->len), shown++;
    }
    if (program && has_input(rp) && file_read(rp->input, &text, NULL))
        add_begin(&lines, "stdin", "", str_c(&text), text.len);
    if (lines.len)
        str_add(out, " *\n * It reads:\n");
    str_addn(out, str_c(&lines), lines.len);
    str_release(&lines);
    str_release(&text);
}

/* Is the file one of the program's words, alone, behind its folder or behind an option? */
static bool is_word_of(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = words; n && (at = strstr(at, name)) != NULL; at += n)
        if (at > words && strchr(" /=", at[-1]) && strchr(" ,", at[n]))
            return true;                       /* strchr() finds the end, too */
    return false;
}

/* What the program was working on when it called a function that is far from main(). */
static void write_program_input(const Reproduction *rp, const char *words, Str *out)
{
    enum { MOST = 2 };
    unsigned shown = 0;
    Str text = { 0 }, lines = { 0 };
    for (size_t i = 0; i < rp->files->len && shown < MOST; i++) {
        const RunFile *f = &rp->files->items[i];
        if (is_word_of(words, f->name))
            add_begin(&lines, f->name, "files/", f->data, f->len), shown++;
    }
    if (!shown && has_input(rp) && file_read(rp->input, &text, NULL))
        add_begin(&lines, "stdin", "", str_c(&text), text.len);
    if (lines.len)
        str_add(out, " *\n * The program was given:\n");
    str_addn(out, str_c(&lines), lines.len);
    str_release(&lines);
    str_release(&text);
}

/* Arguments that the function never had in the runs from which contracts were learned. */
static void write_unusual(const Reproduction *rp, const Candidate *c, Str *out)
{
    size_t n;
    const RestoreArg *args = restore_args(c->restore, &n);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        KnownValue v = { args[i].pointer, (int64_t)args[i].value };
        Str line = { 0 };
        str_addf(&line, "  %s ", args[i].name);
        bool broken = (v.pointer || args[i].integer) &&
                      known_broken(rp->contracts, c->fn->name, args[i].name, &v, &line);
        if (broken && !any)
            str_add(out, " *\n * That is new:\n");
        if (broken)
            add_comment(out, str_c(&line));
        any |= broken;
        str_release(&line);
    }
}

/* The words behind the program's name: what main() was passed. */
static void add_words(const Reproduction *rp, Str *line)
{
    enum { MOST = 64, LONG = 100 };
    size_t n = rp->n, most = line->len + LONG;
    const Candidate *last = n ? &rp->candidates[n - 1] : NULL;
    const CrashFrame *fr = n ? crash_frame(rp->crash, n - 1) : NULL;
    uint64_t words[MOST];
    if (!last->fn || strcmp(last->fn->name, "main") != 0 || fr->nslots < 2)
        return;
    size_t got =
        crash_read(rp->crash, n - 1, fr->slots[1], (uint8_t *)words, sizeof words, NULL) / 8;
    for (size_t i = 1; i < got && i < (uint32_t)fr->slots[0] && line->len < most; i++) {
        uint8_t text[LONG];
        size_t size = crash_read(rp->crash, n - 1, words[i], text, sizeof text, NULL);
        const uint8_t *nul = memchr(text, 0, size);
        size = nul ? (size_t)(nul - text) : size;
        bool plain = size && !memchr(text, ' ', size);
        str_add(line, plain ? " " : " '");
        escape_c_string(line, (const char *)text, size);
        str_add(line, plain ? "" : "'");
    }
    if (line->len >= most)
        str_add(line, " ...");
}

static void write_head(const Reproduction *rp, const Candidate *c, Str *out)
{
    Str line = { 0 };
    str_add(out, "/*\n");
    report_failure_line(rp, &line);
    add_comment(out, str_c(&line));
    str_reset(&line);
    str_addf(&line,
             "This test calls %s() as it was called then. It fails until the "
             "defect is fixed.",
             c->fn->name);
    add_comment(out, str_c(&line));
    str_add(out, " *\n");
    str_reset(&line);
    str_addf(&line, "program %s", crash_program(rp->crash));
    add_words(rp, &line);
    Str words = { 0 };
    str_addn(&words, line.data, line.len);
    if (*crash_build(rp->crash))
        str_addf(&line, ", build %s", crash_build(rp->crash));
    add_comment(out, str_c(&line));
    for (size_t i = 0; i < rp->was.stack.len && i < 20; i++) {
        const Place *p = &rp->was.stack.items[i];
        str_reset(&line);
        str_addf(&line, "  #%zu %s ", i, p->function);
        report_place(p, &line);
        add_comment(out, str_c(&line));
    }
    Strings passed = { 0 };
    restore_describe(c->restore, &passed);
    if (passed.len)
        str_add(out, " *\n * It was passed:\n");
    for (size_t i = 0; i < passed.len; i++) {
        str_reset(&line);
        str_addf(&line, "  %s", passed.items[i]);
        add_comment(out, str_c(&line));
    }
    write_unusual(rp, c, out);
    size_t before = out->len;
    write_input(rp, c, &passed, out);
    if (out->len == before)
        write_program_input(rp, str_c(&words), out);
    str_release(&words);
    strings_release(&passed);
    const Strings *notes = restore_notes(c->restore);
    if (notes->len)
        str_add(out, " *\n");
    for (size_t i = 0; i < notes->len && i < 10; i++)
        add_comment(out, notes->items[i]);
    str_add(out, " */\n");
    str_release(&line);
}

static char *test_name(const Reproduction *rp, const Candidate *c)
{
    Str id = { 0 };
    unsigned before = 0;
    char *wanted = xprintf("test_%s", c->fn->name);
    escape_c_identifier(&id, wanted, strlen(wanted));
    for (size_t i = 0; i < c->frame; i++)
        before += rp->candidates[i].file && strcmp(rp->candidates[i].fn->name, c->fn->name) == 0;
    char *name = before ? xprintf("%s_%u.c", str_c(&id), before + 1) : xprintf("%s.c", str_c(&id));
    free(wanted);
    str_release(&id);
    return name;
}

bool folder_write_test(Reproduction *rp, Candidate *c, Err *err)
{
    Str body = { 0 }, text = { 0 };
    free(c->file);
    c->file = test_name(rp, c);
    char *path = path_join(rp->folder, c->file);
    str_add(&body, "int main(void)\n{\n");
    restore_print(c->restore, &body);
    str_add(&body, "    return 0;\n}\n");
    write_head(rp, c, &text);
    world_preamble(c->world, str_c(&body), &text);
    str_add(&text, "/* The compiler must not see through the call. */\n");
    candidate_print_target(c, 0, &text);
    str_addn(&text, body.data, body.len);
    bool ok = file_write(path, text.data, text.len, err);
    free(path);
    str_release(&body);
    str_release(&text);
    return ok;
}

/* ---- Makefile and README */

static const char check_rule[] =
    "# A test passes if its function comes back, or ends the program in an orderly\n"
    "# way; it fails if that dies. Every test here fails until the defect is fixed.\n"
    "# A fix may give a function other parameters; then the other tests tell.\n"
    "input := $(or $(wildcard stdin),/dev/null)\n"
    ".PHONY: check clean\n"
    "check:\n"
    "\t@$(MAKE) -k $(tests) || :\n"
    "\t@failed=0; ran=0; for t in $(tests); do \\\n"
    "\t    if ! $(MAKE) -s $$t >/dev/null 2>&1; then \\\n"
    "\t        echo \"---- $$t can't be built any more\"; continue; fi; ran=1; \\\n"
    "\t    rm -rf run; mkdir run; if [ -d files ]; then cp -R files/. run; fi; \\\n"
    "\t    (cd run && ASAN_OPTIONS=exitcode=199:detect_leaks=0 exec ../$$t) \\\n"
    "\t        >$$t.log 2>&1 <$(input); s=$$?; \\\n"
    "\t    case \" $(uninformative) \" in *\" $$t \"*) u=' (it may fail after the fix "
    "too: not counted)' ;; *) u= ;; esac; \\\n"
    "\t    if [ $$s -ge 99 ]; then echo \"FAIL $$t, status $$s$$u\"; "
    "[ \"$$u\" ] || failed=1; \\\n"
    "\t    else echo \"ok   $$t\"; fi; \\\n"
    "\tdone; \\\n"
    "\tif [ $$ran = 0 ]; then echo 'No test can be built.'; exit 1; fi; \\\n"
    "\tif [ $$failed = 1 ]; then echo 'The defect is still there: tests of a crash "
    "fail until it is fixed.'; fi; \\\n"
    "\texit $$failed\n\n"
    "clean:\n\trm -rf objects run $(tests) $(tests:=.o) $(tests:=.log) *.d restore.o\n\n";

static bool write_makefile(Reproduction *rp, Err *err)
{
    Str text = { 0 };
    Vec(LabTest) tests = { 0 };
    str_add(&text, "# Tests of a crash, written by sundew reproduce. `make check` runs "
                   "them.\ntests =");
    for (size_t i = 0; i < rp->ranked.len; i++) {
        const Candidate *c = rp->ranked.items[i];
        if (!c->file)
            continue;
        assert(str_ends(c->file, ".c") && c->unit);
        LabTest test = { .name =
                             arena_printf(&rp->arena, "%.*s", (int)strlen(c->file) - 2, c->file),
                         .unit = c->unit,
                         .unoptimised = c->unoptimised };
        vec_push(&tests, test);
        str_addf(&text, " %s", test.name);
    }
    /* If there are no others they count: a green check would say that the defect is gone. */
    bool counted = rp->ranked.len && !rp->ranked.items[0]->informative;
    str_add(&text, "\nuninformative =");
    for (size_t i = 0; i < rp->ranked.len && !counted; i++) {
        const Candidate *c = rp->ranked.items[i];
        if (c->file && !c->informative)
            str_addf(&text, " %.*s", (int)strlen(c->file) - 2, c->file);
    }
    str_add(&text, "\n\n");
    str_add(&text, check_rule);
    bool ok = !tests.len || lab_makefile(rp->lab, tests.items, tests.len, &text, err);
    char *path = path_join(rp->folder, "Makefile");
    ok = ok && file_write(path, text.data, text.len, err);
    free(path);
    vec_release(&tests);
    str_release(&text);
    return ok;
}

/* Text of a program inside Markdown: one line, nothing that marks up. */
static void md(Str *out, const char *text)
{
    Str plain = { 0 };
    escape_terminal_z(&plain, text);
    for (size_t i = 0; i < plain.len; i++) {
        if (strchr("\\`*_[]<>|#", plain.data[i]))
            str_addc(out, '\\');
        str_addc(out, plain.data[i] == '\n' ? ' ' : plain.data[i]);
    }
    str_release(&plain);
}

static void md_list(Str *out, const char *head, const Strings *lines)
{
    if (!lines->len)
        return;
    str_addf(out, "\n## %s\n\n", head);
    for (size_t i = 0; i < lines->len; i++) {
        str_add(out, "- ");
        md(out, lines->items[i]);
        str_addc(out, '\n');
    }
}

static void write_table(const Reproduction *rp, Str *out)
{
    str_add(out, "\n## Tests\n\n| test | calls | reproduces | informative | distance | "
                 "remark |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < rp->ranked.len; i++) {
        const Candidate *c = rp->ranked.items[i];
        const char *name = c->fn ? c->fn->name : crash_frame(rp->crash, c->frame)->symbol;
        str_add(out, "| ");
        md(out, c->file ? c->file : "");
        str_add(out, " | ");
        md(out, c->call && strlen(c->call) < 100 ? c->call : name);
        str_addf(out, " | %s | %s | %u | ",
                 c->root_closer  ? "root closer"
                 : c->reproduces ? "yes"
                                 : "no",
                 !c->reproduces   ? ""
                 : c->informative ? "yes"
                                  : "no",
                 c->distance);
        md(out, c->why ? c->why : i == 0 && c->reproduces ? "begin here" : "");
        str_add(out, " |\n");
    }
}

static void write_debugger_line(const Reproduction *rp, const Candidate *c, Str *out)
{
    bool files = rp->files->len;
    int n = (int)strlen(c->file) - 2;
    str_addf(out, "    make %.*s && ", n, c->file);
    if (files)
        str_add(out, "rm -rf run && cp -R files run && cd run && ");
    str_addf(out, "gdb -q -ex 'break %s' -ex 'run%s' %s%.*s\n",
             strcmp(c->fn->name, "main") ? c->fn->name : "program_main",
             !has_input(rp) ? ""
             : files        ? " <../stdin"
                            : " <stdin",
             files ? "../" : "./", n, c->file);
}

static bool copy_input(const Reproduction *rp, Err *err)
{
    Str text = { 0 };
    char *path = path_join(rp->folder, "stdin");
    bool ok = !has_input(rp) ||
              (file_read(rp->input, &text, err) && file_write(path, str_c(&text), text.len, err));
    free(path);
    str_release(&text);
    return ok;
}

static void write_readme_text(const Reproduction *rp, Str *out)
{
    Strings lacks = { 0 };
    Str line = { 0 };
    str_add(out, MARK "\n# Crash of ");
    md(out, crash_program(rp->crash));
    str_add(out, "\n\n");
    report_failure_line(rp, &line);
    md(out, str_c(&line));
    str_addf(out, "\n\nCopies: %s. ", crash_strategy(rp->crash));
    if (*crash_build(rp->crash)) {
        str_add(out, "Build: ");
        md(out, crash_build(rp->crash));
        str_add(out, ". ");
    }
    str_add(out, "\n\n## Stack\n\n");
    for (size_t i = 0; i < rp->was.stack.len && i < 60; i++) {
        const Place *p = &rp->was.stack.items[i];
        str_addf(out, "%zu. ", i + 1);
        md(out, p->function);
        str_add(out, ", ");
        md(out, *p->file ? p->file : "?");
        if (p->line)
            str_addf(out, ":%u", p->line);
        str_addc(out, '\n');
    }
    write_table(rp, out);
    str_add(out, "\nThe tests fail until the defect is fixed: a failing `make check` is "
                 "the reproduced crash, a passing one says that it is gone. A test that is not "
                 "informative may fail after the fix too; its remark says why.\n"
                 "\n    make check\n");
    for (size_t i = 0; i < rp->ranked.len; i++)
        if (rp->ranked.items[i]->file)
            write_debugger_line(rp, rp->ranked.items[i], out);
    for (size_t i = 0; i < rp->ranked.len; i++) {
        const Candidate *c = rp->ranked.items[i];
        if (!c->reproduces || !c->differences.len)
            continue;
        char *head = xprintf("What changed between the entry of %s() and the crash", c->fn->name);
        md_list(out, head, &c->differences);
        free(head);
        break;
    }
    report_lacks(rp, &lacks);
    md_list(out, "Not captured", &lacks);
    strings_release(&lacks);
    str_release(&line);
}

bool folder_finish(Reproduction *rp, Err *err)
{
    Str text = { 0 };
    write_readme_text(rp, &text);
    char *readme = path_join(rp->folder, "README.md");
    char *objects = path_join(rp->folder, rp->asan ? "objects-asan" : "objects");
    char *files = path_join(rp->folder, "files");
    bool ok = file_write(readme, text.data, text.len, err) && write_makefile(rp, err) &&
              (!rp->files->len || files_write(rp->files, files, err)) && copy_input(rp, err);
    free(files);
    dir_remove(objects);
    free(objects);
    free(readme);
    str_release(&text);
    return ok;
}
