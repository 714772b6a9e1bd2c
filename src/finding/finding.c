#include "finding/finding.h"
#include <assert.h>

const char *level_name(Level l)
{
    static const char *const names[] = { "error", "warning", "note" };
    assert((size_t)l < sizeof names / sizeof *names);
    return names[l];
}

const char *verdict_name(FindingVerdict v)
{
    static const char *const names[] = { "shown", "likely", "not enough evidence" };
    assert((size_t)v < sizeof names / sizeof *names);
    return names[v];
}

const char *evidence_name(Evidence e)
{
    static const char *const names[] = { "not graded", "shown by a run", "shown by a run elsewhere",
                                         "statistical", "style" };
    assert((size_t)e < sizeof names / sizeof *names);
    return names[e];
}
