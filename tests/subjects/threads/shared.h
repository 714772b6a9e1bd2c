/* A text with a count of its owners. It is thread-safe: several threads may use a text that
 * each of them owns, at the same time. */
#ifndef SHARED_H
#define SHARED_H

struct shared;

struct shared *shared_new(const char *text);
struct shared *shared_get(struct shared *s);
void shared_put(struct shared *s);              /* the last one frees it */
int shared_length(const struct shared *s);
#endif
