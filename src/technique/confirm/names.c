/* Names of a stack: addresses of the woven program as functions and lines. */
#include "base/file.h"
#include "base/proc.h"
#include "capture/capture.h"
#include "technique/confirm/confirm_int.h"
#include <inttypes.h>
#include <stdlib.h>

/* LLVM's own knows functions that LLVM inlined. */
static char *find_namer(void)
{
    char *clang = clang_find(), *real = clang ? path_real(clang) : NULL;
    char *dir = real ? path_dir(real) : NULL;
    char *found = dir ? path_join(dir, "llvm-addr2line") : NULL;
    if (!found || !file_exists(found)) {
        free(found);
        found = xstrdup("addr2line");
    }
    free(dir);
    free(real);
    free(clang);
    return found;
}

static void add_frame(Arena *a, const char *function, char *where, Frames *out)
{
    char *colon = strrchr(where, ':');
    int line = colon ? atoi(colon + 1) : 0;
    if (colon)
        *colon = 0;
    if (where[0] == '?' || !line || str_starts(function, "sundew_watch"))
        return;
    EvidenceStep s = { .at = { .file = arena_strdup(a, where),
                               .line = line,
                               .function = arena_strdup(a, function) },
                       .text = "the stack" };
    vec_push(out, s);
}

void inquiry_frames(Inquiry *q, const struct sundew_watch_slot *seen, Arena *a, Frames *out)
{
    Strings argv = { 0 };
    ProcResult r = { 0 };
    char *namer = find_namer(), *save = NULL;
    strings_add(&argv, namer);
    strings_add(&argv, "-fie");
    strings_add(&argv, q->binary ? q->binary : "");
    for (unsigned i = 0; i < SUNDEW_WATCH_STACK && seen->stack[i]; i++)
        strings_addf(&argv, "0x%" PRIx64, seen->stack[i]);
    Proc p = { .argv = strings_argv(&argv), .capture = true, .seconds = 20 };
    if (q->binary && argv.len > 3 && proc_run(&p, &r, NULL) && !r.status) {
        char *text = xstrdup(str_c(&r.out));
        for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
            char *where = strtok_r(NULL, "\n", &save);
            if (where)
                add_frame(a, l, where, out);
        }
        free(text);
    }
    proc_result_release(&r);
    strings_release(&argv);
    free(namer);
}
