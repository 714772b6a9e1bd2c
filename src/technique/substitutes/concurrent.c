#include "technique/substitutes/substitutes_int.h"
bool pair_concurrent(Pair *p, Err *err)
{
    (void)p;
    return err_set(err, "--concurrent: not yet");
}
