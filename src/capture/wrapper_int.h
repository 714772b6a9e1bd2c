/* What only wrapper.c and bitcode.c share: one call of a stand-in. */
#ifndef SUNDEW_WRAPPER_INT_H
#define SUNDEW_WRAPPER_INT_H
#include "capture/capture_int.h"
#include "capture/wrapper.h"
#include <sys/types.h>

typedef struct Call {
    ToolKind kind;
    char *cwd;
    char *real;               /* the tool's path, as the build knows it */
    char *file;               /* what to execute; NULL: `real`. Another one if we are
                               * mounted over it, see tools.h */
    Strings argv;             /* what the build said, argv[0] first */
    size_t compiler;          /* index of the compiler's name in argv: 1 behind
                               * a launcher such as ccache, else 0 */
    Workspace *ws;            /* NULL: could not be opened; just pass through */
} Call;

/* One line in the log of this build. */
void log_line(const char *word, const char *text);

/* A source of this call on its way to a unit. */
typedef struct Job {
    const CmdlineInput *in;
    char *source;             /* absolute; what clang reads */
    char *output;             /* absolute: the object, or the linked file */
    char *bitcode, *said;     /* temporary: clang's output, and its messages */
    Strings flags;            /* for clang */
    Strings dropped;
    bool unreadable;          /* a pipe: only the real compiler may read it */
    pid_t pid;                /* of clang; 0: none is running */
    char id[ID_LEN + 1];      /* filled by finish_job() */
} Job;
typedef Vec(Job) Jobs;

/* A job for each source of the command; those in C start at once. `in` is the
 * copy of standard input, or NULL. */
void start_jobs(const Call *c, const Cmdline *cmd, const char *temp, const char *in, Jobs *jobs);
/* Makes the unit of a source whose object is there. `seconds` is how long the
 * real compiler took: clang may take longer, but not for ever. */
void finish_job(const Call *c, Job *j, double seconds);
void release_jobs(Jobs *jobs);
#endif
