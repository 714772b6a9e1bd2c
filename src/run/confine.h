/*
 * confine - a helper process that a subject can command, such as a database server.
 *
 *     Proc p = { …, .enter = confine_writes, .enter_arg = (void *)folder };
 *
 * From then on the process and what it starts gain no privileges and write below `folder` (and to
 * /dev/null) only. It still sees other processes and has the user's rights to read.
 */
#ifndef SUNDEW_RUN_CONFINE_H
#define SUNDEW_RUN_CONFINE_H
#include <stdbool.h>

/* Between fork() and exec(). True in any case: where the kernel refuses, there is no confinement. */
bool confine_writes(void *folder);
/* NULL: the kernel grants it; else what to tell. */
const char *confine_missing(void);
#endif
