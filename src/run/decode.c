/*
 * Did the instruction that faulted read or write? The kernel knows (it is in
 * the page fault's error code) but tells only the process itself, so it is read
 * from the opcode: which operand is memory, and is it written.
 *
 * Instructions that read and write the same place (add to memory) count as a
 * write, as for the processor. This is a table of what compilers emit, not a
 * disassembler: it never has to find the length of an instruction.
 */
#include "run/run_int.h"

typedef struct Code {
    const uint8_t *at, *end;
    bool repeat;               /* prefix F3 */
} Code;

static uint8_t next(Code *c) { return c->at < c->end ? *c->at++ : 0; }

static bool in(uint8_t b, const uint8_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == b)
            return true;
    return false;
}
#define IN(b, ...) in(b, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static FailureAccess either(bool writes)
{
    return writes ? FAILURE_ACCESS_WRITE : FAILURE_ACCESS_READ;
}

/* x87: which forms store. */
static bool float_stores(uint8_t op, unsigned reg)
{
    switch (op) {
    case 0xd9: return reg == 2 || reg == 3 || reg >= 6;
    case 0xdb: return (reg >= 1 && reg <= 3) || reg == 7;
    case 0xdd: return (reg >= 1 && reg <= 3) || reg >= 6;
    case 0xdf: return (reg >= 1 && reg <= 3) || reg >= 6;
    default: return false;
    }
}

/* Opcodes of one byte. */
static FailureAccess one_byte(uint8_t op, Code *c)
{
    if ((op >= 0x50 && op <= 0x57) || IN(op, 0xe8, 0x68, 0x6a, 0x9c, 0xc8, 0xaa, 0xab, 0xa2, 0xa3))
        return FAILURE_ACCESS_WRITE;           /* push, call, stos, mov moffs */
    if ((op >= 0x58 && op <= 0x5f) ||
        IN(op, 0xc2, 0xc3, 0xc9, 0xac, 0xad, 0xa6, 0xa7, 0xae, 0xaf, 0xa0, 0xa1))
        return FAILURE_ACCESS_READ;            /* pop, ret, lods, cmps, scas */
    if (op == 0xa4 || op == 0xa5)
        return FAILURE_ACCESS_UNKNOWN;         /* movs: the address decides */
    uint8_t modrm = next(c);
    unsigned reg = modrm >> 3 & 7;
    if (modrm >> 6 == 3)
        return FAILURE_ACCESS_UNKNOWN;
    if (op < 0x38)                             /* add or adc sbb and sub xor */
        return either((op & 7) < 2);
    if (IN(op, 0x80, 0x81, 0x83))
        return either(reg != 7);
    if (IN(op, 0x86, 0x87, 0x88, 0x89, 0x8c, 0x8f, 0xc0, 0xc1, 0xc6, 0xc7, 0xd0, 0xd1, 0xd2, 0xd3,
           0xfe))
        return FAILURE_ACCESS_WRITE;
    if (op == 0xf6 || op == 0xf7)
        return either(reg == 2 || reg == 3);
    if (op == 0xff)
        return either(reg < 2);
    if (op >= 0xd8 && op <= 0xdf)
        return either(float_stores(op, reg));
    return FAILURE_ACCESS_READ;
}

/* Opcodes after 0F; also the first map of VEX and EVEX. */
static FailureAccess two_bytes(uint8_t op, Code *c)
{
    uint8_t modrm = next(c);
    unsigned reg = modrm >> 3 & 7;
    if (modrm >> 6 == 3)
        return FAILURE_ACCESS_UNKNOWN;
    if (op >= 0x90 && op <= 0x9f)              /* set… */
        return FAILURE_ACCESS_WRITE;
    if (op == 0x7e)
        return either(!c->repeat);
    if (op == 0xba)
        return either(reg > 4);
    if (op == 0xae)
        return either(reg == 0 || reg == 3 || reg == 4);
    if (op == 0xc7)
        return either(reg == 1);
    return either(IN(op, 0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xe7, 0xd6, 0xc3, 0xab, 0xb3, 0xbb,
                     0xa4, 0xa5, 0xac, 0xad, 0xb0, 0xb1, 0xc0, 0xc1));
}

/* Maps 0F 38 (2) and 0F 3A (3). */
static FailureAccess three_bytes(unsigned map, uint8_t op, Code *c)
{
    if (next(c) >> 6 == 3)
        return FAILURE_ACCESS_UNKNOWN;
    if (map == 2)
        return either(IN(op, 0xf1, 0x2e, 0x2f, 0x8e));
    return either(IN(op, 0x14, 0x15, 0x16, 0x17, 0x19, 0x1b, 0x1d, 0x39, 0x3b));
}

static FailureAccess by_map(unsigned map, uint8_t op, Code *c)
{
    return map <= 1 ? two_bytes(op, c) : three_bytes(map, op, c);
}

static FailureAccess vector(uint8_t op, Code *c)
{
    uint8_t first = next(c), second = 0;
    unsigned map = 1, pp = first & 3;
    if (op != 0xc5) {
        second = next(c);
        map = first & (op == 0x62 ? 7 : 31);
        pp = second & 3;
    }
    if (op == 0x62)
        next(c);
    c->repeat = pp == 2;
    return by_map(map, next(c), c);
}

FailureAccess decode_access(const uint8_t *code, size_t n)
{
    Code c = { .at = code, .end = code + n };
    uint8_t op = next(&c);
    while (IN(op, 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65) ||
           (op & 0xf0) == 0x40) {
        if (c.at == c.end)
            return FAILURE_ACCESS_UNKNOWN;
        c.repeat |= op == 0xf3;
        op = next(&c);
    }
    if (c.at == c.end)
        return FAILURE_ACCESS_UNKNOWN;
    if (op == 0xc4 || op == 0xc5 || op == 0x62)
        return vector(op, &c);
    if (op != 0x0f)
        return one_byte(op, &c);
    op = next(&c);
    if (op == 0x38 || op == 0x3a)
        return by_map(op == 0x38 ? 2 : 3, next(&c), &c);
    return two_bytes(op, &c);
}
