/*
 * Assertions of what a function is handed:
 *
 *     void bufput(struct buf *buf, const void *data, size_t size)
 *     {
 *         assert(buf && buf->unit);
 *
 * Here bufput() is handed the damage, as if it had touched a bad pointer: its own test fails
 * wherever else the fix is. It is so if it has only looked at what it has: nothing that it called
 * before may have changed memory. The same holds for abort(), and for functions like die() that call it.
 */
#include "analysis/effects/looks.h"
#include "technique/reproduce/reproduce_int.h"
#include <string.h>

bool asserted_argument(const Program *p, const Ending *e, const Candidate *c)
{
    const Place *site = e->stack.len ? &e->stack.items[0] : NULL;
    bool said = e->kind == FAILURE_ASSERTION || (e->kind == FAILURE_ABORT && !e->heap);
    return said && site && site->line && c->fn && !c->distance && c->fn->nparams &&
           strcmp(site->function, c->fn->name) == 0 && looks_until(p, c->fn, site->line);
}
