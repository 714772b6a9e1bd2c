/* What a workspace holds: units, programs, bitcode, tables derived from it, samples, the store. */
#include "fuzz.h"
#include "../unit/compile.h"
#include "../unit/tree.h"
#include "ast/ast_int.h"
#include "base/json.h"
#include "capture/capture_int.h"
#include "capture/elf.h"
#include "engine/contract/contract.h"
#include "engine/contract/sample.h"
#include "finding/store.h"
#include "program/bitstream.h"
#include "program/debuginfo.h"
#include "program/program_int.h"
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

static const char subject[] = "#include <stdio.h>\n"
                              "struct list { int len; const char *name; struct list *next; };\n"
                              "union u { int a; float b; };\n"
                              "enum color { RED, GREEN = 7 };\n"
                              "typedef int (*fn)(struct list *, enum color);\n"
                              "int var[4]; static const char text[] = \"x\";\n"
                              "int add(struct list *l, enum color c) { return l->len += c; }\n"
                              "double half(union u x, fn f) { return x.b / 2 + text[0]; }\n"
                              "int main(int argc, char **argv) { puts(argv[0]); return argc; }\n";

static Compiled *the_subject(void)
{
    static Compiled c;
    if (!c.program)
        c = compiled(subject);
    return &c;
}

/* ---- bitcode */

static void make_bitcode(Samples_ *out)
{
    Str s = { 0 };
    if (file_read(the_subject()->bitcode.items[0], &s, NULL))
        vec_push(out, s);
}

static void walk(BitReader *r)
{
    for (unsigned depth = 0, i = 0; i < 100000; i++)
        switch (bits_next(r)) {
        case BITS_RECORD: break;
        case BITS_BLOCK:
            if (depth < 50 ? !bits_enter(r) : !bits_skip(r))
                return;
            depth++;
            break;
        case BITS_LEAVE: depth -= depth > 0; break;
        default: return;
        }
}

static void ask_debuginfo(DebugInfo *d)
{
    for (NodeId i = 0; i < d->nodes.len; i++) {
        int64_t value;
        debug_path(d, i);
        debug_constant(d, i, &value);
        for (unsigned op = 0; op < 8; op++) {
            debug_ref(d, i, op);
            debug_text(d, i, op);
        }
    }
}

static void read_bitcode(const uint8_t *data, size_t n)
{
    Err err = { 0 };
    BitReader *r = bits_open(data, n, &err);
    fuzz_said(r, &err);
    if (r)
        walk(r);
    bits_close(r);
    DebugInfo d = { 0 };
    err = (Err){ 0 };
    bool ok = debuginfo_read(&d, data, n, &err);
    fuzz_said(ok, &err);
    if (ok)
        ask_debuginfo(&d);
    debuginfo_release(&d);
}

/* ---- tables of a linked program: the checksum is made to fit */

static void make_tables(Samples_ *out)
{
    Err err = { 0 };
    Str s = { 0 };
    char *path = xstrdup(fuzz_file("tables", (const uint8_t *)"", 0));
    if (tables_write(the_subject()->program, path, 77, &err) && file_read(path, &s, &err))
        vec_push(out, s);
    free(path);
}

/* What techniques do with types. */
static void walk_types(const Program *p)
{
    for (size_t i = 0; i < p->types.n; i++) {
        const Type *t = p->types.all[i];
        if (type_plain(t)->kind == TYPE_POINTER)
            type_plain(type_plain(t)->target);
    }
}

static void read_tables(const uint8_t *data, size_t n)
{
    Program p = { 0 };
    Err err = { 0 };
    uint8_t *copy = xmalloc(n + 1);
    memcpy(copy, data, n);
    if (n >= 24 && copy[8] != 'x') {
        uint64_t of = 77, sum;
        memcpy(copy + 16, &of, 8);
        sum = tables_checksum(copy + 16, n - 16);
        memcpy(copy + 8, &sum, 8);
    }
    bool ok = tables_read(&p, fuzz_file("tables", copy, n), 77, &err);
    fuzz_said(ok, &err);
    free(copy);
    if (ok && program_holds(&p))
        walk_types(&p);
    str_release(&p.tables);
    map_release(&p.by_symbol);
    map_release(&p.by_source_name);
    types_release(&p.types);
    arena_release(&p.arena);
}

/* ---- facts of the AST */

static void make_ast(Samples_ *out)
{
    AstStore st = { 0 };
    Err err = { 0 };
    Map ids = { 0 };
    Compiled *c = the_subject();
    char *file = path_join(c->dir, "subject.c");
    char *words[] = { "clang", "-c", file, NULL };
    CompileCommand cmd = { .file = file, .directory = (char *)c->dir };
    for (char **w = words; *w; w++)
        strings_add(&cmd.arguments, *w);
    if (!ast_parse(&st, &cmd, c->dir, &ids, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
    Str s = { 0 };
    ast_write(&st, &s);
    vec_push(out, s);
    ast_store_release(&st);
    free(file);
}

static void read_ast(const uint8_t *data, size_t n)
{
    AstStore st = { 0 }, inputs = { 0 };
    ast_read_inputs(&inputs, (const char *)data, n);
    if (ast_merge(&st, (const char *)data, n))
        ast_merge(&st, (const char *)data, n);
    Str again = { 0 };
    ast_write(&st, &again);
    str_release(&again);
    ast_store_release(&st);
    ast_store_release(&inputs);
}

/* ---- units and programs */

static Workspace *workspace(char **where)
{
    Err err = { 0 };
    static char *path;
    if (!path) {
        path = path_join(fuzz_folder(), ".sundew");
        workspace_close(workspace_open(path, true, &err));
    }
    *where = path;
    Workspace *ws = workspace_open(path, false, &err);
    if (!ws)
        abort();
    return ws;
}

#define UNIT_ID "0123456789abcdef0123456789abcdef"

static void make_units(Samples_ *out)
{
    char *where;
    Workspace *ws = workspace(&where);
    Err err = { 0 };
    Str s = { 0 };
    Unit u = { .id = UNIT_ID,
               .source = "/a/b.c",
               .directory = "/a",
               .output = "/a/b.o",
               .language = "c",
               .status = UNIT_FOREIGN,
               .reason = "why \xff not" };
    strings_add(&u.arguments, "cc");
    strings_add(&u.arguments, "-c");
    strings_add(&u.dropped, "-fx");
    char *path = xprintf("%s/units/" UNIT_ID ".json", where);
    if (unit_write(ws, &u, &err) && file_read(path, &s, &err))
        vec_push(out, s);
    u.status = UNIT_CAPTURED;
    s = (Str){ 0 };
    if (unit_write(ws, &u, &err) && file_read(path, &s, &err))
        vec_push(out, s);
    free(path);
    workspace_close(ws);
}

static void count_bad(void *arg, const char *what, const char *why)
{
    *(size_t *)arg += strlen(what) + strlen(why);
}

static void read_unit(const uint8_t *data, size_t n)
{
    char *where;
    Workspace *ws = workspace(&where);
    size_t told = 0;
    fuzz_file(".sundew/units/" UNIT_ID ".json", data, n);
    if (n % 3)
        fuzz_file(".sundew/units/" UNIT_ID ".bc", (const uint8_t *)"BC\xc0\xde", n % 3 * 2);
    const Unit *u = workspace_unit(ws, UNIT_ID);
    if (!u || !u->source || !u->reason || (u->damaged && u->status != UNIT_FAILED))
        abort();
    workspace_check(ws, count_bad, &told);
    workspace_close(ws);
    char *bitcode = xprintf("%s/units/" UNIT_ID ".bc", where);
    unlink(bitcode);
    free(bitcode);
}

static void read_record(const uint8_t *data, size_t n)
{
    char *where;
    Workspace *ws = workspace(&where);
    size_t told = 0;
    Strings ids = { 0 }, missing = { 0 };
    char id[33];
    sha256_id("/a/prog", 7, id);
    char *name = xprintf(".sundew/programs/%s.json", id);
    fuzz_file(name, data, n);
    program_record(ws, "/a/prog", &ids, &missing);
    workspace_check(ws, count_bad, &told);
    strings_release(&ids);
    strings_release(&missing);
    free(name);
    workspace_close(ws);
}

/* ---- objects and archives */

static void make_objects(Samples_ *out)
{
    Compiled c = compiled_begin();
    compiled_file(&c, "a.c", "int f(int x) { return x + 1; }\n");
    static const char *const steps[][8] = {
        { "clang-19", "-w", "-c", "a.c", "-o", "a.o" },
        { "clang-19", "-w", "-shared", "-fPIC", "a.c", "-o", "a.so" },
        { "ar", "rcs", "liba.a", "a.o", "a.so", "a.c" },
        { "ar", "rcsT", "libt.a", "a.o" },
        { "clang-19", "-w", "-c", "--target=mips-linux-gnu", "a.c", "-o", "m.o" },
    };
    static const char *const made[] = { "a.o", "a.so", "liba.a", "libt.a", "m.o" };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        ProcResult r = { 0 };
        Err err = { 0 };
        Str s = { 0 }, with = { 0 };
        char *path = path_join(c.dir, made[i]), *ids[] = { UNIT_ID };
        char *argv[9] = { 0 };
        for (size_t k = 0; k < 8; k++)
            argv[k] = (char *)steps[i][k];
        if (proc_run(&(Proc){ .argv = argv, .cwd = c.dir, .capture = true, .seconds = 60 }, &r,
                     &err) &&
            file_read(path, &s, &err)) {
            if (elf_with_ids(s.data, s.len, ids, 1, &with, &err))
                vec_push(out, with);
            vec_push(out, s);
        }
        proc_result_release(&r);
        free(path);
    }
    compiled_end(&c);
}

static void read_object(const uint8_t *data, size_t n)
{
    const char *bytes = (const char *)data;
    Strings ids = { 0 };
    Str text = { 0 }, with = { 0 };
    Map names = { 0 };
    Err err = { 0 };
    char *one[] = { UNIT_ID };
    ArchiveMembers members = { 0 };
    elf_kind(bytes, n);
    elf_ids(bytes, n, &ids);
    elf_compiler(bytes, n, &text);
    elf_exports(bytes, n, &names);
    fuzz_said(elf_with_ids(bytes, n, one, 1, &with, &err), &err);
    err = (Err){ 0 };
    if (archive_is(bytes, n)) {
        fuzz_said(archive_members(fuzz_file("x.a", data, n), bytes, n, &members, &err), &err);
        for (size_t i = 0; i < members.len; i++)
            elf_ids(members.items[i].data, members.items[i].size, &ids);
        archive_members_release(&members);
    }
    strings_release(&ids);
    str_release(&text);
    str_release(&with);
    map_release(&names);
}

/* ---- samples and contracts */

static const char samples[] =
    "sundew-samples 3\ntext a\\040b\nfunction f /a.c 3 1 1 7 0 struct\\040s int\\040f(int)\n"
    "point entry 2 7\nvar x arg1 int 0 0 0 0 0 0 32 0 -1 0 0 0 0 0 1 0 1 0 0 0 0 2 0 -1\n"
    "var c arg2 enum\\040e 0 0 0 0 0 0 32 1 -1 0 0 0 2 0 0 0 0 0 0 0 0 0\nvalue 0 RED\nvalue 1 BLUE\nrelated 0 1 2\n"
    "row 5 3 1\nrow 2 - 0\npoint exit 1 7\nvar return ret int 0 0 0 0 0 0 32 -1 -1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    "row 7 4\nend\n";

/* As samples_write() makes it. */
static void make_samples(Samples_ *out)
{
    Err err = { 0 };
    Samples *s = samples_new(1);
    FunctionSamples *f = samples_function(s, "f g");
    Str text = { 0 };
    VarValue values[] = { { 0, "RED" }, { 1, "BLUE" } };
    Var vars[] = { { .name = "x",
                     .key = "x",
                     .type = "int",
                     .kind = VAR_INT,
                     .bits = 32,
                     .param = 0,
                     .twin = -1 },
                   { .name = "p",
                     .key = "p",
                     .type = "char *",
                     .kind = VAR_POINTER,
                     .bits = 64,
                     .param = 1,
                     .twin = -1 },
                   { .name = "c",
                     .key = "c",
                     .type = "enum e",
                     .kind = VAR_INT,
                     .bits = 32,
                     .param = 2,
                     .twin = -1,
                     .values = values,
                     .nvalues = 2 },
                   { .name = "d",
                     .key = "d",
                     .type = "double",
                     .kind = VAR_FLOAT,
                     .bits = 64,
                     .param = 3,
                     .twin = -1 },
                   { .name = "s",
                     .key = "s",
                     .type = "char *",
                     .kind = VAR_STRING,
                     .bits = 64,
                     .param = 4,
                     .twin = -1 } };
    point_vars(s, &f->entry, vars, 5);
    for (int i = 0; i < 20; i++) {
        Cell cells[5] = { { .i = i },
                          { .i = i % 2 },
                          { .i = i % 2 },
                          { .i = 0 },
                          { .i = samples_text_number(s, "te xt") } };
        uint8_t known[5] = { 1, 1, i % 3 != 0, 1, 1 };
        point_add(s, &f->entry, cells, known);
    }
    point_relate(s, &f->entry, 0, 2, COMPARED);
    char *path = xstrdup(fuzz_file("samples", (const uint8_t *)"", 0));
    if (samples_write(s, path, &err) && file_read(path, &text, &err))
        vec_push(out, text);
    free(path);
    samples_free(s);
}

static void read_samples(const uint8_t *data, size_t n)
{
    Err err = { 0 };
    Samples *s = samples_read(fuzz_file("samples", data, n), 1, &err);
    fuzz_said(s, &err);
    if (s)
        samples_check(s);
    samples_free(s);
}

static Samples *some_samples(void)
{
    static Samples *s;
    Err err = { 0 };
    if (!s) {
        Samples_ all = { 0 };
        make_samples(&all);
        s = samples_read(fuzz_file("samples", (uint8_t *)str_c(&all.items[0]), all.items[0].len), 1,
                         &err);
        if (!s)
            abort();
    }
    return s;
}

/* One invariant of each kind over variables from `first` on, with n constants. */
static json_t *each_kind(const Point *p, unsigned first, size_t n, int64_t k, Guard g)
{
    json_t *all = json_array();
    for (int kind = 0; kind < INV_N && p->nvars; kind++) {
        json_t *keys = json_array(), *constants = json_array();
        for (unsigned i = 0; i < inv_arity((InvKind)kind); i++)
            json_array_append_new(keys, json_text(p->vars[(first + i) % p->nvars].key));
        for (size_t i = 0; i < n; i++)
            json_array_append_new(constants, json_integer(k));
        json_array_append_new(all, json_pack("{s:s,s:o,s:o,s:f,s:i,s:s,s:s}", "kind",
                                             inv_kind_name((InvKind)kind), "keys", keys, "k",
                                             constants, "confidence", 0.99, "samples", 120, "when",
                                             guard_name(g), "of", p->vars[first % p->nvars].name));
    }
    return all;
}

static void make_kinds(Samples_ *out)
{
    static const int64_t ks[] = { 0, 1, -3, INT64_MAX, INT64_MIN };
    const Samples *all = some_samples();
    for (size_t f = 0; f < all->functions.len; f++)
        for (unsigned i = 0; i < 40; i++) {
            const FunctionSamples *x = all->functions.items[f];
            Guard g = i % 2 ? (Guard)(i / 2 % (GUARD_NOT_NEGATIVE + 1)) : GUARD_NONE;
            json_t *o = json_pack("[{s:s,s:o,s:o}]", "name", x->name, "pre",
                                  each_kind(&x->entry, i, i % 4, ks[i % 5], g), "post",
                                  each_kind(&x->exit, i + 1, i % 4, ks[i % 5], g));
            Str s = { 0 };
            json_print(o, &s);
            vec_push(out, s);
            json_decref(o);
        }
}

static void make_contracts(Samples_ *out)
{
    make_kinds(out);
    Contracts *c = contracts_infer(some_samples(), NULL, &(ContractPlan){ 0 });
    Str s = { 0 };
    json_t *all = json_array();
    for (size_t i = 0; i < c->functions.len; i++)
        json_array_append_new(all, contract_to_json(c, &c->functions.items[i]));
    json_print(all, &s);
    vec_push(out, s);
    json_decref(all);
    contracts_free(c);
}

static void read_contracts(const uint8_t *data, size_t n)
{
    Err err = { 0 };
    BrokenList broken = { 0 };
    size_t lost = 0;
    json_t *j = json_parse((const char *)data, n, &err);
    if (j)
        contracts_check(j, some_samples(), true, &broken, &lost);
    json_decref(j);
    vec_release(&broken);
}

/* ---- the store */

/* The same with pages of 512 bytes, after `sql`: smaller inputs are quicker, and more of their bytes
 * mean something. */
static void make_small(const char *path, const char *sql, Samples_ *out)
{
    char *small = path_join(fuzz_folder(), "small.db"), *into = xprintf("VACUUM INTO '%s'", small);
    sqlite3 *db = NULL;
    Str s = { 0 };
    unlink(small);
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA page_size = 512", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, into, NULL, NULL, NULL) != SQLITE_OK)
        abort();
    sqlite3_close(db);
    if (sqlite3_open(small, &db) != SQLITE_OK ||
        sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        abort();
    }
    sqlite3_close(db);
    if (file_read(small, &s, NULL))
        vec_push(out, s);
    free(into);
    free(small);
}

static void make_stores(Samples_ *out)
{
    Err err = { 0 };
    char *path = path_join(fuzz_folder(), "seed.db");
    Store *st = store_open(path, fuzz_folder(), &err);
    StoreRun *run = st ? store_run_begin(st, "arguments", "build", "sundew", 1, &err) : NULL;
    Finding f = { .rule = "arguments/swapped",
                  .level = LEVEL_WARNING,
                  .message = "a message",
                  .anchor = "f",
                  .where = { .file = "a.c", .line = 3, .column = 1, .function = "f" } };
    EvidenceStep steps[] = { { { .file = "a.c", .line = 4 }, "here" }, { { 0 }, "nowhere" } };
    Attachment with[] = { { "t.c", "test", "int x;", 6 }, { "e", "input", "", 0 } };
    FixIt fix[] = { { { .file = "a.c", .line = 3, .column = 1, .end_line = 3, .end_column = 4 },
                      "g" } };
    Finding full = f;
    full.where.line = 9;
    full.anchor = "g";
    full.steps = full.related = steps;
    full.nsteps = full.nrelated = 2;
    full.attachments = with;
    full.nattachments = 2;
    full.fixes = fix;
    full.nfixes = 1;
    full.rerun = "sundew x";
    full.picture = "digraph {}";
    full.data = json_pack("{s:i}", "x", 1);
    if (run)
        store_run_add(run, &full, &err);
    full.where = (Location){ 0 };
    full.rule = "arguments/naming";
    if (run)
        store_run_add(run, &full, &err);
    if (!run || !store_run_add(run, &f, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
    store_run_saw(run, "a.c");
    store_run_examined(run, "3 calls");
    store_run_end(run, NULL, &err);
    run = store_run_begin(st, "arguments", "prog", "sundew", 1, &err);
    store_run_add(run, &f, &err);
    store_run_end(run, "time", &err);
    run = store_run_begin(st, "types", "build", "sundew", 1, &err);
    store_run_add(run, &f, &err);
    store_run_end(run, NULL, &err);
    store_close(st);
    Str s = { 0 };
    if (file_read(path, &s, &err))
        vec_push(out, s);
    make_small(path, "", out);
    make_small(path, "PRAGMA user_version = -3;", out);
    make_small(path, "PRAGMA user_version = 999;", out);
    make_small(path, "PRAGMA application_id = 7;", out);
    make_small(path, "PRAGMA user_version = 0;", out);
    make_small(path, "UPDATE finding SET level = 77; UPDATE finding SET data = '{', line = -1;",
               out);
    make_small(path,
               "UPDATE place SET kind = 9, text = NULL, line = -1; UPDATE run SET seed = 'x';",
               out);
    make_small(path, "UPDATE finding SET verdict = 9, fingerprint = 'x', rule = 'x', run = 99;",
               out);
    make_small(path, "UPDATE attachment SET name = NULL, kind = NULL, content = NULL;", out);
    make_small(path, "DROP TABLE place;", out);
    make_small(path, "DROP TABLE attachment;", out);
    make_small(path, "DROP TABLE seen;", out);
    make_small(path, "DROP TABLE run;", out);
    free(path);
}

static void read_store(const uint8_t *data, size_t n)
{
    Err err = { 0 };
    static char *path, *log, *shm;
    if (!path) {
        path = path_join(fuzz_folder(), "findings.db");
        log = xprintf("%s-wal", path);
        shm = xprintf("%s-shm", path);
    }
    unlink(log);
    unlink(shm);
    fuzz_file("findings.db", data, n);
    fuzz_said(store_check(path, &err), &err);
    err = (Err){ 0 };
    Store *st = store_open(path, fuzz_folder(), &err);
    fuzz_said(st, &err);
    FindingSet *set = NULL;
    if (st) {
        err = (Err){ 0 };
        set = store_read(st, NULL, NULL, &err);
        fuzz_said(set, &err);
    }
    if (set)
        finding_set_check(set);
    finding_set_free(set);
    store_close(st);
}

const FuzzReader fuzz_kept[] = {
    { .name = "bitcode", .read = read_bitcode, .make = make_bitcode },
    { .name = "tables", .read = read_tables, .make = make_tables },
    { .name = "ast", .read = read_ast, .make = make_ast },
    { .name = "unit", .read = read_unit, .make = make_units },
    { .name = "record",
      .read = read_record,
      .texts = { "{\"path\": \"/a/prog\", \"units\": [\"" UNIT_ID "\", \"x\"], \"missing\": "
                 "[\"/a/c.o\", \"l.a(m.o)\"], \"link\": [\"cc\", \"-o\", \"prog\"], \"directory\": "
                 "\"/a\"}\n" } },
    { .name = "object", .read = read_object, .make = make_objects },
    { .name = "samples", .read = read_samples, .texts = { samples }, .make = make_samples },
    { .name = "contracts", .read = read_contracts, .make = make_contracts },
    { .name = "store", .read = read_store, .make = make_stores },
    { 0 },
};
