/*
 * state - what a PHP application remembers between requests: files (its own
 * folder, SQLite databases and sessions are files too) and cookies.
 *
 * The application runs on a private copy of its folder. A state is what differs
 * from the copy's beginning: files changed, made or removed. Files' contents
 * are kept once, by hash. Only files that differ are touched by a restore.
 *
 *     States *st = states_new(source, folder, err);
 *     State *s0 = states_first(st);
 *     states_restore(st, s0, err);
 *     …a request…
 *     State *s1 = states_save(st, s0, cookies, err);
 *     state_hash(s1)            equal for states that mean the same
 */
#ifndef SUNDEW_WEB_STATE_H
#define SUNDEW_WEB_STATE_H
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include <stdint.h>

typedef struct Blob Blob;

typedef struct StateFile {
    char *path;                /* below the folder */
    const Blob *blob;          /* NULL: removed */
} StateFile;

typedef struct State {
    unsigned number;           /* in the order of finding; 0 is the first */
    uint64_t hash;
    Vec(StateFile) files;      /* sorted by path */
    Strings cookies;           /* NAME=VALUE, sorted */
    Strings labels;            /* session keys whose values came from input */
    Strings stored;            /* values from input that went into the database */
} State;

typedef struct States States;

/* Copies `source` to folder/app. */
States *states_new(const char *source, const char *folder, Err *err);
void states_free(States *st);
const State *states_first(const States *st);
size_t states_count(const States *st);

bool states_restore(States *st, const State *s, Err *err);
/* Will a restore change files whose paths begin so? */
bool states_restore_touches(States *st, const State *s, const char *below);
/* What is there now, with this jar. An equal state that was seen before is
 * given instead of a new one. */
const State *states_save(States *st, const Strings *cookies, const Strings *labels,
                         const Strings *stored, Err *err);
/* Takes over a file from outside into the beginning of everything. */
bool states_add_file(States *st, const char *from, const char *name, Err *err);

/* The jar as a Cookie header. */
void state_cookie_header(const State *s, Str *out);
/* Adds what Set-Cookie says to a jar. */
void cookies_set(Strings *jar, const char *header);
#endif
