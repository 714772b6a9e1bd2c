/* In place of page.c and html.c where libtidy and gumbo are not installed: the
 * tool builds, and `sundew web` says what is missing. */
#include "web/judge.h"
#include "web/page.h"

const char *page_missing(void)
{
    return "web was built without libtidy and gumbo: run tools/install-deps web, then make";
}

void page_options(const PagePlan *plan, const char *html, size_t n, Options *out)
{
    (void)plan;
    (void)html;
    (void)n;
    (void)out;
}

Request *page_target(const PagePlan *plan, const char *url)
{
    (void)plan;
    (void)url;
    return NULL;
}

void options_release(Options *o) { (void)o; }

void html_check(const char *page, size_t n, bool utf8, HtmlSays *says, void *arg)
{
    (void)utf8;
    (void)page;
    (void)n;
    (void)says;
    (void)arg;
}
