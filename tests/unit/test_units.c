/* analysis/units: which numbers belong together, and what the source puts where. */
#include "analysis/units/units.h"
#include "compile.h"

static const char library_c[] =
    "#include <stdlib.h>\n"
    "struct ring { int head, room, colour, order; void *user; int *slots; };\n"
    "static int fixed(int mode) { return mode + 1; }\n"
    "static int grown(struct ring *r) { return r == NULL ? -1 : r->room; }\n"
    "int ring_add(struct ring *r, int n) {\n"
    "  if (r == NULL) return -1;\n"
    "  if (n > r->room - r->head) return 0;\n"
    "  r->head += n; r->order = 3; return fixed(4) > 0; }\n"
    "struct ring *ring_new(int room) {\n"
    "  struct ring *r = calloc(1, sizeof *r); r->room = room; r->order = 5; return r; }\n"
    "void ring_strict(struct ring *r) { if (!r) abort(); r->head = 0; }\n"
    "int ring_twice(struct ring *r, int n) { return ring_add(r, n) + grown(r); }\n"
    "int ring_at(struct ring *r) { return r->slots[r->head]; }\n"
    "static void bump(int *n) { ++*n; }\n"
    "void ring_bump(struct ring *r) { bump(&r->colour); }\n"
    "struct mark { int line, column; }; struct text { struct mark at; };\n"
    "void text_mark(struct text *t, struct mark m) { t->at = m; }\n"
    "int text_line(struct text *t) { return t->at.line; }\n"
    "int ring_last(struct ring *r) { if (r->slots) r->head = 7; else return 0; return r->head; }\n"
    "void ring_wipe(struct ring *r) { if (r->room > 4) r->room = 2; else r->room = 1; r->order = 1; }\n"
    "#include <string.h>\n"
    "static int text_put(const char *s, size_t n, int more) { return n ? s[n - 1] + more : 0; }\n"
    "int text_add(const char *s, int more) { return text_put(s, strlen(s), more); }\n"
    "void ring_paint(struct ring *r, int c) { r->colour = c; __sync_fetch_and_add(&r->order, 1); }\n";

typedef struct Opened {
    Compiled c;
    Units *u;
    const Type *ring;
} Opened;

static Opened open_library(void)
{
    Opened o = { .c = compiled_begin() };

    compiled_add(&o.c, "library.c", library_c, NULL);
    compiled_open(&o.c);
    o.u = units_new(o.c.program);
    const Function *f = program_function(o.c.program, "ring_at");
    o.ring = type_plain(type_plain(f->params[0].type)->target);
    return o;
}

static void close_library(Opened *o)
{
    units_free(o->u);
    compiled_end(&o->c);
}

static const Function *fn(const Opened *o, const char *name)
{
    const Function *f = program_function(o->c.program, name);
    assert_non_null(f);
    return f;
}

static unsigned field(const Opened *o, const char *name)
{
    for (unsigned i = 0; i < o->ring->nfields; i++)
        if (strcmp(o->ring->fields[i].name, name) == 0)
            return (unsigned)(o->ring->fields[i].offset / 8);
    fail_msg("no field %s", name);
    return 0;
}

static unsigned place(const Opened *o, const char *name)
{
    return units_field(o->u, o->ring, field(o, name));
}

static bool has(const Put *put, int64_t x)
{
    for (unsigned i = 0; i < put->n; i++)
        if (put->constants[i] == x)
            return true;
    return false;
}

static void what_is_compared_is_told_from_what_is_not(void **state)
{
    Opened o = open_library();
    (void)state;

    assert_true(units_compared(o.u, place(&o, "head"), place(&o, "room")));
    assert_false(units_related(o.u, place(&o, "head"), place(&o, "colour")));
    assert_true(units_is_index(o.u, place(&o, "slots"), place(&o, "head")));
    assert_false(units_is_index(o.u, place(&o, "slots"), place(&o, "colour")));
    assert_true(units_indexes(o.u, place(&o, "slots"), place(&o, "head")));
    assert_true(units_is_index(o.u, place(&o, "slots"), place(&o, "room"))); /* of the same unit */
    assert_false(units_indexes(o.u, place(&o, "slots"), place(&o, "room")));
    assert_int_equal(place(&o, "user"), 0); /* nobody touches it */
    assert_true(
        units_related(o.u, units_text_length(o.u), units_param(o.u, fn(&o, "text_put"), 1)));
    assert_false(
        units_related(o.u, units_text_length(o.u), units_param(o.u, fn(&o, "text_put"), 2)));
    close_library(&o);
}

static void constants_that_a_function_returns_are_known(void **state)
{
    Opened o = open_library();
    Put add = units_put_result(o.u, fn(&o, "ring_add"));
    Put made = units_put_result(o.u, fn(&o, "ring_new"));
    Put at = units_put_result(o.u, fn(&o, "ring_at"));
    (void)state;

    assert_true(has(&add, -1) && has(&add, 0) && has(&add, 1) && !add.other);
    assert_true(has(&made, 0) && made.other); /* calloc() may */
    assert_true(at.any && at.other && at.n == 0);
    close_library(&o);
}

static void constants_that_fields_and_parameters_get_are_known(void **state)
{
    Opened o = open_library();
    Put order = units_put_field(o.u, o.ring, field(&o, "order"));
    Put in_add = units_put_field_in(o.u, fn(&o, "ring_twice"), o.ring, field(&o, "order"));
    Put in_new = units_put_field_in(o.u, fn(&o, "ring_new"), o.ring, field(&o, "order"));
    Put mode = units_put_param(o.u, fn(&o, "fixed"), 0);
    (void)state;

    assert_true(has(&order, 3) && has(&order, 5) && order.other); /* counted atomically */
    assert_true(in_add.n == 1 && has(&in_add, 3) && !in_add.other);
    assert_true(in_new.n == 1 && has(&in_new, 5) && !in_new.other);
    assert_false(units_put_field_in(o.u, fn(&o, "ring_at"), o.ring, field(&o, "order")).any);
    assert_true(mode.n == 1 && has(&mode, 4) && !mode.other);
    assert_true(units_put_param(o.u, fn(&o, "ring_new"), 0).other); /* anybody may call it */
    close_library(&o);
}

static void a_field_whose_address_is_handed_out_may_be_stored(void **state)
{
    Opened o = open_library();
    const Function *f = fn(&o, "text_mark");
    const Type *text = type_plain(type_plain(f->params[0].type)->target);
    const Type *mark = type_plain(text->fields[0].type);
    (void)state;

    assert_true(units_put_field_in(o.u, fn(&o, "ring_bump"), o.ring, field(&o, "colour")).other);
    assert_true(units_put_field_in(o.u, f, mark, mark->fields[1].offset / 8).other);
    assert_false(units_put_field_in(o.u, fn(&o, "text_line"), mark, 0).any);
    close_library(&o);
}

static void who_looks_for_null_is_known(void **state)
{
    Opened o = open_library();
    (void)state;

    assert_true(units_takes_null(o.u, fn(&o, "ring_add"), 0));
    assert_true(units_takes_null(o.u, fn(&o, "ring_twice"), 0)); /* hands it on */
    assert_true(units_takes_null(o.u, fn(&o, "grown"), 0));
    assert_false(units_takes_null(o.u, fn(&o, "ring_at"), 0));
    assert_false(units_takes_null(o.u, fn(&o, "ring_strict"), 0)); /* it ends the program */
    close_library(&o);
}

static void zeroed_memory_puts_zeros(void **state)
{
    Opened o = open_library();
    Put head = units_put_field_in(o.u, fn(&o, "ring_new"), o.ring, field(&o, "head"));
    Put order = units_put_field_in(o.u, fn(&o, "ring_new"), o.ring, field(&o, "order"));
    (void)state;

    assert_true(head.n == 1 && has(&head, 0) && !head.other);
    assert_false(has(&order, 0)); /* it gets 5 at once */
    close_library(&o);
}

static void a_store_on_one_way_is_told_from_one_on_all(void **state)
{
    Opened o = open_library();
    (void)state;

    assert_false(units_always_puts(o.u, fn(&o, "ring_last"), o.ring, field(&o, "head")));
    assert_true(units_always_puts(o.u, fn(&o, "ring_wipe"), o.ring, field(&o, "room")));
    assert_false(units_always_puts(o.u, fn(&o, "ring_wipe"), o.ring, field(&o, "head")));
    close_library(&o);
}

static void fields_that_are_stored_apart_are_known(void **state)
{
    Opened o = open_library();
    (void)state;

    assert_true(units_stored_apart(o.u, place(&o, "head"), place(&o, "room")));
    assert_false(units_stored_apart(o.u, place(&o, "head"), place(&o, "head")));
    close_library(&o);
}

static void what_is_tested_for_zero_is_known(void **state)
{
    Opened o = open_library();
    (void)state;

    assert_true(units_is_tested(o.u, place(&o, "slots")));
    assert_false(units_is_tested(o.u, place(&o, "room")));
    close_library(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_compared_is_told_from_what_is_not),
        cmocka_unit_test(constants_that_a_function_returns_are_known),
        cmocka_unit_test(constants_that_fields_and_parameters_get_are_known),
        cmocka_unit_test(a_field_whose_address_is_handed_out_may_be_stored),
        cmocka_unit_test(who_looks_for_null_is_known),
        cmocka_unit_test(zeroed_memory_puts_zeros),
        cmocka_unit_test(a_store_on_one_way_is_told_from_one_on_all),
        cmocka_unit_test(fields_that_are_stored_apart_are_known),
        cmocka_unit_test(what_is_tested_for_zero_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
