#include "base/base64.h"
#include <stdint.h>

void base64_encode(Str *out, const void *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i += 3) {
        size_t have = n - i < 3 ? n - i : 3;
        uint32_t v = (uint32_t)p[i] << 16;
        v |= have > 1 ? (uint32_t)p[i + 1] << 8 : 0;
        v |= have > 2 ? p[i + 2] : 0;
        for (size_t k = 0; k < 4; k++)
            str_addc(out, k <= have ? digits[v >> (18 - 6 * k) & 63] : '=');
    }
}
