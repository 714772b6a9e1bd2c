/*
 * The page's part about a command that has run others: what ran, when, for how long, fed by
 * what; what was not done and why.
 */
#include "base/escape.h"
#include "base/units.h"
#include "finding/html_int.h"

static void add(Html *h, const char *markup) { str_add(h->out, markup); }

static void text(Html *h, const char *s) { escape_html_z(h->out, s); }

/* A bar a step, from its begin to its end. */
static void time_line(Html *h, const Overview *v)
{
    enum { HEIGHT = 14 };
    size_t n = 0;
    char time[32];
    for (size_t i = 0; i < v->nsteps; i++)
        n += v->steps[i].ran;
    if (!n || v->seconds <= 0)
        return;
    str_addf(h->out,
             "<svg class=\"timeline\" viewBox=\"0 0 1000 %zu\" role=\"img\" "
             "aria-label=\"Time line\">\n",
             n * HEIGHT + 18);
    size_t row = 0;
    for (size_t i = 0; i < v->nsteps; i++) {
        const OverviewStep *s = &v->steps[i];
        if (!s->ran)
            continue;
        double x = 1000 * s->begin / v->seconds, w = 1000 * s->seconds / v->seconds;
        bool right = x > 600;
        str_addf(
            h->out,
            "<g><rect class=\"%s\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>"
            "<text x=\"%.1f\" y=\"%zu\"%s>",
            !s->ok        ? "bad"
            : s->findings ? "found"
                          : "clean",
            x, row * HEIGHT + 2, w < 2 ? 2 : w, HEIGHT - 4, right ? x - 4 : x + (w < 2 ? 2 : w) + 4,
            row * HEIGHT + HEIGHT - 3, right ? " text-anchor=\"end\"" : "");
        text(h, s->name);
        str_addf(h->out, " %s</text></g>\n", duration_format(s->seconds, time));
        row++;
    }
    str_addf(h->out,
             "<text x=\"0\" y=\"%zu\">0</text><text x=\"1000\" y=\"%zu\" text-anchor=\"end\">",
             n * HEIGHT + 14, n * HEIGHT + 14);
    str_addf(h->out, "%s</text></svg>\n", duration_format(v->seconds, time));
}

static void step_row(Html *h, const OverviewStep *s)
{
    char time[32];
    add(h, "<tr><th scope=\"row\">");
    text(h, s->name);
    str_addf(h->out, "</th><td class=\"n\">%s</td><td class=\"n\">%zu</td><td>",
             s->ran ? duration_format(s->seconds, time) : "–", s->findings);
    text(h, s->reason);
    if (*s->fed_by) {
        add(h, " <span class=\"tag\">fed by ");
        text(h, s->fed_by);
        add(h, "</span>");
    }
    add(h, "</td><td>");
    text(h, s->result);
    add(h, "</td></tr>\n");
}

static void lines(Html *h, const char *title, const OverviewLine *all, size_t n)
{
    if (!n)
        return;
    str_addf(h->out, "<h3>%s</h3><ul>\n", title);
    for (size_t i = 0; i < n; i++) {
        add(h, "<li><b>");
        text(h, all[i].what);
        add(h, "</b>: ");
        text(h, all[i].why);
        add(h, "</li>\n");
    }
    add(h, "</ul>\n");
}

void html_overview(Html *h)
{
    const Overview *v = h->o->overview;
    if (!v)
        return;
    add(h, "<section class=\"more steps-overview\" aria-label=\"What ran\"><h2>What ran</h2>\n<p>");
    text(h, v->title);
    add(h, "</p>\n");
    time_line(h, v);
    add(h, "<div class=\"tablebox\"><table><thead><tr><th scope=\"col\">Step</th><th scope=\"col\" "
           "class=\"n\">Time</th><th scope=\"col\" class=\"n\">Findings</th><th scope=\"col\">Why"
           "</th><th scope=\"col\">Result</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < v->nsteps; i++)
        step_row(h, &v->steps[i]);
    add(h, "</tbody></table></div>\n");
    lines(h, "Trouble", v->troubles, v->ntroubles);
    lines(h, "Not done", v->skipped, v->nskipped);
    add(h, "</section>\n");
}
