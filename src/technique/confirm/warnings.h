/*
 * warnings - what static checkers said, in one form.
 *
 *     Warnings all = {0};
 *     if (!warnings_read("clang.sarif", &all, err)) …     one call a file
 *     warnings_release(&all);
 *
 * The form of a file is told by its content: SARIF, clang's property list, gcc's
 * JSON, cppcheck's XML, clang-tidy's YAML, or plain lines as compilers print them.
 * Files come from anywhere: sizes and depths are limited, numbers are checked, and
 * a part that makes no sense is left out.
 */
#ifndef SUNDEW_CONFIRM_WARNINGS_H
#define SUNDEW_CONFIRM_WARNINGS_H
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "weave/watch/watch.h"

typedef enum { CONFIRMED, REJECTED, UNDETERMINED, UNANCHORED, VERDICTS } Verdict;
const char *verdict_text(Verdict v);           /* "confirmed", … */

typedef struct Warning {
    const char *tool, *rule;   /* as the tool calls it; "" if it has no name */
    const char *family;        /* ours; "" until it is anchored */
    const char *file;          /* as the tool wrote it, or absolute */
    unsigned line, column;     /* 0: not told */
    const char *message;
    Strings also;              /* other tools that say the same: "tool rule" */
    WatchSite *site;           /* NULL: not anchored */
    bool next;                 /* it is the next code, and reached on other ways, too */
    const char *reason;        /* … why */
    Verdict verdict;
    WatchJudgement said;
} Warning;

typedef struct Warnings {
    Arena arena;
    Vec(Warning) items;
    size_t left_out;           /* entries without a place */
} Warnings;

void warnings_release(Warnings *w);
bool warnings_read(const char *path, Warnings *out, Err *err);
/* The same of text that is there already; `name` for errors. `tool` NULL: as the text says. */
bool warnings_parse(const char *text, size_t n, const char *name, const char *tool, Warnings *out,
                    Err *err);
/* NULL, empty and too large things are left out. */
void warnings_add(Warnings *w, const char *tool, const char *rule, const char *file, long long line,
                  long long column, const char *message);

/* import_xml.c */
bool warnings_parse_plist(const char *text, size_t n, Warnings *out, Err *err);
bool warnings_parse_cppcheck(const char *text, size_t n, Warnings *out, Err *err);
/* import_text.c */
void warnings_parse_yaml(const char *text, size_t n, Warnings *out);
void warnings_parse_lines(const char *text, size_t n, const char *tool, Warnings *out);

/* families.c: the families that a tool's rule can belong to, NULL-terminated, none if no run
 * speaks about it; NULL: the rule is not known. */
const char *const *family_of_rule(const char *rule);
#endif
