/* What the files of the store share: store.c, store_read.c. */
#ifndef SUNDEW_STORE_INT_H
#define SUNDEW_STORE_INT_H
#include "finding/db.h"
#include "finding/store.h"

struct Store {
    sqlite3 *db;
    char *path;                /* for messages */
    char *root, *real_root;    /* absolute; the second without links, or NULL */
    bool readonly;
};

/* The kinds of rows in the table `place`. */
enum { PLACE_STEP, PLACE_RELATED, PLACE_FIX };
#endif
