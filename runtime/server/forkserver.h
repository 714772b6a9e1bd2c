/*
 * forkserver - start a subject once, then fork it for each run.
 *
 * Link runtime/server/forkserver.c into a subject and call
 *
 *     sundew_forkserver_start();
 *
 * where runs begin to differ: first in main, or later ("deferred"), after the
 * program has read its tables and before it reads input, starts threads, or
 * opens what depends on the input. Without a Sundew worker on the other side
 * (SUNDEW_FORKSERVER is not in the environment) it returns at once and the
 * program runs as ever. Under a worker it doesn't return in the first process:
 * it serves, and returns in a forked child for each run, with standard input,
 * output and error replaced.
 *
 * Persistent mode, for functions that can be called again in the same process
 * (LLVMFuzzerTestOneInput):
 *
 *     sundew_forkserver_start();
 *     do {
 *         … read standard input from its start, call the function …
 *     } while (sundew_forkserver_again(1000));
 *
 * after at most 1000 rounds the process ends and the next is forked. A crash
 * ends only its own round. Without a worker it returns 0.
 *
 * Runs that begin alike: a program may stop more than once, and say which steps a run takes
 * from stop to stop,
 *
 *     uint64_t sundew_forkserver_way(uint32_t depth);    the step that the run on descriptor 0
 *                                                        takes at this stop; 0: its own from here on
 *     sundew_forkserver_deeper();                        at each later stop
 *
 * Then the server forks a server that goes one step on and serves there, and that one does the same. Runs
 * which take the same steps begin where these end, so a step that many share is run once:
 *
 *     worker ── server ──step a──▶ server ──step b──▶ server ──▶ runs a b …
 *
 * A run that takes another step ends the servers ahead. The servers ask and answer each other with the
 * messages below. The worker hears of it from the first one only.
 *
 * The protocol: messages of one size over one socket, whose number is in
 * SUNDEW_FORKSERVER ("198"). The first message of each side carries magic and
 * version, and both compare.
 *
 *     server ─▶ worker   HELLO
 *     worker ─▶ server   HELLO
 *     worker ─▶ server   RUN   number; three descriptors go with it
 *     server ─▶ worker   ENDED number, wait status, CPU time, largest rss
 *     child  ─▶ worker   ROUND number: a round of persistent mode is over
 *
 * A worker may lend the socket to an explorer, which then sends
 *
 *     explorer ─▶ server BATCH    the inputs in shared memory (batch.h)
 *     server ─▶ explorer BATCHED  all of them were run
 *
 * No function of the subject's allocator is called, and every symbol begins
 * with sundew_.
 */
#ifndef SUNDEW_FORKSERVER_H
#define SUNDEW_FORKSERVER_H
#include <stdint.h>

#define SUNDEW_FORKSERVER_ENV     "SUNDEW_FORKSERVER"
#define SUNDEW_FORKSERVER_FD      198
#define SUNDEW_FORKSERVER_MAGIC   0x53644673u    /* "sFdS" in memory */
#define SUNDEW_FORKSERVER_VERSION 1u

enum {
    SUNDEW_FORKSERVER_HELLO = 1,
    SUNDEW_FORKSERVER_RUN,
    SUNDEW_FORKSERVER_ENDED,
    SUNDEW_FORKSERVER_ROUND,
    SUNDEW_FORKSERVER_BATCH,
    SUNDEW_FORKSERVER_BATCHED,
};

/* Every message. Fields that a kind doesn't need are 0. */
struct sundew_forkserver_message {
    uint32_t magic, version;
    uint32_t kind;
    uint32_t number;           /* of the run, counted by the worker */
    int32_t status;            /* wait status */
    uint32_t unused;
    uint64_t cpu_us;           /* user and system time */
    uint64_t max_rss;          /* bytes */
};

void sundew_forkserver_start(void);
/* A later stop. 1: this is a run that begins here, with descriptors of its own. */
int sundew_forkserver_deeper(void);
/* The program's; may be missing. Called in servers. */
uint64_t sundew_forkserver_way(uint32_t depth);
/* 1: another input is there. 0: the process has done its rounds. */
int sundew_forkserver_again(unsigned most);
/* The same; the round ended with this wait status. */
int sundew_forkserver_go_on(unsigned most, int status);
#endif
