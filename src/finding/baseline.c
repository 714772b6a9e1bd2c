#include "finding/baseline.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/vec.h"
#include <ctype.h>

/* 32 hex digits, then a blank or the end. */
static bool is_entry(const char *line)
{
    for (int i = 0; i < ID_LEN; i++)
        if (!isxdigit((unsigned char)line[i]) || isupper((unsigned char)line[i]))
            return false;
    return !line[ID_LEN] || isspace((unsigned char)line[ID_LEN]);
}

bool baseline_read(const char *path, Map *entries, Err *err)
{
    Str text = { 0 };
    bool ok = !file_exists(path) || file_read(path, &text, err);
    char *rest = text.data;
    int number = 0;
    for (char *line; ok && (line = strsep(&rest, "\n"));) {
        number++;
        line[strcspn(line, "\r")] = 0;
        if (line[strspn(line, " \t")] == 0 || *line == '#')
            continue;
        if (!is_entry(line)) {
            ok = err_set(err,
                         "%s:%d: this is no fingerprint: if a merge left it "
                         "there, take the lines of both sides",
                         path, number);
            break;
        }
        char id[ID_LEN + 1];
        memcpy(id, line, ID_LEN);
        id[ID_LEN] = 0;
        void **slot = map_slot(entries, id);
        if (!*slot)
            *slot = xstrdup(line);
    }
    str_release(&text);
    return ok;
}

void baseline_release(Map *entries)
{
    for (size_t i = 0; i < entries->len; i++)
        free(entries->entries[i].value);
    map_release(entries);
}

/* "fingerprint  rule  path  function: message". No line numbers: they would
 * change without a reason. */
static char *entry_line(const StoredFinding *f)
{
    Str s = { 0 };
    str_addf(&s, "%s  ", f->fingerprint);
    escape_terminal_z(&s, f->finding.rule);
    str_add(&s, "  ");
    escape_terminal_z(&s, f->finding.where.file ? f->finding.where.file : "-");
    str_add(&s, "  ");
    if (f->finding.where.function) {
        escape_terminal_z(&s, f->finding.where.function);
        str_add(&s, ": ");
    }
    escape_terminal_z(&s, f->finding.message);
    return str_take(&s);
}

/* Has the technique of this entry run? With `complete`: was every run of it
 * complete? */
static bool has_run(const FindingSet *set, const char *line, bool complete)
{
    const char *rule = line + ID_LEN;
    rule += strspn(rule, " \t");
    size_t n = strcspn(rule, "/ \t");
    bool found = false;
    for (size_t i = 0; i < set->nruns; i++) {
        const StoredRun *r = &set->runs[i];
        if (strlen(r->technique) != n || memcmp(r->technique, rule, n) != 0)
            continue;
        if (complete && r->incomplete)
            return false;
        found = true;
    }
    return found;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool write_lines(const char *path, Strings *lines, Err *err)
{
    Str text = { 0 };
    if (lines->len)
        qsort(lines->items, lines->len, sizeof *lines->items, by_text);
    str_add(&text, "# Findings that are accepted for now, one a line; made by `sundew "
                   "baseline set`.\n"
                   "# Only the first word counts. Lines can be deleted, and merged in "
                   "any order.\n");
    for (size_t i = 0; i < lines->len; i++) {
        str_add(&text, lines->items[i]);
        str_addc(&text, '\n');
    }
    bool ok = file_write(path, str_c(&text), text.len, err);
    str_release(&text);
    return ok;
}

bool baseline_set(const FindingSet *set, const char *path, Err *err)
{
    Map old = { 0 }, done = { 0 };
    Strings lines = { 0 };
    bool ok = baseline_read(path, &old, err);
    for (size_t i = 0; i < old.len; i++)
        if (!has_run(set, old.entries[i].value, false))
            strings_add(&lines, old.entries[i].value);
    for (size_t i = 0; i < set->len; i++) {
        const StoredFinding *f = &set->items[i];
        if (!f->suppressed && map_put(&done, f->fingerprint, NULL))
            vec_push(&lines, entry_line(f));
    }
    ok = ok && write_lines(path, &lines, err);
    strings_release(&lines);
    map_release(&done);
    baseline_release(&old);
    return ok;
}

bool baseline_prune(const FindingSet *set, const char *path, size_t *dropped, Err *err)
{
    Map old = { 0 }, there = { 0 };
    Strings lines = { 0 };
    bool ok = baseline_read(path, &old, err);
    for (size_t i = 0; i < set->len; i++)
        map_put(&there, set->items[i].fingerprint, NULL);
    for (size_t i = 0; i < old.len; i++)
        if (map_has(&there, old.entries[i].key) || !has_run(set, old.entries[i].value, true))
            strings_add(&lines, old.entries[i].value);
    *dropped = old.len - lines.len;
    if (ok && *dropped)
        ok = write_lines(path, &lines, err);
    strings_release(&lines);
    map_release(&there);
    baseline_release(&old);
    return ok;
}
