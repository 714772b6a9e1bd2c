/*
 * Words between a C program and people: what the program compares its input with, and how
 * parts of the input are called.
 */
#include "engine/explore/program/c_front_int.h"
#include "base/str.h"
#include "program/constants.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- dictionary */

static void tell(const CFront *c, const void *bytes, size_t n)
{
    c->host.word(c->host.arg, bytes, n);
}

/* A number that is no character and no small count, in both byte orders. */
static void tell_number(const CFront *c, int64_t v)
{
    if (v >= INT8_MIN && v <= UINT8_MAX)
        return;
    size_t size = v > 0 && v <= UINT16_MAX ? 2 : v >= INT32_MIN && v <= UINT32_MAX ? 4 : 8;
    uint8_t le[8], be[8];
    for (size_t i = 0; i < size; i++)
        be[size - 1 - i] = le[i] = (uint8_t)((uint64_t)v >> (8 * i));
    tell(c, le, size);
    tell(c, be, size);
}

bool c_words_tell(const CFront *c, Err *err)
{
    Constants all = { 0 };
    if (!program_constants(c->plan.program, &all, err))
        return false;
    for (size_t i = 0; i < all.nstrings; i++)
        tell(c, all.strings[i], strlen(all.strings[i]));
    for (size_t i = 0; i < all.nintegers; i++)
        tell_number(c, all.integers[i]);
    constants_release(&all);
    return true;
}

/* ---- parts of the input */

size_t c_words_slots(const char *input)
{
    size_t sum = 0;
    for (CallPart part; call_part(&input, &part);)
        sum += part.size * part.count;
    return sum < 1 << 15 ? sum : 0;
}

/* The part of the input in which byte `at` is, if that can be said: what it is called, where it begins
 * and ends. */
static bool part_at(const char *input, size_t at, Str *name, size_t *from, size_t *to)
{
    size_t begin = 0;
    for (CallPart part; call_part(&input, &part); begin += part.size * part.count) {
        bool string = part.kind == PART_ARGUMENTS || part.kind == PART_VARIABLE;
        if (string && !part.size)
            return false; /* strings that end where they like */
        if (string && at >= begin + part.size * part.count)
            continue;
        size_t i = string ? (at - begin) / part.size : 0;
        if (part.kind == PART_ARGUMENTS)
            str_addf(name, "argument %zu", i + 1);
        else if (part.kind == PART_VARIABLE)
            str_addf(name, "$%.*s", part.name_len, part.name);
        else
            str_add(name, part.kind == PART_STDIN ? "stdin" : "file");
        *from = begin + i * part.size;
        *to = string ? *from + part.size : SIZE_MAX;
        return true;
    }
    return false;
}

/* input[3] or input[3..5] at the beginning of `p`: how long it is; 0: it is not there. */
static size_t read_bytes(const char *p, size_t *from, size_t *to)
{
    int one = 0, two = 0;
    if (!str_starts(p, "input["))
        return 0;
    sscanf(p, "input[%zu..%zu]%n", from, to, &two);
    if (two)
        return (size_t)two;
    sscanf(p, "input[%zu]%n", from, &one);
    *to = *from;
    return (size_t)one;
}

static void name_bytes(const Call *call, const char *p, size_t len, size_t a, size_t b, Str *out)
{
    Str name = { 0 };
    size_t from = 0, to = 0;
    if (!part_at(call->input, a, &name, &from, &to) || b >= to)
        str_addn(out, p, len);
    else if (a == b)
        str_addf(out, "%s[%zu]", str_c(&name), a - from);
    else
        str_addf(out, "%s[%zu..%zu]", str_c(&name), a - from, b - from);
    str_release(&name);
}

char *c_words_of(const CFront *c, char *text)
{
    Str out = { 0 };
    char quote = 0;
    if (!c->slots)
        return text;
    for (const char *p = text; *p;) {
        size_t a, b, len = quote ? 0 : read_bytes(p, &a, &b);
        if (len) {
            name_bytes(&c->plan.call, p, len, a, b, &out);
            p += len;
            continue;
        }
        if (*p == '\\' && p[1])
            str_addc(&out, *p++);
        else if (*p == quote)
            quote = 0;
        else if (!quote && (*p == '"' || *p == '\''))
            quote = *p;
        str_addc(&out, *p++);
    }
    free(text);
    text = xstrdup(str_c(&out));
    str_release(&out);
    return text;
}
