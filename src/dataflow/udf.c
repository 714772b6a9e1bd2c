/*
 * Functions that users bring. A library is hosted by a child of ours, forked
 * once; a command is a child too. Both speak JSON lines on a pair of pipes, so
 * a crash or a hang costs the call and no more.
 */
#include "dataflow/udf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/units.h"
#include "dataflow/datum_json.h"
#include "dataflow/eval_int.h"
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ANSWER = 1 << 20, CHECKED_CALLS = 20, MOST_DEATHS = 3 };

typedef struct Udf {
    char *name;
    char *library, *table;
    Strings command;
    DatumKind type;
    pid_t pid;
    int to, from;              /* pipes */
    int deaths;
    size_t ncalls;
    bool random, given_up;
} Udf;

struct Udfs {
    Arena arena;
    Map functions;             /* Udf */
    Map answers;               /* name and arguments -> UdfCall; NULL: failed */
    Vec(UdfCall) calls;
    Strings complaints;
    double seconds;
};

Udfs *udfs_new(void)
{
    Udfs *u = xcalloc(1, sizeof *u);
    u->seconds = 2;
    return u;
}

static void end_process(Udf *f)
{
    if (f->pid <= 0)
        return;
    close(f->to);
    close(f->from);
    kill(-f->pid, SIGKILL);
    kill(f->pid, SIGKILL);
    waitpid(f->pid, NULL, 0);
    f->pid = 0;
}

void udfs_free(Udfs *u)
{
    if (!u)
        return;
    for (size_t i = 0; i < u->functions.len; i++) {
        Udf *f = u->functions.entries[i].value;
        end_process(f);
        strings_release(&f->command);
        free(f->name);
        free(f->library);
        free(f->table);
        free(f);
    }
    map_release(&u->functions);
    map_release(&u->answers);
    vec_release(&u->calls);
    strings_release(&u->complaints);
    arena_release(&u->arena);
    free(u);
}

void udfs_limit(Udfs *u, double seconds)
{
    assert(seconds > 0);
    u->seconds = seconds;
}

bool udf_known(const Udfs *u, const char *name) { return u && map_has(&u->functions, name); }

static const struct {
    const char *name;
    DatumKind kind;
} type_words[] = {
    { "int", DATUM_INT },         { "long", DATUM_LONG },         { "float", DATUM_FLOAT },
    { "double", DATUM_DOUBLE },   { "chararray", DATUM_TEXT },    { "boolean", DATUM_BOOL },
    { "bytearray", DATUM_BYTES }, { "datetime", DATUM_DATETIME }, { "bag", DATUM_BAG },
    { "tuple", DATUM_TUPLE },     { "map", DATUM_MAP },
};

static bool read_one(Udfs *u, const char *path, const char *name, const json_t *o, Err *err)
{
    Udf *f = xcalloc(1, sizeof *f);
    char *dir = path_dir(path);
    const char *type = json_str(o, "type");
    f->name = xstrdup(name);
    f->type = DATUM_BYTES;
    map_put(&u->functions, name, f);
    bool known = !*type;
    for (size_t i = 0; i < sizeof type_words / sizeof *type_words; i++)
        if (!strcmp(type, type_words[i].name)) {
            f->type = type_words[i].kind;
            known = true;
        }
    if (*json_str(o, "library"))
        f->library = path_join(dir, json_str(o, "library"));
    if (*json_str(o, "table"))
        f->table = path_join(dir, json_str(o, "table"));
    json_get_strings(o, "command", &f->command);
    if (f->command.len && strchr(f->command.items[0], '/')) {
        char *whole = path_join(dir, f->command.items[0]);
        free(f->command.items[0]);
        f->command.items[0] = whole;
    }
    free(dir);
    if (!known)
        return err_set(err, "%s: %s: there is no type \"%s\"", path, name, type);
    if (!f->library && !f->table && !f->command.len)
        return err_set(err, "%s: %s needs \"library\", \"command\" or \"table\"", path, name);
    return true;
}

static void remember(Udfs *u, const char *name, const Str *key, const Datum *args, size_t n,
                     const Datum *result)
{
    UdfCall *c = arena_new(&u->arena, UdfCall);
    Datum *copy = arena_array(&u->arena, Datum, n + 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = datum_copy(&u->arena, &args[i]);
    *c = (UdfCall){ arena_strdup(&u->arena, name), copy, n, datum_copy(&u->arena, result) };
    c->result.made = false;
    map_putn(&u->answers, key->data, key->len, c);
    vec_push(&u->calls, *c);
}

/* ---- values as JSON */

static bool from_json(Arena *a, const json_t *v, DatumKind kind, Datum *out)
{
    Datum raw = datum_null();
    if (json_is_boolean(v)) {
        raw = datum_bool(json_is_true(v));
    } else if (json_is_integer(v)) {
        raw = datum_long(json_integer_value(v));
    } else if (json_is_real(v)) {
        raw = datum_double(json_real_value(v));
    } else if (json_is_string(v)) {
        raw = datum_textn(a, json_string_value(v), json_string_length(v));
    } else if (json_is_array(v)) {
        size_t n = json_array_size(v);
        Tuple *t = tuple_new(a, n);
        for (size_t i = 0; i < n; i++)
            if (!from_json(a, json_array_get(v, i), DATUM_NULL, &t->fields[i]))
                return false;
        raw = datum_tuple(t);
        if (kind == DATUM_BAG) {
            Bag *b = bag_new(a, n);
            for (size_t i = 0; i < n; i++) {
                Tuple *one = tuple_new(a, 1);
                one->fields[0] = t->fields[i];
                b->items[i] = t->fields[i].kind == DATUM_TUPLE ? t->fields[i].u.tuple : one;
            }
            raw = datum_bag(b);
        }
        *out = raw;
        return true;
    } else if (!json_is_null(v)) {
        return false;
    }
    if (kind == DATUM_NULL || kind == DATUM_BYTES) {
        *out = raw;
        return true;
    }
    return datum_cast(a, &raw, dtype_of(kind), out);
}

static bool read_table(Udfs *u, Udf *f, Err *err)
{
    Str text = { 0 };
    if (!file_read(f->table, &text, err))
        return false;
    size_t line = 1;
    bool ok = true;
    for (size_t i = 0; i < text.len && ok; line++) {
        size_t end = i;
        while (end < text.len && text.data[end] != '\n')
            end++;
        json_t *o = end > i ? json_loadb(text.data + i, end - i, 0, NULL) : NULL;
        json_t *args = json_object_get(o, "args");
        Datum values[16], result;
        size_t n = json_array_size(args);
        ok = end == i || (json_is_array(args) && n <= 16 &&
                          from_json(&u->arena, json_object_get(o, "value"), f->type, &result));
        for (size_t k = 0; ok && end > i && k < n; k++)
            ok = from_json(&u->arena, json_array_get(args, k), DATUM_NULL, &values[k]);
        if (ok && end > i) {
            json_t *plain = json_incref(args);
            char *key_text = json_dumps(plain, JSON_COMPACT | JSON_ENCODE_ANY);
            Str key = { 0 };
            str_addf(&key, "%s%s", f->name, key_text);
            remember(u, f->name, &key, values, n, &result);
            str_release(&key);
            free(key_text);
            json_decref(plain);
        }
        json_decref(o);
        i = end + 1;
    }
    str_release(&text);
    return ok || err_set(err, "%s:%zu: expected {\"args\":[…],\"value\":…}", f->table, line - 1);
}

bool udfs_read(Udfs *u, const char *path, Err *err)
{
    json_t *o = json_read(path, err);
    if (!o)
        return false;
    bool ok = json_is_object(o) || err_set(err, "%s: expected an object of functions", path);
    const char *name;
    json_t *v;
    json_object_foreach(o, name, v)
    {
        ok = ok && read_one(u, path, name, v, err);
        Udf *f = map_get(&u->functions, name);
        if (ok && f->table)
            ok = read_table(u, f, err);
    }
    json_decref(o);
    return ok;
}

/* ---- processes */

typedef const char *LibraryFunction(const char *args);

/* The child that hosts a library: one line in, one line out. */
static void serve_library(const Udf *f, int in, int out)
{
    void *lib = dlopen(f->library, RTLD_NOW);
    const char *dot = strrchr(f->name, '.');
    LibraryFunction *fn = NULL;
    if (lib)
        *(void **)&fn = dlsym(lib, dot ? dot + 1 : f->name);
    FILE *r = fdopen(in, "r"), *w = fdopen(out, "w");
    char *line = NULL;
    size_t cap = 0;
    while (r && w && getline(&line, &cap, r) >= 0) {
        json_t *o = json_loads(line, 0, NULL);
        char *args = json_dumps(json_object_get(o, "args"), JSON_COMPACT | JSON_ENCODE_ANY);
        const char *answer = fn ? fn(args ? args : "[]") : NULL;
        if (answer)
            fprintf(w, "{\"value\":%s}\n", answer);
        else
            fprintf(w, "{\"error\":\"%s\"}\n",
                    fn ? "no value" : "the library has no such function");
        fflush(w);
        free(args);
        json_decref(o);
    }
    _exit(0);
}

static void run_child(Udf *f, int in, int out)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    signal(SIGPIPE, SIG_DFL);
    setsid();                          /* what it starts ends with it */
    if (f->library) {
        dup2(null, 0);
        dup2(null, 1);
        serve_library(f, in, out);
    }
    dup2(in, 0);
    dup2(out, 1);
    char **argv = strings_argv(&f->command);
    execvp(argv[0], argv);
    _exit(127);
}

static bool start(Udf *f)
{
    int down[2], up[2];
    if (pipe2(down, O_CLOEXEC))
        return false;
    if (pipe2(up, O_CLOEXEC)) {
        close(down[0]);
        close(down[1]);
        return false;
    }
    fflush(NULL);
    pid_t pid = proc_fork();
    if (!pid) {
        close(down[1]);
        close(up[0]);
        run_child(f, down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    if (pid < 0) {
        close(down[1]);
        close(up[0]);
        return false;
    }
    f->pid = pid;
    f->to = down[1];
    f->from = up[0];
    fcntl(f->to, F_SETFL, O_NONBLOCK);
    return true;
}

/* Everything goes through poll, so that a child that reads nothing cannot hold
 * us. */
static bool send_all(const Udf *f, const char *s, size_t n, double deadline)
{
    while (n) {
        struct pollfd p = { f->to, POLLOUT, 0 };
        double left = deadline - clock_seconds();
        if (left <= 0 || poll(&p, 1, (int)(left * 1000) + 1) <= 0 ||
            p.revents & (POLLERR | POLLHUP))
            return false;
        ssize_t k = write(f->to, s, n);
        if (k < 0 && errno != EAGAIN)
            return false;
        if (k > 0) {
            s += k;
            n -= (size_t)k;
        }
    }
    return true;
}

typedef enum { TALK_OK, TALK_LATE, TALK_DEAD } Talk;

static Talk receive_line(const Udf *f, Str *out, double deadline)
{
    for (;;) {
        struct pollfd p = { f->from, POLLIN, 0 };
        double left = deadline - clock_seconds();
        if (left <= 0 || poll(&p, 1, (int)(left * 1000) + 1) <= 0)
            return TALK_LATE;
        char buf[4096];
        ssize_t k = read(f->from, buf, sizeof buf);
        if (k <= 0 || out->len > MOST_ANSWER)
            return TALK_DEAD;
        str_addn(out, buf, (size_t)k);
        if (memchr(buf, '\n', (size_t)k))
            return TALK_OK;
    }
}

static Talk talk(Udf *f, const char *line, double seconds, Str *answer)
{
    double deadline = clock_seconds() + seconds;
    if (!f->pid && !start(f))
        return TALK_DEAD;
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    Talk t = send_all(f, line, strlen(line), deadline) ? receive_line(f, answer, deadline)
             : clock_seconds() >= deadline             ? TALK_LATE
                                                       : TALK_DEAD;
    signal(SIGPIPE, old);
    if (t != TALK_OK) {
        end_process(f);
        f->deaths++;
    }
    return t;
}

static void complain(Udfs *u, Udf *f, const char *what)
{
    for (size_t i = 0; i < u->complaints.len; i++)
        if (str_starts(u->complaints.items[i], f->name) && strstr(u->complaints.items[i], what))
            return;
    strings_addf(&u->complaints, "%s: %s", f->name, what);
}

static bool ask(Udfs *u, Udf *f, Arena *a, json_t *args, Datum *out)
{
    if (f->given_up || f->table)
        return false;
    json_t *o = json_pack("{s:s, s:O}", "f", f->name, "args", args);
    char *text = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    char *line = xprintf("%s\n", text ? text : "{}");
    free(text);
    Str answer = { 0 };
    char late[80], limit[32];
    Talk t = talk(f, line, u->seconds, &answer);
    free(line);
    bool ok = false;
    if (t == TALK_OK) {
        json_t *v = json_loadb(answer.data, answer.len, 0, NULL);
        const json_t *value = json_object_get(v, "value");
        ok = value && from_json(a, value, f->type, out);
        if (!ok)
            complain(u, f, *json_str(v, "error") ? json_str(v, "error") : "an answer is no value");
        json_decref(v);
    } else {
        snprintf(late, sizeof late, "no answer in %s", duration_format(u->seconds, limit));
        complain(u, f, t == TALK_LATE ? late : "it crashed, or ended");
        if (f->deaths >= MOST_DEATHS) {
            f->given_up = true;
            complain(u, f, "given up after three failures");
        }
    }
    str_release(&answer);
    return ok;
}

/* The first calls are made twice. */
static void check_again(Udfs *u, Udf *f, Arena *a, json_t *args, const Datum *first)
{
    Datum again;
    if (f->random || f->ncalls > CHECKED_CALLS || !ask(u, f, a, args, &again))
        return;
    if (datum_compare(first, &again)) {
        f->random = true;
        complain(u, f, "two equal calls gave different answers: it is not deterministic");
    }
}

bool udf_call(Udfs *u, Arena *a, const char *name, Type type, const Datum *args, size_t n,
              Datum *out)
{
    (void)type;
    Udf *f = map_get(&u->functions, name);
    if (!f)
        return false;
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, datum_json(&args[i], NULL));
    char *text = json_dumps(list, JSON_COMPACT | JSON_ENCODE_ANY);
    Str key = { 0 };
    str_addf(&key, "%s%s", name, text ? text : "");
    free(text);
    bool known = map_getn(&u->answers, key.data, key.len) != NULL, ok = known;
    if (!known) {
        Datum d;
        f->ncalls++;
        ok = ask(u, f, a, list, &d);
        if (ok) {
            check_again(u, f, a, list, &d);
            remember(u, name, &key, args, n, &d);
        }
    }
    if (ok)
        *out = ((UdfCall *)map_getn(&u->answers, key.data, key.len))->result;
    str_release(&key);
    json_decref(list);
    return ok;
}

size_t udf_calls(const Udfs *u, const UdfCall **out)
{
    *out = u->calls.items;
    return u->calls.len;
}

size_t udf_complaints(const Udfs *u, char *const **out)
{
    *out = u->complaints.items;
    return u->complaints.len;
}

DatumKind udf_declared(const Udfs *u, const char *name)
{
    const Udf *f = u ? map_get(&u->functions, name) : NULL;
    return f ? f->type : DATUM_BYTES;
}

Type udf_type(const Plan *p, const Term *call)
{
    return dtype_of(udf_declared(p->udfs, call->name));
}
