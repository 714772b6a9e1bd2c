/*
 * input - what one string of bytes means to a program.
 *
 * An explorer gives a run one string of bytes, always as descriptor 0. The plan
 * (environment variable SUNDEW_INPUT, set at the start of the program) says what
 * becomes of them: parts, separated by commas,
 *
 *     argv:2           two zero-terminated strings are arguments, behind those given
 *     argv:2/32        the same in slots of 32 bytes: what stands behind a zero is not
 *                      looked at, so one string can grow without moving the next
 *     env:HOME         a zero-terminated string is $HOME
 *     env:HOME/64      the same in a slot
 *
 * and last, what becomes of the rest:
 *
 *     stdin            standard input (also if nothing is said)
 *     file=PATH        written to PATH, which stands in the arguments for @@ and is made
 *                      anew in each run; standard input is empty
 *     in=PATH          PATH is the input already, in place of descriptor 0: alone only
 *     call             asked for by klee_make_symbolic() and __VERIFIER_nondet_…(), or
 *                      given to LLVMFuzzerTestOneInput()
 *
 * so that `argv:1/16,stdin` takes 16 bytes for an argument. Strings for which there
 * are no bytes are empty; what is asked for beyond the end is zero. Without a plan
 * it is `call` if there is LLVMFuzzerTestOneInput() and no main(), else `stdin`.
 *
 * The same code is in all builds (coverage, concolic, sanitizers), so that an input
 * means the same to all; only the concolic one has sundew_symbolic(), and is told
 * which bytes are where. A program gets it by weave_input() (src/weave/weave.h): its
 * main() becomes sundew_program_main(), and main() here prepares and calls it. It
 * needs a fork server beside it: runtime "forkserver" or one that contains it.
 *
 * The fork server (forkserver.h) starts in main(), before the plan is looked at; or
 * where the program calls sundew_forkserver_start() itself if SUNDEW_DEFER is set
 * (then the plan can only be `stdin` or `in=PATH`). A fuzz target is initialised once, and called again and again in one process, except
 * in the concolic build.
 */
#ifndef SUNDEW_INPUT_H
#define SUNDEW_INPUT_H
#include <stddef.h>
#include <stdint.h>
#define SUNDEW_INPUT_ENV "SUNDEW_INPUT"
#define SUNDEW_DEFER_ENV "SUNDEW_DEFER"

/* What the program reads of the input as a file: standard input or PATH. */
struct sundew_input {
    const uint8_t *bytes;      /* all of the input */
    uint64_t size;
    uint64_t first;            /* of them, the first that is in the file */
    uint64_t device, inode;    /* which file that is */
    int is_file;               /* 0: nothing of it is in a file */
    int is_stream;             /* … it is a pipe, a terminal: not there again */
};
extern struct sundew_input sundew_input;

/* Notes which file is the input, if that could not be done at the start. */
void sundew_input_late(void);
/* A run begins late, in a forked child: all of descriptor 0 is its input, from the first byte on.
 * What was read before does not count. */
void sundew_input_anew(void);
/* The same, from byte `from` on. */
void sundew_input_from(uint64_t from);
/* The next n bytes of the input, as klee_make_symbolic() gives them. */
void sundew_ask(void *to, size_t n);
/* An assumption does not hold: the run is over, and no failure. */
_Noreturn void sundew_refuse(void);
enum { SUNDEW_REFUSED = 0 };   /* its exit status */

/* A program's questions: X(type, name) of __VERIFIER_nondet_name(). */
/* clang-format off */
#define SUNDEW_NONDET(X) \
    X(_Bool, bool) X(_Bool, _Bool) X(char, char) X(signed char, schar) \
    X(unsigned char, uchar) X(short, short) X(unsigned short, ushort) \
    X(unsigned short, unsigned_short) X(int, int) X(unsigned, uint) \
    X(unsigned, unsigned) X(unsigned, unsigned_int) X(unsigned, u32) X(long, long) \
    X(unsigned long, ulong) X(unsigned long, unsigned_long) X(long long, longlong) \
    X(unsigned long long, ulonglong) X(long, loff_t) X(unsigned long, size_t) \
    X(unsigned char, u8) X(unsigned char, unsigned_char) X(unsigned short, u16) \
    X(unsigned long, u64) X(float, float) X(double, double) X(void *, pointer) \
    X(char *, pchar) X(__int128, int128) X(unsigned __int128, uint128) \
    X(unsigned, S8) X(unsigned, sector_t) X(long, time_t)
/* clang-format on */
#endif
