/* What the files of the HTML writer share. All program-controlled text goes
 * through escape_html(); nothing else may write it to the page. */
#ifndef SUNDEW_HTML_INT_H
#define SUNDEW_HTML_INT_H
#include "base/map.h"
#include "finding/output_int.h"

typedef struct Html {
    const FindingSet *set;
    const OutputOptions *o;
    Sources *sources;
    Str *out;
    int context;               /* lines of source around a marked one */
    bool many;                 /* so many findings that colours would be slow */
    double drawing;            /* seconds spent on pictures */
    Map pictures;              /* Graphviz source to SVG (a char *, "": none) */
} Html;

/* html_source.c: source text */
/* A line of C with spans for its tokens, [from, to) of it marked. */
void html_code(Str *out, const char *text, size_t len, CState *state, size_t from, size_t to);
/* The place's lines and `context` more; false if there is no source. */
/* The function that the finding is in, whole, the steps' numbers in front of their lines.
 * False: it can't be found, is too long, or an excerpt shows all of it. */
bool html_function(Html *h, const Finding *f);
bool html_excerpt(Html *h, const Location *at, int context);
void html_diff(Html *h, const Finding *f);
void html_attachment(Html *h, const Attachment *at);

/* html_overview.c: what a command has run; nothing if there is no overview */
void html_overview(Html *h);

/* html_markdown.c: the subset that rule pages use. No links, no markup. */
void html_markdown(Str *out, const char *text);

/* html_picture.c: drawn with `dot` where it is installed, else as text */
void html_picture(Html *h, const char *dot);
#endif
