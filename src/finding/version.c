#include "finding/version.h"
#include <sqlite3.h>

const char *finding_sqlite_version(void) { return sqlite3_libversion(); }
