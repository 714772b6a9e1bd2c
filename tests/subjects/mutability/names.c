/*
 * A reference is stored in a variable, and found there by another name, or by a
 * function that nobody calls by its own. Each `by_` function changes what it gets,
 * but for those that end in _not.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

/* -Wl,--defsym=other=kept */
int *kept;
extern int *other;
void by_defsym(int *p)
{
    kept = p;
    *other = 1;
}

/* -Wl,-fini=at_end */
static int *left;
void at_end(void)
{
    if (left)
        *left = 1;
}
void by_end(int *p)
{
    left = p;
    exit(0);
}

/* Code of which nothing is known calls the function that it was given. */
static int *handed;
static void on_signal(int n)
{
    *handed = n;
}
void by_callback(int *p)
{
    handed = p;
    ssignal(SIGUSR1, on_signal);
    gsignal(SIGUSR1);
}
void by_callback_not(int *p)
{
    handed = p;
}

/* The program makes pointers of numbers, so a pointer that is compared with numbers may be
 * guessed. */
static uintptr_t n;
void by_guess(int *p)
{
    for (n = 0x10000; n != (uintptr_t)p; n += sizeof *p)
        ;
    *(int *)n = 1;
}

int main(int argc, char **argv)
{
    static int x;
    (void)argv;
    if (argc > 2)
        by_guess(&x);
    by_callback(&x);
    by_callback_not(&x);
    by_defsym(&x);
    by_end(&x);
    return 0;
}
