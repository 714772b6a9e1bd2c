/*
 * Differences that somebody has read and accepted, each with a reason:
 *
 *     # candidate  function  kind  reason
 *     store_packed get       output  an empty text counts as removed, see store.h
 *
 * A star stands for any candidate, function or kind. In place of a kind there may be a normaliser
 * (normalise.c): then an output that differs only so is accepted.
 */
#include "base/file.h"
#include "technique/substitutes/substitutes_int.h"
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = { "*", "crash", "removed", "output", "deadlock", NULL };

static bool read_line(Substitutes *x, const char *path, unsigned number, char *s, Err *err)
{
    char *rest = NULL, *words[3];
    for (int i = 0; i < 3; i++) {
        words[i] = strtok_r(i ? NULL : s, " \t\r", &rest);
        if (!words[i] && i == 0)
            return true;
        if (!words[i])
            return err_set(err, "%s:%u: expected CANDIDATE FUNCTION KIND REASON", path, number);
    }
    while (rest && (*rest == ' ' || *rest == '\t'))
        rest++;
    if (!rest || !*rest)
        return err_set(err, "%s:%u: a difference is accepted for a reason: write one", path,
                       number);
    if (!str_is_one_of(words[2], kinds) && !str_is_one_of(words[2], normaliser_names()))
        return err_set(err,
                       "%s:%u: %s is no kind of difference: crash, removed, output, deadlock; nor "
                       "a normaliser: case, blanks, digits, order, sign, truth",
                       path, number, words[2]);
    char *key = xprintf("%s %s %s", words[0], words[1], words[2]);
    map_put(&x->accepted, key, arena_strdup(&x->arena, rest));
    free(key);
    return true;
}

bool accepted_read(Substitutes *x, const char *path, Err *err)
{
    Str text = { 0 };
    bool ok = file_read(path, &text, err);
    unsigned number = 0;
    for (char *s = text.data, *next; ok && s; s = next) {
        next = strchr(s, '\n');
        if (next)
            *next++ = 0;
        s[strcspn(s, "#")] = 0;
        ok = read_line(x, path, ++number, s, err);
    }
    str_release(&text);
    return ok;
}

static const char *reason_for(const Substitutes *x, const char *candidate, const char *function,
                              const char *kind)
{
    for (int i = 0; i < 4; i++) {
        char *key = xprintf("%s %s %s", i & 2 ? "*" : candidate, i & 1 ? "*" : function, kind);
        const char *reason = map_get(&x->accepted, key);
        free(key);
        if (reason)
            return reason;
    }
    return NULL;
}

const char *accepted_reason(const Substitutes *x, const Pair *p, const Difference *d)
{
    const char *candidate = p->side[SIDE_CANDIDATE].name, *function = p->calls[d->function].name;
    const char *reason = reason_for(x, candidate, function, difference_kind_name(d->how.kind));
    if (!reason)
        reason = reason_for(x, candidate, function, "*");
    for (unsigned i = 0; !reason && normaliser_names()[i]; i++)
        if (d->under & 1u << i)
            reason = reason_for(x, candidate, function, normaliser_names()[i]);
    return reason;
}
