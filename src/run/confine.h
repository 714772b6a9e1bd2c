/*
 * confine - a helper process that a subject can command, such as a database server.
 *
 *     confine((void *)folder);                in the child, before it executes
 *
 * From then on the process and what it starts gain no privileges, write below `folder` (and to
 * /dev/null) only, in files of at most CONFINE_FILE_SIZE, have no network, and can't use the system
 * calls that subjects can't use. They still see other processes and have the user's rights to read.
 */
#ifndef SUNDEW_RUN_CONFINE_H
#define SUNDEW_RUN_CONFINE_H
#include <stdbool.h>

enum { CONFINE_FILE_SIZE = 1 << 30 };

/* Between fork() and exec(). True in any case: what the kernel refuses is left out. */
bool confine(void *folder);
/* NULL: the kernel grants it; else what to tell. */
const char *confine_missing(void);
#endif
