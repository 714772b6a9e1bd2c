#include "engine/sequence/ownership.h"

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
    Key k = { f->index, place };
    map_putn(&o->learned, &k, sizeof k, (void *)((size_t)use + 1));
}

void ownership_blame(Ownership *o, const ApiFunction *f)
{
    o->blamed[f->index]++;
}

bool ownership_may_look(const Ownership *o, const ApiFunction *f)
{
    return !o || o->blamed[f->index] < 2;
}

void ownership_learn_usage(Ownership *o, const Usage *m)
{
    size_t n;
    const UsageFunction *all = usage_functions(m, &n);
    for (size_t i = 0; i < n; i++) {
        const ApiFunction *f = all[i].function;
        for (unsigned k = 0; k < f->nparams; k++)
            if (f->params[k].role == ROLE_HANDLE && all[i].calls && all[i].fates[k] == FATE_TAKEN)
                ownership_learn(o, f, (int)k, USE_CONSUMES);
        for (int k = API_RETURNED; k < (int)f->nparams; k++)
            if (api_place(f, k)->use == USE_BORROWS && usage_gives_handle(m, f, k))
                ownership_learn(o, f, k, USE_CREATES);
        if (usage_gives_text(m, f))
            ownership_learn(o, f, API_RETURNED, USE_CREATES);
    }
}
