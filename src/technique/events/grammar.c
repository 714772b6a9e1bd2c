/*
 * What an event is: guessed from the calls that the program waits with, or read from a
 * file. A line of the file is a statement; # begins a comment.
 *
 *     connect               a client connects to the server
 *     data 4                four bytes arrive on a connection
 *     end                   a client goes
 *     timer                 time passes: as much as the program wants to wait
 *     connections 2         at most two clients at a time
 *     open 1                one client is there from the start
 *     keys "qwe\n"          keys of a terminal: only these
 *     key 259               and this one, by its code in curses
 *     line 16               a line of text of up to 16 bytes is an event
 *     screen 100x40         size of the terminal
 *     resize 40x10          it gets this size, and the first one again
 */
#include "base/file.h"
#include "base/units.h"
#include "runtime/format/events.h"
#include "technique/events/events_int.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- guess */

static bool calls(const Program *p, const char *name)
{
    const Function *f = program_function(p, name);
    return f && !f->intrinsic;
}

static bool calls_one(const Program *p, const char *const *names)
{
    for (; *names; names++)
        if (calls(p, *names))
            return true;
    return false;
}

static void make_server(EventLayout *l, unsigned bytes)
{
    l->name = "";
    l->size = 2 + bytes;
}

static void default_server(EventLayout *l)
{
    static const unsigned all[] = { SUNDEW_EVENT_CONNECT, SUNDEW_EVENT_DATA, SUNDEW_EVENT_END,
                                    SUNDEW_EVENT_TIMER };
    memcpy(l->kinds, all, sizeof all);
    l->nkinds = 4;
    l->connections = 2;
    make_server(l, 4);
}

static bool is_curses(const Program *p) { return calls(p, "wgetch") || calls(p, "wget_wch"); }

static void make_keys(EventLayout *l, const Program *p)
{
    l->name = "";
    layout_add(l, "key", FIELD_KEY, is_curses(p) ? 2 : 1, NULL);
    l->mouse = is_curses(p) && calls(p, "getmouse");
    if (l->mouse)
        l->size += 3;
}

static void make_line(EventLayout *l, unsigned bytes)
{
    l->name = "";
    l->line = true;
    layout_add(l, "line", FIELD_BYTES, bytes, NULL);
}

bool layout_guess(const Program *p, EventLayout *l, Err *err)
{
    static const char *const windows[] = { "SDL_PollEvent", "SDL_WaitEvent", "SDL_WaitEventTimeout",
                                           NULL };
    static const char *const servers[] = { "accept", "accept4", NULL };
    static const char *const lines[] = { "fgets",      "getline",     "getdelim",
                                         "__getdelim", "__fgets_chk", NULL };
    static const char *const bytes[] = { "read", "__read_chk", "getchar", "fgetc", "getc", NULL };
    l->name = "";
    if (calls_one(p, windows)) {
        l->window = true;
        layout_add(l, "event", FIELD_BYTES, 5, NULL);
    } else if (calls(p, "sundew_event"))
        layout_add(l, "event", FIELD_SIGNED, 4, NULL);
    else if (is_curses(p))
        make_keys(l, p);
    else if (calls_one(p, servers))
        default_server(l);
    else if (calls_one(p, bytes))
        layout_add(l, "key", FIELD_KEY, 1, NULL);
    else if (calls_one(p, lines))
        make_line(l, 16);
    return l->size || err_set(err, "the program calls nothing that waits for an event: name the "
                                   "function that handles one with --loop, or mark the place "
                                   "with sundew_event()");
}

/* ---- a file */

typedef struct Grammar {
    EventLayout *l;
    unsigned data, line;
} Grammar;

static bool read_count(const char *text, unsigned least, unsigned most, unsigned *out)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    *out = (unsigned)n;
    return end != text && !*end && n >= least && n <= most;
}

static bool add_kind(EventLayout *l, unsigned kind)
{
    for (unsigned i = 0; i < l->nkinds; i++)
        if (l->kinds[i] == kind)
            return true;
    l->kinds[l->nkinds++] = kind;
    return true;
}

/* "abc\n" */
static bool add_keys(EventLayout *l, const char *text)
{
    size_t n = strlen(text);
    if (n < 3 || text[0] != '"' || text[n - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < n && l->keys.len < 512; i++) {
        char c = text[i];
        if (c == '\\' && i + 2 < n) {
            i++;
            c = text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i] == 'e' ? 27 : text[i];
        }
        vec_push(&l->keys, (uint16_t)(uint8_t)c);
    }
    return true;
}

/* "100x40" */
static bool read_size(const char *text, EventLayout *l, unsigned which)
{
    unsigned lines = 0, columns = 0;
    char rest;
    bool ok = sscanf(text, "%4ux%4u%c", &columns, &lines, &rest) == 2 && lines >= 1 &&
              lines <= 500 && columns >= 1 && columns <= 500;
    l->lines[which] = lines;
    l->columns[which] = columns;
    return ok;
}

/* One statement; NULL: it is fine, else what is wrong with it. */
static const char *read_statement(Grammar *g, const char *word, const char *rest)
{
    EventLayout *l = g->l;
    unsigned n = 0;
    if (!strcmp(word, "connect"))
        return add_kind(l, SUNDEW_EVENT_CONNECT) && !*rest ? NULL : "connect stands alone";
    if (!strcmp(word, "end"))
        return add_kind(l, SUNDEW_EVENT_END) && !*rest ? NULL : "end stands alone";
    if (!strcmp(word, "timer"))
        return add_kind(l, SUNDEW_EVENT_TIMER) && !*rest ? NULL : "timer stands alone";
    if (!strcmp(word, "data")) {
        add_kind(l, SUNDEW_EVENT_DATA);
        return read_count(rest, 1, 62, &g->data) ? NULL : "data needs a number of bytes, 1 to 62";
    }
    if (!strcmp(word, "connections"))
        return read_count(rest, 1, 8, &l->connections) ? NULL : "connections needs 1 to 8";
    if (!strcmp(word, "open"))
        return read_count(rest, 0, 8, &l->open) ? NULL : "open needs 0 to 8";
    if (!strcmp(word, "line"))
        return read_count(rest, 1, 63, &g->line) ? NULL : "line needs a number of bytes, 1 to 63";
    if (!strcmp(word, "screen"))
        return read_size(rest, l, 0) ? NULL : "screen needs a size: 100x40";
    if (!strcmp(word, "resize"))
        return read_size(rest, l, 1) ? NULL : "resize needs a size: 40x10";
    if (!strcmp(word, "keys"))
        return add_keys(l, rest) ? NULL : "keys needs a text in quotes";
    if (!strcmp(word, "key")) {
        if (!read_count(rest, 0, 511, &n))
            return "key needs a code, 0 to 511";
        vec_push(&l->keys, (uint16_t)n);
        return NULL;
    }
    return "no such word (connect, data, end, timer, connections, open, keys, key, line, screen, "
           "resize)";
}

static bool read_line(Grammar *g, const char *path, unsigned number, char *line, Err *err)
{
    bool quoted = false;
    for (char *c = line; *c; c++) {
        quoted ^= *c == '"';
        if (*c == '#' && !quoted)
            *c = 0;
    }
    size_t n = strlen(line);
    while (n && isspace((unsigned char)line[n - 1]))
        line[--n] = 0;
    while (isspace((unsigned char)*line))
        line++;
    if (!*line)
        return true;
    char *rest = line + strcspn(line, " \t");
    if (*rest)
        *rest++ = 0;
    while (*rest == ' ' || *rest == '\t')
        rest++;
    const char *wrong = read_statement(g, line, rest);
    return !wrong || err_set(err, "%s:%u: %s", path, number, wrong);
}

/* The statements fit together. */
static bool settle(Grammar *g, const Program *p, const char *path, Err *err)
{
    EventLayout *l = g->l;
    bool keys = l->keys.len > 0, screen = l->lines[0] || l->lines[1];
    if (keys && l->lines[1])
        vec_push(&l->keys, (uint16_t)SUNDEW_KEY_RESIZE);
    if (keys && l->nkinds == 1 && l->kinds[0] == SUNDEW_EVENT_TIMER) {
        vec_push(&l->keys, (uint16_t)SUNDEW_KEY_TIME);
        l->nkinds = 0;
    }
    if (l->nkinds && (keys || g->line || screen))
        return err_set(err, "%s: a program has a terminal or connections, not both", path);
    if (l->nkinds) {
        l->connections = l->connections ? l->connections : l->open > 2 ? l->open : 2;
        if (l->open > l->connections)
            return err_set(err, "%s: open %u is more than connections %u", path, l->open,
                           l->connections);
        make_server(l, g->data);
        return true;
    }
    if (g->line) {
        make_line(l, g->line);
        return true;
    }
    if (!keys && !screen)
        return err_set(err, "%s: it names no kind of event", path);
    make_keys(l, p);
    return true;
}

bool layout_read(const char *path, const Program *p, EventLayout *l, Err *err)
{
    Str text = { 0 };
    Grammar g = { .l = l };
    bool ok = file_read(path, &text, err);
    unsigned number = 0;
    for (char *at = ok ? text.data : NULL, *next; ok && at && *at; at = next) {
        next = at + strcspn(at, "\n");
        if (*next)
            *next++ = 0;
        ok = read_line(&g, path, ++number, at, err);
    }
    ok = ok && settle(&g, p, path, err);
    str_release(&text);
    return ok;
}
