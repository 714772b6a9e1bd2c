/*
 * Each aspect is a function from an argument and its parameter to a label, or
 * to nothing. What is left out is left out on purpose: the integer types that
 * only say how wide a value is, and all that is a plain number, mix freely in
 * good C, and an analysis that compares them reports nothing but noise.
 */
#include "technique/types/kinds.h"
#include "technique/types/histogram.h"
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *aspect_name(Aspect a)
{
    /* clang-format off */
    static const char *const names[NASPECTS] = {
        [ASPECT_POINTER] = "pointer", [ASPECT_KIND] = "kind",
        [ASPECT_SIZE] = "size",       [ASPECT_SLOT] = "slot",
        [ASPECT_CALLBACK] = "callback", [ASPECT_CHAR] = "char",
    };
    /* clang-format on */
    assert(a < NASPECTS);
    return names[a];
}

#define ANY_FUNCTION  "any function"
#define OBJECT_SIZE   "the size of an object"
#define SOMETHING     "something else"
#define A_SIZE        "a size"
#define UNSIGNED_CHAR "unsigned char or int"
#define EXPECTED      "what the callback expects"
#define UNEXPECTED    "another type than it expects"
#define OWN_STRUCT    "a struct of the program"

bool label_is_innocent(const char *label)
{
    static const char *const labels[] = {
        A_SIZE, UNSIGNED_CHAR, EXPECTED, OBJECT_SIZE, NULL_POINTER, SOMETHING,
    };
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (strcmp(label, labels[i]) == 0)
            return true;
    return false;
}

/* The sign of characters is a habit of each program: most ignore it. */
bool key_is_shared(const char *key) { return key[0] != '@' && !strstr(key, "\tchar\t"); }

static const char *text(Kinds *k, const char *s)
{
    const char *t = map_get(&k->texts, s);
    if (!t) {
        t = arena_strdup(&k->arena, s);
        map_put(&k->texts, s, (void *)t);
    }
    return t;
}

/* ---- selectors */

/*
 * Library functions with an argument that says what the others are: its
 * position, from 1. Functions of the project are found by how they are called.
 */
/* clang-format off */
static const struct dispatcher {
    const char *name;
    unsigned selector;
} dispatchers[] = {
    { "setsockopt", 3 },        { "getsockopt", 3 },
    { "ioctl", 2 },             { "fcntl", 2 },
    { "fcntl64", 2 },           { "prctl", 1 },
    { "ptrace", 1 },            { "semctl", 3 },
    { "shmctl", 2 },            { "msgctl", 2 },
    { "curl_easy_setopt", 2 },  { "curl_easy_getinfo", 2 },
    { "curl_multi_setopt", 2 }, { "curl_share_setopt", 2 },
    { "sqlite3_config", 1 },    { "sqlite3_db_config", 2 },
    { "sqlite3_file_control", 3 }, { "sqlite3_test_control", 1 },
    { "XML_SetFeature", 2 },    { "archive_write_set_option", 2 },
};
/* clang-format on */

static const AstType *param_type(const AstFunction *f, size_t i)
{
    return i < f->nparams ? f->params[i].type : NULL;
}

static bool is_pointer_to(const AstType *t, AstTypeKind kind)
{
    return t && t->kind == AST_POINTER && t->pointee && t->pointee->kind == kind;
}

static bool is_integral(const AstType *t)
{
    return t && (t->kind == AST_INTEGER || t->kind == AST_ENUM || t->kind == AST_BOOL ||
                 t->kind == AST_CHARACTER);
}

/* The name of a constant, if the argument is one. */
static const char *constant(const AstArg *a)
{
    if (a->form == AST_ENUMERATOR)
        return a->name;
    if (a->integer == AST_INT_MACRO)
        return a->macro ? a->macro : a->name;
    return NULL;
}

/* Could argument `j` of such a function select what comes after it? Not before
 * a text: that would be the level of a message with its format. */
static bool may_select(const AstFunction *f, size_t j)
{
    if (!is_integral(param_type(f, j)))
        return false;
    bool open = f->variadic;
    for (size_t i = j + 1; i < f->nparams; i++) {
        if (is_pointer_to(f->params[i].type, AST_CHARACTER))
            return false;
        open |= is_pointer_to(f->params[i].type, AST_VOID);
    }
    return open;
}

/* How an argument that may select is used: how often by name, by which. */
typedef struct Use {
    size_t calls, named;
    const char *first;
    bool differ;
} Use;

static void find_selectors(Kinds *k, const AstIndex *ix)
{
    Arena a = { 0 };
    Map uses = { 0 };
    for (size_t i = 0; i < ix->ncalls; i++) {
        const AstCall *c = ix->calls[i];
        if (c->callee->home != AST_PROJECT || !c->callee->prototyped)
            continue;
        for (size_t j = 0; j < c->callee->nparams && j < c->nargs; j++) {
            if (!may_select(c->callee, j))
                continue;
            char *key = arena_printf(&a, "%zu %s", j, c->callee->key);
            void **slot = map_slot(&uses, key);
            if (!*slot)
                *slot = arena_new(&a, Use);
            Use *u = *slot;
            const char *name = constant(&c->args[j]);
            u->calls++;
            u->named += name != NULL;
            u->differ |= name && u->first && strcmp(name, u->first) != 0;
            u->first = u->first ? u->first : name;
        }
    }
    for (size_t i = 0; i < uses.len; i++) {
        const Use *u = uses.entries[i].value;
        char *function;
        size_t j = strtoul(uses.entries[i].key, &function, 10);
        if (u->differ && u->calls >= 10 && u->named * 10 >= u->calls * 9)
            map_put(&k->selectors, function + 1, (void *)(uintptr_t)(j + 1));
    }
    map_release(&uses);
    arena_release(&a);
}

/* Position of the callee's selector, from 1; 0: it has none. */
static unsigned selector_of(const Kinds *k, const AstFunction *f)
{
    if (f->home == AST_PROJECT)
        return (unsigned)(uintptr_t)map_get(&k->selectors, f->key);
    for (size_t i = 0; i < sizeof dispatchers / sizeof *dispatchers; i++)
        if (strcmp(dispatchers[i].name, f->name) == 0)
            return dispatchers[i].selector;
    return 0;
}

static const char *enum_label(Kinds *k, const char *name, const char *decl);

void kinds_init(Kinds *k, const AstIndex *ix)
{
    *k = (Kinds){ 0 };
    for (size_t i = 0; i < ix->nfunctions; i++)
        if (ix->functions[i]->defined && ix->functions[i]->usr)
            map_put(&k->functions, ix->functions[i]->usr, (void *)ix->functions[i]);
    for (size_t i = 0; i < ix->ncalls; i++)
        for (size_t j = 0; j < ix->calls[i]->nargs; j++) {
            const AstArg *a = &ix->calls[i]->args[j];
            const char *label =
                a->form == AST_ENUMERATOR && a->name ? enum_label(k, a->enum_name, NULL) : NULL;
            if (label)
                map_put(&k->enumerators, a->name, (void *)label);
        }
    find_selectors(k, ix);
}

void kinds_release(Kinds *k)
{
    map_release(&k->texts);
    map_release(&k->functions);
    map_release(&k->selectors);
    map_release(&k->enumerators);
    arena_release(&k->arena);
}

/* ---- sightings */

/* The call that is being looked at. */
typedef struct Site {
    Kinds *k;
    const AstCall *call;
    const char *selector;      /* the constant, or "-" */
    unsigned selects;          /* its position; 0: none */
    Sightings *out;
} Site;

/* That argument `i` shows this. */
static Sighting shows(size_t i, Aspect aspect, const char *label)
{
    return (Sighting){ .aspect = aspect, .position = (unsigned)i + 1, .label = label, .weight = 1 };
}

/* The sighting goes to the histogram of `callee`, position `at`. */
static void see_as(Site *s, const char *callee, size_t at, const char *selector, Sighting t)
{
    assert(t.label && t.weight > 0 && !strchr(selector, '\t'));
    char *key = xprintf("%s\t%zu\t%s\t%s", callee, at, aspect_name(t.aspect), selector);
    t.key = text(s->k, key);
    t.label = text(s->k, t.label);
    t.shown = t.shown ? text(s->k, t.shown) : t.label;
    t.declared = t.declared ? text(s->k, t.declared) : NULL;
    vec_push(s->out, t);
    free(key);
}

static char *callee_key(const Site *s)
{
    const AstFunction *f = s->call->callee;
    const char *name = str_starts(f->name, "__builtin_") ? f->name + strlen("__builtin_") : f->name;
    return f->home == AST_PROJECT && name == f->name ? xprintf("@%s", f->key) : xstrdup(name);
}

static void see(Site *s, const char *selector, Sighting t)
{
    char *callee = callee_key(s);
    see_as(s, callee, t.position, selector, t);
    free(callee);
}

/* What is the same question for all functions has one histogram more, so that
 * a function with few callers is judged too. */
static void see_anywhere(Site *s, Sighting t) { see_as(s, ANY_FUNCTION, 0, "-", t); }

/* ---- pointers */

static const char *unqualified(const char *spelling)
{
    for (;;) {
        if (str_starts(spelling, "const "))
            spelling += 6;
        else if (str_starts(spelling, "volatile "))
            spelling += 9;
        else
            return spelling;
    }
}

static const char *integer_by_width(const AstType *t)
{
    switch (t->size) {
    case 1: return "char";
    case 2: return "short";
    case 4: return "int";
    case 8: return "long";
    default: return "integer";
    }
}

/* Is `base` the struct, or the first member of it, at any depth? */
static bool begins_with(const AstType *t, const AstType *base)
{
    for (; t; t = t->first)
        if (t->decl && base->decl && strcmp(t->decl, base->decl) == 0)
            return true;
    return false;
}

/*
 * What to call the type `t` that a pointer for the parameter `p` points to.
 * Signs and qualifiers don't matter here, nor that one of two structs is the
 * first member of the other: casts up and down are how C inherits, and a cast
 * between structs of one size is how it makes twins. A library sees all structs
 * of the program as one kind.
 */
static const char *pointee_label(const AstFunction *f, const AstType *p, const AstType *t)
{
    while (t->kind == AST_ARRAY && t->pointee)
        t = t->pointee;
    switch (t->kind) {
    case AST_CHARACTER: return "char";
    case AST_BOOL: return "bool";
    case AST_INTEGER: return integer_by_width(t);
    case AST_POINTER: return f->home == AST_PROJECT ? t->plain : "a pointer";
    case AST_FUNCTION_TYPE: return "a function";
    case AST_FLOATING: return t->plain;
    case AST_ENUM: return "int";
    case AST_RECORD: break;
    default: return NULL;
    }
    if (p && p->kind == AST_RECORD &&
        (begins_with(t, p) || begins_with(p, t) ||
         (f->home == AST_PROJECT && t->size > 0 && t->size == p->size)))
        return unqualified(p->plain);
    if (f->home != AST_PROJECT && t->home == AST_PROJECT)
        return OWN_STRUCT;
    return unqualified(t->plain);
}

/* The type that a pointer argument points to before any conversion; NULL: none
 * or not known. */
static const AstType *target(const AstType *t)
{
    if (!t || (t->kind != AST_POINTER && t->kind != AST_ARRAY) || !t->pointee ||
        t->pointee->kind == AST_VOID)
        return NULL;
    return t->pointee;
}

static const AstType *target_of(const AstArg *a)
{
    const AstType *t = target(a->inner);
    return t ? t : target(a->type);
}

/* The pointer label of an argument, or NULL. */
static const char *pointer_label(const AstFunction *f, const AstType *param, const AstArg *a)
{
    const AstType *t = target_of(a);
    if (!t)
        return NULL;
    if (a->address && t->kind == AST_POINTER && a->local)
        return "the address of a pointer";
    return pointee_label(f, param, t);
}

/*
 * The body of a function tells what its untyped parameter is for: turned into
 * one type, it is that; turned into bytes, or never into anything, it is for
 * everything. False: for everything.
 */
static bool body_says(const AstFunction *f, size_t i, const AstType *to, const char **declared)
{
    const AstParam *p = &f->params[i];
    *declared = NULL;
    if (to->kind != AST_VOID || !f->defined)
        return true;
    for (size_t k = 0; k < p->nbecomes; k++) {
        const AstType *b = target(p->becomes[k]);
        if (b && b->kind == AST_CHARACTER)
            return false;
    }
    const AstType *t = p->nbecomes == 1 ? target(p->becomes[0]) : NULL;
    if (t && t->kind == AST_RECORD)
        *declared = pointee_label(f, NULL, t);
    return p->nbecomes > 0;
}

static void see_pointer(Site *s, size_t i, const AstType *p)
{
    const AstArg *a = &s->call->args[i];
    const AstType *to = p->pointee;
    const char *declared;
    if (to->kind != AST_VOID && to->kind != AST_RECORD)
        return;
    if (a->has_value || a->form == AST_LITERAL)
        return;
    const char *selector = s->selects && i >= s->selects ? s->selector : "-";
    const AstFunction *f = s->call->callee;
    if (!body_says(f, i, to, &declared))
        return;
    if (!target(a->inner) && a->nsources) {
        for (size_t k = 0; k < a->nsources; k++) {
            const AstType *t = target(a->sources[k]);
            const char *label = t ? pointee_label(f, to, t) : NULL;
            Sighting one = shows(i, ASPECT_POINTER, label);
            one.weight = 1.0 / (double)a->nsources;
            one.declared = declared;
            if (label)
                see(s, selector, one);
        }
        return;
    }
    const char *label = pointer_label(f, to, a);
    if (!label)
        return;
    Sighting t = shows(i, ASPECT_POINTER, label);
    t.declared = declared;
    if (strcmp(label, OWN_STRUCT) == 0)
        t.shown = unqualified(target_of(a)->plain);
    see(s, selector, t);
}

/* ---- integers */

/* POSIX types that say what a number is, not how wide; a project's my_pid_t or Pid
 * is a pid_t. NULL: none of them. */
static const char *posix_thing(const AstType *t)
{
    const char *name = unqualified(t->spelling);
    static const char *const things[] = {
        "uid_t",   "gid_t",     "pid_t",       "mode_t",    "dev_t",     "ino_t",
        "time_t",  "clockid_t", "sa_family_t", "in_addr_t", "in_port_t", "key_t",
        "speed_t", "tcflag_t",  "nfds_t",      "rlim_t",    "pthread_t", "timer_t",
    };
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        if (str_ends(name, things[i]) || (strlen(name) + 2 == strlen(things[i]) &&
                                          strncasecmp(name, things[i], strlen(name)) == 0))
            return things[i];
    return NULL;
}

/* A project's typedef that has no width in its name: Pgno, but not u32. */
static bool is_thing_of_project(const AstType *t)
{
    const char *name = unqualified(t->spelling);
    if (t->home != AST_PROJECT || t->kind != AST_INTEGER ||
        strcmp(unqualified(t->canonical), name) == 0)
        return false;
    static const char *const widths[] = {
        "int", "char", "byte", "short", "long", "word", "size", "bool", "bit",
    };
    char lower[64] = "";
    for (size_t i = 0; name[i] && i + 1 < sizeof lower; i++) {
        lower[i] = (char)tolower((unsigned char)name[i]);
        if (isdigit((unsigned char)name[i]))
            return false;
    }
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (strstr(lower, widths[i]))
            return false;
    return true;
}

static bool is_boolean_name(const char *s)
{
    static const char *const names[] = {
        "true", "false", "TRUE", "FALSE", "True", "False", "YES", "NO", "yes", "no",
    };
    for (size_t i = 0; s && i < sizeof names / sizeof *names; i++)
        if (strcmp(s, names[i]) == 0)
            return true;
    return false;
}

/* Length of the constant's name at `s`: capitals, digits, underscores, with a
 * letter first. 0: there is none. */
static size_t capital_name(const char *s)
{
    size_t n = 0;
    bool lower = false;
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        lower |= islower((unsigned char)s[n++]) != 0;
    return n > 1 && !lower && !isdigit((unsigned char)s[0]) ? n : 0;
}

static const char *enum_label(Kinds *k, const char *name, const char *decl)
{
    name = name && *name ? unqualified(name) : decl;
    if (!name || strchr(name, '('))
        return NULL;
    if (str_starts(name, "enum "))
        name += 5;
    char *label = xprintf("enum %s", name);
    const char *t = text(k, label);
    free(label);
    return t;
}

/* `O_RDWR | O_CREAT`: each name counts for a part. An enumerator is known by
 * standing alone elsewhere. False: no such list. */
static bool see_flags(Site *s, size_t i, const char *written, const char *declared)
{
    char *names[16];
    size_t n = 0;
    bool ok = true;
    const char *at = written;
    while (ok) {
        at += strspn(at, " \t\n(");
        size_t len = capital_name(at);
        ok = len && n < 16;
        if (!ok)
            break;
        names[n++] = xstrndup(at, len);
        at += len;
        at += strspn(at, " \t\n)");
        if (*at != '|' || at[1] == '|')
            break;
        at++;
    }
    ok = ok && *at == 0 && n > 1;
    for (size_t k = 0; k < n; k++) {
        const char *known = map_get(&s->k->enumerators, names[k]);
        char *label = known ? xstrdup(known) : xprintf("const %s", names[k]);
        Sighting t = shows(i, ASPECT_KIND, label);
        t.weight = 1.0 / (double)n;
        t.declared = declared;
        if (ok && (known || !declared))
            see(s, "-", t);
        free(label);
        free(names[k]);
    }
    return ok;
}

/* An enum without a name serves as a list of constants. */
static bool is_nameless(const AstArg *a)
{
    return a->form == AST_ENUMERATOR &&
           (!a->enum_name || !*a->enum_name || strchr(a->enum_name, '('));
}

static bool is_size(const AstType *p)
{
    return p->kind == AST_INTEGER && str_ends(p->spelling, "size_t");
}

/* Sizes mix with everything that is a number; a comparison or a character is
 * none: `memcmp(a, b, n == 0)`, `memset(p, n, '0')`. `a && b` is meant. */
static const char *size_kind(const AstArg *a)
{
    bool meant = a->text && (strstr(a->text, "&&") || strstr(a->text, "||"));
    if (a->integer == AST_INT_BOOLEAN && a->form == AST_ARITHMETIC && !meant)
        return "a comparison";
    if (a->integer == AST_INT_CHARACTER && a->form == AST_LITERAL)
        return CHARACTER;
    return A_SIZE;
}

static void see_kind(Site *s, size_t i, const AstType *p)
{
    const AstArg *a = &s->call->args[i];
    const char *declared = p->kind == AST_ENUM ? enum_label(s->k, p->plain, p->decl) : NULL;
    const char *label = NULL;
    char *made = NULL;
    if (is_size(p) && i + 1 != s->selects) {
        label = size_kind(a);
    } else if (is_boolean_name(a->name) || is_boolean_name(a->macro) ||
               a->integer == AST_INT_BOOLEAN) {
        label = TRUTH;
    } else if (a->integer == AST_INT_ENUM && !is_nameless(a)) {
        label = enum_label(s->k, a->enum_name, a->enum_decl);
    } else if (constant(a)) {
        const char *name = constant(a);
        if (capital_name(name) == strlen(name) && !declared)
            label = made = xprintf("const %s", name);
    } else if (a->integer == AST_INT_CHARACTER && a->form == AST_LITERAL) {
        label = CHARACTER;
    } else if (a->integer == AST_INT_LITERAL && a->value != 1 && !a->cast && !a->in_macro &&
               a->text && isdigit((unsigned char)*a->text)) {
        label = NUMBER;
    } else if (a->text && strchr(a->text, '|')) {
        see_flags(s, i, a->text, declared);
    } else if (a->integer == AST_INT_PLAIN && a->type && !a->cast) {
        label = posix_thing(a->type);
        if (!label && is_thing_of_project(a->type))
            label = unqualified(a->type->spelling);
    }
    if (label) {
        Sighting t = shows(i, ASPECT_KIND, label);
        char *number = xprintf("the number %lld", (long long)a->value);
        t.declared = declared;
        t.shown = strcmp(label, NUMBER) == 0 ? number : NULL;
        see(s, "-", t);
        if (is_size(p) && i + 1 != s->selects)
            see_anywhere(s, t);
        free(number);
    }
    free(made);
}

/* ---- sizes */

/* Whether sizeof(t) is the size of what the argument points to or is. */
static bool is_size_of(const AstType *t, const AstArg *to)
{
    const AstType *own = to->inner ? to->inner : to->type;
    const AstType *object = target_of(to);
    if (!object)
        return false;
    if (own->kind == AST_ARRAY && strcmp(own->plain, t->plain) == 0)
        return true;
    while (t->kind == AST_ARRAY && t->pointee)      /* sizeof(struct s[3]) */
        t = t->pointee;
    while (object) {
        if (strcmp(object->plain, t->plain) == 0 ||
            (object->kind == AST_INTEGER && t->kind == AST_INTEGER && object->size == t->size))
            return true;
        object = object->kind == AST_ARRAY ? object->pointee : NULL;
    }
    return false;
}

/* (uint8_t *)words with sizeof(uint8_t): they are bytes here. */
static bool is_size_of_cast(const AstType *t, const AstArg *to)
{
    return to->cast && to->type->kind == AST_POINTER && to->type->pointee &&
           strcmp(to->type->pointee->plain, t->plain) == 0;
}

/* Room for something whose size can't be known here: bytes, and the socket
 * address that stands for all kinds of them. */
static bool is_bytes(const AstArg *a)
{
    const AstType *t = target_of(a);
    return !t || t->kind == AST_CHARACTER ||
           strcmp(unqualified(t->plain), "struct sockaddr") == 0 ||
           strcmp(unqualified(t->plain), "struct sockaddr_storage") == 0;
}

/*
 * `put(&s, sizeof s)`: the size is that of argument 1's object. Between two
 * objects of one type there is nothing to tell, and of raw bytes nothing is
 * known, except that the size of the pointer itself is not theirs.
 */
static void see_size(Site *s, size_t i)
{
    const AstCall *c = s->call;
    const AstArg *a = &c->args[i];
    const AstType *t = a->sizeof_type;
    if (!t || (a->integer != AST_INT_SIZEOF && a->integer != AST_INT_SIZEOF_POINTER))
        return;
    size_t fits = 0, fit = 0, pointers = 0, bytes = 0;
    bool of_pointer = false;
    for (size_t j = 0; j < c->nargs; j++) {
        const AstArg *b = &c->args[j];
        const AstType *own = b->inner ? b->inner : b->type;
        if (j == i || !own || b->has_value || (own->kind != AST_POINTER && own->kind != AST_ARRAY))
            continue;
        pointers++;
        bytes += is_bytes(b);
        bool same_text = b->text && a->sizeof_text && strcmp(b->text, a->sizeof_text) == 0;
        if (same_text && own->kind == AST_POINTER) {
            of_pointer = true;
        } else if (is_size_of(t, b) || is_size_of_cast(t, b) || same_text) {
            fits++;
            fit = j;
        }
    }
    char *label = NULL;
    if (of_pointer)
        label = xprintf("the size of the pointer");
    else if (fits == 1)
        label = xprintf("the size of argument %zu's object", fit + 1);
    else if (fits == 0 && pointers && !bytes && t->kind != AST_ARRAY)
        label = xprintf("the size of something else");
    if (label) {
        see(s, "-", shows(i, ASPECT_SIZE, label));
        see_anywhere(s, shows(i, ASPECT_SIZE, of_pointer ? label : OBJECT_SIZE));
    }
    free(label);
}

/* ---- variable arguments */

static void see_slot(Site *s, size_t i)
{
    const AstArg *a = &s->call->args[i];
    const AstType *t = a->type;
    if (!t || !s->selects || strcmp(s->selector, "-") == 0)
        return;
    const char *label = NULL;
    if (is_integral(t))
        label = t->size > 4 ? A_LONG : AN_INT;
    else if (t->kind == AST_FLOATING)
        label = "double";
    else if (t->kind == AST_FUNCTION_TYPE || a->form == AST_FUNCTION_NAME ||
             (t->pointee && t->pointee->kind == AST_FUNCTION_TYPE))
        return see(s, s->selector, shows(i, ASPECT_SLOT, "a function"));
    else if (!a->has_value && a->form != AST_LITERAL)
        label = pointer_label(s->call->callee, NULL, a);
    else if (a->is_string)
        label = "char";
    if (!label)
        return;
    bool pointer = t->kind == AST_POINTER || t->kind == AST_ARRAY;
    char *made = pointer ? xprintf("a pointer to %s", label) : xstrdup(label);
    see(s, s->selector, shows(i, ASPECT_SLOT, made));
    free(made);
}

/* The end of a list of variable arguments: where all others write NULL, a 0 is
 * an int, and only half of a pointer on most machines. */
static void see_last(Site *s, size_t i)
{
    const AstArg *a = &s->call->args[i];
    bool null = a->type && a->type->kind == AST_POINTER && a->has_value && a->value == 0;
    const char *label = null ? NULL_POINTER : a->integer == AST_INT_ZERO ? INT_ZERO : SOMETHING;
    char *callee = callee_key(s);
    see_as(s, callee, 0, "last", shows(i, ASPECT_SLOT, label));
    free(callee);
}

/* ---- callbacks */

/* Does a body that turns its parameter into these types suit `t`? */
static bool suits(const AstParam *p, const AstFunction *f, const AstType *t)
{
    for (size_t i = 0; i < p->nbecomes; i++) {
        const AstType *want = target(p->becomes[i]);
        if (!want)
            return true;
        const char *a = pointee_label(f, want, want);
        const char *b = pointee_label(f, want, t);
        if (!a || !b || strcmp(a, b) == 0 || want->kind == AST_CHARACTER)
            return true;
    }
    return p->nbecomes == 0;
}

/* For each function among the arguments and each of its untyped parameters:
 * is this argument what the function makes of that parameter? */
static void see_callback(Site *s, size_t i)
{
    const AstCall *c = s->call;
    const AstType *t = target_of(&c->args[i]);
    if (!t || c->args[i].has_value)
        return;
    for (size_t j = 0; j < c->nargs; j++) {
        if (c->args[j].form != AST_FUNCTION_NAME || !c->args[j].decl)
            continue;
        const AstFunction *f = map_get(&s->k->functions, c->args[j].decl);
        for (size_t p = 0; f && p < f->nparams; p++) {
            if (!f->params[p].nbecomes)
                continue;
            char *which = xprintf("%zu.%zu", j + 1, p + 1);
            see(s, which,
                shows(i, ASPECT_CALLBACK, suits(&f->params[p], f, t) ? EXPECTED : UNEXPECTED));
            free(which);
        }
    }
}

/* ---- characters */

/* isdigit(c) and its like are undefined for negative values. */
static bool needs_unsigned_char(const AstFunction *f)
{
    static const char *const names[] = {
        "isalnum", "isalpha", "isblank", "iscntrl", "isdigit",  "isgraph", "islower",
        "isprint", "ispunct", "isspace", "isupper", "isxdigit", "tolower", "toupper",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(f->name, names[i]) == 0)
            return f->home != AST_PROJECT;
    return false;
}

static void see_char(Site *s, size_t i)
{
    const AstArg *a = &s->call->args[i];
    if (!needs_unsigned_char(s->call->callee) || !a->type || a->has_value)
        return;
    bool is_char = a->type->kind == AST_CHARACTER && a->type->is_signed;
    see_anywhere(s, shows(i, ASPECT_CHAR, is_char ? "char" : UNSIGNED_CHAR));
}

void kinds_of_call(Kinds *k, const AstCall *call, Sightings *out)
{
    const AstFunction *f = call->callee;
    Site s = { k, call, "-", selector_of(k, f), out };
    if (!f->prototyped)
        return;
    if (s.selects && s.selects <= call->nargs) {
        const char *name = constant(&call->args[s.selects - 1]);
        if (name && !strpbrk(name, "\t\n"))
            s.selector = name;
    }
    for (size_t i = 0; i < call->nargs; i++) {
        const AstType *p = param_type(f, i);
        if (!p) {
            if (f->variadic && s.selects)
                see_slot(&s, i);
            else if (f->variadic && i + 1 == call->nargs)
                see_last(&s, i);
            continue;
        }
        if (p->kind == AST_POINTER && p->pointee) {
            bool unkeyed = s.selects && i >= s.selects && strcmp(s.selector, "-") == 0;
            if (!unkeyed)
                see_pointer(&s, i, p);
            if (p->pointee->kind == AST_VOID)
                see_callback(&s, i);
        } else if (is_integral(p)) {
            see_kind(&s, i, p);
            see_size(&s, i);
            see_char(&s, i);
        }
    }
}
