/*
 * request - one request to a PHP application, as its parameters.
 *
 * A parameter has a path that says where it comes from, as the program asks
 * for it: GET[page], POST[user], COOKIE[lang], SERVER[HTTP_REFERER]. An element
 * of an array has its key behind it: GET[ids][0]. A parameter that is not in
 * the list is absent. BODY[raw] is a body that is no form. One of JSON has its
 * elements instead: JSON[user], JSON[ids][0], with types. FILENAME[x] is the name of
 * the file that FILES[x] holds.
 *
 * Requests are immutable once made; copies share nothing.
 */
#ifndef SUNDEW_WEB_REQUEST_H
#define SUNDEW_WEB_REQUEST_H
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "web/phpvalue.h"

typedef struct Param {
    char *path;
    char *text;                /* terminated, may hold NUL */
    size_t n;
    PhpType type;              /* of an element of JSON; PHP_UNKNOWN: text */
} Param;

typedef struct Request {
    char *script;              /* below the application's folder: "admin/login.php" */
    bool post;                 /* even without a POST parameter */
    bool multipart;
    bool forgets;              /* the browser has lost the cookies of the requests before */
    Vec(Param) params;
} Request;

Request *request_new(const char *script);
Request *request_copy(const Request *r);
void request_free(Request *r);

const Param *request_get(const Request *r, const char *path);
/* Sets, or with NULL removes. Below and above it (GET[a] against GET[a][0]) is
 * removed, because both can't be. */
void request_set(Request *r, const char *path, const char *text, size_t n);
void request_set_typed(Request *r, const char *path, const char *text, size_t n, PhpType type);
/* The parameter's value for PHP: absent is null. */
PhpValue request_value(const Request *r, const char *path);
bool request_is_post(const Request *r);

/* A stable text: equal for equal requests. */
void request_canonical(const Request *r, Str *out);
/* As a person reads it: "POST login.php user=admin pw=admin". */
void request_describe(const Request *r, Str *out);

/* What goes over the wire. */
void request_query(const Request *r, Str *out);             /* a=1&b=2 */
void request_body(const Request *r, Str *out, char **type); /* type: to free */
/* The body that elements of JSON make. */
void request_json(const Request *r, Str *out);
/* A body of JSON into elements; false: it is none, or can't be said so exactly. */
bool request_add_json(Request *r, const char *text, size_t n);
void request_cookies(const Request *r, Str *out);           /* a=1; b=2 */

/* "a=1&b[]=2" into parameters of this kind (GET or POST). */
void request_add_query(Request *r, const char *kind, const char *query);
/* The parameter that a field of this name sets: name "a[b]" is KIND[a][b]. */
char *request_path(const char *kind, const char *name);     /* to free */
/* The name of a parameter without its kind: "a[b]". To free. */
char *request_name(const char *path);
void url_encode(Str *out, const char *s, size_t n);
char *url_decode(const char *s, size_t n, size_t *len);     /* to free */
#endif
