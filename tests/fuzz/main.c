/* The driver: see fuzz.h. */
#include "fuzz.h"
#include "../unit/mutate.h"
#include "../unit/tree.h"
#include "base/file.h"
#include "base/tempdir.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const FuzzReader *const tables[] = { fuzz_left, fuzz_shared, fuzz_run,  fuzz_files,
                                            fuzz_kept, fuzz_seen,   fuzz_flow, fuzz_web };

static const FuzzReader *reader_named(const char *name)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const FuzzReader *r = tables[t]; r->name; r++)
            if (!strcmp(r->name, name))
                return r;
    fprintf(stderr, "there is no reader %s\n", name);
    exit(2);
}

static void list_readers(void)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const FuzzReader *r = tables[t]; r->name; r++)
            puts(r->name);
}

const char *fuzz_folder(void)
{
    static const char *dir;
    if (!dir) {
        Err err = { 0 };
        dir = tempdir_new(file_is_dir("/dev/shm") ? "/dev/shm" : NULL, &err);
        if (!dir) {
            fprintf(stderr, "%s\n", err.msg);
            exit(2);
        }
    }
    return dir;
}

const char *fuzz_file(const char *name, const uint8_t *data, size_t n)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n) {
        perror(path);
        exit(2);
    }
    close(fd);
    return path;
}

void fuzz_said(bool ok, const Err *err)
{
    if (!ok && !*err->msg) {
        fprintf(stderr, "it was refused without a word\n");
        abort();
    }
}

char *fuzz_text(const uint8_t *data, size_t n) { return xstrndup((const char *)data, n); }

void fuzz_sample(Samples_ *out, const void *data, size_t n)
{
    Str s = { 0 };
    str_addn(&s, data, n);
    vec_push(out, s);
}

static void samples_of_folder(const char *files, Samples_ *out)
{
    char *dir = in_tree(files);
    Strings names = { 0 };
    Err err = { 0 };
    if (!dir_list(dir, &names, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(2);
    }
    for (size_t i = 0; i < names.len; i++) {
        char *path = path_join(dir, names.items[i]);
        Str s = { 0 };
        if (file_is_regular(path) && file_read(path, &s, NULL) && s.len < 64 << 10)
            vec_push(out, s);
        else
            str_release(&s);
        free(path);
    }
    strings_release(&names);
    free(dir);
}

static void samples_of(const FuzzReader *r, Samples_ *out)
{
    for (size_t i = 0; i < sizeof r->texts / sizeof *r->texts && r->texts[i]; i++)
        fuzz_sample(out, r->texts[i], strlen(r->texts[i]));
    if (r->make)
        r->make(out);
    if (r->files)
        samples_of_folder(r->files, out);
}

static void write_samples(const FuzzReader *r, const char *dir)
{
    Samples_ all = { 0 };
    samples_of(r, &all);
    for (size_t i = 0; i < all.len; i++) {
        char *path = xprintf("%s/sample-%zu", dir, i);
        Err err = { 0 };
        if (!file_write(path, str_c(&all.items[i]), all.items[i].len, &err)) {
            fprintf(stderr, "%s\n", err.msg);
            exit(2);
        }
        free(path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const FuzzReader *r;
    if (!r) {
        const char *name = getenv("SUNDEW_READER");
        r = reader_named(name ? name : "");
    }
    r->read(data, n);
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc == 4 && !strcmp((*argv)[1], "--samples")) {
        write_samples(reader_named((*argv)[2]), (*argv)[3]);
        exit(0);
    }
    if (*argc == 2 && !strcmp((*argv)[1], "--list")) {
        list_readers();
        exit(0);
    }
    return 0;
}

#ifndef SUNDEW_FUZZ
/* In its own piece of memory, so that a sanitizer sees its end. */
static void read_exactly(const FuzzReader *r, const uint8_t *data, size_t n)
{
    uint8_t *copy = xmalloc(n ? n : 1);
    if (n)
        memcpy(copy, data, n);
    r->read(copy, n);
    free(copy);
}

static void damage(const FuzzReader *r, unsigned count, uint64_t seed)
{
    Samples_ all = { 0 };
    Rng rng = rng_seeded(seed);
    samples_of(r, &all);
    if (!all.len) {
        fprintf(stderr, "%s has no samples\n", r->name);
        exit(2);
    }
    for (size_t i = 0; i < all.len; i++)
        read_exactly(r, (uint8_t *)str_c(&all.items[i]), all.items[i].len);
    for (unsigned i = 0; i < count; i++) {
        const Str *s = &all.items[rng_below(&rng, all.len)];
        uint8_t *bad = xmalloc(s->len + 1);
        size_t n = mutate_bytes(&rng, bad, (const uint8_t *)str_c(s), s->len);
        read_exactly(r, bad, n);
        free(bad);
    }
    for (size_t i = 0; i < all.len; i++)
        str_release(&all.items[i]);
    vec_release(&all);
}

int main(int argc, char **argv)
{
    LLVMFuzzerInitialize(&argc, &argv);
    if (argc < 3) {
        list_readers();
        return argc == 1 ? 0 : 2;
    }
    const FuzzReader *r = reader_named(argv[1]);
    char *end;
    unsigned long count = strtoul(argv[2], &end, 10);
    if (!*end) {
        damage(r, (unsigned)count, argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
        return 0;
    }
    for (int i = 2; i < argc; i++) {
        Str s = { 0 };
        Err err = { 0 };
        if (!file_read(argv[i], &s, &err)) {
            fprintf(stderr, "%s\n", err.msg);
            return 2;
        }
        read_exactly(r, (uint8_t *)str_c(&s), s.len);
        str_release(&s);
    }
    return 0;
}
#endif
