/* Which rules of other tools belong to which of our families. */
#include "base/str.h"
#include "technique/confirm/warnings.h"
#include <string.h>

static const struct row {
    const char *rule;                /* ends with *: a beginning */
    const char *families[5];         /* none: no run speaks for or against it */
} rows[] = {
    /* gcc */
    { "-Wanalyzer-possible-null-*", { "unchecked-malloc", "unchecked-null", "null-pointer" } },
    { "-Wanalyzer-null-*", { "unchecked-null", "unchecked-malloc", "null-pointer" } },
    { "-Wnull-dereference", { "unchecked-null", "unchecked-malloc", "null-pointer" } },
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
    { "-Wanalyzer-mismatching-deallocation", { NULL } },
    { "-Wanalyzer-double-fclose", { "stale-pointer" } },
    { "-Wanalyzer-double-free", { "double-free", "stale-pointer" } },
    { "-Wanalyzer-unsafe-call-within-signal-handler", { "signal-handler" } },
    { "-Wanalyzer-file-leak", { "leak" } },
    { "-Wanalyzer-fd-leak", { "leak" } },
    { "-Wanalyzer-use-of-uninitialized-value", { "uninitialised" } },
    { "-Wmaybe-uninitialized", { "uninitialised" } },
    { "-Wuninitialized", { "uninitialised" } },
    { "-Wanalyzer-out-of-bounds", { "out-of-bounds" } },
    { "-Warray-bounds*", { "out-of-bounds" } },
    { "-Wstringop-overflow*", { "out-of-bounds" } },
    { "-Wanalyzer-shift-count-*", { "division" } },
    { "-Wshift-count-*", { "division" } },
    { "-Wdiv-by-zero", { "division" } },
    { "-Wunused-variable", { NULL } },
    { "-Wunused-but-set-*", { NULL } },
    { "-Wunused-parameter", { NULL } },
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
    { "core.NullDereference", { "unchecked-null", "unchecked-malloc", "null-pointer" } },
    { "core.NonNullParamChecker", { "unchecked-null", "unchecked-malloc", "null-pointer" } },
    { "unix.StdCLibraryFunctions", { "unchecked-null", "unchecked-malloc", "null-pointer" } },
    { "unix.Stream", { "leak", "unchecked-null", "null-pointer" } },
    { "core.uninitialized.*", { "uninitialised", "null-pointer" } },
    { "core.UndefinedBinaryOperatorResult", { "uninitialised", "division" } },
    { "core.CallAndMessage", { "uninitialised", "null-pointer", "unchecked-null" } },
    { "core.DivideZero", { "division" } },
    { "core.BitwiseShift", { "division" } },
    { "alpha.security.ArrayBound*", { "out-of-bounds" } },
    { "security.ArrayBound", { "out-of-bounds" } },
    { "alpha.unix.cstring.OutOfBounds", { "out-of-bounds" } },
    { "deadcode.*", { NULL } },
    { "unix.Malloc", { "leak", "stale-pointer", "double-free" } },
    { "unix.MallocSizeof", { "sizeof-pointer" } },
    { "unix.cstring.NullArg", { "unchecked-null", "unchecked-malloc", "null-pointer" } },
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
    { "ctunullpointer*", { "null-pointer" } },
    { "nullPointer*", { "unchecked-null", "unchecked-malloc", "null-pointer" } },
    { "memleakOnRealloc", { "unchecked-malloc" } },
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
    { "resourceLeak", { "leak" } },
    { "uninit*", { "uninitialised" } },
    { "legacyUninitvar", { "uninitialised" } },
    { "arrayIndexOutOfBounds*", { "out-of-bounds" } },
    { "negativeIndex", { "out-of-bounds" } },
    { "bufferAccessOutOfBounds", { "out-of-bounds" } },
    { "arrayIndexThenCheck", { "out-of-bounds" } },
    { "zerodiv*", { "division" } },
    { "shiftTooManyBits*", { "division" } },
    { "shiftNegative*", { "division" } },
    { "deallocret", { "stale-pointer" } },
    { "uselessAssignment*", { NULL } },
    { "invalidPrintfArgType*", { NULL } },
    { "useClosedFile", { "stale-pointer" } },
    { "identicalCondition*", { NULL } },
    { "identicalInnerCondition", { NULL } },
    { "allocaCalled", { NULL } },
    { "knownConditionTrueFalse", { NULL } },
    { "unreadVariable", { NULL } },
    { "variableScope", { NULL } },
    { "unusedVariable", { NULL } },
    { "redundant*", { NULL } },
    { "duplicate*", { NULL } },
    { "terminateStrncpy", { "strncpy" } },
    { "signalHandler*", { "signal-handler" } },
    /* CodeQL, Infer */
    { "cpp/toctou-race-condition", { "toctou" } },
    { "cpp/missing-null-test", { "unchecked-null", "unchecked-malloc", "null-pointer" } },
    { "cpp/inconsistent-null-check", { "unchecked-null", "null-pointer" } },
    { "cpp/return-value-ignored", { "dropped-error", "ignored-count" } },
    { "cpp/inconsistent-call-on-result", { "dropped-error", "ignored-count" } },
    { "cpp/non-constant-format", { "format-string" } },
    { "cpp/tainted-format-string", { "format-string" } },
    { "cpp/signed-overflow-check", { "overflow-test" } },
    { "cpp/suspicious-sizeof", { "sizeof-pointer" } },
    { "cpp/command-line-injection", { "injection" } },
    { "cpp/sql-injection", { "injection" } },
    { "cpp/uninitialized-local", { "uninitialised" } },
    { "cpp/static-buffer-overflow", { "out-of-bounds" } },
    { "cpp/use-after-free", { "stale-pointer" } },
    { "cpp/memory-may-not-be-freed", { "leak" } },
    { "cpp/file-may-not-be-closed", { "leak" } },
    { "cpp/double-free", { "double-free", "stale-pointer" } },
    { "cpp/bad-strncpy-size", { "strncpy" } },
    { "cpp/non-short-circuit-evaluation", { "non-short-circuit" } },
    { "NULL_DEREFERENCE", { "unchecked-null", "unchecked-malloc", "null-pointer" } },
    { "NULLPTR_DEREFERENCE*", { "unchecked-null", "unchecked-malloc", "null-pointer" } },
    { "UNINITIALIZED_VALUE", { "uninitialised" } },
    { "PULSE_UNINITIALIZED_VALUE", { "uninitialised" } },
    { "BUFFER_OVERRUN_*", { "out-of-bounds" } },
    { "DEAD_STORE", { NULL } },
    { "RESOURCE_LEAK", { "leak" } },
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
