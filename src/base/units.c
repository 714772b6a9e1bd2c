#include "base/units.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* strtod would also take signs, "inf" and hexadecimal. */
static bool number(const char **p, double *value)
{
    if (!isdigit((unsigned char)**p))
        return false;
    if ((*p)[0] == '0' && ((*p)[1] == 'x' || (*p)[1] == 'X'))
        return false;
    char *end;
    *value = strtod(*p, &end);
    if (end[-1] == 'e' || !isfinite(*value))
        return false;
    *p = end;
    return true;
}

bool duration_parse(const char *text, double *seconds)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {
        { "ms", 1e-3 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 },
    };
    double sum = 0, value;
    const char *p = text;
    do {
        if (!number(&p, &value))
            return false;
        size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz");
        double factor = 0;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (strlen(units[i].name) == n && strncmp(units[i].name, p, n) == 0)
                factor = units[i].factor;
        if (n == 0 && p[0] == 0)
            factor = 1;
        if (factor == 0)
            return false;
        sum += value * factor;
        p += n;
    } while (*p);
    *seconds = sum;
    return true;
}

bool size_parse(const char *text, uint64_t *bytes)
{
    static const char letters[] = "kmgt";
    const char *p = text;
    double value;
    if (!number(&p, &value))
        return false;
    if (*p) {
        const char *l = strchr(letters, tolower((unsigned char)*p));
        if (l && *l) {
            for (long i = 0; i <= l - letters; i++)
                value *= 1024;
            p++;
            if (*p == 'i')
                p++;
        }
        if (*p == 'B' || *p == 'b')
            p++;
    }
    if (*p || value >= 9e18)
        return false;
    *bytes = (uint64_t)value;
    return true;
}

char *duration_format(double s, char *out)
{
    if (s < 0)
        s = 0;
    if (s < 1)
        snprintf(out, 32, "%.0fms", s * 1000);
    else if (s < 60)
        snprintf(out, 32, "%.1fs", s);
    else if (s < 3600)
        snprintf(out, 32, "%dm%02ds", (int)s / 60, (int)s % 60);
    else
        snprintf(out, 32, "%.0fh%02dm", floor(s / 3600), (int)fmod(s / 60, 60));
    return out;
}

char *size_format(uint64_t bytes, char *out)
{
    static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double v = (double)bytes;
    int i = 0;
    for (; v >= 1024 && i < 4; i++)
        v /= 1024;
    snprintf(out, 32, i ? "%.1f %s" : "%.0f %s", v, names[i]);
    return out;
}

double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

char *count_format(uint64_t n, char *out)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), k = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            out[k++] = ',';
        out[k++] = digits[i];
    }
    out[k] = 0;
    return out;
}
