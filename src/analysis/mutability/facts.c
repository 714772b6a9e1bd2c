/*
 * One line a parameter, words separated by blanks:
 *
 *     sundew-mutability 1
 *     list_add 0 m!S i!SH im?? .Ur
 *
 * symbol; index; deep and own answer (verdict, ! if sound, stage); levels; letters
 * for what else
 * holds. Bytes of a symbol that could be taken for something else are %XX.
 */
#include "analysis/mutability/facts.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "sundew-mutability 1\n"

static const char verdicts[] = "?im";

struct MutFacts {
    Vec(MutFact) all;
    Map known;                   /* function index, parameter -> number + 1 */
};

static void print_symbol(Str *out, const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || *s == '%' || (unsigned char)*s >= 127)
            str_addf(out, "%%%02X", (unsigned char)*s);
        else
            str_addc(out, *s);
}

static void print_answer(Str *out, const MutAnswer *a)
{
    str_addf(out, " %c%c%s", verdicts[a->verdict], a->sound ? '!' : '-',
             a->stage ? mut_stage_name(a->stage) : "0");
}

static void print_param(Str *out, const MutParam *p)
{
    print_symbol(out, p->function->symbol);
    str_addf(out, " %u", p->index);
    print_answer(out, &p->deep);
    print_answer(out, &p->own);
    str_addc(out, ' ');
    for (int i = 0; i < MUT_LEVELS; i++)
        str_addc(out, verdicts[p->level[i]]);
    str_addf(out, " .%s%s%s%s%s%s\n", p->unchanged ? "U" : "", p->own_unchanged ? "u" : "",
             p->returned ? "r" : "", p->stored ? "k" : "", p->const_able ? "c" : "",
             p->declared_const ? "d" : "");
}

void mut_facts_print(const Mutability *m, const Program *p, Str *out)
{
    size_t n;
    const Function *const *fns = program_functions(p, &n);

    str_add(out, HEAD);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < fns[i]->nparams; k++) {
            const MutParam *x = mutability_param(m, fns[i], k);
            if (x && x->pointer)
                print_param(out, x);
        }
}

bool mut_facts_write(const Mutability *m, const Program *p, Err *err)
{
    char *path = program_cache_path(p, "mutability");
    Str s = { 0 };

    mut_facts_print(m, p, &s);
    bool ok = !path || file_write(path, s.data, s.len, err);
    str_release(&s);
    free(path);
    return ok;
}

/* ---- reading */

static bool read_verdict(char c, MutVerdict *v)
{
    const char *at = c ? strchr(verdicts, c) : NULL;

    *v = at ? (MutVerdict)(at - verdicts) : MUT_UNKNOWN;
    return at != NULL;
}

static bool read_answer(const char *word, MutAnswer *a)
{
    unsigned stage = 0;
    Err err = { 0 };

    if (strlen(word) < 3 || !read_verdict(word[0], &a->verdict))
        return false;
    a->sound = word[1] == '!';
    if (strcmp(word + 2, "0") && !mut_pipeline_read(word + 2, &stage, &err))
        return false;
    a->stage = (MutStage)stage;
    return true;
}

static char *read_symbol(const char *word)
{
    Str s = { 0 };
    unsigned c;

    for (; *word; word++)
        if (*word == '%' && sscanf(word + 1, "%2X", &c) == 1 && word[1] && word[2]) {
            str_addc(&s, (char)c);
            word += 2;
        } else {
            str_addc(&s, *word);
        }
    return str_take(&s);
}

static bool read_line(const Program *p, char *line, MutFact *f)
{
    char *word[6] = { 0 }, *rest = NULL, *end;

    for (int i = 0; i < 6; i++)
        if (!(word[i] = strtok_r(i ? NULL : line, " ", &rest)))
            return false;
    char *symbol = read_symbol(word[0]);
    f->function = program_function(p, symbol);
    free(symbol);
    f->index = (unsigned)strtoul(word[1], &end, 10);
    if (!f->function || *end || f->index >= f->function->nparams ||
        !read_answer(word[2], &f->deep) || !read_answer(word[3], &f->own) ||
        strlen(word[4]) != MUT_LEVELS)
        return false;
    for (int i = 0; i < MUT_LEVELS; i++)
        if (!read_verdict(word[4][i], &f->level[i]))
            return false;
    f->unchanged = strchr(word[5], 'U') != NULL;
    f->own_unchanged = strchr(word[5], 'u') != NULL;
    f->returned = strchr(word[5], 'r') != NULL;
    f->stored = strchr(word[5], 'k') != NULL;
    f->const_able = strchr(word[5], 'c') != NULL;
    f->declared_const = strchr(word[5], 'd') != NULL;
    return true;
}

static void add(MutFacts *facts, const MutFact *f)
{
    uint32_t key[2] = { f->function->index, f->index };

    assert(f->index < f->function->nparams);
    vec_push(&facts->all, *f);
    map_putn(&facts->known, key, sizeof key, (void *)(uintptr_t)facts->all.len);
}

MutFacts *mut_facts_open(const Program *p)
{
    char *path = program_cache_path(p, "mutability"), *rest = NULL;
    Str text = { 0 };
    Err err = { 0 };
    MutFacts *facts = NULL;

    if (path && file_read(path, &text, &err) && str_starts(str_c(&text), HEAD)) {
        facts = xcalloc(1, sizeof *facts);
        char *line = strtok_r(text.data + strlen(HEAD), "\n", &rest);
        for (; line; line = strtok_r(NULL, "\n", &rest)) {
            MutFact f = { 0 };
            if (read_line(p, line, &f))
                add(facts, &f);
        }
    }
    str_release(&text);
    free(path);
    return facts;
}

void mut_facts_close(MutFacts *facts)
{
    if (!facts)
        return;
    vec_release(&facts->all);
    map_release(&facts->known);
    free(facts);
}

const MutFact *mut_facts_param(const MutFacts *facts, const Function *fn, unsigned i)
{
    uint32_t key[2] = { fn->index, i };
    uintptr_t at = (uintptr_t)map_getn(&facts->known, key, sizeof key);

    return at ? &facts->all.items[at - 1] : NULL;
}

/* ---- observations */

/* The functions that were running, the parameter's own first. */
static void read_stack(const Program *p, char *text, MutWrite *w)
{
    char *rest = NULL;

    for (char *x = strtok_r(text, " ", &rest); x; x = strtok_r(NULL, " ", &rest)) {
        char *symbol = read_symbol(x);
        const Function *fn = program_function(p, symbol);
        if (fn && (!w->stack.len || w->stack.items[w->stack.len - 1] != fn))
            vec_push(&w->stack, fn);
        free(symbol);
    }
}

bool mut_observations_read(Mutability *m, const Program *p, const char *path, Err *err)
{
    Str text = { 0 };
    char *rest = NULL;
    unsigned number = 0;

    if (!file_read_left(path, 256u << 20, &text, err))     /* the program may have written it */
        return false;
    str_addc(&text, '\n');
    str_addc(&text, '\0');
    for (char *line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char word[512];
        unsigned index, level, at;
        int used = 0;
        number++;
        if (sscanf(line, "%511s %u %u %u %n", word, &index, &level, &at, &used) < 4 || !used) {
            str_release(&text);
            return err_set(err, "%s:%u: not an observation (SYMBOL INDEX LEVEL LINE FILE)", path,
                           number);
        }
        char *symbol = read_symbol(word);
        const Function *fn = program_function(p, symbol);
        char *stack = line + used + strcspn(line + used, "\t");
        if (*stack)
            *stack++ = 0;
        MutWrite w = { .file = line + used, .line = at, .level = level };
        read_stack(p, stack, &w);
        if (fn)
            mutability_observe(m, fn, index, &w);
        vec_release(&w.stack);
        free(symbol);
    }
    str_release(&text);
    return true;
}
