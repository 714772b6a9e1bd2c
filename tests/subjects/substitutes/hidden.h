/* The struct is in a header of the library's own. */
#ifndef HIDDEN_H
#define HIDDEN_H
struct hidden;
struct hidden *hidden_new(int n);
int hidden_get(const struct hidden *h);
void hidden_free(struct hidden *h);
#endif
