/*
 * Findings for people:
 *
 *     src/buf.c:17:5: arguments: 2 and 3 look swapped [arguments/swapped] likely
 *        17 |     set_range(b, length, start);
 *           |     ^~~~~~~~~
 *       1. src/main.c:40:9: called from here
 *       rerun: sundew arguments src/buf.c
 */
#include "base/escape.h"
#include "base/units.h"
#include "finding/output_int.h"
#include <ctype.h>

typedef struct Terminal {
    const FindingSet *set;
    const OutputOptions *o;
    Sources *sources;
    Str *out;
} Terminal;

#define BOLD  "1"
#define FAINT "2"
#define GREEN "1;32"

static const char *const level_colors[] = { "1;31", "1;35", "1;36" };

static void color(Terminal *t, const char *code)
{
    if (t->o->color)
        str_addf(t->out, "\033[%sm", code);
}

static void plain(Terminal *t)
{
    if (t->o->color)
        str_add(t->out, "\033[0m");
}

static void place(Terminal *t, const Location *at)
{
    Str s = { 0 };
    output_place(at, &s);
    escape_terminal(t->out, str_c(&s), s.len);
    str_release(&s);
}

/* Columns that a character takes. */
static int width_of(unsigned cp)
{
    static const struct {
        unsigned from, to;
    } wide[] = {
        { 0x1100, 0x115f }, { 0x2e80, 0xa4cf },   { 0xac00, 0xd7a3 },
        { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },
        { 0xffe0, 0xffe6 }, { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd },
    };
    if (cp >= 0x300 && cp <= 0x36f)
        return 0;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (cp >= wide[i].from && cp <= wide[i].to)
            return 2;
    return 1;
}

/* For `n` bytes of the line, as many columns of `fill` as these take when
 * printed. Below blanks a tab stays a tab, so that columns agree whatever the
 * tab width. */
static void pad(Str *out, const char *text, size_t n, char fill)
{
    Str shown = { 0 };
    escape_terminal(&shown, text, n);
    for (size_t i = 0; i < shown.len;) {
        unsigned cp = 0;
        i += utf8_decode(shown.data + i, shown.len - i, &cp);
        if (cp == '\t' && fill == ' ')
            str_addc(out, '\t');
        else
            for (int k = width_of(cp); k > 0; k--)
                str_addc(out, fill);
    }
    str_release(&shown);
}

/* A line too long for a screen is shown around the mark. */
enum { MOST_SHOWN = 160, BEFORE_MARK = 60 };

static size_t cut_begin(const char *text, size_t len, size_t from)
{
    if (len <= MOST_SHOWN || from <= BEFORE_MARK)
        return 0;
    size_t begin = from - BEFORE_MARK;
    while (begin < from && ((unsigned char)text[begin] & 0xc0) == 0x80)
        begin++;
    return begin;
}

static void underline(Terminal *t, const char *text, size_t begin, size_t from, size_t to,
                      Level level)
{
    color(t, FAINT);
    str_add(t->out, "      | ");
    plain(t);
    if (begin)
        str_add(t->out, "   ");
    pad(t->out, text + begin, from - begin, ' ');
    color(t, level_colors[level]);
    size_t mark = t->out->len;
    pad(t->out, text + from, to - from, '~');
    if (t->out->len > mark)
        t->out->data[mark] = '^';
    else
        str_addc(t->out, '^');
    plain(t);
    str_addc(t->out, '\n');
}

static void excerpt(Terminal *t, const Finding *f)
{
    size_t len, from = 0, to = 0;
    const char *text = source_line(sources_get(t->sources, f->where.file), f->where.line, &len);
    if (!text)
        return;
    bool marked = output_marked(&f->where, f->where.line, text, len, &from, &to);
    size_t begin = cut_begin(text, len, from);
    size_t end = len - begin > MOST_SHOWN ? begin + MOST_SHOWN : len;
    color(t, FAINT);
    str_addf(t->out, "%5d | ", f->where.line);
    plain(t);
    str_add(t->out, begin ? "..." : "");
    escape_terminal(t->out, text + begin, end - begin);
    str_add(t->out, end < len ? "...\n" : "\n");
    if (marked)
        underline(t, text, begin, from, to < end ? to : end, f->level);
}

static void step(Terminal *t, const char *label, const EvidenceStep *s)
{
    str_addf(t->out, "  %s ", label);
    if (s->at.file) {
        place(t, &s->at);
        str_add(t->out, ": ");
    }
    if (s->at.function) {
        str_add(t->out, "in ");
        escape_terminal_z(t->out, s->at.function);
        str_add(t->out, ": ");
    }
    escape_terminal_z(t->out, s->text);
    str_addc(t->out, '\n');
}

static void details(Terminal *t, const Finding *f)
{
    char label[40];
    for (size_t i = 0; i < f->nsteps; i++) {
        snprintf(label, sizeof label, "%zu.", i + 1);
        step(t, label, &f->steps[i]);
    }
    for (size_t i = 0; i < f->nrelated; i++)
        step(t, "see", &f->related[i]);
    for (size_t i = 0; i < f->nfixes; i++)
        step(t, "write instead:", &(EvidenceStep){ f->fixes[i].at, f->fixes[i].text });
    for (size_t i = 0; i < f->nattachments; i++) {
        str_add(t->out, "  with ");
        escape_terminal_z(t->out, f->attachments[i].kind);
        str_addc(t->out, ' ');
        escape_terminal_z(t->out, f->attachments[i].name);
        str_addf(t->out, " (%s)\n", size_format(f->attachments[i].size, label));
    }
    if (f->rerun) {
        str_add(t->out, "  rerun: ");
        escape_terminal_z(t->out, f->rerun);
        str_addc(t->out, '\n');
    }
}

static void status(Terminal *t, const StoredFinding *s)
{
    if (s->suppressed) {
        str_add(t->out, "  suppressed at ");
        escape_terminal_z(t->out, s->suppressed_at);
        str_add(t->out, ": ");
        escape_terminal_z(t->out, s->suppressed);
        str_addc(t->out, '\n');
    } else if (s->in_baseline)
        str_add(t->out, "  in the baseline\n");
}

static void finding(Terminal *t, const StoredFinding *s)
{
    const Finding *f = &s->finding;
    color(t, BOLD);
    place(t, &f->where);
    str_add(t->out, ": ");
    plain(t);
    color(t, level_colors[f->level]);
    escape_terminal_z(t->out, s->technique);
    str_add(t->out, ": ");
    plain(t);
    color(t, BOLD);
    escape_terminal_z(t->out, f->message);
    plain(t);
    color(t, FAINT);
    str_add(t->out, " [");
    escape_terminal_z(t->out, f->rule);
    str_addf(t->out, "] %s", verdict_name(f->verdict));
    plain(t);
    str_addc(t->out, '\n');
    excerpt(t, f);
    details(t, f);
    status(t, s);
}

static void examined(Terminal *t, const StoredRun *r, const char *before)
{
    str_add(t->out, before);
    escape_terminal_z(t->out, r->examined);
}

static void closing(Terminal *t)
{
    for (size_t i = 0; i < t->set->nunused_suppressions; i++) {
        escape_terminal_z(t->out, t->set->unused_suppressions[i]);
        str_addc(t->out, '\n');
    }
    Strings reasons = { 0 };
    output_reasons(t->set, t->o, &reasons);
    for (size_t i = 0; i < reasons.len; i++) {
        str_add(t->out, "incomplete: ");
        escape_terminal_z(t->out, reasons.items[i]);
        str_addc(t->out, '\n');
    }
    for (size_t i = 0; t->set->nruns > 1 && i < t->set->nruns; i++)
        if (t->set->runs[i].examined) {
            Str name = { 0 };
            output_run_name(&t->set->runs[i], &name);
            escape_terminal(t->out, str_c(&name), name.len);
            str_release(&name);
            examined(t, &t->set->runs[i], ": examined ");
            str_addc(t->out, '\n');
        }
    color(t, output_counts(t->set).counting ? BOLD : GREEN);
    output_summary(t->set, t->out);
    str_add(t->out, reasons.len ? "; incomplete" : "");
    plain(t);
    if (t->set->nruns == 1 && t->set->runs[0].examined)
        examined(t, &t->set->runs[0], "; examined ");
    str_addc(t->out, '\n');
    strings_release(&reasons);
}

void output_terminal(const FindingSet *set, const OutputOptions *o, Str *out)
{
    Terminal t = { set, o, sources_new(set->root), out };
    for (size_t i = 0; i < set->len; i++)
        if (output_shows(o, &set->items[i]))
            finding(&t, &set->items[i]);
    closing(&t);
    sources_free(t.sources);
}
