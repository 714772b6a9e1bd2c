/*
 * A small project with findings of every kind, and a hostile one, for the
 * tests of what is written about them.
 */
#ifndef SUNDEW_FINDING_SAMPLE_H
#define SUNDEW_FINDING_SAMPLE_H
#include "base/file.h"
#include "base/json.h"
#include "finding/output.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool ok, const Err *err)
{
    if (ok)
        return;
    fprintf(stderr, "%s\n", err->msg);
    abort();
}

static void put_file(const char *root, const char *name, const char *text, size_t n)
{
    Err err = { 0 };
    char *path = path_join(root, name);
    char *dir = path_dir(path);
    must(dir_make(dir, &err), &err);
    must(file_write(path, text, n, &err), &err);
    free(dir);
    free(path);
}

static const char sample_buf_c[] =
    "/* A growing buffer. */\n"
    "#include \"buf.h\"\n"
    "#include <stdlib.h>\n"
    "\n"
    "/* Keep `length` bytes from `start` on;\n"
    " * more than there are is fine. */\n"
    "static void set_range(struct buf *b, size_t start, size_t length)\n"
    "{\n"
    "\tb->start = start;\n"
    "\tb->length = length;\n"
    "}\n"
    "\n"
    "int buf_crop(struct buf *b, size_t start, size_t length)\n"
    "{\n"
    "\tif (!b || b->length < 0x10u)\n"
    "\t\treturn -1;\n"
    "\tset_range(b, length, start);   // the \"usual\" way\n"
    "\treturn 0;\n"
    "}\n"
    "\n"
    "char *buf_text(struct buf *b)\n"
    "{\n"
    "\tchar *s = malloc(b->length);   /* sundew: ignore explore (documented: never empty) */\n"
    "\ts[b->length] = '\\0';\n"
    "\treturn s;\n"
    "}\n";

static const char sample_main_c[] =
    "#include \"buf.h\"\n"
    "\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "\tstruct buf *b = buf_read(argv[1]);\n"
    "\tbuf_crop(b, 4, 16);   /* \xc3\xa4\xe6\xbc\xa2 */ puts(buf_text(b));\n"
    "\treturn 0;\n"
    "}\n";

static const char sample_test[] =
    "/* The crash, as a test of its own. */\n"
    "#include \"buf.h\"\n"
    "\n"
    "int main(void)\n"
    "{\n"
    "    struct buf *b = buf_new(\"\", 0);\n"
    "    buf_text(b);                    /* writes behind the block */\n"
    "    return 0;\n"
    "}\n";

static const Rule sample_rules[] = {
    { "arguments/swapped", LEVEL_WARNING, "Two arguments look swapped." },
    { "explore/overflow", LEVEL_ERROR, "An input writes outside of an object." },
    { "mutability/const", LEVEL_NOTE, "A parameter could be const." },
};
static const Rule *const sample_rule_list[] = { &sample_rules[0], &sample_rules[1],
                                                &sample_rules[2], NULL };

static OutputOptions sample_options(const char *share)
{
    return (OutputOptions){ .rules = sample_rule_list, .share = share, .version = "0.1.0" };
}

static void sample_run(Store *st, const char *technique, const Finding *list, size_t n,
                       const char *incomplete)
{
    Err err = { 0 };
    StoreRun *run =
        store_run_begin(st, technique, "build", "sundew arguments 'src/my file.c'", 42, &err);
    must(run != NULL, &err);
    for (size_t i = 0; i < n; i++)
        must(store_run_add(run, &list[i], &err), &err);
    must(store_run_end(run, incomplete, &err), &err);
}

static void sample_arguments(Store *st)
{
    const EvidenceStep steps[] = {
        { { .file = "src/main.c", .line = 6, .column = 2, .function = "main" },
          "called with start = 4, length = 16" },
        { { .file = "src/buf.c",
            .line = 15,
            .column = 12,
            .end_column = 21,
            .function = "buf_crop" },
          "b->length is 20 here" },
        { { .file = NULL }, "31 of 32 other calls pass start before length" },
    };
    const EvidenceStep related[] = {
        { { .file = "src/buf.c", .line = 7, .column = 13 }, "set_range is declared here" },
    };
    const FixIt fixes[] = {
        { { .file = "src/buf.c", .line = 17, .column = 15, .end_line = 17, .end_column = 21 },
          "start" },
        { { .file = "src/buf.c", .line = 17, .column = 23, .end_line = 17, .end_column = 28 },
          "length" },
    };
    json_t *data = json_pack("{s:f, s:s, s:s}", "confidence", 0.5, "callee", "set_range", "message",
                             "never replaces ours");
    Finding f[] = {
        { .rule = "arguments/swapped",
          .level = LEVEL_WARNING,
          .verdict = VERDICT_LIKELY,
          .message = "set_range: arguments 2 (length) and 3 (start) look swapped",
          .where = { .file = "src/buf.c",
                     .line = 17,
                     .column = 2,
                     .end_line = 17,
                     .end_column = 29,
                     .function = "buf_crop" },
          .anchor = "set_range 2 3",
          .steps = steps,
          .nsteps = 3,
          .related = related,
          .nrelated = 1,
          .fixes = fixes,
          .nfixes = 2,
          .rerun = "sundew arguments --rerun src/buf.c",
          .data = data },
        { .rule = "arguments/swapped",
          .level = LEVEL_WARNING,
          .verdict = VERDICT_UNDECIDED,
          .message = "buf_crop: arguments 2 and 3 look swapped",
          .where = { .file = "src/main.c", .line = 6, .column = 46, .function = "main" },
          .anchor = "buf_crop 2 3" },
    };
    sample_run(st, "arguments", f, 2, NULL);
    json_decref(data);
}

static void sample_explore(Store *st)
{
    static char input[300];
    for (size_t i = 0; i < sizeof input; i++)
        input[i] = (char)(i * 7);
    const Attachment attachments[] = {
        { "overflow_1.c", "test", sample_test, sizeof sample_test - 1 },
        { "overflow_1.bin", "input", input, sizeof input },
        { "notes.txt", "trace", "call buf_text(b = obj 4)\n", 25 },
    };
    Finding f[] = {
        { .rule = "explore/overflow",
          .level = LEVEL_ERROR,
          .verdict = VERDICT_SHOWN,
          .message = "buf_text writes 1 byte behind a heap block of 0 bytes",
          .where = { .file = "src/buf.c",
                     .line = 24,
                     .column = 2,
                     .end_column = 14,
                     .function = "buf_text" },
          .attachments = attachments,
          .nattachments = 3,
          .picture = "digraph { rankdir=LR; node [shape=box]; main -> buf_text "
                     "[label=\"b\"]; buf_text -> malloc; }",
          .rerun = "sundew explore --replay overflow_1.bin ./tool" },
        { .rule = "explore/overflow",
          .level = LEVEL_ERROR,
          .verdict = VERDICT_SHOWN,
          .message = "malloc of 0 bytes",
          .where = { .file = "src/buf.c", .line = 23, .column = 12, .function = "buf_text" } },
    };
    sample_run(st, "explore", f, 2, "the time was up after 60 s");
}

static void sample_mutability(Store *st)
{
    Finding f[] = {
        { .rule = "mutability/const",
          .level = LEVEL_NOTE,
          .verdict = VERDICT_LIKELY,
          .message = "buf_text: parameter b is never written through",
          .where = { .file = "src/buf.c", .line = 21, .column = 16, .function = "buf_text" } },
    };
    sample_run(st, "mutability", f, 1, NULL);
}

/* The project with its findings. The note is in the baseline, one overflow is
 * suppressed, one entry of sundew.ignore is of no use. */
static FindingSet *sample_set(const char *root, Store **store)
{
    Err err = { 0 };
    put_file(root, "src/buf.c", sample_buf_c, sizeof sample_buf_c - 1);
    put_file(root, "src/main.c", sample_main_c, sizeof sample_main_c - 1);
    static const char ignore[] = "# none of ours\narguments third_party/ (not ours)\n";
    put_file(root, "sundew.ignore", ignore, sizeof ignore - 1);
    *store = store_open(":memory:", root, &err);
    must(*store != NULL, &err);
    sample_mutability(*store);
    FindingSet *set = store_read(*store, NULL, NULL, &err);
    must(set != NULL, &err);
    char *baseline = path_join(root, BASELINE_FILE);
    must(baseline_set(set, baseline, &err), &err);
    free(baseline);
    finding_set_free(set);
    sample_arguments(*store);
    sample_explore(*store);
    set = store_read(*store, NULL, NULL, &err);
    must(set != NULL, &err);
    return set;
}

/* One finding in a function that is longer than an excerpt, two steps of it there, and one run
 * before without it. */
static FindingSet *path_set(const char *root, Store **store)
{
    static const char content[] = "#include <stdio.h>\n"
                                  "\n"
                                  "int other(void) { return 0; }\n"
                                  "\n"
                                  "int\n"
                                  "walk(int *p)\n"
                                  "{\n"
                                  "    int sum = 0;\n"
                                  "    if (!p)\n"
                                  "        puts(\"}\");\n"
                                  "    for (int i = 0; i < 3; i++)\n"
                                  "        sum += i;\n"
                                  "    sum *= 2;\n"
                                  "    sum -= 1;\n"
                                  "    return sum + *p;\n"
                                  "}\n"
                                  "\n"
                                  "int last(void) { return 1; }\n";
    put_file(root, "walk.c", content, sizeof content - 1);
    const EvidenceStep steps[] = {
        { { .file = "walk.c", .line = 9, .function = "walk" }, "p may be NULL" },
        { { .file = "other.c", .line = 11 }, "elsewhere" },
        { { .file = "walk.c", .line = 15, .function = "walk" }, "fails here" },
    };
    static const char run[] =
        "T0    T1    T2    \n"
        "*     .     .     T0 create\n"
        ".     v     .     T1 is stopped before lock walk.c:9 <b>walk; T2 runs\n"
        "… 7 more\n"
        ".     .     *     T2 lock walk.c:15 walk\n";
    static const char words[] = "T0    T1    \nnot drawn\n";
    const Attachment with[] = { { "run.txt", "trace", run, sizeof run - 1 },
                                { "words.txt", "trace", words, sizeof words - 1 } };
    const Finding f = { .rule = "explore/failure",
                        .message = "SEGV, in walk",
                        .where = { .file = "walk.c", .line = 15, .column = 18, .function = "walk" },
                        .steps = steps,
                        .nsteps = 3,
                        .attachments = with,
                        .nattachments = 2 };
    Err err = { 0 };
    *store = store_open(":memory:", root, &err);
    must(*store != NULL, &err);
    sample_run(*store, "explore", NULL, 0, NULL);
    sample_run(*store, "explore", &f, 1, NULL);
    FindingSet *set = store_read(*store, NULL, NULL, &err);
    must(set != NULL, &err);
    return set;
}

/* ---- hostile */

#define SCRIPT "</script><img src=x onerror=alert(1)>"
#define ESCAPE "\x1b]0;owned\x07\x1b[2J"
#define QUOTE  "\" onmouseover=\"alert(2)\" x='"
#define BIDI                                                                                       \
    "\xe2\x80\xae"                                                                                 \
    "gnp.exe"
#define INVALID "\xff\xfe\xc0\xaf"
#define LINES   "\n::error::x\r\nnot ok 1 - y\n"
#define LINK    "[a](javascript:alert(3))]]>-->"
#define HOSTILE SCRIPT ESCAPE QUOTE BIDI INVALID LINES LINK " # SKIP %0A ' --"

/* Every text of a finding, its file's name and content, and its attachments
 * are hostile. */
static FindingSet *hostile_set(const char *root, Store **store)
{
    static const char file[] = "a<img src=x onerror=alert(4)>\"\n\x1b[31m.c";
    static const char content[] = "int x; /* " HOSTILE " */\n\0 \xff" HOSTILE "\n\"" SCRIPT;
    put_file(root, file, content, sizeof content - 1);
    const EvidenceStep steps[] = { { { .file = file, .line = 1, .column = 1, .function = HOSTILE },
                                     HOSTILE },
                                   { { .file = "/" HOSTILE, .line = 2 }, HOSTILE } };
    const Attachment attachments[] = { { HOSTILE ".c", HOSTILE, content, sizeof content - 1 },
                                       { HOSTILE, HOSTILE, HOSTILE, strlen(HOSTILE) } };
    const FixIt fixes[] = { { { .file = file, .line = 1, .column = 1, .end_column = 4 },
                              HOSTILE } };
    json_t *data = json_object();
    json_object_set_new(data, "</script>", json_text(HOSTILE));
    Finding f = { .rule = "hostile/" HOSTILE,
                  .level = LEVEL_ERROR,
                  .message = HOSTILE,
                  .where = { .file = file, .line = 1, .column = 1, .function = HOSTILE },
                  .anchor = HOSTILE,
                  .steps = steps,
                  .nsteps = 2,
                  .related = steps,
                  .nrelated = 2,
                  .attachments = attachments,
                  .nattachments = 2,
                  .fixes = fixes,
                  .nfixes = 1,
                  .rerun = HOSTILE,
                  .picture =
                      "digraph { \"<script>alert(5)</script>\" [URL=\"javascript:alert(6)\"] }",
                  .data = data };
    Finding again = f;
    again.picture = "digraph { a [label=\"</text><script>alert(7)</script>\"] }";
    again.where.line = 2;
    Err err = { 0 };
    *store = store_open(":memory:", root, &err);
    must(*store != NULL, &err);
    StoreRun *run = store_run_begin(*store, HOSTILE, HOSTILE, HOSTILE, 1, &err);
    must(run && store_run_add(run, &f, &err) && store_run_add(run, &again, &err), &err);
    must(store_run_end(run, HOSTILE, &err), &err);
    json_decref(data);
    FindingSet *set = store_read(*store, NULL, NULL, &err);
    must(set != NULL, &err);
    return set;
}

/* Many findings, spread over a long file. */
static FindingSet *many_set(const char *root, size_t n, Store **store)
{
    Err err = { 0 };
    Str text = { 0 };
    for (size_t i = 0; i < n; i++)
        str_addf(&text,
                 "static int f%zu(const char *s, int n) { return s ? n + %zu "
                 ": 0; } /* line */\n",
                 i, i);
    put_file(root, "big.c", str_c(&text), text.len);
    str_release(&text);
    *store = store_open(":memory:", root, &err);
    must(*store != NULL, &err);
    StoreRun *run = store_run_begin(*store, "arguments", "build", "sundew", 1, &err);
    for (size_t i = 0; i < n; i++) {
        char message[100], function[32];
        snprintf(function, sizeof function, "f%zu", i);
        snprintf(message, sizeof message, "%s: arguments 1 and 2 look swapped", function);
        const EvidenceStep step = { { .file = "big.c", .line = (int)(n - i), .column = 12 },
                                    "one of the other calls" };
        Finding f = {
            .rule = i % 3 ? "arguments/swapped" : "arguments/odd",
            .level = (Level)(i % 3),
            .verdict = (FindingVerdict)(i % 3),
            .message = message,
            .steps = &step,
            .nsteps = 1,
            .where = { .file = "big.c", .line = (int)i + 1, .column = 12, .function = function },
            .rerun = "sundew arguments big.c"
        };
        must(store_run_add(run, &f, &err), &err);
    }
    must(store_run_end(run, NULL, &err), &err);
    FindingSet *set = store_read(*store, NULL, NULL, &err);
    must(set != NULL, &err);
    return set;
}
#endif
