/* sundew show protocols: what the workspace knows about the order of calls. */
#include "base/file.h"
#include "base/json.h"
#include "capture/capture.h"
#include "command/command_rows.h"
#include "engine/protocol/protocol.h"
#include "session/session.h"
#include <stdlib.h>
#include <string.h>

/* Of one program, or of all: protocols of the same types become one. */
static bool read_kept(Session *s, const char *program, Protocols *ps, size_t *n, Err *err)
{
    char *dir = path_join(workspace_dir(session_workspace(s)), "protocols");
    char *safe = program ? path_safe_name(path_base(program)) : NULL;
    char *only = safe ? xprintf("%s.json", safe) : NULL;
    Strings names = { 0 };
    bool ok = true;
    if (file_is_dir(dir))
        ok = dir_list(dir, &names, err);
    for (size_t i = 0; ok && i < names.len; i++) {
        char *path = path_join(dir, names.items[i]);
        if (str_ends(path, ".json") && (!only || !strcmp(only, names.items[i]))) {
            json_t *kept = json_read(path, err);
            ok = kept && (protocols_merge(ps, kept, err) || err_ctx(err, "%s", path));
            json_decref(kept);
            ++*n;
        }
        free(path);
    }
    strings_release(&names);
    free(dir);
    free(safe);
    free(only);
    return ok;
}

static void show(Session *s, const Protocols *ps)
{
    size_t n;
    Protocol *const *all = protocols_all(ps, &n);
    if (session_flag(s, "json")) {
        json_t *j = protocols_json(ps);
        json_print(j, session_out(s));
        json_decref(j);
    } else if (session_flag(s, "dot")) {
        for (size_t i = 0; i < n; i++)
            protocol_dot(all[i], NULL, NULL, session_out(s));
    } else {
        protocols_text(ps, session_out(s));
    }
}

static bool run(Session *s, Err *err)
{
    size_t nargs, files = 0;
    char **args = session_args(s, &nargs);
    ProtoApi *api = proto_api_new();
    Protocols *ps = protocols_new(api);
    bool ok = nargs <= 1 || err_set(err, "protocols of one program, or of all");
    ok = ok && read_kept(s, nargs ? args[0] : NULL, ps, &files, err);
    if (ok && !files)
        ok = err_set(err, "no protocols are known yet: sundew protocols PROGRAM --api … -- COMMAND "
                          "learns them");
    if (ok)
        show(s, ps);
    protocols_free(ps);
    proto_api_free(api);
    return ok;
}

static const Option options[] = {
    { "dot", 0, NULL, "as Graphviz", NULL },
    { 0 },
};

const Command command_show_protocols = {
    .name = "show protocols",
    .args = "[PROGRAM]",
    .summary = "the order in which calls of an API came in runs that went well",
    .about =
        "One paragraph for each group of handles. A state is the last two calls; under it stand\n"
        "the calls that were seen in it and how often. A state that is set-up says nothing of\n"
        "calls that it does not offer: not all handles were made where we could see it.",
    .examples = "sundew show protocols\nsundew show protocols ./prog --dot\n",
    .options = options,
    .needs = NEEDS_CAPTURE,
    .run = run,
};
