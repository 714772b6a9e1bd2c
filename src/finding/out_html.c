#include "finding/output_int.h"
void output_html(const FindingSet *set, const OutputOptions *o, Str *out)
{
    (void)set; (void)o; (void)out;
}
