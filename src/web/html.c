/*
 * What libtidy says about a page, and which of it counts. Tidy calls nearly
 * everything a warning and knows HTML 4 best, so the table decides. What HTML 5
 * allows is not in it: values without quotes, attributes without a value, end
 * tags that may be left out, elements of one's own, blocks in links.
 *
 * Where the parser of HTML 5 decides (tags that are opened and not closed, or
 * closed and not opened), gumbo is asked too: it is that parser. A page that it
 * reads without an error has none of these faults.
 */
#include "web/judge.h"
#include <gumbo.h>
#include <tidy/tidy.h>
#include <tidy/tidybuffio.h>

typedef enum { DROPPED, WARNING, ERROR, STRUCTURE, STRUCTURE_WARNING, TEXT } Counts;

static const struct {
    const char *key;
    Counts counts;
} keys[] = {
    { "MISSING_ENDTAG_FOR", STRUCTURE },
    { "MISSING_ENDTAG_BEFORE", STRUCTURE },
    { "DISCARDING_UNEXPECTED", STRUCTURE },
    { "NON_MATCHING_ENDTAG", STRUCTURE },
    { "COERCE_TO_ENDTAG", STRUCTURE },
    { "COERCE_TO_ENDTAG_WARN", STRUCTURE },
    { "MISSING_STARTTAG", STRUCTURE_WARNING },
    { "UNEXPECTED_ENDTAG", STRUCTURE },
    { "UNEXPECTED_ENDTAG_IN", STRUCTURE },
    { "ILLEGAL_NESTING", STRUCTURE },
    { "CANT_BE_NESTED", STRUCTURE },
    { "TOO_MANY_ELEMENTS", ERROR },
    { "TOO_MANY_ELEMENTS_IN", ERROR },
    { "TAG_NOT_ALLOWED_IN", STRUCTURE },
    { "UNKNOWN_ELEMENT", ERROR },
    { "NOFRAMES_CONTENT", ERROR },
    { "REPEATED_ATTRIBUTE", ERROR },
    { "UNEXPECTED_END_OF_FILE", ERROR },
    { "UNEXPECTED_END_OF_FILE_ATTR", ERROR },
    { "UNEXPECTED_GT", ERROR },
    { "UNEXPECTED_QUOTEMARK", ERROR },
    { "MISSING_QUOTEMARK", ERROR },
    { "SUSPECTED_MISSING_QUOTE", ERROR },
    { "MALFORMED_DOCTYPE", ERROR },
    { "MALFORMED_COMMENT_EOS", ERROR },
    { "DUPLICATE_FRAMESET", ERROR },
    { "ANCHOR_NOT_UNIQUE", WARNING },
    { "MISSING_DOCTYPE", WARNING },
    { "MISSING_TITLE_ELEMENT", WARNING },
    { "INVALID_NCR", WARNING },
    { "INVALID_UTF8", TEXT },
    { "INVALID_SGML_CHARS", TEXT },
};

typedef struct Listener {
    HtmlSays *says;
    void *arg;
    bool utf8;                 /* the page says that it is */
    bool clean;                /* to the parser of HTML 5 */
    unsigned told;
} Listener;

static Counts counts(const char *key)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].key, key) == 0)
            return keys[i].counts;
    return DROPPED;
}

/* "missing </li>": an end tag that HTML 5 lets one leave out? */
static bool is_optional(const char *message)
{
    static const char *const names[] = { "li",    "dt",    "dd",       "p",        "rt",
                                         "rp",    "tr",    "optgroup", "option",   "caption",
                                         "thead", "tbody", "tfoot",    "colgroup", "td",
                                         "th",    "html",  "head",     "body",     NULL };
    const char *tag = strstr(message, "missing </");
    if (!tag)
        return false;
    char *name = xstrndup(tag + 10, strcspn(tag + 10, ">"));
    bool is = str_is_one_of(name, names);
    free(name);
    return is;
}

/* "<div> isn't allowed in <a> elements": is where HTML 5 allows it? In the body that is
 * everything but parts of tables and of the head. */
static bool is_allowed(const char *message)
{
    static const char *const fine[] = {
        "in <a> ",        "in <ins> ",    "in <del> ",  "in <map> ",
        "in <noscript> ", "<link> isn",   "<meta> isn", "in <button> ",
        "in <label> ",    "in <object> ", NULL
    };
    static const char *const not_in_body[] = { "td",       "th",   "tr",      "tbody", "thead",
                                               "tfoot",    "col",  "html",    "head",  "title",
                                               "colgroup", "body", "caption", "base",  "frame",
                                               "option",   NULL };
    if (!strstr(message, "isn't allowed in "))
        return false;
    for (const char *const *f = fine; *f; f++)
        if (strstr(message, *f))
            return true;
    if (!strstr(message, "in <body> "))
        return false;
    const char *tag = message + (*message == '<') + (message[0] == '<' && message[1] == '/');
    char *name = xstrndup(tag, strcspn(tag, " >"));
    bool is = !str_is_one_of(name, not_in_body);
    free(name);
    return is;
}

static Bool TIDY_CALL on_message(TidyMessage m)
{
    Listener *l = tidyGetAppData(tidyGetMessageDoc(m));
    const char *text = tidyGetMessageDefault(m);
    Counts c = counts(tidyGetMessageKey(m));
    if (c == DROPPED || ((c == STRUCTURE || c == STRUCTURE_WARNING) && l->clean) ||
        (c == TEXT && !l->utf8) || is_optional(text) || is_allowed(text) || l->told++ >= 100)
        return no;
    l->says(l->arg, c == ERROR || c == STRUCTURE, text, (unsigned)tidyGetMessageLine(m),
            (unsigned)tidyGetMessageColumn(m));
    return no;
}

/* Has the parser of HTML 5 nothing to say? An old declaration is no matter of
 * structure: the page is read as if it had the new one. */
static bool is_clean(const char *page, size_t n)
{
    char *head = xstrndup(page, n < 1000 ? n : 1000);
    const char *at = strcasestr(head, "<!doctype"), *end = at ? strchr(at, '>') : NULL;
    size_t skip = end ? (size_t)(end + 1 - head) : 0;
    Str s = { 0 };
    str_add(&s, "<!DOCTYPE html>");
    str_addn(&s, page + skip, n - skip);
    free(head);
    GumboOptions how = kGumboDefaultOptions;
    how.max_errors = 1;
    GumboOutput *tree = gumbo_parse_with_options(&how, str_c(&s), s.len);
    bool clean = tree && tree->errors.length == 0;
    if (tree)
        gumbo_destroy_output(&how, tree);
    str_release(&s);
    return clean;
}

void html_check(const char *page, size_t n, bool utf8, HtmlSays *says, void *arg)
{
    Listener l = { .says = says, .arg = arg, .utf8 = utf8, .clean = is_clean(page, n) };
    TidyDoc doc = tidyCreate();
    TidyBuffer in, errors;
    tidyBufInit(&in);
    tidyBufInit(&errors);
    tidySetAppData(doc, &l);
    tidySetErrorBuffer(doc, &errors);
    tidyOptSetBool(doc, TidyDropEmptyElems, no);
    tidyOptSetBool(doc, TidyMark, no);
    tidyOptSetValue(doc, TidyCharEncoding, "utf8");
    tidyOptSetInt(doc, TidyShowErrors, 1000);
    tidyBufAttach(&in, (byte *)page, (uint)n);
    tidySetMessageCallback(doc, on_message);
    tidyParseBuffer(doc, &in);
    tidyBufDetach(&in);
    tidyBufFree(&errors);
    tidyRelease(doc);
}
