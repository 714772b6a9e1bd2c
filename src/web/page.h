/*
 * page - what a person could do next on a page: follow links, press buttons,
 * send forms.
 *
 *     Options o = {0};
 *     page_options(&plan, html, n, &o);
 *
 * An option is a request, complete with defaults and hidden fields. Fields
 * without a default get one that is likely: credentials for a form with a
 * password, what the field's name asks for, else "1". Choices (select, radio, checkbox, several buttons) give
 * options of their own, a few each. Targets outside of the application are left
 * out. Of JavaScript only literal addresses, and constants that handlers put into
 * fields, are seen (script.h).
 */
#ifndef SUNDEW_WEB_PAGE_H
#define SUNDEW_WEB_PAGE_H
#include "web/request.h"

typedef struct Credential {
    char *user, *password;
} Credential;

typedef struct PagePlan {
    const Request *from;           /* the request that gave the page */
    const char *app;               /* the application's folder, to see which files there are */
    bool cgi;                      /* scripts are programs */
    const Credential *logins;
    size_t nlogins;
    bool polite;                   /* only what the page asks for: thesis mode */
} PagePlan;

typedef struct PageOption {
    Request *request;
    Strings free;                  /* paths of fields without a default */
    bool form;
    bool login;                    /* with credentials that were given to us */
    bool varied;                   /* the form with another choice than the likely one */
} PageOption;

typedef struct Options {
    PageOption *items;
    size_t len, cap;
} Options;

void page_options(const PagePlan *plan, const char *html, size_t n, Options *out);
/* The request for an address seen on the page; NULL: outside, or no script. */
Request *page_target(const PagePlan *plan, const char *url);
/* Can the page be read, by this and by html_check(), with a bearable use of time and of the stack? */
bool page_is_bearable(const char *page, size_t n);
/* What reading HTML needs and is not built in; NULL: nothing. */
const char *page_missing(void);
void options_release(Options *o);
#endif
