/*
 * The commands of the tool: each prints its answer or returns what failed.
 */
#ifndef COMMANDS_H
#define COMMANDS_H
#include "larder.h"

int cmd_stock(struct larder *l, const char *const *args);
int cmd_usage(struct larder *l, const char *const *args);   /* SKU DAY DAY */
int cmd_top(struct larder *l, const char *const *args);
int cmd_urgent(struct larder *l, const char *const *args);
int cmd_kit(struct larder *l, const char *const *args);     /* NAME */
int cmd_browse(struct larder *l, const char *const *args);

#endif
