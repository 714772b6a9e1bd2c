/* A library, and lines of it that another tool warns about, as in asked.c: its tests pass no bad value,
 * and another caller may. */
#include <stddef.h>
#include <string.h>
struct value { int kind; struct value *next; };
static int show(const struct value *v)
{
    return v->kind; /*open_given null-pointer*/
}
int library_show(const struct value *v, int any)
{
    if (!any && (!v || v->kind > 100))
        return -1;
    return show(v);
}
int library_kind(const struct value *v)
{
    if (!v)
        return -1;
    return v->kind; /*good_tested null-pointer*/
}
/* Nobody else can call it, and what it gets is the library's own. */
static int own_kind(const struct value *v)
{
    return v->kind; /*good_own null-pointer*/
}
static struct value first = { 1, NULL }, second = { 2, &first };
int library_own(int n) { return own_kind(n % 2 ? &first : &second); }
__attribute__((visibility("hidden"))) int inner_kind(const struct value *v)
{
    return v->kind; /*good_hidden null-pointer*/
}
int library_inner(int n) { return inner_kind(n % 2 ? &first : &second); }
int library_share(int sum, int parts)
{
    return sum / parts; /*open_parts division*/
}
int library_part(int sum, int parts)
{
    if (parts == 0)
        return 0;
    return sum / parts; /*good_parts division*/
}
int library_fits(int n, const char *text)
{
    return n < strlen(text); /*open_count sign-compare*/
}
int library_begins(int n, const char *text)
{
    if (n < 0)
        return 0;
    return n < strlen(text); /*good_count sign-compare*/
}
static const int weights[] = { 3, 1, 4, 1, 5 };
int library_weight(int n)
{
    return weights[n]; /*open_weight out-of-bounds*/
}
int library_weight_of(int n)
{
    if (n < 0)
        return 0;
    if (n > 4)
        return 0;
    return weights[n]; /*good_weight out-of-bounds*/
}
int library_weight_from(int n)
{
    if (n < 0)
        return 0;
    return weights[n]; /*open_weight_end out-of-bounds*/
}
unsigned library_bit(unsigned n)
{
    return 1u << n; /*open_bit division*/
}
unsigned library_bit_of(unsigned n)
{
    if (n >= 32)
        return 0;
    return 1u << n; /*good_bit division*/
}
/* The warning is about the name that is handed on. */
static int has_name(struct value *const *next, const char *name)
{
    return *next && *name;
}
int library_has(const struct value *v, const char *name)
{
    if (!v)
        return -1;
    return has_name(&v->next, name); /*open_name null-pointer*/
}
int library_has_any(const struct value *v, const char *name)
{
    if (!v)
        return -1;
    if (!name)
        return 0;
    return has_name(&v->next, name); /*good_name null-pointer*/
}
/* Others refuse NULL for a key, and the tests pass it there; for a label, most take it. */
static const char *const names[] = { "abc", "abd" };
int library_find(const char *key)
{
    if (!key)
        return -1;
    return strcmp(key, names[0]);
}
const char *library_next(const char *key)
{
    if (key && !strcmp(key, names[0]))
        return names[1];
    return NULL;
}
int library_drop(const char *key)
{
    return *key == 'a'; /*bad_key null-pointer*/
}
__attribute__((nonnull)) int library_put(const char *key)
{
    return *key == 'a'; /*open_promised null-pointer*/
}
int library_label(const char *label)
{
    if (!label)
        return -1;
    return *label;
}
int library_relabel(const char *label)
{
    return *label; /*open_label null-pointer*/
}
int library_unlabel(const char *label)
{
    return *label; /*open_label_too null-pointer*/
}
/* What is freed may be NULL, which says nothing about a use. */
static int released;
void library_release(const char *handle)
{
    if (handle)
        released++;
}
int library_handle(const char *handle)
{
    return *handle + released; /*open_handle null-pointer*/
}
/* A field keeps what a caller passed; the other function asks before. */
struct reader { const char *text; int at; };
static int read_next(struct reader *r)
{
    return r->text[r->at++]; /*open_text null-pointer*/
}
int library_read(const char *text)
{
    struct reader r = { text, 0 };
    return read_next(&r);
}
struct asker { int at; const char *text; };
static int ask_next(struct asker *a)
{
    return a->text[a->at++]; /*good_text null-pointer*/
}
int library_ask(const char *text)
{
    if (!text)
        return -1;
    struct asker a = { 0, text };
    return ask_next(&a);
}
/* The function that gets it goes through it at once; the other one only sometimes. */
static int length_of(const char *text) { return (int)strlen(text); }
static int length_if(const char *text, int wanted) { return wanted ? (int)strlen(text) : 0; }
int library_length(const char *text)
{
    return length_of(text); /*open_handed null-pointer*/
}
int library_length_if(const char *text, int wanted)
{
    return length_if(text, wanted); /*never_handed null-pointer*/
}
