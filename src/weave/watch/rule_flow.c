/*
 * A case that falls into the next one, and nothing in the source says that it is meant.
 *
 * The code has no more than an edge; labels, comments and what a statement sets are looked
 * up in the source. Suspect is a fall after which a value is set a second time that
 * nobody has read: the first setting was for nothing.
 */
#include "weave/watch/rules_int.h"
#include <ctype.h>
#include <inttypes.h>

enum { MOST_LINES = 60 };

static bool is_label(const char *line)
{
    line += strspn(line, " \t{}");
    return (str_starts(line, "case") && !isalnum((unsigned char)line[4]) && line[4] != '_') ||
           (str_starts(line, "default") && strchr(line, ':'));
}

static bool says_so(const char *line)
{
    return strcasestr(line, "fall") || strcasestr(line, "no break") || strcasestr(line, "nobreak");
}

static bool is_path(char c) { return isalnum((unsigned char)c) || strchr("_.->[]*", c); }

/* "p->kind = 3;" sets p->kind. NULL: it sets nothing by itself. */
static char *set_by(const char *line, const char **value)
{
    const char *label = is_label(line) ? strchr(line, ':') : NULL;
    line = label ? label + 1 : line;
    const char *at = strchr(line, '=');
    if (!at || at == line || at[1] == '=' || strchr("=!<>+-*/%&|^", at[-1]))
        return NULL;
    const char *end = at;
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    const char *from = end;
    while (from > line && from[-1] && is_path(from[-1]))
        from--;
    const char *before = from;
    while (before > line && isspace((unsigned char)before[-1]))
        before--;
    if (from == end || isdigit((unsigned char)*from) ||
        (before > line && !strchr(";{", before[-1])))
        return NULL;
    *value = at + 1;
    return xstrndup(from, (size_t)(end - from));
}

static bool mentions(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        bool before = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (before && !isalnum((unsigned char)at[n]) && at[n] != '_')
            return true;
    }
    return false;
}

/* The next mention of the name behind the label sets it to something else. */
static bool is_set_again(Watch *watch, LLVMValueRef i, unsigned line, const char *name,
                         const char *first)
{
    for (unsigned k = line; k < line + MOST_LINES; k++) {
        const char *text = watch_line_at(watch, i, k), *value = NULL;
        if (k > line && is_label(text))
            return false;
        if (mentions(text, name)) {
            char *set = set_by(text, &value);
            bool again = set && !strcmp(set, name) && !mentions(value, name) &&
                         strcmp(value + strspn(value, " "), first + strspn(first, " ")) != 0;
            free(set);
            return again;
        }
        if (strstr(text, "break;") || strstr(text, "return"))
            return false;
    }
    return false;
}

/* Is it read, or asked for, on one of these lines? Then setting it was not for nothing. */
static bool is_read(Watch *watch, LLVMValueRef i, unsigned from, unsigned to, const char *name)
{
    bool read = false;
    for (unsigned k = from; k < to && !read; k++)
        read = mentions(watch_line_at(watch, i, k), name);
    return read;
}

/* What the case that ends at `i` sets, and the next one from `line` on sets again. */
static char *set_twice(Watch *watch, LLVMValueRef i, unsigned line)
{
    unsigned end = LLVMGetDebugLocLine(i);
    for (unsigned k = end; k && k + MOST_LINES > end; k--) {
        const char *text = watch_line_at(watch, i, k), *value = NULL;
        char *name = set_by(text, &value);
        if (name && !is_read(watch, i, k + 1, line, name) &&
            is_set_again(watch, i, line, name, value))
            return name;
        free(name);
        if (is_label(text))
            return NULL;
    }
    return NULL;
}

static bool is_default(const char *line)
{
    const char *at = strstr(line, "default");
    return is_label(line) && at && strchr(at, ':');
}

/* The line of a label between the two places; 0: there is none, or the source says that
 * the fall is meant. A switch without `default` ends where that would be. */
static unsigned bare_label(Watch *watch, LLVMValueRef from, LLVMValueRef to, bool last)
{
    unsigned line = LLVMGetDebugLocLine(from), end = LLVMGetDebugLocLine(to), found = 0;
    if (!line || end <= line || end - line > MOST_LINES ||
        strstr(watch_line_at(watch, from, line), "break;"))
        return 0;
    for (unsigned k = line; k <= end; k++) {
        const char *text = watch_line_at(watch, from, k);
        if (says_so(text))
            return 0;
        if (k > line && !found && (last ? is_default(text) : is_label(text)))
            found = k;
    }
    return found;
}

static LLVMValueRef first_with_line(LLVMBasicBlockRef b)
{
    LLVMValueRef i = LLVMGetFirstInstruction(b);
    while (i && (LLVMIsAPHINode(i) || !LLVMGetDebugLocLine(i)))
        i = LLVMGetNextInstruction(i);
    return i;
}

static void add_fall(Watch *watch, LLVMValueRef from, LLVMBasicBlockRef to, bool last)
{
    LLVMValueRef next = first_with_line(to);
    unsigned label = next ? bare_label(watch, from, next, last) : 0;
    if (!label)
        return;
    char *name = set_twice(watch, from, label);
    WatchSite *s =
        watch_add(watch, from, name ? SITE_SUSPECT : SITE_LOOSE, "", name ? name : "case");
    s->group = s->key;
    s->fact[0] = name != NULL;
    s->places[s->nplaces++] = (WatchPlace){ label, 0 };
    free(name);
}

static void find_falls(Watch *watch, LLVMValueRef i)
{
    if (LLVMGetInstructionOpcode(i) != LLVMSwitch)
        return;
    LLVMBasicBlockRef home = LLVMGetInstructionParent(i);
    Map seen = { 0 };
    for (unsigned k = 0; k < LLVMGetNumSuccessors(i); k++) {
        LLVMBasicBlockRef to = LLVMGetSuccessor(i, k);
        if (map_getn(&seen, &to, sizeof to))
            continue;
        *map_slotn(&seen, &to, sizeof to) = watch;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(watch_function_of(i)); b;
             b = LLVMGetNextBasicBlock(b)) {
            LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
            if (b != home && end && LLVMIsABranchInst(end) && !LLVMIsConditional(end) &&
                LLVMGetSuccessor(end, 0) == to)
                add_fall(watch, end, to, k == 0);
        }
    }
    map_release(&seen);
}

static void join_fall(const WatchSite *s, const struct sundew_watch_slot *self,
                      const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test that takes the case before";
    if (self->n && s->fact[0])
        watch_say(out, GRADE_STRONG, s, self,
                  "the case fell into the next one %" PRIu64 " times, which set %s again: "
                  "what it had set was for nothing",
                  self->n, s->subject);
}

const WatchRule rule_fallthrough = {
    .family = "fallthrough",
    .objection = "the fall is meant",
    .opportunity = "falls",
    .instruction = find_falls,
    .probe = watch_probe_hit,
    .join = join_fall,
};
