/* Violations as findings: the call, the protocol as a picture with the missing edge, the
 * calls before, the stack, and which way to mend it. */
#include "base/escape.h"
#include "base/json.h"
#include "run/failure.h"
#include "technique/protocols/protocols_int.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 8, MOST_FRAMES = 8 };

static const ApiSite *site_of(const Violation *v) { return &v->build->sites[v->site]; }

static const ProtoFunction *function_at(const Client *st, const Violation *v)
{
    return st->api->functions.items[st->functions.items[site_of(v)->callee]];
}

/* How it failed, in some words. */
static void tell_failure(const Client *st, const Violation *v, Str *out)
{
    const ProtoRun *r = v->run;
    switch (v->kind) {
    case BROKEN_CRASH:
        if (*r->said)
            str_addf(out, "%s", r->said);
        else
            str_add(out, failure_signal_name(r->signal));
        break;
    case BROKEN_CODE: str_add(out, v->code->name); break;
    case BROKEN_HANG: str_add(out, "hang"); break;
    case BROKEN_UNFINISHED:
        str_addf(out, "%s is never called", st->api->functions.items[v->unfinished.ender]->name);
        break;
    }
}

static const char *message(Arena *a, const Client *st, const Violation *v)
{
    const char *api = function_at(st, v)->name;
    Str how = { 0 };
    const char *text = "";
    tell_failure(st, v, &how);
    switch (v->kind) {
    case BROKEN_CRASH:
        text = arena_printf(a, "%s after %s breaks the protocol, and fails: %s", api,
                            *v->breach.after ? v->breach.after : "nothing", str_c(&how));
        break;
    case BROKEN_CODE:
        text = arena_printf(a, "%s after %s breaks the protocol: it returns %s, and nobody looks",
                            api, *v->breach.after ? v->breach.after : "nothing", str_c(&how));
        break;
    case BROKEN_HANG:
        text = arena_printf(a, "%s after %s breaks the protocol: it never returns", api,
                            *v->breach.after ? v->breach.after : "nothing");
        break;
    case BROKEN_UNFINISHED:
        text = arena_printf(a, "what %s gives is not ended by %s here; %" PRIu64 " others were",
                            api, st->api->functions.items[v->unfinished.ender]->name,
                            v->unfinished.finished);
        break;
    }
    str_release(&how);
    return text;
}

static const char *advice(const Violation *v)
{
    switch (v->kind) {
    case BROKEN_CRASH:
    case BROKEN_HANG:
        return "guard the call, or return the failure to the caller, or say in the function's "
               "comment what its callers have to do";
    case BROKEN_CODE: return "look at the result, or return it to the caller";
    default: return "end it on this path, too";
    }
}

static const char *fault_of(const Client *st, const ApiSite *s)
{
    const ProtoFunction *f = st->api->functions.items[st->functions.items[s->callee]];
    const char *kind = proto_fault(st->api, f);
    return kind && !strcmp(kind, "open") ? "finds no free descriptor"
                                         : "can't read or write its file, from here on";
}

static Location place_of(const ApiSite *s)
{
    return (Location){
        .file = s->file, .line = (int)s->line, .column = (int)s->column, .function = s->function
    };
}

/* The failure that was made, the last calls that name the object, then the stack. */
static size_t list_steps(Arena *a, const Client *st, const Violation *v, EvidenceStep *out)
{
    const ProtoRun *r = v->run;
    uint32_t object = v->kind == BROKEN_UNFINISHED ? v->unfinished.object : v->breach.object;
    size_t n = 0, begin = object ? r->first[object] : 0, end = object ? r->first[object + 1] : 0;
    if (r->fault) {
        const ApiSite *s = &v->build->sites[r->fault - 1];
        out[n++] = (EvidenceStep){ .at = place_of(s),
                                   .text = arena_printf(a, "--inject: %s %s",
                                                        st->callees.items[s->callee].name,
                                                        fault_of(st, s)) };
    }
    while (v->kind != BROKEN_UNFINISHED && end > begin && r->uses[end - 1] > v->call)
        end--;
    if (end - begin > MOST_CALLS)
        begin = end - MOST_CALLS;
    for (size_t i = begin; i < end; i++) {
        const ProtoCall *c = &r->calls.items[r->uses[i]];
        const ProtoFunction *f = st->api->functions.items[c->function];
        const char *text =
            !c->returned   ? arena_printf(a, "%s fails", f->name)
            : f->no_result ? arena_printf(a, "%s", f->name)
            : f->pointer ? arena_printf(a, "%s gives %s", f->name, c->result ? "a pointer" : "NULL")
                         : arena_printf(a, "%s gives %d", f->name, (int)c->result);
        out[n++] = (EvidenceStep){ .at = place_of(&v->build->sites[c->site]), .text = text };
    }
    for (size_t i = 0, k = 0; v->kind == BROKEN_CRASH && i < r->frames.len && k < MOST_FRAMES;
         i++) {
        const ProtoFrame *f = &r->frames.items[i];
        if (f->function && !strcmp(f->function, "ffi_call"))
            break;                               /* the test that calls */
        if (!f->function || str_starts(f->function, "sundew_") ||
            strstr(f->function, "interceptor"))
            continue;
        const Function *fn = program_function(st->program, f->function);
        out[n++] = (EvidenceStep){ .at = { .file = fn && *fn->file ? fn->file : NULL,
                                           .line = fn ? (int)fn->line : 0,
                                           .function = f->function },
                                   .text = arena_printf(a, "stack: %s", f->function) };
        k++;
    }
    out[n++] = (EvidenceStep){ .text = advice(v) };
    return n;
}

static json_t *violation_json(const Client *st, const Violation *v)
{
    const ApiSite *s = site_of(v);
    Str how = { 0 };
    tell_failure(st, v, &how);
    json_t *j = json_pack("{s:o, s:i, s:o, s:o, s:o, s:i, s:o, s:o}", "file", json_text(s->file),
                          "line", (int)s->line, "function", json_text(s->function), "api",
                          json_text(function_at(st, v)->name), "failure", json_text(str_c(&how)),
                          "tier", (int)v->tier, "protocol",
                          json_text(v->breach.protocol ? v->breach.protocol->types : NULL), "test",
                          json_text(v->test));
    str_release(&how);
    return j;
}

static bool report_one(Client *st, const Violation *v, Err *err)
{
    assert(v->build && v->site < v->build->nsites && v->call < v->run->calls.len);
    static const char *const rules[] = { "protocols/violation", "protocols/misuse",
                                         "protocols/misuse", "protocols/unfinished" };
    Arena a = { 0 };
    Str picture = { 0 };
    EvidenceStep steps[MOST_CALLS + MOST_FRAMES + 2];
    const char *api = function_at(st, v)->name;
    if (v->breach.protocol) {
        char *missing = xprintf("%s: breaks it", api);
        protocol_dot(v->breach.protocol, &v->breach, missing, &picture);
        free(missing);
    }
    Attachment test = {
        .name = "test.c", .kind = "test", .text = v->test, .size = v->test ? strlen(v->test) : 0
    };
    Finding f = { .rule = rules[v->kind],
                  .level = v->tier == 1 ? LEVEL_ERROR : LEVEL_WARNING,
                  .verdict = v->kind == BROKEN_UNFINISHED ? VERDICT_LIKELY : VERDICT_SHOWN,
                  .message = message(&a, st, v),
                  .where = place_of(site_of(v)),
                  .anchor = arena_printf(&a, "%s %d", api, (int)v->kind),
                  .steps = steps,
                  .nsteps = list_steps(&a, st, v, steps),
                  .attachments = v->test ? &test : NULL,
                  .nattachments = v->test != NULL,
                  .rerun = session_command_line(st->session),
                  .picture = picture.len ? str_c(&picture) : NULL,
                  .data = violation_json(st, v) };
    bool ok = session_report(st->session, &f, err);
    json_decref(f.data);
    str_release(&picture);
    arena_release(&a);
    return ok;
}

bool client_report(Client *st, Err *err)
{
    json_t *all = json_array(), *kept = protocols_json(st->protocols);
    bool ok = session_begin(st->session, st->name, err);
    for (size_t i = 0; ok && i < st->found.len; i++) {
        json_array_append_new(all, violation_json(st, &st->found.items[i]));
        ok = report_one(st, &st->found.items[i], err);
    }
    session_json(st->session, "protocols", json_incref(json_object_get(kept, "protocols")));
    session_examined(st->session, "%zu runs, %zu generated sequences", st->runs.len,
                     (size_t)st->generation.sequences);
    session_json(st->session, "violations", all);
    if (st->module.path)
        session_json(st->session, "generation",
                     json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "sequences",
                               (json_int_t)st->generation.sequences, "died",
                               (json_int_t)st->generation.died, "kept",
                               (json_int_t)st->generation.kept, "reaching",
                               (json_int_t)st->generation.reaching, "first_call",
                               (json_int_t)st->generation.first_call, "first_violation",
                               (json_int_t)st->generation.first_violation));
    session_json(st->session, "runs", json_integer((json_int_t)st->runs.len));
    json_decref(kept);
    return ok;
}
