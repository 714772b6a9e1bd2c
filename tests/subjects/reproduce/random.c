/* A NULL that one function makes and another dereferences. The number comes
 * from outside, as a random one would. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1
/* A call that no optimiser sees through: the function keeps its frame. */
#define CALL(f) (*(__typeof__(f) *volatile *)&(__typeof__(f) *){ f })

char *to_upper(char *s)
{
    for (char *p = s; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return s;
}

char *hex_abs(int x)
{
    char *result = NULL;
    if (x != 0 || !DEFECT) {
        result = malloc(16);
        snprintf(result, 16, "%x", (unsigned)abs(x));
    }
    char *upper = CALL(to_upper)(result);
    return *upper ? upper : NULL;      /* no tail call: it stays on the stack */
}

int main(void)
{
    const char *text = getenv("NUMBER");
    char *s = CALL(hex_abs)(text ? atoi(text) : 17);
    puts(s);
    free(s);
    return 0;
}
