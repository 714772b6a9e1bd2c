#include "technique/substitutes/substitutes_int.h"
bool libraries_pairs(Substitutes *x, Err *err)
{
    (void)x;
    return err_set(err, "libraries: not yet");
}
