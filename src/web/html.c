/*
 * What libtidy says about a page, and which of it counts. Tidy calls nearly
 * everything a warning, so the table decides. Keys that are not in it are
 * matters of taste, or of attributes younger than this tidy.
 */
#include "web/judge.h"
#include <tidy/tidy.h>
#include <tidy/tidybuffio.h>

static const struct {
    const char *key;
    bool error;
} keys[] = {
    { "MISSING_ENDTAG_FOR", true },
    { "MISSING_ENDTAG_BEFORE", true },
    { "MISSING_ENDTAG_OPTIONAL", false },
    { "DISCARDING_UNEXPECTED", true },
    { "UNKNOWN_ELEMENT", true },
    { "UNKNOWN_ELEMENT_LOOKS_CUSTOM", false },
    { "NON_MATCHING_ENDTAG", true },
    { "TAG_NOT_ALLOWED_IN", true },
    { "ILLEGAL_NESTING", true },
    { "NOFRAMES_CONTENT", true },
    { "COERCE_TO_ENDTAG", true },
    { "COERCE_TO_ENDTAG_WARN", true },
    { "REPEATED_ATTRIBUTE", true },
    { "UNEXPECTED_END_OF_FILE", true },
    { "UNEXPECTED_END_OF_FILE_ATTR", true },
    { "UNEXPECTED_GT", true },
    { "UNEXPECTED_QUOTEMARK", true },
    { "MISSING_QUOTEMARK", true },
    { "MISSING_QUOTEMARK_OPEN", true },
    { "MALFORMED_DOCTYPE", true },
    { "MISSING_STARTTAG", true },
    { "UNEXPECTED_ENDTAG", true },
    { "UNEXPECTED_ENDTAG_IN", true },
    { "TOO_MANY_ELEMENTS", true },
    { "TOO_MANY_ELEMENTS_IN", true },
    { "MALFORMED_COMMENT", true },
    { "MALFORMED_COMMENT_EOS", true },
    { "SUSPECTED_MISSING_QUOTE", true },
    { "DUPLICATE_FRAMESET", true },
    { "NESTED_EMPHASIS", false },
    { "NESTED_QUOTATION", false },
    { "CANT_BE_NESTED", true },
    { "ANCHOR_NOT_UNIQUE", false },
    { "MISSING_DOCTYPE", false },
    { "MISSING_TITLE_ELEMENT", false },
    { "INVALID_UTF8", false },
    { "INVALID_SGML_CHARS", false },
    { "INVALID_NCR", false },
    { "MISSING_SEMICOLON_NCR", false },
    { "INVALID_ATTRIBUTE", false },
    { "MISSING_ATTR_VALUE", false },
    { "BAD_ATTRIBUTE_VALUE", false },
};

typedef struct Listener {
    HtmlSays *says;
    void *arg;
    unsigned told;
} Listener;

static const int *severity(const char *key)
{
    static const int error = 1, warning = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].key, key) == 0)
            return keys[i].error ? &error : &warning;
    return NULL;
}

static Bool TIDY_CALL on_message(TidyMessage m)
{
    Listener *l = tidyGetAppData(tidyGetMessageDoc(m));
    const int *s = severity(tidyGetMessageKey(m));
    if (s && l->told++ < 100)
        l->says(l->arg, *s, tidyGetMessageDefault(m), (unsigned)tidyGetMessageLine(m),
                (unsigned)tidyGetMessageColumn(m));
    return no;
}

void html_check(const char *page, size_t n, HtmlSays *says, void *arg)
{
    Listener l = { .says = says, .arg = arg };
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
