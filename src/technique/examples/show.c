#include "technique/examples/show.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "dataflow/datum_json.h"
#include "dataflow/load.h"
#include "dataflow/sql.h"
#include <assert.h>
#include <stdio.h>

enum { MOST_CELL = 32, MOST_ROWS = 24 };

/* ---- cells */

static void cell_text(const Datum *v, bool star, Str *out)
{
    Str raw = { 0 };
    if (v->kind == DATUM_NULL)
        str_add(&raw, "null");
    else
        datum_print(&raw, v, false);
    Str safe = { 0 };
    escape_terminal(&safe, str_c(&raw), raw.len);
    if (safe.len > MOST_CELL) {
        size_t n = MOST_CELL - 3;
        while (n && ((unsigned char)safe.data[n] & 0xc0) == 0x80)
            n--;
        str_addn(out, safe.data, n);
        str_add(out, "...");
    } else {
        str_add(out, str_c(&safe));
    }
    if (star && datum_is_made(v))
        str_addc(out, '*');
    str_release(&safe);
    str_release(&raw);
}

static size_t width_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

typedef struct Grid {
    Strings cells;             /* row by row */
    size_t columns, rows;
} Grid;

static void grid_fill(Grid *g, const Op *op, const Table *t)
{
    g->columns = op->schema ? op->schema->n : 0;
    for (size_t i = 0; i < t->n && i < MOST_ROWS; i++)
        if (t->rows[i]->tuple->n > g->columns)
            g->columns = t->rows[i]->tuple->n;
    if (g->columns > 14)
        g->columns = 14;
    for (size_t c = 0; c < g->columns; c++) {
        const char *name = op->schema && c < op->schema->n ? op->schema->fields[c].name : NULL;
        Str s = { 0 };
        if (name)
            escape_terminal_z(&s, name);
        else
            str_addf(&s, "$%zu", c);
        strings_add(&g->cells, str_c(&s));
        str_release(&s);
    }
    for (size_t i = 0; i < t->n && i < MOST_ROWS; i++, g->rows++)
        for (size_t c = 0; c < g->columns; c++) {
            const Tuple *row = t->rows[i]->tuple;
            Datum none = datum_null();
            Str s = { 0 };
            cell_text(c < row->n ? &row->fields[c] : &none, true, &s);
            strings_add(&g->cells, str_c(&s));
            str_release(&s);
        }
}

static void pad(Str *out, const char *s, size_t width)
{
    str_add(out, s);
    for (size_t n = width_of(s); n < width; n++)
        str_addc(out, ' ');
}

static void grid_print(const Grid *g, const char *const *why, const bool *made, bool color,
                       Str *out)
{
    size_t width[16] = { 0 };
    for (size_t i = 0; i < g->cells.len; i++) {
        size_t w = width_of(g->cells.items[i]);
        if (w > width[i % g->columns])
            width[i % g->columns] = w;
    }
    for (size_t r = 0; r <= g->rows && g->columns; r++) {
        str_add(out, "    ");
        if (!r && color)
            str_add(out, "\033[1m");
        for (size_t c = 0; c < g->columns; c++) {
            bool last = c + 1 == g->columns && !(r && why && why[r - 1] && *why[r - 1]);
            if (c)
                str_add(out, "  ");
            if (last)
                str_add(out, g->cells.items[r * g->columns + c]);
            else
                pad(out, g->cells.items[r * g->columns + c], width[c]);
        }
        if (!r && color)
            str_add(out, "\033[0m");
        if (r && why && why[r - 1] && *why[r - 1]) {
            str_add(out, made && made[r - 1] ? "   <- invented; " : "   <- ");
            escape_terminal_z(out, why[r - 1]);
        }
        str_addc(out, '\n');
    }
}

static void heading(const Plan *p, const Op *op, bool color, Str *out)
{
    if (color)
        str_add(out, "\033[36m");
    escape_terminal_z(out, op->text ? op->text : op->alias ? op->alias : op_kind_name(op->kind));
    if (color)
        str_add(out, "\033[0m");
    Str line = { 0 };
    src_print_line(&line, op->at, p->file);
    str_add(out, "   (");
    escape_terminal_z(out, str_c(&line));
    str_add(out, ")\n");
    str_release(&line);
}

void show_text(const Examples *e, bool color, Str *out)
{
    for (size_t i = 0; i < e->plan->ops.len; i++) {
        const Op *op = e->plan->ops.items[i];
        if (op->hidden || op->kind == OP_STORE)
            continue;
        const Table *t = run_table(e->run, op);
        const char *const *why = op->kind == OP_LOAD ? e->why[i] : NULL;
        Grid g = { 0 };
        heading(e->plan, op, color, out);
        grid_fill(&g, op, t);
        grid_print(&g, why, e->made[i], color, out);
        if (!t->n)
            str_add(out, "    (no rows)\n");
        if (t->n > MOST_ROWS)
            str_addf(out, "    … %zu more rows\n", t->n - MOST_ROWS);
        str_addc(out, '\n');
        strings_release(&g.cells);
    }
    str_add(out, "A star marks a value that was invented.\n");
}

/* ---- classes */

static void print_conflict(const Plan *p, const Class *c, Str *out)
{
    for (size_t i = 0; i < c->nconflict; i++) {
        str_add(out, i == 0 ? " (" : i + 1 == c->nconflict ? " and " : ", ");
        src_print_line(out, c->conflict[i]->at, p->file);
    }
    if (c->nconflict)
        str_addc(out, ')');
}

void show_why_not(const Plan *p, const Class *c, Str *out)
{
    if (c->why == WHY_UNSAT) {
        str_add(out, "impossible");
        print_conflict(p, c, out);
    } else if (c->why == WHY_UNTRIED) {
        str_add(out, "not shown");
    } else {
        str_addf(out, "not found: %s", c->reason ? c->reason : "no rows were found");
    }
}

void show_classes(const Classes *c, bool all, bool color, Str *out)
{
    for (size_t i = 0; i < c->n; i++) {
        const Class *k = &c->items[i];
        if (k->shown && !all)
            continue;
        Str s = { 0 };
        str_add(out, k->shown ? "  yes " : "  no  ");
        src_print_line(&s, k->op->at, c->plan->file);
        str_addf(&s, ", %s %s: ", op_kind_name(k->op->kind), k->op->alias ? k->op->alias : "");
        class_print(k, &s);
        escape_terminal_z(out, str_c(&s));
        str_release(&s);
        if (!k->shown) {
            str_add(out, color ? "   \033[33m" : "   ");
            Str w = { 0 };
            show_why_not(c->plan, k, &w);
            escape_terminal_z(out, str_c(&w));
            str_release(&w);
            if (color)
                str_add(out, "\033[0m");
        }
        str_addc(out, '\n');
    }
}

void show_figures(const Metrics *m, Str *out)
{
    str_addf(out, "completeness %.2f (%zu of %zu classes", m->completeness, m->shown, m->all);
    if (m->impossible)
        str_addf(out, ", %zu impossible", m->impossible);
    str_addf(out, "), conciseness %.2f, realism %.2f\n", m->conciseness, m->realism);
    if (m->extra_all + m->extra_impossible)
        str_addf(out, "beyond these: %zu of %zu nulls, boundaries and single conditions%s\n",
                 m->extra_shown, m->extra_all, m->extra_impossible ? " that are possible" : "");
}

/* ---- JSON */

static json_t *columns_json(const Op *op)
{
    json_t *a = json_array();
    for (size_t i = 0; op->schema && i < op->schema->n; i++) {
        Str type = { 0 };
        dtype_print(&type, op->schema->fields[i].type);
        json_array_append_new(a,
                              json_pack("{s:o, s:o}", "name", json_text(op->schema->fields[i].name),
                                        "type", json_text(str_c(&type))));
        str_release(&type);
    }
    return a;
}

static json_t *row_json(const Examples *e, const Op *op, size_t i)
{
    const Tuple *t = run_table(e->run, op)->rows[i]->tuple;
    json_t *values = json_array(), *made = json_array();
    for (size_t c = 0; c < t->n; c++) {
        json_array_append_new(values, datum_json(&t->fields[c], NULL));
        if (datum_is_made(&t->fields[c]))
            json_array_append_new(made, json_integer((json_int_t)c));
    }
    json_t *o = json_pack("{s:o, s:o}", "values", values, "invented_cells", made);
    if (op->kind == OP_LOAD) {
        json_object_set_new(o, "invented", json_boolean(e->made[op->id][i]));
        json_object_set_new(o, "why", json_text(e->why[op->id][i]));
    }
    return o;
}

json_t *show_json_tables(const Examples *e)
{
    json_t *tables = json_array();
    for (size_t i = 0; i < e->plan->ops.len; i++) {
        const Op *op = e->plan->ops.items[i];
        if (op->hidden)
            continue;
        json_t *rows = json_array();
        for (size_t k = 0; k < run_table(e->run, op)->n; k++)
            json_array_append_new(rows, row_json(e, op, k));
        json_t *o = json_pack("{s:o, s:s, s:o, s:i, s:o, s:o}", "alias", json_text(op->alias),
                              "operator", op_kind_name(op->kind), "file", json_text(op->at.file),
                              "line", op->at.line, "columns", columns_json(op), "rows", rows);
        if (op->path)
            json_object_set_new(o, "path", json_text(op->path));
        json_object_set_new(o, "input", json_boolean(op->kind == OP_LOAD));
        json_array_append_new(tables, o);
    }
    return tables;
}

json_t *show_json_uncovered(const Classes *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n; i++) {
        const Class *k = &c->items[i];
        if (k->shown)
            continue;
        Str text = { 0 }, why = { 0 };
        class_print(k, &text);
        show_why_not(c->plan, k, &why);
        json_t *lines = json_array();
        for (size_t n = 0; n < k->nconflict; n++)
            json_array_append_new(lines, json_integer(k->conflict[n]->at.line));
        json_array_append_new(list, json_pack("{s:o, s:i, s:s, s:o, s:s, s:o, s:b, s:b, s:o, s:o}",
                                              "file", json_text(k->op->at.file), "line",
                                              k->op->at.line, "operator", op_kind_name(k->op->kind),
                                              "alias", json_text(k->op->alias), "class",
                                              class_word(k->kind), "text", json_text(str_c(&text)),
                                              "impossible", k->why == WHY_UNSAT, "extra", k->extra,
                                              "reason", json_text(str_c(&why)), "conflict", lines));
        str_release(&text);
        str_release(&why);
    }
    return list;
}

/* ---- SQL */

void show_inserts(const Examples *e, Str *out)
{
    Str s = { 0 };
    sql_print_inserts(e->plan, e->inputs, &s);
    for (const char *p = str_c(&s); *p;) {
        size_t n = strcspn(p, "\n");
        escape_terminal(out, p, n);
        str_addc(out, '\n');
        p += n + (p[n] == '\n');
    }
    str_addc(out, '\n');
    str_release(&s);
}

json_t *show_json_inserts(const Examples *e)
{
    Str s = { 0 };
    sql_print_inserts(e->plan, e->inputs, &s);
    json_t *r = json_textn(str_c(&s), s.len);
    str_release(&s);
    return r;
}

/* ---- tests */

const char *show_store_name(const Op *store)
{
    return store->path ? path_base(store->path) : store->alias ? store->alias : "output";
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

void show_output(const Run *r, const Op *store, Str *out)
{
    const Table *t = run_table(r, store);
    Strings lines = { 0 };
    for (size_t i = 0; i < t->n; i++) {
        Str s = { 0 };
        tuple_print(&s, t->rows[i]->tuple, true);
        strings_add(&lines, str_c(&s));
        str_release(&s);
    }
    if (lines.len)
        qsort(lines.items, lines.len, sizeof *lines.items, by_text);
    for (size_t i = 0; i < lines.len; i++)
        str_addf(out, "%s\n", lines.items[i]);
    strings_release(&lines);
}

static bool write_text(const char *dir, const char *name, const Str *text, Err *err)
{
    char *path = path_join(dir, name);
    bool ok = file_write(path, str_c(text), text->len, err);
    free(path);
    return ok;
}

static bool write_input(const Examples *e, const Op *op, const char *dir, json_t *list, Err *err)
{
    Str text = { 0 };
    char *safe = path_safe_name(path_base(op->path)), *name = xprintf("input-%s", safe);
    load_print(op, &e->inputs[op->id], &text);
    bool ok = write_text(dir, name, &text, err);
    json_array_append_new(list, json_pack("{s:o, s:o}", "path", json_text(op->path), "file",
                                          json_text(name)));
    free(name);
    free(safe);
    str_release(&text);
    return ok;
}

static bool write_expected(const Examples *e, const Op *op, const char *dir, json_t *list, Err *err)
{
    Str text = { 0 };
    char *safe = path_safe_name(show_store_name(op)), *name = xprintf("expected-%s", safe);
    show_output(e->run, op, &text);
    bool ok = write_text(dir, name, &text, err);
    json_array_append_new(list, json_pack("{s:o, s:o}", "output", json_text(show_store_name(op)),
                                          "file", json_text(name)));
    free(name);
    free(safe);
    str_release(&text);
    return ok;
}

/* INSERTs, and a unit test for dbt, beside the files that --check reads. */
static bool write_sql(const Examples *e, const char *dir, Err *err)
{
    Str rows = { 0 }, test = { 0 };
    char *model = xprintf("%s", path_base(e->plan->file));
    if (str_ends(model, ".sql"))
        model[strlen(model) - 4] = 0;
    char *safe = path_safe_name(model), *name = xprintf("%s.yml", safe);
    sql_print_inserts(e->plan, e->inputs, &rows);
    sql_print_dbt(e, safe, &test);
    bool ok = write_text(dir, "rows.sql", &rows, err) && write_text(dir, name, &test, err);
    free(name);
    free(safe);
    free(model);
    str_release(&rows);
    str_release(&test);
    return ok;
}

bool show_tests(const Examples *e, const char *dir, Err *err)
{
    json_t *inputs = json_array(), *outputs = json_array();
    bool ok = dir_make(dir, err);
    for (size_t i = 0; i < e->plan->ops.len && ok; i++) {
        const Op *op = e->plan->ops.items[i];
        if (op->kind == OP_LOAD && load_master(e->plan, op) == op)
            ok = write_input(e, op, dir, inputs, err);
        if (op->kind == OP_STORE)
            ok = write_expected(e, op, dir, outputs, err);
    }
    json_t *o = json_pack("{s:s, s:o, s:o, s:o}", "format", "sundew examples 1", "program",
                          json_text(e->plan->file), "inputs", inputs, "outputs", outputs);
    char *path = path_join(dir, "test.json");
    ok = ok && (e->plan->lang != LANG_SQL || write_sql(e, dir, err));
    ok = ok && json_write(path, o, err);
    free(path);
    json_decref(o);
    return ok;
}
