/* Functions of datetimes, in UTC. */
#include "dataflow/date.h"
#include "dataflow/function.h"
#include <assert.h>
#include <string.h>

static bool is_date(const Datum *v) { return v->kind == DATUM_DATETIME; }

static Datum fn_to_date(CallCtx *c, const Datum *a, size_t n)
{
    int64_t ms;
    if (datum_is_number(a))
        return datum_datetime((int64_t)datum_as_double(a));
    bool ok = a->kind == DATUM_TEXT &&
              (n > 1 ? a[1].kind == DATUM_TEXT && date_parse_as(a->u.s, a->len, a[1].u.s, &ms)
                     : date_parse(a->u.s, a->len, &ms));
    if (ok)
        return datum_datetime(ms);
    if (n > 1)
        call_fail(c, "\"%.40s\" is no date of the form %.40s", a->kind == DATUM_TEXT ? a->u.s : "",
                  a[1].kind == DATUM_TEXT ? a[1].u.s : "");
    c->warnings++;
    return datum_null();
}

static Datum fn_to_string(CallCtx *c, const Datum *a, size_t n)
{
    if (!is_date(a))
        return datum_null();
    Str s = { 0 };
    if (n > 1 && a[1].kind == DATUM_TEXT)
        date_print_as(&s, a->u.i, a[1].u.s);
    else
        date_print(&s, a->u.i);
    Datum d = datum_textn(c->arena, str_c(&s), s.len);
    str_release(&s);
    return d;
}

static Datum fn_unix(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    return is_date(a) ? datum_long(a->u.i / 1000) : datum_null();
}

static Datum fn_ms(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    return is_date(a) ? datum_long(a->u.i) : datum_null();
}

static Datum fn_now(CallCtx *c, const Datum *a, size_t n)
{
    (void)a;
    (void)n;
    return datum_datetime(c->now);
}

typedef enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, MILLI, WEEK, WEEK_YEAR } DatePart;

static Datum get(const Datum *v, DatePart part)
{
    if (!is_date(v))
        return datum_null();
    Date d = date_split(v->u.i);
    int year, week;
    date_week(v->u.i, &year, &week);
    const int64_t parts[] = {
        d.year, d.month, d.day, d.hour, d.minute, d.second, d.ms, week, year
    };
    return datum_int((int32_t)parts[part]);
}

/* Whole units from the second to the first, towards zero. */
static Datum between(const Datum *a, int64_t unit)
{
    if (!is_date(&a[0]) || !is_date(&a[1]))
        return datum_null();
    return datum_long((a[0].u.i - a[1].u.i) / unit);
}

static Datum months_between(const Datum *a, int per)
{
    if (!is_date(&a[0]) || !is_date(&a[1]))
        return datum_null();
    int64_t x = a[0].u.i, y = a[1].u.i, sign = x < y ? -1 : 1;
    if (sign < 0) {
        int64_t t = x;
        x = y;
        y = t;
    }
    Date d = date_split(x), e = date_split(y);
    int64_t months = (d.year - e.year) * 12 + d.month - e.month;
    Date back = d;
    back.year = e.year;
    back.month = e.month;
    if (date_join(&back) < y)
        months--;
    return datum_long(sign * (months / per));
}

static Datum add(CallCtx *c, const Datum *a, int sign)
{
    int64_t ms;
    if (!is_date(&a[0]) || a[1].kind != DATUM_TEXT)
        return datum_null();
    if (!date_add(a->u.i, a[1].u.s, a[1].len, sign, &ms)) {
        call_fail(c, "\"%.40s\" is no duration", a[1].u.s);
        return datum_null();
    }
    return datum_datetime(ms);
}

#define GET(f, part)                                                                               \
    static Datum f(CallCtx *c, const Datum *a, size_t n)                                           \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)n;                                                                                   \
        return get(a, part);                                                                       \
    }
GET(get_year, YEAR)
GET(get_month, MONTH)
GET(get_day, DAY)
GET(get_hour, HOUR)
GET(get_minute, MINUTE)
GET(get_second, SECOND)
GET(get_milli, MILLI)
GET(get_week, WEEK)
GET(get_week_year, WEEK_YEAR)
#undef GET

#define BETWEEN(f, how)                                                                            \
    static Datum f(CallCtx *c, const Datum *a, size_t n)                                           \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)n;                                                                                   \
        return how;                                                                                \
    }
BETWEEN(years_between, months_between(a, 12))
BETWEEN(fn_months_between, months_between(a, 1))
BETWEEN(weeks_between, between(a, 7 * 86400000LL))
BETWEEN(days_between, between(a, 86400000))
BETWEEN(hours_between, between(a, 3600000))
BETWEEN(minutes_between, between(a, 60000))
BETWEEN(seconds_between, between(a, 1000))
BETWEEN(millis_between, between(a, 1))
#undef BETWEEN

static Datum add_duration(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return add(c, a, 1);
}

static Datum subtract_duration(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return add(c, a, -1);
}

#define DATE(text, lo, hi, kind, f)                                                                \
    { .name = text, .min = lo, .max = hi, .rule = TYPE_FIXED, .result = kind, .call = f }
const Function functions_date[] = {
    { .name = "ToDate",
      .min = 1,
      .max = 3,
      .rule = TYPE_FIXED,
      .result = DATUM_DATETIME,
      .want = DATUM_TEXT,
      .call = fn_to_date },
    DATE("ToString", 1, 2, DATUM_TEXT, fn_to_string),
    DATE("ToUnixTime", 1, 1, DATUM_LONG, fn_unix),
    DATE("ToMilliSeconds", 1, 1, DATUM_LONG, fn_ms),
    { .name = "CurrentTime",
      .rule = TYPE_FIXED,
      .result = DATUM_DATETIME,
      .call = fn_now,
      .random = true },
    DATE("GetYear", 1, 1, DATUM_INT, get_year),
    DATE("GetMonth", 1, 1, DATUM_INT, get_month),
    DATE("GetDay", 1, 1, DATUM_INT, get_day),
    DATE("GetHour", 1, 1, DATUM_INT, get_hour),
    DATE("GetMinute", 1, 1, DATUM_INT, get_minute),
    DATE("GetSecond", 1, 1, DATUM_INT, get_second),
    DATE("GetMilliSecond", 1, 1, DATUM_INT, get_milli),
    DATE("GetWeek", 1, 1, DATUM_INT, get_week),
    DATE("GetWeekYear", 1, 1, DATUM_INT, get_week_year),
    DATE("YearsBetween", 2, 2, DATUM_LONG, years_between),
    DATE("MonthsBetween", 2, 2, DATUM_LONG, fn_months_between),
    DATE("WeeksBetween", 2, 2, DATUM_LONG, weeks_between),
    DATE("DaysBetween", 2, 2, DATUM_LONG, days_between),
    DATE("HoursBetween", 2, 2, DATUM_LONG, hours_between),
    DATE("MinutesBetween", 2, 2, DATUM_LONG, minutes_between),
    DATE("SecondsBetween", 2, 2, DATUM_LONG, seconds_between),
    DATE("MilliSecondsBetween", 2, 2, DATUM_LONG, millis_between),
    DATE("AddDuration", 2, 2, DATUM_DATETIME, add_duration),
    DATE("SubtractDuration", 2, 2, DATUM_DATETIME, subtract_duration),
    { 0 },
};
