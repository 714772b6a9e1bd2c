/* Evidence: the woven program, the run that leaves evidence, and evidence of other runs. */
#include "base/apart.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "base/tempdir.h"
#include "build/place.h"
#include "engine/record/record.h"
#include "technique/confirm/confirm_int.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- the woven program */

/* The same sites of the same program have the same key. */
static void make_key(Inquiry *q)
{
    size_t n;
    WatchSite *const *all = watch_sites(q->watch, &n);
    uint64_t h = hash_bytes(program_key(q->program), strlen(program_key(q->program)));
    for (size_t i = 0; i < n; i++)
        if (all[i]->wanted)
            h = h * 31 + hash_bytes(all[i]->key, strlen(all[i]->key)) + all[i]->body;
    snprintf(q->key, sizeof q->key, "%016" PRIx64, h);
}

typedef struct Making {
    Inquiry *q;
    Woven *w;
    const char *out;
} Making;

static bool make_binary(void *arg, Err *err)
{
    Making *m = arg;
    return weave_runtime(m->w, session_libexec(m->q->session), "watch", err) &&
           place_build(m->w, m->q->program, m->out, err);
}

static bool is_stopped(void *session) { return session_interrupted(session); }

bool inquiry_apart(Inquiry *q, bool (*work)(void *arg, Err *err), void *arg, Err *err)
{
    ApartPlan plan = { .work = work, .arg = arg, .stop = is_stopped, .stop_arg = q->session };
    ApartEnd end = apart_run(&plan, err);
    q->late = end == APART_LATE || end == APART_STOPPED;
    if (q->late)
        session_incomplete(q->session, "the time was over while the program was built");
    return end == APART_DONE;
}

/* The sites get their numbers here; only the file is made apart. */
static bool build(Inquiry *q, Woven *w, Watch *watch, const WatchPlan *plan, const char *out,
                  Err *err)
{
    Making making = { q, w, out };
    return weave_watch(watch, plan, err) && inquiry_apart(q, make_binary, &making, err);
}

bool inquiry_weave(Inquiry *q, const char *out, const char *path, Err *err)
{
    make_key(q);
    WatchPlan plan = { .path = path, .key = q->key };
    return build(q, q->woven, q->watch, &plan, out, err);
}

bool inquiry_prepare(Inquiry *q, Err *err)
{
    make_key(q);
    WatchPlan plan = { .key = q->key };
    return weave_watch(q->watch, &plan, err);
}

/* Once more, from the beginning, with injections. The same sites in the same order. */
static bool weave_again(Inquiry *q, const char *out, Err *err)
{
    size_t n, m;
    WatchSite *const *all = watch_sites(q->watch, &n);
    WatchPlan plan = { .key = q->key, .inject = true };
    Woven *w = weave_begin(q->program, err);
    Watch *watch = w ? watch_scan(w, session_flag(q->session, "races"), &q->lines) : NULL;
    bool ok = w != NULL;
    if (ok) {
        WatchSite *const *again = watch_sites(watch, &m);
        assert(n == m);
        for (size_t i = 0; i < n; i++)
            again[i]->wanted = all[i]->wanted;
        ok = build(q, w, watch, &plan, out, err);
    }
    watch_free(watch);
    weave_end(w);
    return ok;
}

/* ---- reading: the subject could write it, so it is a stranger's */

static void tame(struct sundew_watch_slot *s)
{
    if (s->bad > s->n && s->n)
        s->n = s->bad > s->n ? s->bad : s->n;
    if (s->process > SUNDEW_WATCH_PROCESSES)
        s->process = 0;
}

static void add_slot(struct sundew_watch_slot *to, const struct sundew_watch_slot *from)
{
    bool first = !to->bad && from->bad;
    struct sundew_watch_slot old = *to;
    if (first)
        *to = *from;
    to->n = old.n + from->n;
    to->bad = old.bad + from->bad;
    to->low = old.low < from->low ? old.low : from->low;
    to->high = old.high > from->high ? old.high : from->high;
    to->low2 = old.low2 < from->low2 ? old.low2 : from->low2;
    to->high2 = old.high2 > from->high2 ? old.high2 : from->high2;
    to->bits = old.bits | from->bits;
    to->bad_bits = old.bad_bits | from->bad_bits;
}

static void make_slots(Inquiry *q)
{
    unsigned n = watch_nslots(q->watch);
    assert(n);                       /* weave_watch() has numbered them */
    if (q->slots)
        return;
    q->slots = xcalloc(n, sizeof *q->slots);
    for (unsigned i = 0; i < n; i++) {
        q->slots[i].low = q->slots[i].low2 = INT64_MAX;
        q->slots[i].high = q->slots[i].high2 = INT64_MIN;
    }
}

bool inquiry_take(Inquiry *q, const char *path, Err *err)
{
    unsigned n = watch_nslots(q->watch);
    size_t size = sizeof(struct sundew_watch_file) + n * sizeof(struct sundew_watch_slot);
    Str bytes = { 0 };
    if (!file_read_left(path, size, &bytes, err))
        return false;
    struct sundew_watch_file *f = (struct sundew_watch_file *)bytes.data;
    if (bytes.len != size || f->magic != SUNDEW_WATCH_MAGIC || f->nslots != n ||
        strncmp(f->key, q->key, sizeof f->key)) {
        str_release(&bytes);
        return err_set(err, "%s: evidence of another program, or of other warnings", path);
    }
    struct sundew_watch_slot *slots = (struct sundew_watch_slot *)(f + 1);
    make_slots(q);
    for (unsigned i = 0; i < n; i++) {
        tame(&slots[i]);
        add_slot(&q->slots[i], &slots[i]);
    }
    str_release(&q->evidence);
    q->evidence = bytes;
    return true;
}

/* ---- running */

/* Does the command run the program itself, without a shell or make between? */
static bool is_program(const Inquiry *q, const char *word)
{
    const CapturedProgram *c = program_captured(q->program);
    char *a = path_real(word), *b = path_real(c->path);
    bool same = a && b && strcmp(a, b) == 0 && c->kind == PROGRAM_EXECUTABLE;
    free(a);
    free(b);
    return same;
}

static bool run_command(Inquiry *q, const char *folder, const char *evidence, const char *inject,
                        RunResult *result, Err *err)
{
    size_t n;
    char **tail = session_tail(q->session, &n);
    bool alone = is_program(q, tail[0]);
    char *watch = xprintf("SUNDEW_WATCH=%s", evidence);
    char *injected = xprintf("SUNDEW_WATCH_INJECT=%s", inject ? inject : "-1");
    char *env[] = { watch, injected, NULL };
    RecordRun run = { .original = program_captured(q->program),
                      .woven = q->binary,
                      .folder = folder,
                      .words = tail,
                      .nwords = n,
                      .in_place = true,
                      .root = session_root(q->session),
                      .env = env,
                      .discard_output = inject != NULL,
                      .stop = is_stopped,
                      .arg = q->session,
                      .seconds = session_time_left(q->session, 3600) };
    /* In its own place it may execute itself, and write files; the sandbox is for machines
     * that can't do this. */
    bool ok = record_run(&run, result, err);
    if (!ok && alone) {
        run.in_place = false;
        run.words++;
        run.nwords--;
        ok = record_run(&run, result, err);
    }
    free(watch);
    free(injected);
    return ok;
}

static void tell_end(Inquiry *q, const RunResult *r)
{
    q->ran = true;
    q->passed = !failure_is(&r->failure) && !r->failure.status && !r->failure.signal;
    if (r->failure.kind == FAILURE_TIMEOUT)
        session_incomplete(q->session, "the command did not end in time; the evidence so far is "
                                       "used");
    else if (r->failure.signal)
        session_note(q->session, "the command was ended by signal %d; the evidence so far is used",
                     r->failure.signal);
    else if (r->failure.status)
        session_note(q->session,
                     "the command ended with status %d; the evidence is used all the "
                     "same",
                     r->failure.status);
}

/* The watched program may fail where the user's does not: its behaviour is undefined, and another
 * compiler shows it. What comes behind the failure was not seen then. */
static void compare_with_plain(Inquiry *q, const char *folder, const char *evidence,
                               const RunResult *watched)
{
    int signal = watched->failure.signal;
    RunResult plain = { 0 };
    char *binary = q->binary;
    if (!signal || watched->failure.kind == FAILURE_TIMEOUT || session_interrupted(q->session))
        return;
    q->binary = (char *)program_captured(q->program)->path;
    if (run_command(q, folder, evidence, "-1", &plain, NULL) && !plain.failure.signal)
        session_incomplete(q->session,
                           "the command is ended by signal %d with the watched program, and not "
                           "with yours: is its behaviour undefined there?",
                           signal);
    q->binary = binary;
    run_result_release(&plain);
}

bool inquiry_observe(Inquiry *q, Err *err)
{
    const char *scratch = tempdir_new(NULL, err);
    if (!scratch)
        return false;
    char *folder = path_join(scratch, "evidence"), *file = path_join(folder, "evidence");
    RunResult result = { 0 };
    q->binary = path_join(scratch, path_base(program_captured(q->program)->path));
    Progress p = progress_start("building the program that watches", 0);
    bool ok = dir_make(folder, err) && inquiry_weave(q, q->binary, NULL, err);
    progress_end(&p);
    ok = ok && watch_file_make(q->watch, file, q->key, err) &&
         run_command(q, folder, file, NULL, &result, err);
    if (ok) {
        tell_end(q, &result);
        ok = inquiry_take(q, file, err);
        compare_with_plain(q, folder, file, &result);
        if (ok && watch_nslots(q->watch) > 1 && !q->slots[0].n)
            session_incomplete(
                q->session,
                "the command did not run %s: do the tests use a copy, or link it statically?",
                path_base(q->name));
    }
    if (q->late) {
        make_slots(q);
        ok = true;
    }
    run_result_release(&result);
    free(folder);
    free(file);
    return ok;
}

/* ---- evidence of earlier runs: kept by site, and dropped where a function changed */

static char *kept_path(const Inquiry *q)
{
    char *safe = path_safe_name(q->name);
    char *path = xprintf("%s/confirm/%s.json", workspace_dir(session_workspace(q->session)), safe);
    free(safe);
    return path;
}

static json_t *slot_json(const struct sundew_watch_slot *s)
{
    return json_pack("[I,I,I,I,I,I,I,I,I,I,I]", (json_int_t)s->n, (json_int_t)s->bad,
                     (json_int_t)s->low, (json_int_t)s->high, (json_int_t)s->low2,
                     (json_int_t)s->high2, (json_int_t)s->bits, (json_int_t)s->bad_bits,
                     (json_int_t)s->value, (json_int_t)s->value2, (json_int_t)s->error);
}

static void slot_of_json(const json_t *a, struct sundew_watch_slot *s)
{
    int64_t v[11];
    for (size_t i = 0; i < 11; i++)
        v[i] = json_integer_value(json_array_get(a, i));
    *s = (struct sundew_watch_slot){ .n = (uint64_t)v[0],
                                     .bad = (uint64_t)v[1],
                                     .low = v[2],
                                     .high = v[3],
                                     .low2 = v[4],
                                     .high2 = v[5],
                                     .bits = (uint64_t)v[6],
                                     .bad_bits = (uint64_t)v[7],
                                     .value = v[8],
                                     .value2 = v[9],
                                     .error = (uint32_t)v[10] };
}

bool inquiry_keep(Inquiry *q, Err *err)
{
    size_t n;
    WatchSite *const *all = watch_sites(q->watch, &n);
    json_t *sites = json_object();
    for (size_t i = 0; i < n; i++) {
        const WatchSite *s = all[i];
        json_t *slots = json_array();
        bool any = false;
        for (unsigned k = 0; s->slot && k < s->nslots; k++) {
            any |= q->slots[s->slot + k].n > 0;
            json_array_append_new(slots, slot_json(&q->slots[s->slot + k]));
        }
        char body[24];
        snprintf(body, sizeof body, "%" PRIx64, s->body);
        if (any)
            json_object_set_new(sites, s->key,
                                json_pack("{s:s,s:O}", "body", body, "slots", slots));
        json_decref(slots);
    }
    json_t *o = json_pack("{s:i,s:o}", "version", 1, "sites", sites);
    char *path = kept_path(q), *dir = path_dir(path);
    bool ok = dir_make(dir, err) && json_write(path, o, err);
    json_decref(o);
    free(path);
    free(dir);
    return ok;
}

bool inquiry_merge(Inquiry *q, bool *any, Err *err)
{
    char *path = kept_path(q);
    json_t *o = file_exists(path) ? json_read(path, err) : NULL;
    size_t n, stale = 0;
    WatchSite *const *all = watch_sites(q->watch, &n);
    bool ok = o || !file_exists(path);
    *any = o != NULL;
    make_slots(q);
    for (size_t i = 0; o && i < n; i++) {
        const WatchSite *s = all[i];
        const json_t *row = json_object_get(json_object_get(o, "sites"), s->key);
        char body[24];
        snprintf(body, sizeof body, "%" PRIx64, s->body);
        if (!row || !s->slot)
            continue;
        if (strcmp(json_str(row, "body"), body)) {
            stale++;
            continue;
        }
        for (unsigned k = 0; k < s->nslots; k++) {
            struct sundew_watch_slot old;
            slot_of_json(json_array_get(json_object_get(row, "slots"), k), &old);
            add_slot(&q->slots[s->slot + k], &old);
        }
    }
    if (stale)
        session_note(q->session, "evidence of %zu sites is dropped: their functions have changed",
                     stale);
    json_decref(o);
    free(path);
    return ok;
}

/* ---- injection: each site alone, in a run of its own */

enum { MOST_INJECTIONS = 20 };

/* error: 0: what the rule makes of it, NULL or half of it. */
static bool inject_one(Inquiry *q, Warning *w, const char *folder, int error, Err *err)
{
    char *file = xprintf("%s/inject%u.%d", folder, w->site->slot, error);
    char *where = error ? xprintf("%u:%d", w->site->slot, error) : xprintf("%u", w->site->slot);
    RunResult result = { 0 };
    struct sundew_watch_slot *slots = NULL;
    Str bytes = { 0 };
    size_t head = sizeof(struct sundew_watch_file);
    bool ok = watch_file_make(q->watch, file, q->key, err) &&
              run_command(q, folder, file, where, &result, err) &&
              file_read_left(file, head + watch_nslots(q->watch) * sizeof *slots, &bytes, err);
    if (ok && bytes.len == head + watch_nslots(q->watch) * sizeof *slots) {
        slots = (struct sundew_watch_slot *)(bytes.data + head);
        const struct sundew_watch_slot *self = &slots[w->site->slot];
        bool injected = (self->bits >> 62) & 1;
        bool failed = result.failure.signal || result.failure.status;
        bool used = w->site->nslots > 1 && slots[w->site->slot + 1].bad;
        if (injected && (used || (failed && q->passed))) {
            w->verdict = CONFIRMED;
            w->said.grade = GRADE_SIMULATED;
            w->said.seen = NULL;
            w->said.seen_at = w->site;
            snprintf(w->said.text, sizeof w->said.text,
                     "with one failure of %s() injected here%s%s, %s", w->site->subject,
                     error ? ": " : "", error ? strerror(error) : "",
                     used ? "the program used the NULL pointer" : "the command fails");
        }
    }
    run_result_release(&result);
    str_release(&bytes);
    free(where);
    free(file);
    return ok;
}

bool inquiry_inject(Inquiry *q, Err *err)
{
    const char *scratch = tempdir_new(NULL, err);
    char *folder = scratch ? path_join(scratch, "evidence") : NULL;
    unsigned done = 0, left = 0;
    bool ok = scratch && dir_make(folder, err);
    if (ok) {
        free(q->binary);
        q->binary = path_join(scratch, path_base(program_captured(q->program)->path));
        ok = weave_again(q, q->binary, err);
    }
    if (q->late) {
        free(folder);
        return true;
    }
    for (size_t i = 0; ok && i < q->warnings.items.len && !session_interrupted(q->session); i++) {
        Warning *w = &q->warnings.items.items[i];
        bool wanted = w->site && w->site->rule->injects && w->verdict != CONFIRMED &&
                      w->said.opportunities && w->site->role == SITE_SUSPECT;
        if (wanted && done == MOST_INJECTIONS)
            left++;
        else if (wanted) {
            done++;
            ok =
                inject_one(q, w, folder, 0, err) && (!w->site->error || w->verdict == CONFIRMED ||
                                                     inject_one(q, w, folder, w->site->error, err));
        }
    }
    if (left)
        session_note(q->session, "failures were injected at the first %u sites; %u are left out",
                     done, left);
    free(folder);
    return ok;
}

/* ---- verdicts */

void inquiry_judge(Inquiry *q)
{
    for (size_t i = 0; i < q->warnings.items.len; i++) {
        Warning *w = &q->warnings.items.items[i];
        if (!w->site)
            continue;
        assert(w->site->slot);
        watch_judge(q->watch, w->site, q->slots, &w->said);
        w->said.open |= w->next;
        w->verdict = w->said.grade != GRADE_NONE ? CONFIRMED
                     : w->said.settled || (w->said.opportunities >= q->enough && !w->said.open)
                         ? REJECTED
                         : UNDETERMINED;
    }
}
