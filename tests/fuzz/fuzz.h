/*
 * fuzz - readers of what subjects, disks and strangers leave, one function each.
 *
 *     build/tests/fuzz                       lists the readers
 *     build/tests/fuzz NAME COUNT [SEED]     its samples, damaged COUNT times
 *     build/tests/fuzz NAME FILE…            these inputs
 *     build/tests/fuzz --samples NAME DIR    writes the samples
 *
 * A reader takes any bytes: it reads them or refuses them in words, never worse. So the program
 * ends badly only where a reader does. `make fuzz` links the same functions with libFuzzer, which
 * looks for inputs that reach new branches.
 *
 * A new reader is a row in the table of one of the files here: its name, its function, and
 * samples of right input: texts, a function that makes them, or files of the repository.
 */
#ifndef SUNDEW_FUZZ_H
#define SUNDEW_FUZZ_H
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include <stddef.h>
#include <stdint.h>

typedef Vec(Str) Samples_;

typedef struct FuzzReader {
    const char *name;
    void (*read)(const uint8_t *data, size_t n);
    const char *texts[12];               /* samples; NULL ends them */
    void (*make)(Samples_ *out);         /* others; NULL */
    const char *files;                   /* others: a folder of the repository; NULL */
} FuzzReader;

/* name NULL: the end */
extern const FuzzReader fuzz_left[], fuzz_shared[], fuzz_run[], fuzz_files[], fuzz_kept[],
    fuzz_seen[], fuzz_flow[], fuzz_web[];

/* The input as a file, at the same path each time. */
const char *fuzz_file(const char *name, const uint8_t *data, size_t n);
/* The folder that it is in. */
const char *fuzz_folder(void);
/* What a reader says; it said something where it refused. */
void fuzz_said(bool ok, const Err *err);
/* A NUL behind it, for readers of text. Freed by the caller. */
char *fuzz_text(const uint8_t *data, size_t n);
void fuzz_sample(Samples_ *out, const void *data, size_t n);
#endif
