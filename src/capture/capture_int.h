/* What only the files of src/capture/ share. */
#ifndef SUNDEW_CAPTURE_INT_H
#define SUNDEW_CAPTURE_INT_H
#include "base/json.h"
#include "base/map.h"
#include "base/sha256.h"
#include "capture/capture.h"
#include "capture/cmdline.h"

/* A path below the workspace; freed by the caller. */
char *workspace_path(const Workspace *ws, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A temporary folder on the same file system, gone when the process ends. */
const char *workspace_tempdir(const Workspace *ws, Err *err);
/* What it holds lives until workspace_close(). */
Arena *workspace_arena(Workspace *ws);

/* ---- units */
char *unit_bitcode_path(const Workspace *ws, const char *id);
bool unit_write(Workspace *ws, const Unit *u, Err *err);

/* ---- objects and programs */
/* The ids that `data` (an object file's bytes) carries or that the workspace
 * knows for it. False: none. */
bool object_ids(const Workspace *ws, const char *data, size_t n, Strings *ids);
/* Remembers the unit of an object that can't carry a section. */
bool object_remember(Workspace *ws, const char *data, size_t n, const char *id, Err *err);
/* The same for a file, which may be an archive: `missing` gets the members
 * without one as "archive(member)". */
bool file_ids(const Workspace *ws, const char *path, Strings *ids, Strings *missing, Err *err);

/* What the wrapper knows about a linked file. */
typedef struct LinkRecord {
    const char *path;         /* absolute */
    const Strings *ids;       /* its units; may be NULL */
    const Strings *missing;   /* objects without a unit; may be NULL */
    const Strings *command;   /* that linked it; NULL: an archive */
    const char *directory;    /* where it ran */
} LinkRecord;
bool program_write(Workspace *ws, const LinkRecord *r, Err *err);
/* What was written for that path; nothing if there is nothing. */
void program_record(Workspace *ws, const char *path, Strings *ids, Strings *missing);

/* Flags for clang-19 that make it see the program that the build sees, from a
 * parsed command: what capture and the AST share. `cross` is the target of a
 * cross compiler's name, or NULL. */
void clang_flags(const Cmdline *c, const char *compiler, Strings *out);

/* Is this what a configure script or CMake compiles to find out about the
 * system? Such programs are no part of the build. */
bool is_configure_check(const char *cwd, const char *file);
#endif
