#include "engine/record/record.h"
#include "build/place.h"

bool record_weave(const Program *p, const RecordPlan *plan, const char *out,
                  size_t *functions, Err *err)
{
    MonitorPlan probes = { .strategy = plan->strategy, .only = plan->only };
    Woven *w = weave_begin(p, err);
    size_t n = 0, trivial;
    bool ok = w && weave_record(w, &probes, err)
        && weave_runtime(w, plan->libexec, "record", err);

    if (ok)
        weave_monitor_figures(w, &n, &trivial);
    ok = ok && (n || err_set(err, "none of the functions is there to be recorded"))
        && place_build(w, p, out, err);
    weave_end(w);
    if (functions)
        *functions = n;
    return ok;
}
