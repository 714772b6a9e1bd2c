/* The rules, one row each. A rule stands in the file that its comment names. */
#include "weave/watch/rules_int.h"

const WatchRule *const watch_rules[] = {
    &rule_transfer,          /* rule_counts.c */
    &rule_text_count,     &rule_number,       &rule_bool,              /* rule_bool.c */
    &rule_dropped,           /* rule_errors.c */
    &rule_null,              /* rule_null.c */
    &rule_malloc,         &rule_comparator,        /* rule_compare.c */
    &rule_hash,              /* rule_hash.c */
    &rule_copy,              /* rule_copy.c */
    &rule_overflow_test,     /* rule_numbers.c */
    &rule_malloc_product, &rule_sign_compare, &rule_strncpy,           /* rule_texts.c */
    &rule_sizeof_pointer, &rule_format,       &rule_stale,             /* rule_heap.c */
    &rule_leak,           &rule_toctou,            /* rule_system.c */
    &rule_signal,         &rule_unused,       NULL,
};
