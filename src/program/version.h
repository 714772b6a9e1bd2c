/* The version of the library that this room stands on, as in use. */
#ifndef SUNDEW_PROGRAM_VERSION_H
#define SUNDEW_PROGRAM_VERSION_H
const char *program_llvm_version(void);
#endif
