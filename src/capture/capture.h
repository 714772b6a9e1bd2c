/*
 * capture - what was compiled, and what was linked from what.
 *
 * A workspace is the .sundew/ folder of a project:
 *
 *     .sundew/
 *       version             "1"
 *       root                the project's folder, if this is not its .sundew
 *       shims/              gcc, cc, clang, … : links to sundew-cc
 *       units/ID.bc         a unit's bitcode, -O0 -g, named by content
 *       units/ID.json       its source, command, and what could not be done
 *       objects/HASH        objects that can't carry a section: their unit's id
 *       programs/HASH.json  one linked file or archive, by its path
 *       builds/N.json       one run of `sundew capture`
 *       linked/KEY.*        a linked program, see program/program.h
 *       tmp/                work in progress; swept when its process is gone
 *       findings.db         see finding/store.h
 *
 * All files are written whole and renamed into place, so that several
 * compilers at once, and a kill at any time, leave a usable workspace.
 *
 * Everything a Workspace hands out lives until workspace_close().
 */
#ifndef SUNDEW_CAPTURE_H
#define SUNDEW_CAPTURE_H
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"

typedef struct Workspace Workspace;

/* The workspace `dir`; NULL: .sundew in the nearest parent that has one, else
 * in the current folder. Without `create` a missing one is an error that says
 * how to make it. */
Workspace *workspace_open(const char *dir, bool create, Err *err);
void workspace_close(Workspace *ws);                     /* NULL is fine */
/* Takes away a workspace in which nothing was captured. */
void workspace_discard(const Workspace *ws);
const char *workspace_dir(const Workspace *ws);          /* …/.sundew */
const char *workspace_root(const Workspace *ws);         /* the project: its parent, or the
                                                          * folder it was made for */
/* Long work on what was captured asks whether it is to end: --time is over, say. */
void workspace_on_stop(Workspace *ws, bool (*stop)(void *arg), void *arg);
/* False: nobody is asked, the work can't be ended. */
bool workspace_can_stop(const Workspace *ws);
bool workspace_is_stopped(const Workspace *ws);
void workspace_note_stop(Workspace *ws);                 /* work was ended … */
bool workspace_has_stopped(const Workspace *ws);         /* … at some time */

typedef enum {
    UNIT_CAPTURED,
    UNIT_FAILED,              /* the second compile failed */
    UNIT_FOREIGN,             /* assembler, C++ …: passed through */
} UnitStatus;
const char *unit_status_name(UnitStatus s);      /* captured, failed, foreign */

typedef struct Unit {
    const char *id;
    const char *source;       /* absolute */
    const char *directory;    /* where the compiler ran */
    const char *output;       /* absolute; the object, or the program itself
                               * where one command compiled and linked */
    const char *language;     /* "c", "assembler", "c++", … */
    UnitStatus status;
    const char *reason;       /* why not captured; "" if it is */
    const char *bitcode;      /* path; "" if not captured */
    bool damaged;             /* what the workspace holds of it is not what was put there:
                               * failed, and the reason says what */
    Strings arguments;        /* the build's command, argv[0] included */
    Strings dropped;          /* flags that clang does not know */
} Unit;

/* NULL: no such unit here. */
const Unit *workspace_unit(Workspace *ws, const char *id);

/* Looks at all that a workspace holds: units, their bitcode against its checksum, records
 * of programs. Tells of each thing that is damaged; gives their number. */
size_t workspace_check(Workspace *ws, void (*tell)(void *arg, const char *what, const char *why),
                       void *arg);
/* Is the unit's bitcode what was captured? "": it is; else why not. */
const char *unit_check_bitcode(const Unit *u);

/* An object that was linked but has no unit: not compiled under capture. */
typedef struct MissingObject {
    const char *object;       /* path, or archive(member) */
    const char *reason;
    bool damaged;             /* its unit is gone from this workspace */
} MissingObject;

typedef enum {
    PROGRAM_EXECUTABLE,
    PROGRAM_SHARED,
    PROGRAM_ARCHIVE,
    PROGRAM_OBJECT,
} ProgramKind;
const char *program_kind_name(ProgramKind k);    /* executable, shared, … */

typedef struct CapturedProgram {
    const char *name;         /* the file's name */
    const char *path;         /* absolute */
    ProgramKind kind;
    const Unit **units;       /* captured C units, in link order */
    size_t nunits;
    const Unit **failed;      /* C units without bitcode */
    size_t nfailed;
    const Unit **foreign;     /* assembler, C++ */
    size_t nforeign;
    MissingObject *missing;   /* linked, but never seen by the capture */
    size_t nmissing;
    size_t ndamaged;          /* of `failed` and `missing` */
    Strings link;             /* the command that linked it, response files
                               * read, argv[0] a path; empty: it was not seen
                               * (an archive, an older capture) */
    const char *link_directory;  /* where that ran; "" */
    const struct CapturedProgram **libraries;   /* whose units are among `units`, */
    size_t nlibraries;                          /* see workspace_with_libraries() */
    size_t *ends;             /* with libraries: where the program's own units end, then
                               * those of each library */
} CapturedProgram;

/* A program by the path of an executable, shared library, archive or object
 * of a captured build (a copy will do), or by its name in the workspace. A shared
 * library with a version (libx.so.0.1) has its shorter names too (libx.so). */
const CapturedProgram *workspace_program(Workspace *ws, const char *path_or_name, Err *err);
/* An executable together with the project's own shared libraries that it is linked with,
 * and theirs: their units stand behind its own. `p` itself if it has none. */
const CapturedProgram *workspace_with_libraries(Workspace *ws, const CapturedProgram *p);
/* The symbols that a library shows to others, as keys. False: it can't be read. */
bool library_exports(const CapturedProgram *library, Map *names);
/* All that are still there, sorted by path. NULL-terminated. */
const CapturedProgram **workspace_programs(Workspace *ws, size_t *n, Err *err);

/* One compiler call, as in compile_commands.json. */
typedef struct CompileCommand {
    const char *directory;
    const char *file;         /* absolute */
    const char *output;       /* may be "" */
    Strings arguments;        /* argv[0] included */
    Strings clang;            /* the same for clang-19's front end: only what
                               * matters to parsing; no argv[0], no file */
} CompileCommand;

typedef Vec(CompileCommand) CompileCommands;

/* The C units of the workspace that are part of a program that is still there
 * (all of them if there is none), one per source and flags. */
bool commands_of_workspace(Workspace *ws, CompileCommands *out, Err *err);
/* From a compile_commands.json; C files only. */
bool commands_read(const char *path, CompileCommands *out, Err *err);
void command_release(CompileCommand *c);         /* one, inside a vector */
void commands_release(CompileCommands *c);

/* clang-19: of $SUNDEW_LLVM_PREFIX, of the LLVM this was built with, or on the
 * PATH. NULL: there is none. */
char *clang_find(void);
#endif
