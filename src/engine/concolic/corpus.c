/*
 * Files of the exploration. A kept input is queue/id:NNNNNN,… as AFL++ names
 * them (libFuzzer takes any name); its time and origin stand in the name, so
 * that nothing else needs to be written for --resume.
 */
#include "engine/concolic/explore_int.h"
#include "base/file.h"
#include "base/units.h"
#include <stdio.h>
#include <string.h>

enum { MOST_SEEDS = 100000 };

static const char *const origins[] = { "orig", "op:mutation", "op:solver", "op:sync" };

void corpus_save(Explorer *x, const Entry *e)
{
    char *name = e->parent == UINT32_MAX
                     ? xprintf("id:%06u,time:%.0f,%s", e->id, e->when * 1000,
                               origins[e->origin])
                     : xprintf("id:%06u,src:%06u,time:%.0f,%s%s", e->id, e->parent,
                               e->when * 1000, origins[e->origin], e->new_edge ? ",+cov" : "");
    char *path = path_join(x->queue_dir, name);
    FILE *f = fopen(path, "wb");
    if (f) {
        fwrite(e->bytes, 1, e->n, f);
        fclose(f);
    }
    free(path);
    free(name);
}

/* ------------------------------------------------------------------ seeds */

static bool try_file(Job *j, const char *path, Origin origin, Err *err)
{
    Str data = {0};
    bool ok = true;
    if (file_is_regular(path) && file_read(path, &data, NULL)) {
        size_t n = data.len < j->x->longest ? data.len : j->x->longest;
        ok = stage_try(j, (const uint8_t *)str_c(&data), n, origin, UINT32_MAX, NULL);
        if (!ok)
            err_set(err, "%s", j->err.msg);
    }
    str_release(&data);
    return ok;
}

static bool try_folder(Job *j, const char *path, Origin origin, Err *err)
{
    Strings names = {0};
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

/* Without seeds: nothing, a line, some zeros. */
static bool try_defaults(Job *j, Err *err)
{
    static const uint8_t zeros[64];
    static const struct {
        const void *bytes;
        size_t n;
    } all[] = { { "", 0 }, { "0\n", 2 }, { zeros, 8 }, { zeros, 64 } };
    for (size_t i = 0; i < sizeof all / sizeof *all && !job_over(j); i++) {
        if (!stage_try(j, all[i].bytes, all[i].n, FROM_SEED, UINT32_MAX, NULL))
            return err_set(err, "%s", j->err.msg);
        explorer_look(j->x);
    }
    return true;
}

/* The earlier queue is moved aside and read in again, under new numbers. */
static bool try_earlier(Job *j, Err *err)
{
    Explorer *x = j->x;
    char *old = xprintf("%s.old", x->queue_dir);
    bool ok = true;
    dir_remove(old);
    if (rename(x->queue_dir, old) == 0) {
        ok = dir_make(x->queue_dir, err) && try_folder(j, old, FROM_OTHERS, err);
        if (ok && !job_over(j))
            dir_remove(old);
    }
    free(old);
    return ok;
}

/* Earlier failures are shown again, under new numbers. */
static bool judge_earlier(Job *j, Err *err)
{
    char *old = xprintf("%s.old", j->x->failures_dir);
    Strings names = {0};
    bool ok = true;
    dir_remove(old);
    if (rename(j->x->failures_dir, old) == 0)
        ok = dir_make(j->x->failures_dir, err) && dir_list(old, &names, err);
    for (size_t i = 0; ok && i < names.len && !job_over(j); i++) {
        char *path = path_join(old, names.items[i]);
        Str data = {0};
        explorer_look(j->x);
        if (!str_ends(path, ",test.c") && !str_ends(path, ",small") &&
            file_read(path, &data, NULL))
            ok = failures_judge(j, (const uint8_t *)str_c(&data), data.len, UINT32_MAX, true,
                                false);
        str_release(&data);
        free(path);
    }
    if (ok && !job_over(j))
        dir_remove(old);
    strings_release(&names);
    free(old);
    return ok;
}

static bool is_empty(const char *folder)
{
    Strings names = {0};
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
        ok = try_earlier(j, err) && judge_earlier(j, err);
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
    if (ok && queue_length(j->x->queue) == 0)
        ok = try_defaults(j, err);
    return ok;
}

/* ------------------------------------------------------------------- sync */

/* Files that others have put down since: DIR, DIR/queue, and DIR/NAME/queue as AFL++
 * has it. */
static bool read_folder(Job *j, const char *dir, unsigned deep)
{
    Strings names = {0};
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
