/* A form with a name. Forms are thread-safe: several threads may use one at the same time. */
#ifndef FORM_H
#define FORM_H

struct form;

struct form *form_new(int number);
void form_free(struct form *f);
int form_length(struct form *f, int value);     /* of its line, with this value */
int form_number(const struct form *f);
#endif
