/* The failures themselves. */
#include <assert.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    int value;
    struct item *next;
    char *name;
    char secret[16];
};

int fail(const char *how, struct item *it, int n);

int zero;

static int overflow(struct item *it, int n)
{
    char block[2000];
    memset(block, n, sizeof block);
    return n < 0 ? 0 : overflow(it, n + 1) + block[n % 2000];
}

static void smash(struct item *it)
{
    char *volatile small = (char *)__builtin_frame_address(0);
    memset(small, 'A' + it->value, 400);
}

int fail(const char *how, struct item *it, int n)
{
    void (*volatile nowhere)(void) = NULL;
    it->value = 99;                    /* after the entry */
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "assert") == 0)
        assert(n > 100);
    if (strcmp(how, "divide") == 0)
        return 7 / zero;
    if (strcmp(how, "overflow") == 0)
        return overflow(it, 1);
    if (strcmp(how, "smash") == 0)
        smash(it);
    if (strcmp(how, "call") == 0)
        nowhere();
    if (strcmp(how, "raise") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "trap") == 0)
        __builtin_trap();
    if (strcmp(how, "freed") == 0) {
        free(it->name);
        how = NULL;
    }
    if (!how || strcmp(how, "fine") != 0)
        *(volatile int *)(intptr_t)zero = n;
    return n;
}
