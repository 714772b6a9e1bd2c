#include "solve/version.h"
#include <stdio.h>
#include <z3.h>

const char *solve_z3_version(void)
{
    static char text[64];
    unsigned major, minor, build, revision;
    Z3_get_version(&major, &minor, &build, &revision);
    snprintf(text, sizeof text, "%u.%u.%u", major, minor, build);
    return text;
}
