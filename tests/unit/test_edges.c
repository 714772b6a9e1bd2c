/* weave/edges: numbers for branches. */
#include "base/str.h"
#include "analysis/pointsto/calls.h"
#include "tree.h"
#include "weave/edges.h"
#include "compile.h"
#include <string.h>

static const char subject[] =
    "int half(int n) { return n / 2; }\n"
    "static int pick(int n) {\n"
    "    if (n > 3)\n"
    "        return half(n);\n"
    "    switch (n) {\n"
    "    case 1: return 10;\n"
    "    case 2: return 20;\n"
    "    }\n"
    "    return 0; }\n"
    "int unused(int n) { return n ? 1 : half(2); }\n"
    "int main(int argc, char **argv) { (void)argv; return pick(argc); }\n";

static const EdgeInfo *first_of(const Edges *e, const char *function, bool entry)
{
    for (uint32_t i = 0; i < edges_count(e); i++) {
        const EdgeInfo *x = edges_at(e, i);
        if (x->entry == entry && strcmp(x->fn->name, function) == 0)
            return x;
    }
    fail_msg("no edge of %s", function);
    return NULL;
}

static void each_branch_has_its_edges(void **state)
{
    (void)state;
    Err err = { 0 };
    Compiled c = compiled(subject);
    Edges *e = edges_new(c.program, &err);
    assert_non_null(e);
    /* four entries, two of the if, three of the switch, two of ?: */
    assert_int_equal(edges_count(e), 4 + 2 + 3 + 2);
    const EdgeInfo *taken = first_of(e, "pick", false);
    assert_int_equal(taken->line, 3);
    assert_int_equal(taken->outcome, 0);
    assert_int_equal(edges_at(e, taken->site + 1)->outcome, 1);
    assert_int_equal(edges_at(e, taken->site + 1)->site, taken->site);
    const EdgeInfo *third = edges_at(e, taken->site + 4);
    assert_int_equal(third->line, 5);
    assert_int_equal(third->outcome, 2);
    assert_int_equal(third->site, taken->site + 2);
    assert_true(first_of(e, "half", true)->entry);
    assert_int_equal(first_of(e, "half", true)->line, 1);
    edges_free(e);
    compiled_end(&c);
}

static void other_sites_stand_behind_the_edges(void **state)
{
    (void)state;
    Err err = { 0 };
    Compiled c = compiled(subject);
    Edges *e = edges_new(c.program, &err);
    bool division = false;
    uint32_t i = (uint32_t)edges_count(e);
    for (const EdgeInfo *x; (x = edges_at(e, i)); i++) {
        assert_int_equal(x->site, i);
        assert_true(edges_at(e, i) == x);
        division |= strcmp(x->fn->name, "half") == 0 && x->line == 1;
    }
    assert_true(division);
    assert_true(i > edges_count(e) + 10);
    edges_free(e);
    compiled_end(&c);
}

static void what_is_never_called_is_not_reachable(void **state)
{
    (void)state;
    Err err = { 0 };
    Compiled c = compiled(subject);
    char *share = in_tree("share");
    Calls *calls = calls_open(c.program, &(CallsPlan){ .share = share }, &err);
    Edges *e = edges_new(c.program, &err);
    assert_int_equal(edges_reachable(e, calls, "main"), 3 + 2 + 3);
    assert_int_equal(edges_reachable(e, calls, "unused"), 2 + 2);
    assert_int_equal(edges_reachable(e, calls, "no such function"), 0);
    edges_free(e);
    calls_close(calls);
    free(share);
    compiled_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_branch_has_its_edges),
        cmocka_unit_test(other_sites_stand_behind_the_edges),
        cmocka_unit_test(what_is_never_called_is_not_reachable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
