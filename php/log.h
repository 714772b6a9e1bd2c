/*
 * log - what one PHP request tells the driver, and what the driver tells it.
 *
 * Both sides map one piece of shared memory, the channel:
 *
 *     0        struct sundew_web               magic, version, counters
 *     4096     the request                     NAME=VALUE\0NAME=VALUE\0 …
 *     4096+R   the log                         records, one after the other
 *
 * The request holds CGI variables, and what earlier requests stored as SUNDEW_… variables;
 * its body is standard input. The log is a list of records. Each begins with
 * its kind and its length in bytes (header included, a multiple of 4). Numbers
 * have the machine's byte order: both sides run on one machine.
 *
 *     NODE     id op nargs args… text          an expression; text for CONST, INPUT, CALL
 *     BRANCH   site node taken file line       a condition on input was decided
 *     ERROR    type masked file line … text    a message of the interpreter, then its stack
 *     OUTPUT   file line bytes                 that many bytes of the page
 *     FRAGMENT file line … text                text written into an output buffer
 *     SINK     kind node file line text        text went to a database, a header, a shell …
 *     HIT      file line                       the statement was executed
 *     FILE     id text                         the name of a file
 *     LOST     node text                       a native function from which nothing is known back
 *     EXIT     file line                       exit or die
 *     SESSION  node text                       a labelled value was stored under this key
 *     LINE     file line                       there is a statement (answer to LIST)
 *
 * What is in the log was written by a process that runs hostile code: the
 * reader trusts no number in it.
 */
#ifndef SUNDEW_PHP_LOG_H
#define SUNDEW_PHP_LOG_H
#include <stdint.h>

#define SUNDEW_WEB_MAGIC   0x62577353u
#define SUNDEW_WEB_VERSION 1u
#define SUNDEW_WEB_FD      200
#define SUNDEW_WEB_ENV     "SUNDEW_WEB"       /* the channel's descriptor or file */

enum {
    SUNDEW_WEB_HEADER = 4096,
    SUNDEW_WEB_REQUEST = 1 << 20,
    SUNDEW_WEB_LOG = 24 << 20,
    SUNDEW_WEB_SIZE = SUNDEW_WEB_HEADER + SUNDEW_WEB_REQUEST + SUNDEW_WEB_LOG,
    SUNDEW_WEB_MOST_TEXT = 64 << 10,    /* of one record; longer text is cut */
    SUNDEW_WEB_MOST_ARGS = 40,
    SUNDEW_WEB_MOST_PER_SITE = 32,      /* branches logged at one site */
};

struct sundew_web {
    uint32_t magic, version;
    uint32_t request_len;
    uint32_t log_len;
    uint32_t begun, ended;      /* set by the request */
    uint32_t full;              /* the log was cut */
    uint32_t stale;             /* labels dropped because the value had changed */
    uint32_t handled;           /* operations done by our own code */
    uint32_t branches;          /* also those that were not logged */
    uint32_t answered;          /* the engine finished its own shutdown */
};

enum sundew_web_kind {
    WEB_NODE = 1, WEB_BRANCH, WEB_ERROR, WEB_OUTPUT, WEB_FRAGMENT, WEB_SINK,
    WEB_HIT, WEB_FILE, WEB_LOST, WEB_EXIT, WEB_SESSION, WEB_LINE,
    WEB_NKINDS
};

/* Every record: the fields that a kind does not use are 0. */
struct sundew_web_record {
    uint32_t kind, len;
    uint32_t id;                /* NODE, FILE: its number; BRANCH: the site */
    uint32_t op;                /* NODE: op; BRANCH: taken; ERROR: type; SINK: kind */
    uint32_t node;              /* BRANCH, SINK, LOST, SESSION; NODE: nargs;
                                   OUTPUT: bytes; ERROR: masked */
    uint32_t file, line;        /* NODE: the text's type, 0 */
    uint32_t text;              /* bytes of text behind it; NODE: behind the args */
};

enum sundew_web_op {
    WOP_NONE, WOP_CONST, WOP_INPUT, WOP_CALL,
    WOP_ADD, WOP_SUB, WOP_MUL, WOP_DIV, WOP_MOD, WOP_POW,
    WOP_SL, WOP_SR, WOP_AND, WOP_OR, WOP_XOR, WOP_BNOT, WOP_CONCAT,
    WOP_EQ, WOP_NE, WOP_SAME, WOP_NSAME, WOP_LT, WOP_LE, WOP_CMP,
    WOP_NOT, WOP_BOOL, WOP_INT, WOP_FLOAT, WOP_STR, WOP_BXOR,
    WOP_ISSET,                  /* not null */
    WOP_TYPE,                   /* its type is in the mask of argument 2 */
    WOP_LENGTH, WOP_OFFSET,     /* of a string; byte of a string */
    WOP_IN,                     /* x, strict?, values… */
    WOP_KEY,                    /* x, keys…: x as an array key is one of them */
    WOP_OPAQUE,                 /* depends on input, nothing else is known */
    WOP_N
};

/* The text of a constant is its type and its value: N, F, T, I and D with the
 * number as text, S and the bytes. */

enum sundew_web_sink {
    SINK_SQL = 1, SINK_HEADER, SINK_SHELL, SINK_MAIL, SINK_INCLUDE, SINK_FILE,
    SINK_EVAL, SINK_NETWORK,
    SINK_MAIL_HEADERS,
    SINK_SYNTAX,                /* SQL that the database could not read */
    SINK_BOUND,                 /* a value for a statement */
    SINK_N
};
#endif
