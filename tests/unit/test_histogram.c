/* technique/types/histogram: the statistic, the families, the files. */
#include "technique/types/histogram.h"
#include "base/file.h"
#include "base/tempdir.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

typedef struct Row {
    const char *label;
    double callers;
} Row;

/* Does `label` deviate in a histogram of these rows? */
static Judgement judge(const Row *rows, const char *label, const Limits *l)
{
    Histograms hs = { 0 };
    Histogram *h = histogram_at(&hs, "f\t1\tkind\t-");
    for (; rows->label; rows++)
        histogram_add(&hs, h, rows->label, rows->callers);
    View v;
    histogram_view(h, &v);
    Judgement j = view_judge(&v, view_bin(&v, h, label), l);
    view_release(&v);
    histograms_release(&hs);
    return j;
}
#define deviates(label, ...) judge((Row[]){ __VA_ARGS__, { 0 } }, label, &limits_default).deviates

static void a_lone_struct_among_socket_addresses_deviates(void **state)
{
    (void)state;
    Judgement j = judge((Row[]){ { "struct sockaddr_in", 42 },
                                 { "struct sockaddr_in6", 20 },
                                 { "struct config", 1 },
                                 { 0 } },
                        "struct config", &limits_default);
    assert_true(j.deviates);
    assert_float_equal(j.drop, 10, 1e-9);
    j = judge((Row[]){ { "struct sockaddr_in", 41 },
                       { "struct sockaddr_in6", 20 },
                       { "struct config", 1 },
                       { 0 } },
              "struct config", &limits_default);
    assert_false(j.deviates);
    assert_float_equal(j.drop, 59.0 / 6, 1e-9);
    assert_false(deviates("struct sockaddr_in6", { "struct sockaddr_in", 42 },
                          { "struct sockaddr_in6", 20 }, { "struct config", 1 }));
}

static void the_published_bounds_hold(void **state)
{
    (void)state;
    /* one of 30 is enough evidence and 3.3%; two of 30 are 6.7% */
    assert_true(deviates("b", { "a", 29 }, { "b", 1 }));
    assert_false(deviates("b", { "a", 28 }, { "b", 2 }));
    assert_false(deviates("b", { "a", 28 }, { "b", 1 }));
    /* the known false positive of the literature: 76 and 1 */
    assert_true(deviates("SequentialGroup", { "ParallelGroup", 76 }, { "SequentialGroup", 1 }));
    /* two frequent types */
    assert_false(deviates("b", { "a", 60 }, { "b", 40 }));
    /* a single one */
    assert_false(deviates("a", { "a", 100 }));
    /* seven kinds are open to everything */
    assert_false(deviates("g", { "a", 100 }, { "b", 100 }, { "c", 100 }, { "d", 100 }, { "e", 100 },
                          { "f", 100 }, { "g", 1 }));
    /* N needed for one deviant of K kinds */
    static const double needed[] = { 63, 124, 205, 306 };
    for (int k = 3; k <= 6; k++) {
        Row rows[8] = { { 0 } };
        static const char *const names[] = { "x", "a", "b", "c", "d", "e" };
        for (int i = 0; i < k; i++)
            rows[i] = (Row){ names[i], i ? (needed[k - 3] - 1) / (k - 1) : 1 };
        assert_true(judge(rows, "x", &limits_default).deviates);
        rows[1].callers -= 1;
        assert_false(judge(rows, "x", &limits_default).deviates);
    }
}

static void the_recall_setting_asks_for_less(void **state)
{
    (void)state;
    Row rows[] = { { "a", 24 }, { "b", 3 }, { 0 } };
    assert_false(judge(rows, "b", &limits_default).deviates);
    assert_true(judge(rows, "b", &limits_recall).deviates);
}

static void confidence_does_not_grow_without_bound(void **state)
{
    (void)state;
    assert_float_equal(share_confidence(1, 30), 0.851, 0.002);
    assert_float_equal(share_confidence(1, 300), 0.984, 0.002);
    assert_float_equal(share_confidence(0, 59), 0.950, 0.002);
    assert_true(share_confidence(3, 100) < share_confidence(1, 100));
    assert_true(share_confidence(5, 5) == 0 && share_confidence(0, 0) == 0);
    assert_true(isfinite(share_confidence(3, 1e7)));
}

static void constants_fold_into_families(void **state)
{
    (void)state;
    assert_true(deviates("const S_IRUSR", { "const O_RDONLY", 20 }, { "const O_CREAT", 15 },
                         { "const S_IRUSR", 1 }));
    assert_false(deviates("const O_TRUNC", { "const O_RDONLY", 20 }, { "const O_CREAT", 15 },
                          { "const O_TRUNC", 1 }));
    /* a library's own prefix does not hide its families */
    Row rows[] = { { "const SQLITE_OPEN_READONLY", 20 },
                   { "const SQLITE_OPEN_CREATE", 14 },
                   { "const SQLITE_LIMIT_LENGTH", 1 },
                   { 0 } };
    Judgement j = judge(rows, "const SQLITE_LIMIT_LENGTH", &limits_default);
    assert_true(j.deviates);
    /* one name is no choice: a buffer's size */
    assert_false(deviates("const PATH_MAX", { "const BUF_SIZE", 40 }, { "const PATH_MAX", 1 }));
    /* constants against another kind of thing */
    assert_true(
        deviates("bool", { "const SEEK_SET", 20 }, { "const SEEK_END", 20 }, { "bool", 1 }));
}

static void what_other_programs_do_is_no_slip(void **state)
{
    (void)state;
    Histograms hs = { 0 }, one = { 0 }, two = { 0 };
    Histogram *h = histogram_at(&hs, "k");
    histogram_add(&hs, h, "a", 50);
    histogram_add(&hs, h, "b", 1);
    histogram_add(&one, histogram_at(&one, "k"), "b", 1);
    histogram_add(&two, histogram_at(&two, "k"), "b", 1);
    View v;
    histograms_learn(&hs, &one);
    histogram_view(h, &v);
    assert_true(view_judge(&v, view_bin(&v, h, "b"), &limits_default).deviates);
    view_release(&v);
    histograms_learn(&hs, &two);
    histogram_view(h, &v);
    assert_false(view_judge(&v, view_bin(&v, h, "b"), &limits_default).deviates);
    view_release(&v);
    histograms_release(&hs);
    histograms_release(&one);
    histograms_release(&two);
}

static void a_caller_can_be_taken_away_again(void **state)
{
    (void)state;
    Histograms hs = { 0 };
    Histogram *h = histogram_at(&hs, "k");
    histogram_add(&hs, h, "a", 31);
    histogram_add(&hs, h, "a", -1);
    histogram_add(&hs, h, "b", 1);
    histogram_add(&hs, h, "b", -1);
    View v;
    histogram_view(h, &v);
    assert_int_equal(v.bins.len, 1);
    assert_float_equal(v.total, 30, 1e-9);
    view_release(&v);
    histograms_release(&hs);
}

static void files_are_sorted_and_read_back(void **state)
{
    (void)state;
    Histograms hs = { 0 }, back = { 0 };
    histogram_add(&hs, histogram_at(&hs, "lseek\t3\tkind\t-"), "const SEEK_SET", 2);
    histogram_add(&hs, histogram_at(&hs, "bind\t2\tpointer\t-"), "struct sockaddr_in", 1.5);
    histogram_add(&hs, histogram_at(&hs, "bind\t2\tpointer\t-"), "bad\tlabel", 1);
    Str text = { 0 };
    histograms_write(&hs, NULL, &text);
    assert_string_equal(str_c(&text), "bind\t2\tpointer\t-\tstruct sockaddr_in\t1.5\t1\n"
                                      "lseek\t3\tkind\t-\tconst SEEK_SET\t2\t1\n");
    str_add(&text, "# a remark\n\nfree\t1\tpointer\t-\t*\t0\t0\n");
    Err err = { 0 };
    const char *dir = tempdir_new(NULL, &err);
    assert_non_null(dir);
    char *path = path_join(dir, "h.txt");
    assert_true(file_write(path, text.data, text.len, &err));
    assert_true(histograms_read(&back, path, &err));
    Histogram *h = histogram_find(&back, "bind\t2\tpointer\t-");
    assert_non_null(h);
    assert_float_equal(h->bins.items[0].known, 1.5, 1e-9);
    assert_int_equal(h->bins.items[0].programs, 1);
    assert_true(histogram_find(&back, "free\t1\tpointer\t-")->any);

    static const char *const broken[] = {
        "no tabs at all\n", "a\tb\tx\t1\n", "a\tb\t1\tx\n", "a\tb\t-1\t1\n",
        "a\tb\tnan\t1\n",   "\t\t1\t1\n",   "a\tb\t1\t\n",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        assert_true(file_write(path, broken[i], strlen(broken[i]), &err));
        err = (Err){ 0 };
        assert_false(histograms_read(&back, path, &err));
        assert_non_null(strstr(err.msg, ":1: not a row"));
    }
    free(path);
    tempdir_remove(dir);
    str_release(&text);
    histograms_release(&hs);
    histograms_release(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_struct_among_socket_addresses_deviates),
        cmocka_unit_test(the_published_bounds_hold),
        cmocka_unit_test(the_recall_setting_asks_for_less),
        cmocka_unit_test(confidence_does_not_grow_without_bound),
        cmocka_unit_test(constants_fold_into_families),
        cmocka_unit_test(what_other_programs_do_is_no_slip),
        cmocka_unit_test(a_caller_can_be_taken_away_again),
        cmocka_unit_test(files_are_sorted_and_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
