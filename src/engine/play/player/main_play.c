/*
 * sundew-play - loads a library and executes call sequences on it.
 *
 *     sundew-play LIBRARY          with shared memory at WIRE_FD, see wire.h
 *
 * The program is small because it forks for every sequence. It runs in a sandbox,
 * under the fork server: the server has loaded the library; a run reads a request
 * (server.c).
 */
#include "engine/play/player/player_int.h"
#include "runtime/server/forkserver.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *next_text(const char **p)
{
    const char *s = *p;
    *p += strlen(s) + 1;
    return s;
}

static int load_functions(Player *p)
{
    uint32_t n;
    memcpy(&n, p->shared + WIRE_FUNCTIONS, sizeof n);
    const char *text = (const char *)p->shared + WIRE_FUNCTIONS + sizeof n;
    p->nroutines = n;
    p->routines = calloc(n + 1, sizeof *p->routines);
    for (uint32_t i = 0; p->routines && i < n; i++) {
        Routine *r = &p->routines[i];
        r->symbol = next_text(&text);
        r->signature = next_text(&text);
        r->look = next_text(&text);
        r->texts = next_text(&text);
        /* the last is free(), which a library without needs of its own does not lead to */
        p->head->missing += !call_prepare(r, i + 1 < n ? p->library : RTLD_DEFAULT);
    }
    return p->routines != NULL;
}

/* What exec.c has put there, checked. */
static int map_shared(Player *p)
{
    p->shared = mmap(NULL, WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, WIRE_FD, 0);
    if (p->shared == MAP_FAILED) {
        fprintf(stderr, "sundew-play is started by sundew\n");
        return 0;
    }
    close(WIRE_FD);              /* the library must not find it */
    p->head = (struct WireHead *)p->shared;
    return p->head->magic == WIRE_MAGIC && p->head->version == WIRE_VERSION;
}

static int load_library(Player *p, const char *path)
{
    lost_watch();
    p->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!p->library) {
        snprintf(p->head->trouble, sizeof p->head->trouble, "%s", dlerror());
        return 0;
    }
    p->woven = interpose_woven();
    if (!p->woven->schedule)
        lost_rest();
    if (!load_functions(p))
        return 0;
    /* Last: the linker frees what it said of this one when it is asked again, and
     * memory that the library gets should be fresh. */
    void *asan = dlsym(RTLD_DEFAULT, "__sanitizer_get_current_allocated_bytes");
    memcpy(&p->asan_bytes, &asan, sizeof asan);
    return 1;
}

int main(int argc, char **argv)
{
    Player player = { 0 };
    struct rlimit none = { 0, 0 };
    if (argc != 2) {
        fprintf(stderr, "sundew-play is started by sundew\n");
        return 2;
    }
    if (!map_shared(&player))
        return 2;
    setrlimit(RLIMIT_CORE, &none);
    if (!load_library(&player, argv[1]))
        return 3;
    player.head->npoints = (uint32_t)player.woven->ncover;
    player.head->nreached = (uint32_t)player.woven->nreached;
    player.head->ready = 1;
    sundew_forkserver_start();
    server_run(&player);
    return 0;
}
