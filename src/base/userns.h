/*
 * userns - a user namespace in which this user and this group are themselves.
 *
 *     UserIds ids = userns_ids();            before fork(): it formats text
 *     …in the child:
 *     if (!userns_enter(&ids, CLONE_NEWNS)) …
 *
 * userns_enter() allocates nothing, so that it may be called between fork() and exec().
 */
#ifndef SUNDEW_USERNS_H
#define SUNDEW_USERNS_H
#include <stdbool.h>

typedef struct UserIds {
    char uid[32], gid[32];     /* lines for uid_map and gid_map */
} UserIds;

UserIds userns_ids(void);
/* `more`: namespaces to enter with it. False: errno says why. */
bool userns_enter(const UserIds *ids, int more);
#endif
