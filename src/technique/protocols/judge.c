/*
 * Which failures are violations?
 *
 * Tier 1: a process died in or below a call of the API, and the call broke a protocol.
 * The stack is the proof: seen from the fault, the first frame that is neither a library's nor
 * the API's is the function that made the call. A callback that crashes is no violation.
 * Tier 2: a call returned a code of its misuse set and nobody looks at the result; or it never
 * came back; or a life was not ended.
 *
 * Spared: a function whose comment says what callers have to do. A code that the function
 * looks at, or returns, is handled: the result is used.
 */
#include "base/file.h"
#include "technique/protocols/protocols_int.h"
#include <assert.h>
#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- comments */

static bool speaks_of_duty(const char *text, size_t n)
{
    static const char *const words[] = { "must",      "may only",     "only after", "only when",
                                         "only if",   "undefined",    "abort",      "assert",
                                         "require",   "precondition", "caller",     "not be called",
                                         "has to be", "crash" };
    Str low = { 0 };
    bool found = false;
    for (size_t i = 0; i < n; i++)
        str_addc(&low,
                 text[i] == '\n' || text[i] == '*' ? ' ' : (char)tolower((unsigned char)text[i]));
    for (size_t i = 0; i < sizeof words / sizeof *words && !found; i++)
        found = strstr(str_c(&low), words[i]) != NULL;
    str_release(&low);
    return found;
}

/* The comment that ends before `at`, with nothing but blanks between. */
static bool comment_before(const char *text, size_t at)
{
    size_t end = at;
    while (end && isspace((unsigned char)text[end - 1]))
        end--;
    if (end > 3 && text[end - 1] == '/' && text[end - 2] == '*') {
        size_t begin = end - 2;
        while (begin > 1 && !(text[begin - 1] == '*' && text[begin - 2] == '/'))
            begin--;
        return speaks_of_duty(text + begin, end - begin);
    }
    bool found = false;
    for (;;) {                                   /* lines of // */
        size_t begin = end;
        while (begin && text[begin - 1] != '\n')
            begin--;
        const char *line = text + begin + strspn(text + begin, " \t");
        if (line[0] != '/' || line[1] != '/')
            return found;
        found |= speaks_of_duty(line, (size_t)(text + end - line));
        if (!begin)
            return found;
        end = begin - 1;
    }
}

/* Each declaration of the function in a file: the name before a parenthesis, where a line of
 * code begins. */
static bool documented_in(const char *path, const char *name)
{
    Str text = { 0 };
    bool found = false;
    size_t n = strlen(name);
    if (!file_is_regular(path) || !file_read(path, &text, NULL))
        return false;
    for (const char *at = str_c(&text); !found && (at = strstr(at, name)); at += n) {
        const char *line = at;
        bool word = at == text.data || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        const char *next = at + n + strspn(at + n, " \t\n");
        while (line > text.data && line[-1] != '\n')
            line--;
        if (word && *next == '(' && !isspace((unsigned char)*line))
            found = comment_before(text.data, (size_t)(line - text.data));
    }
    str_release(&text);
    return found;
}

/* Headers that the file includes, beside it or in include/. */
static bool documented_in_headers(const Client *st, const char *file, const char *name)
{
    Str text = { 0 };
    bool found = false;
    char *dir = path_dir(file), *include = path_join(session_root(st->session), "include");
    const char *dirs[] = { dir, session_root(st->session), include };
    if (file_read(file, &text, NULL))
        for (const char *at = str_c(&text); !found && (at = strstr(at, "#include \"")); at++) {
            const char *begin = at + strlen("#include \"");
            char *header = xstrndup(begin, strcspn(begin, "\"\n"));
            for (size_t i = 0; i < 3 && !found; i++) {
                char *path = path_join(dirs[i], header);
                found = documented_in(path, name);
                free(path);
            }
            free(header);
        }
    str_release(&text);
    free(dir);
    free(include);
    return found;
}

bool client_is_documented(const Client *st, const char *function)
{
    const Function *fn = program_function(st->program, function);
    return fn && *fn->file &&
           (documented_in(fn->file, fn->name) || documented_in_headers(st, fn->file, fn->name));
}

/* ------------------------------------------------------------------ stack */

/* The first frame, from the fault outwards, that is the program's own code. */
static const char *client_frame(const Client *st, const ProtoRun *r)
{
    for (size_t i = 0; i < r->frames.len; i++) {
        const char *name = r->frames.items[i].function;
        const Function *fn = name ? program_function(st->program, name) : NULL;
        if (fn && fn->defined && !client_is_inside(st, fn))
            return fn->symbol;
    }
    return NULL;
}

static bool is_to_blame(const Client *st, const CallsBuild *b, const ProtoRun *r, uint32_t call)
{
    const char *frame = client_frame(st, r);
    return frame && !strcmp(frame, b->sites[r->calls.items[call].site].function);
}

/* ----------------------------------------------------------------- verdict */

/* One violation for each place. */
static bool is_told(const Client *st, const ApiSite *at, BrokenKind kind)
{
    for (size_t i = 0; i < st->found.len; i++) {
        const Violation *v = &st->found.items[i];
        const ApiSite *s = &v->build->sites[v->site];
        if (s->line == at->line && s->column == at->column && !strcmp(s->file, at->file) &&
            (v->kind == kind || v->kind == BROKEN_CRASH))
            return true;
    }
    return false;
}

/* Does the API itself say that it was used wrongly? An assertion, a report of a sanitizer and
 * a code do; a plain fault may come from other arguments. */
static bool is_explicit(const Violation *v)
{
    return v->kind == BROKEN_CODE || (v->kind == BROKEN_CRASH && v->run->signal == SIGABRT);
}

static bool is_none(const ProtoRun *r, const Violation *v)
{
    return v->breach.object && r->objects.items[v->breach.object - 1].none;
}

/* NULL has no identity. A program that dies of it, and whose maker gave NULL, is a case; in a test,
 * which can call a function before the handle is there, only the function that got it from the maker. */
static bool is_made_here(const Client *st, const CallsBuild *b, const ProtoRun *r,
                         const Violation *v)
{
    if (b != &st->module)
        return true;
    const ProtoCall *maker = &r->calls.items[r->objects.items[v->breach.object - 1].maker - 1];
    return !strcmp(b->sites[maker->site].function, b->sites[v->site].function);
}

static bool judge_call(Client *st, const CallsBuild *b, const ProtoRun *r, uint32_t call,
                       BrokenKind kind)
{
    Violation v = { .kind = kind,
                    .build = b,
                    .tier = kind == BROKEN_CRASH ? 1 : 2,
                    .run = r,
                    .call = call,
                    .site = r->calls.items[call].site,
                    .code =
                        kind == BROKEN_CODE ? proto_misuse(st->api, &r->calls.items[call]) : NULL };
    ProtoVerdict verdict = protocols_check(st->protocols, r, call, &v.breach);
    if (verdict != PROTO_BROKEN && !(verdict == PROTO_NOVEL && is_explicit(&v)))
        return false;
    if (is_none(r, &v) && (kind != BROKEN_CRASH || !is_made_here(st, b, r, &v)))
        return false; /* close(-1) does no harm */
    if (client_is_documented(st, b->sites[v.site].function)) {
        st->silent++;
        return false;
    }
    if (!is_told(st, &b->sites[v.site], kind))
        vec_push(&st->found, v);
    return true;
}

static void judge_death(Client *st, const CallsBuild *b, const ProtoRun *r)
{
    long call = proto_run_fatal(r);
    if (call < 0 || !is_to_blame(st, b, r, (uint32_t)call) ||
        !judge_call(st, b, r, (uint32_t)call, BROKEN_CRASH))
        st->silent++;
}

static void judge_codes(Client *st, const CallsBuild *b, const ProtoRun *r)
{
    for (uint32_t i = 0; i < r->calls.len; i++) {
        const ProtoCall *c = &r->calls.items[i];
        if (proto_misuse(st->api, c) && b->sites[c->site].unused)
            judge_call(st, b, r, i, BROKEN_CODE);
    }
}

/* The last call of each thread of a process that had to be killed. */
static void judge_hang(Client *st, const CallsBuild *b, const ProtoRun *r)
{
    ProtoRun view = *r;
    for (uint32_t t = 0; t < 64; t++) {
        view.thread = t;
        long call = proto_run_fatal(&view);
        if (call >= 0)
            judge_call(st, b, r, (uint32_t)call, BROKEN_HANG);
    }
}

static bool has_misuse(const Client *st, const ProtoRun *r)
{
    for (size_t i = 0; i < r->calls.len; i++)
        if (proto_misuse(st->api, &r->calls.items[i]))
            return true;
    return false;
}

/* Numbers of functions, the same for the same name. */
static uint32_t number_of(Map *numbers, const char *name)
{
    void **slot = map_slot(numbers, name);
    if (!*slot)
        *slot = (void *)(uintptr_t)numbers->len;
    return (uint32_t)(uintptr_t)*slot;
}

/* "count_lines fopen": survives changes of lines. */
static char *life_key(const Client *st, const ApiSite *s)
{
    return xprintf("%s %s", s->function, st->callees.items[s->callee].name);
}

/* What earlier runs have shown. */
static void read_lives(const Client *st, ProtoLives *before)
{
    for (size_t i = 0; i < st->build.nsites; i++) {
        char *key = life_key(st, &st->build.sites[i]);
        json_t *o = json_object_get(st->lives, key);
        const ProtoFunction *f = proto_api_function(st->api, json_str(o, "ender"));
        before[i] = (ProtoLives){ .here = (uint64_t)json_int(o, "here", 0),
                                  .elsewhere = (uint64_t)json_int(o, "elsewhere", 0),
                                  .open = (uint64_t)json_int(o, "open", 0),
                                  .ender = f ? (int)proto_api_index(st->api, f) : -1 };
        free(key);
    }
}

/* What is reported is not learned from. */
static bool is_unfinished(const ProtoUnfinisheds *all, size_t site)
{
    for (size_t i = 0; i < all->len; i++)
        if (all->items[i].site == site)
            return true;
    return false;
}

static void keep_lives(Client *st, const ProtoLives *now, const ProtoUnfinisheds *all)
{
    for (size_t i = 0; i < st->build.nsites; i++) {
        if ((!now[i].here && !now[i].elsewhere && !now[i].open) || is_unfinished(all, i))
            continue;
        char *key = life_key(st, &st->build.sites[i]);
        const json_t *o = json_object_get(st->lives, key);
        const char *ender =
            now[i].ender >= 0 ? st->api->functions.items[now[i].ender]->name : json_str(o, "ender");
        json_t *sum =
            json_pack("{s:I, s:I, s:I, s:o}", "here",
                      json_int(o, "here", 0) + (json_int_t)now[i].here, "elsewhere",
                      json_int(o, "elsewhere", 0) + (json_int_t)now[i].elsewhere, "open",
                      json_int(o, "open", 0) + (json_int_t)now[i].open, "ender", json_text(ender));
        json_object_set_new(st->lives, key, sum);
        free(key);
    }
}

/* Lives of `runs` that nobody ended. What they show is learned from, unless files failed. */
static void judge_unfinished(Client *st, const ProtoRuns *runs, bool learns)
{
    Map numbers = { 0 };
    Vec(uint32_t) same = { 0 }, left = { 0 };
    ProtoUnfinisheds all = { 0 };
    size_t n = st->build.nsites;
    for (size_t i = 0; i < n; i++)
        vec_push(&same, number_of(&numbers, st->build.sites[i].function));
    for (size_t i = 0; i < st->build.nfunctions; i++)
        vec_push(&left, number_of(&numbers, st->build.functions[i]));
    ProtoPlaces at = { same.items, left.items, n };
    ProtoLives *now = xcalloc(n + 1, sizeof *now), *before = xcalloc(n + 1, sizeof *before);
    proto_lives(runs, &at, now);
    read_lives(st, before);
    proto_unfinished(runs, &at, before, now, &all);
    if (learns)
        keep_lives(st, now, &all);
    for (size_t i = 0; i < all.len; i++) {
        const ProtoRun *r = runs->items[all.items[i].run];
        Violation v = { .kind = BROKEN_UNFINISHED,
                        .tier = 2,
                        .build = &st->build,
                        .run = r,
                        .call = r->objects.items[all.items[i].object - 1].maker - 1,
                        .site = all.items[i].site,
                        .unfinished = all.items[i] };
        if (!is_told(st, &st->build.sites[v.site], BROKEN_UNFINISHED))
            vec_push(&st->found, v);
    }
    free(now);
    free(before);
    vec_release(&all);
    vec_release(&same);
    vec_release(&left);
    map_release(&numbers);
}

size_t client_judge_run(Client *st, const CallsBuild *b, const ProtoRun *r)
{
    size_t before = st->found.len;
    assert(st->protocols && (r->first || !r->calls.len));
    if (r->end == PROTO_DIED)
        judge_death(st, b, r);
    else if (r->end == PROTO_CUT_SHORT && st->hung)
        judge_hang(st, b, r);
    judge_codes(st, b, r);
    return st->found.len - before;
}

void client_judge(Client *st)
{
    for (size_t i = 0; i < st->runs.len; i++) {
        st->misused += has_misuse(st, st->runs.items[i]);
        client_judge_run(st, &st->build, st->runs.items[i]);
    }
    if (st->build.path)
        judge_unfinished(st, &st->runs, true);
}

void client_judge_broken(Client *st)
{
    for (size_t i = 0; i < st->broken.len; i++)
        client_judge_run(st, &st->build, st->broken.items[i]);
    judge_unfinished(st, &st->broken, false);
}
