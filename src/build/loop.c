/* The text that makes a function's call an event: see loop.h. */
#include "build/loop.h"
#include "base/escape.h"
#include "runtime/format/events.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ELEMENTS = 16, DEEP = 4 };

typedef struct Writer {
    EventLayout *layout;
    Str types, objects, fill, state;
    unsigned nobjects;
    const char *problem;             /* why it can't be done; NULL */
} Writer;

/* ---- layouts */

void layout_add(EventLayout *l, const char *name, FieldKind kind, uint32_t size, const Type *type)
{
    EventField f = { arena_strdup(&l->arena, name), kind, l->size, size, type };
    assert(size && name);
    vec_push(&l->fields, f);
    l->size += size;
}

void layout_release(EventLayout *l)
{
    vec_release(&l->fields);
    vec_release(&l->keys);
    arena_release(&l->arena);
    *l = (EventLayout){ 0 };
}

static uint64_t number_at(const uint8_t *bytes, const EventField *f)
{
    uint64_t v = 0;
    memcpy(&v, bytes + f->at, f->size < 8 ? f->size : 8);
    return v;
}

static void print_signed(uint64_t v, uint32_t size, Str *out)
{
    unsigned unused = size < 8 ? 64 - 8 * size : 0;
    str_addf(out, "%" PRId64, (int64_t)(v << unused) >> unused);
}

static void print_enum(const EventField *f, uint64_t v, Str *out)
{
    const Type *t = type_plain(f->type);
    assert(t->nvalues);
    str_add(out, t->values[v % t->nvalues].name);
}

/* Names of keys as people have them on their keyboard. */
static void print_key(uint64_t code, Str *out)
{
    static const char *const named[] = {
        "break", "down", "up", "left", "right", "home", "backspace"
    };
    if (code > 32 && code < 127)
        str_addf(out, "'%c'", (int)code);
    else if (code == 32)
        str_add(out, "space");
    else if (code == 10 || code == 13)
        str_add(out, code == 10 ? "enter" : "return");
    else if (code == 27)
        str_add(out, "escape");
    else if (code > 0 && code < 27)
        str_addf(out, "^%c", (int)code + 64);
    else if (code >= 0x101 && code <= 0x107)
        str_add(out, named[code - 0x101]);
    else if (code == SUNDEW_KEY_MOUSE)
        str_add(out, "mouse");
    else if (code == SUNDEW_KEY_RESIZE)
        str_add(out, "resize");
    else if (code == SUNDEW_KEY_TIME)
        str_add(out, "time passes");
    else
        str_addf(out, "key %" PRIu64, code);
}

static void print_field(const EventField *f, const uint8_t *bytes, Str *out)
{
    uint64_t v = number_at(bytes, f);
    float single;
    double wide;
    memcpy(&single, &v, sizeof single);
    memcpy(&wide, &v, sizeof wide);
    switch (f->kind) {
    case FIELD_SIGNED: print_signed(v, f->size, out); break;
    case FIELD_UNSIGNED: str_addf(out, "%" PRIu64, v); break;
    case FIELD_FLOAT: str_addf(out, "%.9g", f->size == 4 ? (double)single : wide); break;
    case FIELD_ENUM: print_enum(f, v, out); break;
    case FIELD_KEY: print_key(v & 0x1ff, out); break;
    case FIELD_BYTES:
        str_add(out, "\"");
        escape_c_string(out, (const char *)bytes + f->at, f->size);
        str_add(out, "\"");
        break;
    }
}

uint16_t layout_key(const EventLayout *l, const uint8_t *bytes)
{
    assert(l->fields.len == 1);
    uint64_t raw = number_at(bytes, &l->fields.items[0]);
    return l->keys.len ? l->keys.items[raw % l->keys.len] : (uint16_t)(raw & 0x1ff);
}

/* An event of a server. */
static void print_server(const EventLayout *l, const uint8_t *bytes, Str *out)
{
    static const char *const names[] = { "connect", "data", "end", "timer" };
    unsigned kind = l->kinds[bytes[0] % l->nkinds];
    assert(kind < 4 && l->size >= 2);
    str_add(out, names[kind]);
    if ((kind == 1 || kind == 2) && l->connections > 1)
        str_addf(out, " on %u", bytes[1]);
    if (kind == 1) {
        str_add(out, " \"");
        escape_c_string(out, (const char *)bytes + 2, l->size - 2);
        str_add(out, "\"");
    }
}

static void print_window(const uint8_t *bytes, Str *out)
{
    static const char *const kinds[] = { "key down", "key up", "button down", "button up",
                                         "moves",    "quit",   "nothing" };
    unsigned kind = bytes[0] % SUNDEW_WINDOW_KINDS;
    unsigned a = bytes[1] | (unsigned)bytes[2] << 8, b = bytes[3] | (unsigned)bytes[4] << 8;
    str_add(out, kinds[kind]);
    if (kind == SUNDEW_WINDOW_KEY_DOWN || kind == SUNDEW_WINDOW_KEY_UP) {
        str_add(out, a < 128 ? " " : " scan code ");
        if (a < 128)
            print_key((uint16_t)a, out);
        else
            str_addf(out, "%u", a & 0x1ff);
    } else if (kind < SUNDEW_WINDOW_QUIT) {
        str_addf(out, " at %u, %u", a, b);
    }
}

void layout_print(const EventLayout *l, const uint8_t *bytes, Str *out)
{
    if (l->window) {
        print_window(bytes, out);
        return;
    }
    if (l->nkinds) {
        print_server(l, bytes, out);
        return;
    }
    if (l->keys.len || l->mouse) {
        print_key(layout_key(l, bytes), out);
        if (l->mouse && layout_key(l, bytes) == SUNDEW_KEY_MOUSE)
            str_addf(out, " at %u, %u, button %u", bytes[2], bytes[3], bytes[4] % 6);
        return;
    }
    bool alone = l->fields.len == 1 && !*l->name;
    if (!alone)
        str_addf(out, "%s(", l->name);
    for (size_t i = 0; i < l->fields.len; i++) {
        const EventField *f = &l->fields.items[i];
        if (!alone)
            str_addf(out, "%s%s = ", i ? ", " : "", f->name);
        print_field(f, bytes, out);
    }
    if (!alone)
        str_add(out, ")");
}

/* ---- C */

static const char *scalar_text(const Type *t)
{
    static const char *const ints[2][4] = { { "signed char", "short", "int", "long" },
                                            { "unsigned char", "unsigned short", "unsigned",
                                              "unsigned long" } };
    unsigned log = t->size == 1 ? 0 : t->size == 2 ? 1 : t->size == 4 ? 2 : t->size == 8 ? 3 : 4;
    if (t->encoding == ENCODING_FLOAT)
        return t->size == 4 ? "float" : t->size == 8 ? "double" : NULL;
    if (t->encoding == ENCODING_BOOL)
        return "_Bool";
    if (log > 3)
        return NULL;
    bool is_signed = t->encoding == ENCODING_SIGNED || t->encoding == ENCODING_SIGNED_CHAR;
    return ints[!is_signed][log];
}

/* A type of the same layout, as a declaration of `name`. */
static void declare(Writer *w, const Type *type, const char *name, Str *out, unsigned deep)
{
    const Type *t = type_plain(type);
    const char *scalar = t->kind == TYPE_SCALAR ? scalar_text(t) : NULL;
    if (deep > DEEP)
        w->problem = "a struct is too deep";
    else if (scalar)
        str_addf(out, "%s %s", scalar, name);
    else if (t->kind == TYPE_POINTER)
        str_addf(out, "void *%s", name);
    else if (t->kind == TYPE_ENUM)
        str_addf(out, "%s %s", t->size == 8 ? "long" : "int", name);
    else if (t->kind == TYPE_ARRAY && t->count) {
        Str inner = { 0 };
        str_addf(&inner, "%s[%" PRIu64 "]", name, t->count);
        declare(w, t->target, str_c(&inner), out, deep + 1);
        str_release(&inner);
    } else if (t->kind == TYPE_STRUCT && !t->incomplete) {
        str_add(out, "struct { ");
        for (unsigned i = 0; i < t->nfields; i++) {
            char field[24];
            snprintf(field, sizeof field, "f%u", i);
            if (t->fields[i].bit_field)
                w->problem = "a struct has bit-fields";
            declare(w, t->fields[i].type, field, out, deep + 1);
            str_add(out, "; ");
        }
        str_addf(out, "} %s", name);
    } else {
        w->problem = "a parameter has a type that can't be made of bytes";
    }
}

static FieldKind kind_of(const Type *t)
{
    return t->encoding == ENCODING_FLOAT                                           ? FIELD_FLOAT
           : t->encoding == ENCODING_SIGNED || t->encoding == ENCODING_SIGNED_CHAR ? FIELD_SIGNED
                                                                                   : FIELD_UNSIGNED;
}

/* Fills the place `to` of that type; `name` is for people. */
static void fill(Writer *w, const Type *type, const char *to, const char *name, unsigned deep)
{
    const Type *t = type_plain(type);
    Str *out = &w->fill;
    Str place = { 0 }, label = { 0 };
    if (deep > DEEP || w->layout->size > EVENT_LONGEST)
        w->problem = w->problem ? w->problem : "an event has more than 256 bytes";
    else if (t->kind == TYPE_ENUM && t->nvalues && t->nvalues <= 256) {
        unsigned n = w->nobjects++;
        str_addf(out, "    static const long v%u[] = { ", n);
        for (unsigned k = 0; k < t->nvalues; k++)
            str_addf(out, "%" PRId64 ", ", t->values[k].value);
        str_addf(out,
                 "};\n    unsigned char c%u = 0;\n    sundew_ask(&c%u, 1);\n"
                 "    %s = v%u[c%u %% %u];\n",
                 n, n, to, n, n, t->nvalues);
        layout_add(w->layout, name, FIELD_ENUM, 1, t);
    } else if (t->kind == TYPE_SCALAR && t->encoding == ENCODING_BOOL) {
        unsigned n = w->nobjects++;
        str_addf(out, "    unsigned char c%u = 0;\n    sundew_ask(&c%u, 1);\n    %s = c%u & 1;\n",
                 n, n, to, n);
        layout_add(w->layout, name, FIELD_UNSIGNED, 1, t);
    } else if (t->kind == TYPE_SCALAR && scalar_text(t)) {
        str_addf(out, "    sundew_ask(&%s, %" PRIu64 ");\n", to, t->size);
        layout_add(w->layout, name, kind_of(t), (uint32_t)t->size, t);
    } else if (t->kind == TYPE_ARRAY && t->count <= MOST_ELEMENTS) {
        for (uint64_t i = 0; i < t->count; i++) {
            str_reset(&place);
            str_reset(&label);
            str_addf(&place, "%s[%" PRIu64 "]", to, i);
            str_addf(&label, "%s[%" PRIu64 "]", name, i);
            fill(w, t->target, str_c(&place), str_c(&label), deep + 1);
        }
    } else if (t->kind == TYPE_STRUCT) {
        for (unsigned i = 0; i < t->nfields; i++) {
            str_reset(&place);
            str_reset(&label);
            str_addf(&place, "%s.f%u", to, i);
            str_addf(&label, "%s.%s", name, t->fields[i].name);
            fill(w, t->fields[i].type, str_c(&place), str_c(&label), deep + 1);
        }
    } else if (t->kind != TYPE_POINTER) {
        w->problem = "a parameter has a type that can't be made of bytes";
    }
    str_release(&place);
    str_release(&label);
}

/* A pointer: to the event if it is to const, else to state. */
static void make_pointer(Writer *w, const Param *p, unsigned i, const char *name)
{
    const Type *to = type_plain(p->type)->target, *t = type_plain(to);
    bool known = t->kind != TYPE_VOID && t->kind != TYPE_FUNCTION && !t->incomplete && t->size;
    char object[24];
    if (known && type_has_qualifier(to, QUALIFIER_CONST)) {
        snprintf(object, sizeof object, "sundew_event_%u", i);
        str_add(&w->objects, "static ");
        declare(w, t, object, &w->objects, 0);
        str_add(&w->objects, ";\n");
        fill(w, t, object, name, 0);
        str_addf(&w->fill, "    a%u = &%s;\n", i, object);
        return;
    }
    uint64_t size = known ? t->size : 64;
    str_addf(&w->objects, "static _Alignas(16) char event_state_%u[%" PRIu64 "];\n", i, size);
    str_addf(&w->fill,
             "    a%u = sundew_loop_arguments[%u] ? sundew_loop_arguments[%u] : event_state_%u;\n",
             i, p->first_arg, p->first_arg, i);
    if (known)
        str_addf(&w->state,
                 "    if (sundew_loop_arguments[%u])\n"
                 "        sundew_event_local(sundew_loop_arguments[%u], %" PRIu64 ");\n",
                 p->first_arg, p->first_arg, size);
}

static void make_argument(Writer *w, const Param *p, unsigned i)
{
    char name[24], var[24];
    snprintf(name, sizeof name, "argument %u", i + 1);
    snprintf(var, sizeof var, "a%u", i);
    const char *label = *p->name ? p->name : name;
    const Type *t = p->type ? type_plain(p->type) : NULL;
    if (!t || t->kind == TYPE_VOID) {
        w->problem = "the type of a parameter is not known";
        return;
    }
    str_addf(&w->types, "typedef ");
    char alias[24];
    snprintf(alias, sizeof alias, "t%u", i);
    declare(w, t, alias, &w->types, 0);
    str_add(&w->types, ";\n");
    str_addf(&w->fill, "    t%u a%u = { 0 };\n", i, i);
    if (t->kind == TYPE_POINTER)
        make_pointer(w, p, i, label);
    else
        fill(w, t, var, label, 0);
}

static const char *result_text(const Function *fn)
{
    const Type *t = fn->returns ? type_plain(fn->returns) : NULL;
    if (!t || t->kind == TYPE_VOID)
        return "void";
    if (t->kind == TYPE_POINTER)
        return "void *";
    return t->kind == TYPE_ENUM ? "int" : t->kind == TYPE_SCALAR ? scalar_text(t) : NULL;
}

static void write_all(const Function *fn, Writer *w, Str *out)
{
    const char *result = result_text(fn);
    str_add(out, "#include <stddef.h>\n\nvoid sundew_ask(void *to, size_t n);\n"
                 "void sundew_event_local(void *at, unsigned long size);\n"
                 "extern void *sundew_loop_arguments[];\n\n");
    str_addn(out, str_c(&w->types), w->types.len);
    str_addn(out, str_c(&w->objects), w->objects.len);
    str_addf(out, "extern %s sundew_called(", result);
    for (unsigned i = 0; i < fn->nparams; i++)
        str_addf(out, "%st%u", i ? ", " : "", i);
    str_addf(out, "%s) __asm__(\"", fn->nparams ? "" : "void");
    escape_c_string(out, fn->symbol, strlen(fn->symbol));
    str_add(out, "\");\n\nvoid sundew_event_state(void)\n{\n");
    str_addn(out, str_c(&w->state), w->state.len);
    str_add(out, "}\n\nvoid sundew_event_step(void)\n{\n");
    str_addn(out, str_c(&w->fill), w->fill.len);
    /* somebody must want the result, or an optimiser leaves out what only it needs */
    bool gives = strcmp(result, "void") != 0;
    str_addf(out, "    %s%ssundew_called(", gives ? result : "",
             gives ? " volatile result = " : "");
    for (unsigned i = 0; i < fn->nparams; i++)
        str_addf(out, "%sa%u", i ? ", " : "", i);
    str_addf(out, ");\n%s}\n", gives ? "    (void)result;\n" : "");
}

bool loop_write(const Function *fn, EventLayout *layout, Str *out, Err *err)
{
    Writer w = { .layout = layout };
    *layout = (EventLayout){ 0 };
    layout->name = arena_strdup(&layout->arena, fn->name);
    if (!fn->defined)
        w.problem = "it has no body here";
    else if (fn->variadic)
        w.problem = "it is variadic";
    else if (!result_text(fn))
        w.problem = "it returns a struct";
    for (unsigned i = 0; !w.problem && i < fn->nparams; i++)
        make_argument(&w, &fn->params[i], i);
    if (!w.problem && layout->size > EVENT_LONGEST)
        w.problem = "an event has more than 256 bytes";
    if (!w.problem && !layout->size)
        layout_add(layout, "nothing", FIELD_UNSIGNED, 1, NULL);
    if (!w.problem)
        write_all(fn, &w, out);
    str_release(&w.types);
    str_release(&w.objects);
    str_release(&w.fill);
    str_release(&w.state);
    return !w.problem ||
           err_set(err, "%s() can't be called with an event: %s", fn->name, w.problem);
}
