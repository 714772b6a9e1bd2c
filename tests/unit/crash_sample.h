/* A writer of crash files, for tests: what the runtime does, without a crash. */
#ifndef CRASH_SAMPLE_H
#define CRASH_SAMPLE_H
#include "base/file.h"
#include "base/str.h"
#include "runtime/format/crashfile.h"
#include <stdint.h>
#include <string.h>

static inline void sample_begin(Str *s)
{
    uint32_t head[2] = { SUNDEW_CRASH_VERSION, 0 };
    str_addn(s, SUNDEW_CRASH_MAGIC, 8);
    str_addn(s, (const char *)head, 8);
}

static inline void sample_record(Str *s, uint32_t tag, const void *a, size_t n, const void *b,
                                 size_t m)
{
    uint32_t head[2] = { tag, (uint32_t)(n + m) };
    str_addn(s, (const char *)head, 8);
    if (n)
        str_addn(s, a, n);
    if (m)
        str_addn(s, b, m);
    while (s->len % 8)
        str_addc(s, 0);
}

static inline void sample_build(Str *s, const char *key, const char *program, uint64_t slide,
                                uint32_t strategy)
{
    SundewBuild b = { .slide = slide, .strategy = strategy, .pid = 7 };
    Str t = { 0 };
    str_addf(&t, "%s\n%s\nv1", key, program);
    sample_record(s, SUNDEW_REC_BUILD, &b, sizeof b, t.data, t.len);
    str_release(&t);
}

static inline void sample_failure(Str *s, SundewFailure f, const char *text)
{
    sample_record(s, SUNDEW_REC_FAILURE, &f, sizeof f, text, strlen(text));
}

static inline void sample_stack(Str *s, const uint64_t *pcs, uint32_t n)
{
    SundewStack st = { 0, n };
    sample_record(s, SUNDEW_REC_STACK, &st, sizeof st, pcs, n * 8);
}

static inline void sample_frame(Str *s, uint32_t number, uint32_t function, const char *symbol,
                                const uint64_t *slots, uint16_t n)
{
    SundewFrameRecord f = { .frame = number, .function = function, .nslots = n };
    Str t = { 0 };
    if (n)
        str_addn(&t, (const char *)slots, n * 8);
    str_add(&t, symbol);
    sample_record(s, SUNDEW_REC_FRAME, &f, sizeof f, t.data, t.len);
    str_release(&t);
}

static inline void sample_copy(Str *s, uint32_t frame, uint64_t address, const void *bytes,
                               size_t n)
{
    SundewCopyRecord c = { .frame = frame, .address = address };
    sample_record(s, SUNDEW_REC_COPY, &c, sizeof c, bytes, n);
}

static inline void sample_memory(Str *s, uint64_t address, uint64_t size, uint32_t place,
                                 uint32_t type, const void *bytes, size_t n)
{
    SundewMemory m = { .address = address, .size = size, .place = place, .type = type };
    sample_record(s, SUNDEW_REC_MEMORY, &m, sizeof m, bytes, n);
}

static inline void sample_end(Str *s) { sample_record(s, SUNDEW_REC_END, NULL, 0, NULL, 0); }
#endif
