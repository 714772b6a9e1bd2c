/* Settings: what conf_set() takes hangs on the key. */
#ifndef CONF_H
#define CONF_H

enum conf_key { CONF_LIMIT, CONF_ROOM, CONF_RATIO, CONF_NAME, CONF_PARENT, CONF_RANGE };

struct conf;
struct conf *conf_new(void);
/* pairs: a letter each, n a name (text), l a limit (int), r a ratio (double) */
struct conf *conf_make(const char *what, ...);
void conf_free(struct conf *c);
int conf_set(struct conf *c, enum conf_key key, ...);
int conf_limit(const struct conf *c);
long conf_room(const struct conf *c);
double conf_ratio(const struct conf *c);
const char *conf_name(const struct conf *c);
int conf_depth(const struct conf *c);
/* How long the text would be. */
int conf_measure(const char *format, ...) __attribute__((format(printf, 1, 2)));
int conf_read(const struct conf *c, enum conf_key key, ...);
int conf_note(struct conf *c, const char *format, ...);
#endif
