/*
 * input - what one string of bytes means to a program.
 *
 * An explorer gives a run one string of bytes, always through standard input's
 * descriptor or the file that the plan names. The plan (environment variable
 * SUNDEW_INPUT, set at the start of the program) says what becomes of them:
 *
 *     stdin                    all is standard input
 *     file                     all is in the file that stands in the arguments for @@
 *     argv:2,env:HOME,stdin    the first two zero-terminated strings are arguments
 *                              (appended to those given), the next is $HOME, what
 *                              follows is standard input (or file)
 *     call                     all is asked for by klee_make_symbolic(),
 *                              __VERIFIER_nondet_…(), or is given to
 *                              LLVMFuzzerTestOneInput()
 *
 * The same code is in all builds (coverage, concolic, sanitizers), so that an input
 * means the same to all; only the concolic one labels bytes by sundew_symbolic().
 * main() of the program is wrapped: sundew_main() prepares and calls it.
 */
#ifndef SUNDEW_INPUT_H
#define SUNDEW_INPUT_H
#define SUNDEW_INPUT_ENV "SUNDEW_INPUT"
#endif
