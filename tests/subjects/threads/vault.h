/* A vault of numbers that has to be opened with its secret. It is thread-safe. */
#ifndef VAULT_H
#define VAULT_H

struct vault;

struct vault *vault_new(void);
void vault_free(struct vault *v);
int vault_open(struct vault *v, const char *file);      /* that has the secret; -1: wrong */
int vault_put(struct vault *v, int n);                  /* -1: not open, or full */
int vault_sum(const struct vault *v);
#endif
