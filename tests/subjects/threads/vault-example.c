/* How a vault is used: its secret is in a file. */
#include "vault.h"

int main(void)
{
    struct vault *v = vault_new();
    vault_open(v, "keys/secret.txt");
    vault_put(v, 3);
    vault_put(v, 4);
    int sum = vault_sum(v);
    vault_free(v);
    return sum != 7;
}
