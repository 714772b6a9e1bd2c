#include "engine/api/signature.h"

static bool add_type(const Type *type, Str *out, unsigned depth);

static bool add_members(const Type *t, Str *out, unsigned depth)
{
    str_addc(out, '{');
    for (unsigned i = 0; i < t->nfields; i++) {
        const Type *m = type_plain(t->fields[i].type);
        uint64_t count = 1;
        if (t->fields[i].bit_field)
            return false;
        while (m->kind == TYPE_ARRAY) {
            count *= m->count;
            m = type_plain(m->target);
        }
        if (count > 32)
            return false;
        for (uint64_t k = 0; k < count; k++)
            if (!add_type(m, out, depth + 1))
                return false;
    }
    str_addc(out, '}');
    return t->nfields > 0 && t->size <= 64;
}

static bool add_type(const Type *type, Str *out, unsigned depth)
{
    const Type *t = type ? type_plain(type) : NULL;
    if (!t || t->kind == TYPE_VOID) {
        str_addc(out, 'v');
        return true;
    }
    if (depth > 4)
        return false;
    if (t->kind == TYPE_POINTER) {
        str_addc(out, 'p');
        return true;
    }
    if (t->kind == TYPE_STRUCT)
        return !t->incomplete && add_members(t, out, depth);
    if (t->kind == TYPE_SCALAR && t->encoding == ENCODING_FLOAT) {
        str_addc(out, t->size == 4 ? 'f' : 'd');
        return t->size == 4 || t->size == 8;
    }
    if (t->kind != TYPE_SCALAR && t->kind != TYPE_ENUM)
        return false;
    Encoding e = t->kind == TYPE_ENUM ? type_plain(t->target)->encoding : t->encoding;
    bool is_signed = e == ENCODING_SIGNED || e == ENCODING_SIGNED_CHAR;
    char c = t->size == 1 ? 'c' : t->size == 2 ? 's' : t->size == 4 ? 'i' : 'l';
    str_addc(out, is_signed ? c : (char)(c - 'a' + 'A'));
    return (t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8) && e != ENCODING_COMPLEX;
}

bool signature_write(const ApiFunction *f, Str *out)
{
    if (f->nparams > 32 || !add_type(f->fn->returns, out, 0))
        return false;
    for (unsigned i = 0; i < f->nparams; i++) {
        if (f->shape_of && i == f->nfixed)
            str_addc(out, '.');
        size_t before = out->len;
        if (!add_type(f->params[i].type, out, 0) || out->data[before] == 'v')
            return false;
    }
    if (f->variadic || (f->shape_of && f->nparams == f->nfixed))
        str_addc(out, '.');
    return true;
}
