/* Source text on the page: excerpts, suggested changes, attachments. */
#include "base/escape.h"
#include "base/units.h"
#include "finding/html_int.h"
#include <assert.h>
#include <ctype.h>

enum {
    MOST_LINE = 600,           /* bytes shown of one line */
    BEFORE_MARK = 200,
    MOST_LINES = 40,           /* of one excerpt */
    MOST_TEXT = 64 << 10,      /* of an attachment */
    MOST_HEX = 4 << 10,
};

/* clang-format off */
static const char *const token_classes[] = {
    [CTOKEN_PLAIN] = NULL,    [CTOKEN_COMMENT] = "c", [CTOKEN_STRING] = "s",
    [CTOKEN_KEYWORD] = "k",   [CTOKEN_NUMBER] = "m",  [CTOKEN_DIRECTIVE] = "d",
};
/* clang-format on */

/* A piece that lies wholly inside or outside of the mark. */
static void piece(Str *out, CTokenKind kind, const char *text, size_t n, bool marked)
{
    const char *class = token_classes[kind];
    if (n == 0)
        return;
    str_add(out, marked ? "<mark>" : "");
    if (class)
        str_addf(out, "<span class=\"%s\">", class);
    escape_html(out, text, n);
    str_add(out, class ? "</span>" : "");
    str_add(out, marked ? "</mark>" : "");
}

static size_t between(size_t n, size_t least, size_t most)
{
    return n < least ? least : n > most ? most : n;
}

/* Not in the middle of a character. */
static size_t whole(const char *text, size_t len, size_t at)
{
    while (at < len && ((unsigned char)text[at] & 0xc0) == 0x80)
        at++;
    return at;
}

void html_code(Str *out, const char *text, size_t len, CState *state, size_t from, size_t to)
{
    size_t begin = 0, end = len;
    if (len > MOST_LINE) {
        begin = from > BEFORE_MARK ? whole(text, len, from - BEFORE_MARK) : 0;
        end = whole(text, len, between(begin + MOST_LINE, 0, len));
    }
    CLine l = csyntax_line(text, len, *state);
    str_add(out, begin ? "…" : "");
    for (CToken t; csyntax_next(&l, &t);) {
        size_t a = between(t.from, begin, end), b = between(t.to, begin, end);
        size_t x = between(from, a, b), y = between(to, x, b);
        assert(a <= x && x <= y && y <= b && b <= len);
        piece(out, t.kind, text + a, x - a, false);
        piece(out, t.kind, text + x, y - x, true);
        piece(out, t.kind, text + y, b - y, false);
    }
    str_add(out, end < len ? "…" : "");
    *state = l.state;
}

static void code_line(Html *h, const Source *s, int line, const Location *at)
{
    size_t len, from = 0, to = 0;
    const char *text = source_line(s, line, &len);
    CState state = source_state(s, line);
    int last = at->end_line > at->line ? at->end_line : at->line;
    if (!output_marked(at, line, text, len, &from, &to))
        from = to = 0;
    bool hit = line >= at->line && line <= last;
    str_addf(h->out, "<span class=\"l%s\" data-n=\"%d\">", hit ? " hit" : "", line);
    if (!h->many)
        html_code(h->out, text, len, &state, from, to);
    else if (hit && to > from && to <= len && len < MOST_LINE) {
        escape_html(h->out, text, from);
        str_add(h->out, "<mark>");
        escape_html(h->out, text + from, to - from);
        str_add(h->out, "</mark>");
        escape_html(h->out, text + to, len - to);
    } else
        escape_html(h->out, text, len < MOST_LINE ? len : MOST_LINE);
    str_add(h->out, "</span>");
}

/* ---- a whole function, with the path in it */

enum { LONGEST_FUNCTION = 150 };

/* The lines of the block at top level that `at` is in, with the lines above it up to an
 * empty one or the end of another thing. False: there is none that can be shown. */
static bool block_of(const Source *s, int at, int *first, int *last)
{
    int depth = 0, begin = 0, lines = source_lines(s);
    for (int line = 1; line <= lines; line++) {
        size_t len;
        const char *text = source_line(s, line, &len);
        CLine l = csyntax_line(text, len, source_state(s, line));
        for (CToken t; csyntax_next(&l, &t);)
            for (size_t i = t.from; t.kind == CTOKEN_PLAIN && i < t.to; i++) {
                if (text[i] == '{' && depth++ == 0)
                    begin = line;
                if (text[i] == '}' && depth && --depth == 0 && begin <= at && line >= at) {
                    *first = begin;
                    *last = line;
                    return true;
                }
            }
        if (depth == 0 && line > at)
            return false;
    }
    return false;
}

/* The number of the step on this line, its place in the order of the path; 0: none. */
static size_t step_on(const Finding *f, const char *file, int line)
{
    for (size_t i = 0; i < f->nsteps; i++)
        if (f->steps[i].at.file && strcmp(f->steps[i].at.file, file) == 0 &&
            f->steps[i].at.line == line)
            return i + 1;
    return 0;
}

bool html_function(Html *h, const Finding *f)
{
    const Location *at = &f->where;
    const Source *s = sources_get(h->sources, at->file);
    int first, last;
    if (h->many || !at->file || at->line < 1 || at->line > source_lines(s) ||
        !block_of(s, at->line, &first, &last) || last - first > LONGEST_FUNCTION ||
        last - first < 2 * h->context)
        return false;
    for (size_t len; first > 1 && at->line - first < LONGEST_FUNCTION; first--) {
        const char *text = source_line(s, first - 1, &len);
        if (!len || strchr("};#*/", text[len - 1]) || text[0] == '#')
            break;
    }
    str_add(h->out, "<pre class=\"src path\">");
    for (int line = first; line <= last; line++) {
        size_t step = step_on(f, at->file, line);
        if (step)
            str_addf(h->out, "<b class=\"on-path\" title=\"step %zu\">%zu</b>", step, step);
        code_line(h, s, line, at);
    }
    str_add(h->out, "</pre>");
    return true;
}

bool html_excerpt(Html *h, const Location *at, int context)
{
    const Source *s = sources_get(h->sources, at->file);
    int lines = source_lines(s);
    if (at->line < 1 || at->line > lines)
        return false;
    int first = at->line > context ? at->line - context : 1;
    int last = at->end_line > at->line ? at->end_line : at->line;
    last = last < lines - context ? last + context : lines;
    last = last < first + MOST_LINES ? last : first + MOST_LINES;
    str_add(h->out, "<pre class=\"src\">");
    for (int line = first; line <= last; line++)
        code_line(h, s, line, at);
    str_add(h->out, "</pre>");
    return true;
}

/* ---- suggested changes, as old and new lines */

static int by_place(const void *a, const void *b)
{
    const Location *x = &(*(const FixIt *const *)a)->at;
    const Location *y = &(*(const FixIt *const *)b)->at;
    int c = strcmp(x->file, y->file);
    if (c == 0)
        c = (x->line > y->line) - (x->line < y->line);
    return c ? c : (x->column > y->column) - (x->column < y->column);
}

static int last_line(const FixIt *f)
{
    return f->at.end_line > f->at.line ? f->at.end_line : f->at.line;
}

/* Where line:column of the file is in a text that begins with line `first`. */
static size_t offset_of(const Source *s, int first, int line, int column)
{
    size_t at = 0, len;
    for (int i = first; i < line; i++) {
        source_line(s, i, &len);
        at += len + 1;
    }
    source_line(s, line, &len);
    size_t in = column > 0 ? (size_t)column - 1 : 0;
    return at + (in < len ? in : len);
}

static void diff_lines(Html *h, const char *class, const char *sign, const char *text)
{
    CState state = CSYNTAX_CODE;
    for (const char *p = text;;) {
        size_t n = strcspn(p, "\n");
        str_addf(h->out, "<span class=\"l %s\" data-n=\"%s\">", class, sign);
        html_code(h->out, p, n, &state, 0, 0);
        str_add(h->out, "</span>");
        if (!p[n])
            return;
        p += n + 1;
    }
}

/* Fixes [i, k) of one file touch lines first…last. */
static void diff_block(Html *h, const FixIt *const *fixes, size_t n, const Source *s, int first,
                       int last)
{
    Str old = { 0 }, new = { 0 };
    for (int line = first; line <= last; line++) {
        size_t len;
        const char *text = source_line(s, line, &len);
        str_add(&old, line > first ? "\n" : "");
        str_addn(&old, text, len);
    }
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        const Location *at = &fixes[i]->at;
        size_t from = offset_of(s, first, at->line, at->column);
        size_t to =
            at->end_column ? offset_of(s, first, last_line(fixes[i]), at->end_column) : from;
        from = from > done ? from : done;
        to = to > from ? to : from;
        assert(done <= from && from <= to && to <= old.len);
        str_addn(&new, str_c(&old) + done, from - done);
        str_add(&new, fixes[i]->text);
        done = to;
    }
    str_add(&new, str_c(&old) + done);
    diff_lines(h, "drop", "-", str_c(&old));
    diff_lines(h, "add", "+", str_c(&new));
    str_release(&old);
    str_release(&new);
}

/* Runs of fixes that touch the same lines are one block. */
static size_t block_end(const FixIt *const *fixes, size_t n, size_t i, int *last)
{
    size_t k = i + 1;
    *last = last_line(fixes[i]);
    while (k < n && strcmp(fixes[k]->at.file, fixes[i]->at.file) == 0 &&
           fixes[k]->at.line <= *last) {
        *last = last_line(fixes[k]) > *last ? last_line(fixes[k]) : *last;
        k++;
    }
    return k;
}

void html_diff(Html *h, const Finding *f)
{
    const FixIt **fixes = xcalloc(f->nfixes ? f->nfixes : 1, sizeof *fixes);
    size_t n = 0;
    for (size_t i = 0; i < f->nfixes; i++)
        if (f->fixes[i].at.file)
            fixes[n++] = &f->fixes[i];
    qsort(fixes, n, sizeof *fixes, by_place);
    for (size_t i = 0, k; i < n; i = k) {
        int last;
        k = block_end(fixes, n, i, &last);
        const Source *s = sources_get(h->sources, fixes[i]->at.file);
        if (fixes[i]->at.line < 1 || last > source_lines(s) ||
            last - fixes[i]->at.line > MOST_LINES)
            continue;
        str_add(h->out, "<div class=\"box\"><div class=\"where place\">");
        escape_html_z(h->out, fixes[i]->at.file);
        str_addf(h->out, ":%d</div><pre class=\"src\">", fixes[i]->at.line);
        diff_block(h, fixes + i, k - i, s, fixes[i]->at.line, last);
        str_add(h->out, "</pre></div>");
    }
    free(fixes);
}

/* ---- attachments */

static bool is_text(const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        unsigned cp;
        size_t len = utf8_decode(s + i, n - i, &cp);
        /* The cut may have gone through the last character. */
        if (!len && n - i < 4 && n == MOST_TEXT)
            return true;
        if (!len || (cp < 0x20 && !isspace((int)cp)) || cp == 0x7f)
            return false;
        i += len;
    }
    return true;
}

static void text_lines(Html *h, const char *text, size_t n)
{
    CState state = CSYNTAX_CODE;
    const char *end = text + n;
    for (int line = 1; text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t len = (size_t)((stop ? stop : end) - text);
        str_addf(h->out, "<span class=\"l\" data-n=\"%d\">", line);
        html_code(h->out, text, len, &state, 0, 0);
        str_add(h->out, "\n</span>");
        text += len + 1;
    }
}

static void hex_dump(Html *h, const unsigned char *p, size_t n)
{
    for (size_t at = 0; at < n; at += 16) {
        size_t have = n - at < 16 ? n - at : 16;
        char shown[17] = { 0 };
        str_addf(h->out, "%08zx ", at);
        for (size_t i = 0; i < 16; i++) {
            str_add(h->out, i == 8 ? " " : "");
            if (i < have)
                str_addf(h->out, " %02x", p[at + i]);
            else
                str_add(h->out, "   ");
        }
        for (size_t i = 0; i < have; i++)
            shown[i] = p[at + i] > 0x20 && p[at + i] < 0x7f ? (char)p[at + i] : '.';
        str_add(h->out, "  ");
        escape_html_z(h->out, shown);
        str_addc(h->out, '\n');
    }
}

/*
 * An interleaving that was drawn with letters, with a column for each thread (schedule_draw()):
 *
 *     T0    T1    T2
 *     .     v     .     T1 is stopped before lock sbuf.c:71; T2 runs
 *     .     .     *     T2 lock sbuf.c:117
 */
enum { LANE = 6 };

/* How many threads the first line names; 0: it is none of these. */
static size_t lanes_of(const char *line, size_t n)
{
    size_t lanes = 0;
    for (size_t at = 0; at < n; at += LANE, lanes++)
        if (n - at < LANE || line[at] != 'T' || !isdigit((unsigned char)line[at + 1]) ||
            line[at + LANE - 1] != ' ')
            return 0;
    return lanes;
}

static bool is_in_lanes(const char *line, size_t n, size_t lanes)
{
    for (size_t at = 0; at < lanes * LANE; at += LANE)
        if (n < lanes * LANE || !memchr("*v.", line[at], 3) || line[at + 1] != ' ')
            return false;
    return true;
}

static size_t line_length(const char *text, const char *end)
{
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    return (size_t)((stop ? stop : end) - text);
}

static bool is_drawn(const char *text, size_t n)
{
    const char *end = text + n;
    size_t first = line_length(text, end), lanes = lanes_of(text, first);
    for (const char *line = text + first + 1; lanes && line < end;) {
        size_t len = line_length(line, end);
        if (!is_in_lanes(line, len, lanes) && (len < 3 || memcmp(line, "…", 3) != 0))
            return false;
        line += len + 1;
    }
    return lanes;
}

static void draw_lane(Html *h, char mark)
{
    str_add(h->out, mark == '*'   ? "<td class=\"ran\">●</td>"
                    : mark == 'v' ? "<td class=\"turn\">▼</td>"
                                  : "<td></td>");
}

static void draw_lanes(Html *h, const char *text, size_t n)
{
    const char *end = text + n;
    size_t first = line_length(text, end), lanes = lanes_of(text, first);
    str_add(h->out, "<table class=\"lanes\"><thead><tr>");
    for (size_t i = 0; i < lanes; i++) {
        size_t len = strcspn(text + i * LANE, " ");
        str_addf(h->out, "<th>%.*s</th>", (int)len, text + i * LANE);
    }
    str_add(h->out, "<td></td></tr></thead><tbody>");
    for (const char *line = text + first + 1; line < end;) {
        size_t len = line_length(line, end);
        bool drawn = is_in_lanes(line, len, lanes);
        size_t told = drawn ? lanes * LANE : 0;
        bool stops = memmem(line, len, " is stopped before ", 19);
        str_add(h->out, stops ? "<tr class=\"stop\">" : "<tr>");
        for (size_t i = 0; i < lanes; i++)
            draw_lane(h, drawn ? line[i * LANE] : '.');
        str_add(h->out, "<td class=\"told\">");
        escape_html(h->out, line + told, len - told);
        str_add(h->out, "</td></tr>");
        line += len + 1;
    }
    str_add(h->out, "</tbody></table>");
}

static bool is_c(const Attachment *at)
{
    return str_ends(at->name, ".c") || str_ends(at->name, ".h");
}

void html_attachment(Html *h, const Attachment *at)
{
    char size[32];
    size_t shown = at->size < MOST_TEXT ? at->size : MOST_TEXT;
    str_add(h->out, "<details class=\"attachment box\"><summary>");
    escape_html_z(h->out, at->kind);
    str_add(h->out, " <code>");
    escape_html_z(h->out, at->name);
    str_addf(h->out, "</code> <span class=\"size\">%s</span></summary>",
             size_format(at->size, size));
    if (!is_text(at->text, shown)) {
        shown = shown < MOST_HEX ? shown : MOST_HEX;
        str_add(h->out, "<pre class=\"raw\">");
        hex_dump(h, (const unsigned char *)at->text, shown);
    } else if (shown == at->size && is_drawn(at->text, shown)) {
        draw_lanes(h, at->text, shown);
        str_add(h->out, "</details>");
        return;
    } else if (is_c(at)) {
        str_add(h->out, "<pre>");
        text_lines(h, at->text, shown);
    } else {
        str_add(h->out, "<pre class=\"raw\">");
        escape_html(h->out, at->text, shown);
    }
    if (shown < at->size)
        str_addf(h->out, "\n… (%zu of %zu bytes)", shown, at->size);
    str_add(h->out, "</pre></details>");
}
