/*
 * The rows of a monitored program as text, for tests and for who debugs a plan:
 *
 *     add: 2 slots
 *       l: slot 0, struct list *
 *       x: slot 1, int
 *       step 0: slot 0: 4 bytes from 0 of struct list
 *       step 1: at 8 of step 0: all of int
 *       uses total
 */
#include "base/escape.h"
#include "weave/monitor/monitor_int.h"

static void add_type(const Woven *w, uint32_t number, Str *out)
{
    size_t n;
    const Type *const *all = types_all(program_types(w->program), &n);
    Str text = { 0 };
    if (number && number <= n)
        type_print(all[number - 1], NULL, &text);
    else
        str_add(&text, "?");
    escape_terminal_z(out, str_c(&text));
    str_release(&text);
}

static void dump_param(const Woven *w, const Row *row, unsigned i, Str *out)
{
    const SundewParam *p = &row->params.items[i];
    str_add(out, "  ");
    escape_terminal_z(out, row->fn->params[i].name);
    if (!p->nslots)
        str_add(out, ": no slot, ");
    else if (p->nslots == 1)
        str_addf(out, ": slot %u, ", p->slot);
    else
        str_addf(out, ": slots %u-%u, ", p->slot, p->slot + p->nslots - 1u);
    add_type(w, p->type, out);
    str_add(out, p->by_copy ? ", by copy\n" : "\n");
}

static void dump_step(const Woven *w, const SundewStep *s, size_t i, Str *out)
{
    size_t n;
    const Variable *vars = program_variables(w->program, &n);
    str_addf(out, "  step %zu: ", i);
    if (s->parent != SUNDEW_NO_STEP)
        str_addf(out, "at %u of step %u: ", s->at, s->parent);
    else if (s->slot != SUNDEW_VARIABLE)
        str_addf(out, "slot %u: ", s->slot);
    else
        escape_terminal_z(out, vars[s->at - 1].name), str_add(out, ": ");
    if (s->size)
        str_addf(out, "%u bytes from %u of ", s->size, s->from);
    else
        str_add(out, "all of ");
    add_type(w, s->type, out);
    str_addc(out, '\n');
}

void weave_monitor_dump(const Woven *w, Str *out)
{
    size_t n;
    const Variable *vars = program_variables(w->program, &n);
    for (size_t r = 0; w->monitoring && r < w->monitoring->rows.len; r++) {
        const Row *row = &w->monitoring->rows.items[r];
        escape_terminal_z(out, row->fn->symbol);
        str_addf(out, ": %u slots\n", row->nslots);
        for (unsigned i = 0; i < row->params.len; i++)
            dump_param(w, row, i, out);
        for (size_t i = 0; i < row->locals.len; i++) {
            str_addf(out, "  local of %u bytes, ", row->locals.items[i].local.size);
            add_type(w, row->locals.items[i].local.type, out);
            str_addc(out, '\n');
        }
        for (size_t i = 0; i < row->steps.len; i++)
            dump_step(w, &row->steps.items[i], i, out);
        if (row->uses.len)
            str_add(out, "  uses");
        for (size_t i = 0; i < row->uses.len; i++) {
            str_addc(out, ' ');
            escape_terminal_z(out, vars[row->uses.items[i] - 1].name);
        }
        if (row->uses.len)
            str_addc(out, '\n');
    }
}
