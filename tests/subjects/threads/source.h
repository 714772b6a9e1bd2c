/* A3: data sources with names, in a list of the library's. A source is thread-safe: any
 * function but source_free() may be called by several threads at the same time. */
#ifndef SOURCE_H
#define SOURCE_H

struct source;

struct source *source_new(void);
void source_free(struct source *s);
int source_set_name(struct source *s, const char *name);        /* -1: no memory */
void source_close(struct source *s);
int source_is_open(struct source *s);
#endif
