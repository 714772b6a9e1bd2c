/* What the files of the technique share. */
#ifndef SUNDEW_TECHNIQUE_WEB_INT_H
#define SUNDEW_TECHNIQUE_WEB_INT_H
#include "base/json.h"
#include "session/session.h"
#include "web/web.h"

/* How faults are told: findings, files, JSON. */
bool report_web(Session *s, const WebPlan *plan, const Web *w, Err *err);
/* The chain of the fault with this number, of the last run; to free with its
 * requests. */
typedef struct Recorded {
    Request **chain;
    size_t n;
    char *app, *key;
    bool cgi;
} Recorded;
bool chain_read(Session *s, const char *number, Recorded *out, Err *err);
void recorded_release(Recorded *r);
#endif
