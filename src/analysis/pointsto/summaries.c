/*
 * Reading summary lines. A line is cut at the first ';': left of it stands the
 * prototype (name, parameters, "->" and the result), right of it the effects,
 * words parted by blanks. The grammar is in docs/summaries.md.
 */
#include "analysis/pointsto/summaries.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include <ctype.h>
#include <string.h>

struct Summaries {
    Arena arena;
    Map functions;           /* name -> Summary */
    Map variables;           /* name -> Summary */
    Map aliases;             /* name -> name */
    Strings tags;
    uint64_t hash;
};

typedef struct Parser {
    Summaries *all;
    Summary *s;
    const char *path;
    unsigned line;
    Vec(SummaryParam) params;
    Vec(SummaryAssign) assigns;
    Vec(SummaryCallback) callbacks;
    Vec(SummaryTerm) writes;
    Err *err;
} Parser;

static bool bad(Parser *p, const char *what, const char *word)
{
    return err_set(p->err, "%s:%u: %s%s%.60s%s", p->path, p->line, what, word ? " '" : "",
                   word ? word : "", word ? "'" : "");
}

static unsigned tag_number(Summaries *all, const char *tag)
{
    for (size_t i = 0; i < all->tags.len; i++)
        if (!strcmp(all->tags.items[i], tag))
            return (unsigned)i;
    strings_add(&all->tags, tag);
    return (unsigned)all->tags.len - 1;
}

/* ---- terms */

static bool parse_term(Parser *p, const char *text, SummaryTerm *t)
{
    char *word = arena_strdup(&p->all->arena, text);
    size_t n = strlen(word);

    *t = (SummaryTerm){ 0 };
    if (n > 2 && !strcmp(word + n - 2, "+?")) {
        t->anywhere = true;
        word[n - 2] = 0;
    }
    for (; *word == '*'; word++)
        t->stars++;
    if (t->stars > 3)
        return bad(p, "too many stars in", text);
    if (!strcmp(word, "-"))
        return t->stars || t->anywhere ? bad(p, "not a term:", text) : true;
    if (*word == '@' && word[1]) {
        t->kind = SUMMARY_STATE;
        t->param = tag_number(p->all, word + 1);
        return true;
    }
    static const struct {
        const char *word;
        int kind;
    } fixed[] = {
        { "new", SUMMARY_NEW },       { "static", SUMMARY_STATIC }, { "unknown", SUMMARY_UNKNOWN },
        { "public", SUMMARY_PUBLIC }, { "ret", SUMMARY_RETURN },    { "...", SUMMARY_REST },
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (!strcmp(word, fixed[i].word)) {
            t->kind = fixed[i].kind;
            return true;
        }
    for (size_t i = 0; i < p->params.len; i++)
        if (!strcmp(word, p->params.items[i].name)) {
            t->kind = SUMMARY_PARAM;
            t->param = (unsigned)i;
            return true;
        }
    return bad(p, "no such parameter or word:", text);
}

/* ---- left of the ';' */

static bool parse_uses(Parser *p, const char *letters, unsigned *use)
{
    static const struct {
        char letter;
        unsigned use;
    } known[] = {
        { 'r', SUMMARY_READ },    { 'w', SUMMARY_WRITE },  { 'f', SUMMARY_FREE },
        { 'k', SUMMARY_KEEP },    { 'c', SUMMARY_CALL },   { 'd', SUMMARY_DEEP },
        { 'm', SUMMARY_MAY },     { 'x', SUMMARY_LEAVES }, { 't', SUMMARY_TEXT },
        { 'g', SUMMARY_GUARDED },
    };

    if (!*letters)
        return bad(p, "letters are missing after ':'", NULL);
    for (const char *c = letters; *c; c++) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && known[i].letter != *c)
            i++;
        if (i == sizeof known / sizeof *known)
            return bad(p, "unknown use of a parameter:", letters);
        *use |= known[i].use;
    }
    return true;
}

static bool is_name(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_')
        return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("_.$", *s))
            return false;
    return true;
}

static bool parse_param(Parser *p, char *word)
{
    char *colon = strchr(word, ':');

    if (colon)
        *colon = 0;
    if (p->s->variadic)
        return bad(p, "nothing may follow '...'", NULL);
    if (!strcmp(word, "...")) {
        p->s->variadic = true;
        return !colon || parse_uses(p, colon + 1, &p->s->rest);
    }
    if (!is_name(word))
        return bad(p, "not a name:", word);
    for (size_t i = 0; i < p->params.len; i++)
        if (!strcmp(p->params.items[i].name, word))
            return bad(p, "two parameters of one name:", word);
    SummaryParam param = { .name = arena_strdup(&p->all->arena, word) };
    if (colon && !parse_uses(p, colon + 1, &param.use))
        return false;
    vec_push(&p->params, param);
    return true;
}

static bool parse_prototype(Parser *p, char *text)
{
    char *save = NULL;
    char *word = strtok_r(text, " \t", &save);

    if (!word || !is_name(word))
        return bad(p, "not the name of a function:", word ? word : "");
    p->s->name = arena_strdup(&p->all->arena, word);
    while ((word = strtok_r(NULL, " \t", &save))) {
        if (strcmp(word, "->")) {
            if (!parse_param(p, word))
                return false;
            continue;
        }
        word = strtok_r(NULL, " \t", &save);
        if (!word)
            return bad(p, "nothing follows '->'", NULL);
        if (!parse_term(p, word, &p->s->ret))
            return false;
        if ((word = strtok_r(NULL, " \t", &save)))
            return bad(p, "after the result only ';' may follow:", word);
        break;
    }
    return true;
}

/* ---- right of the ';' */

/* call f(a, b)=to, the blanks already gone. */
static bool parse_call(Parser *p, char *text)
{
    SummaryCallback cb = { 0 };
    char *open = strchr(text, '('), *close = strchr(text, ')');

    if (!open || !close || close < open)
        return bad(p, "call needs f(…):", text);
    *open = *close = 0;
    if (!parse_term(p, text, &cb.fn))
        return false;
    if (cb.fn.kind != SUMMARY_PARAM && cb.fn.kind != SUMMARY_STATE)
        return bad(p, "call needs a parameter:", text);
    char *save = NULL;
    for (char *w = strtok_r(open + 1, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
        if (cb.nargs == SUMMARY_MOST_ARGS)
            return bad(p, "too many arguments in call of", text);
        if (!parse_term(p, w, &cb.args[cb.nargs++]))
            return false;
    }
    if (close[1] == '=') {
        if (!parse_term(p, close + 2, &cb.result))
            return false;
    } else if (close[1]) {
        return bad(p, "after call f(…) only =TERM may follow:", close + 1);
    }
    vec_push(&p->callbacks, cb);
    return true;
}

static bool parse_assign(Parser *p, char *word)
{
    char *eq = strchr(word, '=');
    SummaryAssign as;

    *eq = 0;
    if (!parse_term(p, word, &as.to) || !parse_term(p, eq + 1, &as.from))
        return false;
    if (as.to.kind != SUMMARY_STATE &&
        ((as.to.kind != SUMMARY_PARAM && as.to.kind != SUMMARY_RETURN &&
          as.to.kind != SUMMARY_REST) ||
         !as.to.stars))
        return bad(p, "can't be assigned to:", word);
    vec_push(&p->assigns, as);
    return true;
}

/* write TERM */
static bool parse_write(Parser *p, char *word)
{
    SummaryTerm t;

    if (!parse_term(p, word, &t))
        return false;
    if (t.kind != SUMMARY_PARAM && t.kind != SUMMARY_REST)
        return bad(p, "write needs a parameter:", word);
    vec_push(&p->writes, t);
    return true;
}

/* handlers, handlers=PARAMETER */
static bool parse_handlers(Parser *p, const char *word)
{
    const char *eq = strchr(word, '=');
    SummaryTerm t = { 0 };

    if (eq && !parse_term(p, eq + 1, &t))
        return false;
    if (eq && (t.kind != SUMMARY_PARAM || t.stars || t.anywhere))
        return bad(p, "handlers needs a parameter:", word);
    p->s->stream = eq ? (int)t.param : -1;
    return p->s->handlers = true;
}

static bool parse_word(Parser *p, char *word)
{
    static const struct {
        const char *word;
        unsigned fails;
    } known[] = {
        { "null", SUMMARY_FAILS_NULL },         { "-1", SUMMARY_FAILS_MINUS_ONE },
        { "negative", SUMMARY_FAILS_NEGATIVE }, { "nonzero", SUMMARY_FAILS_NONZERO },
        { "zero", SUMMARY_FAILS_ZERO },         { "errno", SUMMARY_FAILS_ERRNO },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(word, known[i].word)) {
            p->s->fails |= known[i].fails;
            return true;
        }
    if (!strcmp(word, "noreturn"))
        return p->s->noreturn = true;
    if (!strcmp(word, "twice"))
        return p->s->twice = true;
    if (!strcmp(word, "later"))
        return p->s->later = true;
    if (!strcmp(word, "handlers") || str_starts(word, "handlers="))
        return parse_handlers(p, word);
    if (!strcmp(word, "text"))
        return p->s->text = true;
    if (strchr(word, '='))
        return parse_assign(p, word);
    return bad(p, "unknown effect:", word);
}

/* Takes the blanks out of "(a, b)", so that words part at blanks alone. */
static void join_arguments(char *text)
{
    char *to = text;
    int depth = 0;

    for (char *c = text; *c; c++) {
        depth += (*c == '(') - (*c == ')');
        if (depth <= 0 || !isspace((unsigned char)*c))
            *to++ = *c;
    }
    *to = 0;
}

static bool parse_effects(Parser *p, char *text)
{
    char *save = NULL;

    join_arguments(text);
    for (char *w = strtok_r(text, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
        bool call = !strcmp(w, "call"), write = !strcmp(w, "write");
        if ((call || write) && !(w = strtok_r(NULL, " \t", &save)))
            return bad(p, "nothing follows", call ? "call" : "write");
        if (!(call ? parse_call(p, w) : write ? parse_write(p, w) : parse_word(p, w)))
            return false;
    }
    return true;
}

/* ---- lines */

#define keep(p, field, T)                                                                          \
    ((p)->s->field = arena_array(&(p)->all->arena, T, (p)->field.len + 1),                         \
     (p)->field.len ? memcpy((p)->s->field, (p)->field.items, (p)->field.len * sizeof(T)) : NULL,  \
     (p)->s->n##field = (p)->field.len)

static bool parse_function(Parser *p, char *text)
{
    char *effects = strchr(text, ';');

    if (effects)
        *effects++ = 0;
    if (!parse_prototype(p, text) || (effects && !parse_effects(p, effects)))
        return false;
    keep(p, params, SummaryParam);
    keep(p, assigns, SummaryAssign);
    keep(p, callbacks, SummaryCallback);
    keep(p, writes, SummaryTerm);
    return true;
}

/* "alias NEW OLD" */
static bool parse_alias(Parser *p, char *text)
{
    char *save = NULL;
    char *name = strtok_r(text, " \t", &save);
    char *old = strtok_r(NULL, " \t", &save);

    if (!name || !old || strtok_r(NULL, " \t", &save) || !is_name(name) || !is_name(old))
        return bad(p, "alias needs two names", NULL);
    if (!map_has(&p->all->functions, old))
        return bad(p, "alias of an unknown function:", old);
    map_put(&p->all->aliases, name, arena_strdup(&p->all->arena, old));
    return true;
}

static bool parse_line(Parser *p, char *text)
{
    Summaries *all = p->all;

    p->s = arena_new(&all->arena, Summary);
    p->s->where = arena_printf(&all->arena, "%s:%u", p->path, p->line);
    p->params.len = p->assigns.len = p->callbacks.len = p->writes.len = 0;
    if (str_starts(text, "alias "))
        return parse_alias(p, text + 6);
    p->s->variable = str_starts(text, "var ");
    if (!parse_function(p, text + (p->s->variable ? 4 : 0)))
        return false;
    map_put(p->s->variable ? &all->variables : &all->functions, p->s->name, p->s);
    return true;
}

bool summaries_read_text(Summaries *all, const char *text, const char *path, Err *err)
{
    Parser p = { .all = all, .path = path, .err = err };
    char *copy = xstrdup(text), *next = copy;
    bool ok = true;

    while (ok && next) {
        char *line = next;
        p.line++;
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        line[strcspn(line, "#\r")] = 0;
        while (isspace((unsigned char)*line))
            line++;
        if (*line)
            ok = parse_line(&p, line);
    }
    all->hash = all->hash * 31 + hash_bytes(text, strlen(text));
    vec_release(&p.params);
    vec_release(&p.assigns);
    vec_release(&p.callbacks);
    vec_release(&p.writes);
    free(copy);
    return ok;
}

bool summaries_read(Summaries *all, const char *path, Err *err)
{
    Str text = { 0 };
    bool ok = file_read(path, &text, err);

    if (ok && strlen(str_c(&text)) != text.len)
        ok = err_set(err, "%s: holds a NUL byte", path);
    if (ok)
        ok = summaries_read_text(all, str_c(&text), path, err);
    str_release(&text);
    return ok;
}

bool summaries_read_folder(Summaries *all, const char *folder, Err *err)
{
    Strings names = { 0 };
    bool ok = dir_list(folder, &names, err);

    for (size_t i = 0; ok && i < names.len; i++) {
        if (!str_ends(names.items[i], ".txt"))
            continue;
        char *path = path_join(folder, names.items[i]);
        ok = summaries_read(all, path, err);
        free(path);
    }
    strings_release(&names);
    return ok;
}

/* ---- asking */

static const Summary *find_plain(const Summaries *all, const char *name)
{
    const char *other = map_get(&all->aliases, name);

    return map_get(&all->functions, other ? other : name);
}

const Summary *summaries_find(const Summaries *all, const char *name)
{
    static const char *const prefixes[] = { "__isoc99_", "__isoc23_", "__builtin_",
                                            "__GI_",     "__",        NULL };
    static const char *const suffixes[] = { "_chk", "64", NULL };
    const Summary *s = find_plain(all, name);
    size_t n = strlen(name);
    char plain[128];

    if (s || n >= sizeof plain)
        return s;
    for (size_t i = 0; suffixes[i] && !s; i++)
        if (str_ends(name, suffixes[i])) {
            snprintf(plain, sizeof plain, "%.*s", (int)(n - strlen(suffixes[i])), name);
            s = summaries_find(all, plain);
        }
    for (size_t i = 0; prefixes[i] && !s; i++)
        if (str_starts(name, prefixes[i]))
            s = find_plain(all, name + strlen(prefixes[i]));
    return s;
}

const Summary *summaries_variable(const Summaries *all, const char *name)
{
    return map_get(&all->variables, name);
}

bool summary_gives_numbers(const Summary *s)
{
    if (s->ret.kind != SUMMARY_NOTHING || s->variadic)
        return false;
    for (size_t i = 0; i < s->nparams; i++)
        if (s->params[i].use)
            return false;
    return true;
}

size_t summaries_count(const Summaries *all) { return all->functions.len; }

const char *summaries_tag(const Summaries *all, unsigned tag) { return all->tags.items[tag]; }

size_t summaries_ntags(const Summaries *all) { return all->tags.len; }

uint64_t summaries_hash(const Summaries *all) { return all->hash; }

bool summary_allocates(const Summary *s) { return s->ret.kind == SUMMARY_NEW; }

int summary_reallocates(const Summary *s)
{
    for (size_t i = 0; i < s->nassigns; i++) {
        const SummaryAssign *a = &s->assigns[i];
        if (a->to.kind == SUMMARY_RETURN && a->to.stars == 1 && a->from.kind == SUMMARY_PARAM &&
            a->from.stars == 1)
            return (int)a->from.param;
    }
    return -1;
}

Summaries *summaries_new(void) { return xcalloc(1, sizeof(Summaries)); }

void summaries_free(Summaries *all)
{
    if (!all)
        return;
    map_release(&all->functions);
    map_release(&all->variables);
    map_release(&all->aliases);
    strings_release(&all->tags);
    arena_release(&all->arena);
    free(all);
}
