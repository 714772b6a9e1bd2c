/* Files that people write or bring: settings, rules, tables, warnings of other tools. */
#include "fuzz.h"
#include "../unit/sequence_lab.h"
#include "analysis/pointsto/summaries.h"
#include "analysis/symbolic/standins.h"
#include "capture/capture_int.h"
#include "capture/linkmap.h"
#include "engine/contract/constraint.h"
#include "engine/protocol/protocol.h"
#include "engine/schedule/schedule.h"
#include "engine/sequence/keep.h"
#include "engine/usage/usage_int.h"
#include "finding/baseline.h"
#include "finding/suppress.h"
#include "session/session_int.h"
#include "technique/arguments/learned.h"
#include "technique/arguments/names.h"
#include "technique/arguments/orders.h"
#include "technique/confirm/warnings.h"
#include "technique/events/events_int.h"
#include "technique/substitutes/substitutes_int.h"
#include "technique/types/histogram.h"
#include <stdlib.h>

/* ---- settings, suppressions, baselines */

static const Option options[] = {
    { "depth", 0, "N", "how deep", "3" },
    { "fast", 0, NULL, "be fast", NULL },
    { 0 },
};
static const Command command = { .name = "test", .options = options },
                     other = { .name = "other", .options = options };

static void read_settings(const uint8_t *data, size_t n)
{
    const Command *const all[] = { &command, &other, NULL };
    Session s = { .commands = all, .command = &command };
    Err err = { 0 };
    fuzz_said(config_read(&s, fuzz_file("sundew.ini", data, n), false, &err), &err);
    for (size_t k = 0; k < s.values.len; k++) {
        free(s.values.items[k].text);
        free(s.values.items[k].origin);
    }
    vec_release(&s.values);
}

static void read_baseline(const uint8_t *data, size_t n)
{
    Map entries = { 0 };
    Err err = { 0 };
    if (n == 1)                      /* none is an empty one, and a folder is none */
        fuzz_said(baseline_read(data[0] == '.' ? fuzz_folder() : "nowhere", &entries, &err), &err);
    fuzz_said(baseline_read(fuzz_file("sundew.baseline", data, n), &entries, &err), &err);
    baseline_release(&entries);
}

/* The same bytes as sundew.ignore, and as a source with comments. */
static void read_ignore(const uint8_t *data, size_t n)
{
    Err err = { 0 };
    Arena a = { 0 };
    fuzz_file(IGNORE_FILE, data, n);
    fuzz_file("a.c", data, n);
    StoredFinding items[] = {
        { .finding = { .rule = "arguments/swapped", .where = { .file = "a.c", .line = 2 } },
          .technique = "arguments" },
        { .finding = { .rule = "types/mixed", .where = { .file = "b.c", .line = 1 } },
          .technique = "types" },
    };
    StoredRun runs[] = {
        { .technique = "arguments", .scope = "build", .command = "", .when = "" }
    };
    FindingSet set = { .items = items, .len = 2, .runs = runs, .nruns = 1, .root = fuzz_folder() };
    SeenFile seen = { .path = "a.c" };
    strings_add(&seen.techniques, "arguments");
    Sources *sources = sources_new(fuzz_folder());
    fuzz_said(suppressions_apply(&set, &seen, 1, true, sources, &a, &err), &err);
    sources_free(sources);
    strings_release(&seen.techniques);
    arena_release(&a);
}

/* ---- builds */

static void read_commands(const uint8_t *data, size_t n)
{
    CompileCommands all = { 0 };
    Err err = { 0 };
    fuzz_said(commands_read(fuzz_file("compile_commands.json", data, n), &all, &err), &err);
    commands_release(&all);
}

static void read_words(const uint8_t *data, size_t n)
{
    Strings out = { 0 };
    size_t files = 0, most = n % 16 ? 1 : 2;
    char *text = fuzz_text(data, n), *cwd = xstrdup(fuzz_folder());
    for (size_t i = 0; i < n; i++)     /* a file that names itself is bounded, but slow */
        if (text[i] == '@' && files++ >= most)
            text[i] = '+';
    cmdline_split(text, n % 2, &out);
    fuzz_file("args", (uint8_t *)text, n);
    char *argv[] = { "gcc", "@args", "-c", NULL };
    Strings all = { 0 };
    cmdline_expand(3, argv, cwd, &all);
    Cmdline c = { 0 };
    cmdline_parse(&c, (int)all.len, strings_argv(&all), cwd, false);
    Strings flags = { 0 };
    clang_flags(&c, "gcc", &flags);
    strings_release(&flags);
    cmdline_release(&c);
    strings_release(&all);
    strings_release(&out);
    free(text);
    free(cwd);
}

static void read_linkmap(const uint8_t *data, size_t n)
{
    Strings out = { 0 };
    char *text = fuzz_text(data, n);
    fuzz_file("a.o", (const uint8_t *)"x", 1);
    fuzz_file("libx.a", (const uint8_t *)"x", 1);
    linkmap_objects(text, fuzz_folder(), &out);
    for (size_t i = 0; i < out.len; i++) {
        char *member = NULL;
        free(linkmap_archive(out.items[i], &member));
    }
    strings_release(&out);
    free(text);
}

/* ---- tables of techniques */

static void read_summaries(const uint8_t *data, size_t n)
{
    Summaries *all = summaries_new();
    Err err = { 0 };
    char *text = fuzz_text(data, n);
    fuzz_said(summaries_read_text(all, text, "x", &err), &err);
    summaries_free(all);
    free(text);
}

static void read_standins(const uint8_t *data, size_t n)
{
    Standins *all = standins_new();
    Err err = { 0 };
    char *text = fuzz_text(data, n);
    fuzz_said(standins_read_text(all, text, "x", &err), &err);
    standins_free(all);
    free(text);
}

static void read_histograms(const uint8_t *data, size_t n)
{
    Histograms hs = { 0 };
    Err err = { 0 };
    Str out = { 0 };
    fuzz_said(histograms_read(&hs, fuzz_file("histograms", data, n), &err), &err);
    histograms_write(&hs, NULL, &out);
    histograms_release(&hs);
    str_release(&out);
}

static void read_learned(const uint8_t *data, size_t n)
{
    Learned *l = learned_new();
    Words *w = words_new();
    Err err = { 0 };
    unsigned calls = 0;
    fuzz_said(learned_read(l, fuzz_file("learned", data, n), &err), &err);
    static const char *const calls_of[][4] = { { "from", "to", "to", "from" },
                                               { "from_end", "to_end", "x_to", "y" },
                                               { "dest_name", "source_name", "source", "dest" },
                                               { "from", "to", "from", "to" } };
    for (size_t i = 0; i < sizeof calls_of / sizeof *calls_of; i++)
        learned_crossed(l, w, calls_of[i][0], calls_of[i][1], calls_of[i][2], calls_of[i][3],
                        &calls);
    words_free(w);
    learned_free(l);
}

static void read_orders(const uint8_t *data, size_t n)
{
    Orders *o = orders_new();
    Err err = { 0 };
    fuzz_said(orders_read(o, fuzz_file("orders", data, n), &err), &err);
    orders_of(o, "memset");
    orders_free(o);
}

static void read_dictionary(const uint8_t *data, size_t n)
{
    Words *w = words_new();
    Err err = { 0 };
    Tokens t = { 0 };
    char *text = fuzz_text(data, n < 200 ? n : 200);
    fuzz_said(words_read(w, fuzz_file("words", data, n), &err), &err);
    words_of(w, "srcBufLen2", &t);
    words_of(w, text, &t);
    free(text);
    words_free(w);
}

static void read_warnings(const uint8_t *data, size_t n)
{
    Warnings all = { 0 };
    Err err = { 0 };
    fuzz_said(warnings_read(fuzz_file("warnings", data, n), &all, &err), &err);
    warnings_release(&all);
}

static void read_constraints(const uint8_t *data, size_t n)
{
    Constraints c = { 0 };
    Err err = { 0 };
    Str out = { 0 };
    char *text = fuzz_text(data, n);
    fuzz_said(constraints_parse(text, "x", &c, &err), &err);
    for (size_t i = 0; i < c.items.len; i++)
        constraint_print(&c.items.items[i], &out);
    str_release(&out);
    constraints_release(&c);
    free(text);
}

static void read_mapping(const uint8_t *data, size_t n)
{
    Arena a = { 0 };
    Mapping all = { 0 };
    Err err = { 0 };
    fuzz_said(mapping_read(fuzz_file("mapping", data, n), &a, &all, &err), &err);
    vec_release(&all);
    arena_release(&a);
}

static void read_accepted(const uint8_t *data, size_t n)
{
    Substitutes x = { 0 };
    Err err = { 0 };
    fuzz_said(accepted_read(&x, fuzz_file("accepted", data, n), &err), &err);
    map_release(&x.accepted);
    arena_release(&x.arena);
}

static void read_grammar(const uint8_t *data, size_t n)
{
    static Compiled c;
    if (!c.program)
        c = compiled("int wgetch(void *); int main(void) { return wgetch(0); }\n");
    EventLayout l = { 0 };
    Err err = { 0 };
    fuzz_said(layout_read(fuzz_file("grammar", data, n), c.program, &l, &err), &err);
    layout_release(&l);
}

/* ---- protocols */

static void read_api(const uint8_t *data, size_t n)
{
    ProtoApi *api = proto_api_new();
    Err err = { 0 };
    fuzz_said(proto_api_read(api, fuzz_file("api", data, n), &err), &err);
    proto_api_free(api);
}

#define PROTOCOL                                                                                     \
    "{\"version\": 1, \"protocols\": [{\"types\": [\"FILE\"], \"lives\": 3, \"runs\": 1, "           \
    "\"labels\": [{\"function\": \"fopen\", \"args\": [0,0,0], \"made\": [1,0]}, {\"function\": "    \
    "\"fclose\", \"args\": [1,0,0], \"made\": [0,0], \"result\": 1}], \"states\": [{\"bound\": 0},"  \
    "{\"bound\": 1, \"labels\": [-1, 0]}, {\"ends\": 2, \"labels\": [0, 1]}], \"edges\": "           \
    "[{\"from\": 0, \"label\": 0, \"to\": 1, \"count\": 3}, {\"from\": 1, \"label\": 1, \"to\": 2, " \
    "\"count\": 3}]}]}"

static ProtoApi *stdio_api(void)
{
    static ProtoApi *api;
    if (!api) {
        Err err = { 0 };
        char *table = in_tree("share/protocols/stdio.txt");
        api = proto_api_new();
        if (!proto_api_read(api, table, &err))
            abort();
        free(table);
    }
    return api;
}

static void show_protocols(Protocols *ps)
{
    Str out = { 0 };
    protocols_text(ps, &out);
    json_decref(protocols_json(ps));
    str_release(&out);
}

/* Real ones, from two runs. */
static void make_protocols(Samples_ *out)
{
    ProtoApi *api = stdio_api();
    ProtoRuns runs = { 0 };
    ProtoRun *run = proto_run_new();
    uint32_t file = proto_run_object(run, proto_api_type(api, "FILE"));
    ProtoCall *c = proto_run_call(run, proto_api_index(api, proto_api_function(api, "fopen")));
    c->made[0] = file;
    run->objects.items[file - 1].maker = 1;
    proto_run_call(run, proto_api_index(api, proto_api_function(api, "fgets")))->objects[0] = file;
    proto_run_call(run, proto_api_index(api, proto_api_function(api, "fgets")))->objects[0] = file;
    proto_run_call(run, proto_api_index(api, proto_api_function(api, "fclose")))->objects[0] = file;
    proto_run_index(run);
    vec_push(&runs, run);
    Protocols *ps = protocols_new(api);
    protocols_mine(ps, run);
    json_t *j = protocols_json(ps);
    Str s = { 0 };
    json_print(j, &s);
    vec_push(out, s);
    json_decref(j);
    protocols_free(ps);
    proto_runs_release(&runs);
}

static void read_protocols(const uint8_t *data, size_t n)
{
    Protocols *ps = protocols_new(stdio_api());
    Err err = { 0 };
    json_t *j = json_parse((const char *)data, n, &err);
    if (j && protocols_merge(ps, j, &err)) {
        protocols_merge(ps, j, &err);
        show_protocols(ps);
    }
    json_decref(j);
    protocols_free(ps);
}

static void read_edges(const uint8_t *data, size_t n)
{
    Protocols *ps = protocols_new(stdio_api());
    Err err = { 0 };
    json_t *j = json_parse(PROTOCOL, strlen(PROTOCOL), &err);
    protocols_merge(ps, j, &err);
    json_decref(j);
    err = (Err){ 0 };
    fuzz_said(protocols_edges(ps, fuzz_file("edges", data, n), &err), &err);
    show_protocols(ps);
    protocols_free(ps);
}

/* ---- sequences, rules of usage, schedules */

static const Lab *lab(void)
{
    static Lab l;
    if (!l.api)
        l = lab_open();
    return &l;
}

static void read_sequence(const uint8_t *data, size_t n)
{
    Err err = { 0 };
    Arena a = { 0 };
    Str out = { 0 };
    json_t *j = json_parse((const char *)data, n, &err);
    Seq *s = j ? seq_from_json(&a, lab()->api, j, &err) : NULL;
    fuzz_said(s, &err);
    if (s) {
        seq_dump(s, &out);
        json_t *again = seq_to_json(s);
        json_decref(again);
    }
    str_release(&out);
    json_decref(j);
    arena_release(&a);
}

/* What no text of the table says. */
static void make_rules(Samples_ *out)
{
    static const char *const more[] = { "forbid\n",
                                        "weight bag_new -1\n",
                                        "weight bag_new 1e9\n",
                                        "weight bag_new 1e999\n",
                                        "weight bag_new 2x\n",
                                        "nothing bag_new\n",
                                        "require bag_new after bag_free\n",
                                        "require bag_new before none\n" };
    Str many = { 0 };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        fuzz_sample(out, more[i], strlen(more[i]));
    fuzz_sample(out, "forbid\0bag_new\n", 15);
    fuzz_sample(out, "", 0);
    for (unsigned i = 0; i < 17; i++)
        str_add(&many, "forbid bag_free after bag_new\n");
    vec_push(out, many);
}

/* Two types: bags, which are made and given back, and boxes, which meet a bag. The example had a
 * step that is no call. */
static void read_rules(const uint8_t *data, size_t n)
{
    const Api *api = lab()->api;
    Err err = { 0 };
    UsageType types[2] = { { .objects = 1 }, { .objects = 1 } };
    Usage m = { .api = api, .types = types, .ntypes = 2 };
    UsageNode nodes[2] = { { .nedges = 1 }, { .nedges = 1, .ended = 1 } };
    UsageEdge edges[2] = { { .function = fn(lab(), "bag_new"),
                             .places = place_bit(API_RETURNED),
                             .to = 1,
                             .count = 1,
                             .weight = 1,
                             .creates = true },
                           { .function = fn(lab(), "bag_free"),
                             .places = place_bit(0),
                             .from = 1,
                             .to = 1,
                             .count = 1,
                             .weight = 1,
                             .ends = true } };
    UsageEdge *out[2] = { &edges[0], &edges[1] };
    uint32_t met[] = { 1 };
    for (size_t i = 0; i < api->ntypes; i++)
        types[strstr(api->types[i].name, "bag") == NULL].type = &api->types[i];
    UsageOther others[] = { { .type = types[0].type, .nodes = met, .nnodes = 1 },
                            { .type = types[0].type },
                            { .type = NULL, .nodes = met, .nnodes = 1 } };
    UsageNode box = { .nedges = 1 };
    UsageEdge get = { .function = fn(lab(), "box_get"),
                      .places = place_bit(0),
                      .count = 1,
                      .weight = 1,
                      .others = others,
                      .nothers = 3 };
    UsageEdge *gets[] = { &get };
    SeqStep steps[] = { { .f = NULL },
                        { .f = fn(lab(), "bag_new") },
                        { .f = fn(lab(), "bag_free") } };
    Seq replay = { steps, 3 }, *replays[] = { &replay };
    nodes[0].edges = &out[0];
    nodes[1].edges = &out[1];
    box.edges = gets;
    types[0].nodes = nodes;
    types[0].nnodes = types[0].nedges = 2;
    types[1].nodes = &box;
    types[1].nnodes = types[1].nedges = 1;
    m.replays = replays;
    m.nreplays = 1;
    fuzz_said(rules_apply(&m, fuzz_file("rules", data, n), &err), &err);
    strings_release(&m.notes);
    arena_release(&m.arena);
}

static void read_schedule(const uint8_t *data, size_t n)
{
    Schedule s = { 0 };
    Err err = { 0 };
    Str out = { 0 };
    char *text = fuzz_text(data, n);
    bool ok = schedule_read(text, "KEY", &s, &err);
    fuzz_said(ok, &err);
    if (ok)
        schedule_write(&s, "KEY", &out);
    str_release(&out);
    schedule_release(&s);
    free(text);
}

#define SARIF                                                                                      \
    "{\"version\": \"2.1.0\", \"runs\": [{\"tool\": {\"driver\": {\"name\": \"t\", \"rules\": "    \
    "[{\"id\": \"r0\"}]}}, \"originalUriBaseIds\": {\"SRC\": {\"uri\": \"file:///a%20b/\"}}, "     \
    "\"artifacts\": [{\"location\": {\"uri\": \"c.c\"}}], \"results\": [{\"ruleId\": \"r0\", "     \
    "\"kind\": \"fail\", \"message\": {\"text\": \"m\"}, \"locations\": [{\"physicalLocation\": "  \
    "{\"artifactLocation\": {\"uri\": \"b.c\", \"uriBaseId\": \"SRC\", \"index\": 0}, "            \
    "\"region\": {\"startLine\": 3, \"startColumn\": 4}}}]}, {\"ruleIndex\": 0, \"message\": "     \
    "{\"id\": \"x\"}, \"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"index\": "  \
    "0}, \"region\": {\"startLine\": 5}}}]}]}]}"

const FuzzReader fuzz_files[] = {
    { .name = "settings",
      .read = read_settings,
      .texts = { "# settings\ndepth = 4\n[test]\nfast = yes\ndepth = 12\njobs = 2\n; end\n",
                 "[other]\ndepth=1\n[none]\n[test]\nfast=no\nfast = maybe\n",
                 "fast=no\nfast=false\nfast=off\nfast=0\nfast=yes\nfast=true\nfast=on\nfast=1\n",
                 "help=1\n", "workspace=x\n", "config=x\n", "print-config=1\n",
                 "[test]\nfast=yes\n[test]\nfast=off\n",
                 "\xef\xbb\xbf"
                 "depth = \"5\"\r\n[test\nunknown = 3\n",
                 "depth\n", "= 4\n" } },
    { .name = "baseline",
      .read = read_baseline,
      .texts = { "# sundew baseline 1\n"
                 "0123456789abcdef0123456789abcdef arguments a.c:3 swapped (reason)\n"
                 "fedcba9876543210fedcba9876543210 types b.c:17 \"x\"\n",
                 "0123456789abcdef0123456789abcdef\n", "nonsense\n", "\n\n# x\n",
                 "0123456789abcdef0123456789abcdef a\n0123456789abcdef0123456789abcdef b\n", ".",
                 "x" } },
    { .name = "ignore",
      .read = read_ignore,
      .texts = { "# comment\narguments  third_party/  (not ours)\ntypes/mixed b.c (why)\n"
                 "swapped *.c (x)\n* a.c\n",
                 "int x; // sundew: ignore arguments (the API is mirrored)\n"
                 "f(b, a); /* sundew: ignore swapped, copies (same) */\n// sundew: ignore types\n",
                 "/* sundew: ignore */ // sundew:ignore a/b (c)\n\"sundew: ignore arguments (x)\"\n" } },
    { .name = "compile-commands",
      .read = read_commands,
      .texts = { "[{\"directory\": \"/a\", \"file\": \"b.c\", \"arguments\": [\"cc\", \"-I\", "
                 "\"x y\", \"-c\", \"b.c\"]}, {\"directory\": \"/a\", \"command\": \"cc -DX=\\\"y "
                 "z\\\" -c 'c.c' -o c.o\", \"file\": \"c.c\"}]\n",
                 "[{\"directory\": \"/a\", \"file\": \"/b.c\", \"command\": \"gcc\"}, {}, 3]",
                 "[{\"directory\": 1, \"file\": \"b.c\", \"arguments\": [1]}]", "{}",
                 "[{\"directory\": \"/a\", \"file\": \"b.c\", \"output\": \"b.o\", \"command\": "
                 "\"aarch64-linux-gnu-gcc-12 -c b.c\"}, {\"file\": \"c.c\", \"command\": \"my-fast-gcc "
                 "-std=c99 @x c.c -fvisibility=hidden -weird\"}, {\"file\": \"d.c\", \"command\": "
                 "\"/usr/bin/c99 -c d.c\"}, {\"file\": \"e.cc\", \"command\": \"g++ e.cc\"}]",
                 "[{\"directory\": \"b\", \"file\": \"b.c\", \"arguments\": [\"c89\", \"b.c\"]}, "
                 "{\"file\": \"i.c\", \"command\": \"i686-w64-mingw32-cc -c i.c --param x=1 "
                 "-ffancy\"}]" } },
    { .name = "words",
      .read = read_words,
      .texts = { "-DX=\"y z\" -c 'a b.c' -o c.o\\ d $X `ls` @args -I x -isystem y -Wl,-x -xc++ a.cc",
                 "-O2 -g -m32 -std=c99 -include h -MMD -MF d -x c - -shared -L. -lx a.s b.S c.f\n",
                 "-march=native --param a=b -fno-x -Xclang y -target t -- x.c '\"'\\''\n",
                 "-E -S -M -MM -MP -fsyntax-only -### -v --version -dumpversion -print-x -o- -oa.o -xassembler a "
                 "-x none b.o -l z -Lx -T y -u s -z now -Wp,-DX -Wa,-x -Xlinker q -Xassembler w -Xpreprocessor e\n",
                 "-Dx -D y -Ux -U z -Ix -iquote q -idirafter w -imacros e -include-pch r --sysroot=s --sysroot t "
                 "-B u -specs=v -wrapper w -fplugin=x -fprofile-use=y -flto=2 -save-temps -pipe -r -static -pie\n",
                 "@nowhere @\na \\\nb 'c\nd' \"e\\\"f\" \\'g\\ h ''\"\"\t#i",
                 "-xobjective-c a.m -std=c++11 a.cpp a.i a.ii a.h a.so a.so.1 liba.a a.lo -nostdinc -ansi -c89 "
                 "/dev/stdin /dev/fd/0 -fopenmp -pthread -mcpu=x -arch y -Wall -w -O -O9 -Os -Ofast -g3 -ggdb\n" } },
    { .name = "linkmap",
      .read = read_linkmap,
      .texts = { "Archive member included to satisfy reference by file (symbol)\n\nlibx.a(m.o)\n"
                 "                              a.o (f)\n\nLOAD a.o\nLOAD libx.a\n .text          "
                 "0x0000000000401000       0x10 a.o\n .text 0x1 0x2 libx.a(m.o)\n",
                 "             VMA              LMA     Size Align Out     In      Symbol\n"
                 "          201000           201000       10    16         a.o:(.text)\n"
                 "          201010           201010       10    16         libx.a(m.o):(.text)\n" } },
    { .name = "summaries",
      .read = read_summaries,
      .files = "share/summaries",
      .texts = { "memcpy: ret=0 write(0) copy(0,1)\n" } },
    { .name = "standins",
      .read = read_standins,
      .files = "share/standins",
      .texts = { "strlen standin\n" } },
    { .name = "histograms",
      .read = read_histograms,
      .files = "share/types",
      .texts = { "open/2\tO_RDONLY\t12\t3\nopen/2\t*\t1\t1\nx\ty\t-1\t1\n" } },
    { .name = "learned",
      .read = read_learned,
      .texts = { "from to 12 3\nlen size 4 0\n# x\n", "* * 9 1 9 1 3\nfrom to 12 3 4 5 6\n",
                 "from to 1 2 3 4 5 x\n", "to from 0 0 0 0 1\ndest source 4 5 6 7 8\n\n",
                 "* * 1\n" },
      .files = "share/arguments" },
    { .name = "orders",
      .read = read_orders,
      .texts = { "memset 1 2 3\n" },
      .files = "share/arguments" },
    { .name = "dictionary",
      .read = read_dictionary,
      .texts = { "src source\nbuf buffer\nlen length size\n" } },
    { .name = "warnings",
      .read = read_warnings,
      .texts = { SARIF,
                 "[{\"kind\": \"warning\", \"option\": \"-Wx\", \"message\": \"m\", \"locations\": "
                 "[{\"caret\": {\"file\": \"a.c\", \"line\": 3, \"column\": 2}}]}]\n[]\n",
                 "<?xml version=\"1.0\"?><!DOCTYPE plist><plist><dict><key>files</key><array>"
                 "<string>a&amp;.c</string></array><key>diagnostics</key><array><dict><key>"
                 "check_name</key><string>core.Null</string><key>description</key><string>d"
                 "</string><key>location</key><dict><key>line</key><integer>3</integer><key>col"
                 "</key><integer>4</integer><key>file</key><integer>0</integer></dict><key>path"
                 "</key><array/></dict></array></dict></plist>\n",
                 "<?xml version='1.0'?><results version=\"2\"><!-- x --><errors><error id=\"n\" "
                 "severity=\"error\" msg=\"a &lt; &#65; &#x42;\" verbose='v'><location "
                 "file=\"a.c\" line=\"5\" column=\"1\"/></error></errors></results>\n",
                 "---\nMainSourceFile: 'a.c'\nDiagnostics:\n  - DiagnosticName: bug-x\n    "
                 "DiagnosticMessage:\n      Message: 'm'\n      FilePath: '/etc/hostname'\n      "
                 "FileOffset: 2\n  - DiagnosticName: \"y\"\n    Message: n\n    FilePath: b.c\n...\n",
                 "a.c:3:4: warning: text [-Wfoo,-Werror]\nb.c:5: error: [x] y [clang-a.b]\n"
                 "c.c:1:2: note: n\nIn file included from d.h:1:\ne.c:7:8: style: s [id]\n" } },
    { .name = "constraints",
      .read = read_constraints,
      .texts = { "Subdomain(remove, get)\nSubrange(last, at) # x\nCanFollow(open, read)\n"
                 "CanFollow(has_next: return != 0, next)\nFollows(add, remove)\nConcord(a, b)\n"
                 "OnlyCareAboutVariable(get: key)\nOnlyCareAboutField(get: len, room)\n",
                 "CanFollow(a: return == 0, b)\nCanFollow(a: return < 0, b)\nCanFollow(a: return >= "
                 "0, b)\nCanFollow(a: return != NULL, b)\nCanFollow(a: return == NULL, b)\n" } },
    { .name = "mapping",
      .read = read_mapping,
      .texts = { "fast_open(int, size_t) -> tree_open(2)\n"
                 "fast_open(int, size_t) -> tree_open(2, \"default\") # x\n"
                 "f() -> g(=0, NULL, =-0x12)\n",
                 "f() -> g\n", "f( -> g)\n" } },
    { .name = "accepted",
      .read = read_accepted,
      .texts = { "# candidate  function  kind  reason\n"
                 "store_packed get output an empty text counts as removed\n* * * why\n",
                 "a b crash r\na b removed r\na b deadlock r\n", "a b\n", "a b c d\n",
                 "a b crash\n" } },
    { .name = "grammar",
      .read = read_grammar,
      .texts = { "connect\ndata 4 # x\nend\ntimer\nconnections 2\nopen 1\n",
                 "keys \"qwe\\n\\t\\e#\"\nkey 259\n", "line 16\n",
                 "open 3\nconnect\nconnections 1\n", "line 99\n", "keys q\n" } },
    { .name = "protocol-api", .read = read_api, .files = "share/protocols" },
    { .name = "protocols", .read = read_protocols, .texts = { PROTOCOL }, .make = make_protocols },
    { .name = "protocol-edges",
      .read = read_edges,
      .texts = { "pin FILE: fclose -> fopen\ndelete FILE: fopen -> fclose\n# x\nforbid FILE: fclose "
                 "-> fclose\n",
                 "pin a: b -> c d\n" } },
    { .name = "sequence",
      .read = read_sequence,
      .texts = { "[{\"call\": \"bag_new\", \"args\": []}, {\"call\": \"bag_add\", \"args\": "
                 "[{\"result\": 0}, {\"integer\": \"4\"}]}, {\"call\": \"bag_free\", \"args\": "
                 "[{\"result\": 0}], \"closing\": true}]",
                 "[{\"storage\": \"struct box\"}, {\"call\": \"box_get\", \"args\": [{\"storage\": "
                 "[0, 0]}]}, {\"call\": \"put\", \"args\": [{\"room\": 8}, {\"integer\": \"8\"}, "
                 "{\"string\": \"6162\"}], \"looking\": true}, {\"call\": \"scale\", \"args\": "
                 "[{\"float\": \"0x1p+1\"}, {\"float\": \"2\"}]}]",
                 "[{\"call\": \"bag_open\", \"args\": [{\"room\": 8}]}, {\"call\": \"bag_sum\", "
                 "\"args\": [{\"stored\": [0, 0]}]}, {\"call\": \"total\", \"args\": [{\"bytes\": "
                 "\"0102\"}, {\"integer\": \"2\"}]}, {\"call\": \"each\", \"args\": [{\"integer\": "
                 "\"1\"}, {\"function\": \"bag_sum\"}, null]}]" } },
    { .name = "rules",
      .read = read_rules,
      .texts = { "forbid bag_new\nforbid bag_free after bag_new # x\nrequire bag_new before "
                 "bag_free on bag\nweight bag_new 3.5\n",
                 "weight bag_free 0 on struct bag\nforbid bag_add after bag_free on bag\n",
                 "require bag_sum\n", "weight bag_new x\n", "forbid none\n", "forbid bag_new on\n",
                 "weight bag_new 1 2\nweight bag_new\n", "weight bag_new inf\n",
                 "forbid bag_new on struct bag x\n", "require bag_new on none\n",
                 "forbid box_get after bag_new\nforbid bag_new x x x x x x x\n" },
      .make = make_rules },
    { .name = "schedule",
      .read = read_schedule,
      .texts = { "sundew schedule 1\nbuild KEY\n# x\nhot 3 17\nat 5 run T1\nat 9 run T0\n",
                 "sundew schedule 1\nbuild KEY\nhot\n", "sundew schedule 1\nbuild OTHER\n" } },
    { 0 },
};
