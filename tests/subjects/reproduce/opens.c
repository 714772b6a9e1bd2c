/* A function opens its input by name: its test has to find the file again. */
#include <stdio.h>
#include <string.h>

#define DEFECT 1
/* A call that no optimiser sees through: the function keeps its frame. */
#define CALL(f) (*(__typeof__(f) *volatile *)&(__typeof__(f) *){ f })

static FILE *in;
static char line[80];

static size_t width(const char *field) { return strlen(field); }

static size_t check(char *text)
{
    char *comma = strchr(text, ',');
    return comma || DEFECT ? CALL(width)(comma) : 0;
}

static size_t each_line(const char *name)
{
    size_t sum = 0;
    if (!in)
        in = fopen(name, "r");
    while (in && fgets(line, sizeof line, in))
        sum += CALL(check)(line);
    return sum;
}

int main(int argc, char **argv)
{
    printf("%zu\n", CALL(each_line)(argc > 1 ? argv[1] : "rows"));
    return 0;
}
