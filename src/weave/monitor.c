#include "weave/weave_int.h"
bool weave_monitor(Woven *w, const MonitorPlan *plan, Err *err) { (void)w; (void)plan; (void)err; return true; }
void weave_monitor_figures(const Woven *w, size_t *a, size_t *b) { (void)w; *a=*b=0; }
