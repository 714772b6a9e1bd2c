/* finding/rank.h: one scale, each trouble once, new ones first. */
#include "finding/rank.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static StoredFinding made(const char *technique, const char *rule, int line, Level level,
                          FindingVerdict verdict)
{
    static int number;
    StoredFinding f = { .technique = technique,
                        .finding = { .rule = rule,
                                     .level = level,
                                     .verdict = verdict,
                                     .message = "m",
                                     .where = { .file = "a.c", .line = line } } };
    snprintf(f.fingerprint, sizeof f.fingerprint, "print%d", ++number);
    return f;
}

static Evidence evidence_of(void *arg, const char *technique)
{
    (void)arg;
    return strcmp(technique, "confirm") == 0 ? EVIDENCE_ELSEWHERE : EVIDENCE_UNKNOWN;
}

static void a_verdict_has_its_place_on_the_scale(void **state)
{
    (void)state;
    StoredFinding items[] = {
        made("types", "types/kind", 1, LEVEL_WARNING, VERDICT_LIKELY),
        made("confirm", "confirm/leak", 2, LEVEL_WARNING, VERDICT_LIKELY),
        made("explore", "explore/failure", 3, LEVEL_ERROR, VERDICT_SHOWN),
        made("explore", "explore/failure", 4, LEVEL_NOTE, VERDICT_SHOWN),
    };
    FindingSet set = { .items = items, .len = 4 };
    Ranking *r = ranking_new(&set, NULL, evidence_of, NULL);
    assert_int_equal(r->len, 4);
    assert_int_equal(r->items[0].best->finding.where.line, 3);
    assert_int_equal(r->items[1].best->finding.where.line, 2);
    assert_int_equal(r->items[2].best->finding.where.line, 1);
    assert_int_equal(r->items[3].best->evidence, EVIDENCE_STYLE);
    assert_int_equal(r->nnew, 3);              /* a note is nothing new to mend */
    ranking_free(r);
}

static void techniques_that_mean_one_line_are_one_trouble(void **state)
{
    (void)state;
    StoredFinding items[] = {
        made("confirm", "confirm/unchecked-null", 7, LEVEL_WARNING, VERDICT_LIKELY),
        made("explore", "explore/failure", 7, LEVEL_ERROR, VERDICT_SHOWN),
        made("explore", "explore/failure", 7, LEVEL_ERROR, VERDICT_SHOWN),
        made("explore", "explore/failure", 8, LEVEL_ERROR, VERDICT_SHOWN),
    };
    FindingSet set = { .items = items, .len = 4 };
    Ranking *r = ranking_new(&set, NULL, evidence_of, NULL);
    assert_int_equal(r->len, 2);
    assert_string_equal(r->items[0].best->technique, "explore");
    assert_int_equal(r->items[0].nothers, 2);
    assert_string_equal(items[0].same_as, r->items[0].best->fingerprint);
    assert_null(items[3].same_as);
    ranking_free(r);
}

static void two_things_that_one_technique_says_of_a_line_stay_two(void **state)
{
    (void)state;
    StoredFinding items[] = {
        made("types", "types/kind", 7, LEVEL_WARNING, VERDICT_LIKELY),
        made("types", "types/size", 7, LEVEL_WARNING, VERDICT_LIKELY),
        made("arguments", "arguments/swapped", 0, LEVEL_WARNING, VERDICT_LIKELY),
        made("types", "types/size", 0, LEVEL_WARNING, VERDICT_LIKELY),
    };
    FindingSet set = { .items = items, .len = 4 };
    Ranking *r = ranking_new(&set, NULL, evidence_of, NULL);
    assert_int_equal(r->len, 4);               /* without a line nothing is the same */
    ranking_free(r);
}

static void new_findings_come_first(void **state)
{
    (void)state;
    Map known = { 0 };
    StoredFinding items[] = {
        made("explore", "explore/failure", 1, LEVEL_ERROR, VERDICT_SHOWN),
        made("types", "types/kind", 2, LEVEL_WARNING, VERDICT_LIKELY),
        made("types", "types/kind", 3, LEVEL_WARNING, VERDICT_LIKELY),
    };
    items[2].in_baseline = true;
    map_put(&known, items[0].fingerprint, NULL);
    FindingSet set = { .items = items, .len = 3 };
    Ranking *r = ranking_new(&set, &known, evidence_of, NULL);
    assert_int_equal(r->len, 2);               /* what is accepted does not count */
    assert_true(r->items[0].is_new);
    assert_int_equal(r->items[0].best->finding.where.line, 2);
    assert_false(r->items[1].is_new);
    assert_int_equal(r->nnew, 1);
    ranking_free(r);
    map_release(&known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verdict_has_its_place_on_the_scale),
        cmocka_unit_test(techniques_that_mean_one_line_are_one_trouble),
        cmocka_unit_test(two_things_that_one_technique_says_of_a_line_stay_two),
        cmocka_unit_test(new_findings_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
