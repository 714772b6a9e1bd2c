/*
 * judge - what is wrong with a reply.
 *
 *     Faults f = {0};
 *     judge_reply(&plan, reply, &f);
 *
 * Faults of the interpreter come from its own messages, never from the page.
 * Faults of the page come from libtidy, by a table of message keys that says
 * which of them count. The statement at fault is the one that wrote the
 * offending bytes. A page that broke off by a fault of the interpreter is not
 * held against HTML.
 */
#ifndef SUNDEW_WEB_JUDGE_H
#define SUNDEW_WEB_JUDGE_H
#include "web/server.h"

typedef enum FaultKind {
    FAULT_CRASH,               /* fatal error, uncaught exception, signal */
    FAULT_WARNING,
    FAULT_DEPRECATED,
    FAULT_HANG,
    FAULT_HTML_ERROR,
    FAULT_HTML_WARNING,
    FAULT_SQL,                 /* input changes the meaning of a query */
    FAULT_REFLECTED,           /* input reaches the page unescaped */
    FAULT_INCLUDE,             /* input chooses the file that is included */
    FAULT_REDIRECT,            /* input chooses the site that is redirected to */
    FAULT_FILE,                /* input chooses the file that is read or written */
    FAULT_SHELL,               /* input is a command of the shell */
    FAULT_EVAL,                /* input is code */
    FAULT_MAIL,                /* input adds headers to a mail */
    FAULT_NETWORK,             /* input chooses the host that is asked */
    FAULT_ACCESS,              /* a page of one role is open to another */
    FAULT_NKINDS
} FaultKind;
const char *fault_kind_name(FaultKind k);     /* crash, html-error … */

typedef struct Fault {
    FaultKind kind;
    char *message;
    char *file;                /* below the application; "" if not known */
    unsigned line;
    char *exit;                /* "file:line" of exit or die; "" if none */
    Strings stack;             /* "function file:line", innermost first */
} Fault;

typedef struct Faults {
    Fault *items;
    size_t len, cap;
} Faults;

typedef struct JudgePlan {
    const char *app;           /* the private copy's folder */
    bool no_html, no_deprecated;
} JudgePlan;

void judge_reply(const JudgePlan *plan, const Reply *r, Faults *out);
void faults_release(Faults *f);
void fault_copy(Fault *to, const Fault *from);
void fault_release(Fault *f);
/* Equal for faults that are one. To free. */
char *fault_key(const Fault *f);
bool faults_have(const Faults *f, const char *key);

/* The statement that wrote byte `at` of the page; false: not known. */
bool judge_blame(const Reply *r, size_t at, const char **file, unsigned *line);
/* A path below the application, for people. */
const char *judge_relative(const char *app, const char *file);
bool reply_is_html(const Reply *r);
Fault *judge_add(Faults *out, FaultKind kind, const char *message, const char *file, unsigned line);

/* html.c: what libtidy says that counts. utf8: the page says that it is. */
typedef void HtmlSays(void *arg, bool error, const char *message, unsigned line, unsigned column);
void html_check(const char *page, size_t n, bool utf8, HtmlSays *says, void *arg);
#endif
