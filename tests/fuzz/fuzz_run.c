/* What the worker says of a run, and what the program said itself. */
#include "fuzz.h"
#include "../unit/compile.h"
#include "run/run_int.h"
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the worker's messages: whole, and the body of one that is believed */

/* Each way with the first samples, and answers that are wrong in one place. */
static void make_ways(Samples_ *out)
{
    size_t n = out->len;
    Str body = out->items[n - 1];
    for (const char *way = "bf"; *way; way++)
        for (size_t odd = 0; odd < 2; odd++) {
            Str s = { 0 };
            str_addc(&s, *way);
            str_addn(&s, body.data, body.len - odd);
            vec_push(out, s);
        }
    for (size_t i = 0; i + 1 < n; i++) {
        Str s = { 0 };
        str_addn(&s, out->items[i].data, out->items[i].len);
        s.data[0] = 's';
        vec_push(out, s);
        fuzz_sample(out, out->items[i].data, out->items[i].len / 2);
    }
    fuzz_sample(out, "e", 1);
    fuzz_sample(out, "w", 1);
    DoneWire d = { .stop = FAILURE_STOP_PROCESSES + 1, .nframes = 0 };
    fuzz_sample(out, &d, sizeof d);
    d = (DoneWire){ .access = FAILURE_ACCESS_EXEC + 1, .nframes = 0 };
    fuzz_sample(out, &d, sizeof d);
    d = (DoneWire){ .nframes = UINT32_MAX };
    fuzz_sample(out, &d, sizeof d);
}

static void make_messages(Samples_ *out)
{
    Str body = { 0 };
    DoneWire d = { .wait_status = 11, .has_info = 1, .nframes = 2, .traced = 1 };
    wire_add(&body, &d, sizeof d);
    for (unsigned i = 0; i < 2; i++) {
        wire_add_text(&body, "function");
        wire_add_text(&body, i ? "" : "/module");
        wire_add(&body, &d.address, sizeof d.address);
    }
    wire_add_text(&body, "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0");
    int pair[2];
    char bytes[4096] = "w";
    Wire w = { .secret = { 1, 2 } };
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        abort();
    w.fd = pair[0];
    wire_send(&w, WIRE_DONE, &body, NULL, 0);
    ssize_t n = recv(pair[1], bytes + 1, sizeof bytes - 1, 0);
    fuzz_sample(out, bytes, (size_t)n + 1);
    wire_send(&w, WIRE_FAILED, NULL, pair, 2);
    n = recv(pair[1], bytes + 1, sizeof bytes - 1, 0);
    fuzz_sample(out, bytes, (size_t)n + 1);
    close(pair[0]);
    close(pair[1]);
    vec_push(out, body);
    make_ways(out);
}

/* How an input comes: as bytes of the other end, as the body of a message that is believed, with
 * descriptors, to an end that has no secret yet, or not at all. */
typedef enum Coming { AS_BYTES, AS_BODY, WITH_FDS, AT_FIRST, NEVER } Coming;

static void send_input(const uint8_t *data, size_t n, Coming how, Wire *w, int fd)
{
    Str in = { 0 };
    int fds[] = { 0, 1 };
    if (n)
        str_addn(&in, (const char *)data, n);
    if (how == AS_BYTES || how == AT_FIRST)
        (void)!send(fd, str_c(&in), n, MSG_NOSIGNAL | MSG_DONTWAIT);
    else if (how != NEVER)
        wire_send(w, WIRE_DONE, &in, fds, how == WITH_FDS ? 2 : 0);
    str_release(&in);
}

static void receive(const uint8_t *data, size_t n, Coming how)
{
    int pair[2], fds[WIRE_MOST_FDS];
    size_t nfds;
    WireKind kind;
    Wire w[2] = { { .secret = { 1, 2 } }, { .secret = { 1, 2 } } };
    Str body = { 0 };
    if (socketpair(AF_UNIX, SOCK_STREAM | (how == NEVER ? SOCK_NONBLOCK : 0), 0, pair) != 0)
        abort();
    w[0].fd = pair[0];
    w[1].fd = pair[1];
    if (how == AT_FIRST)
        w[1].secret[0] = w[1].secret[1] = 0;
    if (how == WITH_FDS)
        w[1].received = n % 2;         /* not the next one: its descriptors are closed */
    send_input(data, n, how, &w[0], pair[0]);
    if (how != NEVER)
        shutdown(pair[0], SHUT_WR);
    Err err = { 0 };
    RunResult r = { 0 };
    if (wire_receive(&w[1], &kind, &body, fds, &nfds)) {
        for (size_t i = 0; i < nfds; i++)
            close(fds[i]);
        fuzz_said(run_take_done(&body, &r, &err), &err);
        Str text = { 0 };
        failure_describe(&r.failure, &text);
        str_release(&text);
    }
    run_result_release(&r);
    str_release(&body);
    close(pair[0]);
    close(pair[1]);
}

static void read_message(const uint8_t *data, size_t n)
{
    static const char ways[] = "wbfse";
    const char *way = n && data[0] ? strchr(ways, data[0]) : NULL;
    if (n > 32 << 10)
        return;
    if (way)
        receive(data + 1, n - 1, (Coming)(way - ways));
    else
        receive(data, n, AS_BODY);
}

/* ---- what it said when it died: two bytes of status, then standard error */

static void read_said(const uint8_t *data, size_t n)
{
    Failure f = { 0 }, g = { 0 };
    Facts facts = { .wait_status = n ? data[0] << 8 : 0,
                    .stop = n > 1 ? (FailureStop)(data[1] % 8) : 0,
                    .has_signal_info = n > 1 && data[1] & 16,
                    .code = n > 1 ? data[1] >> 5 : 0,
                    .err = n > 2 ? (const char *)data + 2 : "",
                    .err_len = n > 2 ? n - 2 : 0 };
    if (n && data[0] & 64)
        facts.wait_status = data[0] % 32;
    failure_read(&f, &facts);
    failure_copy(&g, &f);
    for (int level = FAILURE_SAME_KIND; level <= FAILURE_SAME_STACK; level++)
        if (!failure_same(&f, &g, (FailureLevel)level))
            abort();
    Str text = { 0 };
    failure_describe(&f, &text);
    failure_title(&f, &text);
    failure_dump(&f, &text);
    failure_site(&f);
    str_release(&text);
    failure_release(&f);
    failure_release(&g);
}

static void read_instruction(const uint8_t *data, size_t n) { decode_access(data, n); }

static void make_instructions(Samples_ *out)
{
    static const char *const codes[] = {
        "\x8b\x07",     "\x89\x07",         "\x48\x8b\x04\x25\0\0\0\0", "\xf3\x48\xab",
        "\x0f\xb6\x00", "\xc5\xf8\x11\x00", "\x66\x0f\x6f\x00",         "\xf0\x0f\xb1\x0a"
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        fuzz_sample(out, codes[i], 10 < strlen(codes[i]) ? 10 : strlen(codes[i]) + 1);
}

/* ---- programs that a stack names */

static void read_program(const uint8_t *data, size_t n)
{
    Arena a = { 0 };
    const char *function, *path = fuzz_file("program", data, n);
    static const uint64_t offsets[] = { 0, 0x40, 0x1000, UINT64_MAX };
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        elf_locate(&a, path, offsets[i], &function);
    elf_has_sanitizer(path);
    if (n < 4)
        elf_locate(&a, n % 2 ? fuzz_folder() : "nowhere", 0, &function);
    arena_release(&a);
}

/* A small ELF file with a symbol. */
static void make_programs(Samples_ *out)
{
    Compiled c = compiled_begin();
    compiled_file(&c, "a.c", "int f(int x) { return x + 1; }\nint main(void) { return f(1); }\n");
    char *source = path_join(c.dir, "a.c"), *program = path_join(c.dir, "a");
    static const char *const ways[][2] = { { "-c", "-g0" },
                                           { "-nostartfiles", "-g0" },
                                           { "-shared", "-s" },
                                           { "-c", "-m32" },
                                           { "-c", "-fsanitize=address" } };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *argv[] = { "clang-19", "-w", (char *)ways[i][0], (char *)ways[i][1], source, "-o",
                         program,    NULL };
        ProcResult r = { 0 };
        Err err = { 0 };
        Str s = { 0 };
        if (proc_run(&(Proc){ .argv = argv, .capture = true, .seconds = 60 }, &r, &err) &&
            file_read(program, &s, &err))
            vec_push(out, s);
        proc_result_release(&r);
    }
    fuzz_sample(out, "x", 1);
    fuzz_sample(out, "xy", 2);
    free(source);
    free(program);
    compiled_end(&c);
}

#define ASAN                                                                                       \
    "A@==123==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc "      \
    "0x4 bp 0x5 sp 0x6\nWRITE of size 4 at 0x602000000014 thread T0\n"                             \
    "    #0 0x4f in list_add /a/list.c:31:5\n    #1 0x50 in main list.c:40\n"                      \
    "    #2 0x51 in libc_start (/lib/libc.so.6+0x123)\n\n0x60 is located 0 bytes\n"                \
    "SUMMARY: AddressSanitizer: heap-buffer-overflow /a/list.c:31:5 in list_add\n"

const FuzzReader fuzz_run[] = {
    { .name = "message", .read = read_message, .make = make_messages },
    { .name = "said",
      .read = read_said,
      .texts = { ASAN, "F@a.c:12: main: Assertion `x > 1' failed.\nAborted\n",
                 "F@prog: a.c:12: int main(void): Assertion `x' failed.\n",
                 "F@double free or corruption (out)\n",
                 "\1@a.c:3:5: runtime error: signed integer "
                 "overflow: 1 + 2 cannot be represented in type 'int'\n",
                 "F@ERROR:a.c:5:main: assertion failed: (x == 1)\n",
                 "F@Assertion failed: x (a.c: main: 5)\n",
                 "B@==1==WARNING: MemorySanitizer: use-of-uninitialized-value\n    #0 0x1 in f a.c:1\n",
                 "B@==1==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 7 byte(s)\n"
                 "    #0 0x1 in malloc\n    #1 0x2 in g b.c:2\n",
                 "B@WARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 4\n    #0 f a.c:1\n" } },
    { .name = "instruction", .read = read_instruction, .make = make_instructions },
    { .name = "program", .read = read_program, .make = make_programs },
    { 0 },
};
