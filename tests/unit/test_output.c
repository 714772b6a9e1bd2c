/* finding/output.h: every format says what was found, and hostile text stays
 * text in all of them. */
#include "base/base64.h"
#include "base/escape.h"
#include "base/fault.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "base/tempdir.h"
#include "finding/html_int.h"
#include "finding_sample.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- pages for tests/scripts/: test_output --pages FOLDER SHARE [N] */

typedef void Writer(const FindingSet *set, const OutputOptions *o, Str *out);

/* clang-format off */
static const struct {
    const char *name;
    Writer *write;
} writers[] = {
    { "txt",   output_terminal }, { "json", output_json },
    { "sarif", output_sarif },    { "xml",  output_junit },
    { "tap",   output_tap },      { "github", output_github },
    { "html",  output_html },
};
/* clang-format on */
enum { NWRITERS = sizeof writers / sizeof *writers };

static void write_pages(const char *folder, const char *name, const FindingSet *set,
                        const OutputOptions *o)
{
    for (size_t i = 0; i < NWRITERS; i++) {
        Str out = { 0 };
        char *file = xprintf("%s.%s", name, writers[i].name);
        writers[i].write(set, o, &out);
        put_file(folder, file, str_c(&out), out.len);
        str_release(&out);
        free(file);
    }
}

static int pages(char **argv)
{
    const char *folder = argv[2];
    OutputOptions o = sample_options(argv[3]);
    size_t n = argv[4] ? strtoul(argv[4], NULL, 10) : 5000;
    struct {
        const char *name;
        FindingSet *set;
        Store *store;
    } sets[4] = {
        { .name = "sample" }, { .name = "hostile" }, { .name = "many" }, { .name = "path" }
    };
    for (int i = 0; i < 4; i++) {
        char *root = path_join(folder, sets[i].name);
        sets[i].set = i == 0   ? sample_set(root, &sets[i].store)
                      : i == 1 ? hostile_set(root, &sets[i].store)
                      : i == 2 ? many_set(root, n, &sets[i].store)
                               : path_set(root, &sets[i].store);
        write_pages(folder, sets[i].name, sets[i].set, &o);
        finding_set_free(sets[i].set);
        store_close(sets[i].store);
        free(root);
    }
    return 0;
}

/* ---- a set to look at, and what a writer makes of it */

typedef struct Fixture {
    const char *root;
    Store *store;
    FindingSet *set;
    OutputOptions o;
} Fixture;

static Fixture fixture(FindingSet *(*make)(const char *, Store **))
{
    Fixture x = { .root = tempdir_new(NULL, NULL) };
    x.set = make(x.root, &x.store);
    x.o = sample_options(NULL);
    return x;
}

static void fixture_free(Fixture *x)
{
    finding_set_free(x->set);
    store_close(x->store);
    tempdir_remove(x->root);
}

static FindingSet *empty_set(const char *root, Store **store)
{
    Err err = { 0 };
    *store = store_open(":memory:", root, &err);
    sample_run(*store, "arguments", NULL, 0, NULL);
    FindingSet *set = store_read(*store, NULL, NULL, &err);
    must(set != NULL, &err);
    return set;
}

/* Findings that lack what others have. */
static FindingSet *bare_set(const char *root, Store **store)
{
    Err err = { 0 };
    Str line = { 0 };
    for (int i = 0; i < 120; i++)
        str_add(&line, "\xc3\xa4 + xy ");
    str_addc(&line, '\n');
    put_file(root, "long.c", str_c(&line), line.len);
    str_release(&line);
    put_file(root, "two.c", "f(1,\n  2);\n\n", 12);
    put_file(root, "odd.c", "\xff\xff \xcc\x81 e\t_x;\n", 11);
    Str tall = { 0 };
    for (int i = 0; i < 60; i++)
        str_addf(&tall, "call(%d,\n", i);
    put_file(root, "tall.c", str_c(&tall), tall.len);
    str_release(&tall);
    static const FixIt fixes[] = {
        { { .file = "two.c", .line = 1, .column = 3 }, "0, " },
        { { .file = "two.c", .line = 1, .column = 1, .end_line = 2, .end_column = 3 }, "g(" },
        { { .file = "two.c", .line = 3, .column = 1 }, "// end\n" },
        { { .file = "two.c", .line = 99, .column = 1 }, "nowhere" },
        { { .file = NULL }, "nowhere" },
        { { .file = "gone.c", .line = 1, .column = 1 }, "nowhere" },
        { { .file = "tall.c", .line = 1, .end_line = 50, .end_column = 1 }, "nowhere" },
        { { .file = "tall.c", .line = 55 }, "first, " },
        { { .file = "two.c" }, "nowhere" },
    };
    static const Attachment attachments[] = { { "a", "input", "same", 4 },
                                              { "a", "input", "same", 4 } };
    json_t *list = json_pack("[i]", 1);
    Finding f[] = {
        { .rule = "bare", .message = "no place [a](b)" },
        { .rule = "t/a", .message = "no line", .where = { .file = "/abs/olute path.c" } },
        { .rule = "t/a", .message = "no column", .where = { .file = "two.c", .line = 1 } },
        { .rule = "t/a",
          .message = "two lines",
          .level = LEVEL_NOTE,
          .where = { .file = "two.c", .line = 1, .column = 3, .end_line = 2, .end_column = 4 },
          .fixes = fixes,
          .nfixes = 9,
          .data = list },
        { .rule = "t/a",
          .message = "behind the line",
          .where = { .file = "two.c", .line = 1, .column = 90 } },
        { .rule = "t/a",
          .message = "no such line",
          .where = { .file = "two.c", .line = 90, .column = 3 },
          .attachments = attachments,
          .nattachments = 2 },
        { .rule = "t/a",
          .message = "empty line",
          .where = { .file = "two.c", .line = 3, .column = 1 } },
        { .rule = "t/a",
          .message = "far right",
          .where = { .file = "long.c", .line = 1, .column = 309 } },
        { .rule = "t/a",
          .message = "far left",
          .where = { .file = "long.c", .line = 1, .column = 1, .end_column = 330 } },
        { .rule = "t/a",
          .message = "a sign",
          .where = { .file = "long.c", .line = 1, .column = 4 } },
        { .rule = "t/a",
          .message = "turned",
          .where = { .file = "long.c", .line = 1, .column = 9, .end_column = 4 } },
        { .rule = "t/a",
          .message = "very far",
          .where = { .file = "long.c", .line = 1, .column = 902 } },
        { .rule = "t/a",
          .message = "no width",
          .where = { .file = "odd.c", .line = 1, .column = 4 } },
        { .rule = "t/a",
          .message = "over a tab",
          .where = { .file = "odd.c", .line = 1, .column = 7, .end_column = 10 } },
        { .rule = "t/a", .message = "under", .where = { .file = "odd.c", .line = 1, .column = 9 } },
        { .rule = "t/a",
          .message = "tall",
          .where = { .file = "tall.c", .line = 1, .column = 1, .end_line = 59, .end_column = 2 } },
    };
    *store = store_open(":memory:", root, &err);
    sample_run(*store, "t", f, sizeof f / sizeof *f, NULL);
    json_decref(list);
    FindingSet *set = store_read(*store, NULL, NULL, &err);
    must(set != NULL, &err);
    return set;
}

static char *written(Writer *write, const Fixture *x)
{
    Str out = { 0 };
    write(x->set, &x->o, &out);
    return str_take(&out);
}

static size_t occurrences(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static void contains(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("'%s' is not in:\n%s", what, text);
}

static void lacks(const char *text, const char *what)
{
    if (strstr(text, what))
        fail_msg("'%s' is in:\n%s", what, text);
}

static void only_printable(const char *text)
{
    for (size_t i = 0, n = strlen(text); i < n;) {
        unsigned cp;
        size_t len = utf8_decode(text + i, n - i, &cp);
        assert_true(len > 0);
        assert_true(cp == '\n' || cp == '\t' || (cp >= 0x20 && cp < 0x7f) || cp > 0x9f);
        assert_false(utf8_is_deceiving(cp));
        i += len;
    }
}

/* ---- terminal */

static void the_terminal_shows_place_source_and_evidence(void **state)
{
    (void)state;
    Fixture x = fixture(sample_set);
    char *text = written(output_terminal, &x);
    contains(text, "src/buf.c:17:2: arguments: set_range: arguments 2 (length) and 3 (start) "
                   "look swapped [arguments/swapped] likely\n"
                   "   17 | \tset_range(b, length, start);   // the \"usual\" way\n"
                   "      | \t^~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
                   "  1. src/main.c:6:2: in main: called with start = 4, length = 16\n"
                   "  2. src/buf.c:15:12: in buf_crop: b->length is 20 here\n"
                   "  3. 31 of 32 other calls pass start before length\n"
                   "  see src/buf.c:7:13: set_range is declared here\n"
                   "  write instead: src/buf.c:17:15: start\n"
                   "  write instead: src/buf.c:17:23: length\n"
                   "  rerun: sundew arguments --rerun src/buf.c\n");
    contains(text, "  with test overflow_1.c (192 B)\n");
    /* A wide character takes two columns, an umlaut one. */
    contains(text, "    6 | \tbuf_crop(b, 4, 16);   /* \xc3\xa4\xe6\xbc\xa2 */ puts(buf_text(b));\n"
                   "      | \t                                          ^~~\n");
    contains(text,
             "sundew.ignore:2: this suppression of arguments matches no finding\n"
             "incomplete: the time was up after 60 s\n"
             "3 findings (1 error, 2 warnings), 1 suppressed, 1 in the baseline; incomplete\n");
    x.o.incomplete = "explore: the time was up after 60 s";
    char *once = written(output_terminal, &x);
    assert_int_equal(occurrences(once, "the time was up"), 1);
    free(once);
    x.o.incomplete = "and the disk was full";
    once = written(output_terminal, &x);
    contains(once, "incomplete: and the disk was full\nincomplete: the time was up");
    free(once);
    x.o.incomplete = NULL;
    lacks(text, "malloc of 0 bytes");
    lacks(text, "mutability");
    lacks(text, "\033");
    free(text);

    x.o.all = true;
    text = written(output_terminal, &x);
    contains(text, "malloc of 0 bytes");
    contains(text, "  suppressed at src/buf.c:23: documented: never empty\n");
    contains(text, "  in the baseline\n");
    free(text);

    x.o.color = true;
    text = written(output_terminal, &x);
    contains(text, "\033[1msrc/buf.c:17:2: \033[0m\033[1;35marguments: \033[0m");
    contains(text, "\033[1;31mexplore: ");
    contains(text, "\033[1;36mmutability: ");
    assert_true(occurrences(text, "\033[0m") > 20);
    free(text);
    fixture_free(&x);
}

static void the_terminal_copes_with_what_is_missing(void **state)
{
    (void)state;
    Fixture x = fixture(bare_set);
    char *text = written(output_terminal, &x);
    contains(text, "-: t: no place [a](b) [bare] shown\n");
    contains(text, "/abs/olute path.c: t: no line [t/a] shown\n");
    contains(text, "two.c:1: t: no column [t/a] shown\n    1 | f(1,\ntwo.c");
    contains(text, "two.c:1:3: t: two lines [t/a] shown\n    1 | f(1,\n      |   ^~\n");
    contains(text, "two.c:1:90: t: behind the line [t/a] shown\n    1 | f(1,\ntwo.c");
    contains(text, "two.c:90:3: t: no such line [t/a] shown\n  with input a (4 B)\n");
    contains(text, "two.c:3:1: t: empty line [t/a] shown\n    3 | \n");
    contains(text, "long.c:1:309: t: far right [t/a] shown\n    1 | ...");
    contains(text, "xy ...\n");
    contains(text, "\n      | ^~~~~~~~~~~~");
    contains(text, "odd.c:1:4: t: no width [t/a] shown\n    1 | \\xff\\xff \xcc\x81 e\t_x;\n"
                   "      |          ^\n");
    contains(text, "      |           ^~~\n");
    contains(text, "      |            \t^~\n");
    contains(text, "long.c:1:4: t: a sign [t/a] shown\n");
    contains(text, "\n      |   ^\n");
    free(text);
    fixture_free(&x);

    x = fixture(empty_set);
    text = written(output_terminal, &x);
    assert_string_equal(text, "no findings\n");
    free(text);
    x.o.color = true;
    x.o.incomplete = "stopped";
    text = written(output_terminal, &x);
    assert_string_equal(text, "incomplete: stopped\n\033[1;32mno findings; incomplete\033[0m\n");
    free(text);
    fixture_free(&x);
}

/* ---- JSON */

static json_t *parsed(Writer *write, const Fixture *x)
{
    char *text = written(write, x);
    json_error_t e;
    json_t *v = json_loads(text, JSON_ALLOW_NUL, &e);
    if (!v)
        fail_msg("%s in:\n%s", e.text, text);
    free(text);
    return v;
}

static json_t *at(json_t *v, const char *key)
{
    json_t *found = json_object_get(v, key);
    if (!found)
        fail_msg("no field %s", key);
    return found;
}

static json_t *nth(json_t *v, size_t i)
{
    json_t *found = json_array_get(v, i);
    if (!found)
        fail_msg("no item %zu", i);
    return found;
}

static void json_has_the_documented_fields(void **state)
{
    (void)state;
    Fixture x = fixture(sample_set);
    x.o.extra = json_pack("{s:s, s:i}", "technique", "arguments", "schema", 77);
    json_t *doc = parsed(output_json, &x);
    assert_int_equal(json_int(doc, "schema", 0), 1);     /* ours wins */
    assert_string_equal(json_str(doc, "technique"), "arguments");
    assert_string_equal(json_str(doc, "version"), "0.1.0");
    assert_true(json_is_false(at(doc, "complete")));
    assert_string_equal(json_string_value(nth(at(doc, "incomplete"), 0)),
                        "the time was up after 60 s");
    json_t *summary = at(doc, "summary");
    assert_int_equal(json_int(summary, "counting", 0), 3);
    assert_int_equal(json_int(summary, "errors", 0), 1);
    assert_int_equal(json_int(summary, "warnings", 0), 2);
    assert_int_equal(json_int(summary, "notes", -1), 0);
    assert_int_equal(json_int(summary, "suppressed", 0), 1);
    assert_int_equal(json_int(summary, "in_baseline", 0), 1);
    assert_int_equal(json_array_size(at(doc, "runs")), 3);
    assert_string_equal(json_str(nth(at(doc, "runs"), 0), "seed"), "42");
    assert_int_equal(json_array_size(at(doc, "unused_suppressions")), 1);

    json_t *list = at(doc, "findings");
    assert_int_equal(json_array_size(list), 3);
    json_t *f = nth(list, 0);
    assert_string_equal(json_str(f, "rule"), "arguments/swapped");
    assert_string_equal(json_str(f, "technique"), "arguments");
    assert_string_equal(json_str(f, "level"), "warning");
    assert_string_equal(json_str(f, "verdict"), "likely");
    assert_string_equal(json_str(f, "file"), "src/buf.c");
    assert_int_equal(json_int(f, "line", 0), 17);
    assert_int_equal(json_int(f, "column", 0), 2);
    assert_int_equal(json_int(f, "end_column", 0), 29);
    assert_string_equal(json_str(f, "function"), "buf_crop");
    assert_int_equal(strlen(json_str(f, "fingerprint")), 32);
    assert_string_equal(json_str(f, "callee"), "set_range");    /* from data */
    assert_true(json_is_real(at(f, "confidence")));
    contains(json_str(f, "message"), "look swapped");           /* not data's */
    assert_true(json_is_null(at(f, "suppressed")));
    assert_int_equal(json_array_size(at(f, "steps")), 3);
    assert_true(json_is_null(at(nth(at(f, "steps"), 2), "file")));
    assert_int_equal(json_array_size(at(f, "related")), 1);
    assert_int_equal(json_array_size(at(f, "fixes")), 2);
    json_t *attached = at(nth(list, 1), "attachments");
    assert_string_equal(json_str(nth(attached, 0), "text"), sample_test);
    assert_null(json_object_get(nth(attached, 1), "text"));
    assert_int_equal(strlen(json_str(nth(attached, 1), "base64")), 400);
    json_decref(doc);
    json_decref(x.o.extra);
    x.o.extra = NULL;

    x.o.all = true;
    doc = parsed(output_json, &x);
    assert_int_equal(json_array_size(at(doc, "findings")), 5);
    json_decref(doc);
    fixture_free(&x);

    x = fixture(empty_set);
    doc = parsed(output_json, &x);
    assert_true(json_is_true(at(doc, "complete")));
    assert_int_equal(json_array_size(at(doc, "findings")), 0);
    json_decref(doc);
    fixture_free(&x);

    x = fixture(bare_set);                 /* data that is no object: left out */
    doc = parsed(output_json, &x);
    assert_int_equal(json_array_size(at(doc, "findings")), 16);
    json_decref(doc);
    fixture_free(&x);
}

/* ---- SARIF (tests/scripts/sarif.sh holds it against the schema) */

static json_t *region_of(json_t *location)
{
    return at(at(location, "physicalLocation"), "region");
}

static void sarif_maps_every_part(void **state)
{
    (void)state;
    Fixture x = fixture(sample_set);
    put_file(x.root, "share/rules/arguments-swapped.md", "# The page\n", 11);
    char *share = path_join(x.root, "share");
    x.o.share = share;
    x.o.docs_url = "https://example.org/rules";
    json_t *doc = parsed(output_sarif, &x);
    assert_string_equal(json_str(doc, "version"), "2.1.0");
    assert_int_equal(json_array_size(at(doc, "runs")), 1);
    json_t *run = nth(at(doc, "runs"), 0);
    json_t *rules = at(at(at(run, "tool"), "driver"), "rules");
    assert_int_equal(json_array_size(rules), 3);
    assert_string_equal(json_str(at(nth(rules, 0), "help"), "text"), "# The page\n");
    contains(json_str(nth(rules, 0), "helpUri"), "/rules/arguments-swapped.md");
    assert_string_equal(json_str(at(nth(rules, 1), "help"), "text"),
                        "An input writes outside of an object.");
    json_t *call = nth(at(run, "invocations"), 0);
    assert_true(json_is_false(at(call, "executionSuccessful")));
    assert_int_equal(json_array_size(at(call, "toolExecutionNotifications")), 2);

    json_t *results = at(run, "results");
    assert_int_equal(json_array_size(results), 5);
    json_t *r = nth(results, 1);                       /* errors come first */
    assert_string_equal(json_str(r, "ruleId"), "arguments/swapped");
    assert_int_equal(json_int(r, "ruleIndex", -1), 0);
    assert_string_equal(json_str(r, "baselineState"), "new");
    json_t *where = nth(at(r, "locations"), 0);
    json_t *file = at(at(where, "physicalLocation"), "artifactLocation");
    assert_string_equal(json_str(file, "uri"), "src/buf.c");
    assert_string_equal(json_str(file, "uriBaseId"), "%SRCROOT%");
    assert_int_equal(json_int(region_of(where), "startColumn", 0), 2);
    assert_int_equal(json_int(region_of(where), "endColumn", 0), 29);
    assert_string_equal(json_str(at(r, "partialFingerprints"), "sundew/v1"),
                        x.set->items[0].fingerprint);
    json_t *flow = at(nth(at(nth(at(r, "codeFlows"), 0), "threadFlows"), 0), "locations");
    assert_int_equal(json_array_size(flow), 3);
    json_t *change = nth(at(nth(at(r, "fixes"), 0), "artifactChanges"), 0);
    assert_int_equal(json_array_size(at(change, "replacements")), 2);
    assert_int_equal(json_int(nth(at(r, "relatedLocations"), 0), "id", 0), 1);
    assert_string_equal(json_str(at(r, "properties"), "rerun"),
                        "sundew arguments --rerun src/buf.c");
    /* Bytes become characters: two bytes and three bytes before column 46. */
    assert_int_equal(json_int(region_of(nth(at(nth(results, 2), "locations"), 0)), "startColumn",
                              0),
                     43);
    json_t *silent = at(nth(results, 3), "suppressions");
    assert_string_equal(json_str(nth(silent, 0), "kind"), "inSource");
    assert_string_equal(json_str(nth(silent, 0), "justification"), "documented: never empty");
    assert_string_equal(json_str(nth(results, 4), "baselineState"), "unchanged");
    assert_int_equal(json_array_size(at(run, "artifacts")), 3);
    json_decref(doc);
    free(share);
    fixture_free(&x);
}

static void sarif_copes_with_what_is_missing(void **state)
{
    (void)state;
    Fixture x = fixture(bare_set);
    x.o.version = NULL;
    x.o.rules = NULL;
    x.set->items[0].suppressed = "by file";
    json_t *doc = parsed(output_sarif, &x);
    json_t *run = nth(at(doc, "runs"), 0), *results = at(run, "results");
    assert_int_equal(json_array_size(results), 16);
    json_t *r = nth(results, 0);
    assert_string_equal(json_str(at(at(nth(at(r, "locations"), 0), "physicalLocation"),
                                    "artifactLocation"),
                                 "uri"),
                        "file:///abs/olute%20path.c");
    json_t *last = nth(results, 15);                   /* suppressed: last */
    assert_string_equal(json_str(at(last, "message"), "text"), "no place [a] (b)");
    assert_string_equal(json_str(nth(at(last, "suppressions"), 0), "kind"), "external");
    assert_int_equal(json_array_size(at(run, "artifacts")), 1);
    json_t *note = nth(results, 14);
    json_t *changes = at(nth(at(note, "fixes"), 0), "artifactChanges");
    assert_int_equal(json_array_size(changes), 3);
    assert_int_equal(json_array_size(at(nth(changes, 0), "replacements")), 4);
    json_decref(doc);

    /* The root of all files. */
    const char *root = x.set->root;
    x.set->root = "/";
    doc = parsed(output_sarif, &x);
    json_t *bases = at(nth(at(doc, "runs"), 0), "originalUriBaseIds");
    assert_string_equal(json_str(at(bases, "%SRCROOT%"), "uri"), "file:///");
    json_decref(doc);
    x.set->root = root;
    fixture_free(&x);
}

static void sarif_keeps_to_the_limits(void **state)
{
    (void)state;
    Fixture x = fixture(bare_set);
    static char big[(64 << 10) + 1];
    Attachment attachment = { "big", "input", big, sizeof big };
    size_t n = 25001;
    StoredFinding *many = xcalloc(n, sizeof *many);
    for (size_t i = 0; i < n; i++) {
        many[i] = x.set->items[1];
        many[i].finding.level = i + 1 == n ? LEVEL_ERROR : LEVEL_NOTE;
        many[i].finding.attachments = &attachment;
        many[i].finding.nattachments = 1;
    }
    FindingSet set = *x.set;
    set.items = many;
    set.len = n;
    Str out = { 0 };
    output_sarif(&set, &x.o, &out);
    json_t *doc = json_loads(str_c(&out), 0, NULL);
    json_t *run = nth(at(doc, "runs"), 0);
    assert_int_equal(json_array_size(at(run, "results")), 25000);
    assert_string_equal(json_str(nth(at(run, "results"), 0), "level"), "error");
    assert_int_equal(json_array_size(at(run, "artifacts")), 0);
    json_t *notes = at(nth(at(run, "invocations"), 0), "toolExecutionNotifications");
    contains(json_str(at(nth(notes, 0), "message"), "text"), "25000 most urgent of 25001");
    json_decref(doc);
    str_release(&out);
    free(many);
    fixture_free(&x);
}

/* ---- JUnit, TAP, GitHub */

static void junit_counts_findings_as_failed_tests(void **state)
{
    (void)state;
    Fixture x = fixture(sample_set);
    char *text = written(output_junit, &x);
    contains(
        text,
        "<testsuite name=\"arguments\" tests=\"2\" failures=\"2\" errors=\"0\" skipped=\"0\">");
    contains(text,
             "<testsuite name=\"explore\" tests=\"2\" failures=\"1\" errors=\"1\" skipped=\"0\">");
    contains(text, "<error message=\"the time was up after 60 s\"/>");
    contains(text, "<testcase classname=\"mutability\" name=\"no findings\"></testcase>");
    contains(text, "2. src/buf.c:15:12: b-&gt;length is 20 here\n");
    free(text);
    x.o.all = true;
    text = written(output_junit, &x);
    contains(text, "<skipped message=\"documented: never empty\"/>");
    contains(text, "<skipped message=\"in the baseline\"/>");
    contains(text, "name=\"mutability\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\"");
    free(text);
    fixture_free(&x);
    x = fixture(empty_set);                /* two scopes, one technique: one suite */
    StoredRun twice[] = { x.set->runs[0], x.set->runs[0] };
    twice[1].scope = "another";
    FindingSet set = *x.set;
    set.runs = twice;
    set.nruns = 2;
    Str out = { 0 };
    output_junit(&set, &x.o, &out);
    assert_int_equal(occurrences(str_c(&out), "<testsuite "), 1);
    str_release(&out);
    fixture_free(&x);
    x = fixture(bare_set);
    text = written(output_junit, &x);
    contains(text, "name=\"-: no place [a](b)\" line=\"0\">");
    free(text);
    fixture_free(&x);
}

static void tap_counts_findings_as_failed_tests(void **state)
{
    (void)state;
    Fixture x = fixture(sample_set);
    char *text = written(output_tap, &x);
    contains(text, "TAP version 13\n1..5\n");
    assert_int_equal(occurrences(text, "\nnot ok "), 4);
    assert_int_equal(occurrences(text, "\nok "), 1);
    contains(text, "\nok 5 - mutability on build: no findings\n");
    free(text);
    x.o.all = true;
    text = written(output_tap, &x);
    contains(text, "# SKIP documented: never empty\n");
    contains(text, "# SKIP in the baseline\n");
    free(text);
    fixture_free(&x);
}

static void annotations_are_few_and_urgent_first(void **state)
{
    (void)state;
    Fixture x = fixture(sample_set);
    char *text = written(output_github, &x);
    const char *first = "::error file=src/buf.c,line=24,col=2,title=explore/overflow::explore: "
                        "buf_text";
    assert_true(str_starts(text, first));
    contains(text, "\n::warning title=Sundew::incomplete: the time was up after 60 s\n");
    contains(
        text,
        "\nSundew: 3 findings (1 error, 2 warnings), 1 suppressed, 1 in the baseline; incomplete\n");
    free(text);
    fixture_free(&x);

    x = fixture(bare_set);
    text = written(output_github, &x);
    assert_int_equal(occurrences(text, "::error "), 10);
    assert_int_equal(occurrences(text, "::notice "), 1);
    contains(text, "::error title=bare::t: no place");
    contains(text, "::error file=/abs/olute path.c,title=t/a::");
    contains(text, "::notice file=two.c,line=1,col=3,endLine=2,title=t/a::");
    contains(text, "; 5 more than annotations can show\n");
    free(text);
    Finding extra = { .rule = "t/a", .message = "one too many" };
    StoredFinding *items = xcalloc(x.set->len + 1, sizeof *items);
    memcpy(items, x.set->items, x.set->len * sizeof *items);
    items[x.set->len].finding = extra;
    items[x.set->len].technique = "t";
    FindingSet set = *x.set;
    set.items = items;
    set.len++;
    Str out = { 0 };
    output_github(&set, &x.o, &out);
    contains(str_c(&out), "; 6 more than annotations can show\n");
    str_release(&out);
    free(items);
    fixture_free(&x);
}

/* ---- HTML (tests/scripts/html.sh opens it in a browser) */

/* The page's policy admits exactly the style and script that are in it. */
static void check_policy(const char *page, const char *tag, const char *directive)
{
    char *open = xprintf("<%s>", tag), *close = xprintf("</%s>", tag);
    assert_int_equal(occurrences(page, open), 1);
    const char *begin = strstr(page, open) + strlen(open);
    const char *end = strstr(begin, close);
    unsigned char sum[32];
    Sha256 s;
    sha256_init(&s);
    sha256_add(&s, begin, (size_t)(end - begin));
    sha256_end(&s, sum);
    Str expected = { 0 };
    str_addf(&expected, "%s 'sha256-", directive);
    base64_encode(&expected, sum, sizeof sum);
    str_add(&expected, "';");
    contains(page, str_c(&expected));
    str_release(&expected);
    free(open);
    free(close);
}

static void the_page_shows_all_of_a_finding(void **state)
{
    (void)state;
    Fixture x = fixture(sample_set);
    put_file(x.root, "share/report/page.css", "b { }", 5);
    put_file(x.root, "share/report/page.js", "'x';", 4);
    put_file(x.root, "share/rules/arguments-swapped.md", "# The page\n", 11);
    char *share = path_join(x.root, "share");
    x.o.share = share;
    char *page = written(output_html, &x);
    check_policy(page, "style", "style-src");
    check_policy(page, "script", "script-src");
    contains(page, "default-src 'none'");
    contains(page, "<title>Sundew: 3 findings (1 error, 2 warnings)");
    assert_int_equal(occurrences(page, "<details class=\"f\""), 5);
    assert_int_equal(occurrences(page, "data-status=\"new\">\n<summary>"), 3);
    contains(page, "<mark>");
    contains(page, "<span class=\"k\">struct</span>");
    contains(page, "<span class=\"l drop\" data-n=\"-\">");
    contains(page, "<mark>set_range</mark>");
    contains(page, "data-shows=\"2\"");
    contains(page, "class=\"step mute\" disabled>");
    contains(page, "00000010  70 77 7e");
    contains(page, "<code>sundew explore --replay overflow_1.bin ./tool</code>");
    contains(page, "<h4>The page</h4>");
    contains(page, "There is no page about this rule yet.");
    contains(page, "the time was up after 60 s");
    contains(page, "matches no finding");
    contains(page, "Suppressed at <span class=\"place\">src/buf.c:23</span>: documented");
    lacks(page, "style=");
    lacks(page, " onclick");
    free(page);
    free(share);

    x.o.share = NULL;
    x.o.version = NULL;
    x.set->items[0].suppressed = x.set->items[1].suppressed = "x";
    x.o.share = "/no/such/folder";
    page = written(output_html, &x);
    contains(page, "page.js was not found");
    free(page);
    x.o.share = NULL;
    x.set->items[4].suppressed = "x";
    page = written(output_html, &x);
    contains(page, "<b>1</b><span>open finding");
    contains(page, "page.js was not found");
    free(page);
    fixture_free(&x);

    x = fixture(empty_set);
    page = written(output_html, &x);
    contains(page, ">No findings.</p>");
    lacks(page, "<h2>Rules</h2>");
    free(page);
    fixture_free(&x);
}

static void the_page_copes_with_what_is_missing(void **state)
{
    (void)state;
    Fixture x = fixture(bare_set);
    static char big[70000], text[70000];
    memset(text, 'x', sizeof text);
    memcpy(text + (64 << 10) - 1, "\xc3\xa4", 2);      /* cut in the middle */
    Attachment attachments[] = { { "big", "input", big, sizeof big },
                                 { "text", "input", text, sizeof text },
                                 { "del", "input", "\x7f", 1 },
                                 { "head.h", "test", "a\n", 2 },
                                 { "none.c", "test", "", 0 } };
    x.set->items[0].finding.attachments = attachments;
    x.set->items[0].finding.nattachments = 5;
    EvidenceStep *steps = xcalloc(300, sizeof *steps);
    for (int i = 0; i < 300; i++)
        steps[i] = (EvidenceStep){ { .file = "tall.c", .line = 3 }, "again" };
    x.set->items[1].finding.steps = steps;
    x.set->items[1].finding.nsteps = 300;
    char *page = written(output_html, &x);
    assert_int_equal(occurrences(page, "again<span class=\"place\">"), 300);
    assert_int_equal(occurrences(page, "<div class=\"where place\">tall.c:3</div>"), 200);
    contains(page, "(4096 of 70000 bytes)");
    contains(page, "(65536 of 70000 bytes)");
    contains(page, "00000000  7f");
    /* Both changes of lines 1 and 2 are one block; line 3's is another. */
    contains(page, "data-n=\"-\">f(<span class=\"m\">1</span>,</span>");
    contains(page, "<span class=\"c\">// end</span>");
    contains(page, "data-n=\"+\">first, call(<span class=\"m\">54</span>,");
    lacks(page, "nowhere");
    contains(page, "…");
    free(page);
    free(steps);
    fixture_free(&x);
}

static FindingSet *thousand_set(const char *root, Store **store)
{
    return many_set(root, 1001, store);
}

static void a_page_of_many_is_lighter(void **state)
{
    (void)state;
    Fixture x = fixture(thousand_set);
    char *page = written(output_html, &x);
    assert_int_equal(occurrences(page, "<details class=\"f\""), 1001);
    contains(page, " hit\" data-n=\"1\">static int <mark>f0</mark>(");
    assert_null(strstr(page, "<span class=\"k\">"));
    assert_null(strstr(page, "Whole function"));
    free(page);
    fixture_free(&x);
}

static void markdown_is_a_safe_subset(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "# A\n## B\n### C\n#no\n", "<h4>A</h4>\n<h4>B</h4>\n<h5>C</h5>\n<p>#no</p>\n" },
        { "#", "<p>#</p>\n" },
        { "one\ntwo\n\n  three  \n", "<p>one\ntwo</p>\n<p>three</p>\n" },
        { "- a\n- b\n  more\n\n* c", "<ul><li>a</li><li>b\nmore</li></ul>\n<ul><li>c</li></ul>\n" },
        { "1. a\n2. b\n- c\n3.d", "<ol><li>a</li><li>b</li></ol>\n<ul><li>c\n3.d</li></ul>\n" },
        { "5.", "<p>5.</p>\n" },
        { "-", "<p>-</p>\n" },
        { "a `b<c` **d *e* g** *f*",
          "<p>a <code>b&lt;c</code> <strong>d <em>e</em> g</strong> <em>f</em></p>\n" },
        { "2 * 3 * 4 ** ` x", "<p>2 * 3 * 4 ** &#96; x</p>\n" },
        { "*a **", "<p>*a **</p>\n" },
        { "[a *b*](javascript:x) [c] [d](e", "<p>a <em>b</em> [c] [d](e</p>\n" },
        { "```c\nint x; /* <b>\n```\nend",
          "<pre><code><span class=\"k\">int</span> x; <span class=\"c\">/* &lt;b&gt;</span>\n</code></pre>\n<p>end</p>\n" },
        { "a\n\n    int x;\n      y\nb\n",
          "<p>a</p>\n<pre><code><span class=\"k\">int</span> x;\n  y\n</code></pre>\n<p>b</p>\n" },
        { "    x\n\n- a\n      b\n", "<pre><code>x\n</code></pre>\n<ul><li>a\nb</li></ul>\n" },
        { "     ", "" },
        { "```\nopen", "<pre><code>open\n</code></pre>\n" },
        { "<script>x</script> & \xff \xc3\xa4",
          "<p>&lt;script&gt;x&lt;/script&gt; &amp; \xef\xbf\xbd \xc3\xa4</p>\n" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Str out = { 0 };
        html_markdown(&out, rows[i].in);
        assert_string_equal(str_c(&out), rows[i].out);
        str_release(&out);
    }
}

/* Whatever a rule page or a source holds, only our own tags come out. */
static void random_bytes_make_no_markup(void **state)
{
    (void)state;
    static const char *const tags[] = {
        "<p>",     "</p>",           "<ul>",     "</ul>",     "<ol>",  "</ol>", "<li>",
        "</li>",   "<h4>",           "</h4>",    "<h5>",      "</h5>", "<pre>", "</pre>",
        "<code>",  "</code>",        "<strong>", "</strong>", "<em>",  "</em>", "<mark>",
        "</mark>", "<span class=\"", "</span>",  NULL
    };
    static const char pieces[] = "<>&\"'`*_[]()#-1. \n\n\t/*\\a\xc3\xa4\xff\x1b";
    Rng r = rng_seeded(7);
    for (int round = 0; round < 3000; round++) {
        char text[80];
        size_t n = rng_below(&r, sizeof text - 1);
        for (size_t i = 0; i < n; i++)
            text[i] = pieces[rng_below(&r, sizeof pieces - 1)];
        text[n] = 0;
        Str out = { 0 };
        CState now = (CState)rng_below(&r, 4);
        html_markdown(&out, text);
        html_code(&out, text, n, &now, rng_below(&r, 80), rng_below(&r, 80));
        only_printable(str_c(&out));
        for (const char *p = str_c(&out); (p = strchr(p, '<')); p++) {
            bool ours = false;
            for (int i = 0; tags[i]; i++)
                ours |= str_starts(p, tags[i]);
            assert_true(ours);
        }
        str_release(&out);
    }
}

/* ---- pictures: with a `dot` of our own that says what it likes */

static void picture(const char *svg, Str *out)
{
    const char *dir = tempdir_new(NULL, NULL);
    char *script = xprintf("#!/bin/sh\ncat <<'END'\n%s\nEND\n", svg);
    put_file(dir, "dot", script, strlen(script));
    char *path = path_join(dir, "dot");
    chmod(path, 0755);
    char *old = xstrdup(getenv("PATH")), *new = xprintf("%s:%s", dir, old);
    setenv("PATH", new, 1);
    Html h = { .out = out };
    html_picture(&h, "digraph { <source> }");
    setenv("PATH", old, 1);
    free(h.pictures.entries[0].value);
    map_release(&h.pictures);
    free(script);
    free(path);
    free(old);
    free(new);
    tempdir_remove(dir);
}

static void pictures_hold_only_drawings(void **state)
{
    (void)state;
    static const struct {
        const char *svg, *kept;
    } rows[] = {
        { "<?xml?><!DOCTYPE x><svg width=\"1pt\" xmlns=\"u\"><!-- c --><g id=\"a\"><title>a&#45;&gt;b</title>"
          "<text x=\"1\" font-family=\"Times\">\xc3\xa4 '</text><path d=\"M1,2\"/></g></svg>",
          "<svg width=\"1pt\"><g><title>a&#45;&gt;b</title>"
          "<text x=\"1\">\xc3\xa4 &#39;</text><path d=\"M1,2\"/></g></svg>" },
        { "<svg><script>x</script></svg>", NULL },
        { "<svg><foreignObject/></svg>", NULL },
        { "<svg><a xlink:href=\"x\"/></svg>", NULL },
        { "<svg><g xlink:href=\"x\"/></svg>", NULL },
        { "<svg><g onload=\"x\"/></svg>", NULL },
        { "<svg><g style=\"x\"/></svg>", NULL },
        { "<svg><g fill=\"url(#x)\"/></svg>", NULL },
        { "<svg><g fill=\"&#x75;rl\"/></svg>", NULL },
        { "<svg><g fill=red/></svg>", NULL },
        { "<svg><g fill=\"red/></svg>", NULL },
        { "<svg><g fill/></svg>", NULL },
        { "<svg><g /x></svg>", NULL },
        { "<svg><text>&evil;</text></svg>", NULL },
        { "<svg><text>& </text></svg>", NULL },
        { "<svg><!-- open", NULL },
        { "<svg><g", NULL },
        { "<svg><g_ /></svg>", NULL },
        { "<svg width=\"1\" ><g /></svg>", "<svg width=\"1\"><g/></svg>" },
        { "<html>", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Str out = { 0 };
        picture(rows[i].svg, &out);
        if (rows[i].kept) {
            contains(str_c(&out), rows[i].kept);
        } else {
            assert_string_equal(str_c(&out), "<pre class=\"box\"><code>"
                                             "digraph { &lt;source&gt; }</code></pre>");
        }
        str_release(&out);
    }
}

static void a_dot_that_fails_draws_nothing(void **state)
{
    (void)state;
    char *old = xstrdup(getenv("PATH"));
    const char *dir = tempdir_new(NULL, NULL);
    static const char script[] = "#!/bin/sh\necho '<svg></svg>'; exit 1\n";
    put_file(dir, "dot", script, sizeof script - 1);
    char *path = path_join(dir, "dot");
    chmod(path, 0755);
    Str out = { 0 };
    Html h = { .out = &out };
    setenv("PATH", dir, 1);                         /* says no */
    html_picture(&h, "digraph { a }");
    static const char endless[] = "#!/bin/sh\n/usr/bin/yes '<svg></svg>' | "
                                  "/usr/bin/head -c 5000000\n";
    put_file(dir, "dot", endless, sizeof endless - 1);
    chmod(path, 0755);
    html_picture(&h, "digraph { c }");              /* says too much */
    unlink(path);                                   /* is not there */
    html_picture(&h, "digraph { b }");
    unsetenv("PATH");
    html_picture(&h, "digraph {");                  /* says no by itself */
    setenv("PATH", old, 1);
    assert_int_equal(occurrences(str_c(&out), "<pre"), 4);
    assert_int_equal(occurrences(str_c(&out), "<svg"), 0);
    bool fired = true;                              /* no way to write or start */
    for (unsigned n = 1; fired; n++) {
        char source[32];
        snprintf(source, sizeof source, "digraph { x%u }", n);
        str_reset(&out);
        fault_after(n);
        html_picture(&h, source);
        fired = fault_fired();
        fault_after(0);
        assert_int_equal(occurrences(str_c(&out), "<svg"), !fired);
    }
    for (size_t i = 0; i < h.pictures.len; i++)
        free(h.pictures.entries[i].value);
    map_release(&h.pictures);
    str_release(&out);
    free(old);
    free(path);
    tempdir_remove(dir);
}

static void a_picture_is_drawn_once_and_not_forever(void **state)
{
    (void)state;
    Str out = { 0 };
    Html h = { .out = &out, .drawing = 1000 };
    html_picture(&h, "digraph { a }");
    assert_int_equal(occurrences(str_c(&out), "<svg"), 0);   /* time is up */
    assert_int_equal(h.pictures.len, 1);
    h.drawing = 0;
    html_picture(&h, "digraph { a }");                       /* remembered */
    assert_int_equal(h.pictures.len, 1);
    assert_int_equal(occurrences(str_c(&out), "digraph"), 2);
    free(h.pictures.entries[0].value);
    map_release(&h.pictures);
    str_release(&out);
}

/* ---- hostile text */

static void hostile_text_stays_text_in_every_format(void **state)
{
    (void)state;
    Fixture x = fixture(hostile_set);
    assert_int_equal(x.set->len, 2);
    x.o.incomplete = HOSTILE;
    for (int all = 0; all < 2; all++) {
        x.o.all = all;
        for (size_t i = 0; i < NWRITERS; i++) {
            char *text = written(writers[i].write, &x);
            assert_true(strlen(text) > 100);
            only_printable(text);
            /* The page is for browsers; the others end up in logs. */
            if (writers[i].write != output_html) {
                lacks(text, "\n::error::x");
                lacks(text, "\nnot ok 1 - y");
            }
            free(text);
        }
    }
    char *text = written(output_html, &x);
    lacks(text, "<img");
    lacks(text, "alert(5)</script>");
    assert_int_equal(occurrences(text, "<script"), 1);
    assert_int_equal(occurrences(text, "</script"), 1);
    lacks(text, " onmouseover=\"");
    lacks(text, "href=\"javascript");
    free(text);
    text = written(output_junit, &x);
    lacks(text, "<img");
    lacks(text, "]]>");
    free(text);
    text = written(output_github, &x);
    assert_int_equal(occurrences(text, "\n"), 4);     /* two, incomplete, summary */
    lacks(text, "%0A");
    free(text);
    text = written(output_tap, &x);
    contains(text, "TAP version 13\n1..3\n");
    assert_int_equal(occurrences(text, "\nnot ok "), 3);
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (str_starts(line, "not ok "))
            lacks(line, " # SKIP");
    free(text);
    json_decref(parsed(output_json, &x));
    json_decref(parsed(output_sarif, &x));

    Err err = { 0 };
    char *path = path_join(x.root, "other.baseline");
    Str file = { 0 };
    assert_true(baseline_set(x.set, path, &err));
    assert_true(file_read(path, &file, &err));
    only_printable(str_c(&file));
    assert_int_equal(occurrences(str_c(&file), "\n"), 4);
    str_release(&file);
    free(path);
    fixture_free(&x);
}

static void names_of_levels_and_verdicts(void **state)
{
    (void)state;
    assert_string_equal(level_name(LEVEL_ERROR), "error");
    assert_string_equal(level_name(LEVEL_NOTE), "note");
    assert_string_equal(verdict_name(VERDICT_SHOWN), "shown");
    assert_string_equal(verdict_name(VERDICT_UNDECIDED), "not enough evidence");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_terminal_shows_place_source_and_evidence),
        cmocka_unit_test(the_terminal_copes_with_what_is_missing),
        cmocka_unit_test(json_has_the_documented_fields),
        cmocka_unit_test(sarif_maps_every_part),
        cmocka_unit_test(sarif_copes_with_what_is_missing),
        cmocka_unit_test(sarif_keeps_to_the_limits),
        cmocka_unit_test(junit_counts_findings_as_failed_tests),
        cmocka_unit_test(tap_counts_findings_as_failed_tests),
        cmocka_unit_test(annotations_are_few_and_urgent_first),
        cmocka_unit_test(the_page_shows_all_of_a_finding),
        cmocka_unit_test(the_page_copes_with_what_is_missing),
        cmocka_unit_test(a_page_of_many_is_lighter),
        cmocka_unit_test(markdown_is_a_safe_subset),
        cmocka_unit_test(random_bytes_make_no_markup),
        cmocka_unit_test(pictures_hold_only_drawings),
        cmocka_unit_test(a_dot_that_fails_draws_nothing),
        cmocka_unit_test(a_picture_is_drawn_once_and_not_forever),
        cmocka_unit_test(hostile_text_stays_text_in_every_format),
        cmocka_unit_test(names_of_levels_and_verdicts),
    };
    if (argc > 3 && strcmp(argv[1], "--pages") == 0)
        return pages(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
