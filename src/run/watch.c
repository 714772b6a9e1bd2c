/*
 * What the processes of a run use, read from /proc. It lists more than ours
 * unless it belongs to our pid namespace, so the tree is followed by parents;
 * an orphan's parent is the worker. Where /proc is that of an outer namespace,
 * its numbers are not ours; /proc/N/status tells both.
 */
#include "run/run_int.h"
#include "base/vec.h"
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Process {
    pid_t pid, parent;
    char state;
    unsigned threads;
    double cpu;
    uint64_t rss;
    bool ours;
} Process;
typedef Vec(Process) Processes;

static bool read_small(const char *name, pid_t pid, char *to, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    to[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* "17 (name) S 1 …"; the name may hold anything. */
static bool read_process(pid_t pid, Process *p)
{
    char text[1024];
    if (!read_small("stat", pid, text, sizeof text))
        return false;
    char *after = strrchr(text, ')');
    int parent;
    unsigned long user, sys;
    long waited_user, waited_sys, threads, pages;
    if (!after ||
        sscanf(after + 1,
               " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld %*d "
               "%*d %ld %*d %*u %*u %ld",
               &p->state, &parent, &user, &sys, &waited_user, &waited_sys, &threads, &pages) != 8)
        return false;
    p->pid = pid;
    p->parent = parent;
    p->threads = (unsigned)threads;
    p->cpu = ((double)user + (double)sys + (double)waited_user + (double)waited_sys) /
             (double)sysconf(_SC_CLK_TCK);
    p->rss = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

/* The number of a process in our own namespace. */
static pid_t own_number(pid_t pid)
{
    char text[4096];
    if (!read_small("status", pid, text, sizeof text))
        return 0;
    char *line = strstr(text, "\nNSpid:");
    if (!line)
        return pid;
    line[1 + strcspn(line + 1, "\n")] = 0;
    return (pid_t)atoi(strrchr(line, '\t') + 1);
}

static void mark_ours(Processes *all, pid_t self)
{
    if (self == 1) {           /* the first of its namespace: all are */
        for (size_t i = 0; i < all->len; i++)
            all->items[i].ours = all->items[i].pid != 1;
        return;
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < all->len; i++) {
            Process *p = &all->items[i];
            bool ours = p->parent == self;
            for (size_t k = 0; !p->ours && !ours && k < all->len; k++)
                ours = all->items[k].ours && all->items[k].pid == p->parent;
            if (ours && !p->ours)
                p->ours = more = true;
        }
    }
}

/* Our own number in /proc; 0 if there is no /proc. */
static pid_t self_number(void)
{
    char self[32] = "";
    ssize_t n = readlink("/proc/self", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    return (pid_t)atoi(self);
}

static bool is_own_proc(void) { return self_number() == getpid(); }

/* Those below the caller, with numbers of /proc; true if they are ours too. */
static bool list(Processes *all)
{
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        Process p = { 0 };
        if (isdigit((unsigned char)e->d_name[0]) && read_process((pid_t)atoi(e->d_name), &p))
            vec_push(all, p);
    }
    if (d)
        closedir(d);
    mark_ours(all, self_number());
    return is_own_proc();
}

pid_t watch_proc_number(pid_t pid)
{
    if (is_own_proc())
        return pid;
    Processes all = { 0 };
    pid_t number = 0;
    list(&all);
    for (size_t i = 0; !number && i < all.len; i++)
        if (all.items[i].ours && own_number(all.items[i].pid) == pid)
            number = all.items[i].pid;
    vec_release(&all);
    return number;
}

/* Shared pages in equal parts to those who share them. */
static uint64_t exact_rss(pid_t pid)
{
    char text[4096];
    unsigned long long kib = 0;
    if (!read_small("smaps_rollup", pid, text, sizeof text))
        return 0;
    char *line = strstr(text, "\nPss:");
    if (line)
        sscanf(line, "\nPss: %llu", &kib);
    return kib * 1024;
}

Usage watch_usage(pid_t except, bool exact_memory)
{
    Processes all = { 0 };
    Usage u = { 0 };
    bool same = list(&all);
    for (size_t i = 0; i < all.len; i++) {
        Process *p = &all.items[i];
        if (!p->ours || (except && (same ? p->pid : own_number(p->pid)) == except))
            continue;
        u.cpu += p->cpu;
        if (p->state == 'Z' || p->state == 'X')
            continue;
        u.tasks += p->threads;
        u.memory += exact_memory ? exact_rss(p->pid) : p->rss;
        u.runnable |= p->state == 'R' || p->state == 'D';
    }
    vec_release(&all);
    return u;
}

size_t watch_kill(pid_t except)
{
    Processes all = { 0 };
    size_t n = 0;
    bool same = list(&all);
    for (size_t i = 0; i < all.len; i++) {
        Process *p = &all.items[i];
        pid_t pid = same || !p->ours ? p->pid : own_number(p->pid);
        if (!p->ours || pid <= 0 || pid == except || p->state == 'Z')
            continue;
        kill(pid, SIGKILL);
        n++;
    }
    vec_release(&all);
    return n;
}

unsigned watch_user_tasks(void)
{
    Processes all = { 0 };
    unsigned n = 0;
    list(&all);
    for (size_t i = 0; i < all.len; i++) {
        char path[64];
        struct stat st;
        snprintf(path, sizeof path, "/proc/%d", (int)all.items[i].pid);
        if (stat(path, &st) == 0 && st.st_uid == getuid())
            n += all.items[i].threads;
    }
    vec_release(&all);
    return n;
}
