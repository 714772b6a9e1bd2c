/*
 * The HTML page: the flow as a picture, and the rows at each step. No script,
 * no other file.
 */
#include "base/escape.h"
#include "technique/examples/show.h"
#include <stdio.h>

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;"
    "color:#222;background:#fff}h1{font-size:1.3em}h2{font-size:1em;margin:1.6em 0 .3em}"
    "h2 code{font-weight:normal}table{border-collapse:collapse;margin:.3em 0}"
    "td,th{border:1px solid #ccc;padding:.15em .6em;text-align:left;vertical-align:top}"
    "th{background:#f2f2f2}td.made{background:#fff3c4}td.made::after{content:'*';color:#a60}"
    "td.null{color:#999}td.why{border:0;color:#666;font-size:.9em}.no{color:#a40}"
    "svg text{font:13px system-ui,sans-serif}svg rect{fill:#eef4fb;stroke:#5c87b2}"
    "svg line{stroke:#888}a{text-decoration:none;color:inherit}"
    "@media(prefers-color-scheme:dark){body{background:#1b1b1b;color:#ddd}th{background:#2a2a2a}"
    "td,th{border-color:#444}td.made{background:#4a3d10}svg rect{fill:#22303d}"
    "svg text{fill:#ddd}}";

/* Inputs on top, each op one level below its lowest input. */
typedef struct Place {
    int level, column;
} Place;

static int place_all(const Plan *p, Place *at, int *width)
{
    int levels = 0, *filled = xcalloc(p->ops.len + 1, sizeof *filled);
    *width = 1;
    for (size_t i = 0; i < p->ops.len; i++) {
        const Op *op = p->ops.items[i];
        int level = 0;
        for (size_t k = 0; k < op->nin; k++)
            if (at[op->in[k]->id].level + 1 > level)
                level = at[op->in[k]->id].level + 1;
        at[i].level = level;
        if (op->hidden && op->kind == OP_STORE)
            continue;
        at[i].column = filled[level]++;
        if (filled[level] > *width)
            *width = filled[level];
        if (level + 1 > levels)
            levels = level + 1;
    }
    free(filled);
    return levels;
}

enum { BOX_W = 170, BOX_H = 40, GAP_X = 24, GAP_Y = 34, MOST_NAME = 60 };

static bool drawn(const Op *op) { return !(op->hidden && op->kind == OP_STORE); }

static void draw(const Examples *e, Str *out)
{
    const Plan *p = e->plan;
    Place *at = xcalloc(p->ops.len + 1, sizeof *at);
    int width, levels = place_all(p, at, &width);
    str_addf(out, "<svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"the flow\">\n",
             width * (BOX_W + GAP_X) + GAP_X, levels * (BOX_H + GAP_Y) + GAP_Y);
    for (size_t i = 0; i < p->ops.len; i++) {
        const Op *op = p->ops.items[i];
        for (size_t k = 0; k < op->nin && drawn(op); k++) {
            Place f = at[op->in[k]->id], t = at[i];
            str_addf(out, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
                     GAP_X + f.column * (BOX_W + GAP_X) + BOX_W / 2,
                     GAP_Y / 2 + f.level * (BOX_H + GAP_Y) + BOX_H,
                     GAP_X + t.column * (BOX_W + GAP_X) + BOX_W / 2,
                     GAP_Y / 2 + t.level * (BOX_H + GAP_Y));
        }
    }
    for (size_t i = 0; i < p->ops.len; i++) {
        const Op *op = p->ops.items[i];
        if (!drawn(op))
            continue;
        int x = GAP_X + at[i].column * (BOX_W + GAP_X),
            y = GAP_Y / 2 + at[i].level * (BOX_H + GAP_Y);
        str_addf(out,
                 "<a href=\"#op%d\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>"
                 "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                 op->id, x, y, BOX_W, BOX_H, x + BOX_W / 2, y + 17);
        const char *alias = op->alias ? op->alias : "";
        escape_html(out, alias, strnlen(alias, MOST_NAME));
        str_addf(out,
                 "</text><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s, %zu rows</text></a>\n",
                 x + BOX_W / 2, y + 33, op_kind_name(op->kind), run_table(e->run, op)->n);
    }
    str_add(out, "</svg>\n");
    free(at);
}

static void cell(const Datum *v, Str *out)
{
    Str s = { 0 };
    datum_print(&s, v, false);
    str_addf(out, "<td%s>",
             datum_is_made(v) ? v->kind == DATUM_NULL ? " class=\"made null\"" : " class=\"made\""
             : v->kind == DATUM_NULL ? " class=\"null\""
                                     : "");
    if (v->kind == DATUM_NULL)
        str_add(out, "null");
    else
        escape_html(out, str_c(&s), s.len > 400 ? 400 : s.len);
    str_add(out, "</td>");
    str_release(&s);
}

static void table(const Examples *e, const Op *op, Str *out)
{
    const Table *t = run_table(e->run, op);
    str_add(out, "<table><tr>");
    for (size_t c = 0; op->schema && c < op->schema->n; c++) {
        str_add(out, "<th>");
        escape_html_z(out, op->schema->fields[c].name ? op->schema->fields[c].name : "");
        str_add(out, "</th>");
    }
    str_add(out, "</tr>\n");
    for (size_t i = 0; i < t->n && i < 100; i++) {
        str_add(out, "<tr>");
        for (size_t c = 0; c < t->rows[i]->tuple->n; c++)
            cell(&t->rows[i]->tuple->fields[c], out);
        if (op->kind == OP_LOAD && e->why[op->id][i]) {
            str_addf(out, "<td class=\"why\">%s", e->made[op->id][i] ? "invented; " : "");
            escape_html_z(out, e->why[op->id][i]);
            str_add(out, "</td>");
        }
        str_add(out, "</tr>\n");
    }
    str_add(out, "</table>\n");
    if (!t->n)
        str_add(out, "<p>no rows</p>\n");
}

static void missing(const Examples *e, const Op *op, Str *out)
{
    for (size_t i = 0; i < e->classes->n; i++) {
        const Class *c = &e->classes->items[i];
        if (c->op != op || c->shown)
            continue;
        Str s = { 0 };
        class_print(c, &s);
        str_add(&s, ": ");
        show_why_not(e->plan, c, &s);
        str_add(out, "<p class=\"no\">not shown: ");
        escape_html_z(out, str_c(&s));
        str_add(out, "</p>\n");
        str_release(&s);
    }
}

void show_page(const Examples *e, const char *title, Str *out)
{
    str_add(out, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n<title>");
    escape_html_z(out, title);
    str_addf(out, "</title>\n<style>%s</style>\n<h1>", style);
    escape_html_z(out, title);
    str_add(out, "</h1>\n<p>");
    Str figures = { 0 };
    show_figures(&e->metrics, &figures);
    escape_html_z(out, str_c(&figures));
    str_release(&figures);
    str_add(out, "A yellow cell with a star was invented.</p>\n");
    draw(e, out);
    for (size_t i = 0; i < e->plan->ops.len; i++) {
        const Op *op = e->plan->ops.items[i];
        if (!drawn(op))
            continue;
        Str line = { 0 };
        src_print_line(&line, op->at, e->plan->file);
        str_addf(out, "<h2 id=\"op%d\">", op->id);
        escape_html_z(out, str_c(&line));
        str_release(&line);
        str_add(out, ": <code>");
        escape_html_z(out, op->text ? op->text : op_kind_name(op->kind));
        str_add(out, "</code></h2>\n");
        table(e, op, out);
        missing(e, op, out);
    }
    str_add(out, "</html>\n");
}
