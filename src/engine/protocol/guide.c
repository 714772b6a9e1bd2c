/* The priorities of guide.h, one after the other. */
#include "engine/protocol/guide.h"
#include "base/mem.h"
#include "base/vec.h"
#include <assert.h>
#include <stdlib.h>

static const double weights[] = { 0.4, 0.4, 0.2 };       /* under test, providers, state */

typedef struct Guide {
    const GuideFunction *f;
    size_t n, ntypes;
    double *mut, *param, *state;
    unsigned *providers, *methods;       /* of each type */
} Guide;

static bool has(const unsigned *list, size_t n, unsigned x)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

/* A function on handles of the type, or one that makes them. */
static bool is_method(const GuideFunction *f, unsigned type)
{
    return f->callable && (has(f->needs, f->nneeds, type) || has(f->gives, f->ngives, type));
}

/* From one function of the API backwards along calls. */
static void add_callers(Guide *g, unsigned api)
{
    unsigned *distance = xcalloc(g->n + 1, sizeof *distance), direct = 0;
    distance[api] = 1;
    for (unsigned d = 1; d <= GUIDE_DISTANCE; d++)
        for (size_t i = 0; i < g->n; i++)
            for (size_t k = 0; !distance[i] && k < g->f[i].ncalls; k++)
                if (distance[g->f[i].calls[k]] == d)
                    distance[i] = d + 1;
    for (size_t i = 0; i < g->n; i++)
        direct += distance[i] == 2;
    for (size_t i = 0; i < g->n; i++)
        if (distance[i] > 1 && g->f[i].callable && !g->f[i].api)
            g->mut[i] += 1.0 / direct / (distance[i] - 1);
    free(distance);
}

/* All that m needs, what gives it, and what the givers need. */
static void add_providers(Guide *g, unsigned m)
{
    bool *seen = xcalloc(g->n + 1, sizeof *seen);
    Vec(unsigned) todo = { 0 };
    seen[m] = true;
    vec_push(&todo, m);
    for (size_t at = 0; at < todo.len; at++) {
        const GuideFunction *f = &g->f[todo.items[at]];
        for (unsigned i = 0; i < g->n; i++) {
            bool gives = false;
            double most = 0;
            for (size_t k = 0; k < g->f[i].ngives; k++)
                if (has(f->needs, f->nneeds, g->f[i].gives[k])) {
                    gives = true;
                    most = 1.0 / g->providers[g->f[i].gives[k]];
                }
            if (!gives || seen[i] || !g->f[i].callable)
                continue;
            seen[i] = true;
            g->param[i] += g->mut[m] * most;
            vec_push(&todo, i);
        }
    }
    vec_release(&todo);
    free(seen);
}

static void add_changers(Guide *g, unsigned m)
{
    for (size_t k = 0; k < g->f[m].nneeds; k++) {
        unsigned type = g->f[m].needs[k];
        for (size_t i = 0; i < g->n; i++)
            if (is_method(&g->f[i], type))
                g->state[i] += g->mut[m] / g->methods[type];
    }
}

static void count_types(Guide *g)
{
    for (size_t i = 0; i < g->n; i++)
        for (unsigned t = 0; t < g->ntypes; t++) {
            g->providers[t] += g->f[i].callable && has(g->f[i].gives, g->f[i].ngives, t);
            g->methods[t] += is_method(&g->f[i], t);
        }
}

static void add_part(const double *part, size_t n, double weight, double *out)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += part[i];
    for (size_t i = 0; i < n && sum > 0; i++)
        out[i] += weight * part[i] / sum;
}

void guide_priorities(const GuideFunction *f, size_t n, size_t ntypes, double *out)
{
    Arena a = { 0 };
    Guide g = { .f = f,
                .n = n,
                .ntypes = ntypes,
                .mut = arena_array(&a, double, n + 1),
                .param = arena_array(&a, double, n + 1),
                .state = arena_array(&a, double, n + 1),
                .providers = arena_array(&a, unsigned, ntypes + 1),
                .methods = arena_array(&a, unsigned, ntypes + 1) };
    count_types(&g);
    for (unsigned i = 0; i < n; i++) {
        for (size_t k = 0; k < f[i].nneeds; k++)
            assert(f[i].needs[k] < ntypes);
        if (f[i].api)
            add_callers(&g, i);
    }
    for (unsigned i = 0; i < n; i++)
        if (g.mut[i] > 0) {
            add_providers(&g, i);
            add_changers(&g, i);
        }
    for (size_t i = 0; i < n; i++)
        out[i] = 0;
    add_part(g.mut, n, weights[0], out);
    add_part(g.param, n, weights[1], out);
    add_part(g.state, n, weights[2], out);
    arena_release(&a);
}
