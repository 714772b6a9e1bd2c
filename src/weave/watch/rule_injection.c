/*
 * Commands for the shell and for databases that are built from texts.
 *
 * The run-time half (runtime/watch/inputs.c) remembers what the program read. A word
 * of the command that was read before, and is none of the function's own constants, came
 * from outside. Without quotes it predicts that a word with special characters gets through;
 * with quotes only a word that has a quote itself can tell.
 */
#include "weave/watch/rules_int.h"
#include <inttypes.h>

static const struct sink {
    const char *name;
    unsigned text;                   /* argument */
    bool sql;
} sinks[] = {
    { "system", 0, false },
    { "popen", 0, false },
    { "sqlite3_exec", 1, true },
    { "sqlite3_prepare", 1, true },
    { "sqlite3_prepare_v2", 1, true },
    { "sqlite3_prepare_v3", 1, true },
    { "sqlite3_get_table", 1, true },
    { "mysql_query", 1, true },
    { "mysql_real_query", 1, true },
    { "PQexec", 1, true },
    { "PQprepare", 2, true },
};

/* Where a text comes in: the buffer, and how long it is. */
static const struct source {
    const char *name;
    int buffer, size;                /* arguments; -1: the result */
    bool stream;                     /* the result counts items of that size */
} sources[] = {
    { "read", 1, -1, false },    { "recv", 1, -1, false },     { "recvfrom", 1, -1, false },
    { "pread", 1, -1, false },   { "fread", 0, 1, true },      { "fgets", -1, -1, false },
    { "getline", 0, -1, false }, { "getdelim", 0, -1, false },
};

enum { KIND_SHELL, KIND_SQL, KIND_SOURCE };

/* execl("/bin/sh", "sh", "-c", command, NULL) */
static bool is_shell_call(LLVMValueRef i, const char *name)
{
    size_t n = 0;
    if ((strcmp(name, "execl") && strcmp(name, "execlp")) || LLVMGetNumArgOperands(i) < 5)
        return false;
    const char *flag = watch_constant_text(LLVMGetOperand(i, 2), &n);
    return flag && n == 3 && !strcmp(flag, "-c");
}

static void add_sink(Watch *watch, LLVMValueRef i, unsigned text, bool sql)
{
    if (LLVMGetNumArgOperands(i) <= text || LLVMTypeOf(LLVMGetOperand(i, text)) != watch->w->ptr ||
        watch_is_constant_text(LLVMGetOperand(i, text), 4))
        return;
    WatchSite *s = watch_add(watch, i, SITE_SUSPECT, "commands", watch_callee(i));
    s->fact[0] = sql ? KIND_SQL : KIND_SHELL;
    s->fact[1] = text;
}

static void find(Watch *watch, LLVMValueRef i)
{
    const char *name = watch_library(i);
    if (!name)
        return;
    if (is_shell_call(i, name))
        add_sink(watch, i, 3, false);
    for (size_t k = 0; k < sizeof sinks / sizeof *sinks; k++)
        if (!strcmp(sinks[k].name, name))
            add_sink(watch, i, sinks[k].text, sinks[k].sql);
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++)
        if (!strcmp(sources[k].name, name) && LLVMGetNumArgOperands(i) >= 3) {
            WatchSite *s = watch_add(watch, i, SITE_WITNESS, "commands", name);
            s->fact[0] = KIND_SOURCE;
            s->fact[1] = (int64_t)k;
        }
}

static void probe_source(Watch *watch, WatchSite *s)
{
    const struct source *from = &sources[s->fact[1]];
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0];
    watch_go_after(watch, i);
    LLVMValueRef buffer = from->buffer < 0 ? i : LLVMGetOperand(i, (unsigned)from->buffer);
    bool result = LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind;
    LLVMValueRef n = result ? watch_i64(watch, i, true) : weave_int(w, w->i64, 0);
    if (from->stream)
        n = LLVMBuildMul(w->builder, n,
                         watch_i64(watch, LLVMGetOperand(i, (unsigned)from->size), false), "");
    if (LLVMTypeOf(buffer) != w->ptr)
        return;                      /* a declaration that is not the library's */
    LLVMValueRef args[] = { buffer, n };
    bool line = !strncmp(from->name, "getline", 7) || !strncmp(from->name, "getdelim", 8);
    const char *probe = from->buffer < 0 ? "sundew_watch_input_text"
                        : line           ? "sundew_watch_input_line"
                                         : "sundew_watch_input";
    watch_call(watch, probe, w->void_, args, 2);
}

/* The texts that the function, and those that call it, are written with. */
static void add_constants(LLVMValueRef fn, Str *out)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            for (int k = 0; k < LLVMGetNumOperands(i) && out->len < 8192; k++) {
                size_t n = 0;
                LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
                bool pointer = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
                const char *text = pointer ? watch_constant_text(v, &n) : NULL;
                if (text && n > 1)
                    str_addf(out, "%.*s\n", (int)strnlen(text, n), text);
            }
}

static void probe(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0], fn = watch_function_of(i);
    Str own = { 0 };
    if (s->fact[0] == KIND_SOURCE) {
        probe_source(watch, s);
        return;
    }
    add_constants(fn, &own);
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u))
        if (LLVMIsACallInst(LLVMGetUser(u)))
            add_constants(watch_function_of(LLVMGetUser(u)), &own);
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), LLVMGetOperand(i, (unsigned)s->fact[1]),
                            weave_text(w, str_c(&own)),
                            weave_int(w, w->i32, s->fact[0] == KIND_SQL) };
    watch_go_before(watch, i);
    watch_call(watch, "sundew_watch_command", w->void_, args, 4);
    str_release(&own);
}

static void join(const WatchSite *s, const struct sundew_watch_slot *self, const WatchEvidence *all,
                 WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test with a quote and a blank in a text that the program reads";
    out->open = (self->bits & SUNDEW_WORD_QUOTED) && !(self->bits & SUNDEW_WORD_ESCAPED);
    if (self->bad_bits & SUNDEW_WORD_SPECIAL)
        watch_say(
            out, GRADE_STRONG, s, self,
            "a text from the program's input or arguments went into the command of %s() with its "
            "special characters, as a part of the command",
            s->subject);
    else if (self->bad)
        watch_say(
            out, GRADE_PREDICTIVE, s, self,
            "a word from the program's input or arguments went into the command of %s() without "
            "quotes (%" PRIu64 " of %" PRIu64 " calls)",
            s->subject, self->bad, self->n);
}

const WatchRule rule_injection = {
    .family = "injection",
    .objection = "the texts are harmless",
    .opportunity = "commands",
    .instruction = find,
    .probe = probe,
    .join = join,
};
