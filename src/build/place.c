#include "build/place.h"
#include "build/woven.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_archive(const char *object, const char *out, Err *err)
{
    char *argv[] = { "ar", "rcs", (char *)out, (char *)object, NULL };
    ProcResult r = { 0 };

    unlink(out);
    bool ok = proc_run(&(Proc){ .argv = argv, .capture = true }, &r, err);
    if (ok && r.status != 0)
        ok = err_set(err, "ar: %s", str_c(&r.err));
    proc_result_release(&r);
    return ok;
}

bool place_build(Woven *w, const Program *p, const char *out, Err *err)
{
    const CapturedProgram *c = program_captured(p);
    bool object = c->kind == PROGRAM_OBJECT || c->kind == PROGRAM_ARCHIVE;

    if (c->kind != PROGRAM_ARCHIVE)
        return woven_build(w, &(WovenBuild){ .out = out, .object_only = object }, err);
    const char *scratch = tempdir_new(NULL, err);
    if (!scratch)
        return false;
    char *path = path_join(scratch, "woven.o");
    bool ok = woven_build(w, &(WovenBuild){ .out = path, .object_only = true }, err) &&
              make_archive(path, out, err);
    free(path);
    tempdir_remove(scratch);
    return ok;
}

static char *kept_name(const char *path)
{
    return xprintf("%s.sundew-kept", path);
}

bool place_restore(const char *program, Err *err)
{
    char *kept = kept_name(program);
    bool ok = !file_exists(kept) || rename(kept, program) == 0 ||
              err_set(err, "%s: %s; move it to %s", kept, strerror(errno), program);

    free(kept);
    return ok;
}

/* A copy of `from` at `to`, with the mode of `like`, and as old as it if wanted. */
static bool put(const char *from, const char *to, const struct stat *like, bool same_age, Err *err)
{
    Str data = { 0 };
    struct timespec times[2] = { like->st_atim, like->st_mtim };
    bool ok = file_read(from, &data, err) && file_write(to, str_c(&data), data.len, err);

    str_release(&data);
    if (ok && chmod(to, like->st_mode & 07777) != 0)
        ok = err_errno(err, "%s", to);
    if (ok && same_age)
        utimensat(AT_FDCWD, to, times, 0);
    return ok;
}

bool place_take(const CapturedProgram *c, const char *woven, Err *err)
{
    char *kept = kept_name(c->path);
    struct stat st;
    bool ok = stat(c->path, &st) == 0 || err_errno(err, "%s", c->path);

    if (ok && link(c->path, kept) != 0)
        ok = err_errno(err, "%s", kept);
    if (ok && !put(woven, c->path, &st, c->kind != PROGRAM_ARCHIVE, err)) {
        rename(kept, c->path);
        ok = false;
    }
    free(kept);
    return ok;
}
