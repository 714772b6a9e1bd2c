/*
 * summaries - what functions without a body do: the C library and friends.
 *
 * One line a function, in share/summaries/ and in files that a user adds; the
 * format is described in docs/summaries.md:
 *
 *     strtok   s:rw sep:r -> @strtok          ; @strtok=s
 *     qsort    base:rw n size cmp:c           ; call cmp(base+?, base+?)
 *     getline  line:rw n:rw f:rw              ; *line=new -1 errno
 *
 *     Summaries *all = summaries_new();
 *     if (!summaries_read_folder(all, "share/summaries", err)) …
 *     const Summary *s = summaries_find(all, "__isoc99_sscanf");
 *
 * A later line for a name replaces an earlier one. What is handed out lives as
 * long as the Summaries.
 */
#ifndef SUNDEW_SUMMARIES_H
#define SUNDEW_SUMMARIES_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

typedef struct Summaries Summaries;

/* What a function does through a pointer that it is given. */
enum {
    SUMMARY_READ = 1,
    SUMMARY_WRITE = 2,
    SUMMARY_FREE = 4,
    SUMMARY_KEEP = 8,        /* it remembers the pointer after it returns */
    SUMMARY_CALL = 16,       /* the parameter is a function that it calls */
    SUMMARY_DEEP = 32,       /* reads and writes follow pointers further */
    SUMMARY_MAY = 64,        /* it writes only now and then: no evidence of a write */
    SUMMARY_LEAVES = 128,    /* the bytes of the object leave: to a file, to the kernel … */
    SUMMARY_TEXT = 256,      /* … as text, from its beginning */
    SUMMARY_GUARDED = 512,   /* it takes a lock of the object's own: threads may share it */
};

/* How a function says that it failed. */
enum {
    SUMMARY_FAILS_NULL = 1,
    SUMMARY_FAILS_MINUS_ONE = 2,
    SUMMARY_FAILS_NEGATIVE = 4,
    SUMMARY_FAILS_NONZERO = 8,
    SUMMARY_FAILS_ZERO = 16,
    SUMMARY_FAILS_ERRNO = 32,   /* and errno says why */
};

/* A pointer that takes part in an effect: `*line`, `base+?`, `new`, `@tag`. */
typedef struct SummaryTerm {
    enum {
        SUMMARY_NOTHING,     /* - */
        SUMMARY_PARAM,
        SUMMARY_REST,        /* ... : each variadic argument */
        SUMMARY_RETURN,      /* ret */
        SUMMARY_NEW,         /* fresh memory */
        SUMMARY_STATIC,      /* memory of the library's own, one for each function */
        SUMMARY_STATE,       /* @tag: what was put there by any function */
        SUMMARY_UNKNOWN,     /* anything from outside */
        SUMMARY_PUBLIC,      /* each variable of the program that has a name outside */
    } kind;
    unsigned param;          /* index of the parameter, or number of the tag */
    unsigned stars;          /* how often it is dereferenced */
    bool anywhere;           /* +? : somewhere in the object */
} SummaryTerm;

typedef struct SummaryAssign {
    SummaryTerm to, from;
} SummaryAssign;

/* Uses that change the object. */
enum { SUMMARY_CHANGES = SUMMARY_WRITE | SUMMARY_MAY | SUMMARY_FREE };

enum { SUMMARY_MOST_ARGS = 8 };

typedef struct SummaryCallback {
    SummaryTerm fn;          /* what holds the function: a parameter, `*p` */
    SummaryTerm args[SUMMARY_MOST_ARGS];
    unsigned nargs;
    SummaryTerm result;      /* where its result goes */
} SummaryCallback;

typedef struct SummaryParam {
    const char *name;
    unsigned use;            /* SUMMARY_READ … */
} SummaryParam;

typedef struct Summary {
    const char *name;
    const char *where;       /* file:line */
    SummaryParam *params;
    size_t nparams;
    bool variadic;
    unsigned rest;           /* use of the variadic arguments */
    SummaryTerm ret;
    SummaryAssign *assigns;
    size_t nassigns;
    SummaryCallback *callbacks;
    size_t ncallbacks;
    SummaryTerm *writes;     /* … points to memory that it may write; a star takes each
                              * pointer that is stored anywhere in the object */
    size_t nwrites;
    unsigned fails;          /* SUMMARY_FAILS_… */
    bool noreturn;
    bool twice;              /* returns twice, as setjmp */
    bool later;              /* its callbacks run at any time from then on */
    bool handlers; /* it runs functions that were given to the library before, by others too */
    int stream; /* … if this parameter is a stream of others; -1: always */
    bool text; /* what *p=*q copies is text: a few bytes, no object */
    bool variable; /* a variable of the library; ret is its content */
} Summary;

Summaries *summaries_new(void);
void summaries_free(Summaries *all);
/* Errors name the file and the line. */
bool summaries_read(Summaries *all, const char *path, Err *err);
bool summaries_read_text(Summaries *all, const char *text, const char *path, Err *err);
bool summaries_read_folder(Summaries *all, const char *folder, Err *err);

/* By the name as the linker sees it; __isoc99_, __NAME_chk and NAME64 forms
 * stand for the plain name if they have no line of their own. NULL: unknown. */
const Summary *summaries_find(const Summaries *all, const char *name);
const Summary *summaries_variable(const Summaries *all, const char *name);
/* labs(), ldiv(), ldexp(), ilogb(): numbers in, a number out, and it may be one of these. */
bool summary_gives_numbers(const Summary *s);
size_t summaries_count(const Summaries *all);
const char *summaries_tag(const Summaries *all, unsigned tag);
size_t summaries_ntags(const Summaries *all);
/* The same content gives the same number, for caches. */
uint64_t summaries_hash(const Summaries *all);

/* Does it return memory that it has just allocated? */
bool summary_allocates(const Summary *s);
/* The parameter whose content moves to the memory it returns (realloc), or -1. */
int summary_reallocates(const Summary *s);
#endif
