/* The version of the library that this room stands on, as in use. */
#ifndef SUNDEW_FINDING_VERSION_H
#define SUNDEW_FINDING_VERSION_H
const char *finding_sqlite_version(void);
#endif
