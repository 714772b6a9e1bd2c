/* capture/: command lines, ids in ELF files, link maps, workspaces. */
#include "base/fault.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "base/tempdir.h"
#include "capture/capture.h"
#include "capture/cmdline.h"
#include "capture/elf.h"
#include "capture/linkmap.h"
#include "capture/relink.h"
#include "capture/wrapper.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

/* Parses "gcc …", the words being separated by blanks. */
static Cmdline parsed(const char *text)
{
    char *copy = xstrdup(text), *save = NULL;
    Strings words = { 0 };
    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
        strings_add(&words, w);
    Cmdline c = { 0 };
    cmdline_parse(&c, (int)words.len, words.items, "/", false);
    strings_release(&words);
    free(copy);
    return c;
}

static char *joined(const Strings *s)
{
    Str out = { 0 };
    for (size_t i = 0; i < s->len; i++)
        str_addf(&out, "%s%s", i ? " " : "", s->items[i]);
    return str_take(&out);
}

static void a_command_line_says_what_it_makes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        CmdlineMode mode;
    } rows[] = {
        { "gcc -c a.c", CMDLINE_COMPILE },
        { "gcc -c -o x.o a.c", CMDLINE_COMPILE },
        { "gcc a.c -o prog", CMDLINE_LINK },
        { "gcc a.o -lm", CMDLINE_LINK },
        { "gcc -E a.c", CMDLINE_OTHER },
        { "gcc -S a.c", CMDLINE_OTHER },
        { "gcc -M a.c", CMDLINE_OTHER },
        { "gcc -MM -MT x a.c", CMDLINE_OTHER },
        { "gcc -MD -MF x.d -c a.c", CMDLINE_COMPILE },
        { "gcc --version", CMDLINE_OTHER },
        { "gcc -dumpmachine", CMDLINE_OTHER },
        { "gcc -v", CMDLINE_OTHER },
        { "gcc -x c-header pre.h -o pre.h.gch", CMDLINE_OTHER },
        { "gcc pre.h", CMDLINE_OTHER },
        { "gcc -fsyntax-only a.c", CMDLINE_OTHER },
        { "gcc -x c - -c -o x.o", CMDLINE_COMPILE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Cmdline c = parsed(rows[i].text);
        if (c.mode != rows[i].mode)
            fail_msg("%s: mode %d", rows[i].text, c.mode);
        cmdline_release(&c);
    }
}

static void values_of_flags_are_no_inputs(void **state)
{
    (void)state;
    Cmdline c = parsed("gcc -I inc -include pre.h -D X=1 -o out.o -MF dep.d -L lib "
                       "-Xlinker -Map -Xlinker m.map -T script.ld -u sym -c a.c b.s");
    assert_int_equal(c.inputs.len, 2);
    assert_string_equal(c.inputs.items[0].path, "a.c");
    assert_string_equal(c.inputs.items[0].language, "c");
    assert_string_equal(c.inputs.items[1].language, "assembler");
    assert_string_equal(c.output, "out.o");
    assert_string_equal(c.map, "m.map");
    cmdline_release(&c);
    c = parsed("gcc a.o -Wl,-Map,my.map,-O1 -Wl,--as-needed");
    assert_string_equal(c.map, "my.map");
    cmdline_release(&c);
    c = parsed("gcc a.o -Wl,-Map=my.map");
    assert_string_equal(c.map, "my.map");
    cmdline_release(&c);
}

static void clang_gets_what_makes_the_program(void **state)
{
    (void)state;
    static const struct {
        const char *text, *clang, *unsure, *dropped;
    } rows[] = {
        { "gcc -O2 -g -Wall -Werror -Iinc -DA=1 -U B -std=gnu99 -fPIC -c a.c",
          "-Iinc -DA=1 -U B -std=gnu99 -fPIC", "", "" },
        { "gcc -march=native -msse4.2 -m32 -c a.c", "-m32", "-march=native -msse4.2", "" },
        { "gcc -Wp,-D_FORTIFY_SOURCE=2,-MD,x.d -c a.c", "-D_FORTIFY_SOURCE=2", "", "" },
        { "gcc -fopenmp -specs=x -c a.c", "", "", "-fopenmp -specs=x" },
        { "gcc -ffile-prefix-map=/b=. -c a.c", "-fmacro-prefix-map=/b=.", "", "" },
        { "gcc -fsanitize=address -fstack-protector-strong -c a.c", "", "", "-fsanitize=address" },
        { "clang -Xclang -include-pch -Xclang p.pch -Xclang -include -Xclang p.h "
          "-c a.c",
          "-include p.h", "", "" },
        { "gcc --sysroot=/x --sysroot /y -isystem /z -c a.c",
          "--sysroot=/x --sysroot /y -isystem /z", "", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Cmdline c = parsed(rows[i].text);
        char *clang = joined(&c.clang), *unsure = joined(&c.unsure), *dropped = joined(&c.dropped);
        assert_string_equal(clang, rows[i].clang);
        assert_string_equal(unsure, rows[i].unsure);
        assert_string_equal(dropped, rows[i].dropped);
        free(clang), free(unsure), free(dropped);
        cmdline_release(&c);
    }
}

static void the_language_can_be_forced(void **state)
{
    (void)state;
    Cmdline c = parsed("gcc -c -x c a.txt -x none b.c -x assembler c.c -x c++ d.c");
    assert_string_equal(c.inputs.items[0].language, "c");
    assert_string_equal(c.inputs.items[1].language, "c");
    assert_string_equal(c.inputs.items[2].language, "assembler");
    assert_string_equal(c.inputs.items[3].language, "c++");
    cmdline_release(&c);
    char *argv[] = { "g++", "-c", "a.c", NULL };
    cmdline_parse(&c, 3, argv, "/", true);
    assert_false(cmdline_is_c(c.inputs.items[0].language));
    cmdline_release(&c);
}

static void a_response_file_that_names_itself_ends(void **state)
{
    (void)state;
    const char *dir = tempdir_new(NULL, NULL);
    char *path = path_join(dir, "r");
    assert_true(file_write(path, "-c @r 'a b.c' \"q\\\"x\" e\\ f", 25, NULL));
    Strings out = { 0 };
    char *argv[] = { "@r" };
    cmdline_expand(1, argv, dir, &out);
    assert_true(out.len >= 4);
    assert_string_equal(out.items[0], "-c");
    assert_string_equal(out.items[out.len - 3], "a b.c");
    assert_string_equal(out.items[out.len - 2], "q\"x");
    assert_string_equal(out.items[out.len - 1], "e f");
    strings_release(&out);
    free(path);
    tempdir_remove(dir);
}

static void tools_are_known_by_their_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        ToolKind kind;
    } rows[] = {
        { "cc", TOOL_CC },
        { "gcc-12", TOOL_CC },
        { "clang-19", TOOL_CC },
        { "x86_64-linux-gnu-gcc", TOOL_CC },
        { "c99", TOOL_CC },
        { "aarch64-linux-gnu-gcc-12", TOOL_CC },
        { "x86_64-linux-musl-cc", TOOL_CC },
        { "g++-12", TOOL_CXX },
        { "clang++", TOOL_CXX },
        { "c++", TOOL_CXX },
        { "gcc-ar", TOOL_AR },
        { "llvm-ar-19", TOOL_AR },
        { "ar", TOOL_AR },
        { "ld.lld-19", TOOL_LD },
        { "ld", TOOL_LD },
        { "ccache", TOOL_LAUNCHER },
        { "gcc-nm", TOOL_NONE },
        { "clang-tidy-19", TOOL_NONE },
        { "clang-format", TOOL_NONE },
        { "c++filt", TOOL_NONE },
        { "tar", TOOL_NONE },
        { "gold", TOOL_NONE },
        { "ldd", TOOL_NONE },
        { "gcc-ranlib-12", TOOL_NONE },
        { "bison", TOOL_NONE },
        { "", TOOL_NONE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (tool_kind(rows[i].name) != rows[i].kind)
            fail_msg("%s: %d", rows[i].name, tool_kind(rows[i].name));
}

/* ---- ELF */

static const char id1[] = "00112233445566778899aabbccddeeff";
static const char id2[] = "ffeeddccbbaa99887766554433221100";

static void compile_to(const char *path, const char *flags)
{
    char *command = xprintf("echo 'int x(void){return 1;}' | gcc %s -x c - -o %s "
                            "2>/dev/null",
                            flags, path);
    assert_int_equal(system(command), 0);
    free(command);
}

static void ids_go_in_and_come_out(void **state)
{
    (void)state;
    static const char *const flags[] = { "-c", "-shared -fPIC", "-c -g -ffunction-sections" };
    const char *dir = tempdir_new(NULL, NULL);
    char *path = path_join(dir, "x.o"), *out_path = path_join(dir, "y.o");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        compile_to(path, flags[i]);
        Str data = { 0 }, once = { 0 }, twice = { 0 };
        Strings ids = { 0 };
        Err err = { 0 };
        assert_true(file_read(path, &data, &err));
        assert_true(elf_ids(data.data, data.len, &ids));
        assert_int_equal(ids.len, 0);
        char *one[] = { (char *)id1 }, *two[] = { (char *)id1, (char *)id2 };
        assert_true(elf_with_ids(data.data, data.len, one, 1, &once, &err));
        assert_true(elf_with_ids(once.data, once.len, two, 2, &twice, &err));
        assert_true(elf_ids(twice.data, twice.len, &ids));
        assert_int_equal(ids.len, 2);
        assert_string_equal(ids.items[0], id1);
        assert_string_equal(ids.items[1], id2);
        /* a second opinion that the file is sound */
        assert_true(file_write(out_path, twice.data, twice.len, &err));
        char *check = xprintf("readelf -a %s >%s/said 2>&1 && "
                              "! grep -iE 'error|warning' %s/said",
                              out_path, dir, dir);
        assert_int_equal(system(check), 0);
        free(check);
        strings_release(&ids);
        str_release(&data), str_release(&once), str_release(&twice);
    }
    free(path);
    free(out_path);
    tempdir_remove(dir);
}

/* A 32-bit big-endian object, made by hand: header, names, section table. */
static void the_other_class_and_byte_order(void **state)
{
    (void)state;
    unsigned char f[52 + 12 + 80] = { 0x7f, 'E', 'L', 'F', 1, 2, 1 };
    f[17] = 1;                                    /* ET_REL */
    f[35] = 64;                                   /* section table at 64 */
    f[47] = 40, f[49] = 2, f[51] = 1;             /* size, 2 sections, names: 1 */
    memcpy(f + 52, "\0.shstrtab\0", 11);
    unsigned char *h = f + 64 + 40;
    h[3] = 1, h[7] = 3, h[19] = 52, h[23] = 11;   /* name, STRTAB, offset, size */
    assert_int_equal(elf_kind((char *)f, sizeof f), ELF_OBJECT);
    char *one[] = { (char *)id1 };
    Str out = { 0 };
    Strings ids = { 0 };
    assert_true(elf_with_ids((char *)f, sizeof f, one, 1, &out, NULL));
    assert_true(elf_ids(out.data, out.len, &ids));
    assert_int_equal(ids.len, 1);
    assert_string_equal(ids.items[0], id1);
    strings_release(&ids);
    str_release(&out);
}

static void damaged_files_are_no_danger(void **state)
{
    (void)state;
    const char *dir = tempdir_new(NULL, NULL);
    char *path = path_join(dir, "x.o");
    Str data = { 0 }, out = { 0 };
    Rng r = rng_seeded(1);
    char *one[] = { (char *)id1 };
    compile_to(path, "-shared -fPIC");
    assert_true(file_read(path, &data, NULL));
    assert_true(elf_with_ids(data.data, data.len, one, 1, &out, NULL));
    for (int i = 0; i < 20000; i++) {
        /* a copy of exactly the cut size, so that a sanitizer sees every step
         * beyond it */
        size_t n = rng_below(&r, 4) ? out.len : rng_below(&r, out.len);
        char *copy = xmalloc(n);
        memcpy(copy, out.data, n);
        for (uint64_t k = rng_below(&r, 8); n && k < 8; k++) {
            /* mostly in the header and the section table */
            size_t at = rng_below(&r, 2) ? rng_below(&r, n < 64 ? n : 64)
                                         : n - 1 - rng_below(&r, n < 2048 ? n : 2048);
            copy[at] = (char)rng_next(&r);
        }
        Strings ids = { 0 };
        Str again = { 0 }, compiler = { 0 };
        elf_kind(copy, n);
        elf_ids(copy, n, &ids);
        elf_compiler(copy, n, &compiler);
        elf_with_ids(copy, n, one, 1, &again, NULL);
        strings_release(&ids);
        str_release(&again);
        str_release(&compiler);
        free(copy);
    }
    for (int i = 0; i < 3000; i++) {
        Str a = { 0 };
        ArchiveMembers m = { 0 };
        str_add(&a, rng_below(&r, 2) ? "!<arch>\n" : "!<thin>\n");
        for (uint64_t k = rng_below(&r, 4); k < 4; k++) {
            str_addf(&a, "%-16s%-12d%-6d%-6d%-8o%-10d`\n",
                     rng_below(&r, 2)   ? "//"
                     : rng_below(&r, 2) ? "/3"
                                        : "x.o/",
                     0, 0, 0, 0644, (int)rng_below(&r, 90));
            for (uint64_t n = rng_below(&r, 90); n; n--)
                str_addc(&a, (char)rng_next(&r));
        }
        archive_members("/nowhere/x.a", a.data, a.len, &m, NULL);
        archive_members_release(&m);
        str_release(&a);
    }
    str_release(&data);
    str_release(&out);
    free(path);
    tempdir_remove(dir);
}

static void link_maps_of_both_families(void **state)
{
    (void)state;
    const char *dir = tempdir_new(NULL, NULL);
    static const char *const files[] = { "main.o", "my obj.o", "libx.a", "z.so" };
    for (size_t i = 0; i < 4; i++) {
        char *p = path_join(dir, files[i]);
        assert_true(file_write(p, "x", 1, NULL));
        free(p);
    }
    static const char *const maps[] = {
        "Archive member included to satisfy reference by file (symbol)\n\n"
        "libx.a(b.o)                   main.o (f)\n"
        "libx.a(a_very_long_member_name.o)\n"
        "                              main.o (g)\n\n"
        "Discarded input sections\n\n"
        "LOAD main.o\nLOAD my obj.o\nLOAD libx.a\nLOAD z.so\nLOAD gone.o\n"
        " .text          0x0000000000001139       0x15 main.o\n"
        " *fill*         0x000000000000114e        0x2 \n"
        " .text          0x0000000000001150       0x0f libx.a(b.o)\n",
        "             VMA              LMA     Size Align Out     In      Symbol\n"
        "          201120           201120        5     1         main.o:(.text)\n"
        "          201125           201125        5     1         my obj.o:(.text)\n"
        "          20112a           20112a        5     1         libx.a(b.o):(.text)\n"
        "          20112f           20112f        5     1         "
        "libx.a(a_very_long_member_name.o):(.text)\n",
    };
    for (size_t k = 0; k < 2; k++) {
        Strings got = { 0 };
        linkmap_objects(maps[k], dir, &got);
        static const char *const expected[] = {
            "main.o",
            "my obj.o",
            "libx.a(b.o)",
            "libx.a(a_very_long_member_name.o)",
        };
        assert_int_equal(got.len, 4);
        for (size_t i = 0; i < 4; i++) {
            char *full = path_join(dir, expected[i]);
            bool found = false;
            for (size_t j = 0; j < 4; j++)
                found |= strcmp(got.items[j], full) == 0;
            if (!found)
                fail_msg("map %zu: no %s", k, full);
            free(full);
        }
        strings_release(&got);
    }
    tempdir_remove(dir);
}

static void a_workspace_is_whole_or_an_error(void **state)
{
    (void)state;
    const char *dir = tempdir_new(NULL, NULL);
    char *path = path_join(dir, "ws");
    for (unsigned n = 1;; n++) {
        Err err = { 0 };
        fault_after(n);
        Workspace *ws = workspace_open(path, true, &err);
        bool fired = fault_fired();
        fault_after(0);
        assert_true(ws || *err.msg);
        workspace_close(ws);
        if (!fired)
            break;
        if (n % 2)
            dir_remove(path);
    }
    free(path);
    tempdir_remove(dir);
}

static void a_compilation_database_is_read(void **state)
{
    (void)state;
    const char *dir = tempdir_new(NULL, NULL);
    char *path = path_join(dir, "compile_commands.json");
    static const char text[] =
        "[{\"directory\":\"/p\",\"file\":\"a.c\",\"command\":\"gcc -DX=\\\\\\\"y "
        "z\\\\\\\" '-DQ=a b' -O2 -c a.c\"},"
        "{\"directory\":\"sub\",\"file\":\"/q/b.c\",\"arguments\":[\"cc\",\"-Iinc\","
        "\"-c\",\"/q/b.c\"]},"
        "{\"directory\":\"/p\",\"file\":\"c.cc\",\"command\":\"g++ -c c.cc\"}, 7]";
    CompileCommands c = { 0 };
    Err err = { 0 };
    assert_true(file_write(path, text, sizeof text - 1, NULL));
    assert_true(commands_read(path, &c, &err));
    assert_int_equal(c.len, 2);
    assert_string_equal(c.items[0].file, "/p/a.c");
    assert_string_equal(c.items[0].clang.items[2], "-DX=\"y");
    assert_string_equal(c.items[1].file, "/q/b.c");
    assert_string_equal(c.items[1].clang.items[2], "-Iinc");
    char *sub = path_join(dir, "sub");
    assert_string_equal(c.items[1].directory, sub);
    free(sub);
    commands_release(&c);
    assert_true(file_write(path, "{}", 2, NULL));
    assert_false(commands_read(path, &c, &err));
    assert_non_null(strstr(err.msg, "no array"));
    assert_true(file_write(path, "[{", 2, NULL));
    assert_false(commands_read(path, &c, &err));
    assert_non_null(strstr(err.msg, "compile_commands.json"));
    free(path);
    tempdir_remove(dir);
}

/* The link command of a program without units again, as text. */
static char *linked_again(const char *text, bool no_fuzzer)
{
    const char *dir = tempdir_new(NULL, NULL);
    char *path = path_join(dir, "ws"), *objects[] = { "new.o", NULL };
    Err err = { 0 };
    Workspace *ws = workspace_open(path, true, &err);
    CapturedProgram p = { .name = "p", .path = "/p", .link_directory = dir };
    Map units = { 0 };
    Strings argv = { 0 };
    Relink r = {
        .units = &units, .objects = objects, .out = "out", .scratch = dir, .no_fuzzer = no_fuzzer
    };
    cmdline_split(text, true, &p.link);
    if (!ws || !relink_command(ws, &p, &r, &argv, &err))
        fail_msg("%s", err.msg);
    char *all = joined(&argv);
    strings_release(&argv);
    strings_release(&p.link);
    workspace_close(ws);
    free(path);
    tempdir_remove(dir);
    return all;
}

static void a_link_command_is_taken_over(void **state)
{
    (void)state;
    /* What becomes of the words between "gcc new.o" and "-o out -static-libgcc". */
    static const struct {
        const char *words, *kept;
    } rows[] = {
        { "a.o -o prog -O2", "a.o -O2" },
        { "a.o -oprog --output=x --output y", "a.o" },
        { "a.o -L lib -Llib2 -l m -lz", "a.o -Llib -Llib2 -lm -lz" },
        { "a.o -Wl,-Map=x.map,-z,now -Wl,-Map -Wl,y.map", "a.o -Wl,-z,now" },
        { "a.o -Xlinker -Map -Xlinker y.map -Xlinker -E", "a.o -Xlinker -E" },
        { "a.o -Map x.map -Map=y.map --print-map", "a.o" },
        { "a.o -s -Wl,-s,-z,now -Xlinker --strip-all -Wl,--strip-debug", "a.o -Wl,-z,now" },
        { "a.o -fsanitize=address,fuzzer -fsanitize-recover=all",
          "a.o -fsanitize=address,fuzzer -fsanitize-recover=all" },
        /* the value of a flag is no flag */
        { "-mllvm -opt-bisect-limit=7 a.o", "-mllvm -opt-bisect-limit=7 a.o" },
        { "-Xclang -load -Xclang -o a.o", "-Xclang -load -Xclang -o a.o" },
        { "-Xassembler -Lx -Xpreprocessor -lx a.o", "-Xassembler -Lx -Xpreprocessor -lx a.o" },
        { "--sysroot -odd -isysroot -o a.o", "--sysroot -odd -isysroot -o a.o" },
        { "-imacros -Map a.o -u -o -rpath -lx", "-imacros -Map a.o -u -o -rpath -lx" },
        { "a.o -static -static-libgcc -pie", "a.o -static -static-libgcc -pie" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = xprintf("gcc %s", rows[i].words), *got = linked_again(text, false);
        char *want = xprintf("gcc new.o %s -o out -static-libgcc", rows[i].kept);
        assert_string_equal(got, want);
        free(text);
        free(got);
        free(want);
    }
}

static void a_link_command_of_ld_is_taken_over(void **state)
{
    (void)state;
    char *got = linked_again("ld -m elf_x86_64 -x a.o -oformat elf64 -h -o -soname -lx -o prog "
                             "-dynamic-linker -Lx --version-script -Map -Map m",
                             false);
    assert_string_equal(got, "ld new.o -m elf_x86_64 -x a.o -oformat elf64 -h -o -soname -lx "
                             "-dynamic-linker -Lx --version-script -Map -o out");
    free(got);
    got = linked_again("clang -fsanitize=fuzzer,address a.o -fsanitize=fuzzer", true);
    assert_string_equal(got, "clang new.o -fsanitize=address a.o -o out -static-libgcc");
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_line_says_what_it_makes),
        cmocka_unit_test(values_of_flags_are_no_inputs),
        cmocka_unit_test(clang_gets_what_makes_the_program),
        cmocka_unit_test(the_language_can_be_forced),
        cmocka_unit_test(a_response_file_that_names_itself_ends),
        cmocka_unit_test(tools_are_known_by_their_names),
        cmocka_unit_test(ids_go_in_and_come_out),
        cmocka_unit_test(the_other_class_and_byte_order),
        cmocka_unit_test(damaged_files_are_no_danger),
        cmocka_unit_test(link_maps_of_both_families),
        cmocka_unit_test(a_workspace_is_whole_or_an_error),
        cmocka_unit_test(a_compilation_database_is_read),
        cmocka_unit_test(a_link_command_is_taken_over),
        cmocka_unit_test(a_link_command_of_ld_is_taken_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
