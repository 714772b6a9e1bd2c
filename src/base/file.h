/*
 * file - files and paths.
 *
 * file_write() is atomic: the content goes to a new file beside the target,
 * which is renamed over it, so that a reader sees the old or the new content
 * and a full disk or a kill loses nothing. Paths handed back are the caller's
 * to free.
 */
#ifndef SUNDEW_FILE_H
#define SUNDEW_FILE_H
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include <stdint.h>
#include <stdio.h>

bool file_read(const char *path, Str *out, Err *err);
bool file_read_fd(int fd, Str *out, Err *err);
/* A file that a program under test left, or may have put something in place of: a regular
 * file of at most `most` bytes. Links are not followed, pipes and devices refused. */
bool file_read_left(const char *path, uint64_t most, Str *out, Err *err);
/* Open for reading, if it is a regular file; never waits. -1 with `err`: not. */
int file_open_regular(const char *path, bool follow_links, Err *err);
bool file_write(const char *path, const void *data, size_t n, Err *err);
/* The same for a file that is there: keeps its mode and times, and a link to it
 * stays a link. */
bool file_replace(const char *path, const void *data, size_t n, Err *err);
bool file_write_fd(int fd, const void *data, size_t n, Err *err);
/* Into a file that exists, in one call, as /proc wants it; errno says why not. */
bool file_put(const char *path, const char *text);
/* All of it; no SIGPIPE if the other side is gone. */
bool socket_put(int fd, const void *data, size_t n);
bool file_exists(const char *path);
bool file_is_dir(const char *path);
bool file_is_regular(const char *path);
bool file_is_pipe(const char *path);      /* opening it waits for who writes it */
int64_t file_size(const char *path);                  /* -1 if there is none */
bool dir_make(const char *path, Err *err);            /* with its parents */
/* Nobody else can lock the folder until the descriptor is closed or the process ends. -1: somebody
 * else has it (*busy), or it can't be opened (errno). */
int dir_lock(const char *path, bool *busy);
void dir_remove(const char *path);                    /* with all below it */
/* The names in a folder, sorted, without . and .. */
bool dir_list(const char *path, Strings *names, Err *err);

char *path_join(const char *dir, const char *name);   /* an absolute name wins */
char *path_absolute(const char *path);                /* . and .. folded */
bool path_cwd_exists(void);
char *path_in(const char *cwd, const char *path);     /* absolute, seen from cwd */
char *path_real(const char *path);                    /* NULL if it is not there */
const char *path_base(const char *path);              /* inside `path` */
char *path_dir(const char *path);
/* `path` seen from the folder `from`, if it is below it; else as it is. */
char *path_relative(const char *path, const char *from);
bool path_is_below(const char *path, const char *folder);       /* or the folder itself */
/* `path` seen from the folder `from`, with ".." where that is needed: "../include". Both are
 * absolute. As it is if they have only the root in common. */
char *path_between(const char *path, const char *from);
/* $PATH, or what stands for it when it is not set. */
const char *path_list(void);
/* The first executable `name` in path_list(), passing over the file `skip` and
 * links to it (may be NULL). NULL: there is none. */
char *path_search(const char *name, const char *skip);
/* `name` turned into something that is safe as one file name: [A-Za-z0-9._-],
 * no leading dot, at most 100 bytes, never empty. */
char *path_safe_name(const char *name);
#endif
