/* How a vault is used. */
#include "vault.h"

int main(void)
{
    struct vault *v = vault_new();
    vault_open(v, "xyzzy-1976-plugh");
    vault_put(v, 3);
    vault_put(v, 4);
    int sum = vault_sum(v);
    vault_free(v);
    return sum != 7;
}
