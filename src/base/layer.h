/*
 * layer - a folder that a process may write to, while the folder itself stays as it is.
 *
 *     folder     read through the layer, never written
 *     memory     what is written; nobody sees it but the layer
 *     layer      what the process sees
 *
 * For a process in a mount namespace of its own; the layer is gone with it.
 */
#ifndef SUNDEW_LAYER_H
#define SUNDEW_LAYER_H
#include <stdbool.h>

/* What is written in the folder goes to memory from now on. `flags` are those of mount(2). False,
 * with errno: the kernel refused, and nothing has changed. */
bool layer_over(const char *folder, bool in_user_namespace, unsigned long flags);
#endif
