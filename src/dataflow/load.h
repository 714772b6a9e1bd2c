/*
 * load - tables from files, as Pig's loaders read them.
 *
 *     char *path = load_find(op, "samples");
 *     Input in;
 *     load_table(op, path, &(LoadPlan){ .sample = 1000, .rng = rng }, a, &in, &total, err);
 *
 * PigStorage (any single delimiter), TextLoader, JsonLoader and JSON lines, and
 * CSV with quotes. Other loaders count as PigStorage, unless the file's name
 * says otherwise. A field that does not fit its type is null; too few fields
 * are filled with nulls, too many are cut; an empty field is null. For a table
 * of SQL the file's name tells: .csv has commas, .tbl bars, others tabs; a first
 * line with the names of its columns is none of its rows.
 *
 * From a longer file a sample is drawn, each line with the same chance, and
 * kept in order.
 */
#ifndef SUNDEW_DATAFLOW_LOAD_H
#define SUNDEW_DATAFLOW_LOAD_H
#include "base/rng.h"
#include "dataflow/eval.h"

typedef struct LoadPlan {
    size_t sample;             /* rows at most; 0: 1000 */
    Rng *rng;
} LoadPlan;

/* The file or folder for a LOAD below `dir`: its path, its last part, or the
 * alias, also with .txt .tsv .csv .json .jsonl .tbl .data. NULL: none. */
char *load_find(const Op *op, const char *dir);
bool load_table(const Op *op, const char *path, const LoadPlan *lp, Arena *a, Input *out,
                size_t *total, Err *err);
/* The same from memory, all of it. */
void load_text(const Op *op, const char *text, Arena *a, Input *out);
/* A table as the loader of `op` would read it back. */
void load_print(const Op *op, const Input *in, Str *out);
#endif
