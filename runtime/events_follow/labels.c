/*
 * Values of the state that depend on the last event, in the build that follows it.
 *
 * For each stretch of labelled bytes a record says "may be another value than now",
 * as a possible bug of the kind SUNDEW_BUG_STATE whose site is the number of the
 * location. If the solver says no, the value is the same on this whole path.
 */
#include "runtime/concolic/concolic_int.h"
#include "runtime/events/events.h"

enum { MOST_STRETCHES = 4096 };
static unsigned stretches;

static bool is_labelled(uint64_t at)
{
    sundew_label l;
    uint8_t k;
    return sundew_shadow_get(at, *(const uint8_t *)(uintptr_t)at, &l, &k, 0);
}

static void tell(uint32_t object, uint64_t start, uint64_t at, unsigned n)
{
    sundew_wide value = 0;
    uint32_t number = sundew_events->nlocations;
    if (stretches++ >= MOST_STRETCHES ||
        !sundew_event_tell(object, at - start, n, SUNDEW_EVENT_SYMBOLIC)) {
        sundew_events->hidden |= SUNDEW_EVENT_NO_LABELS;
        return;
    }
    memcpy(&value, (const void *)(uintptr_t)at, n);
    sundew_label l = sundew_shadow_load(at, n, (const uint8_t *)(uintptr_t)at, 0);
    sundew_label now = l ? sundew_const(8 * n, value) : 0;
    sundew_label other = now ? sundew_node(SUNDEW_NODE_NE, 1, 0, l, now, 0) : 0;
    if (other)
        sundew_record(SUNDEW_REC_BUG, SUNDEW_BUG_STATE, 0, other, number, 0);
    else
        sundew_events->hidden |= SUNDEW_EVENT_NO_LABELS;
}

void sundew_event_labels(uint32_t object, const void *from, uint64_t size)
{
    uint64_t start = (uintptr_t)from, end = start + size;
    if (!sundew_state.log || sundew_state.ended || !sundew_tagged(start, size) ||
        !sundew_concolic_enter())
        return;
    for (uint64_t at = start; at < end;) {
        unsigned n = 0;
        while (n < 8 && at + n < end && is_labelled(at + n) && (!n || (at + n) % 8))
            n++;
        if (n)
            tell(object, start, at, n);
        at += n ? n : 1;
    }
    sundew_concolic_leave();
}

/* A record that stands between the conditions of earlier events and those of the last one; its site
 * is no location. */
void sundew_event_labels_begin(void)
{
    if (!sundew_state.log || sundew_state.ended || !sundew_concolic_enter())
        return;
    sundew_label byte = sundew_node(SUNDEW_NODE_BYTE, 8, 0, sundew_state.log->from, 0, 0);
    sundew_label any = byte ? sundew_node(SUNDEW_NODE_NE, 1, 0, byte, sundew_const(8, 0), 0) : 0;
    if (any)
        sundew_record(SUNDEW_REC_BUG, SUNDEW_BUG_STATE, 0, any, UINT32_MAX, 0);
    sundew_concolic_leave();
}

void sundew_event_labels_end(void)
{
    if (sundew_state.ended)
        sundew_events->hidden |= SUNDEW_EVENT_NO_LABELS;
}
