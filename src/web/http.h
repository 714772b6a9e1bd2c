/*
 * http - one HTTP request as a browser sends it, and the answer as bytes.
 *
 *     HttpMessage m = {0};
 *     int status = http_read(bytes, n, &m);
 *     if (status == 0) …             more bytes are needed
 *     else if (status != 200) …      bad: answer with this status, and close
 *     else use(m.method, m.path, m.query, m.body);
 *     http_release(&m);
 *
 * Who sends it is not trusted. Heads and bodies have a largest size. What two
 * readers could understand differently is refused: two lengths, chunks, folded
 * headers, control characters. A path is decoded and has no "." or ".." in it;
 * names that begin with a dot are never served.
 */
#ifndef SUNDEW_WEB_HTTP_H
#define SUNDEW_WEB_HTTP_H
#include "web/server.h"

enum { HTTP_MOST_HEAD = 32 << 10, HTTP_MOST_BODY = 8 << 20, HTTP_MOST_HEADERS = 100 };

typedef struct HttpMessage {
    char *method;
    char *path;                /* decoded, begins with '/' */
    char *query;               /* as it was sent, without '?'; "" if none */
    Vec(Header) headers;
    Str body;
} HttpMessage;

int http_read(const char *bytes, size_t n, HttpMessage *out);
void http_release(HttpMessage *m);
const char *http_header(const HttpMessage *m, const char *name);   /* or NULL */
/* Has the head come, and does it wait for a "100 Continue" before the body? */
bool http_waits(const char *bytes, size_t n);

/* What a path means below an application's folder. */
typedef enum HttpWhat { HTTP_NOTHING, HTTP_SCRIPT, HTTP_FILE, HTTP_FOLDER } HttpWhat;
typedef struct HttpTarget {
    HttpWhat what;             /* HTTP_FOLDER: a '/' is missing at the end */
    char *file;                /* below the folder */
    char *info;                /* PATH_INFO of a script; NULL: none */
} HttpTarget;
HttpTarget http_target(const char *app, const char *entry, const char *path);
void http_target_release(HttpTarget *t);
const char *http_type(const char *file);                           /* "text/css" */

/* The request for the application. Cookies that the jar holds with the same value
 * are left to the jar; if it holds some and the browser sends none of them, the
 * browser has forgotten them. */
Request *http_request(const HttpMessage *m, const HttpTarget *t, const Strings *jar);

/* A whole answer. Cookies lose their time, because the application's clock stands. */
void http_answer(const Reply *r, bool head_only, Str *out);
void http_plain(int status, const char *type, const char *body, size_t n, const char *location,
                bool head_only, Str *out);
#endif
