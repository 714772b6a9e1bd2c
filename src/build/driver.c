/* The text of a driver: see driver.h. */
#include "build/driver.h"
#include "base/escape.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 64, ELEMENTS = 8, DEEP = 2 };

typedef struct Driver {
    Str *out;
    unsigned objects;
    const char *problem;       /* why it can't be done; NULL */
} Driver;

/* How an argument is declared where only its size and kind matter; NULL: not at all. */
static const char *c_type(const Type *t)
{
    t = type_plain(t);
    if (t->kind == TYPE_POINTER)
        return "void *";
    if (t->kind == TYPE_ENUM)
        return t->size == 8 ? "long" : "int";
    if (t->kind != TYPE_SCALAR)
        return NULL;
    switch (t->encoding) {
    case ENCODING_FLOAT: return t->size == 4 ? "float" : t->size == 8 ? "double" : "long double";
    case ENCODING_BOOL: return "_Bool";
    case ENCODING_SIGNED:
    case ENCODING_SIGNED_CHAR:
        return t->size == 1   ? "signed char"
               : t->size == 2 ? "short"
               : t->size == 4 ? "int"
               : t->size == 8 ? "long"
                              : "__int128";
    case ENCODING_UNSIGNED:
    case ENCODING_UNSIGNED_CHAR:
    case ENCODING_UTF:
        return t->size == 1   ? "unsigned char"
               : t->size == 2 ? "unsigned short"
               : t->size == 4 ? "unsigned"
               : t->size == 8 ? "unsigned long"
                              : "unsigned __int128";
    default: return NULL;
    }
}

static void make_pointer(Driver *d, const char *to, const Type *pointed, unsigned deep);

/* The pointers inside an object that has been asked for, whose name is `base`. */
static void make_fields(Driver *d, const char *base, const Type *t, uint64_t at, unsigned deep)
{
    t = type_plain(t);
    if (t->kind == TYPE_ARRAY) {
        uint64_t n = t->count < 16 ? t->count : 16, size = type_plain(t->target)->size;
        for (uint64_t i = 0; i < n; i++)
            make_fields(d, base, t->target, at + i * size, deep);
        return;
    }
    if (t->kind == TYPE_POINTER) {
        char to[96];
        snprintf(to, sizeof to, "*(void **)(%s + %" PRIu64 ")", base, at);
        make_pointer(d, to, t->target, deep + 1);
        return;
    }
    for (unsigned i = 0; t->kind == TYPE_STRUCT && i < t->nfields; i++)
        if (!t->fields[i].bit_field)
            make_fields(d, base, t->fields[i].type, at + t->fields[i].offset / 8, deep);
}

static void make_pointer(Driver *d, const char *to, const Type *pointed, unsigned deep)
{
    const Type *t = type_plain(pointed);
    uint64_t size = t->size;
    if (deep > DEEP || t->kind == TYPE_FUNCTION || t->incomplete || d->objects > 200) {
        str_addf(d->out, "    %s = 0;\n", to);
        return;
    }
    unsigned n = d->objects++;
    bool text = (t->kind == TYPE_SCALAR && size == 1) || t->kind == TYPE_VOID || !size;
    if (text)
        size = TEXT;
    else if (t->kind == TYPE_SCALAR || t->kind == TYPE_ENUM)
        size *= ELEMENTS;
    str_addf(d->out, "    char *o%u = calloc(1, %" PRIu64 ");\n", n, size);
    str_addf(d->out, "    sundew_ask(o%u, %" PRIu64 ");\n", n, text ? size - 1 : size);
    char base[16];
    snprintf(base, sizeof base, "o%u", n);
    if (!text)
        make_fields(d, base, t, 0, deep);
    str_addf(d->out, "    %s = o%u;\n", to, n);
}

static void make_enum(Driver *d, const Type *t, unsigned i)
{
    str_addf(d->out, "    static const long v%u[] = { ", i);
    for (unsigned k = 0; k < t->nvalues; k++)
        str_addf(d->out, "%" PRId64 ", ", t->values[k].value);
    str_addf(d->out,
             "};\n    unsigned char c%u = 0;\n    sundew_ask(&c%u, 1);\n"
             "    a%u = v%u[c%u %% %u];\n",
             i, i, i, i, i, t->nvalues);
}

static void make_argument(Driver *d, const Param *p, unsigned i)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    const char *c = t ? c_type(t) : NULL;
    if (!c) {
        d->problem = t ? "a parameter is a struct or something else that is passed by value"
                       : "the type of a parameter is not known";
        return;
    }
    str_addf(d->out, "    %s a%u = 0;\n", c, i);
    if (t->kind == TYPE_POINTER) {
        char to[16];
        snprintf(to, sizeof to, "a%u", i);
        make_pointer(d, to, t->target, 0);
    } else if (t->kind == TYPE_ENUM && t->nvalues) {
        make_enum(d, t, i);
    } else if (t->encoding == ENCODING_BOOL) {
        str_addf(d->out,
                 "    unsigned char c%u = 0;\n    sundew_ask(&c%u, 1);\n"
                 "    a%u = c%u & 1;\n",
                 i, i, i, i);
    } else {
        str_addf(d->out, "    sundew_ask(&a%u, sizeof a%u);\n", i, i);
    }
}

static void declare(const Function *fn, Str *out)
{
    const char *returns = fn->returns ? c_type(fn->returns) : NULL;
    str_addf(out, "extern %s sundew_called(", returns ? returns : "void");
    for (unsigned i = 0; i < fn->nparams; i++) {
        assert(c_type(fn->params[i].type));      /* make_argument() has looked */
        str_addf(out, "%s%s", i ? ", " : "", c_type(fn->params[i].type));
    }
    str_addf(out, "%s) __asm__(\"", fn->nparams ? "" : "void");
    escape_c_string(out, fn->name, strlen(fn->name));
    str_add(out, "\");\n\n");
}

static bool write_all(const Function *fn, const char *main, Str *out, Err *err)
{
    Str body = { 0 };
    Driver d = { .out = &body };
    if (!fn->defined)
        d.problem = "it has no body here";
    else if (fn->variadic)
        d.problem = "it is variadic";
    else if (fn->returns && type_is_record(fn->returns))
        d.problem = "it returns a struct";
    for (unsigned i = 0; !d.problem && i < fn->nparams; i++)
        make_argument(&d, &fn->params[i], i);
    if (!d.problem) {
        declare(fn, out);
        str_addf(out, "int %s(void)\n{\n", main);
        str_addn(out, body.data ? body.data : "", body.len);
        const char *returns = fn->returns ? c_type(fn->returns) : NULL;
        /* somebody must want the result, or an optimiser leaves out what only it needs */
        if (returns)
            str_addf(out, "    %s%svolatile result = ", returns, str_ends(returns, "*") ? "" : " ");
        str_add(out, returns ? "sundew_called(" : "    sundew_called(");
        for (unsigned i = 0; i < fn->nparams; i++)
            str_addf(out, "%sa%u", i ? ", " : "", i);
        str_addf(out, ");\n%s    return 0;\n}\n", returns ? "    (void)result;\n" : "");
    }
    str_release(&body);
    return !d.problem || err_set(err, "%s() can't be called: %s", fn->name, d.problem);
}

bool driver_write(const Function *fn, Str *out, Err *err)
{
    str_add(out, "#include <stdlib.h>\n\nvoid sundew_ask(void *to, size_t n);\n");
    return write_all(fn, "sundew_program_main", out, err);
}

bool driver_write_test(const Function *fn, const uint8_t *bytes, size_t n, Str *out, Err *err)
{
    str_add(out, "#include <stdlib.h>\n#include <string.h>\n\n"
                 "/* What the arguments are made of. */\n"
                 "static const unsigned char input[] = {");
    for (size_t i = 0; i < n; i++)
        str_addf(out, "%s%u,", i % 16 ? " " : "\n    ", bytes[i]);
    str_addf(out,
             " 0\n};\nstatic size_t used;\n\n"
             "static void sundew_ask(void *to, size_t n)\n{\n"
             "    size_t left = %zu - used, have = n < left ? n : left;\n"
             "    memset(to, 0, n);\n    memcpy(to, input + used, have);\n"
             "    used += have;\n}\n\n",
             n);
    return write_all(fn, "main", out, err);
}
