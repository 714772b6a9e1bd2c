/* base/crew.h: processes that share work. */
#include "base/crew.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A member adds what it was told to the number that it is asked. */
typedef struct Adder {
    long base;
    bool begins;
} Adder;

static bool begin(void *arg, Err *err)
{
    const Adder *a = arg;
    return a->begins || err_set(err, "there is no adder");
}

static bool work(void *arg, const Str *request, Str *answer, Err *err)
{
    const Adder *a = arg;
    const char *text = str_c((Str *)request);
    if (!strcmp(text, "die"))
        _exit(3);
    if (!strcmp(text, "fail"))
        return err_set(err, "this can't be added");
    str_addf(answer, "%ld", strtol(text, NULL, 10) + a->base);
    return true;
}

static bool hear(void *arg, const Str *news, Err *err)
{
    (void)err;
    ((Adder *)arg)->base += strtol(str_c((Str *)news), NULL, 10);
    return true;
}

static Crew *new_crew(Adder *a, unsigned n)
{
    CrewPlan plan = { .n = n, .begin = begin, .work = work, .hear = hear, .arg = a };
    Err err = { 0 };
    Crew *c = crew_new(&plan, &err);
    assert_non_null(c);
    return c;
}

static bool ask(Crew *c, const char *const *texts, size_t n, Str *answers, Err *err)
{
    Str requests[16] = { 0 };
    for (size_t i = 0; i < n; i++)
        str_add(&requests[i], texts[i]);
    bool ok = crew_do(c, requests, n, answers, err);
    for (size_t i = 0; i < n; i++)
        str_release(&requests[i]);
    return ok;
}

static void answers_come_in_the_order_of_the_requests(void **state)
{
    (void)state;
    static const char *const texts[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9" };
    for (unsigned n = 1; n < 5; n++) {
        Adder a = { .base = 10, .begins = true };
        Crew *c = new_crew(&a, n);
        Str answers[9] = { 0 };
        Err err = { 0 };
        assert_true(ask(c, texts, 9, answers, &err));
        for (long i = 0; i < 9; i++) {
            assert_int_equal(strtol(str_c(&answers[i]), NULL, 10), i + 11);
            str_release(&answers[i]);
        }
        crew_free(c);
    }
}

static void everybody_hears_the_news(void **state)
{
    (void)state;
    static const char *const texts[] = { "0", "0", "0", "0" };
    Adder a = { .base = 1, .begins = true };
    Crew *c = new_crew(&a, 2);
    Str answers[4] = { 0 }, news = { 0 };
    Err err = { 0 };
    str_add(&news, "41");
    assert_true(crew_tell(c, &news, &err));
    assert_true(ask(c, texts, 4, answers, &err));
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(str_c(&answers[i]), "42");
        str_release(&answers[i]);
    }
    assert_int_equal(a.base, 1);         /* the maker is not told by its members */
    str_release(&news);
    crew_free(c);
}

static void long_messages_arrive_whole(void **state)
{
    (void)state;
    Adder a = { .begins = true };
    Crew *c = new_crew(&a, 1);
    Str request = { 0 }, answer = { 0 };
    Err err = { 0 };
    for (unsigned i = 0; i < 1000000; i++)
        str_addc(&request, '0');
    str_add(&request, "77");
    assert_true(crew_do(c, &request, 1, &answer, &err));
    assert_string_equal(str_c(&answer), "77");
    str_release(&request);
    str_release(&answer);
    crew_free(c);
}

static void a_member_that_fails_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *request, *words;
    } rows[] = { { "fail", "can't be added" }, { "die", "ended" } };
    for (unsigned i = 0; i < 2; i++) {
        Adder a = { .begins = true };
        Crew *c = new_crew(&a, 2);
        Str answer = { 0 };
        Err err = { 0 };
        assert_false(ask(c, &rows[i].request, 1, &answer, &err));
        assert_non_null(strstr(err.msg, rows[i].words));
        str_release(&answer);
        crew_free(c);
    }
    static const char *const one[] = { "1" };
    Adder a = { .begins = false };
    Crew *c = new_crew(&a, 1);
    Str answer = { 0 };
    Err err = { 0 };
    assert_false(ask(c, one, 1, &answer, &err));
    assert_non_null(strstr(err.msg, "ended"));
    str_release(&answer);
    crew_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_in_the_order_of_the_requests),
        cmocka_unit_test(everybody_hears_the_news),
        cmocka_unit_test(long_messages_arrive_whole),
        cmocka_unit_test(a_member_that_fails_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
