/* Protocols as JSON, which is kept and merged, as text and as a picture; and what users say
 * about edges. */
#include "base/escape.h"
#include "base/file.h"
#include "engine/protocol/protocol_int.h"
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1 };

/* -------------------------------------------------------------------- JSON */

static json_t *label_json(const ProtoLabel *l)
{
    return json_pack("{s:o, s:o, s:[i,i,i], s:[i,i], s:o}", "text", json_text(l->text), "function",
                     json_text(l->function), "args", l->args[0], l->args[1], l->args[2], "made",
                     l->made[0], l->made[1], "result", json_text(l->result));
}

static json_t *types_json(const Protocol *p)
{
    json_t *all = json_array();
    const char *at = p->types;
    while (*at) {
        size_t n = strcspn(at, ",");
        json_array_append_new(all, json_textn(at, n));
        at += n;
        at += strspn(at, ", ");
    }
    return all;
}

static json_t *protocol_json(const Protocol *p)
{
    json_t *labels = json_array(), *states = json_array(), *edges = json_array();
    for (size_t i = 0; i < p->labels.len; i++)
        json_array_append_new(labels, label_json(&p->labels.items[i]));
    for (size_t i = 0; i < p->states.len; i++) {
        const ProtoState *s = &p->states.items[i];
        json_array_append_new(states,
                              json_pack("{s:[i,i], s:i, s:I, s:b}", "labels", s->labels[0],
                                        s->labels[1], "bound", (int)s->bound, "ends",
                                        (json_int_t)s->ends, "liable", protocol_is_liable(p, s)));
        for (size_t k = 0; k < s->edges.len; k++)
            json_array_append_new(edges, json_pack("{s:I, s:i, s:i, s:I}", "from", (json_int_t)i,
                                                   "label", (int)s->edges.items[k].label, "to",
                                                   (int)s->edges.items[k].to, "count",
                                                   (json_int_t)s->edges.items[k].count));
    }
    return json_pack("{s:o, s:I, s:I, s:o, s:o, s:o}", "types", types_json(p), "runs",
                     (json_int_t)p->runs, "lives", (json_int_t)p->lives, "labels", labels, "states",
                     states, "edges", edges);
}

json_t *protocols_json(const Protocols *ps)
{
    json_t *all = json_array();
    for (size_t i = 0; i < ps->all.len; i++)
        json_array_append_new(all, protocol_json(ps->all.items[i]));
    return json_pack("{s:i, s:o}", "version", VERSION, "protocols", all);
}

/* A number of an array, from 0 to below `limit`; else -1. */
static long number_in(const json_t *o, const char *key, size_t i, size_t limit)
{
    const json_t *v = json_object_get(o, key);
    if (json_is_array(v))
        v = json_array_get(v, i);
    json_int_t x = json_is_integer(v) ? json_integer_value(v) : -1;
    return x >= 0 && (size_t)x < limit ? (long)x : -1;
}

static bool merge_labels(Protocols *ps, Protocol *p, const json_t *kept, int *ids)
{
    const json_t *labels = json_object_get(kept, "labels");
    for (size_t i = 0; i < json_array_size(labels); i++) {
        const json_t *j = json_array_get(labels, i);
        ProtoLabel l = { .function = json_str(j, "function"), .result = json_str(j, "result") };
        for (size_t k = 0; k < 3; k++) {
            long a = number_in(j, "args", k, p->nparams + 1);
            long m = k < 2 ? number_in(j, "made", k, p->nparams + 1) : 0;
            if (a < 0 || m < 0)
                return false;
            l.args[k] = (char)a;
            l.made[k] = (char)m;
        }
        ids[i] = protocol_label(ps, p, &l, true);
    }
    return true;
}

static int id_at(const json_t *state, size_t i, const int *ids, size_t n)
{
    long label = number_in(state, "labels", i, n);
    return label < 0 ? -1 : ids[label];
}

static bool merge_edges(Protocol *p, const json_t *kept, const int *labels, const int *states,
                        size_t nlabels, size_t nstates)
{
    const json_t *edges = json_object_get(kept, "edges");
    for (size_t i = 0; i < json_array_size(edges); i++) {
        const json_t *e = json_array_get(edges, i);
        long from = number_in(e, "from", 0, nstates), label = number_in(e, "label", 0, nlabels),
             to = number_in(e, "to", 0, nstates);
        json_int_t count = json_int(e, "count", 0);
        if (from < 0 || label < 0 || to < 0 || count < 0)
            return false;
        const ProtoState *target = &p->states.items[states[to]];
        if (target->labels[1] != labels[label])      /* that is how states are made */
            return false;
        const ProtoState *s = &p->states.items[states[from]];
        for (size_t k = 0; k < s->edges.len; k++)
            if (s->edges.items[k].label == (unsigned)labels[label] &&
                s->edges.items[k].to != (unsigned)states[to])
                return false;
        protocol_edge(p, (unsigned)states[from], (unsigned)labels[label], (unsigned)states[to],
                      (uint64_t)count);
    }
    return true;
}

static bool merge_one(Protocols *ps, const json_t *kept)
{
    Strings types = { 0 };
    json_get_strings(kept, "types", &types);
    const json_t *states = json_object_get(kept, "states");
    size_t nlabels = json_array_size(json_object_get(kept, "labels")),
           nstates = json_array_size(states);
    bool ok = types.len > 0 && types.len <= PROTO_MOST_PARAMS;
    int *labels = xcalloc(nlabels + 1, sizeof *labels), *ids = xcalloc(nstates + 1, sizeof *ids);
    Protocol *p =
        ok ? protocol_of(ps, (const char *const *)types.items, (unsigned)types.len) : NULL;
    ok = ok && merge_labels(ps, p, kept, labels);
    for (size_t i = 0; ok && i < nstates; i++) {
        const json_t *s = json_array_get(states, i);
        long bound = number_in(s, "bound", 0, 1u << p->nparams);
        ok = bound >= 0;
        if (ok) {
            ids[i] = protocol_state(p, id_at(s, 0, labels, nlabels), id_at(s, 1, labels, nlabels),
                                    (unsigned)bound, true);
            p->states.items[ids[i]].ends += (uint64_t)json_int(s, "ends", 0);
        }
    }
    ok = ok && merge_edges(p, kept, labels, ids, nlabels, nstates);
    if (ok) {
        p->lives += (uint64_t)json_int(kept, "lives", 0);
        p->runs += (uint64_t)json_int(kept, "runs", 0);
    }
    free(labels);
    free(ids);
    strings_release(&types);
    return ok;
}

bool protocols_merge(Protocols *ps, const json_t *kept, Err *err)
{
    const json_t *all = json_object_get(kept, "protocols");
    if (json_int(kept, "version", 0) != VERSION || !json_is_array(all))
        return err_set(err, "holds no protocols of this version");
    for (size_t i = 0; i < json_array_size(all); i++)
        if (!merge_one(ps, json_array_get(all, i)))
            return err_set(err, "protocol %zu is damaged", i + 1);
    return true;
}

/* -------------------------------------------------------------------- text */

static void add_state(const Protocol *p, const ProtoState *s, Str *out)
{
    str_addc(out, '[');
    for (unsigned i = 0; i < 2; i++)
        if (s->labels[i] >= 0)
            str_addf(out, "%s%s", i && s->labels[0] >= 0 ? ", " : "",
                     p->labels.items[s->labels[i]].text);
    str_addc(out, ']');
}

static void protocol_text(const Protocol *p, Str *out)
{
    Str line = { 0 };
    str_addf(&line, "%s: %zu states, from %" PRIu64 " lives in %" PRIu64 " runs\n", p->types,
             p->states.len, p->lives, p->runs);
    for (size_t i = 0; i < p->states.len; i++) {
        const ProtoState *s = &p->states.items[i];
        str_add(&line, "    ");
        add_state(p, s, &line);
        str_add(&line, protocol_is_liable(p, s) ? "" : "  set-up");
        if (s->ends)
            str_addf(&line, "  end of %" PRIu64, s->ends);
        str_addc(&line, '\n');
        for (size_t k = 0; k < s->edges.len; k++)
            str_addf(&line, "        %s  x%" PRIu64 "\n",
                     p->labels.items[s->edges.items[k].label].text, s->edges.items[k].count);
    }
    for (const char *at = str_c(&line); *at; at++) {
        size_t n = strcspn(at, "\n");
        escape_terminal(out, at, n);
        str_addc(out, '\n');
        at += n;
    }
    str_release(&line);
}

void protocols_text(const Protocols *ps, Str *out)
{
    for (size_t i = 0; i < ps->all.len; i++) {
        if (i)
            str_addc(out, '\n');
        protocol_text(ps->all.items[i], out);
    }
}

/* ----------------------------------------------------------------- picture */

static void dot_state(const Protocol *p, size_t i, bool here, Str *out)
{
    const ProtoState *s = &p->states.items[i];
    Str name = { 0 };
    add_state(p, s, &name);
    str_addf(out, "  s%zu [label=\"", i);
    escape_dot(out, str_c(&name));
    str_addf(out, "\"%s%s%s];\n", s->ends ? ", peripheries=2" : "",
             protocol_is_liable(p, s) ? "" : ", style=dashed", here ? ", color=red" : "");
    str_release(&name);
}

void protocol_dot(const Protocol *p, const ProtoBreach *b, const char *missing, Str *out)
{
    str_add(out, "digraph protocol {\n  rankdir=LR;\n  node [shape=box, fontname=sans];\n"
                 "  edge [fontname=sans];\n  label=\"");
    escape_dot(out, p->types);
    str_add(out, "\";\n");
    for (size_t i = 0; i < p->states.len; i++)
        dot_state(p, i, b && b->state == (int)i, out);
    for (size_t i = 0; i < p->states.len; i++)
        for (size_t k = 0; k < p->states.items[i].edges.len; k++) {
            const ProtoEdge *e = &p->states.items[i].edges.items[k];
            str_addf(out, "  s%zu -> s%u [label=\"", i, e->to);
            escape_dot(out, p->labels.items[e->label].text);
            str_addf(out, "\"];\n");
        }
    if (b) {
        str_add(out, "  broken [label=\"\", shape=point, color=red];\n");
        for (size_t i = 0; i < p->states.len; i++)
            if (b->state == (int)i ||
                (b->state < 0 && b->last >= 0 && p->states.items[i].labels[1] == b->last)) {
                str_addf(out, "  s%zu -> broken [color=red, fontcolor=red, style=bold, label=\"",
                         i);
                escape_dot(out, missing);
                str_add(out, "\"];\n");
            }
    }
    str_add(out, "}\n");
}

/* ------------------------------------------------------- what users say */

static bool has_type(const Protocol *p, const char *type)
{
    size_t n = strlen(type);
    const char *at = p->types;
    while (*at) {
        size_t k = strcspn(at, ",");
        if (k == n && !strncmp(at, type, n))
            return true;
        at += k;
        at += strspn(at, ", ");
    }
    return false;
}

const EdgeRule *protocols_rule(const Protocols *ps, const Protocol *p, const char *from,
                               const char *to)
{
    for (size_t i = 0; i < ps->rules.len; i++) {
        const EdgeRule *r = &ps->rules.items[i];
        if (r->wish != EDGE_DELETE && has_type(p, r->type) && !strcmp(r->from, from) &&
            !strcmp(r->to, to))
            return r;
    }
    return NULL;
}

static void forget(Protocol *p, const EdgeRule *r)
{
    for (size_t i = 0; i < p->states.len; i++) {
        ProtoState *s = &p->states.items[i];
        size_t n = 0;
        if (s->labels[1] < 0 || strcmp(p->labels.items[s->labels[1]].function, r->from) != 0)
            continue;
        for (size_t k = 0; k < s->edges.len; k++)
            if (strcmp(p->labels.items[s->edges.items[k].label].function, r->to) != 0)
                s->edges.items[n++] = s->edges.items[k];
        s->edges.len = n;
    }
}

static bool read_rule(Protocols *ps, char *line, EdgeRule *out)
{
    char wish[16], type[128], from[128], to[128], more[2];
    line[strcspn(line, "#\r\n")] = 0;
    if (sscanf(line, " %15s %127[^:]: %127s -> %127s %1s", wish, type, from, to, more) != 4)
        return false;
    EdgeWish w = !strcmp(wish, "pin")      ? EDGE_PIN
                 : !strcmp(wish, "delete") ? EDGE_DELETE
                                           : EDGE_FORBID;
    *out = (EdgeRule){ w, arena_strdup(&ps->arena, type), arena_strdup(&ps->arena, from),
                       arena_strdup(&ps->arena, to) };
    return w != EDGE_FORBID || !strcmp(wish, "forbid");
}

static bool is_blank(const char *line)
{
    line += strspn(line, " \t\r\n");
    return !*line || *line == '#';
}

bool protocols_edges(Protocols *ps, const char *path, Err *err)
{
    Str text = { 0 };
    bool ok = file_read(path, &text, err);
    unsigned line = 0;
    char *at = text.data;
    while (ok && at && *at) {
        size_t n = strcspn(at, "\n");
        char *next = at[n] ? at + n + 1 : at + n;
        EdgeRule r;
        at[n] = 0;
        line++;
        if (!is_blank(at)) {
            ok = read_rule(ps, at, &r) ||
                 err_set(err, "%s:%u: no edge (pin|delete|forbid TYPE: FUNCTION -> FUNCTION)", path,
                         line);
            for (size_t i = 0; ok && i < ps->all.len; i++)
                if (r.wish == EDGE_DELETE && has_type(ps->all.items[i], r.type))
                    forget(ps->all.items[i], &r);
            if (ok)
                vec_push(&ps->rules, r);
        }
        at = next;
    }
    str_release(&text);
    return ok;
}
