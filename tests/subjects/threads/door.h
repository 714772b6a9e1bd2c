/* A door. It is thread-safe: any function but door_free() may be called by several threads at
 * the same time. */
#ifndef DOOR_H
#define DOOR_H

struct door;

struct door *door_new(void);
void door_free(struct door *d);
void door_pass(struct door *d);         /* opens it, and closes it behind */
int door_watch(const struct door *d);   /* 1: it is open */
#endif
