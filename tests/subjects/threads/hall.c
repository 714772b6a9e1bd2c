/* Few of many functions have hidden state: digits in static memory, and the number of the last
 * question, which the answer must have. FIXED: each thread has its own. Many others share
 * figures that are right. */
#include "hall.h"
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef FIXED
#define HIDDEN static _Thread_local
#else
#define HIDDEN static
#endif
HIDDEN unsigned value, left, used;
HIDDEN char digits[10];
HIDDEN unsigned question;

#define HALL_MEMBER(name) int name;
struct hall {
    int seats;
    HALL_FIELDS(HALL_MEMBER)
};

struct hall *hall_new(int seats)
{
    struct hall *h = calloc(1, sizeof *h);
    if (h)
        h->seats = seats;
    return h;
}

struct hall *hall_open(const char *path)
{
    FILE *f = path ? fopen(path, "r") : NULL;
    if (!f)
        return NULL;
    fclose(f);
    return hall_new(1);
}

struct hall *hall_read(int descriptor)
{
    char c;
    return descriptor > 9 && read(descriptor, &c, 1) == 1 ? hall_new(c) : NULL;
}

void hall_free(struct hall *h) { free(h); }

/* It leaves by a jump, as parsers do. */
int hall_spell(struct hall *h, unsigned number)
{
    jmp_buf done;
    if (setjmp(done))
        return h->seats ? digits[0] : digits[9];
    value = number;
    used = 0;
    for (left = 10; left-- > 0; value /= 10)
        digits[used++] = (char)('0' + value % 10);
    longjmp(done, 1);
}

int hall_ask(struct hall *h)
{
    int ends[2];
    unsigned answer = 0;
    if (pipe(ends) != 0)
        return 0;
    question++;
    (void)!write(ends[1], &question, sizeof question);
    do
        (void)!read(ends[0], &answer, sizeof answer);
    while (answer != question);
    close(ends[0]);
    close(ends[1]);
    return h->seats;
}

static atomic_int changes, last, largest, smallest, sum;

static void note(int n)
{
    changes++;
    last = n;
    sum += n;
    if (n > largest)
        largest = n;
    if (n < smallest)
        smallest = n;
}

#define HALL_DEFINE(name) \
    int hall_##name(struct hall *h) { return h->name; } \
    void hall_set_##name(struct hall *h, int n) { note(h->name = n); }
HALL_FIELDS(HALL_DEFINE)
