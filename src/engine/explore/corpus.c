/*
 * Files of the exploration. A kept input is queue/id:NNNNNN,… as AFL++ names
 * them (libFuzzer takes any name); its time and origin stand in the name, so
 * that nothing else needs to be written for --resume.
 */
#include "engine/explore/ktest.h"
#include "engine/explore/explore_int.h"
#include "base/file.h"
#include "base/units.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SEEDS = 100000, MOST_INPUT = 256 << 20 };

/* In the name of an input that runs in another state than the first: it is no seed, because it
 * is reached anew from those that are. */
#define OF_STATE ",state:"

static const char *const origins[] = { "orig", "op:mutation", "op:solver", "op:sync", "op:front" };

void corpus_save(Explorer *x, const Entry *e)
{
    Str name = { 0 };
    str_addf(&name, "id:%06u", e->id);
    if (e->state)
        str_addf(&name, OF_STATE "%u", e->state);
    if (e->parent != UINT32_MAX)
        str_addf(&name, ",src:%06u", e->parent);
    str_addf(&name, ",time:%.0f,%s", e->when * 1000, origins[e->origin]);
    if (e->parent != UINT32_MAX && e->new_edge)
        str_add(&name, ",+cov");
    char *path = path_join(x->queue_dir, str_c(&name));
    unlink(path);                      /* of an earlier time, or somebody's link */
    FILE *f = fopen(path, "wbx");
    bool whole = f && fwrite(e->bytes, 1, e->n, f) == e->n;
    if (f && fclose(f) != 0)
        whole = false;
    if (!whole)
        explorer_unsaved(x, path, errno);
    free(path);
    str_release(&name);
}

/* ---- seeds */

static bool try_input(Job *j, const void *bytes, size_t n, Origin origin)
{
    if (j->x->plan->systematic)
        return systematic_try(j, bytes, n, origin);
    return stage_try(j, bytes, n, origin, UINT32_MAX, NULL);
}

/* Seeds are the user's, who may name them by links; what others left is followed nowhere. */
static bool read_input(const char *path, Origin origin, Str *out)
{
    if (file_size(path) > MOST_INPUT)
        return false;
    return origin == FROM_SEED ? file_is_regular(path) && file_read(path, out, NULL)
                               : file_read_left(path, MOST_INPUT, out, NULL);
}

static bool try_file(Job *j, const char *path, Origin origin, Err *err)
{
    Str data = { 0 };
    bool ok = true;
    if (!strstr(path_base(path), OF_STATE) && read_input(path, origin, &data)) {
        Str objects = { 0 };
        const Str *input = ktest_read(str_c(&data), data.len, &objects) ? &objects : &data;
        size_t n = input->len < j->x->longest ? input->len : j->x->longest;
        ok = try_input(j, str_c(input), n, origin);
        if (!ok)
            err_set(err, "%s", j->err.msg);
        str_release(&objects);
    }
    str_release(&data);
    return ok;
}

static bool try_folder(Job *j, const char *path, Origin origin, Err *err)
{
    Strings names = { 0 };
    bool ok = dir_list(path, &names, err);
    for (size_t i = 0; ok && i < names.len && i < MOST_SEEDS && !job_over(j); i++) {
        char *file = path_join(path, names.items[i]);
        explorer_look(j->x);
        ok = names.items[i][0] == '.' || try_file(j, file, origin, err);
        free(file);
    }
    strings_release(&names);
    return ok;
}

/* Without seeds: nothing, a line, some zeros, a long word, lines of words and numbers. */
static bool try_defaults(Job *j, Err *err)
{
    static const uint8_t zeros[64];
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char lines[] = "one 1\ntwo 2.5 -3\nfour = \"5\", [6]; {7}\n";
    static const struct {
        const void *bytes;
        size_t n;
    } all[] = { { "", 0 },
                { "0\n", 2 },
                { zeros, 8 },
                { zeros, 64 },
                { word, sizeof word - 1 },
                { lines, sizeof lines - 1 } };
    for (size_t i = 0; i < sizeof all / sizeof *all && !job_over(j); i++) {
        if (!try_input(j, all[i].bytes, all[i].n, FROM_SEED))
            return err_set(err, "%s", j->err.msg);
        explorer_look(j->x);
    }
    return true;
}

/* Goes on with an earlier exploration. Its files are moved aside and read in again, under new
 * numbers; each is gone when what it has to say stands elsewhere. So nothing is lost if that is
 * interrupted: what is still there is taken up by the next one, before what it left. */
typedef struct Aside {
    char *dir;
    Strings names;
    bool *seen;                  /* of each: what it has to say is known now */
} Aside;

/* A beginning that no name has yet; "" will do if there is none. */
static char *beginning(const Strings *names)
{
    char *text = xstrdup("");
    for (unsigned k = 2; names->len; k++) {
        size_t i = 0;
        free(text);
        text = xprintf("again%u,", k);
        while (i < names->len && !str_starts(names->items[i], text))
            i++;
        if (i == names->len)
            break;
    }
    return text;
}

static bool move_aside(const char *dir, Aside *a, Err *err)
{
    a->dir = xprintf("%s.old", dir);
    Strings now = { 0 }, there = { 0 };
    bool ok = explorer_own_folder(a->dir, err) && dir_list(dir, &now, err) &&
              dir_list(a->dir, &there, err);
    char *new = beginning(&there);
    for (size_t i = 0; ok && i < now.len; i++) {
        char *from = path_join(dir, now.items[i]),
             *to = xprintf("%s/%s%s", a->dir, new, now.items[i]);
        if (rename(from, to) != 0)
            ok = err_errno(err, "%s", from);
        free(from);
        free(to);
    }
    free(new);
    strings_release(&now);
    strings_release(&there);
    ok = ok && dir_list(a->dir, &a->names, err);
    a->seen = xcalloc(a->names.len + 1, sizeof *a->seen);
    return ok;
}

static void release_aside(Aside *a)
{
    if (a->dir)
        rmdir(a->dir);                 /* it is empty, or stays */
    free(a->dir);
    free(a->seen);
    strings_release(&a->names);
}

static bool try_earlier(Job *j, const Aside *a, Err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < a->names.len && !job_over(j); i++) {
        char *path = path_join(a->dir, a->names.items[i]);
        size_t unsaved = j->x->unsaved;
        explorer_look(j->x);
        ok = try_file(j, path, FROM_OTHERS, err);
        if (ok && !job_over(j) && j->x->unsaved == unsaved)
            unlink(path);
        free(path);
    }
    return ok;
}

/* A run that took too long takes long again. */
static bool is_of_late(const char *path)
{
    static const FailureKind late[] = { FAILURE_TIMEOUT, FAILURE_CPU_LIMIT, FAILURE_HANG };
    bool is = false;
    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        is |= str_ends(path, failure_kind_name(late[i]));
    return is;
}

/* With the smaller input beside it, it need not be made again. What no longer fails stays where
 * it is: the program may have changed, or the judge. */
static void judge_earlier(Job *j, Aside *a, bool late)
{
    unsigned mended = 0;
    for (size_t i = 0; i < a->names.len && !job_over(j); i++) {
        char *path = path_join(a->dir, a->names.items[i]);
        char *small_path = xprintf("%s,small", path), *test = xprintf("%s,test.c", path);
        Str data = { 0 }, small = { 0 };
        explorer_look(j->x);
        if (!str_ends(path, ",small") && !str_ends(path, ",test.c") && is_of_late(path) == late &&
            file_read_left(path, MOST_INPUT, &data, NULL)) {
            bool is_small = file_read_left(small_path, MOST_INPUT, &small, NULL);
            size_t unsaved = j->x->unsaved;
            bool fails = failures_again(j, &data, is_small ? &small : NULL);
            a->seen[i] = !job_over(j);
            mended += !fails && !job_over(j);
            if (fails && j->x->unsaved == unsaved) {
                unlink(path);
                unlink(small_path);
                unlink(test);
            }
        }
        str_release(&data);
        str_release(&small);
        free(path);
        free(small_path);
        free(test);
    }
    if (mended)
        explorer_note(j->x, "%u earlier failure%s not fail any more; %s in %s", mended,
                      mended == 1 ? " does" : "s do", mended == 1 ? "it stays" : "they stay",
                      a->dir);
}

/* Back to where what was told of it says that it is. */
static void give_back_file(const Explorer *x, const Aside *a, const char *name, Strings *out)
{
    const char *own = str_starts(name, "again") ? strchr(name, ',') : NULL;
    char *from = path_join(a->dir, name), *to = path_join(x->failures_dir, own ? own + 1 : name);
    if (!file_exists(to) && rename(from, to) == 0 && out)
        strings_add(out, to);
    free(from);
    free(to);
}

/* Earlier failures that no time was left for stay what they were. */
static void give_back(Explorer *x, const Aside *a)
{
    for (size_t i = 0; i < a->names.len; i++) {
        const char *name = a->names.items[i];
        if (a->seen[i] || str_ends(name, ",small") || str_ends(name, ",test.c"))
            continue;
        char *small = xprintf("%s,small", name), *test = xprintf("%s,test.c", name);
        give_back_file(x, a, name, &x->left_over);
        give_back_file(x, a, small, NULL);
        give_back_file(x, a, test, NULL);
        free(small);
        free(test);
    }
}

static bool resume(Job *j, Err *err)
{
    Explorer *x = j->x;
    Aside queue = { 0 }, failures = { 0 };
    bool ok = move_aside(x->queue_dir, &queue, err) && move_aside(x->failures_dir, &failures, err);
    if (ok) {
        judge_earlier(j, &failures, false);
        ok = try_earlier(j, &queue, err);
    }
    if (ok)
        judge_earlier(j, &failures, true);
    if (ok)
        give_back(x, &failures);
    release_aside(&queue);
    release_aside(&failures);
    return ok;
}

static bool is_empty(const char *folder)
{
    Strings names = { 0 };
    bool empty = dir_list(folder, &names, NULL);
    for (size_t i = 0; i < names.len; i++)
        empty &= names.items[i][0] == '.';
    strings_release(&names);
    return empty;
}

bool corpus_seeds(Job *j, Err *err)
{
    const ExplorePlan *plan = j->x->plan;
    bool ok = true;
    if (plan->resume && file_is_dir(j->x->queue_dir))
        ok = resume(j, err);
    for (char *const *s = plan->seeds; ok && s && *s; s++) {
        if (file_is_dir(*s) && is_empty(*s))
            explorer_note(j->x, "%s: no seeds are in this folder", *s);
        else if (file_is_dir(*s))
            ok = try_folder(j, *s, FROM_SEED, err);
        else if (file_is_regular(*s))
            ok = try_file(j, *s, FROM_SEED, err);
        else
            ok = err_set(err, "%s: no such file or folder of seeds", *s);
    }
    if (!ok || queue_length(j->x->queue) || plan->replay)
        return ok;
    if (!plan->systematic)
        return try_defaults(j, err);
    return systematic_begin(j) || err_set(err, "%s", j->err.msg);
}

/* ---- sync */

/* Files that others have put down since: DIR, DIR/queue, and DIR/NAME/queue as AFL++
 * has it. */
static bool read_folder(Job *j, const char *dir, unsigned deep)
{
    Strings names = { 0 };
    bool ok = true;
    if (!dir_list(dir, &names, NULL))
        return true;
    for (size_t i = 0; ok && i < names.len && !job_over(j); i++) {
        char *path = path_join(dir, names.items[i]);
        if (names.items[i][0] == '.' || strcmp(path, j->x->queue_dir) == 0) {
            /* not for us */
        } else if (file_is_dir(path)) {
            if (deep)
                ok = read_folder(j, path, deep - 1);
        } else if (!map_get(&j->imported, path)) {
            map_put(&j->imported, path, j);
            ok = try_file(j, path, FROM_OTHERS, NULL);
        }
        free(path);
    }
    strings_release(&names);
    return ok;
}

bool corpus_sync(Job *j)
{
    bool ok = true;
    double now = clock_seconds();
    if (!j->x->plan->sync || now - j->synced < 5 || j->number != 0)
        return true;
    for (char *const *s = j->x->plan->sync; ok && *s; s++)
        ok = read_folder(j, *s, 2);
    j->synced = clock_seconds();
    return ok;
}
