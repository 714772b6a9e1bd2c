/* Faults as findings, files and JSON. */
#include "base/escape.h"
#include "base/file.h"
#include "capture/capture.h"
#include "technique/web/web_int.h"
#include <stdlib.h>
#include <string.h>

static Level level_of(FaultKind k)
{
    switch (k) {
    case FAULT_WARNING:
    case FAULT_HTML_ERROR:
    case FAULT_MAIL:
    case FAULT_NETWORK:
    case FAULT_REDIRECT: return LEVEL_WARNING;
    case FAULT_DEPRECATED:
    case FAULT_HTML_WARNING: return LEVEL_NOTE;
    default: return LEVEL_ERROR;
    }
}

/* ---- JSON */

/* A value that is no text is there percent-encoded, too. */
static json_t *json_param(const Param *p)
{
    bool nul = strlen(p->text) != p->n;    /* readers of JSON refuse it */
    json_t *o = json_pack("{s:o, s:o}", "name", json_text(p->path), "value",
                          nul ? json_text(p->text) : json_textn(p->text, p->n));
    const json_t *v = json_object_get(o, "value");
    if (p->type != PHP_UNKNOWN)
        json_object_set_new(o, "type", json_integer(p->type));
    if (json_string_length(v) != p->n || memcmp(json_string_value(v), p->text, p->n) != 0) {
        Str coded = { 0 };
        url_encode(&coded, p->text, p->n);
        json_object_set_new(o, "encoded", json_string(str_c(&coded)));
        str_release(&coded);
    }
    return o;
}

static json_t *json_request(const Request *r)
{
    json_t *params = json_array();
    for (size_t i = 0; i < r->params.len; i++)
        json_array_append_new(params, json_param(&r->params.items[i]));
    json_t *o = json_pack("{s:o, s:s, s:b, s:b, s:o}", "script", json_text(r->script), "method",
                          request_is_post(r) ? "POST" : "GET", "post", r->post, "multipart",
                          r->multipart, "parameters", params);
    if (r->forgets)
        json_object_set_new(o, "new_browser", json_true());
    return o;
}

static json_t *json_chain(Request *const *requests, size_t n)
{
    json_t *chain = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(chain, json_request(requests[i]));
    return chain;
}

static json_t *json_fault(const WebFault *f)
{
    json_t *suspects = json_array();
    for (size_t i = 0; i < f->nsuspects; i++)
        json_array_append_new(suspects,
                              json_pack("{s:o, s:i, s:f}", "file", json_text(f->suspects[i].file),
                                        "line", (int)f->suspects[i].line, "score",
                                        f->suspects[i].score));
    json_t *o = json_pack("{s:s, s:o, s:o, s:i}", "kind", fault_kind_name(f->fault.kind), "message",
                          json_text(f->fault.message), "file", json_text(f->fault.file), "line",
                          (int)f->fault.line);
    json_object_set_new(o, "condition", json_strings(f->condition.items, f->condition.len));
    json_object_set_new(o, "chain", json_chain(f->chain, f->nchain));
    json_object_set_new(o, "stack", json_strings(f->fault.stack.items, f->fault.stack.len));
    json_object_set_new(o, "suspects", suspects);
    json_object_set_new(o, "seen", json_integer((json_int_t)f->seen));
    json_object_set_new(o, "minimised", json_boolean(f->minimised));
    json_object_set_new(o, "replayed", json_boolean(f->replayed));
    json_object_set_new(o, "conditions_before", json_integer((json_int_t)f->condition_before));
    json_object_set_new(o, "parameters_before", json_integer((json_int_t)f->input_before));
    json_object_set_new(o, "found_after", json_real(f->found_after));
    return o;
}

static json_t *json_files(const Web *w)
{
    json_t *files = json_array();
    for (size_t i = 0; i < w->nfiles; i++)
        json_array_append_new(files,
                              json_pack("{s:o, s:I, s:I, s:s}", "file", json_text(w->files[i].file),
                                        "lines", (json_int_t)w->files[i].lines, "total",
                                        (json_int_t)w->files[i].total, "what",
                                        w->files[i].page   ? "page"
                                        : w->files[i].part ? "part"
                                                           : "never asked for"));
    return files;
}

static void add_counts(Session *s, const Web *w)
{
    json_t *lost = json_array(), *points = json_array(), *links = json_array();
    for (size_t i = 0; i < w->nlost; i++)
        json_array_append_new(lost, json_pack("{s:o, s:I}", "function", json_text(w->lost[i].name),
                                              "count", (json_int_t)w->lost[i].count));
    for (size_t i = 0; i < w->npoints; i++)
        json_array_append_new(points, json_pack("[f, I, I]", w->points[i].seconds,
                                                (json_int_t)w->points[i].requests,
                                                (json_int_t)w->points[i].lines));
    for (size_t i = 0; i < w->nlinks; i++)
        json_array_append_new(links, json_pack("[o, o]", json_text(w->links[i].from),
                                               json_text(w->links[i].to)));
    session_json(s, "concretised", lost);
    session_json(s, "coverage_over_time", points);
    session_json(s, "map", links);
    json_t *why = json_object();
    for (unsigned i = 0; i < 6; i++) {
        static const char *const names[] = { "solved", "guessed", "contradiction",
                                             "native", "session", "budget" };
        json_object_set_new(why, names[i], json_integer((json_int_t)w->why[i]));
    }
    session_json(s, "flips", why);
}

static void add_json(Session *s, const WebPlan *plan, const Web *w)
{
    json_t *faults = json_array();
    for (size_t i = 0; i < w->nfaults; i++)
        json_array_append_new(faults, json_fault(&w->faults[i]));
    if (plan->cgi)
        session_examined(s, "%llu requests", (unsigned long long)w->requests);
    else
        session_examined(s, "%llu requests, %llu of %llu lines", (unsigned long long)w->requests,
                         (unsigned long long)w->lines, (unsigned long long)w->total);
    session_json(s, "requests", json_integer((json_int_t)w->requests));
    session_json(s, "states", json_integer((json_int_t)w->states));
    session_json(s, "coverage",
                 json_pack("{s:I, s:I, s:I, s:o}", "lines", (json_int_t)w->lines, "total",
                           (json_int_t)w->total, "reachable", (json_int_t)w->reachable, "files",
                           json_files(w)));
    session_json(s, "faults", faults);
    if (!w->complete)
        session_incomplete(s, "the time was over before everything was tried");
    session_json(s, "predicted", json_integer((json_int_t)w->solved));
    session_json(s, "diverged", json_integer((json_int_t)w->diverged));
    session_json(s, "stale_labels", json_integer((json_int_t)w->stale));
    session_json(s, "seconds", json_real(w->seconds));
    add_counts(s, w);
}

/* ---- files */

static char *fault_folder(Session *s, const char *number)
{
    return xprintf("%s/web/%s", workspace_dir(session_workspace(s)), number);
}

static bool write_in(const char *folder, const char *name, const Str *text, Err *err)
{
    char *path = path_join(folder, name);
    bool ok = file_write(path, str_c(text), text->len, err);
    free(path);
    return ok;
}

static bool write_fault(Session *s, const WebPlan *plan, const WebFault *f, size_t number, Err *err)
{
    char name[32];
    snprintf(name, sizeof name, "%zu", number);
    char *folder = fault_folder(s, name), *app = path_absolute(plan->app);
    char *key = fault_key(&f->fault);
    Str curl = { 0 }, unit = { 0 }, chain = { 0 };
    char *class = xprintf("Fault%zuTest", number);
    web_curl(f, &curl);
    web_phpunit(f, class, &unit);
    json_t *o = json_pack("{s:o, s:o, s:b, s:o}", "app", json_text(app), "key", json_text(key),
                          "cgi", f->cgi, "chain", json_chain(f->chain, f->nchain));
    json_print(o, &chain);
    json_decref(o);
    char *file = xprintf("%s.php", class);
    bool ok = dir_make(folder, err) && write_in(folder, "replay.sh", &curl, err) &&
              (f->cgi || write_in(folder, file, &unit, err)) &&
              write_in(folder, "chain.json", &chain, err) &&
              write_in(folder, "page.html", &f->page, err);
    str_release(&curl);
    str_release(&unit);
    str_release(&chain);
    free(file);
    free(class);
    free(key);
    free(app);
    free(folder);
    return ok;
}

/* What a person asked for, as fault 0. */
static bool write_recorded(Session *s, const WebPlan *plan, const Web *w, Err *err)
{
    char *folder = fault_folder(s, "0"), *app = path_absolute(plan->app);
    Str curl = { 0 }, chain = { 0 };
    web_curl_session(w->recorded, w->nrecorded, &curl);
    json_t *o = json_pack("{s:o, s:s, s:o}", "app", json_text(app), "key", "", "chain",
                          json_chain(w->recorded, w->nrecorded));
    json_print(o, &chain);
    json_decref(o);
    bool ok = dir_make(folder, err) && write_in(folder, "replay.sh", &curl, err) &&
              write_in(folder, "chain.json", &chain, err);
    str_release(&curl);
    str_release(&chain);
    free(app);
    free(folder);
    return ok;
}

static Request *request_of(const json_t *o)
{
    Request *r = request_new(json_str(o, "script"));
    r->post = json_is_true(json_object_get(o, "post"));
    r->multipart = json_is_true(json_object_get(o, "multipart"));
    r->forgets = json_is_true(json_object_get(o, "new_browser"));
    const json_t *params = json_object_get(o, "parameters");
    for (size_t i = 0; i < json_array_size(params); i++) {
        const json_t *p = json_array_get(params, i), *v = json_object_get(p, "value");
        const char *coded = json_str(p, "encoded");
        if (!strchr(json_str(p, "name"), '[') || !json_is_string(v))
            continue;
        size_t len = json_string_length(v);
        char *bytes = *coded ? url_decode(coded, strlen(coded), &len) : NULL;
        long long type = json_int(p, "type", PHP_UNKNOWN);
        request_set_typed(r, json_str(p, "name"), bytes ? bytes : json_string_value(v), len,
                          type > PHP_UNKNOWN && type < PHP_TEXT ? (PhpType)type : PHP_UNKNOWN);
        free(bytes);
    }
    return r;
}

bool chain_read(Session *s, const char *number, Recorded *out, Err *err)
{
    if (strspn(number, "0123456789") != strlen(number) || !*number)
        return err_set(err, "--replay %s: the number of a fault is expected", number);
    char *folder = fault_folder(s, number), *path = path_join(folder, "chain.json");
    json_t *o = file_exists(path) ? json_read(path, err) : NULL;
    if (!o && !file_exists(path))
        err_set(err, "--replay %s: the last run has no such fault", number);
    free(folder);
    free(path);
    if (!o)
        return false;
    const json_t *chain = json_object_get(o, "chain");
    *out = (Recorded){ .n = json_array_size(chain),
                       .app = xstrdup(json_str(o, "app")),
                       .key = xstrdup(json_str(o, "key")),
                       .cgi = json_is_true(json_object_get(o, "cgi")) };
    out->chain = xcalloc(out->n + 1, sizeof *out->chain);
    for (size_t i = 0; i < out->n; i++)
        out->chain[i] = request_of(json_array_get(chain, i));
    json_decref(o);
    if (out->n)
        return true;
    recorded_release(out);
    return err_set(err, "--replay %s: no request was recorded", number);
}

void recorded_release(Recorded *r)
{
    for (size_t i = 0; i < r->n; i++)
        request_free(r->chain[i]);
    free(r->chain);
    free(r->app);
    free(r->key);
    *r = (Recorded){ 0 };
}

/* ---- findings */

static void add_steps(const WebFault *f, Arena *a, EvidenceStep *steps, size_t *n)
{
    for (size_t i = 0; i < f->nchain; i++) {
        Str s = { 0 };
        request_describe(f->chain[i], &s);
        steps[(*n)++].text = arena_printf(a, "request %zu: %s", i + 1, str_c(&s));
        str_release(&s);
    }
    if (f->condition.len) {
        Str s = { 0 };
        for (size_t i = 0; i < f->condition.len; i++)
            str_addf(&s, "%s%s", i ? " and " : "", f->condition.items[i]);
        steps[(*n)++].text = arena_printf(a, "needed: %s", str_c(&s));
        str_release(&s);
    }
}

static bool in_chain(const WebFault *f, const char *from, const char *to)
{
    for (size_t i = 0; i + 1 < f->nchain; i++)
        if (strcmp(f->chain[i]->script, from) == 0 && strcmp(f->chain[i + 1]->script, to) == 0)
            return true;
    return false;
}

/* The map of pages, with the way to the fault. */
static char *picture(const Web *w, const WebFault *f, Arena *a)
{
    Str s = { 0 };
    str_add(&s, "digraph pages {\n  rankdir=LR; node [shape=box];\n");
    for (size_t i = 0; i < w->nlinks && i < 80; i++) {
        str_add(&s, "  \"");
        escape_dot(&s, w->links[i].from);
        str_add(&s, "\" -> \"");
        escape_dot(&s, w->links[i].to);
        str_addf(&s, "\"%s;\n",
                 in_chain(f, w->links[i].from, w->links[i].to) ? " [penwidth=3]" : "");
    }
    str_add(&s, "  \"");
    escape_dot(&s, f->chain[f->nchain - 1]->script);
    str_add(&s, "\" [style=filled];\n}\n");
    char *text = arena_strdup(a, str_c(&s));
    str_release(&s);
    return text;
}

static bool report_fault(Session *s, const WebPlan *plan, const Web *w, const WebFault *f,
                         size_t number, Err *err)
{
    Arena a = { 0 };
    char *app = path_absolute(plan->app);
    EvidenceStep *steps = arena_array(&a, EvidenceStep, f->nchain + 8 + f->fault.stack.len);
    size_t nsteps = 0;
    add_steps(f, &a, steps, &nsteps);
    for (size_t i = 0; i < f->nsuspects && i < 3; i++)
        steps[nsteps++] =
            (EvidenceStep){ .at = { .file = arena_printf(&a, "%s/%s", app, f->suspects[i].file),
                                    .line = (int)f->suspects[i].line },
                            .text = arena_printf(&a, "suspicious (%.2f): runs that fail execute it",
                                                 f->suspects[i].score) };
    Str curl = { 0 }, unit = { 0 };
    char *class = xprintf("Fault%zuTest", number);
    web_curl(f, &curl);
    web_phpunit(f, class, &unit);
    Attachment files[] = { { "replay.sh", "test", str_c(&curl), curl.len },
                           { arena_printf(&a, "%s.php", class), "test", str_c(&unit), unit.len },
                           { "page.html", "page", str_c(&f->page), f->page.len } };
    if (f->cgi)
        files[1] = files[2];    /* no test in PHP */
    Finding found = {
        .rule = arena_printf(&a, "web/%s", fault_kind_name(f->fault.kind)),
        .level = level_of(f->fault.kind),
        .verdict = f->replayed ? VERDICT_SHOWN : VERDICT_UNDECIDED,
        .message = f->fault.message,
        .where = { .file = f->cgi && f->fault.line ? f->fault.file
                           : *f->fault.file
                               ? arena_printf(&a, "%s/%s", app, f->fault.file)
                               : arena_printf(&a, "%s/%s", app, f->chain[f->nchain - 1]->script),
                   .line = (int)f->fault.line },
        .anchor = f->fault.message,
        .steps = steps,
        .nsteps = nsteps,
        .attachments = files,
        .nattachments = (f->page.len ? 3 : 2) - (size_t)f->cgi,
        .picture = w->nlinks ? picture(w, f, &a) : NULL,
        .rerun = arena_printf(&a, "sundew web --replay %zu", number),
        .data = json_fault(f),
    };
    bool ok = session_report(s, &found, err);
    json_decref(found.data);
    str_release(&curl);
    str_release(&unit);
    free(class);
    free(app);
    arena_release(&a);
    return ok;
}

static void say_summary(Session *s, const WebPlan *plan, const Web *w)
{
    if (plan->cgi)
        session_note(s, "%llu requests, %llu states, %llu places that compare text",
                     (unsigned long long)w->requests, (unsigned long long)w->states,
                     (unsigned long long)w->lines);
    else
        session_note(
            s,
            "%llu requests, %llu states, %llu of %llu lines executed (%llu are in files that "
            "some page needs)",
            (unsigned long long)w->requests, (unsigned long long)w->states,
            (unsigned long long)w->lines, (unsigned long long)w->total,
            (unsigned long long)w->reachable);
    if (w->solved && w->diverged)
        session_note(s,
                     "%.0f %% of solved requests took another way than expected; exploration is "
                     "slower, findings are not affected",
                     100.0 * (double)w->diverged / (double)w->solved);
    for (size_t i = 0; i < w->nlost && i < 3; i++)
        session_note(s, "what %s() gives is not known as an expression (%llu times)",
                     w->lost[i].name, (unsigned long long)w->lost[i].count);
    for (size_t i = 0; i < w->broken.len && i < 3; i++)
        session_note(s, "not compiled: %s", w->broken.items[i]);
    if (w->protection)
        session_note(s, "%s", w->protection);
}

bool report_web(Session *s, const WebPlan *plan, const Web *w, Err *err)
{
    char *folder = fault_folder(s, "");
    dir_remove(folder);
    free(folder);
    if (!session_begin(s, plan->app, err))
        return false;
    for (size_t i = 0; i < w->nfaults; i++)
        if (!write_fault(s, plan, &w->faults[i], i + 1, err) ||
            !report_fault(s, plan, w, &w->faults[i], i + 1, err))
            return false;
    if (plan->serve && !write_recorded(s, plan, w, err))
        return false;
    add_json(s, plan, w);
    say_summary(s, plan, w);
    return true;
}
