/* Which rules of other tools belong to which of our families. */
#include "base/str.h"
#include "technique/confirm/warnings.h"
#include <string.h>

static const struct row {
    const char *rule;                /* ends with *: a beginning */
    const char *families[4];
} rows[] = {
    /* gcc */
    { "-Wanalyzer-possible-null-*", { "unchecked-malloc", "unchecked-null" } },
    { "-Wanalyzer-null-*", { "unchecked-null", "unchecked-malloc" } },
    { "-Wnull-dereference", { "unchecked-null", "unchecked-malloc" } },
    { "-Wunused-result", { "ignored-count", "dropped-error" } },
    { "-Wsign-compare", { "sign-compare" } },
    { "-Wformat-security", { "format-string" } },
    { "-Wformat-nonliteral", { "format-string" } },
    { "-Wformat-truncation*", { "ignored-count" } },
    { "-Wsizeof-pointer-memaccess", { "sizeof-pointer" } },
    { "-Wsizeof-pointer-div", { "sizeof-pointer" } },
    { "-Wstringop-truncation", { "strncpy" } },
    { "-Wanalyzer-malloc-leak", { "leak" } },
    { "-Wanalyzer-use-after-free", { "stale-pointer" } },
    { "-Wanalyzer-double-free", { "double-free", "stale-pointer" } },
    { "-Wanalyzer-unsafe-call-within-signal-handler", { "signal-handler" } },
    { "-Wunused-function", { "unused-function" } },
    { "-Wbitwise-instead-of-logical", { "non-short-circuit" } },
    { "-Wparentheses", { "non-short-circuit" } },
    { "-Wimplicit-fallthrough*", { "fallthrough" } },
    { "-Wstrict-overflow*", { "overflow-test" } },
    { "-Walloc-size-larger-than*", { "malloc-product" } },
    { "-Wcast-align*", { "bad-cast" } },
    /* clang's analyzer */
    { "alpha.core.CastToStruct", { "bad-cast" } },
    { "alpha.core.CastSize", { "bad-cast" } },
    { "optin.taint.GenericTaint", { "injection" } },
    { "alpha.security.taint.*", { "injection" } },
    { "core.NullDereference", { "unchecked-null", "unchecked-malloc" } },
    { "core.NonNullParamChecker", { "unchecked-null", "unchecked-malloc" } },
    { "unix.StdCLibraryFunctions", { "unchecked-null", "unchecked-malloc" } },
    { "unix.Malloc", { "leak", "stale-pointer", "double-free" } },
    { "unix.MallocSizeof", { "sizeof-pointer" } },
    { "unix.cstring.NullArg", { "unchecked-null", "unchecked-malloc" } },
    { "alpha.core.SizeofPtr", { "sizeof-pointer" } },
    { "alpha.security.MallocOverflow", { "malloc-product" } },
    { "security.insecureAPI.strcpy", { "strncpy" } },
    /* clang-tidy */
    { "bugprone-unused-return-value", { "ignored-count", "dropped-error" } },
    { "cert-err33-c", { "ignored-count", "dropped-error", "unchecked-null" } },
    { "cert-err34-c", { "ignored-count" } },
    { "bugprone-not-null-terminated-result", { "strncpy" } },
    { "bugprone-sizeof-expression", { "sizeof-pointer" } },
    { "bugprone-signal-handler", { "signal-handler" } },
    { "cert-sig30-c", { "signal-handler" } },
    { "bugprone-implicit-widening-of-multiplication-result", { "malloc-product" } },
    { "bugprone-suspicious-memory-comparison", { "wrong-equality" } },
    { "cert-exp42-c", { "wrong-equality" } },
    { "cert-flp37-c", { "wrong-equality" } },
    { "cert-env33-c", { "injection" } },
    { "bugprone-command-processor", { "injection" } },
    /* cppcheck */
    { "nullPointer*", { "unchecked-null", "unchecked-malloc" } },
    { "memleak*", { "leak" } },
    { "doubleFree", { "double-free", "stale-pointer" } },
    { "deallocuse", { "stale-pointer" } },
    { "invalidTestForOverflow", { "overflow-test" } },
    { "pointerSize", { "sizeof-pointer" } },
    { "sizeofwithsilentarraypointer", { "sizeof-pointer" } },
    { "ignoredReturnValue", { "ignored-count", "dropped-error" } },
    { "ignoredReturnErrorCode", { "dropped-error", "ignored-count" } },
    { "bitwiseOnBoolean", { "non-short-circuit" } },
    { "unusedFunction", { "unused-function" } },
    { "terminateStrncpy", { "strncpy" } },
    { "signalHandler*", { "signal-handler" } },
    /* CodeQL, Infer */
    { "cpp/toctou-race-condition", { "toctou" } },
    { "cpp/missing-null-test", { "unchecked-null", "unchecked-malloc" } },
    { "cpp/inconsistent-null-check", { "unchecked-null" } },
    { "cpp/return-value-ignored", { "dropped-error", "ignored-count" } },
    { "cpp/inconsistent-call-on-result", { "dropped-error", "ignored-count" } },
    { "cpp/non-constant-format", { "format-string" } },
    { "cpp/tainted-format-string", { "format-string" } },
    { "cpp/signed-overflow-check", { "overflow-test" } },
    { "cpp/suspicious-sizeof", { "sizeof-pointer" } },
    { "cpp/command-line-injection", { "injection" } },
    { "cpp/sql-injection", { "injection" } },

    { "cpp/double-free", { "double-free", "stale-pointer" } },
    { "cpp/bad-strncpy-size", { "strncpy" } },
    { "cpp/non-short-circuit-evaluation", { "non-short-circuit" } },
    { "NULL_DEREFERENCE", { "unchecked-null", "unchecked-malloc" } },
    { "NULLPTR_DEREFERENCE*", { "unchecked-null", "unchecked-malloc" } },
    { "MEMORY_LEAK*", { "leak" } },
    { "USE_AFTER_FREE*", { "stale-pointer" } },
};

static bool is_named(const char *pattern, const char *rule)
{
    size_t n = strlen(pattern);
    return pattern[n - 1] == '*' ? !strncmp(pattern, rule, n - 1) : !strcmp(pattern, rule);
}

const char *const *family_of_rule(const char *rule)
{
    static const char analyzer[] = "clang-analyzer-";
    if (str_starts(rule, analyzer))
        rule += sizeof analyzer - 1;
    if (str_starts(rule, "confirm/") && watch_rule(rule + 8)) {
        static const char *own[2];
        own[0] = watch_rule(rule + 8)->family;
        return own;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool compiler = rows[i].rule[0] == '-' && rule[0] == 'W';
        if (is_named(rows[i].rule + compiler, rule))
            return rows[i].families;
    }
    return NULL;
}
