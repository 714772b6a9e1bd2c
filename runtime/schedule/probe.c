/* The probe before an access. It is woven in and inlined; the rest of the runtime is an object. */
#include "runtime/schedule/schedule.h"

__attribute__((always_inline)) void sundew_sched_access(const void *at, uint32_t what,
                                                        uint32_t site)
{
    if (__builtin_expect(sundew_schedule_on, 0))
        sundew_schedule_point(at, what, site);
}
