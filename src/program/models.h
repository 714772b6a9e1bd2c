/*
 * models - what becomes of a library function in a concolic run.
 *
 * One line a function, in share/models/ and in files that a user adds; the format
 * is described in docs/library-models.md:
 *
 *     model       strlen strcmp          our own version in C, woven like the program
 *     model       fgetc=getc             the version of another name
 *     always      read rand              the same, for what brings input or keeps something:
 *                                        also where nothing that it is given can be symbolic
 *     pin         setvbuf 3 4            these arguments stay what they are
 *     concretise  regexec                its results are not followed, and that is noted
 *     ignore      free puts              what it does makes no difference
 *
 *     Models *m = models_new();
 *     if (!models_read_folder(m, "share/models", err)) …
 *     const Model *one = models_find(m, "__isoc99_sscanf");
 *
 * A later line for a name replaces an earlier one. What is handed out lives as
 * long as the Models.
 */
#ifndef SUNDEW_PROGRAM_MODELS_H
#define SUNDEW_PROGRAM_MODELS_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

typedef struct Models Models;

typedef enum ModelKind {
    MODEL_OWN, MODEL_ALWAYS, MODEL_PIN, MODEL_CONCRETISE, MODEL_IGNORE,
} ModelKind;
const char *model_kind_name(ModelKind k);      /* model, pin, … */

typedef struct Model {
    const char *name;
    ModelKind kind;
    const char *own;         /* sundew_model_…; NULL: it has no version of our own */
    uint32_t arguments;      /* MODEL_PIN: a bit each, the first is bit 0; 0: all */
    const char *where;       /* file:line */
} Model;

Models *models_new(void);
void models_free(Models *all);                 /* NULL is fine */
/* Errors name the file and the line. */
bool models_read(Models *all, const char *path, Err *err);
bool models_read_text(Models *all, const char *text, const char *path, Err *err);
bool models_read_folder(Models *all, const char *folder, Err *err);

/* By the name as the linker sees it; __isoc99_, __isoc23_ and NAME64 forms stand
 * for the plain name if they have no line of their own. NULL: unknown. */
const Model *models_find(const Models *all, const char *name);
size_t models_count(const Models *all);
const Model *models_at(const Models *all, size_t i);
#endif
