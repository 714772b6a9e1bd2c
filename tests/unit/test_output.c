/* finding/output.h: every format says what was found, and hostile text stays
 * text in all of them. */
#include "base/tempdir.h"
#include "finding_sample.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* ---- pages for tests/scripts/: test_output --pages FOLDER SHARE [N] */

typedef void Writer(const FindingSet *set, const OutputOptions *o, Str *out);

static const struct {
    const char *name;
    Writer *write;
} writers[] = {
    { "txt",   output_terminal }, { "json", output_json },
    { "sarif", output_sarif },    { "xml",  output_junit },
    { "tap",   output_tap },      { "github", output_github },
    { "html",  output_html },
};
enum { NWRITERS = sizeof writers / sizeof *writers };

static void write_pages(const char *folder, const char *name,
                        const FindingSet *set, const OutputOptions *o)
{
    for (size_t i = 0; i < NWRITERS; i++) {
        Str out = {0};
        char *file = xprintf("%s.%s", name, writers[i].name);
        writers[i].write(set, o, &out);
        put_file(folder, file, str_c(&out), out.len);
        str_release(&out);
        free(file);
    }
}

static int pages(char **argv)
{
    const char *folder = argv[2];
    OutputOptions o = sample_options(argv[3]);
    size_t n = argv[4] ? strtoul(argv[4], NULL, 10) : 5000;
    struct { const char *name; FindingSet *set; Store *store; } sets[3] = {
        { .name = "sample" }, { .name = "hostile" }, { .name = "many" } };
    for (int i = 0; i < 3; i++) {
        char *root = path_join(folder, sets[i].name);
        sets[i].set = i == 0 ? sample_set(root, &sets[i].store)
                    : i == 1 ? hostile_set(root, &sets[i].store)
                             : many_set(root, n, &sets[i].store);
        write_pages(folder, sets[i].name, sets[i].set, &o);
        finding_set_free(sets[i].set);
        store_close(sets[i].store);
        free(root);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "--pages") == 0)
        return pages(argv);
    return 0;
}
