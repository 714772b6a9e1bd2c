/*
 * weave - what the weaving tests drive: a captured program (or bitcode files)
 * is rebuilt, plain or monitored, with a runtime of the test's own.
 *
 *     weave [-m] [-d] [-a SHARE] [-s STRATEGY] [-2] [-r FOLDER] [-n NAME] [-O LEVEL] [-l WORD]…
 *           PROGRAM OUT
 *     weave … -b UNIT.bc… -o OUT
 *
 *     -m            monitored; -d: what is kept of each function, or where the sites of -C are
 *     -t            with tags of all parameters
 *     -W            watched: all sites of all rules; evidence in OUT.evidence
 *     -c SHARE      concolic, with the standins there; by the analysis of what may be symbolic if
 *                   there is -a; -C SHARE: all of it, as the self-check
 *     -a SHARE      copies cut by points-to, with the summaries there
 *     -s STRATEGY   reference, shallow, used-fields, deep
 *     -2            second chance: all functions off at start
 *     -r FOLDER     where runtime/NAME.bc is; -n NAME: monitor
 */
#include "base/file.h"
#include "base/str.h"
#include "build/woven.h"
#include "weave/watch/watch.h"
#include "weave/weave.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Asked {
    bool monitored, tagged, watched, bitcode, alias, dump, full;
    const char *concolic;        /* folder */
    MonitorPlan plan;
    WovenBuild build;
    const char *folder, *name, *share;
    Strings more;
} Asked;

static int give_up(const Err *err)
{
    fprintf(stderr, "weave: %s\n", err->msg);
    return 2;
}

static CopyStrategy strategy(const char *name)
{
    static const char *const names[] = { "reference", "shallow", "used-fields", "deep" };
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0)
            return (CopyStrategy)i;
    fprintf(stderr, "weave: no strategy '%s'\n", name);
    exit(2);
}

static unsigned all_levels(const Function *fn, unsigned param, void *arg)
{
    (void)fn, (void)param, (void)arg;
    return TAG_LEVELS;
}

static void dump_sites(const Edges *edges)
{
    for (uint32_t i = 0; i < edges_count(edges); i++) {
        const EdgeInfo *e = edges_at(edges, i);
        if (e && e->site == i)
            printf("site %u: %s:%u:%u %s\n", i, e->file, e->line, e->column, e->fn->name);
    }
}

static bool concolic(Woven *w, const Program *p, const Calls *calls, Asked *a, Err *err)
{
    Edges *edges = edges_new(p, err);
    Symbolic *s = calls ? symbolic_new(p, calls, &(SymbolicPlan){ .argv = true }) : NULL;
    Standins *standins = standins_new();
    ConcolicPlan plan = { .symbolic = s, .edges = edges, .standins = standins, .full = a->full };
    char *folder = xprintf("%s/standins", a->concolic);
    bool ok = edges && standins_read_folder(standins, folder, err) &&
              weave_standins(w, standins, a->folder, err) && weave_concolic(w, &plan, err) &&
              weave_input(w, a->folder, err) && weave_runtime(w, a->folder, "forkserver", err) &&
              weave_runtime(w, a->folder, "concolic", err);
    free(folder);
    standins_free(standins);
    ConcolicFigures f = weave_concolic_figures(w);
    if (ok && a->dump)
        printf("%zu of %zu functions, %zu of %zu instructions, %zu left out\n", f.woven,
               f.functions, f.seen, f.instructions, f.left_out);
    if (ok && a->dump && a->full)
        dump_sites(edges);
    symbolic_free(s);
    edges_free(edges);
    return ok;
}

static bool watch_all(Woven *w, const Asked *a, Err *err)
{
    WatchLines lines = { 0 };
    map_put(&lines, "*", w);
    Watch *watch = watch_scan(w, true, &lines);
    map_release(&lines);
    size_t n, suspects = 0;
    WatchSite *const *sites = watch_sites(watch, &n);
    for (size_t i = 0; i < n; i++) {
        sites[i]->wanted = sites[i]->role != SITE_WITNESS;
        suspects += sites[i]->role == SITE_SUSPECT;
    }
    char *out = path_absolute(a->build.out), *path = xprintf("%s.evidence", out);
    bool ok = weave_watch(watch, &(WatchPlan){ .path = path, .key = "test" }, err) &&
              watch_file_make(watch, path, "test", err) &&
              weave_runtime(w, a->folder, "watch", err);
    if (ok)
        printf("%zu sites, %zu suspects, %u slots\n", n, suspects, watch_nslots(watch));
    free(out);
    free(path);
    watch_free(watch);
    return ok;
}

static int weave(const Program *p, Asked *a)
{
    Err err = { 0 };
    Woven *w = weave_begin(p, &err);
    if (!w)
        return give_up(&err);
    Calls *calls = a->alias ? calls_open(p, &(CallsPlan){ .share = a->share }, &err) : NULL;
    a->plan.calls = calls;
    bool ok = !a->monitored ||
              (weave_monitor(w, &a->plan, &err) && weave_runtime(w, a->folder, a->name, &err));
    if (ok && a->tagged) {
        TagPlan tags = { .wanted = all_levels,
                         .summaries = calls ? calls_summaries(calls) : NULL,
                         .counts = true };
        ok = weave_tags(w, &tags, &err) && weave_runtime(w, a->folder, a->name, &err);
    }
    ok = ok && (!a->watched || watch_all(w, a, &err));
    ok = ok && (!a->concolic || concolic(w, p, calls, a, &err));
    if (ok && a->monitored && a->dump) {
        Str text = { 0 };
        weave_monitor_dump(w, &text);
        fputs(str_c(&text), stdout);
        str_release(&text);
    }
    if (ok && a->monitored) {
        size_t monitored, trivial;
        weave_monitor_figures(w, &monitored, &trivial);
        printf("%zu monitored, %zu trivial\n", monitored, trivial);
    }
    ok = ok && woven_build(w, &a->build, &err);
    calls_close(calls);
    weave_end(w);
    return ok ? 0 : give_up(&err);
}

int main(int argc, char **argv)
{
    Asked a = { .folder = "build", .name = "monitor", .plan.strategy = COPY_USED_FIELDS };
    const char *workspace = NULL;
    int c;
    while ((c = getopt(argc, argv, "mtWc:C:da:s:2r:n:O:l:bo:w:")) != -1) {
        switch (c) {
        case 'm': a.monitored = true; break;
        case 't': a.tagged = true; break;
        case 'W': a.watched = true; break;
        case 'c': a.concolic = optarg; break;
        case 'C':
            a.concolic = optarg;
            a.full = true;
            break;
        case 'd': a.dump = true; break;
        case 'a':
            a.alias = true;
            a.share = optarg;
            break;
        case 's': a.plan.strategy = strategy(optarg); break;
        case '2': a.plan.second_chance = true; break;
        case 'r': a.folder = optarg; break;
        case 'n': a.name = optarg; break;
        case 'O':
            a.build.level = (unsigned)atoi(optarg);
            a.build.unoptimised = !a.build.level;
            break;
        case 'l': strings_add(&a.more, optarg); break;
        case 'b': a.bitcode = true; break;
        case 'o': a.build.out = optarg; break;
        case 'w': workspace = optarg; break;
        default: return 2;
        }
    }
    a.build.more = strings_argv(&a.more);
    Err err = { 0 };
    if (a.bitcode) {
        Program *p =
            program_open_bitcode((const char *const *)argv + optind, (size_t)(argc - optind), &err);
        return p ? weave(p, &a) : give_up(&err);
    }
    if (argc - optind != 2)
        return 2;
    a.build.out = argv[optind + 1];
    Workspace *ws = workspace_open(workspace, false, &err);
    const CapturedProgram *captured = ws ? workspace_program(ws, argv[optind], &err) : NULL;
    Program *p = captured ? program_open(ws, captured, &err) : NULL;
    if (!p)
        return give_up(&err);
    int status = weave(p, &a);
    program_close(p);
    workspace_close(ws);
    strings_release(&a.more);
    return status;
}
