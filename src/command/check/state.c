#include "base/file.h"
#include "command/check/check_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_VERSION = 1, MOST_KNOWN = 100000, MOST_COMMITS = 30 };

static const char *const status_names[] = { "never",  "done",    "cut short",
                                            "failed", "crashed", "hung" };

const char *step_status_name(StepStatus s) { return status_names[s]; }

static StepStatus status_of(const char *name)
{
    for (size_t i = 0; i < sizeof status_names / sizeof *status_names; i++)
        if (strcmp(status_names[i], name) == 0)
            return (StepStatus)i;
    return STEP_NEVER;
}

static void read_step(State *st, const json_t *o)
{
    StepRecord *r = vec_grow(&st->steps);
    r->name = xstrdup(json_str(o, "name"));
    r->technique = xstrdup(json_str(o, "technique"));
    r->key = xstrdup(json_str(o, "key"));
    r->status = status_of(json_str(o, "status"));
    r->spent = json_number_value(json_object_get(o, "spent"));
    r->why = xstrdup(json_str(o, "why"));
    r->examined = xstrdup(json_str(o, "examined"));
    r->incomplete = xstrdup(json_str(o, "incomplete"));
    r->code = xstrdup(json_str(o, "code"));
    r->nowhere = json_is_true(json_object_get(o, "nowhere"));
    r->findings = (size_t)json_int(o, "findings", 0);
}

static void read_tests(TestsRecord *t, const json_t *o)
{
    t->key = xstrdup(json_str(o, "key"));
    t->command = xstrdup(json_str(o, "command"));
    json_get_strings(o, "words", &t->words);
    t->seconds = json_number_value(json_object_get(o, "seconds"));
    t->status = (int)json_int(o, "status", 0);
    t->hang = json_is_true(json_object_get(o, "hang"));
}

static json_t *list_of(const json_t *o, const char *key)
{
    json_t *list = json_object_get(o, key);
    return json_is_array(list) ? json_incref(list) : json_array();
}

bool state_open(State *st, const char *folder, Err *err)
{
    if (!dir_make(folder, err))
        return false;
    st->path = path_join(folder, "state.json");
    Err why = { 0 };
    json_t *o = file_exists(st->path) ? json_read(st->path, &why) : NULL, *e;
    size_t i;
    /* A damaged or newer one is begun anew: findings are in the store. */
    if (json_int(o, "version", 0) != STATE_VERSION) {
        json_decref(o);
        o = NULL;
    }
    json_array_foreach(json_object_get(o, "steps"), i, e) read_step(st, e);
    json_array_foreach(json_object_get(o, "known"), i, e) if (json_is_string(e))
        map_put(&st->known, json_string_value(e), NULL);
    st->products = list_of(o, "products");
    st->commits = list_of(o, "commits");
    read_tests(&st->tests, json_object_get(o, "tests"));
    json_decref(o);
    return true;
}

static json_t *step_json(const StepRecord *r)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:s, s:f, s:o, s:o, s:o, s:b, s:I}", "name",
                     json_text(r->name), "code", json_text(r->code), "technique",
                     json_text(r->technique), "key", json_text(r->key), "status",
                     status_names[r->status], "spent", r->spent, "why", json_text(r->why),
                     "examined", json_text(r->examined), "incomplete", json_text(r->incomplete),
                     "nowhere", r->nowhere, "findings", (json_int_t)r->findings);
}

bool state_write(const State *st, Err *err)
{
    assert(st->path && json_is_array(st->products) && json_is_array(st->commits));
    json_t *steps = json_array(), *known = json_array();
    for (size_t i = 0; i < st->steps.len; i++)
        json_array_append_new(steps, step_json(&st->steps.items[i]));
    for (size_t i = 0; i < st->known.len && i < MOST_KNOWN; i++)
        json_array_append_new(known, json_text(st->known.entries[i].key));
    const TestsRecord *t = &st->tests;
    json_t *o =
        json_pack("{s:i, s:o, s:O, s:O, s:o, s:{s:o, s:o, s:o, s:f, s:i, s:b}}", "version",
                  STATE_VERSION, "steps", steps, "products", st->products, "commits", st->commits,
                  "known", known, "tests", "key", json_text(t->key), "command",
                  json_text(t->command), "words", json_strings(t->words.items, t->words.len),
                  "seconds", t->seconds, "status", t->status, "hang", t->hang);
    bool ok = json_write(st->path, o, err);
    json_decref(o);
    return ok;
}

void state_release(State *st)
{
    for (size_t i = 0; i < st->steps.len; i++) {
        StepRecord *r = &st->steps.items[i];
        free(r->name);
        free(r->technique);
        free(r->key);
        free(r->why);
        free(r->examined);
        free(r->incomplete);
        free(r->code);
    }
    vec_release(&st->steps);
    json_decref(st->products);
    json_decref(st->commits);
    map_release(&st->known);
    free(st->tests.key);
    free(st->tests.command);
    strings_release(&st->tests.words);
    free(st->path);
}

StepRecord *state_step(State *st, const char *name)
{
    for (size_t i = 0; i < st->steps.len; i++)
        if (strcmp(st->steps.items[i].name, name) == 0)
            return &st->steps.items[i];
    return NULL;
}

StepRecord *state_make_step(State *st, const char *name, const char *technique)
{
    StepRecord *r = state_step(st, name);
    assert(*name && *technique);
    if (r)
        return r;
    r = vec_grow(&st->steps);
    r->name = xstrdup(name);
    r->technique = xstrdup(technique);
    r->key = xstrdup("");
    r->why = xstrdup("");
    r->examined = xstrdup("");
    r->incomplete = xstrdup("");
    r->code = xstrdup("");
    return r;
}

/* ---- products */

void state_add_products(State *st, const PlanStep *s, const char *by, const char *key)
{
    for (size_t i = 0; i < s->products.len; i++) {
        const Product *q = &s->products.items[i];
        for (size_t k = json_array_size(st->products); k-- > 0;) {
            const json_t *old = json_array_get(st->products, k);
            if (strcmp(json_str(old, "kind"), q->kind) == 0 &&
                strcmp(json_str(old, "path"), q->path) == 0)
                json_array_remove(st->products, k);
        }
        json_array_append_new(st->products,
                              json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
                                        json_text(q->kind), "program", json_text(q->program),
                                        "path", json_text(q->path), "by", json_text(by), "key",
                                        json_text(key), "args",
                                        json_strings(q->args.items, q->args.len)));
    }
}

void state_give_products(const State *st, Project *p)
{
    size_t i;
    json_t *o;
    json_array_foreach(st->products, i, o)
    {
        Product q = { .kind = json_str(o, "kind"),
                      .program = json_str(o, "program"),
                      .path = json_str(o, "path"),
                      .by = json_str(o, "by"),
                      .key = json_str(o, "key") };
        json_get_strings(o, "args", &q.args);
        project_add_product(p, &q);
        strings_release(&q.args);
    }
}

/* ---- known findings */

bool state_known_at(const State *st, const char *commit, Map *out)
{
    size_t i, k;
    json_t *o, *e;
    bool found = false;
    json_array_foreach(st->commits, i, o)
    {
        if (strcmp(json_str(o, "commit"), commit) != 0)
            continue;
        found = true;
        json_array_foreach(json_object_get(o, "known"), k, e) if (json_is_string(e))
            map_put(out, json_string_value(e), NULL);
    }
    return found;
}

void state_set_known(State *st, const FindingSet *set, const char *commit)
{
    json_t *list = json_array();
    map_release(&st->known);
    for (size_t i = 0; i < set->len; i++) {
        map_put(&st->known, set->items[i].fingerprint, NULL);
        json_array_append_new(list, json_text(set->items[i].fingerprint));
    }
    for (size_t i = json_array_size(st->commits); i-- > 0;)
        if (strcmp(json_str(json_array_get(st->commits, i), "commit"), commit) == 0)
            json_array_remove(st->commits, i);
    if (*commit)
        json_array_append_new(st->commits,
                              json_pack("{s:s, s:O}", "commit", commit, "known", list));
    while (json_array_size(st->commits) > MOST_COMMITS)
        json_array_remove(st->commits, 0);
    json_decref(list);
}
