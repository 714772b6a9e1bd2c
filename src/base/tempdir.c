/*
 * The name holds the process id, sundew-PID-XXXXXX, so that a later process can
 * tell whose folder it is and remove it when that process is gone.
 *
 * Signals: the handler only unlinks with async-signal-safe means, which a walk
 * over a folder is not. So it forks a child that removes the folders and kills
 * itself again with the default action.
 */
#include "base/tempdir.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64 };
static char *folders[MOST];     /* removed at exit; NULL is a free place */
static pid_t owner;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;     /* jobs make folders too */

static void remove_all(void)
{
    if (getpid() != owner)      /* a forked child must not */
        return;
    for (int i = 0; i < MOST; i++) {
        if (!folders[i])
            continue;
        dir_remove(folders[i]);
        free(folders[i]);
        folders[i] = NULL;
    }
}

static void on_signal(int sig)
{
    if (getpid() == owner) {
        for (int i = 0; i < MOST; i++) {
            if (!folders[i])
                continue;
            pid_t child = fork();
            if (child == 0) {
                execl("/bin/rm", "rm", "-rf", "--", folders[i], (char *)NULL);
                _exit(127);
            }
            if (child > 0)
                waitpid(child, NULL, 0);
        }
    }
    signal(sig, SIG_DFL);
    raise(sig);
}

static void install(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    owner = getpid();
    atexit(remove_all);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old, act = { .sa_handler = on_signal };
        act.sa_flags = SA_NODEFER;
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &act, NULL);
    }
}

/* Others may put folders there too, for us to remove. */
static bool is_ours(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* Folders of processes that are no more. */
static void sweep(const char *parent)
{
    Strings names = { 0 };
    if (!dir_list(parent, &names, NULL))
        return;
    for (size_t i = 0; i < names.len; i++) {
        long pid;
        char tail[8];
        if (sscanf(names.items[i], "sundew-%ld-%6s", &pid, tail) != 2)
            continue;
        if (kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        char *path = path_join(parent, names.items[i]);
        if (is_ours(path))
            dir_remove(path);
        free(path);
    }
    strings_release(&names);
}

static const char *make(const char *parent, Err *err)
{
    bool sweeps = parent != NULL;        /* a folder of Sundew's own, which is small */
    if (!parent)
        parent = getenv("TMPDIR");
    if (!parent || !*parent)
        parent = "/tmp";
    if (owner != getpid()) {
        memset(folders, 0, sizeof folders);
        install();
        sweeps = true;
    }
    if (sweeps)
        sweep(parent);
    int place = 0;
    while (place < MOST && folders[place])
        place++;
    if (place == MOST) {
        err_set(err, "too many temporary folders");
        return NULL;
    }
    char *path = xprintf("%s/sundew-%ld-XXXXXX", parent, (long)getpid());
    if (fault_hits() || !mkdtemp(path)) {
        err_errno(err, "temporary folder %s", path);
        free(path);
        return NULL;
    }
    folders[place] = path;
    return path;
}

const char *tempdir_new(const char *parent, Err *err)
{
    pthread_mutex_lock(&lock);
    const char *path = make(parent, err);
    pthread_mutex_unlock(&lock);
    return path;
}

/* Takes it out of the list; NULL: it is not there. */
static char *take(const char *path)
{
    char *found = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; path && !found && i < MOST; i++)
        if (folders[i] == path) {
            found = folders[i];
            folders[i] = NULL;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

void tempdir_remove(const char *path)
{
    char *found = take(path);
    if (found)
        dir_remove(found);
    free(found);
}
