/* Options of a page, on gumbo's tree; page.h is the manual. */
#include "web/page.h"
#include "web/server.h"
#include "base/file.h"
#include "web/script.h"
#include <assert.h>
#include <gumbo.h>

enum {
    MOST_OPTIONS = 120,
    MOST_CHOICES = 8,
    MOST_FIELDS = 80,
    MOST_DEPTH = 400,
    MOST_HANDLERS = 60,
    MOST_SCRIPT = 256 << 10
};

typedef struct Field {
    const char *name, *value;      /* value NULL: no default */
    char *own;                     /* text collected, to free */
    bool password, upload, button;
    bool choice;                   /* one of several of this name */
    bool on;                       /* the choice that is set by default */
    bool check;
    const GumboNode *node;
} Field;

typedef struct Form {
    const GumboNode *node;
    Vec(Field) fields;
} Form;

/* What happens on a click. */
typedef struct Handler {
    const char *code;
    Form *form;                    /* that it is in; may be NULL */
} Handler;

typedef struct Reading {
    const PagePlan *plan;
    const char *base;              /* of <base href>; NULL */
    Form *form;                    /* the one that we are in */
    Scripts scripts;               /* functions of the page's scripts */
    Vec(Handler) handlers;
    Vec(Form *) forms;
    Options *out;
    unsigned depth;
} Reading;

static const char *attribute(const GumboNode *n, const char *name)
{
    GumboAttribute *a = gumbo_get_attribute(&n->v.element.attributes, name);
    return a ? a->value : NULL;
}

/* ---- addresses */

/* dir + relative, with . and .. folded; NULL: leaves the folder. */
static char *resolve(const char *dir, const char *url)
{
    char *joined = *url == '/' ? xstrdup(url + 1)
                   : *dir      ? xprintf("%s/%s", dir, url)
                               : xstrdup(url);
    char *parts[64];
    size_t n = 0;
    bool ok = true;
    for (char *p = strtok(joined, "/"); p && ok; p = strtok(NULL, "/")) {
        if (strcmp(p, ".") == 0)
            continue;
        if (strcmp(p, "..") == 0)
            ok = n-- > 0;
        else if (n < 64)
            parts[n++] = p;
    }
    Str s = { 0 };
    for (size_t i = 0; ok && i < n; i++)
        str_addf(&s, "%s%s", i ? "/" : "", parts[i]);
    char *r = ok ? (s.data ? str_take(&s) : xstrdup("")) : NULL;
    str_release(&s);
    free(joined);
    return r;
}

static char *without_host(const char *url)
{
    static const char *const own[] = { "http://localhost", "https://localhost", "//localhost",
                                       "http://127.0.0.1", NULL };
    for (const char *const *o = own; *o; o++)
        if (strncasecmp(url, *o, strlen(*o)) == 0 && strchr("/?#", url[strlen(*o)]))
            return xstrdup(url[strlen(*o)] ? url + strlen(*o) : "/");
    size_t scheme = strcspn(url, ":/?#");
    if (url[scheme] == ':' || strncmp(url, "//", 2) == 0)
        return NULL;
    return xstrdup(url);
}

static bool is_script(const char *path)
{
    return str_ends(path, ".php") || str_ends(path, ".phtml") || str_ends(path, ".php5");
}

/* The script, and what stands behind it (PATH_INFO); NULL: no script of ours. */
static char *script_at(const PagePlan *plan, char *path, char **info)
{
    const char *app = plan->app, *first = plan->cgi ? "index.cgi" : "index.php";
    *info = NULL;
    for (char *end = path + strlen(path);; end--) {
        if (end != path + strlen(path) && *end != '/' && end != path)
            continue;
        char *head = xstrndup(path, (size_t)(end - path));
        char *full = path_join(app, *head ? head : ".");
        char *index = file_is_dir(full) ? path_join(full, first) : NULL;
        bool script =
            plan->cgi ? server_is_program(full) : is_script(head) && file_is_regular(full);
        bool folder = !*end && index && file_is_regular(index);
        char *found = script   ? xstrdup(head)
                      : folder ? (*head ? xprintf("%s/%s", head, first) : xstrdup(first))
                               : NULL;
        if (found && *end == '/')
            *info = xstrdup(end);
        free(head);
        free(full);
        free(index);
        if (found || end == path)
            return found;
    }
}

static Request *target(const PagePlan *plan, const char *base, const char *url)
{
    while (*url == ' ' || *url == '\n' || *url == '\t')
        url++;
    char *own = without_host(url), *info;
    if (!own)
        return NULL;
    own[strcspn(own, "#")] = '\0';
    char *query = strchr(own, '?');
    if (query)
        *query++ = '\0';
    char *dir = base ? xstrdup(base) : path_dir(plan->from->script);
    if (strcmp(dir, ".") == 0)
        *dir = '\0';
    size_t len;
    char *plain = url_decode(own, strlen(own), &len);
    char *path = *own ? resolve(dir, plain) : xstrdup(plan->from->script);
    char *script = path ? script_at(plan, path, &info) : NULL;
    Request *r = NULL;
    if (script) {
        r = request_new(script);
        if (query)
            request_add_query(r, "GET", query);
        if (info)
            request_set(r, "SERVER[PATH_INFO]", info, strlen(info));
        free(info);
    }
    free(script);
    free(path);
    free(plain);
    free(dir);
    free(own);
    return r;
}

Request *page_target(const PagePlan *plan, const char *url) { return target(plan, NULL, url); }

static PageOption *add_option(Reading *r, Request *q)
{
    if (!q)
        return NULL;
    if (r->out->len >= MOST_OPTIONS) {
        request_free(q);
        return NULL;
    }
    PageOption *o = vec_grow(r->out);
    o->request = q;
    return o;
}

static void add_link(Reading *r, const char *url)
{
    if (url && strncasecmp(url, "javascript:", 11) != 0 && strncasecmp(url, "mailto:", 7) != 0)
        add_option(r, target(r->plan, r->base, url));
}

static void add_handler(Reading *r, const char *code)
{
    for (size_t i = 0; code && i < r->handlers.len; i++)
        if (strcmp(r->handlers.items[i].code, code) == 0)
            return;
    if (code && *code && r->handlers.len < MOST_HANDLERS)
        vec_push(&r->handlers, ((Handler){ code, r->form }));
}

static void add_handlers(Reading *r, const GumboNode *n)
{
    static const char *const names[] = { "onclick", "onsubmit", "onchange", "onload", NULL };
    for (const char *const *name = names; *name; name++)
        add_handler(r, attribute(n, *name));
    const char *href = attribute(n, "href");
    if (href && strncasecmp(href, "javascript:", 11) == 0)
        add_handler(r, href + 11);
}

/* ---- forms */

static char *inner_text(const GumboNode *n)
{
    Str s = { 0 };
    for (unsigned i = 0; i < n->v.element.children.length; i++) {
        const GumboNode *c = n->v.element.children.data[i];
        if (c->type == GUMBO_NODE_TEXT || c->type == GUMBO_NODE_WHITESPACE)
            str_add(&s, c->v.text.text);
    }
    return s.data ? str_take(&s) : xstrdup("");
}

static Field *add_field(Reading *r, const char *name, const char *value)
{
    if (!r->form || !name || !*name || r->form->fields.len >= MOST_FIELDS)
        return NULL;
    Field *f = vec_grow(&r->form->fields);
    f->node = NULL;
    f->name = name;
    f->value = value;
    return f;
}

static void read_input(Reading *r, const GumboNode *n)
{
    const char *type = attribute(n, "type"), *name = attribute(n, "name");
    const char *value = attribute(n, "value");
    type = type ? type : "text";
    bool box = strcasecmp(type, "checkbox") == 0, radio = strcasecmp(type, "radio") == 0;
    bool submit = strcasecmp(type, "submit") == 0 || strcasecmp(type, "image") == 0;
    if (strcasecmp(type, "button") == 0 || strcasecmp(type, "reset") == 0)
        return;
    bool hidden = strcasecmp(type, "hidden") == 0;
    if (!value)
        value = box || radio ? "on" : submit ? "Submit" : hidden ? "" : NULL;
    Field *f = add_field(r, name, value);
    if (!f)
        return;
    f->check = box;
    f->choice = radio;
    f->on = attribute(n, "checked") != NULL;
    f->button = submit;
    f->password = strcasecmp(type, "password") == 0;
    f->upload = strcasecmp(type, "file") == 0;
    f->node = n;
}

static void read_select(Reading *r, const GumboNode *n, const GumboNode *list, unsigned *count)
{
    for (unsigned i = 0; i < list->v.element.children.length; i++) {
        const GumboNode *c = list->v.element.children.data[i];
        if (c->type != GUMBO_NODE_ELEMENT)
            continue;
        if (c->v.element.tag == GUMBO_TAG_OPTGROUP) {
            read_select(r, n, c, count);
        } else if (c->v.element.tag == GUMBO_TAG_OPTION && (*count)++ < MOST_CHOICES) {
            const char *value = attribute(c, "value");
            char *text = value ? NULL : inner_text(c);
            Field *f = add_field(r, attribute(n, "name"), value ? value : text);
            if (f) {
                f->choice = true;
                f->own = text;
                f->on = attribute(c, "selected") != NULL;
            } else {
                free(text);
            }
        }
    }
}

/* A person picks something: what is selected, else the first that is not empty. */
static void choose_one(Form *form, size_t from, bool polite)
{
    Field *pick = NULL, *first = NULL;
    for (size_t i = from; form && i < form->fields.len; i++) {
        Field *f = &form->fields.items[i];
        if (f->on && (!pick || !pick->on))
            pick = f;
        if (!first && f->value && *f->value)
            first = f;
        f->on = false;
    }
    bool empty = pick && !(pick->value && *pick->value);
    if ((!pick || empty) && first && !polite)
        pick = first;
    if (!pick && form && from < form->fields.len)
        pick = &form->fields.items[from];
    if (pick)
        pick->on = true;
}

static void read_button(Reading *r, const GumboNode *n)
{
    const char *type = attribute(n, "type");
    if (type && strcasecmp(type, "submit") != 0)
        return;
    Field *f = add_field(r, attribute(n, "name"), attribute(n, "value"));
    if (f) {
        f->button = true;
        f->value = f->value ? f->value : "";
    }
}

static void read_textarea(Reading *r, const GumboNode *n)
{
    char *text = inner_text(n);
    Field *f = add_field(r, attribute(n, "name"), *text ? text : NULL);
    if (f)
        f->own = text;
    else
        free(text);
}

static bool begin_form(Reading *r, const GumboNode *n)
{
    if (r->forms.len >= 40)
        return false;
    r->form = xcalloc(1, sizeof *r->form);
    r->form->node = n;
    vec_push(&r->forms, r->form);
    return true;
}

static void read_meta(Reading *r, const GumboNode *n)
{
    const char *what = attribute(n, "http-equiv"), *content = attribute(n, "content");
    if (what && content && strcasecmp(what, "refresh") == 0) {
        const char *url = strcasestr(content, "url=");
        add_link(r, url ? url + 4 : NULL);
    }
}

static void read_node(Reading *r, const GumboNode *n);

static void read_children(Reading *r, const GumboNode *n)
{
    if (r->depth >= MOST_DEPTH)
        return;
    r->depth++;
    for (unsigned i = 0; i < n->v.element.children.length; i++)
        read_node(r, n->v.element.children.data[i]);
    r->depth--;
}

static void read_node(Reading *r, const GumboNode *n)
{
    if (n->type != GUMBO_NODE_ELEMENT && n->type != GUMBO_NODE_TEMPLATE)
        return;
    unsigned count = 0;
    add_handlers(r, n);
    switch (n->v.element.tag) {
    case GUMBO_TAG_BASE: break;
    case GUMBO_TAG_A:
    case GUMBO_TAG_AREA: add_link(r, attribute(n, "href")); break;
    case GUMBO_TAG_FRAME:
    case GUMBO_TAG_IFRAME: add_link(r, attribute(n, "src")); break;
    case GUMBO_TAG_META: read_meta(r, n); break;
    case GUMBO_TAG_INPUT: read_input(r, n); break;
    case GUMBO_TAG_SELECT: {
        size_t from = r->form ? r->form->fields.len : 0;
        read_select(r, n, n, &count);
        choose_one(r->form, from, r->plan->polite);
        break;
    }
    case GUMBO_TAG_TEXTAREA: read_textarea(r, n); break;
    case GUMBO_TAG_BUTTON: read_button(r, n); break;
    case GUMBO_TAG_FORM: {
        Form *outer = r->form;
        if (begin_form(r, n)) {
            read_children(r, n);
            r->form = outer;
            return;
        }
        break;
    }
    default: break;
    }
    read_children(r, n);
}

/* ---- a form's options */

static void set_field(Request *q, const char *kind, const Field *f, const char *value)
{
    char *path = request_path(f->upload ? "FILES" : kind, f->name);
    size_t n = strlen(path);
    if (n > 2 && strcmp(path + n - 2, "[]") == 0) {
        char *numbered = xprintf("%.*s[0]", (int)n - 2, path);
        free(path);
        path = numbered;
    }
    request_set(q, path, value, value ? strlen(value) : 0);
    free(path);
}

static const char *kind_of(const Form *f)
{
    const char *method = attribute(f->node, "method");
    return method && strcasecmp(method, "post") == 0 ? "POST" : "GET";
}

/* What a person may write into a field of this name and type. */
static const char *likely(const Field *f)
{
    static const struct {
        const char *part, *value;
    } rows[] = {
        { "mail", "a@example.com" },
        { "url", "http://localhost/" },
        { "website", "http://localhost/" },
        { "homepage", "http://localhost/" },
        { "date", "01/02/2026" },
        { "year", "2026" },
        { "month", "1" },
        { "phone", "5551234" },
        { "color", "#112233" },
        { "colour", "#112233" },
    };
    static const struct {
        const char *type, *value;
    } types[] = {
        { "email", "a@example.com" },
        { "url", "http://localhost/" },
        { "date", "2026-01-02" },
        { "time", "10:00" },
        { "month", "2026-01" },
        { "week", "2026-W01" },
        { "color", "#112233" },
        { "tel", "5551234" },
        { "datetime-local", "2026-01-02T10:00" },
    };
    const char *type = f->node ? attribute(f->node, "type") : NULL;
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(type, types[i].type) == 0)
            return types[i].value;
    const char *least = f->node ? attribute(f->node, "min") : NULL;
    if (type && least && strcasecmp(type, "number") == 0)
        return least;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcasestr(f->name, rows[i].part))
            return rows[i].value;
    return "1";
}

/* The form as it is, sent with this button (NULL: none has a name). */
static PageOption *form_option(Reading *r, const Form *f, const Field *button)
{
    const char *action = attribute(f->node, "action"), *enctype = attribute(f->node, "enctype");
    const char *kind = kind_of(f);
    Request *q = target(r->plan, r->base, action ? action : "");
    if (!q)
        return NULL;
    if (!action || !*action)
        for (size_t i = 0; i < r->plan->from->params.len; i++) {
            const Param *p = &r->plan->from->params.items[i];
            if (str_starts(p->path, "GET[") && strcmp(kind, "POST") == 0)
                request_set(q, p->path, p->text, p->n);
        }
    q->post = strcmp(kind, "POST") == 0;
    q->multipart = enctype && strcasecmp(enctype, "multipart/form-data") == 0;
    PageOption *o = add_option(r, q);
    if (!o)
        return NULL;
    o->form = true;
    for (size_t i = 0; i < f->fields.len; i++) {
        const Field *e = &f->fields.items[i];
        if ((e->button && e != button) || ((e->choice || e->check) && !e->on))
            continue;
        if (!e->value) {
            char *path = request_path(kind, e->name);
            strings_add(&o->free, path);
            free(path);
        }
        set_field(q, kind, e, e->value ? e->value : r->plan->polite ? "" : likely(e));
    }
    return o;
}

/* The same form with one field set otherwise. */
static void vary(Reading *r, const Form *f, const Field *button, const Field *e, const char *value)
{
    PageOption *o = form_option(r, f, button);
    if (!o)
        return;
    o->varied = true;
    set_field(o->request, kind_of(f), e, value);
}

static void log_in(Reading *r, const Form *f, const Field *button, size_t password)
{
    const Field *user = NULL;
    for (size_t i = 0; i < password; i++)
        if (!f->fields.items[i].button && !f->fields.items[i].choice && !f->fields.items[i].check &&
            !f->fields.items[i].password)
            user = !f->fields.items[i].value || !*f->fields.items[i].value || !user
                       ? &f->fields.items[i]
                       : user;
    for (size_t i = 0; i < r->plan->nlogins; i++) {
        PageOption *o = form_option(r, f, button);
        if (!o)
            return;
        o->login = true;
        if (user)
            set_field(o->request, kind_of(f), user, r->plan->logins[i].user);
        set_field(o->request, kind_of(f), &f->fields.items[password], r->plan->logins[i].password);
    }
}

static void form_options(Reading *r, const Form *f)
{
    const Field *first = NULL;
    unsigned buttons = 0;
    for (size_t i = 0; i < f->fields.len; i++) {
        const Field *e = &f->fields.items[i];
        if (!e->button || buttons++ >= MOST_CHOICES)
            continue;
        first = first ? first : e;
        form_option(r, f, e);
    }
    if (!first)
        form_option(r, f, NULL);
    if (r->plan->polite)
        return;
    for (size_t i = 0; i < f->fields.len; i++) {
        const Field *e = &f->fields.items[i];
        if (e->password)
            log_in(r, f, first, i);
        else if (e->check)
            vary(r, f, first, e, e->on ? NULL : e->value);
        else if (e->choice && !e->on)
            vary(r, f, first, e, e->value);
    }
}

/* ---- scripts */

static void read_scripts(Reading *r, const GumboNode *n, unsigned depth)
{
    if (n->type != GUMBO_NODE_ELEMENT || depth > MOST_DEPTH)
        return;
    if (n->v.element.tag != GUMBO_TAG_SCRIPT) {
        for (unsigned i = 0; i < n->v.element.children.length; i++)
            read_scripts(r, n->v.element.children.data[i], depth + 1);
        return;
    }
    const char *src = attribute(n, "src");
    char *own = src ? without_host(src) : NULL, *dir = path_dir(r->plan->from->script);
    if (own)
        own[strcspn(own, "?#")] = '\0';
    char *path = own && *own ? resolve(r->base ? r->base : strcmp(dir, ".") ? dir : "", own) : NULL;
    char *file = path ? path_join(r->plan->app, path) : NULL;
    Str text = { 0 };
    if (file && str_ends(file, ".js"))
        file_read_left(file, MOST_SCRIPT, &text, NULL);
    if (text.len)
        scripts_add(&r->scripts, str_c(&text));
    str_release(&text);
    for (unsigned i = 0; i < n->v.element.children.length; i++) {
        const GumboNode *c = n->v.element.children.data[i];
        if (c->type == GUMBO_NODE_TEXT || c->type == GUMBO_NODE_WHITESPACE) {
            scripts_add(&r->scripts, c->v.text.text);
            add_handler(r, c->v.text.text);
        }
    }
    free(file);
    free(path);
    free(dir);
    free(own);
}

static bool has_field(const Form *f, const char *name)
{
    for (size_t i = 0; i < f->fields.len; i++)
        if (strcmp(f->fields.items[i].name, name) == 0)
            return true;
    return false;
}

/* The form that a handler fills in: by its name, the one that it is in, or the
 * first that has such a field. */
static Form *form_of(const Reading *r, const Handler *h, const Deed *d)
{
    for (size_t i = 0; d->form && i < r->forms.len; i++) {
        const char *name = attribute(r->forms.items[i]->node, "name");
        const char *id = attribute(r->forms.items[i]->node, "id");
        if ((name && strcmp(name, d->form) == 0) || (id && strcmp(id, d->form) == 0))
            return r->forms.items[i];
    }
    if (h->form && (!d->fields.len || has_field(h->form, d->fields.items[0])))
        return h->form;
    for (size_t i = 0; d->fields.len && i < r->forms.len; i++)
        if (has_field(r->forms.items[i], d->fields.items[0]))
            return r->forms.items[i];
    return NULL;
}

static void handler_option(Reading *r, const Handler *h)
{
    Deed d;
    script_deed(&r->scripts, h->code, &d);
    for (size_t i = 0; i < d.addresses.len; i++)
        add_link(r, d.addresses.items[i]);
    Form *f = d.fields.len || d.action ? form_of(r, h, &d) : NULL;
    PageOption *o = f ? form_option(r, f, NULL) : NULL;
    for (size_t i = 0; o && i < d.fields.len; i++)
        set_field(o->request, kind_of(f), &(Field){ .name = d.fields.items[i] }, d.values.items[i]);
    Request *there = o && d.action ? target(r->plan, r->base, d.action) : NULL;
    if (there) {
        free(o->request->script);
        o->request->script = xstrdup(there->script);
    }
    request_free(there);
    deed_release(&d);
}

static const char *base_of(const GumboNode *n, unsigned depth)
{
    if (n->type != GUMBO_NODE_ELEMENT || depth > 3)
        return NULL;
    if (n->v.element.tag == GUMBO_TAG_BASE)
        return attribute(n, "href");
    for (unsigned i = 0; i < n->v.element.children.length; i++) {
        const char *b = base_of(n->v.element.children.data[i], depth + 1);
        if (b)
            return b;
    }
    return NULL;
}

void page_options(const PagePlan *plan, const char *html, size_t n, Options *out)
{
    assert(plan->from && plan->app);
    GumboOptions how = kGumboDefaultOptions;
    how.max_errors = 0;
    GumboOutput *tree = gumbo_parse_with_options(&how, html, n);
    if (!tree)
        return;
    Reading r = { .plan = plan, .out = out };
    const char *base = base_of(tree->root, 0);
    char *own = base ? without_host(base) : NULL;
    char *dir = own ? xstrndup(own + (*own == '/'), strlen(own + (*own == '/'))) : NULL;
    if (dir && *dir && dir[strlen(dir) - 1] == '/')
        dir[strlen(dir) - 1] = '\0';
    r.base = dir;
    if (!plan->polite)
        read_scripts(&r, tree->root, 0);
    read_node(&r, tree->root);
    for (size_t i = 0; i < r.handlers.len; i++)
        handler_option(&r, &r.handlers.items[i]);
    vec_release(&r.handlers);
    scripts_release(&r.scripts);
    for (size_t i = 0; i < r.forms.len; i++) {
        Form *f = r.forms.items[i];
        form_options(&r, f);
        for (size_t j = 0; j < f->fields.len; j++)
            free(f->fields.items[j].own);
        vec_release(&f->fields);
        free(f);
    }
    vec_release(&r.forms);
    free(dir);
    free(own);
    gumbo_destroy_output(&how, tree);
}

const char *page_missing(void) { return NULL; }

void options_release(Options *o)
{
    for (size_t i = 0; i < o->len; i++) {
        request_free(o->items[i].request);
        strings_release(&o->items[i].free);
    }
    free(o->items);
    *o = (Options){ 0 };
}
