#include "list.h"
static int helper(int x) { return x + 1; }
enum color { RED, BLUE = 5 };
int main(void) { struct list *l = list_new(BLUE); int n = list_each(l, helper) + list_sum(l); list_free(l); return n; }
