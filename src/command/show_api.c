/* sundew show api: what each place of a library's functions wants. */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "capture/capture.h"
#include "command/command_rows.h"
#include "engine/api/api.h"
#include "session/session.h"
#include <stdlib.h>
#include <string.h>

static json_t *place_json(const ApiPlace *p)
{
    json_t *j = json_object();
    json_object_set_new(j, "name", json_text(p->name));
    json_object_set_new(j, "role", json_text(api_role_name(p->role)));
    if (p->handle) {
        json_object_set_new(j, "handle", json_text(p->handle->name));
        json_object_set_new(j, "use", json_text(api_use_name(p->use)));
    }
    if (p->partner != API_NONE)
        json_object_set_new(j, "partner", json_integer(p->partner + 1));
    return j;
}

static json_t *api_json(const Api *api)
{
    json_t *list = json_array();
    for (size_t i = 0; i < api->nfunctions; i++) {
        const ApiFunction *f = &api->functions[i];
        json_t *j = json_object(), *params = json_array();
        json_object_set_new(j, "function", json_text(f->fn->name));
        for (unsigned k = 0; k < f->nparams; k++)
            json_array_append_new(params, place_json(&f->params[k]));
        json_object_set_new(j, "parameters", params);
        json_object_set_new(j, "result", place_json(&f->result));
        if (f->not_callable)
            json_object_set_new(j, "not_called", json_text(f->not_callable));
        json_array_append_new(list, j);
    }
    return list;
}

static void show(Session *s, const Api *api)
{
    Str text = { 0 };
    if (session_flag(s, "json")) {
        json_t *j = api_json(api);
        json_print(j, session_out(s));
        json_decref(j);
        return;
    }
    api_dump(api, &text);
    for (const char *p = str_c(&text); *p;) {
        size_t n = strcspn(p, "\n");
        escape_terminal(session_out(s), p, n);
        str_addc(session_out(s), '\n');
        p += n + (p[n] == '\n');
    }
    str_release(&text);
}

static bool run_show_api(Session *s, Err *err)
{
    (void)err;
    show(s, session_api(s));
    return true;
}

static const Option api_options[] = {
    { "headers", 0, "FILE",
      "the API is what this header declares (repeatable); otherwise all "
      "external functions",
      NULL },
    { "cflags", 0, "WORD", "a flag for the headers, such as -I or -D (repeatable)", NULL },
    { 0 },
};

const Command command_show_api = {
    .name = "show api",
    .args = "LIBRARY",
    .summary = "what the functions of a library want in each place",
    .about = "Prints for each function what its parameters and its result are to a caller: a "
             "handle and what becomes of it, a buffer and its length, an out-parameter, a "
             "string, flags. sundew regress calls functions by it. Roles of handles can be "
             "overruled in sundew.handles.",
    .examples = "sundew show api libfoo.a --headers foo.h\n",
    .options = api_options,
    .needs = NEEDS_CAPTURE | NEEDS_API,
    .run = run_show_api,
};
