/*
 * qualifiers - where a `const` could stand, and what else it would need.
 *
 * Each pointer parameter and local variable whose target is not const is a node;
 * all declarations of a function share the nodes of its parameters. Where the
 * value of one goes to another, `const` on the first needs it on the second. A
 * node is *pinned* if const can't stand there: it is written through, goes to a
 * place that is not const and not ours (a member, a global variable, a system
 * function, a result), its type hides the pointer in a typedef, a macro wrote it.
 * Functions whose address is taken need const together with the types of the
 * pointers that hold them.
 *
 *     Qualifiers *q = qualifiers_read(&commands, root, NULL, NULL, err);
 *     uint32_t node = qualifiers_param(q, "count", "/src/list.c", 19, 0);
 *     if (qualifiers_closure(q, node, &set, &why)) …   a closed set of nodes
 *
 * The sources are read by libclang, each unit in a process of its own. A unit
 * that can't be read is counted in `failed`, and its files are not to be changed.
 */
#ifndef SUNDEW_QUALIFIERS_H
#define SUNDEW_QUALIFIERS_H
#include "base/err.h"
#include "base/vec.h"
#include "capture/capture.h"
#include <stdint.h>

typedef struct Qualifiers Qualifiers;
typedef Vec(uint32_t) QualifierNodes;
#define QUALIFIER_NONE UINT32_MAX

/* Where `const ` is to be written: `const char *p`, `char *const *p`. */
typedef struct QualifierSite {
    const char *file;            /* absolute */
    unsigned offset;
} QualifierSite;

/* A parameter of a definition that a node stands for. */
typedef struct QualifierParam {
    const char *function, *file;
    unsigned line, index;
} QualifierParam;

Qualifiers *qualifiers_read(const CompileCommands *commands, const char *root, bool (*stop)(void *),
                            void *arg, Err *err);
void qualifiers_close(Qualifiers *q);            /* NULL is fine */
size_t qualifiers_failed(const Qualifiers *q);

/* QUALIFIER_NONE: not known, or it points to const already. */
uint32_t qualifiers_param(const Qualifiers *q, const char *function, const char *file,
                          unsigned line, unsigned index);
/* All nodes that need const if this one has it. False: one of them is pinned;
 * `why` says by what. */
bool qualifiers_closure(const Qualifiers *q, uint32_t node, QualifierNodes *set, const char **why);
/* A parameter in the type of a pointer to functions. */
bool qualifiers_is_slot(const Qualifiers *q, uint32_t node);
const QualifierSite *qualifiers_sites(const Qualifiers *q, uint32_t node, size_t *n);
const QualifierParam *qualifiers_params(const Qualifiers *q, uint32_t node, size_t *n);
#endif
