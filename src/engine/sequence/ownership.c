#include "engine/sequence/ownership.h"
#include <assert.h>

struct Ownership {
    const Api *api;
    Map learned;                 /* {function, place} -> use + 1 */
    unsigned *blamed;            /* by function */
};

typedef struct Key {
    unsigned function;
    int place;
} Key;

Ownership *ownership_new(const Api *api)
{
    Ownership *o = xcalloc(1, sizeof *o);
    o->api = api;
    o->blamed = xcalloc(api->nfunctions + 1, sizeof *o->blamed);
    return o;
}

void ownership_free(Ownership *o)
{
    if (!o)
        return;
    map_release(&o->learned);
    free(o->blamed);
    free(o);
}

ApiUse ownership_use(const Ownership *o, const ApiFunction *f, int place)
{
    Key k = { f->index, place };
    size_t use = o ? (size_t)map_getn(&o->learned, &k, sizeof k) : 0;
    return use ? (ApiUse)(use - 1) : api_place(f, place)->use;
}

void ownership_learn(Ownership *o, const ApiFunction *f, int place, ApiUse use)
{
    assert(place >= API_RETURNED && place < (int)f->nparams);
    Key k = { f->index, place };
    map_putn(&o->learned, &k, sizeof k, (void *)((size_t)use + 1));
}

void ownership_blame(Ownership *o, const ApiFunction *f)
{
    assert(f->index <= o->api->nfunctions);      /* the last one: free() */
    o->blamed[f->index]++;
}

bool ownership_may_look(const Ownership *o, const ApiFunction *f)
{
    return !o || o->blamed[f->index] < 2;
}
