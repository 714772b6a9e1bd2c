/* Reading a ledger: one statement a line, words split at blanks, text with
 * blanks in double quotes, and a comment after #. */
#include "internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 200
#define MAX_WORDS (MAX_PARTS + 2)
#define MAX_FILE 65536

enum verb { SHELF, ITEM, PRICE, IN, OUT, VOID, KIT, NOTE, VERBS };

/* What follows the verb: w is any word, n a number, u a unit. */
static const struct {
    const char *name, *words;
    int least;                      /* so many must be there */
} verbs[VERBS] = {
    [SHELF] = { "shelf", "wn", 2 },
    [ITEM]  = { "item", "wwun", 3 },
    [PRICE] = { "price", "wn", 2 },
    [IN]    = { "in", "nwnu", 4 },
    [OUT]   = { "out", "nwnu", 4 },
    [VOID]  = { "void", "n", 1 },
    [KIT]   = { "kit", "wwwwwwwww", 2 },
    [NOTE]  = { "note", "ww", 2 },
};

struct statement {
    char text[MAX_LINE];
    char *words[MAX_WORDS];
    long numbers[MAX_WORDS];        /* of the words that are numbers */
    enum larder_unit unit;
    int count;
};

static int number(struct larder *l, const char *word, long *value)
{
    char *end;

    *value = strtol(word, &end, 10);
    if (end == word || *end != '\0' || *value < 0 || *value > LARDER_MAX)
        return larder_fail(l, LARDER_SYNTAX, "bad number '%s'", word);
    return LARDER_OK;
}

static int split(struct larder *l, struct statement *st)
{
    char *p = st->text;

    for (st->count = 0; ; st->count++) {
        p += strspn(p, " \t\r");
        if (*p == '\0' || *p == '#')
            return LARDER_OK;
        if (st->count == MAX_WORDS)
            return larder_fail(l, LARDER_SYNTAX, "too many words");
        int quoted = *p == '"';
        p += quoted;
        st->words[st->count] = p;
        p += strcspn(p, quoted ? "\"" : " \t\r");
        if (quoted && *p == '\0')
            return larder_fail(l, LARDER_SYNTAX, "missing quote");
        if (*p != '\0')
            *p++ = '\0';
    }
}

static int check(struct larder *l, enum verb verb, struct statement *st)
{
    const char *words = verbs[verb].words;
    int given = st->count - 1, status = LARDER_OK;

    if (given < verbs[verb].least || given > (int)strlen(words))
        return larder_fail(l, LARDER_SYNTAX, "wrong number of words");
    for (int i = 1; i <= given && status >= 0; i++) {
        const char *word = st->words[i];
        if (words[i - 1] == 'n')
            status = number(l, word, &st->numbers[i]);
        else if (words[i - 1] == 'u' && larder_unit_parse(word, &st->unit) < 0)
            return larder_fail(l, LARDER_SYNTAX, "'%s' is no unit", word);
    }
    return status;
}

/* A part is NAME or NAME:QUANTITY, with a ? at the end if optional. */
static int add_part(struct larder *l, const char *kit, const char *word)
{
    char part[MAX_LINE];
    size_t length = strcspn(word, "?");
    int optional = word[length] == '?';
    long quantity = 1;

    memcpy(part, word, length);
    part[length] = '\0';
    char *colon = strchr(part, ':');
    if (colon != NULL) {
        *colon = '\0';
        if (number(l, colon + 1, &quantity) < 0)
            return LARDER_SYNTAX;
    }
    return larder_add_part(l, kit, part, quantity, optional);
}

static int run(struct larder *l, enum verb verb, const struct statement *st)
{
    char *const *w = st->words;
    const long *n = st->numbers;
    int status;

    switch (verb) {
    case SHELF: return larder_add_shelf(l, w[1], n[2]);
    case ITEM:  return larder_add_item(l, w[1], w[2], st->unit, n[4]);
    case PRICE: return larder_set_price(l, w[1], n[2]);
    case IN:    return larder_receive(l, w[2], (int)n[1], n[3], st->unit);
    case OUT:   return larder_issue(l, w[2], (int)n[1], n[3], st->unit);
    case VOID:  return larder_void(l, n[1]);
    case NOTE:  return larder_set_note(l, w[1], w[2]);
    default:    status = larder_add_kit(l, w[1]);
    }
    for (int i = 2; i < st->count && status >= 0; i++)
        status = add_part(l, w[1], w[i]);
    return status;
}

static int run_line(struct larder *l, const char *text, size_t length)
{
    struct statement st = {0};
    enum verb verb = 0;

    if (length >= MAX_LINE)
        return larder_fail(l, LARDER_SYNTAX, "the line is too long");
    memcpy(st.text, text, length);
    st.text[length] = '\0';
    int status = split(l, &st);
    if (status < 0 || st.count == 0)
        return status;
    while (verb < VERBS && strcmp(verbs[verb].name, st.words[0]) != 0)
        verb++;
    if (verb == VERBS)
        return larder_fail(l, LARDER_SYNTAX, "unknown '%s'", st.words[0]);
    status = check(l, verb, &st);
    return status < 0 ? status : run(l, verb, &st);
}

int larder_load_buffer(struct larder *l, const char *text, size_t length)
{
    int status = LARDER_OK;

    for (l->line = 1; length > 0 && status >= 0; l->line++) {
        const char *end = memchr(text, '\n', length);
        size_t size = end ? (size_t)(end - text) : length;
        status = run_line(l, text, size);
        text += size + (end != NULL);
        length -= size + (end != NULL);
    }
    l->line = 0;
    return status < 0 ? status : LARDER_OK;
}

static enum larder_status status_of_errno(int error)
{
    return error == ENOENT ? LARDER_NOT_FOUND : LARDER_IO;
}

int larder_load_file(struct larder *l, const char *path)
{
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return larder_fail(l, status_of_errno(errno), "no %s", path);

    char *text = malloc(MAX_FILE);
    size_t length = text ? fread(text, 1, MAX_FILE, f) : 0;
    int status = text && feof(f) ? larder_load_buffer(l, text, length)
        : larder_fail(l, LARDER_IO, "cannot read all of %s", path);
    free(text);
    fclose(f);
    return status;
}
