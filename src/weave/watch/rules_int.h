/* The descriptors of all rules: see rules.c. */
#ifndef SUNDEW_WATCH_RULES_INT_H
#define SUNDEW_WATCH_RULES_INT_H
#include "weave/watch/watch_int.h"

extern const WatchRule rule_transfer, rule_text_count, rule_number, rule_bool, rule_dropped,
    rule_null, rule_malloc, rule_comparator, rule_hash, rule_copy, rule_overflow_test,
    rule_malloc_product, rule_sign_compare, rule_strncpy, rule_sizeof_pointer, rule_format,
    rule_stale, rule_leak, rule_double_free, rule_fallthrough, rule_injection, rule_cast,
    rule_bytes, rule_scan, rule_vprint, rule_toctou, rule_signal, rule_unused, rule_race,
    rule_null_pointer, rule_freed, rule_division, rule_outside, rule_unset, rule_lost,
    rule_sign_asked;
#endif
