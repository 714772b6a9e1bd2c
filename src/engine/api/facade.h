/*
 * facade - a library that was not captured, as its header declares it.
 *
 *     Program *p = facade_open("/usr/lib/…/libz.so.1", headers, flags, err);
 *     Api *api = api_open(p, &(ApiPlan){ .headers = headers }, err);
 *
 * The program has a function for each one that the headers declare and that the library
 * exports, with its types and the names of its parameters. The bodies are empty: roles come
 * from names and const alone. It is for calling the library itself, by name; nothing else
 * can be asked of it. The caller closes it.
 */
#ifndef SUNDEW_API_FACADE_H
#define SUNDEW_API_FACADE_H
#include "base/err.h"
#include "base/map.h"
#include "program/program.h"

Program *facade_open(const char *library, char *const *headers, char *const *flags, Err *err);
/* The functions that a shared library exports: their names. */
bool facade_exports(const char *library, Map *out, Err *err);
#endif
