/*
 * How far did two strings agree? In the counting build, before each call of strcmp()
 * and its kin: an input that gets further is worth keeping, even if no branch shows it.
 *
 * Two counters a call, as src/weave/coverage.c gives them: the first for 1 to 8 equal
 * bytes, the second for 9 to 16, each with a value that stands for one of the eight bits that
 * counts become (batch.c).
 */
#include "runtime/server/batch.h"

void sundew_compared(uint8_t *counters, const uint8_t *a, const uint8_t *b, uint64_t most,
                     uint32_t how)
{
    static const uint8_t counts[8] = { 1, 2, 3, 4, 8, 16, 32, 128 };
    unsigned n = 0;
    if (!a || !b || a == b)
        return;
    for (; n < 16 && n < most; n++) {
        uint8_t x = a[n], y = b[n];
        if (how & SUNDEW_COMPARED_FOLD) {
            x = (uint8_t)(x + (((unsigned)x - 'A' < 26) << 5));
            y = (uint8_t)(y + (((unsigned)y - 'A' < 26) << 5));
        }
        if (x != y)
            break;
        if ((how & SUNDEW_COMPARED_TEXT) && !x) {
            n++;                       /* equal to the end, which is a branch anyway */
            break;
        }
    }
    if (!n)
        return;
    uint8_t *at = counters + (n - 1) / 8, v = counts[(n - 1) % 8];
    if (*at < v)
        *at = v;
}
