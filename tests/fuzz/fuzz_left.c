/* What programs under test leave: crash files, traces, files of calls, answers of the player, the memory of a
 * scheduled run. */
#include "fuzz.h"
#include "../unit/crash_sample.h"
#include "../unit/sequence_lab.h"
#include "base/file.h"
#include "engine/explore/ktest.h"
#include "engine/play/answer.h"
#include "engine/protocol/protocol.h"
#include "engine/record/crash.h"
#include "engine/record/trace.h"
#include "engine/schedule/schedule_int.h"
#include "runtime/format/callfile.h"
#include "runtime/format/tables.h"
#include "runtime/format/tracefile.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- crash files */

static void make_crashes(Samples_ *out)
{
    Str s = { 0 };
    uint64_t slots0[] = { 0x1000 }, slots1[] = { 0x1000, 5 }, pcs[] = { 0x401000, 0x402000 };
    uint64_t node[2] = { 0x2000, 77 }, before[1] = { 42 }, external[] = { 0x7000 };
    SundewFailure f = { .kind = SUNDEW_FAIL_SIGNAL,
                        .signal = 11,
                        .access = SUNDEW_READ,
                        .address = 8,
                        .pc = 0x401000 };
    const char *maps = "401000-403000 r-xp 00001000 08:01 12   /bin/a b\ngarbage\n";
    SundewFileRecord fr = { .address = 0x9000, .fd = 3, .position = 4 };
    SundewMissing lack = { .code = SUNDEW_LACK_BUDGET, .amount = 100 };
    sample_begin(&s);
    sample_build(&s, "abc", "prog", 0x400000, SUNDEW_COPY_USED);
    sample_failure(&s, f, "said");
    sample_stack(&s, pcs, 2);
    sample_frame(&s, 0, 3, "inner", slots0, 1);
    sample_frame(&s, 1, 4, "outer", slots1, 2);
    sample_copy(&s, 0, 0x1008, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
    sample_copy(&s, 1, 0x1008, before, 4);
    sample_memory(&s, 0x1000, 16, SUNDEW_HEAP, 9, node, 16);
    sample_memory(&s, 0x2000, 6, SUNDEW_HEAP, 0, "hello", 6);
    sample_memory(&s, 0x3000, 64, SUNDEW_FREED, 0, "gone", 4);
    sample_record(&s, SUNDEW_REC_EXTERNAL, external, 8, "puts", 4);
    sample_record(&s, SUNDEW_REC_MAPS, maps, strlen(maps), NULL, 0);
    sample_record(&s, SUNDEW_REC_FILE, &fr, sizeof fr, "text", 4);
    sample_record(&s, SUNDEW_REC_FILE_NAME, &fr.address, 8, "in/a", 4);
    sample_record(&s, SUNDEW_REC_MISSING, &lack, sizeof lack, "big", 3);
    sample_record(&s, 999, "later", 5, NULL, 0);
    sample_end(&s);
    vec_push(out, s);
}

static void ask_memory(const Crash *c)
{
    uint8_t bytes[64];
    bool known[64];
    size_t n;
    for (size_t i = 0; i < crash_nobjects(c); i++) {
        const CrashObject *o = crash_object(c, i);
        crash_object_at(c, o->address);
        for (size_t f = 0; f <= crash_nframes(c) && f < 20; f++)
            crash_read(c, f, o->address + o->size / 2, bytes, 64, known);
        crash_was_copied(c, 1, o->address);
    }
    crash_read(c, 0, UINT64_MAX - 10, bytes, 64, known);
    for (size_t f = 0; f <= crash_nframes(c) && f < 20; f++)
        crash_bytes(c, f, &n);
}

static void read_crash(const uint8_t *data, size_t n)
{
    Err err = { 0 };
    Crash *c = crash_open(fuzz_file("x.crash", data, n), &err);
    size_t k;
    uint64_t offset;
    fuzz_said(c, &err);
    if (!c)
        return;
    ask_memory(c);
    crash_stack(c, &k);
    crash_lacks(c, &k);
    crash_files(c, &k);
    crash_file_at(c, 0x9000);
    crash_external(c, 0x7000);
    crash_mapped(c, 0x401010, &offset);
    crash_mapped(c, UINT64_MAX, &offset);
    free(crash_executable_of(c, "/w"));
    for (size_t f = 0; f < crash_nframes(c); f++)
        k += strlen(crash_frame(c, f)->symbol);
    crash_close(c);
}

/* ---- traces: a length, symbols, then one stream */

static const char traced[] =
    "struct list { int len; const char *name; struct list *next; };\n"
    "enum color { RED, GREEN };\n"
    "int var[4];\n"
    "int add(struct list *l, enum color c) { return l->len += c; }\n"
    "double half(double x) { return x / 2; }\n"
    "int say(const char *f, ...) { return f[0]; }\n"
    "void each(int (*f)(struct list *, enum color)) { f(0, RED); }\n"
    "struct wide { _Bool b; char c[8]; float f; long double l; int bits : 3; };\n"
    "struct wide turn(struct wide w, _Bool b, char c, float f) { return w; }\n"
    "unsigned long sum(struct wide *w, double *d, void *p, char s[]) { return 1; }\n"
    "struct none { };\n"
    "struct two { long a; double b; };\n"
    "union any { int i; float f; char c[12]; };\n"
    "typedef float four __attribute__((vector_size(16)));\n"
    "struct many { int a[9], b[2][2], c, d, e, f, g, h, i, j, k, l, m; union any u; unsigned : 3; };\n"
    "struct deep { struct { struct { struct { int x; } d; } c; } b; struct { int y; }; struct deep *n; };\n"
    "struct two split(struct none n, struct two t, union any *u) { return t; }\n"
    "void all(struct many *m, four *v, _Complex double *z, __int128 *w, struct deep *d) { }\n"
    "struct many big(struct many m, unsigned char u, unsigned n) { return m; }\n"
    "int (*choose(struct none *n, long double x, __int128 w))(void) { return 0; }\n"
    "void old(a, f) int a; float f; { }\n"
    "int *where(int *p) { return p; }\n";

static const Program *traced_program(void)
{
    static Compiled c;
    if (!c.program)
        c = compiled(traced);
    return c.program;
}

static void varint(Str *s, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        str_addc(s, (char)(v | 128));
    str_addc(s, (char)v);
}

static void event(Str *s, unsigned tag, const uint64_t *numbers, size_t n, const char *bytes,
                  size_t nbytes)
{
    Str body = { 0 };
    for (size_t i = 0; i < n; i++)
        varint(&body, numbers[i]);
    if (nbytes)
        str_addn(&body, bytes, nbytes);
    str_addc(s, (char)tag);
    varint(s, body.len);
    str_addn(s, str_c(&body), body.len);
    str_release(&body);
}

static void stream_begin(Str *s, const Program *p)
{
    char *text = xprintf("%s\nsubject", program_key(p));
    SundewStreamHeader h = {
        .version = SUNDEW_STREAM_VERSION, .pid = 10, .parent = 1, .textlen = (uint32_t)strlen(text)
    };
    h.bytes = (uint32_t)((sizeof h + h.textlen + 7) / 8 * 8);
    memcpy(h.magic, SUNDEW_STREAM_MAGIC, sizeof h.magic);
    size_t end = s->len + h.bytes;
    str_addn(s, (char *)&h, sizeof h);
    str_add(s, text);
    while (s->len < end)
        str_addc(s, 0);
    free(text);
}

/* Memory at three places: what was allocated, a variable, and nobody's. */
static void memory(Str *s, size_t bytes)
{
    static const uint64_t steps[] = { 2 * 0x1000, 2 * (0x5000 - 0x1000), 2 * (0x9000 - 0x5000) };
    varint(s, 3);
    for (size_t i = 0; i < 3; i++) {
        varint(s, steps[i]);
        varint(s, bytes);
        varint(s, i);
        varint(s, bytes);
        for (size_t k = 0; k < bytes; k++)
            str_addc(s, (char)(i == 2 ? (int)(97 + k % 26) : k % 8 ? 0x90 * (k % 8 == 1) : (int)k));
    }
}

/* A call of each function with numbers and memory of this kind, and its return. */
static void call_all(Str *s, const Program *p, uint64_t slot, size_t nslots, size_t bytes)
{
    size_t n;
    const Function *const *all = program_functions(p, &n);
    for (size_t i = 0; i < n; i++)
        for (unsigned tag = SUNDEW_TRACE_CALL; tag <= SUNDEW_TRACE_RETURN; tag++) {
            Str body = { 0 };
            bool call = tag == SUNDEW_TRACE_CALL;
            varint(&body, 1);
            varint(&body, call ? all[i]->index + 1 : 1);
            varint(&body, 0);
            varint(&body, nslots);
            for (size_t k = 0; k < nslots; k++)
                varint(&body, slot + (slot && k % 3 ? 8 : 0));
            memory(&body, bytes);
            str_addc(s, (char)tag);
            varint(s, body.len);
            str_addn(s, body.data, body.len);
            str_release(&body);
        }
}

/* All functions, their numbers in all ways; then texts and ends of all kinds. */
static void make_all_calls(Samples_ *out, size_t odd)
{
    static const struct {
        uint64_t slot;
        size_t nslots, bytes;
    } ways[] = { { 0x9000, 12, 300 }, { 0x1000, 12, 300 }, { 0x5000, 2, 300 },
                 { 0, 1, 4 },         { 0x6000, 12, 40 },  { 0xffffffffffff, 12, 0 } };
    const Program *p = traced_program();
    SundewSymbol symbols[] = { { .variable = 1, .address = 0x5000, .size = 16 },
                               { .function = 1, .address = 0x6000, .size = 32 },
                               { .variable = 1, .address = 0x7000, .size = UINT64_MAX } };
    uint16_t n = sizeof symbols;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        Str s = { 0 };
        str_addn(&s, (char *)&n, 2);
        str_addn(&s, (char *)symbols, sizeof symbols);
        stream_begin(&s, p);
        event(&s, SUNDEW_TRACE_ALLOC, (uint64_t[]){ 1, 0x1000, 24 }, 3, NULL, 0);
        event(&s, SUNDEW_TRACE_ALLOC, (uint64_t[]){ 1, 0x1000, 400 }, 3, NULL, 0);
        call_all(&s, p, ways[i].slot, ways[i].nslots, ways[i].bytes);
        event(&s, SUNDEW_TRACE_CALL,
              (uint64_t[]){ 1, 1, SUNDEW_CALL_REST, 0, 4, 'l', 7, 's', 0, 's', 0x1000, 'p', 0x1004,
                            1, 0x2000, 70, 0, 70 },
              18, "a text of more than forty-eight bytes, which is cut when it is printed", 70);
        event(&s, SUNDEW_TRACE_FREE, (uint64_t[]){ 1, 0x5000 }, 2, NULL, 0);
        event(&s, SUNDEW_TRACE_FREE, (uint64_t[]){ 1, 0x1008 }, 2, NULL, 0);
        event(&s, SUNDEW_TRACE_END, (uint64_t[]){ 1, i, 7 }, 3, NULL, 0);
        for (size_t k = 0; k < odd; k++)
            str_addc(&s, 0);
        vec_push(out, s);
    }
}

/* Headers that are wrong in one place. */
static void make_bad_streams(Samples_ *out)
{
    for (int i = 0; i < 5; i++) {
        Str s = { 0 };
        uint16_t none = 0;
        SundewStreamHeader h;
        str_addn(&s, (char *)&none, 2);
        stream_begin(&s, traced_program());
        memcpy(&h, s.data + 2, sizeof h);
        h.version += i == 0;
        h.bytes += i == 1 ? 999 : 0;
        h.thread = i == 2 ? UINT32_MAX : 0;
        h.textlen = i == 3 ? 3 : h.textlen;
        h.magic[1] ^= i == 4;
        memcpy(s.data + 2, &h, sizeof h);
        vec_push(out, s);
    }
    fuzz_sample(out, "\0\0", 2);
    fuzz_sample(out, "\0\0S", 3);
}

static void make_traces(Samples_ *out)
{
    for (size_t odd = 0; odd < 3; odd++)
        make_all_calls(out, odd);
    make_bad_streams(out);
    const Program *p = traced_program();
    Str s = { 0 };
    const Type *list = types_find(program_types(p), "struct list", 0);
    uint64_t add = program_function(p, "add")->index + 1,
             say = program_function(p, "say")->index + 1;
    uint64_t half = program_function(p, "half")->index + 1;
    uint64_t each = program_function(p, "each")->index + 1;
    SundewSymbol symbols[] = { { .variable = 1, .address = 0x5000, .size = 16 },
                               { .function = (uint32_t)add, .address = 0x6000, .size = 32 } };
    uint16_t n = sizeof symbols;
    str_addn(&s, (char *)&n, 2);
    str_addn(&s, (char *)symbols, sizeof symbols);
    stream_begin(&s, p);
    event(&s, SUNDEW_TRACE_ALLOC, (uint64_t[]){ 1, 0x1000, 24 }, 3, NULL, 0);
    struct {
        int len, pad;
        uint64_t name, next;
    } l = { 3, 0, 0x5000, 0 };
    event(&s, SUNDEW_TRACE_CALL,
          (uint64_t[]){ 1, add, 0, 2, 0x1000, 1, 1, 0x2000, 24, list->index + 1, 24 }, 11,
          (char *)&l, 24);
    event(&s, SUNDEW_TRACE_RETURN, (uint64_t[]){ 1, 1, 2, 1, 4, 0 }, 6, NULL, 0);
    event(&s, SUNDEW_TRACE_CALL,
          (uint64_t[]){ 1, say, SUNDEW_CALL_REST | SUNDEW_CALL_CUT, 1, 0x1000, 4, 'i', 7, 's',
                        0x5000, 'd', 0x4000000000000000, 'p', 0x6000, 0 },
          15, NULL, 0);
    event(&s, SUNDEW_TRACE_CALL, (uint64_t[]){ 1, half, 0, 1, 0x4000000000000000, 0 }, 6, NULL, 0);
    event(&s, SUNDEW_TRACE_RETURN, (uint64_t[]){ 1, 1, 0, 1, 0x3ff0000000000000, 0 }, 6, NULL, 0);
    event(&s, SUNDEW_TRACE_CALL, (uint64_t[]){ 1, each, 0, 1, 0x6000, 0 }, 6, NULL, 0);
    event(&s, SUNDEW_TRACE_FREE, (uint64_t[]){ 1, 0x1000 }, 2, NULL, 0);
    const Type *wide = types_find(program_types(p), "struct wide", 0);
    const Type *chars = types_find(program_types(p), "char", 0);
    uint64_t turn = program_function(p, "turn")->index + 1,
             sum = program_function(p, "sum")->index + 1;
    char bytes[80] = "\1text\0";
    event(&s, SUNDEW_TRACE_CALL,
          (uint64_t[]){ 1, turn, 0, 5, 0x9000, 0x9100, 1, 'c', 0x3f800000, 1, 0x12000, wide->size,
                        wide->index + 1, wide->size },
          14, bytes, wide->size);
    event(&s, SUNDEW_TRACE_RETURN,
          (uint64_t[]){ 1, 1, 0, 1, 0x9000, 1, 0x12000, wide->size, wide->index + 1, wide->size },
          10, bytes, wide->size);
    event(&s, SUNDEW_TRACE_CALL,
          (uint64_t[]){ 1, sum, 0, 4, 0x9000, 0x5008, 0x6000, 0x9100, 1, 0x12200, 8,
                        chars->index + 1, 8 },
          13, "some te", 8);
    event(&s, SUNDEW_TRACE_RETURN, (uint64_t[]){ 1, 1, 22, 1, UINT64_MAX, 0 }, 6, NULL, 0);
    event(&s, SUNDEW_TRACE_END, (uint64_t[]){ 1, SUNDEW_END_EXIT, 7 }, 3, NULL, 0);
    vec_push(out, s);
}

static void read_trace(const uint8_t *data, size_t n)
{
    Err err = { 0 };
    const Program *p = traced_program();
    uint16_t symbols = 0;
    if (n >= 2)
        memcpy(&symbols, data, 2);
    size_t from = n >= 2u + symbols ? 2u + symbols : n;
    static char *dir, *stream, *table;
    if (!dir) {
        dir = path_join(fuzz_folder(), "trace");
        mkdir(dir, 0700);
        stream = xstrdup("trace/10.0.stream");
        table = xprintf("trace/%s.symbols", program_key(p));
    }
    fuzz_file(table, n >= 2 ? data + 2 : data, from >= 2 ? from - 2 : 0);
    uint8_t *copy = xmalloc(n - from + 1);
    memcpy(copy, data + from, n - from);
    if (n % 7 && n - from > sizeof(SundewStreamHeader) + strlen(program_key(p)) && copy[0] == 'S')
        memcpy(copy + sizeof(SundewStreamHeader), program_key(p), strlen(program_key(p)));
    fuzz_file(stream, copy, n - from);
    if (n % 2) { /* another thread, of the same or of another process */
        if (n - from > sizeof(SundewStreamHeader) && n % 3)
            copy[offsetof(SundewStreamHeader, pid)]++;
        fuzz_file("trace/10.1.stream", copy, n - from);
    } else {
        fuzz_file("trace/10.1.stream", copy, 0);
    }
    free(copy);
    Trace *t = trace_open(dir, p, &err);
    fuzz_said(t, &err);
    Str text = { 0 };
    for (const Event *e; t && (e = trace_next(t)) && text.len < 1 << 16;) {
        trace_check(t);
        event_print(e, &text);
        trace_object_at(t, e, 0x1008);
    }
    str_release(&text);
    if (t)
        trace_cut_short(t);
    trace_close(t);
}

/* ---- files of calls: a length, the file, then its maps */

enum { SITES = 120 };
static uint32_t callees[SITES];

static ProtoApi *calls_api(void)
{
    static ProtoApi *api;
    static const char *const tables[] = { "stdio", "fd", "state", "pthread", "zlib" };
    Err err = { 0 };
    if (api)
        return api;
    api = proto_api_new();
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char *name = xprintf("share/protocols/%s.txt", tables[i]), *path = in_tree(name);
        if (!proto_api_read(api, path, &err))
            abort();
        free(path);
        free(name);
    }
    for (unsigned i = 0; i < SITES; i++)
        callees[i] = i % (unsigned)api->functions.len;
    return api;
}

union CallsHead {
    SundewCallsHeader h;
    char page[SUNDEW_CALLS_HEADER];
};

static void make_calls(Samples_ *out)
{
    Str s = { 0 };
    union CallsHead head = { .h = { .version = SUNDEW_CALLS_VERSION,
                                    .record = sizeof(SundewCallRecord),
                                    .capacity = 8,
                                    .count = 4,
                                    .how = SUNDEW_CALLS_SIGNAL,
                                    .signal = 11,
                                    .nframes = 2,
                                    .frames = { 0x401010, 0x7f0000001000 },
                                    .said = "heap-use-after-free" } };
    SundewCallRecord all[4] = {
        { .site = 0,
          .state = SUNDEW_CALL_RETURNED,
          .in = { 0x10 },
          .result = 0x20,
          .out = { 0x30 } },
        { .site = 1, .state = SUNDEW_CALL_RETURNED, .in = { 0x20, 0x30 }, .error = 2 },
        { .site = 1, .state = SUNDEW_CALL_LEFT },
        { .site = 3, .state = SUNDEW_CALL_BEGUN, .in = { 0x20 } },
    };
    memcpy(head.h.magic, SUNDEW_CALLS_MAGIC, sizeof head.h.magic);
    Str many = { 0 };
    union CallsHead all_sites = head;
    memcpy(all_sites.h.magic, SUNDEW_CALLS_MAGIC, sizeof head.h.magic);
    all_sites.h.capacity = all_sites.h.count = 2 * SITES;
    all_sites.h.how = SUNDEW_CALLS_EXIT;
    uint16_t more = sizeof head + 2 * SITES * sizeof(SundewCallRecord);
    str_addn(&many, (char *)&more, 2);
    str_addn(&many, all_sites.page, sizeof all_sites);
    for (unsigned i = 0; i < 2 * SITES; i++) {
        SundewCallRecord r = { .site = i % SITES,
                               .state = SUNDEW_CALL_RETURNED,
                               .in = { i % 3, 0x20, i % 5 ? 0x20 : 0 },
                               .result = i % 4   ? 0x20
                                         : i % 8 ? 0
                                                 : UINT64_MAX,
                               .out = { 0x20, i % 2 },
                               .error = i % 7 ? 0 : 9 };
        str_addn(&many, (char *)&r, sizeof r);
    }
    vec_push(out, many);
    uint16_t n = sizeof head + sizeof all;
    str_addn(&s, (char *)&n, 2);
    str_addn(&s, head.page, sizeof head);
    str_addn(&s, (char *)all, sizeof all);
    str_add(&s, "400000-402000 r-xp 00000000 08:01 12   /bin/true\n"
                "7f0000000000-7f0000002000 r-xp 00001000 08:01 12   /bin/sh\n");
    vec_push(out, s);
}

static void read_calls(const uint8_t *data, size_t n)
{
    ProtoApi *api = calls_api();
    static char *dir;
    Err err = { 0 };
    if (!dir) {
        dir = path_join(fuzz_folder(), "calls");
        mkdir(dir, 0700);
    }
    uint16_t size = 0;
    if (n >= 2)
        memcpy(&size, data, 2);
    size_t from = n >= 2u + size ? 2u + size : n;
    fuzz_file("calls/1.calls", n >= 2 ? data + 2 : data, from >= 2 ? from - 2 : 0);
    fuzz_file("calls/1.maps", data + from, n - from);
    ProtoReading how = { .api = api,
                         .callee = callees,
                         .nsites = SITES,
                         .nleft = 3,
                         .original = "/bin/true",
                         .woven = "/bin/sh" };
    ProtoRuns runs = { 0 };
    bool ok = proto_runs_read(&how, dir, &runs, &err);
    fuzz_said(ok, &err);
    for (size_t i = 0; i < runs.len; i++) {
        const ProtoRun *r = runs.items[i];
        proto_run_fatal(r);
        for (size_t k = 0; k < r->calls.len; k++)
            proto_misuse(api, &r->calls.items[k]);
    }
    proto_runs_release(&runs);
}

/* ---- answers of the player: its head, then observations */

enum { ANSWER_HEAD = 32, ANSWER_FRESH = 16 };

/* The answer's begin: fresh points, and how many bytes of observations follow. */
static Str answer_begin(uint32_t state, int32_t status)
{
    Str s = { 0 };
    uint32_t head[8] = { state, (uint32_t)status, 3, 3, 0, 0, 0, 0 }, fresh[4] = { 1, 7, 39, 41 };
    str_addn(&s, (char *)head, sizeof head);
    str_addn(&s, (char *)fresh, sizeof fresh);
    return s;
}

static void observed(Str *s, uint32_t step, int32_t place, uint32_t kind, uint32_t n, uint8_t fill)
{
    uint32_t row[4] = { step, (uint32_t)place, kind, n };
    str_addn(s, (char *)row, sizeof row);
    for (uint32_t i = 0; i < ((n + 3) & ~3u); i++)
        str_addc(s, (char)(i * fill));
}

static void answer_end(Str *s, Samples_ *out)
{
    uint32_t n = (uint32_t)s->len - ANSWER_HEAD - ANSWER_FRESH;
    memcpy(s->data + offsetof(struct WireAnswer, nobs), &n, 4);
    vec_push(out, *s);
}

/* Every kind of observation of every step, in short and in long. */
static void make_answers(Samples_ *out)
{
    static const uint32_t lengths[] = { 8, 4, 0, 24, 160, 700 };
    static const int32_t places[] = { API_RETURNED,
                                      0,
                                      1,
                                      5,
                                      OBSERVED_ERRNO,
                                      OBS_PLACE_CALLBACKS,
                                      70,
                                      OBS_PLACE_BEHIND + 5,
                                      OBS_PLACE_BEHIND + 99 };
    enum { STEPS = 8 };
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (uint32_t step = 0; step < STEPS; step++) {
            Str s = answer_begin(step, step % 2 ? 0x0300 : 11);
            for (size_t p = 0; p < sizeof places / sizeof *places; p++)
                for (uint32_t kind = 0; kind <= OBS_FIELDS; kind++)
                    observed(&s, step, places[p], kind, lengths[l], (uint8_t)(step + kind));
            if (l == 0)
                observed(&s, 0, 0, OBS_FIELDS + 1, 4, 0);
            answer_end(&s, out);
        }
}

/* A library whose structs have members of all kinds. */
static const char jars[] =
    "#include <stdlib.h>\n"
    "enum color { RED, GREEN = 5 };\n"
    "struct jar { int n; enum color c; unsigned few : 3; void *p; double d; long double wide; int v[2];\n"
    "    struct { int in; }; };\n"
    "union either { int a; float b; };\n"
    "struct pair { enum color c; short s; void *p; unsigned b : 2; char far[300]; long last; };\n"
    "struct jar *jar_new(void) { struct jar *j = malloc(sizeof *j); j->n = 0; return j; }\n"
    "int jar_add(struct jar *j, int v) { j->n += v; return j->n; }\n"
    "void jar_free(struct jar *j) { free(j); }\n"
    "union either *either_new(void) { return malloc(sizeof(union either)); }\n"
    "int either_get(union either *e) { return e->a++; }\n"
    "struct pair turn(struct pair p, int by) { p.s += by; return p; }\n"
    "void split(int v, int *half, int *rest) { *half = v / 2; *rest = v % 2; }\n";

static Lab jar_lab(void)
{
    Lab l = { .compiled = compiled(jars) };
    Err err = { 0 };
    char *share = in_tree("share");
    l.calls =
        calls_open(l.compiled.program, &(CallsPlan){ .share = share, .open_world = true }, &err);
    l.api = l.calls ? api_open(l.compiled.program, &(ApiPlan){ .calls = l.calls }, &err) : NULL;
    if (!l.api)
        abort();
    free(share);
    return l;
}

static const Seq *answered(void)
{
    static Lab l;
    static Arena a;
    static Seq *s;
    if (s)
        return s;
    l = jar_lab();
    s = seq_new(&a);
    seq_call(&a, s, fn(&l, "jar_new"));
    SeqStep *add = seq_call(&a, s, fn(&l, "jar_add"));
    add->args[0] = value_result(0);
    add->args[1] = value_integer(4);
    seq_storage(&a, s, &l.api->types[0]);
    SeqStep *split = seq_call(&a, s, fn(&l, "split"));
    split->args[0] = value_integer(7);
    split->args[1] = split->args[2] = value_room(4);
    const Type *jar = type_plain(l.api->types[0].type);
    seq_call(&a, s, fn(&l, "either_new"));
    seq_set(&a, s, value_storage(2, 0), &jar->fields[0], value_integer(3));
    seq_call(&a, s, fn(&l, "turn"))->args[1] = value_integer(1);
    seq_call(&a, s, fn(&l, "either_get"))->args[0] = value_result(4);
    return s;
}

static void read_answer(const uint8_t *data, size_t n)
{
    enum { POINTS = 40, HEAD = ANSWER_HEAD, FRESH = ANSWER_FRESH };
    static struct WireAnswer w;
    const Seq *s = answered();
    Arena a = { 0 };
    Outcome out;
    Str text = { 0 };
    memset(&w, 0, sizeof w);
    memcpy(&w, data, n < HEAD + FRESH ? n : HEAD + FRESH);
    if (n > HEAD + FRESH)
        memcpy(w.obs, data + HEAD + FRESH,
               n - HEAD - FRESH < sizeof w.obs ? n - HEAD - FRESH : sizeof w.obs);
    answer_read(&a, s, POINTS, &w, &out);
    if (out.at > s->n)
        abort();
    for (size_t i = 0; i < out.nfresh; i++)
        if (out.fresh[i] >= POINTS)
            abort();
    for (size_t i = 0; i < out.nobs; i++) {
        if (out.obs[i].step >= s->n)
            abort();
        observation_print(&out.obs[i], &text);
    }
    str_release(&text);
    arena_release(&a);
}

/* ---- inputs of others */

static void read_ktest(const uint8_t *data, size_t n)
{
    Str out = { 0 };
    ktest_read((const char *)data, n, &out);
    str_release(&out);
}

static void make_ktests(Samples_ *out)
{
    Str s = { 0 };
    ktest_write("prog", "input", "some bytes", 10, &s);
    vec_push(out, s);
    static const char two[] =
        "KTEST\0\0\0\2\0\0\0\1\0\0\0\1a\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1n\0\0\0\1b";
    fuzz_sample(out, two, sizeof two - 1);
}

/* ---- what a scheduled run left: its head and the beginning of its steps */

static void make_schedules(Samples_ *out)
{
    static struct sundew_schedule p;
    memset(&p, 0, sizeof p);
    p.ended = SUNDEW_SCHEDULE_DEADLOCK;
    p.nthreads = 3;
    p.nsteps = 2;
    p.npoints = 9;
    p.most_points = 100;
    p.nraces = 1;
    p.steps[0] = (struct sundew_step){ .thread = 1, .chosen = 2, .kind = SUNDEW_AT_LOCK };
    p.steps[1] = (struct sundew_step){ .thread = 2, .kind = SUNDEW_AT_WRITE, .site = 5 };
    p.races[0].first.nheld = 200;
    fuzz_sample(out, &p, offsetof(struct sundew_schedule, steps) + 4 * sizeof *p.steps);
}

static void read_scheduled(const uint8_t *data, size_t n)
{
    static struct sundew_schedule p;
    ScheduleRun run = { 0 };
    memset(&p, 0, sizeof p);
    memcpy(&p, data, n < sizeof p ? n : sizeof p);
    schedule_take(&p, 10, &run);
    if (run.ended >= SUNDEW_SCHEDULE_ENDS || run.nthreads > SUNDEW_SCHEDULE_THREADS)
        abort();
    for (size_t i = 0; i < run.steps.len; i++) {
        uint32_t site = run.steps.items[i].site;
        if (run.steps.items[i].thread >= run.nthreads ||
            (site > 10 && site != (uint32_t)SUNDEW_SCHEDULE_NOWHERE))
            abort();
    }
    for (size_t i = 0; i < run.waits.len; i++)
        schedule_kind_name(run.waits.items[i].kind);
    schedule_run_release(&run);
}

const FuzzReader fuzz_left[] = {
    { .name = "crash", .read = read_crash, .make = make_crashes },
    { .name = "scheduled", .read = read_scheduled, .make = make_schedules },
    { .name = "trace", .read = read_trace, .make = make_traces },
    { .name = "calls", .read = read_calls, .make = make_calls },
    { .name = "answer", .read = read_answer, .make = make_answers },
    { .name = "ktest", .read = read_ktest, .make = make_ktests },
    { 0 },
};
