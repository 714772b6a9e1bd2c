/*
 * name:   an errno where all others pass a status
 * run:    sundew types $file
 * expect: $file:51:10: types: fail: argument 1 is EINVAL
 * expect: 35 of 36 callers pass enum status
 * status: 1
 */
#include <errno.h>

enum status { NOT_FOUND = -1, FULL = -2 };

int fail(int status);

void all(void)
{
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(EINVAL);
}
