#include "technique/arguments/orders.h"
#include "base/file.h"
#include <ctype.h>
#include <string.h>

struct Orders {
    Map known;                 /* function -> KnownOrder */
    Map rules;                 /* function -> OrderRules */
};

Orders *orders_new(void) { return xcalloc(1, sizeof(Orders)); }

void orders_free(Orders *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->known.len; i++) {
        KnownOrder *k = o->known.entries[i].value;
        for (size_t p = 0; p < k->params.len; p++)
            strings_release(&k->params.items[p].names);
        vec_release(&k->params);
        free(k);
    }
    for (size_t i = 0; i < o->rules.len; i++) {
        OrderRules *r = o->rules.entries[i].value;
        vec_release(r);
        free(r);
    }
    map_release(&o->known);
    map_release(&o->rules);
    free(o);
}

static bool add_rule(Orders *o, const char *line, bool harmless, Err *err)
{
    char function[64];
    OrderRule rule = { .harmless = harmless };
    if (sscanf(line, " %63s %u %u: %15s %15s", function, &rule.first, &rule.second, rule.first_is,
               rule.second_is) != 5 ||
        !rule.first || !rule.second || rule.first == rule.second)
        return err_set(err, "a rule is: ! FUNCTION N N: KIND KIND");
    rule.first--;
    rule.second--;
    void **slot = map_slot(&o->rules, function);
    if (!*slot)
        *slot = xcalloc(1, sizeof(OrderRules));
    vec_push((OrderRules *)*slot, rule);
    return true;
}

bool orders_add_line(Orders *o, const char *line, Err *err)
{
    line += strspn(line, " \t");
    if (*line == '!' || *line == '?')
        return add_rule(o, line + 1, *line == '?', err);
    size_t n = strcspn(line, "(#\n");
    if (!n || line[n] != '(')
        return line[strspn(line, " \t")] == '#' || !*line || *line == '\n' ||
               err_set(err, "a line is: FUNCTION(NAME, NAME|OTHER, …)");
    char *function = xstrndup(line, n);
    KnownOrder *known = xcalloc(1, sizeof *known);
    KnownParam *param = vec_grow(&known->params);
    for (const char *at = line + n + 1; *at && *at != ')' && *at != '\n';) {
        size_t len = strcspn(at, "|,) \t\n");
        if (len) {
            char *name = xstrndup(at, len);
            vec_push(&param->names, name);
        }
        at += len;
        if (*at == ',')
            param = vec_grow(&known->params);
        if (*at && *at != ')' && *at != '\n')
            at++;
    }
    void **slot = map_slot(&o->known, function);
    if (*slot) {                       /* a user's line replaces ours */
        KnownOrder *old = *slot;
        for (size_t p = 0; p < old->params.len; p++)
            strings_release(&old->params.items[p].names);
        vec_release(&old->params);
        free(old);
    }
    *slot = known;
    free(function);
    return true;
}

bool orders_read(Orders *o, const char *path, Err *err)
{
    Str s = { 0 };
    unsigned number = 1;
    bool ok = file_read(path, &s, err);
    for (char *at = s.data; ok && at && *at; number++) {
        char *end = strchr(at, '\n');
        if (end)
            *end = 0;
        ok = orders_add_line(o, at, err) || err_ctx(err, "line %u", number);
        if (!end)
            break;
        at = end + 1;
    }
    str_release(&s);
    return ok || err_ctx(err, "table of argument orders %s", path);
}

const KnownOrder *orders_of(const Orders *o, const char *function)
{
    return map_get(&o->known, function);
}

static bool looks_like(const AstArg *a, const char *kind)
{
    if (*kind == '!')
        return !looks_like(a, kind + 1);
    if (strcmp(kind, "zero") == 0)
        return a->form == AST_LITERAL && a->has_value && a->value == 0;
    if (strcmp(kind, "number") == 0)
        return a->form == AST_LITERAL && !a->is_string;
    if (strcmp(kind, "sizeof") == 0)
        return a->integer == AST_INT_SIZEOF || a->integer == AST_INT_SIZEOF_POINTER;
    if (strcmp(kind, "size") == 0)
        return a->integer == AST_INT_SIZEOF || a->integer == AST_INT_STRLEN ||
               a->integer == AST_INT_SIZEOF_POINTER;
    if (strcmp(kind, "char") == 0)
        return a->integer == AST_INT_CHARACTER;
    if (strcmp(kind, "flags") == 0)
        return a->integer == AST_INT_MACRO || a->integer == AST_INT_ENUM;
    return false;
}

const OrderRule *orders_broken(const Orders *o, const AstCall *call)
{
    const OrderRules *rules =
        call->callee->home == AST_PROJECT ? NULL : map_get(&o->rules, call->callee->name);
    for (size_t i = 0; rules && i < rules->len; i++) {
        const OrderRule *r = &rules->items[i];
        if (r->first < call->nargs && r->second < call->nargs &&
            looks_like(&call->args[r->first], r->first_is) &&
            looks_like(&call->args[r->second], r->second_is))
            return r;
    }
    return NULL;
}
