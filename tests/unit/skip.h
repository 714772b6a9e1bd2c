/* Leaves a test out, with its reason: cmocka's skip() has none, and tests/run wants one. */
#ifndef SUNDEW_TEST_SKIP_H
#define SUNDEW_TEST_SKIP_H

#define SKIP(reason)                                                                               \
    do {                                                                                           \
        print_message("# left out: %s\n", reason);                                                 \
        skip();                                                                                    \
    } while (0)
#endif
