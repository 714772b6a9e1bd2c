/*
 * write - a settled sequence as the body of a C test.
 *
 *     WriteFile f = {0};                         one C file
 *     write_test(&f, test, &body, &n);           appends what the file needs
 *     f.texts, f.stubs                           what stands before the tests
 *
 *     struct poly *poly = poly_new(2);
 *     CHECK_NOT_NULL(poly);
 *     CHECK_INT(poly_set(poly, 0, 3), 0);
 *     CHECK_INT(poly_degree(poly), 0);
 *     poly_free(poly);
 *
 * Literals as the API's types want them: enumerators by name, strings, arrays. What
 * was stable is asserted. Nothing of Sundew is needed but sundew_test.h.
 */
#ifndef SUNDEW_SEQ_WRITE_H
#define SUNDEW_SEQ_WRITE_H
#include "engine/suite/settle.h"

typedef struct WriteFile {
    Str stubs;                   /* callbacks, as C */
    Map known;                   /* their signatures -> name */
    bool counts;                 /* stub_calls is used */
    Str texts;                   /* long texts and files, as C */
    Map long_texts;              /* content -> name */
    Map text_names;
    const SeqFile *files;        /* that calls may ask for */
    size_t nfiles;
} WriteFile;

void write_test(WriteFile *f, const SeqTest *t, Str *body, size_t *assertions);
/* The group that a test belongs to: the type or the function it is about. */
void write_group(const SeqTest *t, Str *out);
void write_release(WriteFile *f);

/*
 * A sequence that is spread over several functions: variables are static. Several
 * sequences may begin with the same `common` steps; the variables of the others end in
 * `suffix`.
 */
typedef struct WriteParts {
    WriteFile *file;
    const Seq *seq;
    unsigned common;
    const char *suffix;
    Str *variables;              /* grows */
} WriteParts;

/* One step, without assertions. Its result gets a variable if it is `kept`; its name is
 * added to `name` then, unless that is NULL. */
void write_part(const WriteParts *p, unsigned step, bool kept, Str *body, Str *name);
#endif
