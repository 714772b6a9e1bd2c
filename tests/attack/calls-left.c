/*
 * name:    a library leaves pipes and folders among the files of its calls
 * command: modules
 * expect:  0 1 2
 */
#include "attack.h"
#include "target.h"

int target_add(int a, int b) { return a + b; }

/* One before all others, and one behind them. */
int target_flag(int a)
{
    static const char *const names[] = { "0.calls", "1.calls",         "2.calls",
                                         "3.calls", "999999999.calls", NULL };
    FILE *f = fopen("/dev/null", "r");
    leave_in("SUNDEW_CALLS", names);
    if (f)
        fclose(f);
    return a > 10;
}
