/*
 * cmdline - what a compiler call asks for.
 *
 *     Cmdline c = {0};
 *     cmdline_parse(&c, argc, argv, cwd, false);
 *     c.mode, c.inputs, c.output, c.clang …
 *     cmdline_release(&c);
 *
 * Understands the command lines of gcc and clang; response files are expanded.
 * Never fails: what it does not know is kept as it is, in the worst case the
 * command is CMDLINE_OTHER and passed through.
 */
#ifndef SUNDEW_CMDLINE_H
#define SUNDEW_CMDLINE_H
#include "base/vec.h"
#include <stdbool.h>

typedef enum {
    CMDLINE_OTHER,            /* -E, -S, -M, --version, no input …: no object */
    CMDLINE_COMPILE,          /* -c */
    CMDLINE_LINK,             /* perhaps after compiling sources */
} CmdlineMode;

typedef struct CmdlineInput {
    char *path;               /* as written; "-" is standard input */
    const char *language;     /* "c", "cpp-output", "assembler", "c++" …;
                               * NULL: for the linker */
} CmdlineInput;

typedef struct Cmdline {
    CmdlineMode mode;
    Vec(CmdlineInput) inputs;
    char *output;             /* -o; NULL: none given */
    char *map;                /* the linker map that the user asks for, or NULL */
    bool prints_map;          /* … to standard output: it can't be asked twice */
    bool reads_stdin;
    Strings clang;            /* flags that clang needs to see the same program */
    Strings unsure;           /* flags that clang may refuse: tried, then dropped */
    Strings dropped;          /* flags left out although they may matter */
} Cmdline;

/* `cxx`: the compiler's name says that .c is C++ too (g++). */
void cmdline_parse(Cmdline *c, int argc, char *const *argv, const char *cwd, bool cxx);
void cmdline_release(Cmdline *c);

/* One flag and its value, by the same table. */
typedef struct CmdlineFlag {
    const char *name;         /* as the table has it: "-L", "-Wl,"; NULL: unknown */
    const char *value;        /* joined or the next word; NULL: none */
    unsigned words;           /* that it takes, itself included: 1 or 2 */
} CmdlineFlag;
/* `word` begins with '-'; `next` may be NULL. */
CmdlineFlag cmdline_flag(const char *word, const char *next);

/* Where the object of source `input` goes if the command is a -c without -o. */
char *cmdline_object_name(const char *input);
bool cmdline_is_c(const char *language);
bool cmdline_is_stdin(const char *path);      /* "-", /dev/stdin … */
/* Words with quotes and backslashes, as in a response file; with `shell`, as in
 * a shell command: a backslash is plain in single quotes and mostly in double. */
void cmdline_split(const char *text, bool shell, Strings *out);
/* argv with its @files read. */
void cmdline_expand(int argc, char *const *argv, const char *cwd, Strings *out);
#endif
