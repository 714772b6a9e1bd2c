/*
 * Sequences on disk.
 *
 *     OUT/N/events.bin      the bytes of the events, one after the other
 *     OUT/N/events.txt      the same for people, an event a line
 *     OUT/N/command.json    the program, its arguments, the loop's function
 *     OUT/N/events.expect   of a terminal program: the keys at human speed, for expect
 *     OUT/traces.txt        all sequences that were run, and what became of each
 *     OUT/tests/N.txt       a sequence for each trace that covers something new
 */
#include "base/escape.h"
#include "base/file.h"
#include "runtime/format/events.h"
#include "technique/events/events_int.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 16 << 20, MOST_EVENTS = 64 << 20 };

void kept_events_text(const EventsResult *r, const uint8_t *bytes, unsigned n, Str *out)
{
    for (unsigned i = 0; i < n; i++) {
        Str one = { 0 };
        layout_print(r->layout, bytes + i * r->layout->size, &one);
        escape_terminal(out, str_c(&one), one.len);
        str_add(out, "\n");
        str_release(&one);
    }
}

static json_t *command_json(const Asked *a)
{
    return json_pack("{s:o,s:o,s:b}", "argv", json_strings(a->argv.items, a->argv.len), "loop",
                     json_text(a->plan.loop ? a->plan.loop->symbol : NULL), "no_sanitizers",
                     a->plan.no_sanitizers);
}

/* A key as a terminal sends it, for Tcl. */
static void add_key(uint16_t code, Str *out)
{
    static const char arrows[] = "BADC"; /* of codes 258 to 261: down, up, left, right */
    if (code >= 258 && code <= 261)
        str_addf(out, "\\x1b\\x4f\\x%02x", (unsigned)arrows[code - 258]);
    else
        str_addf(out, "\\x%02x", code == 263 ? 127u : code & 0xffu);
}

static void add_tcl_word(const char *word, Str *out)
{
    str_add(out, " \"");
    for (const char *c = word; *c; c++)
        str_addf(out, "\\x%02x", (unsigned)(unsigned char)*c);
    str_add(out, "\"");
}

/* Keys for expect, at human speed. Only of terminals. */
static bool write_expect(const Asked *a, const EventsResult *r, const EventsFailure *f,
                         const char *folder, Err *err)
{
    const EventLayout *l = r->layout;
    if (l->nkinds || l->mouse || l->fields.len != 1 || l->fields.items[0].kind != FIELD_KEY)
        return true;
    Str text = { 0 };
    bool wide = false;
    char *path = path_join(folder, "events.expect");
    str_add(&text, "#!/usr/bin/expect -f\nspawn");
    for (size_t i = 0; i < a->argv.len; i++)
        add_tcl_word(a->argv.items[i], &text);
    str_add(&text, "\n");
    for (unsigned i = 0; i < f->nevents; i++) {
        uint16_t key = layout_key(l, f->bytes + i * l->size);
        str_add(&text, "sleep 0.5\n");
        if (key == SUNDEW_KEY_RESIZE && l->lines[1]) {
            wide = !wide;
            str_addf(&text, "stty rows %u columns %u < $spawn_out(slave,name)\n",
                     l->lines[0] || wide ? l->lines[wide] : 24,
                     l->lines[0] || wide ? l->columns[wide] : 80);
        } else if (key != SUNDEW_KEY_TIME) {
            str_add(&text, "send \"");
            add_key(key, &text);
            str_add(&text, "\"\n");
        }
    }
    str_add(&text, "expect eof\n");
    bool ok = file_write(path, str_c(&text), text.len, err);
    str_release(&text);
    free(path);
    return ok;
}

/* The grammar goes with the sequence. */
static bool copy_grammar(const Asked *a, const char *folder, Err *err)
{
    const char *from = session_option(a->s, "events");
    Str text = { 0 };
    if (!from)
        return true;
    char *to = path_join(folder, "events.grammar");
    bool ok = file_read(from, &text, err) && file_write(to, str_c(&text), text.len, err);
    str_release(&text);
    free(to);
    return ok;
}

bool kept_write(const Asked *a, const EventsResult *r, const EventsFailure *f, size_t number,
                Err *err)
{
    Str text = { 0 };
    char *folder = xprintf("%s/%zu", a->out, number);
    char *bin = path_join(folder, "events.bin"), *txt = path_join(folder, "events.txt"),
         *command = path_join(folder, "command.json");
    kept_events_text(r, f->bytes, f->nevents, &text);
    json_t *words = command_json(a);
    bool ok = dir_make(folder, err) &&
              file_write(bin, f->bytes, f->nevents * r->layout->size, err) &&
              file_write(txt, str_c(&text), text.len, err) && json_write(command, words, err) &&
              copy_grammar(a, folder, err) && write_expect(a, r, f, folder, err);
    json_decref(words);
    str_release(&text);
    free(folder);
    free(bin);
    free(txt);
    free(command);
    return ok;
}

bool kept_tests(const Asked *a, const EventsResult *r, Err *err)
{
    char *folder = path_join(a->out, "tests");
    size_t number = 0;
    bool ok = dir_make(folder, err);
    for (uint32_t i = 1; ok && i < r->ntraces; i++) {
        unsigned n;
        Str text = { 0 };
        if (!r->traces[i].news)
            continue;
        uint8_t *bytes = events_of_trace(r, i, &n);
        char *path = xprintf("%s/%zu.txt", folder, ++number);
        char *bin = xprintf("%s/%zu.bin", folder, number);
        kept_events_text(r, bytes, n, &text);
        ok = file_write(path, str_c(&text), text.len, err) &&
             file_write(bin, bytes, n * r->layout->size, err);
        free(bytes);
        free(path);
        free(bin);
        str_release(&text);
    }
    free(folder);
    return ok;
}

/* OUT/traces.txt: all traces that were run, in order, and what became of each. */
bool kept_traces(const Asked *a, const EventsResult *r, Err *err)
{
    Str text = { 0 };
    char *path = path_join(a->out, "traces.txt");
    for (uint32_t i = 1; i < r->ntraces && text.len < MOST_TEXT; i++) {
        unsigned n;
        uint8_t *bytes = events_of_trace(r, i, &n);
        str_addf(&text, "# %" PRIu32 ": %s\n", i, trace_end_name(r->traces[i].end));
        kept_events_text(r, bytes, n, &text);
        free(bytes);
    }
    bool ok = file_write(path, str_c(&text), text.len, err);
    free(path);
    str_release(&text);
    return ok;
}

/* ---- replay */

static bool read_command(const char *folder, Asked *a, char **loop, Err *err)
{
    char *path = path_join(folder, "command.json");
    json_t *all = json_read(path, err);
    const json_t *argv = json_object_get(all, "argv");
    const char *name = json_string_value(json_object_get(all, "loop"));
    for (size_t i = 0; i < json_array_size(argv); i++) {
        const char *word = json_string_value(json_array_get(argv, i));
        strings_add(&a->argv, word ? word : "");
    }
    *loop = name ? xstrdup(name) : NULL;
    bool ok = all && (a->argv.len || err_set(err, "%s: names no program", path));
    json_decref(all);
    free(path);
    return ok;
}

static bool replay(Asked *a, const Str *events, Err *err)
{
    Failure f = { 0 };
    Str *out = session_out(a->s);
    EventLayout own = { 0 };
    Str ignored = { 0 };
    if (a->plan.loop && !loop_write(a->plan.loop, &own, &ignored, err))
        return false;
    const EventLayout *l = a->plan.loop ? &own : &a->plan.layout;
    EventsResult shown = { .layout = l };
    unsigned n = (unsigned)(events->len / l->size);
    bool ok = n > 0 || err_set(err, "there is no event in it");
    ok = ok && events_replay(&a->plan, (const uint8_t *)events->data, n, &f, err);
    if (ok) {
        kept_events_text(&shown, (const uint8_t *)events->data, n, out);
        str_addf(out, "%s\n", failure_is(&f) ? failure_kind_name(f.kind) : "no failure");
        session_status(a->s, failure_is(&f) ? 1 : 0);
    }
    failure_release(&f);
    layout_release(&own);
    str_release(&ignored);
    return ok;
}

bool kept_replay(Session *s, const char *folder, Err *err)
{
    Asked a = { .s = s };
    Str events = { 0 };
    char *loop = NULL, *bin = path_join(folder, "events.bin");
    char *grammar = path_join(folder, "events.grammar");
    bool has_grammar = file_exists(grammar);
    bool ok = read_command(folder, &a, &loop, err) &&
              file_read_left(bin, MOST_EVENTS, &events, err) &&
              asked_open(&a, a.argv.items[0], loop, has_grammar ? grammar : NULL, err) &&
              replay(&a, &events, err);
    layout_release(&a.plan.layout);
    vec_release(&a.summarised);
    strings_release(&a.argv);
    str_release(&events);
    free(loop);
    free(bin);
    free(grammar);
    return ok;
}
