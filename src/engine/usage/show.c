/* A usage as text, as JSON, as a picture. */
#include "base/escape.h"
#include "base/json.h"
#include "engine/usage/usage_int.h"
#include <string.h>

enum { SHOWN_VALUES = 4, SHOWN_BYTES = 48 };

static bool has_place(Places places, int place) { return places & place_bit(place); }

/* A value short enough for a line; texts are cut. */
static void print_value(const SeqValue *v, Str *out)
{
    SeqValue cut = *v;
    Str text = { 0 };
    bool longer = (v->kind == VALUE_STRING || v->kind == VALUE_BYTES) && v->n > SHOWN_BYTES;

    if (longer)
        cut.n = SHOWN_BYTES;
    if (cut.kind == VALUE_FUNCTION && cut.symbol)
        str_add(&text, cut.symbol);
    else
        value_print(&cut, &text);
    escape_terminal(out, str_c(&text), text.len);
    if (longer)
        str_addf(out, "… (%zu bytes)", v->n);
    str_release(&text);
}

static void print_values(const UsageValues *v, Str *out)
{
    for (size_t i = 0; i < v->n && i < SHOWN_VALUES; i++) {
        if (i)
            str_add(out, " | ");
        print_value(&v->values[i], out);
    }
    if (v->n > SHOWN_VALUES)
        str_addf(out, " | %zu more", v->n - SHOWN_VALUES);
}

static void print_param(const ApiFunction *f, unsigned i, Str *out)
{
    if (*f->params[i].name)
        escape_terminal_z(out, f->params[i].name);
    else
        str_addf(out, "%u", i + 1);
}

static void print_call(const ApiFunction *f, Places places, const UsageValues *values, Str *out)
{
    if (has_place(places, API_RETURNED))
        str_add(out, "SELF = ");
    escape_terminal_z(out, f->name);
    str_addc(out, '(');
    for (unsigned i = 0; i < f->nparams; i++) {
        str_add(out, i ? ", " : "");
        if (has_place(places, (int)i)) {
            str_add(out, f->params[i].role == ROLE_HANDLE_OUT ? "&SELF" : "SELF");
            continue;
        }
        print_param(f, i, out);
        if (values && values[i].n && !f->params[i].handle) {
            str_add(out, " = ");
            print_values(&values[i], out);
        }
    }
    str_addc(out, ')');
}

/* The first row before which the caller set something; NULL: none. */
static const UsageRow *row_with_stores(const UsageEdge *e)
{
    for (size_t i = 0; i < e->nrows; i++)
        if (e->rows[i].nstores)
            return &e->rows[i];
    return NULL;
}

static void print_stores(const UsageEdge *e, Str *out)
{
    const UsageRow *row = row_with_stores(e);
    for (size_t i = 0; row && i < row->nstores; i++) {
        str_add(out, i ? ", " : "            after ");
        print_param(e->function, (unsigned)row->stores[i].place, out);
        str_addc(out, '.');
        escape_terminal_z(out, row->stores[i].field->name);
        str_add(out, " = ");
        print_value(&row->stores[i].value, out);
    }
    if (row)
        str_addc(out, '\n');
}

static void print_edge(const UsageEdge *e, Str *out)
{
    str_addf(out, "    %u -> %u  ", e->from, e->to);
    print_call(e->function, e->places, e->values, out);
    if (e->results.n) {
        str_add(out, " gives ");
        print_values(&e->results, out);
    }
    str_addf(out, "  [%u%s%s%s%s%s", e->count, e->creates ? ", creates" : "",
             e->ends ? ", ends" : "", e->rebinds ? ", rebinds" : "",
             e->via == VIA_EXAMPLE ? "" : ", by the ",
             e->via == VIA_EXAMPLE ? "" : usage_via_name(e->via));
    if (e->weight != 1 && e->via == VIA_EXAMPLE)
        str_addf(out, ", weight %g", e->weight);
    str_add(out, "]\n");
    print_stores(e, out);
}

static void print_type(const UsageType *t, Str *out)
{
    escape_terminal_z(out, t->type->name);
    str_addf(out, ": %u object%s, %zu nodes, %zu edges", t->objects, t->objects == 1 ? "" : "s",
             t->nnodes, t->nedges);
    if (t->cut)
        str_addf(out, "; %u had longer histories than are looked at", t->cut);
    str_addc(out, '\n');
    for (size_t i = 0; i < t->nnodes; i++)
        for (size_t k = 0; k < t->nodes[i].nedges; k++)
            print_edge(t->nodes[i].edges[k], out);
    for (size_t i = 0; i < t->nobservers; i++) {
        str_add(out, "    observes  ");
        print_call(t->observers[i].function, t->observers[i].places, NULL, out);
        str_addf(out, "  [%u]\n", t->observers[i].count);
    }
}

static void print_place(const ApiFunction *f, int place, Str *out)
{
    if (place == API_RETURNED)
        str_add(out, "the result");
    else
        print_param(f, (unsigned)place, out);
}

static void print_relation(const ApiFunction *f, const UsageRelation *r, Str *out)
{
    static const char *const words[] = {
        [RELATION_LENGTH] = " is at most the length of ",
        [RELATION_LENGTH_EXACT] = " is the length of ",
        [RELATION_LENGTH_TEXT] = " is the length of the text ",
        [RELATION_LENGTH_TEXT_NUL] = " is the length, with its NUL, of the text ",
        [RELATION_MET] = " has met ",
        [RELATION_SAME] = " is ",
        [RELATION_APART] = " is not ",
    };

    str_add(out, "    ");
    escape_terminal_z(out, f->name);
    str_add(out, ": ");
    print_place(f, r->b, out);
    str_add(out, words[r->kind]);
    print_place(f, r->a, out);
    str_addf(out, "  [%u]\n", r->seen);
}

static void print_functions(const Usage *m, Str *out)
{
    bool head = false;

    for (size_t i = 0; i < m->nfunctions; i++) {
        const UsageFunction *f = &m->functions[i];
        for (size_t k = 0; k < f->nrelations; k++) {
            if (!head)
                str_add(out, "between arguments\n");
            head = true;
            print_relation(f->function, &f->relations[k], out);
        }
        for (unsigned k = 0; k < f->function->nparams; k++) {
            static const char *const words[] = { "", " is gone afterwards", " is given away",
                                                 " is replaced by the result",
                                                 " is gone afterwards, or not" };
            if (f->fates[k] == FATE_STAYS)
                continue;
            if (!head)
                str_add(out, "between arguments\n");
            head = true;
            str_add(out, "    ");
            escape_terminal_z(out, f->function->name);
            str_add(out, ": ");
            print_param(f->function, k, out);
            str_addf(out, "%s\n", words[f->fates[k]]);
        }
    }
}

static void print_bonds(const Usage *m, Str *out)
{
    static const char *const words[] = {
        "",
        "; it is closed first",
        "; it is closed last",
        "; it dies with it",
    };

    for (size_t i = 0; i < m->nbonds; i++) {
        const UsageBond *b = &m->bonds[i];
        if (!i)
            str_add(out, "between objects\n");
        str_add(out, "    ");
        escape_terminal_z(out, b->by->name);
        str_add(out, ": ");
        print_place(b->by, b->child, out);
        str_add(out, b->creates ? " is made from " : " is given to ");
        print_place(b->by, b->owner, out);
        str_addf(out, "%s  [%u]\n", words[b->order], b->seen);
    }
}

/* Functions with no handle in them are in no graph. */
static void print_plain(const Usage *m, Str *out)
{
    bool head = false;

    for (size_t i = 0; i < m->nfunctions; i++) {
        const UsageFunction *f = &m->functions[i];
        if (f->function->takes_handle || f->function->result.handle || !f->calls)
            continue;
        bool made = false;
        for (unsigned k = 0; k < f->function->nparams; k++)
            made = made || f->function->params[k].handle;
        if (made)
            continue;
        if (!head)
            str_add(out, "functions without handles\n");
        head = true;
        str_add(out, "    ");
        print_call(f->function, 0, m->values[f->function->index], out);
        str_addf(out, "  [%u]\n", f->calls);
    }
}

void usage_dump(const Usage *m, Str *out)
{
    for (size_t i = 0; i < m->ntypes; i++)
        print_type(&m->types[i], out);
    print_functions(m, out);
    print_bonds(m, out);
    print_plain(m, out);
}

/* ---- JSON */

static json_t *value_json(const SeqValue *v)
{
    Str text = { 0 };
    json_t *j;

    if (v->kind == VALUE_INTEGER)
        return json_integer((json_int_t)v->integer);
    if (v->kind == VALUE_NULL)
        return json_null();
    if (v->kind == VALUE_STRING)
        return json_textn((const char *)v->bytes, v->n);
    value_print(v, &text);
    j = json_pack("{s:o}", "value", json_textn(str_c(&text), text.len));
    str_release(&text);
    return j;
}

static json_t *place_json(const ApiFunction *f, int place)
{
    if (place == API_RETURNED)
        return json_string("return");
    return *f->params[place].name ? json_text(f->params[place].name) : json_integer(place + 1);
}

static json_t *places_json(const ApiFunction *f, Places places)
{
    json_t *list = json_array();

    for (int i = 0; i < (int)f->nparams && i < PLACES_LIMIT; i++)
        if (has_place(places, i))
            json_array_append_new(list, place_json(f, i));
    if (has_place(places, API_RETURNED))
        json_array_append_new(list, place_json(f, API_RETURNED));
    return list;
}

static json_t *values_json(const UsageValues *v)
{
    json_t *list = json_array();

    for (size_t i = 0; i < v->n; i++)
        json_array_append_new(list, json_pack("{s:o, s:I}", "value", value_json(&v->values[i]),
                                              "count", (json_int_t)v->counts[i]));
    return list;
}

static json_t *others_json(const UsageEdge *e)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->nothers; i++) {
        const UsageOther *o = &e->others[i];
        json_t *nodes = json_array();
        for (size_t k = 0; k < o->nnodes; k++)
            json_array_append_new(nodes, json_integer(o->nodes[k]));
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:I, s:I}", "parameter",
                                              place_json(e->function, o->place), "type",
                                              json_text(o->type->name), "nodes", nodes, "nulls",
                                              (json_int_t)o->nulls, "count", (json_int_t)o->total));
    }
    return list;
}

static json_t *stores_json(const UsageEdge *e)
{
    const UsageRow *row = row_with_stores(e);
    json_t *list = json_array();

    for (size_t i = 0; row && i < row->nstores; i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "parameter",
                                              place_json(e->function, row->stores[i].place),
                                              "field", json_text(row->stores[i].field->name),
                                              "value", value_json(&row->stores[i].value)));
    return list;
}

static json_t *edge_json(const UsageEdge *e)
{
    json_t *values = json_object();

    for (unsigned i = 0; i < e->function->nparams; i++)
        if (e->values[i].n && *e->function->params[i].name)
            json_object_set_new(values, e->function->params[i].name, values_json(&e->values[i]));
    return json_pack("{s:I, s:I, s:o, s:o, s:s, s:I, s:f, s:b, s:b, s:b, s:o, s:o, s:o, s:o}",
                     "from", (json_int_t)e->from, "to", (json_int_t)e->to, "function",
                     json_text(e->function->name), "places", places_json(e->function, e->places),
                     "by", usage_via_name(e->via), "count", (json_int_t)e->count, "weight",
                     e->weight, "creates", e->creates, "ends", e->ends, "rebinds", e->rebinds,
                     "values", values, "results", values_json(&e->results), "others",
                     others_json(e), "sets", stores_json(e));
}

static json_t *type_json(const UsageType *t)
{
    json_t *edges = json_array(), *observers = json_array();

    for (size_t i = 0; i < t->nnodes; i++)
        for (size_t k = 0; k < t->nodes[i].nedges; k++)
            json_array_append_new(edges, edge_json(t->nodes[i].edges[k]));
    for (size_t i = 0; i < t->nobservers; i++)
        json_array_append_new(observers,
                              json_pack("{s:o, s:o, s:I}", "function",
                                        json_text(t->observers[i].function->name), "places",
                                        places_json(t->observers[i].function,
                                                    t->observers[i].places),
                                        "count", (json_int_t)t->observers[i].count));
    return json_pack("{s:o, s:I, s:I, s:I, s:o, s:o}", "type", json_text(t->type->name), "objects",
                     (json_int_t)t->objects, "cut", (json_int_t)t->cut, "nodes",
                     (json_int_t)t->nnodes, "edges", edges, "observers", observers);
}

static json_t *function_json(const UsageFunction *f)
{
    json_t *relations = json_array(), *fates = json_object();
    const ApiFunction *a = f->function;

    for (size_t i = 0; i < f->nrelations; i++)
        json_array_append_new(relations, json_pack("{s:s, s:o, s:o, s:I}", "kind",
                                                   usage_relation_name(f->relations[i].kind), "a",
                                                   place_json(a, f->relations[i].a), "b",
                                                   place_json(a, f->relations[i].b), "count",
                                                   (json_int_t)f->relations[i].seen));
    for (unsigned i = 0; i < a->nparams; i++)
        if (a->params[i].handle && *a->params[i].name)
            json_object_set_new(fates, a->params[i].name,
                                json_string(usage_fate_name(f->fates[i])));
    return json_pack("{s:o, s:I, s:I, s:o, s:o}", "function", json_text(a->name), "calls",
                     (json_int_t)f->calls, "inner", (json_int_t)f->inner, "fates", fates,
                     "relations", relations);
}

json_t *usage_json(const Usage *m)
{
    json_t *types = json_array(), *functions = json_array(), *bonds = json_array();
    json_t *never = json_array();

    for (size_t i = 0; i < m->ntypes; i++)
        json_array_append_new(types, type_json(&m->types[i]));
    for (size_t i = 0; i < m->nfunctions; i++)
        json_array_append_new(functions, function_json(&m->functions[i]));
    for (size_t i = 0; i < m->nbonds; i++) {
        const UsageBond *b = &m->bonds[i];
        json_array_append_new(bonds,
                              json_pack("{s:o, s:o, s:o, s:b, s:s, s:I}", "function",
                                        json_text(b->by->name), "child",
                                        place_json(b->by, b->child), "owner",
                                        place_json(b->by, b->owner), "creates", b->creates, "order",
                                        usage_order_name(b->order), "count", (json_int_t)b->seen));
    }
    for (size_t i = 0; i < m->api->nfunctions; i++)
        if (m->function_of[i] == UINT32_MAX && !api_has_shape(m->api, &m->api->functions[i]))
            json_array_append_new(never, json_text(m->api->functions[i].name));
    return json_pack("{s:i, s:o, s:o, s:o, s:o}", "version", 1, "types", types, "functions",
                     functions, "bonds", bonds, "never_called", never);
}

/* ---- Graphviz */

static void dot_edge(const UsageType *t, const UsageEdge *e, Str *out)
{
    Str label = { 0 };

    print_call(e->function, e->places, e->values, &label);
    str_addf(out, "    t%u_%u -> t%u_%u [label=\"", t->type->index, e->from, t->type->index, e->to);
    escape_dot(out, str_c(&label));
    str_addf(out, "\"%s%s];\n", e->via == VIA_EXAMPLE ? "" : ", style=dashed",
             e->ends      ? ", color=red"
             : e->creates ? ", color=darkgreen"
                          : "");
    str_release(&label);
}

void usage_dot(const Usage *m, Str *out)
{
    str_add(out, "digraph model {\n    rankdir=LR;\n    node [shape=circle];\n");
    for (size_t i = 0; i < m->ntypes; i++) {
        const UsageType *t = &m->types[i];
        str_addf(out, "    t%u_0 [shape=box, label=\"", t->type->index);
        escape_dot(out, t->type->name);
        str_add(out, "\"];\n");
        for (size_t n = 0; n < t->nnodes; n++) {
            if (n)
                str_addf(out, "    t%u_%zu [label=\"%zu\"];\n", t->type->index, n, n);
            for (size_t k = 0; k < t->nodes[n].nedges; k++)
                dot_edge(t, t->nodes[n].edges[k], out);
        }
    }
    str_add(out, "}\n");
}
