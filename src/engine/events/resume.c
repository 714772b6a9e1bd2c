/*
 * A search that goes on: OUT/search.json.
 *
 *     { "version", "program": the two builds, "rules", "event": bytes, "start": hash,
 *       "executions", "ignored", "read", "changed": places,
 *       "premises": { name: why it did not hold },
 *       "failures": [ events ],
 *       "traces": [ { "parent", "end", "hash", "way", "bytes", "flags", "new": edges, "places" } ] }
 *
 * Numbers of 64 bits and strings of bytes are hexadecimal. A trace whose state was searched to its end has the
 * flag DONE. The others begin anew: traces behind them are dropped, with the edges that these covered first.
 * So nothing is told that was not run. A file that does not fit the program is refused.
 */
#include "engine/events/events_int.h"
#include "base/file.h"
#include "base/json.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 1,
    DONE = 1,
    SYMBOLIC = 2,
    WATCHED = 4,
    APART = 8,
    MOST_DEPTH = 1000,
    MOST_STATE = 64 << 20
};

/* ---- numbers and bytes */

static json_t *number(uint64_t v)
{
    char text[20];
    snprintf(text, sizeof text, "%" PRIx64, v);
    return json_string(text);
}

static uint64_t number_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? strtoull(text, NULL, 16) : 0;
}

static json_t *bytes_json(const void *from, size_t n)
{
    Str text = { 0 };
    for (size_t i = 0; i < n; i++)
        str_addf(&text, "%02x", ((const uint8_t *)from)[i]);
    json_t *j = json_stringn(str_c(&text), text.len);
    str_release(&text);
    return j;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The caller frees them; NULL: it is no such text. */
static uint8_t *bytes_of(const json_t *text, size_t *n)
{
    const char *s = json_string_value(text);
    size_t len = s ? json_string_length(text) : 1;
    if (len % 2)
        return NULL;
    uint8_t *out = xcalloc(len / 2 + 1, 1);
    for (size_t i = 0; i < len; i += 2) {
        int a = digit(s[i]), b = digit(s[i + 1]);
        if (a < 0 || b < 0) {
            free(out);
            return NULL;
        }
        out[i / 2] = (uint8_t)(16 * a + b);
    }
    *n = len / 2;
    return out;
}

static bool read_places(const json_t *text, Places *out)
{
    size_t n;
    uint8_t *bytes = bytes_of(text, &n);
    bool ok = bytes && n % sizeof(Place) == 0;
    for (size_t i = 0; ok && i < n / sizeof(Place); i++) {
        Place p;
        memcpy(&p, bytes + i * sizeof p, sizeof p);
        ok = p.size && p.size <= MOST_STATE && p.offset + p.size >= p.offset;
        vec_push(out, p);
    }
    free(bytes);
    return ok;
}

/* ---- writing */

static json_t *program_json(const Events *e)
{
    return json_pack("[s,s]", e->build.watched, e->build.followed);
}

static json_t *map_json(const Map *m)
{
    Str all = { 0 };
    for (size_t i = 0; i < m->len; i++)
        str_addn(&all, m->entries[i].key, m->entries[i].key_len);
    json_t *j = bytes_json(str_c(&all), all.len);
    str_release(&all);
    return j;
}

static json_t *trace_json(const Events *e, const Node *n)
{
    unsigned flags = (n->done ? DONE : 0u) | (n->symbolic ? SYMBOLIC : 0u) |
                     (n->watched ? WATCHED : 0u) | (n->apart ? APART : 0u);
    bool places = n->end == END_EXTENDED;
    return json_pack("{s:I,s:i,s:o,s:o,s:o,s:I,s:o,s:o}", "parent", (json_int_t)n->parent, "end",
                     (int)n->end, "hash", number(n->hash), "way", number(n->way), "bytes",
                     bytes_json(n->bytes, n->depth * e->layout->size), "flags", (json_int_t)flags,
                     "new", bytes_json(n->fresh.items, n->fresh.len * sizeof *n->fresh.items),
                     "places",
                     bytes_json(n->places.items, places ? n->places.len * sizeof(Place) : 0));
}

static json_t *premises_json(const EventsResult *r)
{
    json_t *all = json_object();
    for (size_t i = 0; i < r->npremises; i++)
        if (!r->premises[i].held && strcmp(r->premises[i].name, "complete") != 0)
            json_object_set_new(all, r->premises[i].name, json_text(r->premises[i].why));
    return all;
}

bool resume_save(const Events *e, const EventsResult *r, const char *path, Err *err)
{
    json_t *traces = json_array(), *failures = json_array();
    for (size_t i = 0; i < e->nodes.len; i++)
        json_array_append_new(traces, trace_json(e, &e->nodes.items[i]));
    for (size_t i = 0; i < r->nfailures; i++)
        json_array_append_new(failures, bytes_json(r->failures[i].bytes,
                                                   r->failures[i].nevents * e->layout->size));
    json_t *all = json_pack("{s:i,s:o,s:i,s:i,s:b,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "version",
                            VERSION, "program", program_json(e), "rules", (int)e->prune, "event",
                            (int)e->layout->size, "cross", e->plan->cross, "start",
                            number(e->nodes.items[0].hash), "executions", (json_int_t)e->executions,
                            "ignored", bytes_json(e->ignored.items, e->ignored.len * sizeof(Place)),
                            "read", map_json(&e->read), "changed", map_json(&e->changed),
                            "premises", premises_json(r), "failures", failures, "traces", traces);
    bool ok = json_write(path, all, err);
    json_decref(all);
    return ok;
}

/* ---- reading */

static bool read_map(const json_t *text, Map *m)
{
    enum { KEY = 8 };
    size_t n;
    uint8_t *bytes = bytes_of(text, &n);
    bool ok = bytes && n % KEY == 0;
    for (size_t i = 0; ok && i < n; i += KEY)
        if (!map_getn(m, bytes + i, KEY))
            map_putn(m, bytes + i, KEY, m);
    free(bytes);
    return ok;
}

bool resume_open(Events *e, const char *path, Err *err)
{
    json_t *all = json_read(path, err);
    if (!all)
        return err_ctx(err, "--resume: there is no search to go on with");
    json_t *program = program_json(e);
    bool same = json_int(all, "version", 0) == VERSION &&
                json_equal(json_object_get(all, "program"), program) &&
                json_int(all, "rules", -1) == (long long)e->prune &&
                json_int(all, "event", 0) == (long long)e->layout->size &&
                json_is_true(json_object_get(all, "cross")) == e->plan->cross;
    json_decref(program);
    bool ok = same && read_places(json_object_get(all, "ignored"), &e->ignored) &&
              e->ignored.len <= SUNDEW_EVENTS_IGNORED &&
              read_map(json_object_get(all, "read"), &e->read) &&
              read_map(json_object_get(all, "changed"), &e->changed);
    if (!ok) {
        json_decref(all);
        return err_set(err,
                       same ? "%s: damaged; search without --resume"
                            : "%s: this is a search of another program or with other options; "
                              "search without --resume",
                       path);
    }
    e->resumed = all;
    return true;
}

/* Edges that a kept trace covered first. */
static bool read_fresh(Events *e, const json_t *text, Node *node)
{
    size_t n;
    uint8_t *bytes = bytes_of(text, &n);
    bool ok = bytes && n % sizeof(uint32_t) == 0;
    for (size_t i = 0; ok && i < n / sizeof(uint32_t); i++) {
        uint32_t edge;
        memcpy(&edge, bytes + i * sizeof edge, sizeof edge);
        ok = edge < e->branches;
        if (ok) {
            vec_push(&node->fresh, edge);
            e->covered[edge] = 1;
        }
    }
    node->news = node->fresh.len;
    free(bytes);
    return ok;
}

/* One trace behind `parent`, which is in e->nodes. */
static bool read_trace(Events *e, const json_t *row, uint32_t parent)
{
    size_t n = 0, size = e->layout->size;
    long long end = json_int(row, "end", -1), flags = json_int(row, "flags", 0);
    uint32_t depth = e->nodes.items[parent].depth + 1;
    uint8_t *bytes = bytes_of(json_object_get(row, "bytes"), &n);
    Node node = { .parent = parent,
                  .depth = depth,
                  .hash = number_of(row, "hash"),
                  .way = number_of(row, "way"),
                  .symbolic = flags & SYMBOLIC,
                  .watched = flags & WATCHED,
                  .apart = flags & APART,
                  .done = flags & DONE };
    bool ok = bytes && n == depth * size && depth <= MOST_DEPTH && end >= 0 && end < END_REASONS;
    if (ok) {
        node.end = (TraceEnd)end;
        node.bytes = arena_array(&e->arena, uint8_t, n + 1);
        memcpy(node.bytes, bytes, n);
        ok = read_fresh(e, json_object_get(row, "new"), &node) &&
             read_places(json_object_get(row, "places"), &node.places);
        prune_take(e, &node);
    }
    free(bytes);
    return ok;
}

static bool read_traces(Events *e, const json_t *traces)
{
    size_t n = json_array_size(traces), i;
    const json_t *row;
    uint32_t *number = xcalloc(n + 1, sizeof *number);     /* there ─▶ here + 1 */
    bool ok = n > 0;
    if (ok) {
        number[0] = 1;
        e->nodes.items[0].done = json_int(json_array_get(traces, 0), "flags", 0) & DONE;
    }
    json_array_foreach((json_t *)traces, i, row)
    {
        long long parent = json_int(row, "parent", -1);
        if (!ok || !i)
            continue;
        ok = parent >= 0 && (size_t)parent < i;
        uint32_t here = ok ? number[parent] : 0;
        if (!here || !e->nodes.items[here - 1].done)
            continue;
        number[i] = (uint32_t)e->nodes.len + 1;
        ok = read_trace(e, row, here - 1);
    }
    free(number);
    return ok;
}

static bool read_failures(Events *e, Runs *runs, const json_t *all, Err *err)
{
    size_t i;
    const json_t *row;
    json_array_foreach((json_t *)all, i, row)
    {
        size_t n = 0;
        uint8_t *bytes = bytes_of(row, &n);
        Watched w = { 0 };
        bool ok = !bytes || n < e->layout->size || n % e->layout->size ||
                  runs_watch(runs, bytes, n, false, &w, err);
        if (ok && failure_is(&w.failure))
            failures_add(e, &w.failure, bytes, n, true);
        watched_release(&w);
        free(bytes);
        if (!ok)
            return false;
    }
    return true;
}

bool resume_take(Events *e, Runs *runs, Err *err)
{
    const json_t *all = e->resumed;
    if (number_of(all, "start") != e->nodes.items[0].hash)
        return err_set(err, "--resume: the program begins in another state than it did; "
                            "search without --resume");
    if (!read_traces(e, json_object_get(all, "traces")))
        return err_set(err, "--resume: the kept search is damaged; search without --resume");
    e->executions = (uint64_t)json_int(all, "executions", 0);
    return read_failures(e, runs, json_object_get(all, "failures"), err);
}

const char *resume_premise(const Events *e, const char *name)
{
    const json_t *all = e->resumed ? json_object_get(e->resumed, "premises") : NULL;
    return json_string_value(json_object_get(all, name));
}
