/* analysis/handles: who creates, destroys and observes what. */
#include "compile.h"
#include "analysis/handles/handles.h"

static const char library_h[] =
    "struct buf; struct pool; struct point { int x, y; };\n"
    "struct buf *buf_new(int n); struct buf *buf_wrap(void *mem);\n"
    "int buf_open(struct buf **out, const char *name);\n"
    "void buf_free(struct buf *b); void buf_drop(struct buf **b);\n"
    "int buf_len(struct buf *b); int buf_at(const struct buf *b, int i);\n"
    "void buf_add(struct buf *b, int c); void buf_touch(struct buf *b);\n"
    "struct buf *buf_next(struct buf *b);\n"
    "void point_init(struct point *p); int point_sum(struct point *p);\n"
    "void point_set(struct point *p, const struct point *q);\n"
    "struct pool *pool_create(void); void pool_destroy(struct pool *p);\n"
    "void pool_clear(struct pool *p);\n"
    "struct node; struct node *node_new(int leaf); struct node *node_get(struct node *n);\n"
    "int node_put(struct node *n); void node_visit(struct node *n);\n";

static const char library_c[] =
    "#include \"library.h\"\n#include <stdlib.h>\n"
    "struct inner { int hits; };\n"
    "struct buf { int len; char *data; struct buf *next; struct inner *in; };\n"
    "struct pool { struct buf *all; };\n"
    "void *(*get)(unsigned long) = malloc; void (*put)(void *) = free;\n"
    "void *my_alloc(unsigned long n) { return get(n); }\n"
    "void my_free(void *p) { put(p); }\n"
    "static void really_free(void *p) { free(p); }\n"
    "static struct buf *make(int n) { struct buf *b = malloc(sizeof *b);\n"
    "  if (!b) return NULL; b->len = n; b->data = malloc(n); return b; }\n"
    "struct buf *buf_new(int n) { struct buf *b = make(n); if (b) b->next = 0; return b; }\n"
    "struct buf *buf_wrap(void *mem) { return mem; }\n"
    "int buf_open(struct buf **out, const char *name) { struct buf *b = make(*name);\n"
    "  *out = b; return b != 0; }\n"
    "void buf_free(struct buf *b) { if (!b) return; free(b->data); really_free(b); }\n"
    "void buf_drop(struct buf **b) { free(*b); *b = 0; }\n"
    "int buf_len(struct buf *b) { return b->len + b->in->hits; }\n"
    "int buf_at(const struct buf *b, int i) { return b->data[i]; }\n"
    "void buf_add(struct buf *b, int c) { b->data[b->len++] = c; }\n"
    "void buf_touch(struct buf *b) { b->in->hits++; }\n"
    "struct buf *buf_next(struct buf *b) { return b->next; }\n"
    "void point_init(struct point *p) { p->x = 0; p->y = 0; }\n"
    "void point_set(struct point *p, const struct point *q) { *p = *q; }\n"
    "int point_sum(struct point *p) { return p->x + p->y; }\n"
    "struct pool *pool_create(void) { return my_alloc(sizeof(struct pool)); }\n"
    "void pool_destroy(struct pool *p) { buf_free(p->all); my_free(p); }\n"
    "void pool_clear(struct pool *p) { buf_free(p->all); p->all = 0; }\n"
    "int hidden(struct inner *i) { return i->hits; }\n"
    "struct node { int refs; void (*gone)(struct node *); void (*seen)(struct node *); };\n"
    "static void leaf_gone(struct node *n) { free(n); }\n"
    "static void tree_gone(struct node *n) { n->refs = -1; leaf_gone(n); }\n"
    "static void count(struct node *n) { n->refs += 0; }\n"
    "struct node *node_new(int leaf) { struct node *n = malloc(sizeof *n); n->refs = 1;\n"
    "  n->gone = leaf_gone; if (!leaf) n->gone = tree_gone; n->seen = count; return n; }\n"
    "struct node *node_get(struct node *n) { n->refs++; return n; }\n"
    "int node_put(struct node *n) { if (--n->refs) return 0; n->gone(n); return 1; }\n"
    "void node_visit(struct node *n) { n->seen(n); }\n";

static Compiled open_library(void)
{
    Compiled c = compiled_begin();
    compiled_file(&c, "library.h", library_h);
    compiled_add(&c, "library.c", library_c, NULL);
    compiled_open(&c);
    return c;
}

/* The role of a use; -1: it has none. */
static int role_by(const Compiled *c, const char *overrules, const char *function, int param)
{
    size_t n;
    Handles *handles = handles_open(c->program, overrules, NULL);
    assert_non_null(handles);
    const Handle *all = handles_all(handles, &n);
    int found = -1;
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < all[i].nuses; k++) {
            const HandleUse *u = &all[i].uses[k];
            if (strcmp(u->function->name, function) == 0 && u->param == param) {
                assert_int_equal(found, -1);
                assert_true(*u->evidence && *u->file && u->line);
                assert_null(strstr(u->evidence, "llvm."));
                found = (int)u->role;
            }
        }
    handles_close(handles);
    return found;
}

static int role(const Compiled *c, const char *function, int param)
{
    return role_by(c, NULL, function, param);
}

static void roles_follow_from_the_code(void **state)
{
    (void)state;
    Compiled c = open_library();
    static const struct {
        const char *function;
        int param, role;
    } rows[] = {
        { "buf_new", HANDLE_RETURNED, HANDLE_CREATES },
        { "buf_wrap", HANDLE_RETURNED, -1 },
        { "buf_open", 0, HANDLE_CREATES },
        { "buf_free", 0, HANDLE_DESTROYS },
        { "buf_drop", 0, HANDLE_DESTROYS },
        { "buf_len", 0, HANDLE_OBSERVES },
        { "buf_at", 0, HANDLE_OBSERVES },
        { "buf_add", 0, HANDLE_CHANGES },
        { "buf_touch", 0, HANDLE_CHANGES },
        { "buf_next", 0, HANDLE_OBSERVES },
        { "buf_next", HANDLE_RETURNED, -1 },
        { "point_init", 0, HANDLE_INITIALISES },
        { "point_set", 0, HANDLE_CHANGES },
        { "point_sum", 0, HANDLE_OBSERVES },
        { "pool_create", HANDLE_RETURNED, HANDLE_CREATES },
        { "pool_destroy", 0, HANDLE_DESTROYS },
        { "pool_clear", 0, HANDLE_FINISHES },
        { "node_put", 0, HANDLE_DESTROYS },     /* by what stands in a field */
        { "node_visit", 0, HANDLE_CHANGES },
        { "node_get", 0, HANDLE_CHANGES },
        { "hidden", 0, -1 },                    /* in no header */
        { "make", HANDLE_RETURNED, -1 },        /* static */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (role(&c, rows[i].function, rows[i].param) != rows[i].role)
            fail_msg("%s: role %d", rows[i].function, role(&c, rows[i].function, rows[i].param));
    compiled_end(&c);
}

static void the_user_has_the_last_word(void **state)
{
    (void)state;
    Compiled c = open_library();
    compiled_file(&c, "sundew.handles",
                  "# how we see it\n"
                  "buf_wrap  creates return\n\n"
                  "buf_touch observes b   # a statistic\n"
                  "buf_add   none     1\n"
                  "not_here  destroys x\n");
    char *path = path_join(c.dir, "sundew.handles");
    assert_int_equal(role_by(&c, path, "buf_wrap", HANDLE_RETURNED), HANDLE_CREATES);
    assert_int_equal(role_by(&c, path, "buf_touch", 0), HANDLE_OBSERVES);
    assert_int_equal(role_by(&c, path, "buf_add", 0), -1);
    assert_int_equal(role_by(&c, path, "buf_free", 0), HANDLE_DESTROYS);
    /* It is not kept: who opens them without the file sees the code alone. */
    assert_int_equal(role(&c, "buf_wrap", HANDLE_RETURNED), -1);
    assert_int_equal(role(&c, "buf_add", 0), HANDLE_CHANGES);
    free(path);
    compiled_end(&c);
}

static void mistakes_in_the_file_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } rows[] = {
        { "buf_free\n", ":1: expected FUNCTION ROLE PARAMETER" },
        { "\nbuf_free eats b\n", ":2: no role is called eats" },
        { "buf_free destroys c\n", ":1: buf_free() has no parameter c" },
        { "buf_add changes 3\n", ":1: buf_add() has no parameter 3" },
        { "buf_add changes c\n", ":1: that is no pointer to a struct" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Compiled c = open_library();
        compiled_file(&c, "sundew.handles", rows[i].text);
        char *path = path_join(c.dir, "sundew.handles");
        Err err = { 0 };
        assert_null(handles_open(c.program, path, &err));
        if (!strstr(err.msg, rows[i].said))
            fail_msg("%s", err.msg);
        free(path);
        compiled_end(&c);
    }
}

static void print(const Compiled *c, Str *out)
{
    Handles *h = handles_open(c->program, NULL, NULL);
    size_t n;
    assert_non_null(h);
    const Handle *all = handles_all(h, &n);
    for (size_t i = 0; i < n; i++) {
        str_addf(out, "%s\n", all[i].type->name);
        for (unsigned k = 0; k < all[i].nuses; k++) {
            const HandleUse *u = &all[i].uses[k];
            str_addf(out, "  %s %d %s %s:%u %s\n", u->function->symbol, u->param,
                     handle_role_name(u->role), u->file, u->line, u->evidence);
        }
    }
    handles_close(h);
}

/* The kept file says the same; a damaged one is not believed. */
static void what_was_found_is_kept(void **state)
{
    (void)state;
    Compiled c = open_library();
    Str found = { 0 }, kept = { 0 }, data = { 0 };
    char *path = program_cache_path(c.program, "handles");
    print(&c, &found);
    assert_true(file_read(path, &data, NULL));
    print(&c, &kept);
    assert_non_null(strstr(str_c(&found), "  buf_free 0 destroys "));
    assert_string_equal(str_c(&kept), str_c(&found));
    for (size_t cut = 0; cut < data.len; cut += 7) {
        assert_true(file_write(path, data.data, cut, NULL));
        str_reset(&kept);
        print(&c, &kept);
        assert_string_equal(str_c(&kept), str_c(&found));
    }
    for (size_t at = 0; at < data.len; at += 11) {
        char was = data.data[at];
        data.data[at] = was ? 0 : '9';           /* fields split or run together */
        assert_true(file_write(path, data.data, data.len, NULL));
        str_reset(&kept);
        print(&c, &kept);                        /* whatever it says, it is no danger */
        data.data[at] = was;
    }
    str_release(&found);
    str_release(&kept);
    str_release(&data);
    free(path);
    compiled_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_follow_from_the_code),
        cmocka_unit_test(the_user_has_the_last_word),
        cmocka_unit_test(mistakes_in_the_file_are_named),
        cmocka_unit_test(what_was_found_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
