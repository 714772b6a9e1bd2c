#include "finding/finding.h"

const char *level_name(Level l)
{
    static const char *const names[] = { "error", "warning", "note" };
    return names[l];
}

const char *verdict_name(FindingVerdict v)
{
    static const char *const names[] = { "shown", "likely",
                                         "not enough evidence" };
    return names[v];
}
