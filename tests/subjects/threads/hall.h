/* A large API. A hall in each thread is fine, it says; two functions have hidden state. */
#ifndef HALL_H
#define HALL_H

struct hall;

struct hall *hall_open(const char *path);      /* NULL: no such file */
struct hall *hall_read(int descriptor);        /* NULL: it can't be read */
struct hall *hall_new(int seats);
void hall_free(struct hall *h);
int hall_spell(struct hall *h, unsigned number);       /* its first digit */
int hall_ask(struct hall *h);                  /* sends a question, and waits for its answer */

#define HALL_FIELDS(X) \
    X(row) X(seat) X(door) X(lamp) X(stage) X(floor) X(wing) X(aisle) X(box) X(pit) X(bar) X(desk) \
    X(rope) X(trap) X(hatch) X(loft) X(ramp) X(step) X(sign) X(clock)
#define HALL_DECLARE(name) \
    int hall_##name(struct hall *h); \
    void hall_set_##name(struct hall *h, int value);
HALL_FIELDS(HALL_DECLARE)
#endif
