/* program/types: what debug information says, as C. */
#include "compile.h"
#include "program/program_llvm.h"

static const Type *find(const Compiled *c, const char *name)
{
    const Type *t = types_find(program_types(c->program), name, 0);
    if (!t)
        fail_msg("no type %s", name);
    return t;
}

static const Field *field(const Type *t, const char *name)
{
    t = type_plain(t);
    for (unsigned i = 0; i < t->nfields; i++)
        if (strcmp(t->fields[i].name, name) == 0)
            return &t->fields[i];
    fail_msg("no field %s", name);
    return NULL;
}

static void assert_prints(const Type *t, const char *name, const char *expected)
{
    Str s = { 0 };
    type_print(t, name, &s);
    assert_string_equal(str_c(&s), expected);
    str_release(&s);
}

static void assert_field(const Type *t, const char *name, const char *type, uint64_t offset,
                         uint64_t width)
{
    const Field *f = field(t, name);
    assert_prints(f->type, NULL, type);
    assert_int_equal(f->offset, offset);
    assert_int_equal(f->width, width);
}

static void scalars_have_their_encoding(void **state)
{
    (void)state;
    Compiled c =
        compiled("struct all { _Bool b; char c; signed char sc; unsigned char uc;\n"
                 "  short s; unsigned short us; int i; unsigned u; long l;\n"
                 "  unsigned long ul; long long ll; float f; double d; long double ld;\n"
                 "  _Complex float cf; _Complex double cd; __int128 q; _Complex int ci; };\n"
                 "struct all g;\n");
    static const struct {
        const char *field, *type;
        Encoding e;
        uint64_t size;
    } rows[] = {
        { "b", "_Bool", ENCODING_BOOL, 1 },
        { "c", "char", ENCODING_SIGNED_CHAR, 1 },
        { "sc", "signed char", ENCODING_SIGNED_CHAR, 1 },
        { "uc", "unsigned char", ENCODING_UNSIGNED_CHAR, 1 },
        { "s", "short", ENCODING_SIGNED, 2 },
        { "us", "unsigned short", ENCODING_UNSIGNED, 2 },
        { "i", "int", ENCODING_SIGNED, 4 },
        { "u", "unsigned int", ENCODING_UNSIGNED, 4 },
        { "l", "long", ENCODING_SIGNED, 8 },
        { "ul", "unsigned long", ENCODING_UNSIGNED, 8 },
        { "ll", "long long", ENCODING_SIGNED, 8 },
        { "f", "float", ENCODING_FLOAT, 4 },
        { "d", "double", ENCODING_FLOAT, 8 },
        { "ld", "long double", ENCODING_FLOAT, 16 },
        { "cf", "_Complex float", ENCODING_COMPLEX, 8 },
        { "cd", "_Complex double", ENCODING_COMPLEX, 16 },
        { "q", "__int128", ENCODING_SIGNED, 16 },
        { "ci", "_Complex int", ENCODING_COMPLEX, 8 },
    };
    const Type *all = find(&c, "struct all");
    assert_int_equal(all->nfields, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Field *f = field(all, rows[i].field);
        assert_int_equal(f->type->kind, TYPE_SCALAR);
        assert_string_equal(f->type->name, rows[i].type);
        assert_int_equal(f->type->encoding, rows[i].e);
        assert_int_equal(f->type->size, rows[i].size);
    }
    compiled_end(&c);
}

static void enums_have_their_values(void **state)
{
    (void)state;
    Compiled c = compiled("enum color { RED, GREEN = 7, BLUE, LOW = -3 };\n"
                          "enum big { HUGE = 0xffffffffu, HUGER = 0xfffffffffffffff0ull };\n"
                          "typedef enum { ONE = 1, TWO } Count;\n"
                          "enum color a; enum big b; Count n;\n");
    const Type *t = find(&c, "enum color");
    assert_int_equal(t->nvalues, 4);
    assert_string_equal(t->values[1].name, "GREEN");
    assert_int_equal(t->values[1].value, 7);
    assert_int_equal(t->values[2].value, 8);
    assert_int_equal(t->values[3].value, -3);
    assert_int_equal(t->size, 4);
    assert_prints(t->target, NULL, "int");
    t = find(&c, "enum big");
    assert_int_equal(t->size, 8);
    assert_int_equal((uint64_t)t->values[0].value, 0xffffffffu);
    assert_true((uint64_t)t->values[1].value == 0xfffffffffffffff0ull);
    assert_true(t->values[1].is_unsigned);
    t = find(&c, "Count");
    assert_int_equal(t->kind, TYPE_TYPEDEF);
    assert_int_equal(t->target->kind, TYPE_ENUM);
    assert_ptr_equal(t->target->alias, t);
    assert_int_equal(t->target->values[1].value, 2);
    compiled_end(&c);
}

static void declarators_print_as_c(void **state)
{
    (void)state;
    Compiled c = compiled("#include <stddef.h>\n"
                          "struct foo { int x; };\n"
                          "struct s {\n"
                          "  const char *a; char *const b; const char *const *c;\n"
                          "  int (*d)(void *, size_t); struct foo e[3]; struct foo *f[3];\n"
                          "  struct foo (*g)[3]; int h[2][5]; int (*(*i)(int))(char);\n"
                          "  int (*j)(); void (*k)(void); int (*l)(const char *, ...);\n"
                          "  volatile int m; _Atomic int n; const volatile long o;\n"
                          "  void *p; const void *q; char *(*r[4])(struct foo *, int (*)(int));\n"
                          "  int (*const t)(int); const int u[4];\n"
                          "};\n"
                          "struct s g;\n");
    static const struct {
        const char *field, *abstract, *named;
    } rows[] = {
        { "a", "const char *", "const char *x" },
        { "b", "char *const", "char *const x" },
        { "c", "const char *const *", "const char *const *x" },
        { "d", "int (*)(void *, size_t)", "int (*x)(void *, size_t)" },
        { "e", "struct foo [3]", "struct foo x[3]" },
        { "f", "struct foo *[3]", "struct foo *x[3]" },
        { "g", "struct foo (*)[3]", "struct foo (*x)[3]" },
        { "h", "int [2][5]", "int x[2][5]" },
        { "i", "int (*(*)(int))(char)", "int (*(*x)(int))(char)" },
        { "j", "int (*)()", "int (*x)()" },
        { "k", "void (*)(void)", "void (*x)(void)" },
        { "l", "int (*)(const char *, ...)", "int (*x)(const char *, ...)" },
        { "m", "volatile int", "volatile int x" },
        { "n", "_Atomic int", "_Atomic int x" },
        { "o", "const volatile long", "const volatile long x" },
        { "p", "void *", "void *x" },
        { "q", "const void *", "const void *x" },
        { "r", "char *(*[4])(struct foo *, int (*)(int))",
          "char *(*x[4])(struct foo *, int (*)(int))" },
        { "t", "int (*const)(int)", "int (*const x)(int)" },
        { "u", "const int [4]", "const int x[4]" },
    };
    const Type *s = find(&c, "struct s");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_prints(field(s, rows[i].field)->type, NULL, rows[i].abstract);
        assert_prints(field(s, rows[i].field)->type, "x", rows[i].named);
    }
    compiled_end(&c);
}

static void structs_have_byte_and_bit_offsets(void **state)
{
    (void)state;
    Compiled c =
        compiled("struct bits { unsigned a : 3; unsigned b : 7; int : 0; int c : 1;\n"
                 "  _Bool d : 1; unsigned long long e : 40; };\n"
                 "struct __attribute__((packed)) packed { char a; int b; short c; };\n"
                 "struct aligned { char a; int b __attribute__((aligned(32))); };\n"
                 "struct tail { int n; char data[]; };\n"
                 "struct anon { int kind; union { int i; double d; struct { short x, y; }; };\n"
                 "  struct { int z; } named; };\n"
                 "union u { char c; int i; long l[3]; };\n"
                 "struct empty { };\n"
                 "struct bits g1; struct packed g2; struct aligned g3; struct tail g4;\n"
                 "struct anon g5; union u g6; struct empty g7;\n");
    const Type *t = find(&c, "struct bits");
    assert_field(t, "a", "unsigned int", 0, 3);
    assert_field(t, "b", "unsigned int", 3, 7);
    assert_field(t, "c", "int", 32, 1);
    assert_field(t, "d", "_Bool", 33, 1);
    assert_field(t, "e", "unsigned long long", 64, 40);
    assert_true(field(t, "e")->bit_field);
    assert_int_equal(t->size, 16);
    t = find(&c, "struct packed");
    assert_field(t, "b", "int", 8, 32);
    assert_field(t, "c", "short", 40, 16);
    assert_int_equal(t->size, 7);
    assert_false(field(t, "b")->bit_field);
    t = find(&c, "struct aligned");
    assert_field(t, "b", "int", 256, 32);
    assert_int_equal(t->size, 64);
    t = find(&c, "struct tail");
    assert_field(t, "data", "char []", 32, 0);
    assert_true(field(t, "data")->type->flexible);
    assert_int_equal(t->size, 4);
    t = find(&c, "struct anon");
    assert_int_equal(t->nfields, 3);
    assert_string_equal(t->fields[1].name, "");
    assert_int_equal(t->fields[1].type->kind, TYPE_UNION);
    assert_int_equal(t->fields[1].offset, 64);
    assert_string_equal(type_field_at(t, 64 + 16)->name, "i");
    assert_string_equal(type_field_at(t, 128)->name, "z");
    assert_null(type_field_at(t, 40));
    t = find(&c, "union u");
    assert_int_equal(t->kind, TYPE_UNION);
    assert_field(t, "l", "long [3]", 0, 192);
    assert_int_equal(find(&c, "struct empty")->size, 0);
    assert_false(find(&c, "struct empty")->incomplete);
    compiled_end(&c);
}

static void types_of_functions_are_local(void **state)
{
    (void)state;
    Compiled c = compiled("struct outer { struct inner { int x; } i; } g;\n"
                          "int f(void)\n"
                          "{\n"
                          "    static struct in_function { int a; } l[2];\n"
                          "    { static union in_block { int b; } u; l[0].a = u.b; }\n"
                          "    return l[0].a + g.i.x;\n"
                          "}\n");
    assert_true(find(&c, "struct in_function")->local);
    assert_true(find(&c, "union in_block")->local);
    assert_false(find(&c, "struct outer")->local);
    assert_false(find(&c, "struct inner")->local);
    compiled_end(&c);
}

static void arrays_may_vary(void **state)
{
    (void)state;
    Compiled c =
        compiled("typedef int V __attribute__((vector_size(16)));\n"
                 "V v;\n"
                 "int table[2][3][4]; int row[4];\n"
                 "int f(int n) { int a[n]; char m[n][8]; a[0] = m[0][0] = 1; return a[0]; }\n");
    size_t n, variable = 0;
    const Type *const *all = types_all(program_types(c.program), &n);
    const Type *row = NULL;
    for (size_t i = 0; i < n; i++) {
        variable += all[i]->variable;
        if (all[i]->kind == TYPE_ARRAY && all[i]->count == 4) {
            assert_null(row);       /* int [4] is the same everywhere */
            row = all[i];
        }
    }
    assert_int_equal(variable, 2);
    assert_non_null(row);
    const Variable *vars = program_variables(c.program, &n);
    const Type *table = NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(vars[i].name, "table") == 0)
            table = vars[i].type;
    assert_non_null(table);
    assert_prints(table, "t", "int t[2][3][4]");
    assert_int_equal(table->size, 96);
    assert_int_equal(table->count, 2);
    assert_int_equal(table->target->size, 48);
    assert_ptr_equal(table->target->target, row);
    const Type *v = find(&c, "V");
    assert_int_equal(v->target->kind, TYPE_VECTOR);
    assert_int_equal(v->target->count, 4);
    assert_int_equal(v->size, 16);
    assert_prints(v->target, NULL, "int __attribute__((vector_size(16)))");
    compiled_end(&c);
}

static void typedef_chains_and_qualifiers_are_kept(void **state)
{
    (void)state;
    Compiled c =
        compiled("typedef unsigned long word; typedef word size; typedef const size csize;\n"
                 "struct s { csize n; size *restrict p; } g;\n");
    const Type *t = find(&c, "csize");
    assert_prints(t->target, NULL, "const size");
    assert_true(type_has_qualifier(t, QUALIFIER_CONST));
    assert_false(type_has_qualifier(t, QUALIFIER_VOLATILE));
    assert_string_equal(type_plain(t)->name, "unsigned long");
    assert_int_equal(t->size, 8);
    assert_prints(field(find(&c, "struct s"), "p")->type, NULL, "size *restrict");
    compiled_end(&c);
}

/* ---- the same type in many units */

static const char list_h[] = "struct item;\n"
                             "struct list { struct list *next; struct item *first; int n; };\n"
                             "typedef struct { int x, y; } Point;\n"
                             "typedef struct { int x, y; } Size;\n"
                             "int use(struct list *l, Point *p, Size *s);\n";

static unsigned count_named(const Compiled *c, const char *name)
{
    unsigned n = 0;
    while (types_find(program_types(c->program), name, n))
        n++;
    return n;
}

static void one_struct_of_many_units_is_one_type(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_file(&c, "list.h", list_h);
    compiled_add(&c, "a.c",
                 "#include \"list.h\"\n"
                 "int a(struct list *l, Point *p) { return l->n + p->x; }\n",
                 NULL);
    compiled_add(&c, "b.c",
                 "#include \"list.h\"\n"
                 "struct item { struct list *in; char *name; };\n"
                 "int b(struct list *l, Size *s) { return !!l->first->name + s->x; }\n",
                 NULL);
    compiled_add(&c, "c.c",
                 "struct list;\n"
                 "void *c(struct list *l) { return l; }\n",
                 NULL);
    compiled_open(&c);
    assert_int_equal(count_named(&c, "struct list"), 1);
    assert_int_equal(count_named(&c, "struct item"), 1);
    assert_int_equal(count_named(&c, "int"), 1);
    const Type *item = find(&c, "struct item"), *list = find(&c, "struct list");
    assert_false(item->incomplete);
    assert_int_equal(item->nfields, 2);
    assert_ptr_equal(field(list, "first")->type->target, item);
    assert_ptr_equal(field(list, "next")->type->target, list);
    /* also the unit that has only seen the declaration */
    const Function *fn = program_function(c.program, "c");
    assert_ptr_equal(fn->params[0].type->target, list);
    /* two structs without a tag, alike in all but their place */
    const Type *point = find(&c, "Point")->target, *size = find(&c, "Size")->target;
    assert_ptr_not_equal(point, size);
    assert_int_equal(count_named(&c, "Point"), 1);
    compiled_end(&c);
}

static void different_structs_of_one_name_stay_apart(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_add(&c, "a.c",
                 "struct node { int v; };\n"
                 "int a(struct node *n) { return n->v; }\n",
                 NULL);
    compiled_add(&c, "b.c",
                 "struct node { char *name; struct node *up; };\n"
                 "char *b(struct node *n) { return n->name; }\n",
                 NULL);
    compiled_add(&c, "c.c", "struct node; void *c(struct node *n) { return n; }\n", NULL);
    compiled_open(&c);
    assert_int_equal(count_named(&c, "struct node"), 3);
    const Type *a = program_function(c.program, "a")->params[0].type->target;
    const Type *b = program_function(c.program, "b")->params[0].type->target;
    const Type *d = program_function(c.program, "c")->params[0].type->target;
    assert_int_equal(a->size, 4);
    assert_int_equal(b->size, 16);
    assert_true(d->incomplete);       /* which one it is can't be told */
    assert_ptr_equal(b->fields[1].type->target, b);
    compiled_end(&c);
}

/* Each unit may have its own idea of what an opaque pointer leads to. */
static void a_struct_of_one_header_is_one_type(void **state)
{
    (void)state;
    static const char *const units[][2] = {
        { "a.c", "struct priv { int mine; };\n"
                 "int a(struct opt *o) { return o->priv->mine; }\n" },
        { "b.c", "struct priv { char *name; };\n"
                 "char *b(struct opt *o) { return o->priv->name; }\n" },
        { "c.c", "int c(struct opt *o) { return o->n; }\n" },
        { "d.c", "int d(struct opt *o) { return o->n + 1; }\n" },
    };
    Compiled c = compiled_begin();
    compiled_file(&c, "opt.h",
                  "struct priv;\n"
                  "struct opt { struct priv *priv; struct opt *up; int n; };\n");
    for (size_t i = 0; i < 4; i++) {
        char *text = xprintf("#include \"opt.h\"\n%s", units[i][1]);
        compiled_add(&c, units[i][0], text, NULL);
        free(text);
    }
    compiled_open(&c);
    assert_int_equal(count_named(&c, "struct opt"), 1);
    assert_int_equal(count_named(&c, "struct priv"), 3);
    const Type *opt = find(&c, "struct opt");
    assert_ptr_equal(program_function(c.program, "a")->params[0].type->target, opt);
    assert_ptr_equal(program_function(c.program, "b")->params[0].type,
                     program_function(c.program, "d")->params[0].type);
    assert_ptr_equal(field(opt, "up")->type->target, opt);
    assert_true(field(opt, "priv")->type->target->incomplete);
    compiled_end(&c);
}

/* A difference far away, behind a pointer, is a difference. */
static void a_deep_difference_is_seen(void **state)
{
    (void)state;
    const char *text = "struct c { T v; }; struct b { struct c *c; }; struct a { struct b *b; };\n"
                       "int F(struct a *x) { return (int)x->b->c->v; }\n";
    Compiled c = compiled_begin();
    char *one = xprintf("#define T int\n#define F f\n%s", text);
    char *two = xprintf("#define T float\n#define F g\n%s", text);
    char *three = xprintf("#define T int\n#define F h\n%s", text);
    compiled_add(&c, "1.c", one, NULL);
    compiled_add(&c, "2.c", two, NULL);
    compiled_add(&c, "3.c", three, NULL);
    compiled_open(&c);
    const Type *f = program_function(c.program, "f")->params[0].type;
    const Type *g = program_function(c.program, "g")->params[0].type;
    const Type *h = program_function(c.program, "h")->params[0].type;
    assert_ptr_not_equal(f, g);
    assert_ptr_equal(f, h);
    assert_int_equal(count_named(&c, "struct a"), 2);
    free(one);
    free(two);
    free(three);
    compiled_end(&c);
}

/* ---- parameters */

static const char passing[] =
    "#include <stdarg.h>\n"
    "struct e {}; struct c1 { char c; }; struct c3 { char c[3]; };\n"
    "struct p { long a, b; }; struct id { int i; double d; };\n"
    "struct dd { double a, b; }; struct ff { float a, b; }; struct big { long a[9]; };\n"
    "struct fff { float a, b, c; }; struct ld { long double d; };\n"
    "union un { long l; double d; };\n"
    "typedef float V4 __attribute__((vector_size(16)));\n"
    "struct vv { V4 v; };\n"
    "long scalar(int a, long b, char *c) { return a + b + *c; }\n"
    "long small(struct c1 a, struct c3 b, int c) { return a.c + b.c[0] + c; }\n"
    "long pair(struct p a, int b, struct id c) { return a.a + b + c.i; }\n"
    "double fp(struct dd a, struct ff b, struct fff c, double d)\n"
    "{ return a.a + b.b + c.c + d; }\n"
    "long bigs(struct big a, int n, struct ld b) { return a.a[n] + (long)b.d; }\n"
    "struct big result(int n, struct big *from) { return from[n]; }\n"
    "long nothing(struct e a, int b) { return b; }\n"
    "long regs(struct p a, struct p b, struct p c, struct p d, int e)\n"
    "{ return a.a + b.a + c.a + d.a + e; }\n"
    "double cplx(_Complex float a, _Complex double b, _Complex long double c, int d)\n"
    "{ return __real__ a + __real__ b + __real__ c + d; }\n"
    "long wide(__int128 a, union un b, int c) { return (long)a + b.l + c; }\n"
    "float vec(V4 a, struct vv b, int c) { return a[0] + b.v[c]; }\n"
    "int va(const char *fmt, ...) { va_list ap; va_start(ap, fmt);\n"
    "  int n = va_arg(ap, int); va_end(ap); return n; }\n"
    "int unused(int a, struct p b, struct big c, float d) { return 0; }\n"
    "int written(int a, struct p b) { a = 3; b.a = a; return (int)b.a; }\n"
    "int kr(a, b, c) int a; float b; char *c; { return a + (int)b + *c; }\n"
    "int none() { return kr(1, 2.0, \"\") ; }\n"
    "int unnamed(int a, int, struct p) { return a; }\n"
    "int array(int a[static 3], int n, int b[n][n]) { return a[0] + b[0][0]; }\n"
    "_Bool flag(_Bool a, const int b, short c) { return a && b && c; }\n";

/* The names that clang gives to IR arguments tell which parameter they are:
 * x, x.coerce, x.coerce0, or "agg.result". */
static void every_parameter_knows_its_ir_arguments(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_add(&c, "p.c", passing, "-fno-discard-value-names");
    Program *p = compiled_open(&c);
    size_t n, split = 0, copied = 0, coerced = 0;
    const Function *const *fns = program_functions(p, &n);
    for (size_t i = 0; i < n; i++) {
        const Function *fn = fns[i];
        LLVMValueRef v = program_function_value(p, fn);
        unsigned used = fn->returns_in_memory;
        if (!fn->defined)
            continue;
        for (unsigned k = 0; k < fn->nparams; k++) {
            const Param *q = &fn->params[k];
            assert_int_not_equal(q->passing, PASSED_UNKNOWN);
            assert_int_equal(q->first_arg, used);
            used += q->nargs;
            split += q->passing == PASSED_SPLIT;
            copied += q->passing == PASSED_BY_COPY;
            for (unsigned a = 0; a < q->nargs; a++) {
                size_t len;
                const char *ir = LLVMGetValueName2(LLVMGetParam(v, q->first_arg + a), &len);
                size_t m = strlen(q->name);
                if (m == 0 || len == 0)     /* promoted: float in kr() */
                    continue;
                if (strncmp(ir, q->name, m) != 0 || (ir[m] && ir[m] != '.'))
                    fail_msg("%s: %s is not %s", fn->name, ir, q->name);
                coerced += strstr(ir, ".coerce") != NULL;
            }
        }
        assert_int_equal(used, LLVMCountParams(v));
    }
    assert_true(split >= 8 && copied >= 5 && coerced >= 16);
    compiled_end(&c);
}

static void parameters_are_matched_on_arm_too(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_add(&c, "p.c", passing, "--target=aarch64-linux-gnu");
    Program *p = compiled_open(&c);
    size_t n, params = 0;
    const Function *const *fns = program_functions(p, &n);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < fns[i]->nparams; k++, params++)
            assert_int_not_equal(fns[i]->params[k].passing, PASSED_UNKNOWN);
    assert_true(params > 50);
    const Param *big = &program_function(p, "bigs")->params[0];
    assert_int_equal(big->passing, PASSED_BY_COPY);
    const Param *pair = &program_function(p, "pair")->params[0];
    assert_int_equal(pair->passing, PASSED_DIRECTLY);     /* [2 x i64] */
    compiled_end(&c);
}

static void signatures_are_the_sources(void **state)
{
    (void)state;
    Compiled c = compiled(passing);
    static const struct {
        const char *name, *signature;
    } rows[] = {
        { "scalar", "long scalar(int a, long b, char *c)" },
        { "small", "long small(struct c1 a, struct c3 b, int c)" },
        { "pair", "long pair(struct p a, int b, struct id c)" },
        { "bigs", "long bigs(struct big a, int n, struct ld b)" },
        { "result", "struct big result(int n, struct big *from)" },
        { "nothing", "long nothing(struct e a, int b)" },
        { "cplx", "double cplx(_Complex float a, _Complex double b, "
                  "_Complex long double c, int d)" },
        { "wide", "long wide(__int128 a, union un b, int c)" },
        { "vec", "float vec(V4 a, struct vv b, int c)" },
        { "va", "int va(const char *fmt, ...)" },
        { "unused", "int unused(int a, struct p b, struct big c, float d)" },
        { "written", "int written(int a, struct p b)" },
        { "kr", "int kr(int a, float b, char *c)" },
        { "none", "int none()" },
        { "unnamed", "int unnamed(int a, int, struct p)" },
        { "flag", "_Bool flag(_Bool a, const int b, short c)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Function *fn = program_function(c.program, rows[i].name);
        assert_non_null(fn);
        assert_string_equal(fn->signature, rows[i].signature);
    }
    assert_true(program_function(c.program, "result")->returns_in_memory);
    assert_false(program_function(c.program, "scalar")->returns_in_memory);
    assert_false(program_function(c.program, "kr")->prototyped);
    assert_true(program_function(c.program, "va")->variadic);
    assert_false(program_function(c.program, "none")->variadic);
    compiled_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_have_their_encoding),
        cmocka_unit_test(enums_have_their_values),
        cmocka_unit_test(declarators_print_as_c),
        cmocka_unit_test(structs_have_byte_and_bit_offsets),
        cmocka_unit_test(types_of_functions_are_local),
        cmocka_unit_test(arrays_may_vary),
        cmocka_unit_test(typedef_chains_and_qualifiers_are_kept),
        cmocka_unit_test(one_struct_of_many_units_is_one_type),
        cmocka_unit_test(different_structs_of_one_name_stay_apart),
        cmocka_unit_test(a_struct_of_one_header_is_one_type),
        cmocka_unit_test(a_deep_difference_is_seen),
        cmocka_unit_test(every_parameter_knows_its_ir_arguments),
        cmocka_unit_test(parameters_are_matched_on_arm_too),
        cmocka_unit_test(signatures_are_the_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
