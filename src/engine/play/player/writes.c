/*
 * writes - what a library writes: to standard output, and into files of the job's folder.
 *
 * Standard output is a file of ours that has no name. What a call adds to it is seen after the call.
 * Files are looked at once, after the last call, so that it does not matter when a library writes.
 */
#include "engine/play/player/player_int.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 16, LONGEST_NAME = 64, LARGEST_FILE = 1 << 20 };

void writes_begin(Playing *p)
{
    static const char name[] = ".sundew-stdout";
    int fd =
        p->player->head->writes ? open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    unlink(name);
    fflush(stdout);
    dup2(fd, 1);
    close(fd);
    p->written = 0;
    p->writes = 1;
}

void writes_look_at_output(Playing *p, unsigned step)
{
    char bytes[WIRE_MOST_SEEN_BYTES];
    struct stat st;
    if (!p->writes)
        return;
    fflush(stdout);
    if (fstat(1, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= p->written)
        return;
    ssize_t n = pread(1, bytes, sizeof bytes, p->written);
    p->written = st.st_size;
    if (n > 0)
        look_note(p, step, OBS_PLACE_STDOUT, OBS_BYTES, bytes, (uint32_t)n);
}

/* ---- files */

static uint64_t sum_of(const char *name, off_t size)
{
    uint64_t h = 0xcbf29ce484222325u;
    unsigned char bytes[4096];
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    for (off_t at = 0; fd >= 0 && at < size && at < LARGEST_FILE;) {
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n <= 0)
            break;
        for (ssize_t i = 0; i < n; i++)
            h = (h ^ bytes[i]) * 0x100000001b3u;
        at += n;
    }
    if (fd >= 0)
        close(fd);
    return h;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

void writes_look_at_files(Playing *p)
{
    char names[MOST_FILES][LONGEST_NAME], text[WIRE_MOST_SEEN_BYTES] = "";
    size_t n = 0, used = 0;
    struct stat st;
    DIR *d = p->writes && p->ndone ? opendir(".") : NULL;
    if (!d)
        return;
    fflush(NULL);
    for (struct dirent *e; (e = readdir(d)) && n < MOST_FILES;)
        if (e->d_name[0] != '.' && strlen(e->d_name) < LONGEST_NAME)
            strcpy(names[n++], e->d_name);
    closedir(d);
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        if (lstat(names[i], &st) != 0)
            continue;
        int m =
            snprintf(text + used, sizeof text - used, "%s %lld %llx\n", names[i],
                     S_ISREG(st.st_mode) ? (long long)st.st_size : -1,
                     (unsigned long long)(S_ISREG(st.st_mode) ? sum_of(names[i], st.st_size) : 0));
        if (m < 0 || (size_t)m >= sizeof text - used)
            break;
        used += (size_t)m;
    }
    if (used)
        look_note(p, p->ndone - 1, OBS_PLACE_FILES, OBS_BYTES, text, (uint32_t)used);
}
