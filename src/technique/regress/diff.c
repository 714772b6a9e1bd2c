/* sundew regress --diff: what another version of the library does differently. */
#include "technique/regress/regress_int.h"

bool diff_run(Session *s, const char *folder, Err *err)
{
    (void)s;
    return err_set(err, "%s: not yet", folder);
}
