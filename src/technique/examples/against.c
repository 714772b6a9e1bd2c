#include "technique/examples/against.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "dataflow/load.h"
#include "technique/examples/show.h"
#include <assert.h>
#include <stdio.h>

/* ---- the same rows for both programs */

typedef struct Pair {
    const Plan *a, *b;
    Udfs *udfs;
    uint64_t seed;
    Arena *arena;
} Pair;

static const Op *load_named(const Plan *p, const char *path)
{
    for (size_t i = 0; i < p->ops.len; i++)
        if (p->ops.items[i]->kind == OP_LOAD && !strcmp(p->ops.items[i]->path, path))
            return p->ops.items[i];
    return NULL;
}

/* Rows of one plan's LOAD as the other plan's LOAD of the same path reads them. */
static Input reread(const Op *from, const Op *to, const Input *in, Arena *a)
{
    Str s = { 0 };
    Input out = { 0 };
    load_print(from, in, &s);
    load_text(to, str_c(&s), a, &out);
    str_release(&s);
    return out;
}

static Input *inputs_for(const Plan *to, const Plan *from, const Input *in, Arena *a)
{
    Input *out = arena_array(a, Input, to->ops.len);
    for (size_t i = 0; i < to->ops.len; i++) {
        const Op *op = to->ops.items[i];
        const Op *source = op->kind == OP_LOAD ? load_named(from, op->path) : NULL;
        if (source)
            out[i] = reread(source, op, &in[source->id], a);
    }
    return out;
}

static const Op *store_at(const Plan *p, size_t n)
{
    for (size_t i = 0; i < p->ops.len; i++)
        if (p->ops.items[i]->kind == OP_STORE && !n--)
            return p->ops.items[i];
    return NULL;
}

/* The output of the other program with the same name, else at the same place. */
static const Op *partner(const Plan *p, const Op *store, size_t n)
{
    for (size_t i = 0; i < p->ops.len; i++)
        if (p->ops.items[i]->kind == OP_STORE &&
            !strcmp(show_store_name(p->ops.items[i]), show_store_name(store)))
            return p->ops.items[i];
    return store_at(p, n);
}

/* The first output that differs; NULL: none. Both texts are the caller's. */
static const Op *difference(const Pair *p, const Input *in, Str *left, Str *right)
{
    Arena a = { 0 };
    Input *other = inputs_for(p->b, p->a, in, &a);
    Run *x =
        run_plan(p->a,
                 &(RunPlan){ .inputs = in, .udfs = p->udfs, .seed = p->seed, .max_rows = 100000 },
                 NULL);
    Run *y = run_plan(p->b,
                      &(RunPlan){
                          .inputs = other, .udfs = p->udfs, .seed = p->seed, .max_rows = 100000 },
                      NULL);
    const Op *found = NULL;
    for (size_t n = 0; x && y && !found; n++) {
        const Op *sa = store_at(p->a, n), *sb = sa ? partner(p->b, sa, n) : NULL;
        if (!sa)
            break;
        str_reset(left);
        str_reset(right);
        show_output(x, sa, left);
        if (sb)
            show_output(y, sb, right);
        if (strcmp(str_c(left), str_c(right)))
            found = sa;
    }
    run_free(x);
    run_free(y);
    arena_release(&a);
    return found;
}

/* Leaves out rows as long as the programs disagree. */
static void shrink(const Pair *p, Input *in)
{
    Str l = { 0 }, r = { 0 };
    for (size_t i = 0; i < p->a->ops.len; i++)
        for (size_t k = in[i].n; k-- > 0;) {
            const Tuple *t = in[i].rows[k];
            memmove(&in[i].rows[k], &in[i].rows[k + 1], (in[i].n - k - 1) * sizeof *in[i].rows);
            in[i].n--;
            if (difference(p, in, &l, &r))
                continue;
            memmove(&in[i].rows[k + 1], &in[i].rows[k], (in[i].n - k) * sizeof *in[i].rows);
            in[i].rows[k] = t;
            in[i].n++;
        }
    str_release(&l);
    str_release(&r);
}

static Input *copy_inputs(const Plan *p, const Input *in, Arena *a)
{
    Input *out = arena_array(a, Input, p->ops.len);
    for (size_t i = 0; i < p->ops.len; i++) {
        out[i].n = in[i].n;
        out[i].rows = arena_array(a, const Tuple *, in[i].n + 1);
        for (size_t k = 0; k < in[i].n; k++) {
            Datum d = datum_tuple(in[i].rows[k]), c = datum_copy(a, &d);
            out[i].rows[k] = c.u.tuple;
        }
    }
    return out;
}

static void print_rows(const Plan *p, const Input *in, Str *out)
{
    for (size_t i = 0; i < p->ops.len; i++) {
        if (p->ops.items[i]->kind != OP_LOAD)
            continue;
        str_addf(out, "%s\n", p->ops.items[i]->path);
        Str s = { 0 };
        load_print(p->ops.items[i], &in[i], &s);
        const char *line = str_c(&s);
        while (*line) {
            size_t n = strcspn(line, "\n");
            str_add(out, "    ");
            str_addn(out, line, n);
            str_addc(out, '\n');
            line += n + (line[n] == '\n');
        }
        str_release(&s);
    }
}

static bool report(Session *s, const Pair *p, Input *in, Err *err)
{
    Str left = { 0 }, right = { 0 }, rows = { 0 }, text = { 0 };
    shrink(p, in);
    const Op *store = difference(p, in, &left, &right);
    assert(store);
    print_rows(p->a, in, &rows);
    str_addf(&text, "input:\n%s\n%s gives:\n%s\n%s gives:\n%s", str_c(&rows), p->a->file,
             str_c(&left), p->b->file, str_c(&right));
    if (session_flag(s, "json")) {
        session_json(s, "input", json_text(str_c(&rows)));
        session_json(s, "first", json_text(str_c(&left)));
        session_json(s, "second", json_text(str_c(&right)));
    } else {
        Str *out = session_out(s);
        for (const char *line = str_c(&text); *line;) {
            size_t n = strcspn(line, "\n");
            escape_terminal(out, line, n);
            str_addc(out, '\n');
            line += n + (line[n] == '\n');
        }
    }
    char *msg = xprintf("%s: the two programs give different results", show_store_name(store));
    Attachment att = { "disagreement.txt", "input", str_c(&text), text.len };
    Finding f = {
        .rule = "examples/disagree",
        .level = LEVEL_WARNING,
        .verdict = VERDICT_SHOWN,
        .message = msg,
        .anchor = show_store_name(store),
        .where = { .file = store->at.file, .line = store->at.line, .column = store->at.column },
        .attachments = &att,
        .nattachments = 1
    };
    bool ok = session_report(s, &f, err);
    free(msg);
    str_release(&left);
    str_release(&right);
    str_release(&rows);
    str_release(&text);
    return ok;
}

/* Tries one set of rows; *found: they disagree, and it was reported. */
static bool try_rows(Session *s, const Pair *p, const Input *in, bool *found, Err *err)
{
    Str l = { 0 }, r = { 0 };
    bool ok = true;
    if (difference(p, in, &l, &r)) {
        *found = true;
        ok = report(s, p, copy_inputs(p->a, in, p->arena), err);
    }
    str_release(&l);
    str_release(&r);
    return ok;
}

/* The classes of both programs, with and without real values: rows that show
 * all that one does are likely to show where the other differs. */
static bool is_stopped(void *session) { return session_interrupted(session); }

static bool try_generated(Session *s, const Pair *p, const Input *samples, int round, bool *found,
                          Err *err)
{
    bool second = round & 1, made_only = round & 2;
    const Plan *plan = second ? p->b : p->a;
    Arena a = { 0 };
    const Input *in = second ? inputs_for(p->b, p->a, samples, &a) : samples;
    GeneratePlan gp = { .samples = in,
                        .udfs = p->udfs,
                        .seed = p->seed + (uint64_t)round,
                        .goals = GOALS_NULLS | GOALS_BOUNDARIES | GOALS_MCDC | GOALS_EMPTY,
                        .seconds = session_time_left(s, 0) / (4 - round),
                        .no_real_values = made_only,
                        .stop = is_stopped,
                        .stop_arg = s };
    Examples *e = examples_generate(plan, &gp, err);
    bool ok = e != NULL;
    if (ok) {
        const Input *rows = second ? inputs_for(p->a, p->b, e->inputs, &a) : e->inputs;
        ok = try_rows(s, p, rows, found, err);
    }
    examples_free(e);
    arena_release(&a);
    return ok;
}

bool against_program(Session *s, const Plan *a, const Plan *b, const Input *samples, Udfs *udfs,
                     Err *err)
{
    Arena arena = { 0 };
    Pair p = { a, b, udfs, session_seed(s), &arena };
    bool found = false, ok = try_rows(s, &p, samples, &found, err);
    int tables = 1;
    for (int round = 0; round < 4 && ok && !found && !session_interrupted(s); round++)
        ok = try_generated(s, &p, samples, round, &found, err), tables++;
    session_examined(s, "%d sets of rows", tables);
    if (ok && !found && session_interrupted(s))
        session_incomplete(s, "the time was over");
    else if (ok && !found && !session_flag(s, "json"))
        str_add(session_out(s), "No rows were found on which the two programs disagree.\n");
    if (ok)
        session_json(s, "disagree", json_boolean(found));
    arena_release(&arena);
    return ok;
}

/* ---- a test that was written down */

static bool read_inputs(const Plan *p, const json_t *list, const char *dir, Input *in, Arena *a,
                        Err *err)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        char *safe = path_safe_name(json_str(o, "file")), *path = path_join(dir, safe);
        Str text = { 0 };
        bool ok = file_read(path, &text, err);
        for (size_t k = 0; k < p->ops.len && ok; k++)
            if (p->ops.items[k]->kind == OP_LOAD &&
                !strcmp(p->ops.items[k]->path, json_str(o, "path")))
                load_text(p->ops.items[k], str_c(&text), a, &in[k]);
        str_release(&text);
        free(path);
        free(safe);
        if (!ok)
            return false;
    }
    return true;
}

static bool compare_one(Session *s, const Plan *p, const Run *r, const json_t *o, const char *dir,
                        Err *err)
{
    char *safe = path_safe_name(json_str(o, "file")), *path = path_join(dir, safe);
    Str want = { 0 }, got = { 0 };
    bool ok = file_read(path, &want, err);
    const Op *store = NULL;
    for (size_t i = 0; i < p->ops.len; i++)
        if (p->ops.items[i]->kind == OP_STORE &&
            !strcmp(show_store_name(p->ops.items[i]), json_str(o, "output")))
            store = p->ops.items[i];
    if (store)
        show_output(r, store, &got);
    if (ok && (!store || strcmp(str_c(&want), str_c(&got)))) {
        char *msg = store ? xprintf("%s: the output is not what the test expects", path)
                          : xprintf("%s: the program has no output %s any more", path,
                                    json_str(o, "output"));
        Attachment att[] = { { "expected.txt", "test", str_c(&want), want.len },
                             { "now.txt", "test", str_c(&got), got.len } };
        Finding f = { .rule = "examples/changed",
                      .level = LEVEL_WARNING,
                      .verdict = VERDICT_SHOWN,
                      .message = msg,
                      .anchor = json_str(o, "output"),
                      .where = { .file = p->file, .line = store ? store->at.line : 1, .column = 1 },
                      .attachments = att,
                      .nattachments = 2 };
        ok = session_report(s, &f, err);
        free(msg);
    }
    str_release(&want);
    str_release(&got);
    free(path);
    free(safe);
    return ok;
}

bool against_expected(Session *s, const Plan *p, Udfs *udfs, const char *dir, Err *err)
{
    char *path = path_join(dir, "test.json");
    json_t *test = json_read(path, err);
    free(path);
    if (!test)
        return false;
    Arena a = { 0 };
    Input *in = arena_array(&a, Input, p->ops.len);
    bool ok = read_inputs(p, json_object_get(test, "inputs"), dir, in, &a, err);
    Run *r =
        ok ? run_plan(p, &(RunPlan){ .inputs = in, .udfs = udfs, .seed = session_seed(s) }, err)
           : NULL;
    ok = r != NULL;
    const json_t *outputs = json_object_get(test, "outputs");
    for (size_t i = 0; i < json_array_size(outputs) && ok; i++)
        ok = compare_one(s, p, r, json_array_get(outputs, i), dir, err);
    if (ok && !session_flag(s, "json"))
        str_addf(session_out(s), "%zu outputs compared\n", json_array_size(outputs));
    run_free(r);
    arena_release(&a);
    json_decref(test);
    return ok;
}
