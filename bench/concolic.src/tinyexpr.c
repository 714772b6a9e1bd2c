/* Each line is an expression. */
#define OWN_TEXT "\nx*3+sqrt(y)-(12/4.5)*-x"
#define OWN_FIRST ' '
#define OWN_END ""
#include "input.h"
#include "tinyexpr.h"

int main(int argc, char **argv)
{
    read_input();
    double x = 1.5, y = 2, sum = 0;
    te_variable vars[] = { { "x", &x, 0, 0 }, { "y", &y, 0, 0 } };
    char line[256];
    for (int r = rounds(argc, argv); r > 0; r--) {
        size_t n = 0;
        for (size_t i = 0; i <= ninput; i++) {
            if (i < ninput && input[i] != '\n' && n < sizeof line - 1) {
                line[n++] = (char)input[i];
                continue;
            }
            line[n] = 0;
            n = 0;
            int err;
            te_expr *e = te_compile(line, vars, 2, &err);
            for (int k = 0; e && k < 20; k++) {
                x = k;
                sum += te_eval(e);
            }
            te_free(e);
        }
    }
    printf("%.6g\n", sum);
    return 0;
}
