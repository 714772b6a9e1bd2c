#include "build/lines.h"
#include "base/file.h"
#include "base/map.h"
#include "capture/capture.h"
#include "capture/recompile.h"
#include <assert.h>

struct PlaceNames {
    Arena arena;
    Map places;                        /* "binary address" → Places * */
    Vec(Places *) all;
    char *namer;                       /* of addresses: addr2line */
};

static void add_place(PlaceNames *names, Places *to, const char *function, char *where)
{
    Place p = { .function = arena_strdup(&names->arena, function) };
    char *colon = strrchr(where, ':');
    p.line = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
    if (colon)
        *colon = 0;
    p.file = arena_strdup(&names->arena, where[0] == '?' ? "" : where);
    vec_push(to, p);
}

/* LLVM's own knows functions that LLVM inlined; binutils' does not always. */
static char *find_namer(void)
{
    char *clang = clang_find(), *dir = clang ? path_dir(clang) : NULL;
    char *real = clang ? path_real(clang) : NULL, *bin = real ? path_dir(real) : NULL;
    char *found = NULL;
    const char *const folders[] = { dir, bin };
    for (int i = 0; i < 2 && !found; i++) {
        found = folders[i] ? path_join(folders[i], "llvm-addr2line") : NULL;
        if (found && !file_exists(found)) {
            free(found);
            found = NULL;
        }
    }
    free(bin);
    free(real);
    free(dir);
    free(clang);
    return found ? found : xstrdup("addr2line");
}

/* addr2line -a: the address, then pairs of lines up to the next address. */
static void ask_places(PlaceNames *names, Strings *argv, Places **wanted)
{
    Str out = { 0 };
    char *save = NULL;
    size_t k = 0;
    Places *to = NULL;
    recompile_tool(strings_argv(argv), NULL, &out, NULL);
    for (char *l = out.data ? strtok_r(out.data, "\n", &save) : NULL; l;
         l = strtok_r(NULL, "\n", &save)) {
        if (str_starts(l, "0x") && wanted[k]) {
            to = wanted[k++];
            continue;
        }
        char *where = strtok_r(NULL, "\n", &save);
        if (to && where)
            add_place(names, to, l, where);
    }
    str_release(&out);
}

PlaceNames *places_new(void)
{
    PlaceNames *names = xcalloc(1, sizeof *names);
    names->namer = find_namer();
    return names;
}

const char *places_text(PlaceNames *names, const char *text)
{
    return arena_strdup(&names->arena, text);
}

void places_free(PlaceNames *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->all.len; i++) {
        vec_release(names->all.items[i]);
        free(names->all.items[i]);
    }
    vec_release(&names->all);
    map_release(&names->places);
    free(names->namer);
    arena_release(&names->arena);
    free(names);
}

bool places_find(PlaceNames *names, const char *binary, const uint64_t *at, size_t n, Places *out)
{
    Strings argv = { 0 };
    Vec(Places *) wanted = { 0 };
    strings_add(&argv, names->namer);
    strings_add(&argv, "-afie");
    strings_add(&argv, binary);
    for (size_t i = 0; i < n; i++) {
        char *key = xprintf("%s %llx", binary, (unsigned long long)at[i]);
        if (!map_has(&names->places, key)) {
            Places *p = xcalloc(1, sizeof *p);
            vec_push(&names->all, p);
            map_put(&names->places, key, p);
            vec_push(&wanted, p);
            strings_addf(&argv, "0x%llx", (unsigned long long)at[i]);
        }
        free(key);
    }
    vec_push(&wanted, NULL);
    if (wanted.len > 1)
        ask_places(names, &argv, wanted.items);
    for (size_t i = 0; i < n; i++) {
        char *key = xprintf("%s %llx", binary, (unsigned long long)at[i]);
        const Places *p = map_get(&names->places, key);
        assert(p);
        for (size_t k = 0; k < p->len; k++)
            vec_push(out, p->items[k]);
        free(key);
    }
    vec_release(&wanted);
    strings_release(&argv);
    return out->len > 0;
}
