/* The version of the library that this room stands on, as in use. */
#ifndef SUNDEW_SOLVE_VERSION_H
#define SUNDEW_SOLVE_VERSION_H
const char *solve_z3_version(void);
#endif
