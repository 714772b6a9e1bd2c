/*
 * What was reached, as LCOV writes it, for its viewers (genhtml) and services:
 *
 *     SF:FILE
 *     BRDA:LINE,0,N,TAKEN     one way of a branch on the line: 1, or - for never
 *     DA:LINE,TAKEN           a line with branches: was one of them taken?
 *     end_of_record
 *
 * A line without a branch is not listed: the explorer counts branches.
 */
#include "base/file.h"
#include "engine/explore/explore_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Way {
    const char *file;
    unsigned line;
    uint32_t edge;
    bool taken;
} Way;

static int by_place(const void *a, const void *b)
{
    const Way *x = a, *y = b;
    int c = strcmp(x->file, y->file);
    if (c == 0)
        c = (x->line > y->line) - (x->line < y->line);
    return c ? c : (x->edge > y->edge) - (x->edge < y->edge);
}

static void write_line(const Way *ways, size_t n, Str *branches, Str *lines)
{
    bool taken = false;
    assert(n > 0);
    for (size_t i = 0; i < n; i++) {
        str_addf(branches, "BRDA:%u,0,%zu,%s\n", ways[i].line, i, ways[i].taken ? "1" : "-");
        taken |= ways[i].taken;
    }
    str_addf(lines, "DA:%u,%d\n", ways[0].line, taken);
}

/* One file's ways, from `i` on; gives the end. */
static size_t write_file(const Way *ways, size_t n, size_t i, Str *out)
{
    Str branches = { 0 }, lines = { 0 };
    size_t begin = i, hit = 0, nlines = 0;
    while (i < n && strcmp(ways[i].file, ways[begin].file) == 0) {
        size_t k = i, taken = 0;
        for (; k < n && strcmp(ways[k].file, ways[i].file) == 0 && ways[k].line == ways[i].line;
             k++)
            taken += ways[k].taken;
        write_line(ways + i, k - i, &branches, &lines);
        nlines++;
        hit += taken > 0;
        i = k;
    }
    size_t taken = 0;
    for (size_t k = begin; k < i; k++)
        taken += ways[k].taken;
    str_addf(out, "TN:\nSF:%s\n%sBRF:%zu\nBRH:%zu\n%sLF:%zu\nLH:%zu\nend_of_record\n",
             ways[begin].file, str_c(&branches), i - begin, taken, str_c(&lines), nlines, hit);
    str_release(&branches);
    str_release(&lines);
    return i;
}

bool lcov_write(const Explorer *x, const char *path, Err *err)
{
    Vec(Way) ways = { 0 };
    Str out = { 0 };
    for (uint32_t i = 0; x->plan->front->place && i < queue_branches(x->queue); i++) {
        Way w = { .edge = i, .taken = queue_covers(x->queue, i) };
        x->plan->front->place(x->plan->subject, i, &w.file, &w.line);
        if (w.file && *w.file && !strpbrk(w.file, "\n\r") && w.line)
            vec_push(&ways, w);
    }
    if (ways.len)
        qsort(ways.items, ways.len, sizeof *ways.items, by_place);
    for (size_t i = 0; i < ways.len;)
        i = write_file(ways.items, ways.len, i, &out);
    bool ok = file_write(path, str_c(&out), out.len, err);
    str_release(&out);
    vec_release(&ways);
    return ok;
}
