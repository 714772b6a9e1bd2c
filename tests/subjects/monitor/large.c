#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int fail(char *text, int *p) { return text[1] + *p; }
int main(void) { char *text = malloc(200000); memset(text, 'x', 200000); return fail(text, NULL); }
