/*
 * All findings on one page that needs nothing else: no network, no other
 * file, and it works from file://.
 *
 * The page's style and script are share/report/page.css and page.js, put in
 * whole and admitted by their hashes in the content security policy. So even
 * if a program's text became markup, the browser would run nothing of it; but
 * all such text goes through escape_html() and none becomes markup. Everything
 * the script shows or hides is in the page as text: without a script the page
 * can still be read.
 */
#include "base/base64.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/sha256.h"
#include "finding/html_int.h"

/* Above this number the page has less source around each finding, and no colours: a
 * browser takes seconds for half a million spans. */
enum { MANY = 1000, MOST_FILES = 60 };

static void add(Html *h, const char *markup) { str_add(h->out, markup); }

static void text(Html *h, const char *s) { escape_html_z(h->out, s); }

static void attribute(Html *h, const char *name, const char *value)
{
    str_addf(h->out, " %s=\"", name);
    text(h, value);
    add(h, "\"");
}

static void place(Html *h, const Location *at)
{
    Str s = { 0 };
    output_place(at, &s);
    escape_html(h->out, str_c(&s), s.len);
    str_release(&s);
}

static const char *status_of(const StoredFinding *f)
{
    return f->suppressed ? "suppressed" : f->in_baseline ? "baseline" : "new";
}

/* ---- what the page counts: each technique with its findings */

typedef struct Row {
    const char *technique;
    size_t level[3];           /* of those that count */
    size_t rest, all;
} Row;

typedef Vec(Row) Rows;

static Row *row_of(Rows *rows, const char *technique)
{
    for (size_t i = 0; i < rows->len; i++)
        if (strcmp(rows->items[i].technique, technique) == 0)
            return &rows->items[i];
    Row *r = vec_grow(rows);
    r->technique = technique;
    return r;
}

static Rows count_rows(const FindingSet *set)
{
    Rows rows = { 0 };
    for (size_t i = 0; i < set->nruns; i++)
        row_of(&rows, set->runs[i].technique);
    for (size_t i = 0; i < set->len; i++) {
        Row *r = row_of(&rows, set->items[i].technique);
        r->all++;
        if (finding_counts(&set->items[i]))
            r->level[set->items[i].finding.level]++;
        else
            r->rest++;
    }
    return rows;
}

/* ---- head */

static void read_asset(const OutputOptions *o, const char *name, Str *out)
{
    char *path = o->share ? xprintf("%s/report/%s", o->share, name) : NULL;
    if (!path || !file_read(path, out, NULL))
        str_addf(out, "/* %s was not found */", name);
    free(path);
}

static void add_hash(Str *out, const Str *content)
{
    unsigned char sum[32];
    Sha256 s;
    sha256_init(&s);
    sha256_add(&s, str_c(content), content->len);
    sha256_end(&s, sum);
    str_add(out, "'sha256-");
    base64_encode(out, sum, sizeof sum);
    str_add(out, "'");
}

static void head(Html *h, const Str *css, const Str *js)
{
    add(h, "<!doctype html>\n<html lang=\"en\">\n<head>\n"
           "<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" "
           "content=\"default-src 'none'; script-src ");
    add_hash(h->out, js);
    add(h, "; style-src ");
    add_hash(h->out, css);
    add(h, "; img-src data:; base-uri 'none'; form-action 'none'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, "
           "initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<title>Sundew: ");
    Str summary = { 0 };
    output_summary(h->set, &summary);
    text(h, str_c(&summary));
    str_release(&summary);
    add(h, "</title>\n<style>");
    str_addn(h->out, str_c(css), css->len);
    add(h, "</style>\n</head>\n");
}

static void top_bar(Html *h)
{
    add(h, "<body>\n<a class=\"skip\" href=\"#findings\">To the findings</a>\n"
           "<header class=\"top\">"
           "<svg viewBox=\"0 0 32 32\" aria-hidden=\"true\" fill=\"none\" "
           "stroke=\"currentColor\" stroke-width=\"2.4\" stroke-linecap=\"round\">"
           "<path d=\"M16 30V16M16 16 7 9M16 16l9-7M16 16V6M16 21l-8-1M16 21l8-1\"/>"
           "<g class=\"dew\" fill=\"currentColor\" stroke=\"none\">"
           "<circle cx=\"6\" cy=\"8\" r=\"2.6\"/><circle cx=\"26\" cy=\"8\" r=\"2.6\"/>"
           "<circle cx=\"16\" cy=\"4.5\" r=\"2.6\"/><circle cx=\"6.5\" cy=\"20\" r=\"2.2\"/>"
           "<circle cx=\"25.5\" cy=\"20\" r=\"2.2\"/></g></svg>\n<h1>");
    text(h, path_base(h->set->root));
    add(h, " <span>findings</span></h1>\n"
           "<button type=\"button\" id=\"theme\" class=\"needs-js\" "
           "title=\"Switch between light and dark\">Dark</button>\n"
           "<button type=\"button\" id=\"help-button\" class=\"needs-js\" "
           "aria-label=\"Keys\" title=\"Keys\">?</button>\n</header>\n<main>\n");
}

static void banner(Html *h)
{
    Strings reasons = { 0 };
    output_reasons(h->set, h->o, &reasons);
    if (reasons.len) {
        add(h, "<div class=\"banner\" role=\"note\"><strong>Not complete.</strong> "
               "There may be more than is shown here.<ul>");
        for (size_t i = 0; i < reasons.len; i++) {
            add(h, "<li>");
            text(h, reasons.items[i]);
            add(h, "</li>");
        }
        add(h, "</ul></div>\n");
    }
    strings_release(&reasons);
}

/* ---- overview */

static void tile(Html *h, const char *class, size_t n, const char *label)
{
    str_addf(h->out, "<div class=\"tile %s%s\"><b>%zu</b><span>%s</span></div>\n", class,
             n ? "" : " zero", n, label);
}

static void tiles(Html *h)
{
    Counts c = output_counts(h->set);
    add(h, "<div class=\"tiles\">\n");
    tile(h, "wide", c.counting, c.counting == 1 ? "open finding" : "open findings");
    tile(h, "error", c.level[LEVEL_ERROR], "errors");
    tile(h, "warning", c.level[LEVEL_WARNING], "warnings");
    tile(h, "note", c.level[LEVEL_NOTE], "notes");
    tile(h, "", c.baseline, "baseline");
    tile(h, "", c.suppressed, "suppressed");
    tile(h, "", h->set->nruns, h->set->nruns == 1 ? "run" : "runs");
    add(h, "</div>\n");
}

static void pick(Html *h, const char *technique, const char *level, size_t n)
{
    if (n == 0) {
        add(h, "<td class=\"n\">–</td>");
        return;
    }
    add(h, "<td class=\"n\"><button type=\"button\" class=\"pick\"");
    attribute(h, "data-technique", technique);
    if (level) {
        attribute(h, "data-level", level);
        attribute(h, "data-status", "new");
    }
    str_addf(h->out, ">%zu</button></td>", n);
}

/* How the technique's findings divide, as wide as they are many. */
static void bar(Html *h, const Row *r, size_t most)
{
    static const char *const classes[] = { "error", "warning", "note", "rest" };
    size_t parts[] = { r->level[0], r->level[1], r->level[2], r->rest };
    double x = 0;
    add(h, "<td class=\"bar\"><svg viewBox=\"0 0 100 6\" "
           "preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    for (int i = 0; i < 4; i++) {
        double width = most ? 100.0 * (double)parts[i] / (double)most : 0;
        if (parts[i])
            str_addf(h->out,
                     "<rect class=\"%s\" x=\"%.2f\" y=\"0\" "
                     "width=\"%.2f\" height=\"6\"/>",
                     classes[i], x, width);
        x += width;
    }
    add(h, "</svg></td>");
}

static void overview(Html *h, const Rows *rows)
{
    size_t most = 0;
    for (size_t i = 0; i < rows->len; i++)
        most = rows->items[i].all > most ? rows->items[i].all : most;
    add(h, "<section class=\"overview\" aria-label=\"Overview\">\n");
    tiles(h);
    add(h, "<div class=\"tablebox\"><table>\n<thead><tr><th scope=\"col\">Technique"
           "</th><th scope=\"col\" class=\"n\">Errors</th><th scope=\"col\" "
           "class=\"n\">Warnings</th><th scope=\"col\" class=\"n\">Notes</th>"
           "<th scope=\"col\" class=\"n\">All</th><td class=\"bar\"></td></tr>"
           "</thead>\n<tbody>\n");
    for (size_t i = 0; i < rows->len; i++) {
        const Row *r = &rows->items[i];
        add(h, "<tr><th scope=\"row\">");
        text(h, r->technique);
        add(h, "</th>");
        for (int l = 0; l < 3; l++)
            pick(h, r->technique, level_name((Level)l), r->level[l]);
        pick(h, r->technique, NULL, r->all);
        bar(h, r, most);
        add(h, "</tr>\n");
    }
    add(h, "</tbody></table></div>\n</section>\n");
}

/* ---- filters */

static void choice(Html *h, const char *facet, const char *value, const char *label, size_t n)
{
    if (n == 0)
        return;
    add(h, "<label><input type=\"checkbox\"");
    attribute(h, "data-facet", facet);
    attribute(h, "value", value);
    add(h, "> <span>");
    text(h, label);
    str_addf(h->out, "</span> <span class=\"n\">%zu</span></label>\n", n);
}

/* A name and how many findings it has. */
typedef struct Name {
    const char *name;
    size_t n;
} Name;

static int by_count(const void *a, const void *b)
{
    const Name *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : strcmp(x->name, y->name);
}

static const char *name_in(const StoredFinding *f, const char *facet)
{
    const char *file = f->finding.where.file;
    return strcmp(facet, "rule") == 0 ? f->finding.rule : file ? file : "-";
}

/* The rules, or the files, with the most findings. */
static void name_choices(Html *h, const char *facet, const char *legend)
{
    Map counts = { 0 };
    Vec(Name) names = { 0 };
    for (size_t i = 0; i < h->set->len; i++) {
        void **slot = map_slot(&counts, name_in(&h->set->items[i], facet));
        *slot = (char *)*slot + 1;
    }
    for (size_t i = 0; i < counts.len; i++)
        vec_push(&names, ((Name){ counts.entries[i].key, (size_t)counts.entries[i].value }));
    if (names.len)
        qsort(names.items, names.len, sizeof *names.items, by_count);
    str_addf(h->out, "<fieldset class=\"long\"><legend>%s</legend>\n", legend);
    for (size_t i = 0; i < names.len && i < MOST_FILES; i++)
        choice(h, facet, names.items[i].name, names.items[i].name, names.items[i].n);
    if (names.len > MOST_FILES)
        str_addf(h->out, "<p>%zu more; the search finds them.</p>\n", names.len - MOST_FILES);
    add(h, "</fieldset>\n");
    vec_release(&names);
    map_release(&counts);
}

static void filters(Html *h, const Rows *rows)
{
    size_t levels[3] = { 0 }, verdicts[3] = { 0 };
    Counts c = output_counts(h->set);
    for (size_t i = 0; i < h->set->len; i++) {
        levels[h->set->items[i].finding.level]++;
        verdicts[h->set->items[i].finding.verdict]++;
    }
    add(h, "<details class=\"filters needs-js\" open>\n<summary>Search and filter"
           "</summary>\n<div class=\"inside\" role=\"search\">\n"
           "<input type=\"search\" id=\"search\" placeholder=\"Search  ( / )\" "
           "aria-label=\"Search in all findings\" autocomplete=\"off\" "
           "spellcheck=\"false\">\n<fieldset><legend>Status</legend>\n");
    choice(h, "status", "new", "open", c.counting);
    choice(h, "status", "baseline", "in the baseline", c.baseline);
    choice(h, "status", "suppressed", "suppressed", c.suppressed);
    add(h, "</fieldset>\n<fieldset><legend>Level</legend>\n");
    for (int l = 0; l < 3; l++)
        choice(h, "level", level_name((Level)l), level_name((Level)l), levels[l]);
    add(h, "</fieldset>\n<fieldset><legend>Technique</legend>\n");
    for (size_t i = 0; i < rows->len; i++)
        choice(h, "technique", rows->items[i].technique, rows->items[i].technique,
               rows->items[i].all);
    add(h, "</fieldset>\n<fieldset><legend>Verdict</legend>\n");
    for (int v = 0; v < 3; v++)
        choice(h, "verdict", verdict_name((FindingVerdict)v), verdict_name((FindingVerdict)v),
               verdicts[v]);
    add(h, "</fieldset>\n");
    name_choices(h, "rule", "Rule");
    name_choices(h, "file", "File");
    add(h, "<button type=\"button\" id=\"reset\" class=\"quiet\">"
           "Show all</button>\n</div>\n</details>\n");
}

/* ---- a finding */

static void title(Html *h, const StoredFinding *s)
{
    const Finding *f = &s->finding;
    add(h, "<summary><span class=\"message\">");
    text(h, f->message);
    str_addf(h->out,
             "</span><span class=\"facts\"><span class=\"tag level\">%s"
             "</span><span class=\"place\">",
             level_name(f->level));
    place(h, &f->where);
    add(h, "</span>");
    if (f->where.function) {
        add(h, "<span>in <code>");
        text(h, f->where.function);
        add(h, "</code></span>");
    }
    add(h, "<span class=\"rule\">");
    text(h, f->rule);
    str_addf(h->out, "</span><span class=\"tag\">%s</span>", verdict_name(f->verdict));
    if (s->evidence)
        str_addf(h->out, "<span class=\"tag\">%s</span>", evidence_name(s->evidence));
    if (s->same_as)
        add(h, "<span class=\"tag\">another technique shows the same place</span>");
    if (s->suppressed)
        add(h, "<span class=\"tag\">suppressed</span>");
    else if (s->in_baseline)
        add(h, "<span class=\"tag\">in the baseline</span>");
    add(h, "</span></summary>\n");
}

/* So many places of one finding have their source in the page. */
enum { MOST_EXCERPTS = 200 };

/* Step 0 is the finding itself; related places follow the steps. */
static void excerpt(Html *h, size_t number, const Location *at, int context)
{
    size_t before = h->out->len;
    if (number > MOST_EXCERPTS)
        return;
    str_addf(h->out,
             "<div class=\"excerpt box%s\" data-step=\"%zu\">"
             "<div class=\"where place\">",
             number ? "" : " on", number);
    place(h, at);
    add(h, "</div>");
    if (html_excerpt(h, at, context)) {
        add(h, "</div>\n");
        return;
    }
    h->out->len = before;
    h->out->data[before] = 0;
}

static bool has_excerpt(Html *h, const Location *at)
{
    return at->line >= 1 && at->line <= source_lines(sources_get(h->sources, at->file));
}

static void step(Html *h, size_t number, const EvidenceStep *s)
{
    bool shows = number <= MOST_EXCERPTS && has_excerpt(h, &s->at);
    add(h, h->many ? "<li><button class=\"step" : "<li><button type=\"button\" class=\"step");
    if (shows && h->many)
        str_addf(h->out, "\" data-shows=\"%zu\">", number);
    else if (shows)
        str_addf(h->out, "\" aria-pressed=\"%s\" data-shows=\"%zu\">", number ? "false" : "true",
                 number);
    else
        add(h, " mute\" disabled>");
    add(h, "<span>");
    text(h, s->text);
    if (s->at.file) {
        add(h, "<span class=\"place\">");
        place(h, &s->at);
        if (s->at.function) {
            add(h, " in ");
            text(h, s->at.function);
        }
        add(h, "</span>");
    }
    add(h, "</span></button></li>\n");
}

static void steps_part(Html *h, const Finding *f)
{
    add(h, "<div class=\"part\">");
    add(h, h->many ? "<ol class=\"steps\">\n" : "<h3>Evidence</h3><ol class=\"steps\">\n");
    for (size_t i = 0; i < f->nsteps; i++)
        step(h, i + 1, &f->steps[i]);
    step(h, 0, &(EvidenceStep){ f->where, "The finding" });
    for (size_t i = 0; i < f->nrelated; i++)
        step(h, f->nsteps + i + 1, &f->related[i]);
    add(h, "</ol></div>\n");
}

static void source_part(Html *h, const Finding *f)
{
    bool more = f->nsteps + f->nrelated > 0;
    int around = h->context ? h->context - 1 : 0;
    add(h, more ? "<div class=\"both\"><div class=\"part\">" : "<div class=\"part\">");
    excerpt(h, 0, &f->where, h->context);
    for (size_t i = 0; i < f->nsteps; i++)
        excerpt(h, i + 1, &f->steps[i].at, around);
    for (size_t i = 0; i < f->nrelated; i++)
        excerpt(h, f->nsteps + i + 1, &f->related[i].at, around);
    add(h, "</div>\n");
    if (more) {
        steps_part(h, f);
        add(h, "</div>\n");
    }
}

static void begin_part(Html *h, const char *heading)
{
    str_addf(h->out, "<div class=\"part\"><h3>%s</h3>", heading);
}

static void function_part(Html *h, const Finding *f)
{
    size_t before = h->out->len;
    add(h, "<details class=\"function\"><summary>Whole function");
    if (f->where.function) {
        add(h, " <code>");
        text(h, f->where.function);
        add(h, "</code>");
    }
    add(h, "</summary>");
    if (html_function(h, f)) {
        add(h, "</details>\n");
        return;
    }
    h->out->len = before;
    h->out->data[before] = 0;
}

static void other_parts(Html *h, const Finding *f)
{
    if (f->nfixes) {
        begin_part(h, "Suggested change");
        html_diff(h, f);
        add(h, "</div>\n");
    }
    if (f->picture) {
        begin_part(h, "Picture");
        html_picture(h, f->picture);
        add(h, "</div>\n");
    }
    if (f->nattachments) {
        begin_part(h, "Comes with it");
        for (size_t i = 0; i < f->nattachments; i++)
            html_attachment(h, &f->attachments[i]);
        add(h, "</div>\n");
    }
    if (f->rerun && h->many) {
        add(h, "<p class=\"cmd\">See it again: <code>");
        text(h, f->rerun);
        add(h, "</code></p>\n");
    } else if (f->rerun) {
        begin_part(h, "See it again");
        add(h, "<div class=\"cmd box\"><code>");
        text(h, f->rerun);
        add(h, "</code><button type=\"button\" class=\"copy quiet needs-js\">Copy"
               "</button></div></div>\n");
    }
}

/* An id in the page for a rule: by number, not by name. */
static size_t rule_number(const Map *rules, const char *id) { return (size_t)map_get(rules, id); }

static void finding(Html *h, const StoredFinding *s, const Map *rules)
{
    const Finding *f = &s->finding;
    add(h, "<details class=\"f\" id=\"f-");
    text(h, s->fingerprint);
    add(h, "\"");
    attribute(h, "data-technique", s->technique);
    attribute(h, "data-level", level_name(f->level));
    attribute(h, "data-verdict", verdict_name(f->verdict));
    attribute(h, "data-status", status_of(s));
    add(h, ">\n");
    title(h, s);
    add(h, "<div class=\"body\">\n");
    if (s->suppressed) {
        add(h, "<p class=\"why\">Suppressed at <span class=\"place\">");
        text(h, s->suppressed_at ? s->suppressed_at : "-");
        add(h, "</span>: ");
        text(h, s->suppressed);
        add(h, "</p>\n");
    }
    source_part(h, f);
    function_part(h, f);
    other_parts(h, f);
    str_addf(h->out, "<p class=\"why\"><a href=\"#rule-%zu\">About this rule</a>",
             rule_number(rules, f->rule));
    if (!h->many) {
        add(h, " · <a class=\"permalink\" href=\"#f-");
        text(h, s->fingerprint);
        add(h, "\">Link</a> · fingerprint <code>");
        text(h, s->fingerprint);
        add(h, "</code>");
    }
    add(h, "</p>\n</div>\n</details>\n");
}

static void findings(Html *h, const Map *rules)
{
    const StoredFinding **order = output_by_urgency(h->set);
    add(h, "<section id=\"findings\" aria-label=\"Findings\">\n"
           "<div class=\"head\"><h2>Findings</h2><p id=\"count\" role=\"status\">");
    str_addf(h->out, "%zu", h->set->len);
    add(h, "</p><label class=\"needs-js\">Sort by <select id=\"sort\">"
           "<option value=\"level\">severity</option><option value=\"place\">place</option>"
           "<option value=\"rule\">rule</option></select></label>"
           "<label class=\"needs-js\">Group by <select id=\"group\">"
           "<option value=\"\">nothing</option><option value=\"file\">file</option>"
           "<option value=\"rule\">rule</option><option value=\"technique\">technique</option>"
           "<option value=\"level\">severity</option></select></label>"
           "<label class=\"needs-js\">Open places in <select id=\"editor\">"
           "<option value=\"\">no editor</option><option value=\"vscode\">VS Code</option>"
           "<option value=\"idea\">JetBrains</option><option value=\"subl\">Sublime Text</option>"
           "<option value=\"emacs\">Emacs</option></select></label>"
           "<button type=\"button\" id=\"all\" class=\"quiet needs-js\">"
           "Open or close all</button></div>\n<div id=\"list\"");
    attribute(h, "data-root", h->set->root ? h->set->root : "");
    add(h, ">\n");
    for (size_t i = 0; i < h->set->len; i++)
        finding(h, order[i], rules);
    add(h, "</div>\n<p class=\"empty\" id=\"nothing\"");
    add(h, h->set->len ? " hidden>Nothing fits these filters.</p>\n" : ">No findings.</p>\n");
    add(h, "</section>\n");
    free(order);
}

/* ---- below: rules, suppressions, runs */

static void rule_pages(Html *h, const Map *rules)
{
    if (!rules->len)
        return;
    add(h, "<section class=\"more\"><h2>Rules</h2>\n");
    for (size_t i = 0; i < rules->len; i++) {
        const char *id = rules->entries[i].key;
        const Rule *rule = output_rule(h->o, id);
        char *path = output_rule_page(h->o, id);
        Str page = { 0 };
        str_addf(h->out,
                 "<details class=\"rulepage\" id=\"rule-%zu\"><summary>"
                 "<strong class=\"rule\">",
                 i + 1);
        text(h, id);
        add(h, "</strong> <span>");
        text(h, rule ? rule->summary : "");
        add(h, "</span></summary><div class=\"text\">");
        if (path && file_read(path, &page, NULL))
            html_markdown(h->out, str_c(&page));
        else
            add(h, "<p>There is no page about this rule yet.</p>");
        add(h, "</div></details>\n");
        str_release(&page);
        free(path);
    }
    add(h, "</section>\n");
}

static void odd_suppressions(Html *h)
{
    if (!h->set->nunused_suppressions)
        return;
    add(h, "<section class=\"more\"><h2>Suppressions to look at</h2><ul class=\"list\">\n");
    for (size_t i = 0; i < h->set->nunused_suppressions; i++) {
        add(h, "<li>");
        text(h, h->set->unused_suppressions[i]);
        add(h, "</li>\n");
    }
    add(h, "</ul></section>\n");
}

static void runs(Html *h)
{
    add(h,
        "<section class=\"more\"><h2>Runs</h2>\n<div class=\"tablebox\"><table>\n"
        "<thead><tr><th scope=\"col\">Technique</th><th scope=\"col\">Scope</th>"
        "<th scope=\"col\">When</th><th scope=\"col\" class=\"n\">Findings</th>"
        "<th scope=\"col\">Examined</th><th scope=\"col\">Seed</th><th scope=\"col\">Command</th></tr></thead>"
        "\n<tbody>\n");
    for (size_t i = 0; i < h->set->nruns; i++) {
        const StoredRun *r = &h->set->runs[i];
        add(h, "<tr><th scope=\"row\">");
        text(h, r->technique);
        add(h, "</th><td>");
        text(h, r->scope);
        add(h, "</td><td>");
        text(h, r->when);
        str_addf(h->out, "</td><td class=\"n\">%zu%s</td><td>", r->nfindings,
                 r->incomplete ? " (not complete)" : "");
        text(h, r->examined ? r->examined : "");
        str_addf(h->out, "</td><td>%llu</td><td><code>", (unsigned long long)r->seed);
        text(h, r->command);
        add(h, "</code></td></tr>\n");
    }
    add(h, "</tbody></table></div></section>\n");
}

/* How many findings there were after each run: the newest run of each technique and scope
 * counts. */
static void trend(Html *h)
{
    const FindingSet *set = h->set;
    Map last = { 0 };
    size_t total = 0, most = 1;
    size_t *totals = xcalloc(set->nhistory + 1, sizeof *totals);
    for (size_t i = 0; i < set->nhistory; i++) {
        const PastRun *r = &set->history[i];
        char *key = xprintf("%s\n%s", r->technique, r->scope);
        void **slot = map_slot(&last, key);
        const PastRun *before = *slot;
        for (int l = 0; l <= LEVEL_NOTE; l++)
            total += r->level[l] - (before ? before->level[l] : 0);
        *slot = (void *)r;
        totals[i] = total;
        most = total > most ? total : most;
        free(key);
    }
    if (set->nhistory > 1) {
        add(h, "<section class=\"more trend\"><h2>Trend</h2>\n<svg viewBox=\"0 0 600 80\" "
               "role=\"img\" aria-label=\"Findings after each run\"><polyline points=\"");
        for (size_t i = 0; i < set->nhistory; i++)
            str_addf(h->out, "%.1f,%.1f ", 600.0 * (double)i / (double)(set->nhistory - 1),
                     76 - 72.0 * (double)totals[i] / (double)most);
        str_addf(h->out, "\"/></svg>\n<p>%zu runs: %zu findings after the first (", set->nhistory,
                 totals[0]);
        text(h, set->history[0].when);
        str_addf(h->out, "), %zu after the last (", totals[set->nhistory - 1]);
        text(h, set->history[set->nhistory - 1].when);
        str_addf(h->out, "), %zu at most.</p></section>\n", most);
    }
    free(totals);
    map_release(&last);
}

static void closing(Html *h, const Str *js)
{
    add(h, "<footer>Written by Sundew ");
    text(h, h->o->version ? h->o->version : "");
    add(h, ".</footer>\n</main>\n"
           "<dialog id=\"help\" aria-labelledby=\"help-title\">"
           "<h2 id=\"help-title\">Keys</h2><dl>"
           "<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous finding "
           "(also the arrow keys on a finding)</dd>"
           "<dt><kbd>Enter</kbd></dt><dd>open or close it</dd>"
           "<dt><kbd>/</kbd></dt><dd>search; <kbd>Esc</kbd> ends it</dd>"
           "<dt><kbd>e</kbd></dt><dd>open or close all (at most 200)</dd>"
           "<dt><kbd>?</kbd></dt><dd>this help</dd></dl>"
           "<button type=\"button\" id=\"help-close\" class=\"quiet\">Close</button>"
           "</dialog>\n<script>");
    str_addn(h->out, str_c(js), js->len);
    add(h, "</script>\n</body>\n</html>\n");
}

/* ---- the page */

static void number_rules(const FindingSet *set, Map *rules)
{
    for (size_t i = 0; i < set->len; i++) {
        void **slot = map_slot(rules, set->items[i].finding.rule);
        if (!*slot)
            *slot = (void *)rules->len;
    }
}

void output_html(const FindingSet *set, const OutputOptions *o, Str *out)
{
    Html h = { .set = set,
               .o = o,
               .sources = sources_new(set->root),
               .out = out,
               .many = set->len > MANY,
               .context = set->len > MANY ? 0 : 4 };
    Str css = { 0 }, js = { 0 };
    Map rules = { 0 };
    Rows rows = count_rows(set);
    read_asset(o, "page.css", &css);
    read_asset(o, "page.js", &js);
    number_rules(set, &rules);

    head(&h, &css, &js);
    top_bar(&h);
    banner(&h);
    overview(&h, &rows);
    html_overview(&h);
    add(&h, "<div class=\"work\">\n");
    filters(&h, &rows);
    findings(&h, &rules);
    add(&h, "</div>\n");
    rule_pages(&h, &rules);
    odd_suppressions(&h);
    trend(&h);
    runs(&h);
    closing(&h, &js);

    for (size_t i = 0; i < h.pictures.len; i++)
        free(h.pictures.entries[i].value);
    map_release(&h.pictures);
    map_release(&rules);
    vec_release(&rows);
    str_release(&css);
    str_release(&js);
    sources_free(h.sources);
}
