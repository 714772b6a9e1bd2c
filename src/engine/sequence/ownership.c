#include "engine/sequence/ownership.h"

struct Ownership {
    const Api *api;
    Map learned;                 /* {function, place} -> use + 1 */
};

typedef struct Key {
    unsigned function;
    int place;
} Key;

Ownership *ownership_new(const Api *api)
{
    Ownership *o = xcalloc(1, sizeof *o);
    o->api = api;
    return o;
}

void ownership_free(Ownership *o)
{
    if (!o)
        return;
    map_release(&o->learned);
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
    Key k = { f->index, place };
    map_putn(&o->learned, &k, sizeof k, (void *)((size_t)use + 1));
}
