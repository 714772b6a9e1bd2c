#include "engine/suite/write.h"
#include "base/escape.h"
#include "base/format.h"
#include "engine/suite/chase.h"
#include "engine/suite/describe.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LONG_TEXT = 100, LONG_LINE = 90, TELLING_NAME = 3 };

typedef struct Writer {
    WriteFile *file;
    const SeqTest *test;
    Str *out;
    char (*names)[64];           /* of each step's result; "" if it has none */
    bool *needed;                /* by a later step */
    size_t assertions;
    const WriteParts *parts;     /* NULL: the whole is one function */
    Map rooms;                   /* "step place" -> name, in `arena` */
    Map taken;                   /* names */
    Arena arena;
} Writer;

/* Variables of steps that are not those of the common part. */
static const char *suffix_of(const Writer *w, unsigned step)
{
    return w->parts && step >= w->parts->common ? w->parts->suffix : "";
}

/* "int r3", after which " = …" or ";" may stand; a static variable in parts. */
static void declare(Writer *w, const Type *type, const char *name)
{
    if (!w->parts) {
        type_print(type, name, w->out);
        return;
    }
    str_add(w->parts->variables, "static ");
    type_print(type, name, w->parts->variables);
    str_add(w->parts->variables, ";\n");
    str_add(w->out, name);
}

/* ---- names */

/* "struct poly_list" becomes poly_list; an API's prefix stays. */
static void type_word(const Type *t, char *out, size_t size)
{
    unsigned levels = 0;
    const Type *r = t ? type_pointed_record(t, &levels) : NULL;
    const char *s = r ? (*r->name ? r->name : r->alias ? r->alias->name : "") : "";
    size_t n = 0;
    while (*s == '_')
        s++;
    for (; *s && n + 1 < size && n < 24; s++)
        out[n++] = (char)tolower((unsigned char)*s);
    while (n && out[n - 1] == '_')
        n--;
    if (n > 2 && (strncmp(out + n - 2, "_t", 2) == 0 || strncmp(out + n - 2, "_s", 2) == 0))
        n -= 2;
    out[n] = 0;
}

/* Is it a typedef's name on the way to what a type means? */
static bool is_type_name(const Type *t, const char *word)
{
    while (t) {
        const Type *alias = t->alias ? t->alias : t;
        if (alias->kind == TYPE_TYPEDEF && strcmp(alias->name, word) == 0)
            return true;
        t = t->kind == TYPE_TYPEDEF || t->kind == TYPE_POINTER || t->kind == TYPE_ARRAY ||
                    t->kind == TYPE_QUALIFIED
                ? t->target
                : NULL;
    }
    return false;
}

/* Words that a variable can't have, or that something else of the test has. */
static bool is_taken(const Writer *w, const char *word)
{
    static const char *const words[] = {
        "auto",       "break",  "case",   "char",     "const",    "continue", "default",  "do",
        "double",     "else",   "enum",   "extern",   "float",    "for",      "goto",     "if",
        "int",        "inline", "long",   "register", "restrict", "return",   "short",    "signed",
        "sizeof",     "static", "struct", "switch",   "typedef",  "union",    "unsigned", "void",
        "volatile",   "while",  "bool",   "true",     "false",    "errno",    "stdin",    "stdout",
        "stderr",     "unix",   "linux",  "assert",   "main",     "free",     "memcpy",   "memset",
        "stub_calls", "malloc", "calloc", "strlen",   "memcmp",   "strcmp",   NULL,
    };
    const Seq *s = w->test->seq;
    if (str_is_one_of(word, words) || map_has(&w->taken, word))
        return true;
    for (unsigned i = 0; i < s->n; i++) {
        const ApiFunction *f = s->steps[i].f;
        if (f && strcmp(f->slot ? f->slot->variable : f->name, word) == 0)
            return true;
        for (int k = API_RETURNED; f && k < (int)f->nparams; k++) {
            if (is_type_name(api_place(f, k)->type, word))
                return true;
        }
    }
    return false;
}

/* The variable of a place: its word alone if that is free. */
static void own_name(Writer *w, const char *word, unsigned step, int place, char out[64])
{
    char key[32], name[64];
    snprintf(key, sizeof key, "%u %d", step, place);
    char **slot = (char **)map_slot(&w->rooms, key);
    snprintf(name, sizeof name, "%.40s", word);
    for (unsigned n = 2; !*slot && is_taken(w, name); n++)
        snprintf(name, sizeof name, "%.40s%u", word, n);
    if (!*slot) {
        *slot = arena_strdup(&w->arena, name);
        map_put(&w->taken, name, (void *)1);
    }
    snprintf(out, 64, "%s", *slot);
}

static void name_result(Writer *w, unsigned step)
{
    const SeqStep *st = &w->test->seq->steps[step];
    char word[40];
    type_word(st->f->fn->returns, word, sizeof word);
    if (!w->parts)
        own_name(w, st->f->result.role == ROLE_HANDLE && *word ? word : "result", step,
                 API_RETURNED, w->names[step]);
    else if (st->f->result.role == ROLE_HANDLE && *word)
        snprintf(w->names[step], sizeof w->names[step], "%s%u%s", word, step, suffix_of(w, step));
    else
        snprintf(w->names[step], sizeof w->names[step], "r%u%s", step, suffix_of(w, step));
}

/* Does the parameter's name say more than its type? */
static bool is_telling(const ApiPlace *p)
{
    static const char *const words[] = { "out", "ret", "res",  "dst",  "ptr",
                                         "obj", "ctx", "self", "this", NULL };
    return p->role != ROLE_HANDLE_OUT && strlen(p->name) >= TELLING_NAME &&
           !str_is_one_of(p->name, words);
}

/* The variable for what an argument points to. */
static void room_name(Writer *w, unsigned step, unsigned param, char out[64])
{
    const SeqStep *st = &w->test->seq->steps[step];
    char word[40] = "";
    if (st->storage) {
        const char *name = st->storage->name, *space = strchr(name, ' ');
        Str s = { 0 };
        escape_c_identifier(&s, space ? space + 1 : name, strlen(space ? space + 1 : name));
        if (w->parts)
            snprintf(out, 64, "%.40s%u%s", str_c(&s), step, suffix_of(w, step));
        else
            own_name(w, str_c(&s), step, (int)param, out);
        str_release(&s);
        return;
    }
    const ApiPlace *p = &st->f->params[param];
    if (p->handle && !is_telling(p))
        type_word(p->type, word, sizeof word);
    if (!*word) {
        Str s = { 0 };
        escape_c_identifier(&s, p->name, strlen(p->name));
        snprintf(word, sizeof word, "%.24s", *p->name ? str_c(&s) : "out");
        str_release(&s);
    }
    if (w->parts)
        snprintf(out, 64, "%s%u_%u%s", word, step, param, suffix_of(w, step));
    else
        own_name(w, word, step, (int)param, out);
}

/* ---- literals */

static bool is_signed_type(const Type *t)
{
    Encoding e = t->kind == TYPE_ENUM ? type_plain(t->target)->encoding : t->encoding;
    return e == ENCODING_SIGNED || e == ENCODING_SIGNED_CHAR;
}

static int64_t sign_extend(uint64_t v, uint64_t size)
{
    switch (size) {
    case 1: return (int8_t)v;
    case 2: return (int16_t)v;
    case 4: return (int32_t)v;
    default: return (int64_t)v;
    }
}

static uint64_t cut_to(uint64_t v, uint64_t size)
{
    return size >= 8 ? v : v & (((uint64_t)1 << (size * 8)) - 1);
}

static bool add_enumerator(Str *out, const Type *t, int64_t v)
{
    for (unsigned i = 0; i < t->nvalues; i++)
        if (t->values[i].value == v && *t->values[i].name) {
            escape_c_identifier(out, t->values[i].name, strlen(t->values[i].name));
            return true;
        }
    return false;
}

static void add_integer(Str *out, const Type *type, uint64_t bits)
{
    const Type *t = type_plain(type);
    int64_t v = sign_extend(bits, t->size);
    if (t->kind == TYPE_ENUM) {
        if (add_enumerator(out, t, v) || add_enumerator(out, t, (int64_t)cut_to(bits, t->size)))
            return;
        str_addc(out, '(');
        type_print(type_unqualified(type), NULL, out);
        str_addf(out, ")%" PRId64, v);
    } else if (!is_signed_type(t)) {
        uint64_t u = cut_to(bits, t->size);
        str_addf(out, "%" PRIu64 "%s", u,
                 t->encoding == ENCODING_BOOL || u <= INT32_MAX ? ""
                 : u <= UINT32_MAX                              ? "u"
                                                                : "ul");
    } else if (v == INT64_MIN) {
        str_add(out, "(-9223372036854775807L - 1)");
    } else if (v == INT32_MIN && t->size == 4) {
        str_add(out, "(-2147483647 - 1)");
    } else {
        str_addf(out, "%" PRId64 "%s", v, v > INT32_MAX || v < -INT32_MAX ? "L" : "");
    }
}

static void add_float(Str *out, double x)
{
    char text[64];
    if (isnan(x)) {
        str_add(out, "(0.0 / 0.0)");
    } else if (isinf(x)) {
        str_add(out, x > 0 ? "(1.0 / 0.0)" : "(-1.0 / 0.0)");
    } else {
        snprintf(text, sizeof text, "%.17g", x);
        str_addf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
    }
}

/* As a person would write it: quotes and question marks need no numbers. Two of the latter
 * may begin a trigraph. */
static void add_text(Str *out, const uint8_t *bytes, size_t n)
{
    str_addc(out, '"');
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == '"' || bytes[i] == '\\')
            str_addf(out, "\\%c", bytes[i]);
        else if (bytes[i] == '\t')
            str_add(out, "\\t");
        else if (bytes[i] == '\r')
            str_add(out, "\\r");
        else if (!bytes[i] && !(i + 1 < n && isdigit(bytes[i + 1])))
            str_add(out, "\\0");
        else if (bytes[i] == '\'')
            str_addc(out, '\'');
        else if (bytes[i] == '?')
            str_add(out, i && bytes[i - 1] == '?' ? "\\?" : "?");
        else
            escape_c_string(out, (const char *)bytes + i, 1);
    str_addc(out, '"');
}

static const Type *pointee(const Type *type)
{
    const Type *t = type ? type_plain(type) : NULL;
    return t && t->kind == TYPE_POINTER ? t->target : NULL;
}

/* A string literal for a parameter: cast where the pointers differ in sign. */
static void add_text_argument(Str *out, const Type *type, const uint8_t *bytes, size_t n)
{
    const Type *t = pointee(type);
    if (t && type_plain(t)->kind != TYPE_VOID && !type_is_char(t)) {
        str_addc(out, '(');
        type_print(type_unqualified(type), NULL, out);
        str_addc(out, ')');
    }
    add_text(out, bytes, n);
}

/* ---- long texts */

/* A name that nothing else before the tests has. */
static char *name_before_tests(WriteFile *f, const char *before, const char *word)
{
    Str name = { 0 };
    for (unsigned k = 1; k == 1 || map_has(&f->text_names, str_c(&name)); k++) {
        str_reset(&name);
        str_add(&name, before);
        escape_c_identifier(&name, word, strlen(word));
        if (k > 1)
            str_addf(&name, "_%u", k);
    }
    map_put(&f->text_names, str_c(&name), NULL);
    return str_take(&name);
}

/* A text with a name before the tests, a line of it a line there; its name. */
static const char *hoist(WriteFile *f, const char *word, const uint8_t *bytes, size_t n)
{
    void **slot = map_slotn(&f->long_texts, (const char *)bytes, n);
    if (*slot)
        return *slot;
    char *name = name_before_tests(f, "", word);
    str_addf(&f->texts, "static const char %s[] =", name);
    for (size_t at = 0; at < n || at == 0;) {
        const uint8_t *end = memchr(bytes + at, '\n', n - at);
        size_t line = end ? (size_t)(end - bytes) + 1 - at : n - at;
        line = line > LONG_LINE ? LONG_LINE : line;
        str_add(&f->texts, "\n    ");
        add_text(&f->texts, bytes + at, line);
        at += line ? line : 1;
    }
    str_add(&f->texts, ";\n\n");
    *slot = name;
    return name;
}

/* Texts that are too long for a line of a test; false: this one is not. */
static bool add_long_text(Writer *w, const ApiPlace *p, const SeqValue *v)
{
    const Type *t = pointee(p->type);
    if (v->n <= LONG_TEXT || v->nlinks || w->parts || !t || !p->is_const ||
        type_plain(t)->kind == TYPE_STRUCT)
        return false;
    if (type_plain(t)->kind != TYPE_VOID && !type_is_char(t)) {
        str_addc(w->out, '(');
        type_print(type_unqualified(p->type), NULL, w->out);
        str_addc(w->out, ')');
    }
    char *word = xprintf("a_%s", *p->name ? p->name : "text");
    str_add(w->out, hoist(w->file, word, v->bytes, v->n));
    free(word);
    return true;
}

/* ---- callbacks */

static void add_stub_body(Str *s, const Type *fn, const char *name)
{
    Str head = { 0 };
    str_addf(&head, "%s(", name);
    for (unsigned i = 0; i < fn->nparams; i++) {
        char param[16];
        snprintf(param, sizeof param, "a%u", i);
        str_add(&head, i ? ", " : "");
        type_print(fn->params[i], param, &head);
    }
    str_add(&head, fn->nparams ? ")" : "void)");
    str_add(s, "static ");
    type_print(fn->target, str_c(&head), s);
    str_add(s, "\n{\n");
    for (unsigned i = 0; i < fn->nparams; i++)
        str_addf(s, "    (void)a%u;\n", i);
    str_add(s, "    stub_calls++;\n");
    const Type *r = type_plain(fn->target);
    if (r->kind != TYPE_VOID)
        str_add(s, "    return 0;\n");
    str_add(s, "}\n\n");
    str_release(&head);
}

/* `word` is what the place of the callback is called. */
static void add_stub(Writer *w, const Type *type, const char *word)
{
    const Type *t = pointee(type);
    const Type *fn = t ? type_plain(t) : NULL;
    Str key = { 0 };
    if (!fn || fn->kind != TYPE_FUNCTION) {
        str_add(w->out, "NULL");
        return;
    }
    type_print(fn, NULL, &key);
    void **slot = map_slot(&w->file->known, str_c(&key));
    if (!*slot) {
        if (!w->file->counts)
            str_add(&w->file->stubs, "static int stub_calls;\n\n");
        w->file->counts = true;
        map_put(&w->file->text_names, "stub_calls", NULL);
        *slot = name_before_tests(w->file, "stub_", *word ? word : "callback");
        add_stub_body(&w->file->stubs, fn, *slot);
    }
    str_add(w->out, *slot);
    str_release(&key);
}

/* ---- arguments */

static void add_made(Writer *w, const SeqValue *v)
{
    char name[64];
    if (v->kind == VALUE_RESULT) {
        str_add(w->out, w->names[v->step]);
        return;
    }
    room_name(w, v->step, v->param, name);
    str_addf(w->out, "%s%s", v->kind == VALUE_STORAGE ? "&" : "", name);
}

/* Does what the argument points to need a variable? */
static bool has_room(const ApiPlace *p, const SeqValue *v)
{
    if (v->kind == VALUE_ROOM || v->nlinks || v->given)
        return true;
    return v->kind == VALUE_BYTES && (p->role == ROLE_INOUT || p->role == ROLE_LENGTH_INOUT ||
                                      p->role == ROLE_RECORD || p->role == ROLE_BUFFER_OUT);
}

static bool is_array(const ApiPlace *p)
{
    const Type *t = pointee(p->type);
    t = t ? type_plain(t) : NULL;
    return p->role == ROLE_BUFFER_OUT || p->role == ROLE_BUFFER || p->role == ROLE_STRING || !t ||
           t->kind == TYPE_VOID;
}

/* Is it a text that ends, with nothing behind it? */
static bool is_text(const uint8_t *bytes, size_t n)
{
    size_t len = strnlen((const char *)bytes, n);
    for (size_t i = 0; i < len; i++)
        if (!isprint(bytes[i]) && bytes[i] != '\n' && bytes[i] != '\t')
            return false;
    for (size_t i = len; i < n; i++)
        if (bytes[i])
            return false;
    return len < n;
}

/* All of it the mark that says: nothing was written here. */
static bool is_marked(const SeqValue *v)
{
    size_t i = 0;
    while (v->kind == VALUE_BYTES && i < v->n && v->bytes[i] == CHASE_MARK)
        i++;
    return i && i == v->n;
}

static void declare_array(Writer *w, const ApiPlace *p, const char *name, const SeqValue *v)
{
    char with[96];
    const Type *t = pointee(p->type);
    snprintf(with, sizeof with, "%s[%zu]", name, v->n ? v->n : 1);
    Str *to = w->parts ? w->parts->variables : w->out;
    str_add(to, w->parts ? "static " : "");
    if (!t || type_plain(t)->kind == TYPE_VOID)
        str_addf(to, "unsigned char %s", with);
    else
        type_print(type_unqualified(t), with, to);
    if (is_marked(v)) {
        str_addf(to, ";\n");
        str_addf(w->out, "memset(%s, '%c', sizeof %s);\n", name, CHASE_MARK, name);
        return;
    }
    if (!w->parts && t && type_is_char(t) && v->kind == VALUE_BYTES && *v->bytes &&
        is_text(v->bytes, v->n)) {
        str_add(to, " = ");
        add_text(to, v->bytes, strnlen((const char *)v->bytes, v->n));
        str_add(to, ";\n");
        return;
    }
    str_add(to, " = { 0 };\n");
    if (v->kind == VALUE_BYTES && v->n) {
        str_addf(w->out, "memcpy(%s, ", name);
        add_text(w->out, v->bytes, v->n);
        str_addf(w->out, ", %zu);\n", v->n);
    }
}

static void declare_scalar(Writer *w, const Type *t, const char *name, const SeqValue *v)
{
    const Type *plain = type_plain(t);
    uint64_t bits = 0;
    double x = 0;
    if (v->kind == VALUE_BYTES)
        memcpy(&bits, v->bytes, v->n < 8 ? v->n : 8);
    declare(w, type_unqualified(t), name);
    str_add(w->out, " = ");
    if (plain->kind == TYPE_POINTER) {
        str_add(w->out, "NULL");
    } else if (plain->encoding == ENCODING_FLOAT) {
        memcpy(&x, &bits, sizeof x);
        add_float(w->out, plain->size == 8 ? x : 0);
    } else {
        add_integer(w->out, t, bits);
    }
    str_add(w->out, ";\n");
}

/* Several numbers where the parameter is a pointer to one. */
static bool is_numbers(const ApiPlace *p, const SeqValue *v)
{
    const Type *t = pointee(p->type);
    t = t ? type_plain(t) : NULL;
    return !is_array(p) && v->kind == VALUE_BYTES && t &&
           (t->kind == TYPE_SCALAR || t->kind == TYPE_ENUM) && t->size && v->n >= 2 * t->size;
}

/* Several things where the parameter is a pointer to one. */
static bool is_several(const ApiPlace *p, const SeqValue *v)
{
    const Type *t = pointee(p->type);
    t = t ? type_plain(t) : NULL;
    return is_numbers(p, v) || (!is_array(p) && (v->kind == VALUE_ROOM || v->nlinks) && t &&
                                t->size && v->n >= 2 * t->size);
}

static void declare_several(Writer *w, const Type *t, const char *name, const SeqValue *v)
{
    char with[96];
    snprintf(with, sizeof with, "%s[%zu]", name, v->n / type_plain(t)->size);
    Str *to = w->parts ? w->parts->variables : w->out;
    str_add(to, w->parts ? "static " : "");
    type_print(type_unqualified(t), with, to);
    str_add(to, " = { 0 };\n");
}

static void declare_numbers(Writer *w, const Type *t, const char *name, const SeqValue *v)
{
    const Type *plain = type_plain(t);
    size_t n = v->n / plain->size;
    char with[96];
    snprintf(with, sizeof with, "%s[%zu]", name, n);
    Str *to = w->parts ? w->parts->variables : w->out;
    str_add(to, w->parts ? "static " : "");
    type_print(type_unqualified(t), with, to);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        double x;
        float f;
        str_add(to, i ? ", " : " = { ");
        memcpy(&bits, v->bytes + i * plain->size, plain->size < 8 ? plain->size : 8);
        memcpy(&x, &bits, sizeof x);
        memcpy(&f, &bits, sizeof f);
        if (plain->encoding == ENCODING_FLOAT)
            add_float(to, plain->size == 8 ? x : plain->size == 4 ? (double)f : 0);
        else
            add_integer(to, t, bits);
    }
    str_add(to, " };\n");
}

static void declare_zeroed(Writer *w, const Type *type, const char *name)
{
    if (w->parts) {
        str_add(w->parts->variables, "static ");
        type_print(type, name, w->parts->variables);
        str_add(w->parts->variables, ";\n");
    } else {
        type_print(type, name, w->out);
        str_add(w->out, " = { 0 };\n");
        return;
    }
    str_addf(w->out, "memset(&%s, 0, sizeof %s);\n", name, name);
}

/* ---- memory with pointers in it */

static bool is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

/* The member at an offset, as ".a.b[2]"; its type. NULL: there is none. */
static const Type *member_at(const Type *type, uint64_t at, Str *path)
{
    const Type *t = type_plain(type);
    if (t->kind == TYPE_POINTER)
        return at == 0 ? type : NULL;
    if (t->kind == TYPE_ARRAY && t->target && type_plain(t->target)->size) {
        uint64_t one = type_plain(t->target)->size;
        str_addf(path, "[%" PRIu64 "]", at / one);
        return member_at(t->target, at % one, path);
    }
    for (unsigned i = 0; t->kind == TYPE_STRUCT && i < t->nfields; i++) {
        const Field *f = &t->fields[i];
        uint64_t from = f->offset / 8;
        if (f->bit_field || at < from || at >= from + f->width / 8)
            continue;
        if (*f->name) {
            str_addc(path, '.');
            escape_c_identifier(path, f->name, strlen(f->name));
        }
        return member_at(f->type, at - from, path);
    }
    return NULL;
}

/* Can all of it that is not zero be said field by field? */
static bool is_sayable(const Type *type, const uint8_t *bytes)
{
    const Type *t = type_plain(type);
    bool ok = t->kind == TYPE_STRUCT || t->kind == TYPE_SCALAR || t->kind == TYPE_ENUM ||
              t->kind == TYPE_POINTER;
    for (uint64_t i = 0; !ok && i < t->size; i++)
        if (bytes[i])
            return false;
    for (unsigned i = 0; t->kind == TYPE_STRUCT && i < t->nfields; i++) {
        const Field *f = &t->fields[i];
        if (f->bit_field || !*f->name || !is_sayable(f->type, bytes + f->offset / 8))
            return false;
    }
    return t->kind != TYPE_SCALAR || t->size <= 8;
}

/* "name.a = 3;" for each scalar that is not zero. */
static void set_members(Writer *w, const char *name, const Type *type, const uint8_t *bytes)
{
    const Type *t = type_plain(type);
    for (unsigned i = 0; t->kind == TYPE_STRUCT && i < t->nfields; i++) {
        const Field *f = &t->fields[i];
        const Type *m = type_plain(f->type);
        const uint8_t *at = bytes + f->offset / 8;
        uint64_t bits = 0;
        double x;
        float single;
        char inner[200];
        snprintf(inner, sizeof inner, "%s.%s", name, f->name);
        if (m->kind == TYPE_STRUCT)
            set_members(w, inner, m, at);
        if ((m->kind != TYPE_SCALAR && m->kind != TYPE_ENUM) || m->size > 8)
            continue;
        memcpy(&bits, at, m->size);
        if (!bits)
            continue;
        memcpy(&x, &bits, sizeof x);
        memcpy(&single, &bits, sizeof single);
        str_addf(w->out, "%s = ", inner);
        if (m->encoding == ENCODING_FLOAT)
            add_float(w->out, m->size == 4 ? (double)single : x);
        else
            add_integer(w->out, f->type, bits);
        str_add(w->out, ";\n");
    }
}

static void declare_linked(Writer *w, const Type *type, const char *name, const SeqValue *v);

/* Sets a pointer to what it leads to, which gets a variable of its own. */
static void set_link(Writer *w, const Type *member, const char *lvalue, const char *inner,
                     const SeqValue *v)
{
    const Type *target = pointee(member);
    bool text = v->kind == VALUE_STRING, code = v->kind == VALUE_FUNCTION;
    if (!text && !code)
        declare_linked(w, target, inner, v);
    str_addf(w->out, "%s = ", lvalue);
    if (code)
        add_stub(w, member, "callback");
    else if (text)
        add_text_argument(w->out, member, v->bytes, v->n);
    else
        str_addf(w->out, "%s%s", v->n > type_plain(target)->size ? "" : "&", inner);
    str_add(w->out, ";\n");
}

/* One or several of a type, with what their pointers lead to. */
static void declare_linked(Writer *w, const Type *type, const char *name, const SeqValue *v)
{
    const Type *t = type_plain(type);
    uint64_t count = t->size ? v->n / t->size : 1;
    char with[96], lvalue[400], inner[96];
    snprintf(with, sizeof with, count > 1 ? "%s[%" PRIu64 "]" : "%s", name, count);
    Str *to = w->parts ? w->parts->variables : w->out;
    str_add(to, w->parts ? "static " : "");
    type_print(type_unqualified(type), with, to);
    str_add(to, w->parts ? ";\n" : " = { 0 };\n");
    if (w->parts)
        str_addf(w->out, "memset(&%s, 0, sizeof %s);\n", name, name);
    bool sayable = t->kind == TYPE_STRUCT || count == 1;
    for (uint64_t i = 0; sayable && i < count; i++)
        sayable = is_sayable(t, v->bytes + i * t->size);
    if (sayable) {
        for (uint64_t i = 0; i < count; i++) {
            snprintf(lvalue, sizeof lvalue, count > 1 ? "%s[%" PRIu64 "]" : "%s", name, i);
            set_members(w, lvalue, t, v->bytes + i * t->size);
        }
    } else if (!is_zero(v->bytes, v->n)) {
        str_addf(w->out, "memcpy(&%s, ", name);
        add_text(w->out, v->bytes, v->n);
        str_addf(w->out, ", %zu);\n", v->n);
    }
    for (size_t i = 0; i < v->nlinks; i++) {
        Str path = { 0 };
        uint64_t at = v->links[i].offset;
        if (count > 1)
            str_addf(&path, "[%" PRIu64 "]", at / t->size);
        const Type *member = member_at(t, t->size ? at % t->size : 0, &path);
        snprintf(lvalue, sizeof lvalue, "%s%s", name, str_c(&path));
        snprintf(inner, sizeof inner, "%.80s_%" PRIu64, name, at);
        if (member)
            set_link(w, member, lvalue, inner, &v->links[i].value);
        str_release(&path);
    }
}

/* Memory from malloc(), which the library frees. */
static void declare_given(Writer *w, const char *name, const SeqValue *v)
{
    size_t n = v->n + (v->kind == VALUE_STRING);
    if (w->parts)
        str_addf(w->parts->variables, "static void *%s;\n", name);
    str_addf(w->out, "%s%s = %s%zu);\n", w->parts ? "" : "void *", name,
             v->kind == VALUE_ROOM ? "calloc(1, " : "malloc(", n ? n : 1);
    if (v->kind == VALUE_ROOM || !n)
        return;
    str_addf(w->out, "memcpy(%s, ", name);
    add_text(w->out, v->bytes, v->n);
    str_addf(w->out, ", %zu);\n", n);
}

/* Does another argument of the call point into this one? */
static bool is_base(const SeqStep *st, unsigned place)
{
    for (unsigned i = 0; i < st->nargs; i++)
        if (st->args[i].kind == VALUE_WITHIN && st->args[i].param == place)
            return true;
    return false;
}

/* A text that has a name because others point into it. */
static void declare_base(Writer *w, unsigned step, unsigned i)
{
    const SeqStep *st = &w->test->seq->steps[step];
    char name[64];
    room_name(w, step, i, name);
    declare(w, st->f->params[i].type, name);
    str_add(w->out, " = ");
    add_text_argument(w->out, st->f->params[i].type, st->args[i].bytes, st->args[i].n);
    str_add(w->out, ";\n");
}

static void declare_room(Writer *w, unsigned step, unsigned i)
{
    const SeqStep *st = &w->test->seq->steps[step];
    const ApiPlace *p = &st->f->params[i];
    const Type *t = pointee(p->type), *plain = t ? type_plain(t) : NULL;
    char name[64];
    room_name(w, step, i, name);
    if (st->args[i].given) {
        declare_given(w, name, &st->args[i]);
    } else if (st->args[i].nlinks) {
        declare_linked(w, t, name, &st->args[i]);
    } else if (is_numbers(p, &st->args[i])) {
        declare_numbers(w, t, name, &st->args[i]);
    } else if (is_several(p, &st->args[i])) {
        declare_several(w, t, name, &st->args[i]);
    } else if (is_array(p)) {
        declare_array(w, p, name, &st->args[i]);
    } else if (type_is_record(plain)) {
        declare_zeroed(w, type_unqualified(t), name);
        if (st->args[i].kind == VALUE_BYTES && st->args[i].n == plain->size &&
            is_sayable(plain, st->args[i].bytes)) {
            set_members(w, name, plain, st->args[i].bytes);
        } else if (st->args[i].kind == VALUE_BYTES && st->args[i].n) {
            str_addf(w->out, "memcpy(&%s, ", name);
            add_text(w->out, st->args[i].bytes, st->args[i].n);
            str_addf(w->out, ", %zu);\n", st->args[i].n);
        }
    } else {
        declare_scalar(w, t, name, &st->args[i]);
    }
}

/* A struct by value: { .a = 1, .b = 2.0 } */
static void add_struct_value(Str *out, const Type *type, const uint8_t *bytes, size_t n)
{
    const Type *t = type_plain(type);
    str_addc(out, '(');
    type_print(type_unqualified(type), NULL, out);
    str_add(out, "){ ");
    bool any = false;
    for (unsigned i = 0; i < t->nfields; i++) {
        const Field *f = &t->fields[i];
        const Type *m = type_plain(f->type);
        uint64_t bits = 0;
        double x;
        if ((m->kind != TYPE_SCALAR && m->kind != TYPE_ENUM) || f->bit_field ||
            f->offset / 8 + m->size > n || m->size > 8)
            continue;
        memcpy(&bits, bytes + f->offset / 8, m->size);
        if (!bits)
            continue;
        str_addf(out, "%s.%s = ", any ? ", " : "", f->name);
        memcpy(&x, &bits, sizeof x);
        if (m->encoding == ENCODING_FLOAT)
            add_float(out, x);
        else
            add_integer(out, f->type, bits);
        any = true;
    }
    str_add(out, any ? " }" : "0 }");
}

/* Is extra argument n for a "%lld" of the text that the shape has? A long, which is what
 * was recorded, would do, but compilers warn. */
static bool is_long_long(const ApiFunction *f, unsigned n)
{
    const SeqValue *text = f->nfixed ? &f->pinned[f->nfixed - 1] : NULL;
    return text && text->kind == VALUE_STRING &&
           format_argument((const char *)text->bytes, text->n, n).long_long;
}

/* Where no parameter says so, the argument itself has to have the right type. */
static void add_cast(Writer *w, const ApiFunction *f, unsigned i, const SeqValue *v)
{
    const Type *t = f->params[i].type;
    if (!f->shape_of || i < f->nfixed ||
        (v->kind != VALUE_NULL && (v->kind != VALUE_INTEGER || type_plain(t)->size != 8)))
        return;
    str_addc(w->out, '(');
    if (v->kind == VALUE_INTEGER && is_long_long(f, i - f->nfixed))
        str_add(w->out, "long long");
    else
        type_print(t, NULL, w->out);
    str_addc(w->out, ')');
}

static void add_argument(Writer *w, unsigned step, unsigned i)
{
    const SeqStep *st = &w->test->seq->steps[step];
    const ApiPlace *p = &st->f->params[i];
    const SeqValue *v = &st->args[i];
    const Type *t = type_plain(p->type);
    char name[64];
    add_cast(w, st->f, i, v);
    if (has_room(p, v) && t->kind == TYPE_POINTER) {
        const Type *to = type_plain(pointee(p->type));
        bool plain = is_array(p) || is_several(p, v) || v->given || (v->nlinks && v->n > to->size);
        room_name(w, step, i, name);
        str_addf(w->out, "%s%s", plain ? "" : "&", name);
        return;
    }
    if (v->kind == VALUE_WITHIN || is_base(st, i)) {
        room_name(w, step, v->kind == VALUE_WITHIN ? v->param : i, name);
        str_add(w->out, name);
        if (v->kind == VALUE_WITHIN && v->integer)
            str_addf(w->out, " + %" PRIu64, v->integer);
        return;
    }
    switch (v->kind) {
    case VALUE_INTEGER:
        if (type_is_char(t) && isprint((unsigned char)v->integer) && v->integer < 128)
            str_addf(w->out, v->integer == '\'' || v->integer == '\\' ? "'\\%c'" : "'%c'",
                     (char)v->integer);
        else if (t->kind == TYPE_SCALAR || t->kind == TYPE_ENUM)
            add_integer(w->out, p->type, v->integer);
        else
            str_add(w->out, "NULL");
        break;
    case VALUE_FLOAT: add_float(w->out, v->real); break;
    case VALUE_STRING:
        if (!add_long_text(w, p, v))
            add_text_argument(w->out, p->type, v->bytes, v->n);
        break;
    case VALUE_BYTES:
        if (add_long_text(w, p, v))
            break;
        if (type_is_record(t))
            add_struct_value(w->out, p->type, v->bytes, v->n);
        else
            add_text_argument(w->out, p->type, v->bytes, v->n);
        break;
    case VALUE_RESULT:
    case VALUE_STORED:
    case VALUE_STORAGE: add_made(w, v); break;
    case VALUE_FUNCTION:
        if (v->symbol)
            escape_c_identifier(w->out, v->symbol, strlen(v->symbol));
        else
            add_stub(w, p->type, p->name);
        break;
    default: str_add(w->out, t->kind == TYPE_POINTER ? "NULL" : "0");
    }
}

static void add_call(Writer *w, unsigned step)
{
    const SeqStep *st = &w->test->seq->steps[step];
    const ApiSlot *slot = st->f->slot;
    const char *name = slot ? slot->field : st->f->name;
    if (slot) {
        escape_c_identifier(w->out, slot->variable, strlen(slot->variable));
        str_addc(w->out, '.');
    }
    escape_c_identifier(w->out, name, strlen(name));
    str_addc(w->out, '(');
    for (unsigned i = 0; i < st->nargs; i++) {
        str_add(w->out, i ? ", " : "");
        add_argument(w, step, i);
    }
    str_addc(w->out, ')');
}

/* ---- assertions */

/* The stable observation of a place; NULL: none. */
static const Observation *stable_at(const Writer *w, unsigned step, int place)
{
    for (size_t i = 0; i < w->test->out.nobs; i++) {
        const Observation *o = &w->test->out.obs[i];
        if (o->step == step && o->place == place && w->test->stable[i])
            return o;
    }
    return NULL;
}

/* CHECK_…(WHAT, value); for what has type `type`. */
static bool add_check(Writer *w, const char *what, const Type *type, const Observation *o)
{
    const Type *t = type ? type_plain(type) : NULL;
    Str *out = w->out;
    double x;
    if (!t)
        return false;
    switch (o->kind) {
    case OBSERVED_INTEGER:
        if (t->kind == TYPE_POINTER)
            return false;
        if (t->encoding == ENCODING_FLOAT) {
            memcpy(&x, &o->integer, sizeof x);
            if (t->size != 8)
                return false;
            str_addf(out, "CHECK_FLOAT(%s, ", what);
            add_float(out, x);
        } else {
            str_addf(out,
                     is_signed_type(t) || t->kind == TYPE_ENUM || t->size < 8 ? "CHECK_INT(%s, "
                                                                              : "CHECK_UINT(%s, ",
                     what);
            add_integer(out, type, o->integer);
        }
        break;
    case OBSERVED_FLOAT:
        str_addf(out, "CHECK_FLOAT(%s, ", what);
        add_float(out, o->real);
        break;
    case OBSERVED_NULL: str_addf(out, "CHECK_NULL(%s", what); break;
    case OBSERVED_HANDLE: str_addf(out, "CHECK_NOT_NULL(%s", what); break;
    case OBSERVED_STRING:
        str_addf(out, "CHECK_STR(%s, ", what);
        add_text(out, o->bytes, o->n);
        break;
    case OBSERVED_LONG:
        str_addf(out, "CHECK_BYTES(%s, ", what);
        add_text(out, o->bytes, o->n);
        str_addf(out, ", %zu", o->n);
        break;
    default: return false;
    }
    str_add(out, ");\n");
    w->assertions++;
    return true;
}

/* What a call gave, or the variable that has it. */
static bool check_result(Writer *w, unsigned step, const char *what, const Observation *o)
{
    const ApiFunction *f = w->test->seq->steps[step].f;
    if (!f->compares || o->kind != OBSERVED_INTEGER)
        return add_check(w, what, f->fn->returns, o);
    str_addf(w->out, "CHECK_SIGN(%s, %d);\n", what, (int)o->integer);
    w->assertions++;
    return true;
}

static void check_same(Writer *w, const char *what, const Observation *o)
{
    SeqValue v = o->same_place == API_RETURNED
                     ? value_result(o->same_step)
                     : value_stored(o->same_step, (unsigned)o->same_place);
    const Seq *s = w->test->seq;
    if (o->same_step >= s->n || !s->steps[o->same_step].f)
        return;
    const SeqStep *st = &s->steps[o->same_step];
    if (o->same_place >= 0 &&
        ((unsigned)o->same_place >= st->nargs || st->args[o->same_place].kind != VALUE_ROOM))
        return;
    if (o->same_place >= 0 && st->f->params[o->same_place].role == ROLE_STORAGE)
        v = value_storage(o->same_step, (unsigned)o->same_place);
    if (v.kind == VALUE_RESULT && !*w->names[v.step])
        return;
    str_addf(w->out, "CHECK(%s == ", what);
    add_made(w, &v);
    str_add(w->out, ");\n");
    w->assertions++;
}

/* The fields of a struct that a call has written. */
static void check_record(Writer *w, const char *name, const Type *type, const Observation *o)
{
    const Type *t = type_plain(type);
    for (unsigned i = 0; i < t->nfields && i < 16; i++) {
        const Field *f = &t->fields[i];
        const Type *m = type_plain(f->type);
        uint64_t at = f->offset / 8;
        Observation part = { .kind = OBSERVED_INTEGER };
        if ((m->kind != TYPE_SCALAR && m->kind != TYPE_ENUM) || f->bit_field || !*f->name ||
            m->size > 8 || at + m->size > o->n)
            continue;
        memcpy(&part.integer, o->bytes + at, m->size);
        char what[200];
        snprintf(what, sizeof what, "%s.%s", name, f->name);
        add_check(w, what, f->type, &part);
    }
}

/* Several structs: those that hold something. */
static void check_records(Writer *w, const char *name, const Type *type, const Observation *o)
{
    enum { MOST = 5 };
    uint64_t size = type_plain(type)->size;
    for (uint64_t i = 0; i < MOST && (i + 1) * size <= o->n; i++) {
        char what[96];
        Observation one = *o;
        one.bytes = o->bytes + i * size;
        one.n = size;
        snprintf(what, sizeof what, "%s[%" PRIu64 "]", name, i);
        if (!is_zero(one.bytes, size) || i == 0)
            check_record(w, what, type, &one);
    }
}

/* Several numbers that a call has written; not those that it was given. */
static void check_numbers(Writer *w, const char *name, const Type *type, const SeqValue *given,
                          const Observation *o)
{
    enum { MOST = 8 };
    uint64_t size = type_plain(type)->size;
    bool same = given->kind == VALUE_BYTES && given->n <= o->n &&
                memcmp(given->bytes, o->bytes, given->n) == 0;
    for (uint64_t i = 0; !same && i < MOST && (i + 1) * size <= o->n; i++) {
        char what[96];
        Observation one = { .kind = OBSERVED_INTEGER };
        memcpy(&one.integer, o->bytes + i * size, size < 8 ? size : 8);
        snprintf(what, sizeof what, "%s[%" PRIu64 "]", name, i);
        if (i == 0 || !is_zero(o->bytes + i * size, o->n - i * size))
            add_check(w, what, type, &one);
    }
}

static void check_room_text(Writer *w, const char *name, const Observation *o)
{
    str_addf(w->out, "CHECK_STR(%s, ", name);
    add_text(w->out, o->bytes, strnlen((const char *)o->bytes, o->n));
    str_add(w->out, ");\n");
    w->assertions++;
}

static void check_room_bytes(Writer *w, const char *name, size_t room, char rest,
                             const Observation *o)
{
    size_t n = o->n;
    if (o->n > room)
        n = room;
    while (n > 1 && o->bytes[n - 1] == (uint8_t)rest)
        n--;
    if (n < o->n && n < room)
        n++;                     /* with what is behind it */
    str_addf(w->out, "CHECK_BYTES(%s, ", name);
    add_text(w->out, o->bytes, n);
    str_addf(w->out, ", %zu);\n", n);
    w->assertions++;
}

/* A struct that the call only looks at, as it was given. */
static bool is_left_alone(const ApiPlace *p, const SeqValue *v, const Observation *o)
{
    if (p->role != ROLE_RECORD || !p->is_read || p->filled || v->nlinks)
        return false;
    for (size_t i = 0; i < o->n; i++)
        if (o->bytes[i] != (v->kind == VALUE_BYTES && i < v->n ? v->bytes[i] : 0))
            return false;
    return true;
}

static void check_rooms(Writer *w, unsigned step)
{
    const SeqStep *st = &w->test->seq->steps[step];
    for (unsigned i = 0; i < st->nargs; i++) {
        const ApiPlace *p = &st->f->params[i];
        const Observation *o = stable_at(w, step, (int)i);
        const Type *t = pointee(p->type);
        char name[64], what[80];
        if (!o || !has_room(p, &st->args[i]) || !t || st->args[i].given)
            continue;
        room_name(w, step, i, name);
        if (is_several(p, &st->args[i]))
            snprintf(what, sizeof what, "%s[0]", name);
        else
            snprintf(what, sizeof what, "%s", name);
        if (o->kind == OBSERVED_SAME)
            check_same(w, name, o);
        else if (o->kind != OBSERVED_BYTES)
            add_check(w, what, t, o);
        else if (is_left_alone(p, &st->args[i], o))
            continue;
        else if (type_is_record(type_plain(t)) && is_several(p, &st->args[i]))
            check_records(w, name, t, o);
        else if (type_is_record(type_plain(t)))
            check_record(w, what, t, o);
        else if (is_several(p, &st->args[i]))
            check_numbers(w, name, t, &st->args[i], o);
        else if (type_is_char(t) && is_text(o->bytes, o->n))
            check_room_text(w, name, o);
        else
            check_room_bytes(w, name, st->args[i].n, is_marked(&st->args[i]) ? CHASE_MARK : 0, o);
    }
}

/* Fields of the caller's structs that a call has changed, and what was written where
 * they lead to. */
static void check_storage(Writer *w, unsigned step)
{
    const Seq *s = w->test->seq;
    const SeqStep *st = &s->steps[step];
    for (size_t k = 0; k < w->test->out.nobs; k++) {
        const Observation *o = &w->test->out.obs[k];
        char name[64], what[200];
        if (o->step != step || o->place < OBSERVED_FIELD || !w->test->stable[k])
            continue;
        if (o->place >= OBSERVED_BEHIND) {
            snprintf(name, sizeof name, "bytes%d", o->place - OBSERVED_BEHIND);
            check_room_bytes(w, name, s->steps[o->place - OBSERVED_BEHIND].args[0].n, 0, o);
            continue;
        }
        unsigned i = (unsigned)(o->place - OBSERVED_FIELD) / OBSERVED_FIELDS;
        unsigned number = (unsigned)(o->place - OBSERVED_FIELD) % OBSERVED_FIELDS;
        const SeqValue *v = &st->args[i];
        const Type *t = observed_struct(&st->f->params[i]);
        if (v->kind == VALUE_STORAGE)
            room_name(w, v->step, v->param, name);
        else
            room_name(w, step, i, name);
        const ApiPlace *p = &st->f->params[i];
        const Field *f = t ? &t->fields[observed_number(p, number)] : NULL;
        if (!f)
            snprintf(what, sizeof what, "%s[%u]", name, number);
        else if (is_several(p, v))
            snprintf(what, sizeof what, "%s[%u].%s", name, observed_element(p, number), f->name);
        else
            snprintf(what, sizeof what, "%s.%s", name, f->name);
        add_check(w, what, f ? f->type : pointee(p->type), o);
    }
}

static const char *errno_name(uint64_t n)
{
    static const struct {
        int n;
        const char *name;
    } names[] = {
        { EINVAL, "EINVAL" },   { ENOMEM, "ENOMEM" },       { ENOENT, "ENOENT" },
        { ERANGE, "ERANGE" },   { EOVERFLOW, "EOVERFLOW" }, { EBADF, "EBADF" },
        { EDOM, "EDOM" },       { EEXIST, "EEXIST" },       { EILSEQ, "EILSEQ" },
        { ENOTSUP, "ENOTSUP" }, { E2BIG, "E2BIG" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((uint64_t)names[i].n == n)
            return names[i].name;
    return NULL;
}

/* An error that only a caller's values make: 0 is a failure then, too. */
static bool is_refusal(const Observation *e)
{
    return e && (e->integer == EINVAL || e->integer == E2BIG || e->integer == ERANGE ||
                 e->integer == EDOM || e->integer == EOVERFLOW || e->integer == EILSEQ);
}

/* Did the call fail and say why? */
static const Observation *error_at(const Writer *w, unsigned step)
{
    const Observation *e = stable_at(w, step, OBSERVED_ERRNO);
    const Observation *r = stable_at(w, step, API_RETURNED);
    bool failed = r && (r->kind == OBSERVED_NULL ||
                        (r->kind == OBSERVED_INTEGER && r->integer == UINT64_MAX) ||
                        (r->kind == OBSERVED_INTEGER && !r->integer && is_refusal(e)));
    return e && failed && errno_name(e->integer) ? e : NULL;
}

/* ---- steps */

static void write_result(Writer *w, unsigned step)
{
    const SeqStep *st = &w->test->seq->steps[step];
    const Observation *o = stable_at(w, step, API_RETURNED);
    const Type *type = st->f->fn->returns;
    bool keeps = o && (o->kind == OBSERVED_SAME || o->kind == OBSERVED_BYTES ||
                       o->kind == OBSERVED_UNREADABLE);
    if (w->needed[step] || (o && (keeps || st->nargs > 3))) {
        name_result(w, step);
        declare(w, type_unqualified(type), w->names[step]);
        str_add(w->out, " = ");
        add_call(w, step);
        str_add(w->out, ";\n");
        size_t before = w->assertions;
        if (o && o->kind == OBSERVED_SAME)
            check_same(w, w->names[step], o);
        else if (o && o->kind == OBSERVED_BYTES && type_is_record(type_plain(type)))
            check_record(w, w->names[step], type, o);
        else if (o)
            check_result(w, step, w->names[step], o);
        if (w->assertions == before && !w->needed[step])
            str_addf(w->out, "(void)%s;\n", w->names[step]);
        return;
    }
    Str call = { 0 }, *out = w->out;
    w->out = &call;
    add_call(w, step);
    w->out = out;
    if (!o || !check_result(w, step, str_c(&call), o)) {
        if (type && st->f->result.role != ROLE_NOTHING)
            str_add(w->out, "(void)");
        str_addf(w->out, "%s;\n", str_c(&call));
    }
    str_release(&call);
}

static void write_storage(Writer *w, unsigned step)
{
    const ApiType *t = w->test->seq->steps[step].storage;
    char name[64];
    room_name(w, step, 0, name);
    declare_zeroed(w, t->type, name);
}

/* A path of names: a.b */
static void add_path(Str *out, const char *path)
{
    for (const char *s = path; *s;) {
        size_t n = strcspn(s, ".");
        str_add(out, s == path ? "" : ".");
        escape_c_identifier(out, s, n);
        s += n + (s[n] == '.');
    }
}

/* The bytes that a field is to lead to, as an array of their own. */
static void declare_target(Writer *w, unsigned step, char name[64])
{
    const SeqValue *v = &w->test->seq->steps[step].args[0];
    snprintf(name, 64, "bytes%u", step);
    str_addf(w->out, "static unsigned char %s[%zu];\n", name, v->n ? v->n : 1);
    if (v->kind == VALUE_BYTES && v->n) {
        str_addf(w->out, "memcpy(%s, ", name);
        add_text(w->out, v->bytes, v->n);
        str_addf(w->out, ", %zu);\n", v->n);
    } else {
        str_addf(w->out, "memset(%s, 0, sizeof %s);\n", name, name);
    }
}

static void write_field(Writer *w, unsigned step)
{
    const SeqStep *st = &w->test->seq->steps[step];
    const SeqValue *v = &st->args[0];
    const Type *t = type_plain(st->field->type);
    char name[64] = "", bytes[64] = "";
    bool linked = v->nlinks > 0, one = linked && v->n <= type_plain(t->target)->size;
    snprintf(bytes, sizeof bytes, "bytes%u", step);
    if (v->given)
        declare_given(w, bytes, v);
    else if (linked)
        declare_linked(w, t->target, bytes, v);
    else if (v->kind == VALUE_BYTES || v->kind == VALUE_ROOM || v->kind == VALUE_STRING)
        declare_target(w, step, bytes);
    else
        *bytes = 0;
    if (st->target.kind == VALUE_RESULT)
        snprintf(name, sizeof name, "%s", w->names[st->target.step]);
    else
        room_name(w, st->target.step, st->target.param, name);
    str_addf(w->out, "%s%s", name, st->target.kind == VALUE_STORAGE ? "." : "->");
    add_path(w->out, st->field->name);
    str_add(w->out, " = ");
    if (*bytes) {
        str_addc(w->out, '(');
        type_print(type_unqualified(st->field->type), NULL, w->out);
        str_addf(w->out, ")%s%s", one ? "&" : "", bytes);
    } else if (v->kind == VALUE_FUNCTION) {
        add_stub(w, st->field->type, st->field->name);
    } else if (v->kind == VALUE_FLOAT) {
        add_float(w->out, v->real);
    } else if (t->kind == TYPE_POINTER) {
        str_add(w->out, "NULL");
    } else {
        add_integer(w->out, st->field->type, v->integer);
    }
    str_add(w->out, ";\n");
}

static void write_step(Writer *w, unsigned step)
{
    const SeqStep *st = &w->test->seq->steps[step];
    const Observation *error, *calls;
    if (!st->f) {
        if (st->storage)
            write_storage(w, step);
        else
            write_field(w, step);
        return;
    }
    for (unsigned i = 0; i < st->nargs; i++)
        if (has_room(&st->f->params[i], &st->args[i]) &&
            type_plain(st->f->params[i].type)->kind == TYPE_POINTER)
            declare_room(w, step, i);
        else if (is_base(st, i))
            declare_base(w, step, i);
    error = error_at(w, step);
    if (error)
        str_add(w->out, "errno = 0;\n");
    write_result(w, step);
    if (error) {
        str_addf(w->out, "CHECK_INT(errno, %s);\n", errno_name(error->integer));
        w->assertions++;
    }
    check_rooms(w, step);
    check_storage(w, step);
    calls = stable_at(w, step, OBSERVED_CALLBACKS);
    if (calls && w->file->counts) {
        str_addf(w->out, "CHECK_INT(stub_calls, %u);\n", (unsigned)calls->integer);
        w->assertions++;
    }
}

static void find_needed(Writer *w)
{
    const Seq *s = w->test->seq;
    for (unsigned i = 0; i < s->n; i++) {
        for (unsigned k = 0; k < s->steps[i].nargs; k++)
            if (s->steps[i].args[k].kind == VALUE_RESULT)
                w->needed[s->steps[i].args[k].step] = true;
        if (s->steps[i].target.kind == VALUE_RESULT)
            w->needed[s->steps[i].target.step] = true;
    }
    for (size_t i = 0; i < w->test->out.nobs; i++) {
        const Observation *o = &w->test->out.obs[i];
        if (o->kind == OBSERVED_SAME && w->test->stable[i] && o->same_place == API_RETURNED &&
            o->same_step < s->n)
            w->needed[o->same_step] = true;
    }
}

/* ---- whole */

void write_group(const SeqTest *t, Str *out)
{
    const ApiFunction *f = t->seq->steps[describe_step(t)].f;
    const ApiType *type = f->result.handle;
    for (unsigned i = 0; i < f->nparams; i++)
        if (f->params[i].handle) {
            type = f->params[i].handle;
            break;
        }
    const char *name = type ? type->name : "functions";
    if (str_starts(name, "struct "))
        name += strlen("struct ");
    while (*name == '_')
        name++;
    escape_c_identifier(out, name, strlen(name));
}

static bool names_file(const SeqTest *t, const SeqFile *file)
{
    for (unsigned i = 0; i < t->seq->n; i++)
        for (unsigned k = 0; k < t->seq->steps[i].nargs; k++) {
            const SeqValue *v = &t->seq->steps[i].args[k];
            if (v->kind == VALUE_STRING && v->n == strlen(file->name) &&
                memcmp(v->bytes, file->name, v->n) == 0)
                return true;
        }
    return false;
}

/* Files that the calls ask for. */
static void write_files(WriteFile *f, const SeqTest *t, Str *body)
{
    for (size_t i = 0; i < f->nfiles; i++) {
        if (!names_file(t, &f->files[i]))
            continue;
        str_add(body, "GIVE_FILE(");
        add_text(body, (const uint8_t *)f->files[i].name, strlen(f->files[i].name));
        str_add(body, ", ");
        const char *name = hoist(f, f->files[i].name, f->files[i].bytes, f->files[i].n);
        str_addf(body, "%s, sizeof %s - 1);\n", name, name);
    }
}

/* A look that nothing is checked of. */
static bool is_idle_look(const Writer *w, unsigned step)
{
    if (!w->test->seq->steps[step].looking || w->needed[step])
        return false;
    for (size_t i = 0; i < w->test->out.nobs; i++)
        if (w->test->out.obs[i].step == step && w->test->stable[i])
            return false;
    return true;
}

/* ---- repeated steps
 *
 * What is done again and again becomes a loop.
 */

typedef struct Paragraph {
    Str now;                     /* what the last step is written as … */
    unsigned times;              /* … and how often that stands there */
} Paragraph;

static void add_loop(Writer *w, const Paragraph *p, Str *out)
{
    char name[64];
    bool one = strchr(str_c(&p->now), '\n') == p->now.data + p->now.len - 1;
    own_name(w, "i", SEQ_LIMIT, 0, name);
    str_addf(out, "for (int %s = 0; %s < %u; %s++)%s\n", name, name, p->times, name,
             one ? "" : " {");
    for (const char *s = str_c(&p->now); *s;) {
        size_t n = strcspn(s, "\n") + 1;
        str_addf(out, "    %.*s", (int)n, s);
        s += n;
    }
    str_add(out, one ? "" : "}\n");
}

static void end_paragraph(Writer *w, Paragraph *p, Str *out)
{
    enum { LOOP = 4 };
    if (p->times >= LOOP)
        add_loop(w, p, out);
    for (unsigned i = 0; i < p->times && p->times < LOOP; i++)
        str_addn(out, str_c(&p->now), p->now.len);
    str_reset(&p->now);
    p->times = 0;
}

/* Long tests have an empty line before the call that they are about, and before all is given
 * back; what the example did has one where a new object begins. */
static bool begins_paragraph(const Writer *w, unsigned step)
{
    enum { LONG_TEST = 10 };
    const Seq *s = w->test->seq;
    const SeqStep *st = &s->steps[step];
    if (s->n < LONG_TEST || !step)
        return false;
    if (st->closing && !s->steps[step - 1].closing)
        return true;
    if (!w->test->example)
        return step == describe_step(w->test);
    for (int i = API_RETURNED; st->f && !st->looking && i < (int)st->f->nparams; i++)
        if (api_place(st->f, i)->use == USE_CREATES)
            return true;
    return false;
}

static void add_step(Writer *w, Paragraph *p, unsigned step, Str *out)
{
    Str text = { 0 }, *before = w->out;
    w->out = &text;
    write_step(w, step);
    w->out = before;
    bool again =
        p->times && text.len == p->now.len && memcmp(str_c(&text), str_c(&p->now), text.len) == 0;
    if (!again) {
        end_paragraph(w, p, out);
        if (begins_paragraph(w, step) && out->len)
            str_addc(out, '\n');
        str_addn(&p->now, str_c(&text), text.len);
    }
    p->times++;
    str_release(&text);
}

static void writer_release(Writer *w)
{
    map_release(&w->rooms);
    map_release(&w->taken);
    arena_release(&w->arena);
    free(w->names);
    free(w->needed);
}

void write_test(WriteFile *f, const SeqTest *t, Str *body, size_t *assertions)
{
    Writer w = { .file = f, .test = t, .out = body };
    Str text = { 0 };
    Paragraph p = { 0 };
    seq_check(t->seq);
    assert(!t->out.nobs || t->stable);
    w.names = xcalloc(t->seq->n + 1, sizeof *w.names);
    w.needed = xcalloc(t->seq->n + 1, sizeof *w.needed);
    w.out = &text;
    find_needed(&w);
    for (unsigned i = 0; i < t->seq->n; i++)
        if (!is_idle_look(&w, i))
            add_step(&w, &p, i, &text);
    end_paragraph(&w, &p, &text);
    str_release(&p.now);
    write_files(f, t, body);
    if (strstr(str_c(&text), "CHECK_INT(stub_calls"))
        str_add(body, "stub_calls = 0;\n");
    str_addn(body, str_c(&text), text.len);
    *assertions = w.assertions;
    str_release(&text);
    writer_release(&w);
}

void write_part(const WriteParts *p, unsigned step, bool kept, Str *body, Str *name)
{
    SeqTest test = { .seq = (Seq *)p->seq };
    Writer w = { .file = p->file, .test = &test, .out = body, .parts = p };
    assert(step < p->seq->n && p->variables);
    w.names = xcalloc(p->seq->n + 1, sizeof *w.names);
    w.needed = xcalloc(p->seq->n + 1, sizeof *w.needed);
    for (unsigned i = 0; i < step; i++)
        if (p->seq->steps[i].f)
            name_result(&w, i);
    w.needed[step] = kept;
    write_step(&w, step);
    if (name)
        str_add(name, w.names[step]);
    writer_release(&w);
}

void write_release(WriteFile *f)
{
    str_release(&f->stubs);
    for (size_t i = 0; i < f->known.len; i++)
        free(f->known.entries[i].value);
    map_release(&f->known);
    str_release(&f->texts);
    for (size_t i = 0; i < f->long_texts.len; i++)
        free(f->long_texts.entries[i].value);
    map_release(&f->long_texts);
    map_release(&f->text_names);
    *f = (WriteFile){ 0 };
}
