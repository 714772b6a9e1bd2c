/*
 * freed - what lay in objects when they were freed.
 *
 * A caller of the function that crashes often had objects that are freed by
 * then. Most of their bytes stay until the memory is handed out again, but the
 * allocator writes its own into the first sixteen. So these are kept of the
 * objects that each thread freed last; and each frame knows how many its thread
 * had freed when it was entered: what was freed later was alive then. Without a
 * frame (all functions are off) nothing is kept.
 */
#include "runtime/monitor/monitor_int.h"

void sundew_note_malloc(void *p, size_t n) { sundew_extent_malloc(p, n); }

void sundew_note_free(void *p)
{
    SundewThread *t = sundew_self;
    if (t && t->lane && t->lane->live && sundew_extent_starts(p)) {
        SundewHead *h = &t->heads[t->nfreed++ % SUNDEW_HEADS];
        h->address = (uintptr_t)p;
        memcpy(h->bytes, p, sizeof h->bytes);
    }
    sundew_extent_free(p);
}

const SundewHead *sundew_head_of(const SundewThread *t, uint64_t address, uint32_t *number)
{
    for (uint32_t i = 1; i <= SUNDEW_HEADS && i <= t->nfreed; i++) {
        const SundewHead *h = &t->heads[(t->nfreed - i) % SUNDEW_HEADS];
        if (h->address == address) {
            *number = t->nfreed - i;
            return h;
        }
    }
    return NULL;
}
