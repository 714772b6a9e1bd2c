#include "dataflow/date.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MS_DAY = 86400000 };

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Days since 1970-01-01, by counting years from March. */
static int64_t days_from(int64_t y, int64_t m, int64_t d)
{
    y += floor_div(m - 1, 12);
    m = m - 1 - floor_div(m - 1, 12) * 12 + 1;
    y -= m <= 2;
    int64_t era = floor_div(y, 400), yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

Date date_split(int64_t ms)
{
    int64_t days = floor_div(ms, MS_DAY), rest = ms - days * MS_DAY;
    int64_t z = days + 719468, era = floor_div(z, 146097), doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    Date d = { .day = (int)(doy - (153 * mp + 2) / 5 + 1),
               .month = (int)(mp < 10 ? mp + 3 : mp - 9) };
    d.year = yoe + era * 400 + (d.month <= 2);
    d.hour = (int)(rest / 3600000);
    d.minute = (int)(rest / 60000 % 60);
    d.second = (int)(rest / 1000 % 60);
    d.ms = (int)(rest % 1000);
    return d;
}

int64_t date_join(const Date *d)
{
    return days_from(d->year, d->month, d->day) * MS_DAY + d->hour * 3600000LL +
           d->minute * 60000LL + d->second * 1000LL + d->ms;
}

static int month_days(int64_t y, int m)
{
    return (int)(days_from(y, m + 1, 1) - days_from(y, m, 1));
}

static bool valid(const Date *d)
{
    return d->month >= 1 && d->month <= 12 && d->day >= 1 &&
           d->day <= month_days(d->year, d->month) && d->hour >= 0 && d->hour < 24 &&
           d->minute >= 0 && d->minute < 60 && d->second >= 0 && d->second < 60;
}

/* At most `most` digits; returns how many were there. */
static int digits(const char **s, const char *end, int most, int *v)
{
    int n = 0;
    *v = 0;
    while (*s < end && n < most && isdigit((unsigned char)**s)) {
        *v = *v * 10 + (*(*s)++ - '0');
        n++;
    }
    return n;
}

/* Milliseconds of a fraction after its point. */
static int fraction(const char **s, const char *end)
{
    int ms = 0, scale = 100;
    while (*s < end && isdigit((unsigned char)**s)) {
        ms += (**s - '0') * scale;
        scale /= 10;
        (*s)++;
    }
    return ms;
}

/* "Z", "+01:00", "-0530": milliseconds east. */
static bool zone(const char **s, const char *end, int64_t *ms)
{
    *ms = 0;
    if (*s == end)
        return true;
    if (**s == 'Z') {
        (*s)++;
        return true;
    }
    int sign = **s == '+' ? 1 : **s == '-' ? -1 : 0, h, m = 0;
    if (!sign)
        return false;
    (*s)++;
    if (digits(s, end, 2, &h) != 2)
        return false;
    if (*s < end && **s == ':')
        (*s)++;
    if (*s < end && digits(s, end, 2, &m) != 2)
        return false;
    *ms = sign * (h * 3600000LL + m * 60000LL);
    return true;
}

static bool time_of_day(const char **s, const char *end, Date *d)
{
    if (!digits(s, end, 2, &d->hour))
        return false;
    if (*s < end && **s == ':') {
        (*s)++;
        if (!digits(s, end, 2, &d->minute))
            return false;
    }
    if (*s < end && **s == ':') {
        (*s)++;
        if (!digits(s, end, 2, &d->second))
            return false;
    }
    if (*s < end && (**s == '.' || **s == ',')) {
        (*s)++;
        d->ms = fraction(s, end);
    }
    return true;
}

bool date_parse(const char *s, size_t n, int64_t *ms)
{
    const char *end = s + n;
    Date d = { .month = 1, .day = 1 };
    int v;
    if (digits(&s, end, 4, &v) != 4)
        return false;
    d.year = v;
    if (s < end && *s == '-') {
        s++;
        if (!digits(&s, end, 2, &d.month))
            return false;
    }
    if (s < end && *s == '-') {
        s++;
        if (!digits(&s, end, 2, &d.day))
            return false;
    }
    if (s < end && (*s == 'T' || *s == ' ')) {
        s++;
        if (s < end && !time_of_day(&s, end, &d))
            return false;
    }
    int64_t east;
    if (!zone(&s, end, &east) || s != end || !valid(&d))
        return false;
    *ms = date_join(&d) - east;
    return true;
}

static const char *const month_names[] = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December",
};
static const char *const day_names[] = {
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
};

static bool parse_name(const char **s, const char *end, const char *const *names, int n, int *v)
{
    for (int i = 0; i < n; i++)
        for (size_t len = strlen(names[i]);; len = 3) {
            if ((size_t)(end - *s) >= len && !strncasecmp(*s, names[i], len)) {
                *s += len;
                *v = i + 1;
                return true;
            }
            if (len == 3)
                break;
        }
    return false;
}

/* One letter of a pattern, repeated `width` times. */
static bool parse_letter(const char **s, const char *end, char letter, int width, Date *d, int *pm,
                         int64_t *east)
{
    int v = 0, most = letter == 'y' || letter == 'Y' ? (width == 2 ? 2 : 9)
                      : letter == 'S'                ? width
                                                     : 2;
    if ((letter == 'M' && width >= 3) || letter == 'E')
        return parse_name(s, end, letter == 'E' ? day_names : month_names, letter == 'E' ? 7 : 12,
                          letter == 'E' ? &v : &d->month);
    if (letter == 'Z' || letter == 'z' || letter == 'X')
        return zone(s, end, east);
    if (letter == 'a') {
        if (end - *s < 2)
            return false;
        *pm = **s == 'p' || **s == 'P';
        *s += 2;
        return true;
    }
    if (!digits(s, end, most, &v))
        return false;
    switch (letter) {
    case 'y':
    case 'Y': d->year = most == 2 ? (v < 70 ? 2000 + v : 1900 + v) : v; break;
    case 'M': d->month = v; break;
    case 'd': d->day = v; break;
    case 'H':
    case 'k': d->hour = v % 24; break;
    case 'h':
    case 'K': d->hour = v % 12; break;
    case 'm': d->minute = v; break;
    case 's': d->second = v; break;
    case 'S': d->ms = width == 1 ? v * 100 : width == 2 ? v * 10 : v; break;
    default: return false;
    }
    return true;
}

bool date_parse_as(const char *s, size_t n, const char *pattern, int64_t *ms)
{
    const char *end = s + n;
    Date d = { .year = 1970, .month = 1, .day = 1 };
    int pm = 0;
    int64_t east = 0;
    for (const char *p = pattern; *p;) {
        if (*p == '\'') {
            for (p++; *p && *p != '\''; p++)
                if (s == end || *s++ != *p)
                    return false;
            p += *p != 0;
        } else if (isalpha((unsigned char)*p)) {
            int width = 1;
            while (p[width] == *p)
                width++;
            if (!parse_letter(&s, end, *p, width, &d, &pm, &east))
                return false;
            p += width;
        } else if (s == end || *s++ != *p++) {
            return false;
        }
    }
    d.hour += pm * 12;
    if (s != end || !valid(&d))
        return false;
    *ms = date_join(&d) - east;
    return true;
}

void date_print(Str *out, int64_t ms) { date_print_as(out, ms, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"); }

static void print_letter(Str *out, char letter, int width, const Date *d, int64_t ms)
{
    int64_t v = 0;
    int year, week;
    date_week(ms, &year, &week);
    switch (letter) {
    case 'y':
    case 'Y': v = width == 2 ? d->year % 100 : d->year; break;
    case 'x': v = year; break;
    case 'w': v = week; break;
    case 'M':
        if (width >= 3) {
            str_addn(out, month_names[d->month - 1],
                     width == 3 ? 3 : strlen(month_names[d->month - 1]));
            return;
        }
        v = d->month;
        break;
    case 'E':
        str_addn(out, day_names[date_weekday(ms) - 1],
                 width <= 3 ? 3 : strlen(day_names[date_weekday(ms) - 1]));
        return;
    case 'e': v = date_weekday(ms); break;
    case 'd': v = d->day; break;
    case 'D': {
        Date first = { .year = d->year, .month = 1, .day = 1 };
        v = floor_div(ms - date_join(&first), MS_DAY) + 1;
        break;
    }
    case 'H': v = d->hour; break;
    case 'k': v = d->hour ? d->hour : 24; break;
    case 'K': v = d->hour % 12; break;
    case 'h': v = d->hour % 12 ? d->hour % 12 : 12; break;
    case 'm': v = d->minute; break;
    case 's': v = d->second; break;
    case 'S': v = width == 1 ? d->ms / 100 : width == 2 ? d->ms / 10 : d->ms; break;
    case 'a': str_add(out, d->hour < 12 ? "AM" : "PM"); return;
    case 'Z': str_add(out, width == 1 ? "+0000" : "+00:00"); return;
    case 'z': str_add(out, "UTC"); return;
    default: return;
    }
    str_addf(out, "%0*lld", width, (long long)v);
}

void date_print_as(Str *out, int64_t ms, const char *pattern)
{
    Date d = date_split(ms);
    for (const char *p = pattern; *p;) {
        if (*p == '\'') {
            for (p++; *p && *p != '\''; p++)
                str_addc(out, *p);
            p += *p != 0;
        } else if (isalpha((unsigned char)*p)) {
            int width = 1;
            while (p[width] == *p)
                width++;
            print_letter(out, *p, width, &d, ms);
            p += width;
        } else {
            str_addc(out, *p++);
        }
    }
}

/* Months are clipped to the month's last day. */
static int64_t add_months(int64_t ms, int64_t months)
{
    Date d = date_split(ms);
    int64_t m = d.year * 12 + d.month - 1 + months;
    d.year = floor_div(m, 12);
    d.month = (int)(m - d.year * 12) + 1;
    if (d.day > month_days(d.year, d.month))
        d.day = month_days(d.year, d.month);
    return date_join(&d);
}

bool date_add(int64_t ms, const char *s, size_t n, int sign, int64_t *out)
{
    const char *end = s + n;
    bool time = false;
    if (s == end || *s++ != 'P')
        return false;
    while (s < end) {
        if (*s == 'T') {
            time = true;
            s++;
            continue;
        }
        int v, frac = 0, minus = *s == '-';
        s += minus;
        if (!digits(&s, end, 9, &v))
            return false;
        if (s < end && *s == '.') {
            s++;
            frac = fraction(&s, end);
        }
        if (s == end)
            return false;
        int64_t by = (int64_t)v * sign * (minus ? -1 : 1);
        switch (*s++) {
        case 'Y': ms = add_months(ms, by * 12); break;
        case 'M': ms = time ? ms + by * 60000 : add_months(ms, by); break;
        case 'W': ms += by * 7 * MS_DAY; break;
        case 'D': ms += by * MS_DAY; break;
        case 'H': ms += by * 3600000; break;
        case 'S': ms += by * 1000 + sign * (minus ? -frac : frac); break;
        default: return false;
        }
    }
    *out = ms;
    return true;
}

int date_weekday(int64_t ms)
{
    int64_t days = floor_div(ms, MS_DAY);
    return (int)((days + 3) - floor_div(days + 3, 7) * 7) + 1;
}

void date_week(int64_t ms, int *year, int *week)
{
    /* The week belongs to the year of its Thursday. */
    int64_t thursday = ms + (4 - date_weekday(ms)) * (int64_t)MS_DAY;
    Date d = date_split(thursday);
    Date first = { .year = d.year, .month = 1, .day = 1 };
    *year = (int)d.year;
    *week = (int)(floor_div(thursday - date_join(&first), MS_DAY) / 7) + 1;
}
