/*
 * Expressions as people write them. Bytes that follow each other are read as
 * numbers, le32(input[4..7]), and byte equations as strings,
 * input[0..3] == "RIFF". What gets long or deep ends in "…".
 */
#include "base/escape.h"
#include "solve/expr_int.h"
#include "solve/tape.h"
#include <math.h>

enum { MAX_LENGTH = 600, MAX_NESTING = 16, MAX_PARTS = 256 };

typedef struct Printer {
    const Exprs *p;
    Str *out;
    size_t start;
    unsigned depth;
} Printer;

static void print(Printer *pr, Expr e);

/* clang-format off */
static const char *const names[EXPR_NOPS] = {
    [EXPR_CONST] = "const", [EXPR_BYTE] = "byte",     [EXPR_NOT] = "not",
    [EXPR_NEG] = "neg",     [EXPR_ZEXT] = "zext",     [EXPR_SEXT] = "sext",
    [EXPR_EXTRACT] = "extract", [EXPR_ADD] = "add",   [EXPR_SUB] = "sub",
    [EXPR_MUL] = "mul",     [EXPR_UDIV] = "udiv",     [EXPR_SDIV] = "sdiv",
    [EXPR_UREM] = "urem",   [EXPR_SREM] = "srem",     [EXPR_SHL] = "shl",
    [EXPR_LSHR] = "lshr",   [EXPR_ASHR] = "ashr",     [EXPR_AND] = "and",
    [EXPR_OR] = "or",       [EXPR_XOR] = "xor",       [EXPR_CONCAT] = "concat",
    [EXPR_EQ] = "eq",       [EXPR_ULT] = "ult",       [EXPR_ULE] = "ule",
    [EXPR_SLT] = "slt",     [EXPR_SLE] = "sle",       [EXPR_ITE] = "ite",
    [EXPR_TABLE] = "table", [EXPR_FADD] = "fadd",     [EXPR_FSUB] = "fsub",
    [EXPR_FMUL] = "fmul",   [EXPR_FDIV] = "fdiv",     [EXPR_FREM] = "frem",
    [EXPR_FOEQ] = "foeq",   [EXPR_FOLT] = "folt",     [EXPR_FOLE] = "fole",
    [EXPR_FUNO] = "funo",   [EXPR_FSQRT] = "fsqrt",   [EXPR_FROUND] = "fround",
    [EXPR_FTOF] = "ftof",   [EXPR_FTOU] = "ftou",     [EXPR_FTOS] = "ftos",
    [EXPR_UTOF] = "utof",   [EXPR_STOF] = "stof",     [EXPR_FMATH] = "fmath",
};
/* clang-format on */

static const char *const rounds[] = { "floor", "ceil", "trunc", "rint", "round" };
static const char *const maths[EXPR_MATH_N] = {
    "sin", "cos",  "tan", "asin", "acos",  "atan", "sinh", "cosh",  "tanh",
    "exp", "exp2", "log", "log2", "log10", "cbrt", "pow",  "atan2", "hypot",
};

static const char *infix(const ExprNode *n)
{
    bool truth = n->width == 1;
    switch ((ExprOp)n->op) {
    case EXPR_ADD:
    case EXPR_FADD: return "+";
    case EXPR_SUB:
    case EXPR_FSUB: return "-";
    case EXPR_MUL:
    case EXPR_FMUL: return "*";
    case EXPR_UDIV:
    case EXPR_SDIV:
    case EXPR_FDIV: return "/";
    case EXPR_UREM:
    case EXPR_SREM:
    case EXPR_FREM: return "%";
    case EXPR_SHL: return "<<";
    case EXPR_LSHR:
    case EXPR_ASHR: return ">>";
    case EXPR_AND: return truth ? "&&" : "&";
    case EXPR_OR: return truth ? "||" : "|";
    case EXPR_XOR: return "^";
    case EXPR_EQ:
    case EXPR_FOEQ: return "==";
    case EXPR_ULT:
    case EXPR_SLT:
    case EXPR_FOLT: return "<";
    case EXPR_ULE:
    case EXPR_SLE:
    case EXPR_FOLE: return "<=";
    default: return NULL;
    }
}

/* ---- leaves */

static void print_unsigned(Str *out, ExprValue v)
{
    if (v >> 64)
        str_addf(out, "0x%llx%016llx", (unsigned long long)(v >> 64), (unsigned long long)v);
    else if (v > 0xffff)
        str_addf(out, "0x%llx", (unsigned long long)v);
    else
        str_addf(out, "%llu", (unsigned long long)v);
}

static void print_const(Str *out, unsigned width, ExprValue v, bool is_signed)
{
    if (width == 1) {
        str_add(out, v ? "true" : "false");
    } else if (is_signed && expr_signed(v, width) < 0) {
        str_addc(out, '-');
        print_unsigned(out, -(ExprValue)expr_signed(v, width));
    } else if (width == 8 && v >= 0x20 && v < 0x7f) {
        char c = (char)v;
        str_addc(out, '\'');
        escape_c_string(out, &c, 1);
        str_addc(out, '\'');
    } else {
        print_unsigned(out, v);
    }
}

static void print_float(Str *out, unsigned width, ExprValue v)
{
    double d;
    uint64_t bits = (uint64_t)v;
    memcpy(&d, &bits, sizeof d);
    if (width == 32) {
        float f;
        uint32_t half = (uint32_t)v;
        memcpy(&f, &half, sizeof f);
        d = (double)f;
    }
    str_addf(out, "%.17g", d);
}

/* "input[3]" or "input[3..6]" */
static void print_bytes(Printer *pr, uint32_t from, uint32_t to)
{
    uint32_t index = from;
    const char *name = exprs_source_of(pr->p, from, &index);
    if (name)
        escape_terminal_z(pr->out, name);
    else
        str_add(pr->out, "byte");
    if (from == to)
        str_addf(pr->out, "[%u]", index);
    else
        str_addf(pr->out, "[%u..%u]", index, index + (to - from));
}

/* ---- rows of bytes */

/* The bytes of a row, lowest first; 0 if it has anything else. */
static unsigned row_bytes(const Exprs *p, Expr e, uint32_t *bytes)
{
    uint32_t high_first[16];
    unsigned n = 0;
    for (; p->nodes[e].op == EXPR_CONCAT; e = p->nodes[e].b) {
        ExprNode head = p->nodes[p->nodes[e].a];
        if (head.op != EXPR_BYTE || n == 15)
            return 0;
        high_first[n++] = head.a;
    }
    if (p->nodes[e].op != EXPR_BYTE)
        return 0;
    high_first[n++] = p->nodes[e].a;
    for (unsigned i = 0; i < n; i++)
        bytes[i] = high_first[n - 1 - i];
    return n;
}

static bool print_number(Printer *pr, Expr e)
{
    uint32_t b[16];
    unsigned n = row_bytes(pr->p, e, b);
    if (n < 2)
        return false;
    bool little = true, big = true;
    for (unsigned i = 1; i < n; i++) {
        little &= b[i] == b[i - 1] + 1;
        big &= b[i] + 1 == b[i - 1];
    }
    if (!little && !big)
        return false;
    str_addf(pr->out, "%s%u(", little ? "le" : "be", n * 8);
    print_bytes(pr, little ? b[0] : b[n - 1], little ? b[n - 1] : b[0]);
    str_addc(pr->out, ')');
    return true;
}

/* ---- conjunctions */

typedef struct Part {
    Expr e;
    uint32_t byte;            /* of an equation byte == value */
    uint8_t value;
    bool is_byte;
} Part;

static Part part_of(const Exprs *p, Expr e)
{
    ExprNode n = p->nodes[e];
    ExprValue v;
    Part part = { .e = e };
    if (n.op == EXPR_EQ && p->nodes[n.a].op == EXPR_BYTE && expr_is_const(p, n.b, &v)) {
        part.byte = p->nodes[n.a].a;
        part.value = (uint8_t)v;
        part.is_byte = true;
    }
    return part;
}

static int by_byte(const void *a, const void *b)
{
    const Part *x = a, *y = b;
    if (x->is_byte != y->is_byte)
        return x->is_byte ? -1 : 1;
    if (x->is_byte && x->byte != y->byte)
        return x->byte < y->byte ? -1 : 1;
    return x->e < y->e ? -1 : x->e > y->e;
}

static size_t collect_parts(const Exprs *p, Expr e, Part *parts)
{
    Expr stack[MAX_PARTS];
    size_t n = 0, depth = 0;
    stack[depth++] = e;
    while (depth) {
        Expr x = stack[--depth];
        ExprNode node = p->nodes[x];
        if (node.op == EXPR_AND && depth + 2 + n < MAX_PARTS) {
            stack[depth++] = node.b;
            stack[depth++] = node.a;
        } else {
            parts[n++] = part_of(p, x);
        }
    }
    return n;
}

/* byte == value, or the equations of neighbours as one string. Gives how many
 * it took. */
static size_t print_run(Printer *pr, const Part *parts, size_t n, bool equal)
{
    size_t run = 1;
    char text[MAX_PARTS];
    while (run < n && parts[run].is_byte && parts[run].byte == parts[run - 1].byte + 1)
        run++;
    print_bytes(pr, parts[0].byte, parts[run - 1].byte);
    str_add(pr->out, equal ? " == " : " != ");
    if (run == 1) {
        print_const(pr->out, 8, parts[0].value, false);
        return 1;
    }
    for (size_t i = 0; i < run; i++)
        text[i] = (char)parts[i].value;
    str_addc(pr->out, '"');
    escape_c_string(pr->out, text, run);
    str_addc(pr->out, '"');
    return run;
}

static void print_and(Printer *pr, Expr e)
{
    Part *parts = xmalloc(MAX_PARTS * sizeof *parts);
    size_t n = collect_parts(pr->p, e, parts);
    qsort(parts, n, sizeof *parts, by_byte);
    for (size_t i = 0; i < n;) {
        if (i)
            str_add(pr->out, " && ");
        if (parts[i].is_byte)
            i += print_run(pr, parts + i, n - i, true);
        else
            print(pr, parts[i++].e);
    }
    free(parts);
}

/* Are all parts one string? Then its negation is written with !=. */
static bool print_different(Printer *pr, Expr e)
{
    Part *parts = xmalloc(MAX_PARTS * sizeof *parts);
    size_t n = collect_parts(pr->p, e, parts);
    qsort(parts, n, sizeof *parts, by_byte);
    bool one = parts[0].is_byte;
    for (size_t i = 1; i < n; i++)
        one &= parts[i].is_byte && parts[i].byte == parts[i - 1].byte + 1;
    if (one)
        print_run(pr, parts, n, false);
    free(parts);
    return one;
}

/* ---- the rest */

static bool is_operator(const Exprs *p, Expr e)
{
    while (p->nodes[e].op == EXPR_ZEXT)
        e = p->nodes[e].a;
    return infix(&p->nodes[e]) || p->nodes[e].op == EXPR_ITE;
}

static void print_operand(Printer *pr, Expr e, bool is_signed, bool is_float)
{
    ExprValue v;
    ExprNode n = pr->p->nodes[e];
    if (expr_is_const(pr->p, e, &v)) {
        if (is_float)
            print_float(pr->out, n.width, v);
        else
            print_const(pr->out, n.width, v, is_signed);
        return;
    }
    if (is_signed)
        str_addf(pr->out, "(int%u)", n.width);
    bool brackets = is_operator(pr->p, e);
    if (brackets)
        str_addc(pr->out, '(');
    print(pr, e);
    if (brackets)
        str_addc(pr->out, ')');
}

static void print_infix(Printer *pr, const ExprNode *n)
{
    ExprOp op = (ExprOp)n->op;
    bool sign =
        op == EXPR_SLT || op == EXPR_SLE || op == EXPR_SDIV || op == EXPR_SREM || op == EXPR_ASHR;
    bool flt = op >= EXPR_FADD && op <= EXPR_FOLE;
    const char *name = infix(n);
    Expr a = n->a, b = n->b;
    bool compare = op == EXPR_ULT || op == EXPR_SLT || op == EXPR_ULE || op == EXPR_SLE ||
                   op == EXPR_FOLT || op == EXPR_FOLE;
    if (compare && expr_is_const(pr->p, a, NULL)) {   /* 3 < x is x > 3 */
        a = n->b;
        b = n->a;
        name = name[1] ? ">=" : ">";
    }
    ExprValue v;
    unsigned w = pr->p->nodes[b].width;
    if (op == EXPR_ADD && expr_is_const(pr->p, b, &v) && v >> (w - 1)) {
        print_operand(pr, a, false, false);
        str_add(pr->out, " - ");
        print_unsigned(pr->out, -v & expr_mask(w));
        return;
    }
    print_operand(pr, a, sign, flt);
    str_addf(pr->out, " %s ", name);
    print_operand(pr, b, sign && op != EXPR_ASHR, flt);
}

static void print_call(Printer *pr, const char *name, const ExprNode *n, unsigned count)
{
    Expr operands[3] = { n->a, n->b, n->c };
    str_addf(pr->out, "%s(", name);
    for (unsigned i = 0; i < count && operands[i]; i++) {
        if (i)
            str_add(pr->out, ", ");
        print(pr, operands[i]);
    }
    str_addc(pr->out, ')');
}

static void print_not(Printer *pr, const ExprNode *n)
{
    ExprNode inner = pr->p->nodes[n->a];
    if (inner.op == EXPR_EQ || inner.op == EXPR_FOEQ) {
        bool flt = inner.op == EXPR_FOEQ;
        print_operand(pr, inner.a, false, flt);
        str_add(pr->out, " != ");
        print_operand(pr, inner.b, false, flt);
        return;
    }
    if (n->width == 1 && inner.op == EXPR_AND && print_different(pr, n->a))
        return;
    str_addc(pr->out, n->width == 1 ? '!' : '~');
    print_operand(pr, n->a, false, false);
}

static void print_table(Printer *pr, const ExprNode *n)
{
    const ExprTable *t = &pr->p->tables.items[n->b];
    str_addf(pr->out, "table%u(%u)[", n->b, t->n);
    print(pr, n->a);
    str_addc(pr->out, ']');
}

static void print_node(Printer *pr, Expr e)
{
    ExprNode n = pr->p->nodes[e];
    ExprValue v;
    switch ((ExprOp)n.op) {
    case EXPR_CONST:
        expr_is_const(pr->p, e, &v);
        print_const(pr->out, n.width, v, false);
        break;
    case EXPR_BYTE: print_bytes(pr, n.a, n.a); break;
    case EXPR_NOT: print_not(pr, &n); break;
    case EXPR_NEG:
        str_addc(pr->out, '-');
        print_operand(pr, n.a, false, false);
        break;
    case EXPR_ZEXT: print(pr, n.a); break;
    case EXPR_SEXT: print_operand(pr, n.a, true, false); break;
    case EXPR_EXTRACT:
        print_operand(pr, n.a, false, false);
        str_addf(pr->out, n.width == 1 ? ".bit%u" : ".bits%u..%u", n.k, n.k + n.width - 1u);
        break;
    case EXPR_CONCAT:
        if (!print_number(pr, e))
            print_call(pr, "concat", &n, 2);
        break;
    case EXPR_ITE:
        print_operand(pr, n.a, false, false);
        str_add(pr->out, " ? ");
        print_operand(pr, n.b, false, false);
        str_add(pr->out, " : ");
        print_operand(pr, n.c, false, false);
        break;
    case EXPR_TABLE: print_table(pr, &n); break;
    case EXPR_FROUND: print_call(pr, rounds[n.k], &n, 1); break;
    case EXPR_FMATH: print_call(pr, maths[n.k], &n, 2); break;
    case EXPR_AND:
        if (n.width == 1) {
            print_and(pr, e);
            break;
        }
        /* fall through */
    default:
        if (infix(&n))
            print_infix(pr, &n);
        else
            print_call(pr, names[n.op], &n, expr_arity((ExprOp)n.op));
        break;
    }
}

static void print(Printer *pr, Expr e)
{
    if (pr->depth == MAX_NESTING || pr->out->len - pr->start > MAX_LENGTH) {
        str_add(pr->out, "…");
        return;
    }
    pr->depth++;
    print_node(pr, e);
    pr->depth--;
}

void expr_print(const Exprs *p, Expr e, Str *out)
{
    Printer pr = { .p = p, .out = out, .start = out->len };
    if (e)
        print(&pr, e);
    else
        str_add(out, "(none)");
}

/* ---- dump */

static void dump_step(const Tape *t, size_t slot, Str *out)
{
    const TapeStep *s = &tape_steps(t)[slot];
    const ExprNode *n = &s->node;
    str_addf(out, "#%zu = %s i%u", slot, names[n->op], n->width);
    if (n->op == EXPR_CONST) {
        str_addc(out, ' ');
        print_unsigned(out, tape_slot(t, slot));
    } else if (n->op == EXPR_BYTE) {
        str_addf(out, " %u", tape_bytes(t)[n->a]);
    } else {
        uint32_t operands[3] = { n->a, n->b, n->c };
        for (unsigned i = 0; i < expr_arity((ExprOp)n->op); i++)
            if (i == 0 || n->op != EXPR_FMATH || s->wb)
                str_addf(out, " #%u", operands[i]);
        if (n->op == EXPR_EXTRACT)
            str_addf(out, " from %u", n->k);
        if (n->op == EXPR_FMATH)
            str_addf(out, " %s", maths[n->k]);
        if (n->op == EXPR_FROUND)
            str_addf(out, " %s", rounds[n->k]);
    }
    str_addc(out, '\n');
}

void expr_dump(const Exprs *p, Expr e, Str *out)
{
    if (!e)
        return;
    Tape *t = tape_new(p, &e, 1);
    for (size_t i = 0; i < tape_size(t); i++)
        dump_step(t, i, out);
    tape_free(t);
}
