/*
 * A private view of the project for one command. The parent prepares all paths,
 * because the child, between fork() and exec(), only makes system calls.
 */
#include "build/place.h"
#include "build/keep.h"
#include "build/woven.h"
#include "base/file.h"
#include "base/layer.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "base/userns.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
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

static bool build_as(Woven *w, const Program *p, WovenBuild how, const char *out, Err *err)
{
    const CapturedProgram *c = program_captured(p);

    how.object_only = c->kind == PROGRAM_OBJECT || c->kind == PROGRAM_ARCHIVE;
    how.out = out;
    if (c->kind != PROGRAM_ARCHIVE)
        return woven_build(w, &how, err);
    const char *scratch = tempdir_new(NULL, err);
    if (!scratch)
        return false;
    char *path = path_join(scratch, "woven.o");
    how.out = path;
    bool ok = woven_build(w, &how, err) && make_archive(path, out, err);
    free(path);
    tempdir_remove(scratch);
    return ok;
}

bool place_build(Woven *w, const Program *p, const char *out, Err *err)
{
    return build_as(w, p, (WovenBuild){ 0 }, out, err);
}

bool place_build_plain(Woven *w, const Program *p, const char *out, Err *err)
{
    return build_as(w, p, (WovenBuild){ .unoptimised = true }, out, err);
}

/* ---- the view, in the child */

enum {
    MOST_LAYERS = 2
};        /* the project's folder, and the program's if that
                                  * is elsewhere */
typedef enum {
    STEP_NAMESPACE,
    STEP_OVERLAY,
    STEP_PROGRAM,
    STEP_FOLDER,
} Step;

/* What went wrong, as the child writes it into `report`. */
typedef struct Trouble {
    Step step;
    int error;
} Trouble;

typedef struct View {
    char *path;                  /* of the user's program, without links */
    char *standin;               /* the woven file with the original's mode and age */
    char *cwd, *results;
    char *layers[MOST_LAYERS];   /* folders to cover */
    size_t nlayers;
    UserIds ids;
    struct timespec times[2];    /* of the stand-in */
    mode_t mode;
    bool overlay, archive;
    int report;
} View;

/* Root needs no user namespace, but in a container may need one all the same.
 * `*alone`: in a user namespace of our own. */
static bool enter_namespace(const View *v, bool *alone)
{
    if (unshare(CLONE_NEWNS) != 0) {
        if (!userns_enter(&v->ids, CLONE_NEWNS))
            return false;
        *alone = true;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* All that is written in the folders goes to memory from now on; what is written
 * to the results stays. */
static bool cover(const View *v, bool alone)
{
    int results = open(v->results, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool ok = results >= 0;
    for (size_t i = 0; ok && i < v->nlayers; i++)
        ok = layer_over(v->layers[i], alone, 0);
    char from[64];
    snprintf(from, sizeof from, "/proc/self/fd/%d", results);
    return ok && mount(from, v->results, NULL, MS_BIND, NULL) == 0;
}

/* The stand-in, copied into the layer. Its name is free there for the command: it
 * may be removed, renamed and linked anew. */
static bool put_into_layer(const View *v)
{
    static char buffer[1 << 16];
    int from = open(v->standin, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;
    if (from < 0 || unlink(v->path) != 0)
        return false;
    int to = open(v->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    while (to >= 0 && (n = read(from, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, (size_t)n) != n)
            return false;
    bool ok = n == 0 && fchmod(to, v->mode) == 0 && (v->archive || futimens(to, v->times) == 0);
    close(from);
    return close(to) == 0 && ok;
}

static bool complain(const View *v, Step step)
{
    Trouble t = { step, errno };
    ssize_t ignored = write(v->report, &t, sizeof t);
    (void)ignored;
    errno = t.error;
    return false;
}

static bool enter_view(void *view)
{
    const View *v = view;
    bool alone = false;
    if (!enter_namespace(v, &alone))
        return complain(v, STEP_NAMESPACE);
    bool covered = v->overlay && cover(v, alone);
    if (!covered && v->archive)
        return complain(v, STEP_OVERLAY);
    if (covered ? !put_into_layer(v) : mount(v->standin, v->path, NULL, MS_BIND, NULL) != 0)
        return complain(v, STEP_PROGRAM);
    return chdir(v->cwd) == 0 || complain(v, STEP_FOLDER);
}

/* ---- its parts, prepared */

/* The project; and the program's folder, if that is elsewhere. Nothing lies over
 * the root of the file system. */
static void choose_layers(View *v, const char *root)
{
    char *project = path_real(root), *home = path_dir(v->path);
    if (project && strcmp(project, "/") != 0)
        v->layers[v->nlayers++] = project;
    else
        free(project);
    if (strcmp(home, "/") != 0 && (!v->nlayers || !path_is_below(home, v->layers[0])))
        v->layers[v->nlayers++] = home;
    else
        free(home);
    v->overlay = v->nlayers > 0;
    for (size_t i = 0; i < v->nlayers; i++)     /* /proc and the like are not to be covered */
        v->overlay &= !path_is_below("/proc", v->layers[i]);
}

/* A copy for the mount without a layer: with the original's mode and age. */
static bool make_standin(View *v, const char *woven, Err *err)
{
    Str data = { 0 };
    bool ok = file_read(woven, &data, err) && file_write(v->standin, str_c(&data), data.len, err);
    str_release(&data);
    if (ok &&
        (chmod(v->standin, v->mode) != 0 || utimensat(AT_FDCWD, v->standin, v->times, 0) != 0))
        ok = err_errno(err, "%s", v->standin);
    return ok;
}

static bool view_init(View *v, const PlacePlan *plan, const char *scratch, Err *err)
{
    struct stat st;
    *v = (View){ .path = path_real(plan->program->path),
                 .report = -1,
                 .standin = path_join(scratch, "stand-in"),
                 .cwd = path_absolute("."),
                 .results = path_absolute(plan->results),
                 .archive = plan->program->kind == PROGRAM_ARCHIVE };
    if (!v->path || stat(v->path, &st) != 0)
        return err_errno(err, "%s", plan->program->path);
    v->mode = st.st_mode & 07777;
    v->times[0] = st.st_atim;
    v->times[1] = st.st_mtim;
    v->ids = userns_ids();
    choose_layers(v, plan->root);
    v->overlay &= !plan->without_overlay;
    return make_standin(v, plan->woven, err);
}

static void view_release(View *v)
{
    free(v->path);
    free(v->standin);
    free(v->cwd);
    free(v->results);
    for (size_t i = 0; i < v->nlayers; i++)
        free(v->layers[i]);
}

/* ---- the command */

/* Better than "cannot start make: Operation not permitted". */
static void explain(int report, const char *program, Err *err)
{
    Trouble t;
    if (read(report, &t, sizeof t) != sizeof t)
        return;
    static const char *const steps[] = {
        [STEP_NAMESPACE] = "a mount namespace",
        [STEP_OVERLAY] = "an overlay",
        [STEP_PROGRAM] = "the woven program",
        [STEP_FOLDER] = "the current folder",
    };
    assert(t.step < sizeof steps / sizeof *steps);
    err_set(err,
            "the command needs a private view of the project, in which a woven program "
            "stands in the place of %s, and this machine refuses %s (%s). Allow user "
            "namespaces, or run Sundew as root outside of a container",
            program, steps[t.step], strerror(t.error));
}

static void await(pid_t pid, const PlacePlan *plan, ProcResult *r)
{
    double end = plan->seconds > 0 ? clock_seconds() + plan->seconds : 0;
    for (;;) {
        double now = clock_seconds();
        if (proc_wait_until(pid, end && end < now + 0.1 ? end : now + 0.1, r))
            break;
        r->timed_out = (end && clock_seconds() >= end) || (plan->stop && plan->stop(plan->arg));
        if (r->timed_out) {
            kill(-pid, SIGKILL);
            proc_wait(pid, r);
            return;
        }
    }
    kill(-pid, SIGKILL);          /* what it left behind */
}

static bool run_in_view(View *v, const PlacePlan *plan, char *const *env, ProcResult *r, Err *err)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return err_errno(err, "cannot start %s", plan->argv[0]);
    v->report = report[1];
    /* a time limit gives it a process group of its own */
    Proc proc = { .argv = plan->argv,
                  .env = env,
                  .out_to_err = true,
                  .seconds = 1,
                  .enter = enter_view,
                  .enter_arg = v,
                  .death_signal = SIGKILL };
    pid_t pid = proc_start(&proc, err);
    close(report[1]);
    if (pid > 0)
        await(pid, plan, r);
    else
        explain(report[0], plan->program->path, err);
    close(report[0]);
    return pid > 0;
}

bool place_run(const PlacePlan *plan, ProcResult *r, Err *err)
{
    assert(plan->argv[0] && plan->program && plan->woven && plan->root && plan->results);
    const char *scratch = tempdir_new(NULL, err);
    View v = { 0 };
    if (!scratch)
        return false;
    Strings env = { 0 };
    bool ok = view_init(&v, plan, scratch, err);
    if (ok && v.overlay)
        ok = keep_environment(&(KeepPlan){ .program = plan->program,
                                           .path = v.path,
                                           .standin = v.standin,
                                           .folder = scratch,
                                           .env = plan->env },
                              &env, err);
    ok = ok && run_in_view(&v, plan, v.overlay ? strings_argv(&env) : plan->env, r, err);
    strings_release(&env);
    view_release(&v);
    tempdir_remove(scratch);
    return ok;
}
