/*
 * c_front - the front end for C programs: see front.h.
 *
 *     CFront *c = c_front_new(&(CPlan){ .program = p, .call = { .argv = argv }, … });
 *     ExplorePlan plan = { .front = &c_front, .subject = c, … };
 *     if (!explore(&plan, &r, err)) …
 *     c_front_free(c);
 *
 * A program has three builds (build/builds.h): one counts branches and is run
 * thousands of times a second (fast.h), one follows its input and says which
 * conditions it passed (concolic/log.h), one has sanitizers and is the strict
 * judge. The first is enough to begin with. A process of its own (c_builder.h) makes the others
 * while inputs are mutated already. The second follows the functions that inputs have reached so
 * far, and is made again when they have reached many more. There is one state: the program's start.
 */
#ifndef SUNDEW_C_FRONT_H
#define SUNDEW_C_FRONT_H
#include "analysis/pointsto/calls.h"
#include "engine/explore/front.h"
#include "engine/explore/program/subject.h"
#include "program/program.h"

typedef struct CPlan {
    const Program *program;
    const Calls *calls; /* NULL: this opens them when they are needed, in another process */
    const Calls *(*open_calls)(void *arg, Err *err);
    void *calls_arg;
    unsigned jobs; /* of builds that it waits for; 0: one */
    const char *libexec, *share;
    Call call;
    const Function *function; /* explore this one alone, by driver.h; or NULL */
    uint64_t memory; /* of one run; 0: 2 GiB */
    const char *bad_status; /* "3,64-78": exit statuses that are failures; NULL */
    bool no_sanitizers;
} CPlan;

typedef struct CFront CFront;

extern const ExploreFront c_front;

/* What the plan points to stays the caller's. */
CFront *c_front_new(const CPlan *plan);
void c_front_free(CFront *c); /* NULL is fine */

/* After explore(): builds that came too late to be used, for people; NULL: none. */
const char *c_front_was_late(const CFront *c);
/* What a program says when it can't do its work: exit status, first line of standard error. */
typedef struct CComplaint {
    int status;
    char said[192];
} CComplaint;
/* After explore(): do all of the inputs in the folder `queue` end so? Runs some of them. */
bool c_front_complaint(CFront *c, const char *queue, CComplaint *out);
/* After explore(): sanitizers were asked for, and that build could not be made. */
bool c_front_was_lenient(const CFront *c);
#endif
