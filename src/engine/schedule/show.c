/* Schedules and runs as text. */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "engine/schedule/schedule_int.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

const char *schedule_kind_name(unsigned kind)
{
    static const char *const names[] = {
        [SUNDEW_AT_BEGIN] = "begin",
        [SUNDEW_AT_READ] = "read",
        [SUNDEW_AT_WRITE] = "write",
        [SUNDEW_AT_ATOMIC] = "atomic access",
        [SUNDEW_AT_LOCK] = "lock",
        [SUNDEW_AT_UNLOCK] = "unlock",
        [SUNDEW_AT_READ_LOCK] = "read lock",
        [SUNDEW_AT_WAIT] = "wait",
        [SUNDEW_AT_SIGNAL] = "signal",
        [SUNDEW_AT_BROADCAST] = "broadcast",
        [SUNDEW_AT_BARRIER] = "barrier",
        [SUNDEW_AT_SEM_WAIT] = "semaphore wait",
        [SUNDEW_AT_SEM_POST] = "semaphore post",
        [SUNDEW_AT_ONCE] = "once",
        [SUNDEW_AT_CREATE] = "create",
        [SUNDEW_AT_JOIN] = "join",
        [SUNDEW_AT_EXIT] = "end",
        [SUNDEW_AT_YIELD] = "yield",
        [SUNDEW_AT_SLEEP] = "sleep",
        [SUNDEW_AT_FREE] = "free",
    };
    static_assert(sizeof names / sizeof *names == SUNDEW_AT_KINDS, "one for each");
    return kind < SUNDEW_AT_KINDS ? names[kind] : "?";
}

/* ------------------------------------------------------------- the file */

void schedule_write(const Schedule *schedule, const char *key, Str *out)
{
    str_addf(out, "sundew schedule 1\nbuild %s\n", key);
    str_add(out, "# Plain accesses at these sites are points.\nhot");
    for (size_t i = 0; i < schedule->hot.len; i++)
        str_addf(out, " %u", schedule->hot.items[i]);
    str_add(out, "\n# At this decision this thread runs; else who runs goes on.\n");
    for (size_t i = 0; i < schedule->forces.len; i++)
        str_addf(out, "at %u run T%u\n", schedule->forces.items[i].decision,
                 schedule->forces.items[i].thread);
}

static bool read_hot(const char *text, Schedule *out)
{
    for (char *end; *text; text = end) {
        unsigned long n = strtoul(text, &end, 10);
        if (end == text || n / 8 >= SUNDEW_SCHEDULE_HOT)
            return false;
        vec_push(&out->hot, (uint32_t)n);
        while (*end == ' ')
            end++;
    }
    return true;
}

/* Forces stand in order, and only as many as a plan has room for. */
static bool read_force(const char *line, Schedule *out)
{
    unsigned decision, thread;
    int used = 0;
    const Forces *f = &out->forces;
    if (sscanf(line, "at %u run T%u%n", &decision, &thread, &used) != 2 || line[used] ||
        thread >= SUNDEW_SCHEDULE_THREADS || f->len >= SUNDEW_SCHEDULE_FORCES ||
        (f->len && f->items[f->len - 1].decision >= decision))
        return false;
    vec_push(&out->forces, ((struct sundew_force){ decision, thread }));
    return true;
}

static bool read_line(char *line, unsigned number, const char *key, Schedule *out, Err *err)
{
    if (number == 1)
        return !strcmp(line, "sundew schedule 1") || err_set(err, "this is no schedule");
    if (number == 2)
        return (!strncmp(line, "build ", 6) && !strcmp(line + 6, key)) ||
               err_set(err, "this schedule belongs to another build of the program");
    if (!*line || *line == '#')
        return true;
    bool ok = !strncmp(line, "hot", 3) && (!line[3] || line[3] == ' ')
                  ? read_hot(line[3] ? line + 4 : line + 3, out)
                  : read_force(line, out);
    return ok || err_set(err, "line %u is not understood", number);
}

bool schedule_read(const char *text, const char *key, Schedule *out, Err *err)
{
    char *copy = xstrdup(text), *rest = copy;
    unsigned number = 0;
    bool ok = true;
    for (char *line; ok && (line = strsep(&rest, "\n"));)
        ok = read_line(line, ++number, key, out, err);
    ok = ok && (number >= 2 || err_set(err, "this is no schedule"));
    free(copy);
    if (!ok)
        schedule_release(out);
    return ok;
}

/* ------------------------------------------------- the turn that was taken */

static bool unlocks_later(const ScheduleRun *run, size_t at)
{
    const struct sundew_step *lock = &run->steps.items[at];
    for (size_t i = at + 1; i < run->steps.len; i++) {
        const struct sundew_step *e = &run->steps.items[i];
        if (e->thread == lock->thread && e->object == lock->object &&
            (e->kind == SUNDEW_AT_UNLOCK || e->kind == lock->kind))
            return e->kind == SUNDEW_AT_UNLOCK;
    }
    return false;
}

/* Who has come to a later point has the lock, unless it was only tried. */
static bool takes_lock(const Scheduler *s, const ScheduleRun *run, size_t at)
{
    const struct sundew_step *e = &run->steps.items[at];
    const ScheduleSite *site = scheduler_site(s, e->site);
    bool tried = site && (strstr(site->what, "try") || strstr(site->what, "timed"));
    return (e->kind == SUNDEW_AT_LOCK || e->kind == SUNDEW_AT_READ_LOCK) &&
           (!tried || unlocks_later(run, at));
}

static void let_go(struct sundew_side *side, uint64_t lock)
{
    for (unsigned k = side->nheld; k-- > 0;)
        if (side->held[k] == lock) {
            side->nheld--;
            memmove(&side->held[k], &side->held[k + 1], (side->nheld - k) * sizeof *side->held);
            memmove(&side->held_at[k], &side->held_at[k + 1],
                    (side->nheld - k) * sizeof *side->held_at);
            return;
        }
}

static struct sundew_side side_at(const Scheduler *s, const ScheduleRun *run, size_t at)
{
    const struct sundew_step *here = &run->steps.items[at];
    struct sundew_side side = { .site = here->site,
                                .thread = here->thread,
                                .write = here->kind == SUNDEW_AT_WRITE };
    assert(at < run->steps.len);
    for (size_t i = 0; i < at; i++) {
        const struct sundew_step *e = &run->steps.items[i];
        if (e->thread != here->thread)
            continue;
        if (e->kind == SUNDEW_AT_UNLOCK) {
            let_go(&side, e->object);
        } else if (takes_lock(s, run, i) && side.nheld < SUNDEW_SCHEDULE_HELD) {
            side.held[side.nheld] = e->object;
            side.held_at[side.nheld++] = e->site;
        }
    }
    return side;
}

bool schedule_takes_turn(const struct sundew_step *e)
{
    bool spins = e->flags & SUNDEW_STEP_YIELDS && e->kind != SUNDEW_AT_YIELD;
    return e->flags & SUNDEW_STEP_PREEMPTS ||
           (spins && e->chosen != e->thread && e->enabled >> e->thread & 1);
}

/* The first turn that was taken; a preemption rather than a spin loop. */
static size_t find_switch(const ScheduleRun *run, unsigned from)
{
    size_t found = run->steps.len;
    for (size_t i = 0; i + 1 < run->steps.len; i++) {
        const struct sundew_step *e = &run->steps.items[i];
        if (!schedule_takes_turn(e) || e->thread < from || e->chosen < from)
            continue;
        if (e->flags & SUNDEW_STEP_PREEMPTS)
            return i;
        found = found < i ? found : i;
    }
    return found;
}

bool schedule_switch(const Scheduler *s, const ScheduleRun *run, unsigned from,
                     struct sundew_side *stopped, struct sundew_side *ran)
{
    size_t i = find_switch(run, from), next = i + 1;
    if (i == run->steps.len)
        return false;
    const struct sundew_step *e = &run->steps.items[i];
    for (size_t k = i + 1; k < run->steps.len && run->steps.items[next].object != e->object; k++)
        if (run->steps.items[k].thread == e->chosen && run->steps.items[k].object == e->object)
            next = k;
    *stopped = side_at(s, run, i);
    *ran = side_at(s, run, next);
    return true;
}

/* ------------------------------------------------------------ the picture */

/* "queue.c:41 write": where, and what is done there. */
static void add_place(const Scheduler *s, const struct sundew_step *e, Str *out)
{
    const ScheduleSite *at = scheduler_site(s, e->site);
    bool known = at && *at->file && e->kind != SUNDEW_AT_EXIT;
    str_add(out, schedule_kind_name(e->kind));
    if (known) {
        str_addc(out, ' ');
        escape_terminal_z(out, path_base(at->file));
        str_addf(out, ":%u ", at->line);
        escape_terminal_z(out, at->function);
    }
}

/* Steps worth a line: the turn changes, or something other than a plain access. */
static bool is_told(const struct sundew_step *e)
{
    return e->chosen != e->thread ||
           (e->kind != SUNDEW_AT_READ && e->kind != SUNDEW_AT_WRITE && e->kind != SUNDEW_AT_ATOMIC);
}

static void draw_line(const Scheduler *s, const struct sundew_step *e, unsigned nthreads, Str *out)
{
    enum { WIDTH = 6 };
    for (unsigned t = 0; t < nthreads && t < 12; t++)
        str_addf(out, "%-*s", WIDTH,
                 t == e->thread ? (e->chosen != t && !(e->flags & SUNDEW_STEP_WAKES) ? "v" : "*")
                                : ".");
    str_addf(out, "T%u ", e->thread);
    bool wakes = e->flags & SUNDEW_STEP_WAKES;
    if (e->chosen != e->thread && !wakes)
        str_add(out, e->flags & SUNDEW_STEP_PREEMPTS ? "is stopped before " : "lets go at ");
    add_place(s, e, out);
    if (e->chosen != e->thread)
        str_addf(out, wakes ? " wakes T%u" : "; T%u runs", e->chosen);
    str_addc(out, '\n');
}

void schedule_draw(const Scheduler *s, const ScheduleRun *run, size_t most, Str *out)
{
    size_t told = 0, n = 0;
    for (size_t i = 0; i < run->steps.len; i++)
        told += is_told(&run->steps.items[i]);
    for (unsigned t = 0; t < run->nthreads && t < 12; t++)
        str_addf(out, "T%-5u", t);
    str_addc(out, '\n');
    for (size_t i = 0; i < run->steps.len; i++) {
        const struct sundew_step *e = &run->steps.items[i];
        if (!is_told(e))
            continue;
        bool shown = told <= most || n < most / 2 || n >= told - most / 2;
        if (shown)
            draw_line(s, e, run->nthreads, out);
        else if (n == most / 2)
            str_addf(out, "… %zu more\n", told - most / 2 * 2);
        n++;
    }
}

bool schedule_keep(const char *folder, const Schedule *schedule, const char *key,
                   const Strings *argv, const Str *picture, Err *err)
{
    Str text = { 0 };
    char *forces = path_join(folder, "schedule.txt"), *run = path_join(folder, "run.txt"),
         *command = path_join(folder, "command.json");
    schedule_write(schedule, key, &text);
    json_t *words = json_strings(argv->items, argv->len);
    bool ok = dir_make(folder, err) && file_write(forces, str_c(&text), text.len, err) &&
              file_write(run, str_c(picture), picture->len, err) && json_write(command, words, err);
    json_decref(words);
    str_release(&text);
    free(forces);
    free(run);
    free(command);
    return ok;
}
