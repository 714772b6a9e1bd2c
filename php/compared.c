/*
 * compared - what a C program under CGI compares its parameters with. Preloaded, beside still.c.
 *
 * Such a program is no PHP and has no labels. But it takes its parameters apart and hands
 * them to strcmp(), strstr() and their relatives; a text that is a parameter's value as a whole is
 * taken for that parameter. The comparison is a branch in the log (log.h), with the same
 * expressions as PHP's, so the driver turns it around as it does there. A name that the program
 * looks for and the request does not have is a parameter that is absent.
 *
 * Seen are calls from the program and its libraries. What the compiler does in place, and
 * comparisons of numbers, are not seen. A short value that two parameters share is taken for
 * both. The places of such calls are the log's "lines": the driver sees by them what is new.
 *
 * system() and popen() are told and not done. Paths that are opened are told.
 *
 * The channel's request holds the parameters: PATH, NUL, value, NUL, and so on.
 */
#include "log.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>

enum { MOST_PARAMS = 100, MOST_NODES = 20000, SITES = 1 << 12, MOST_COMPARED = 200, MOST_MATCHES = 3 };

static char *channel;
static struct { const char *path, *value; size_t n; char name[64]; } params[MOST_PARAMS];
static unsigned nparams;
static struct { uint64_t key; uint32_t id; } nodes[MOST_NODES * 2];
static uint32_t nnodes = 1;
static struct { uint32_t site, seen; } sites[SITES];
static const char *absent = "GET";
static __thread bool inside;

/* ---- the log */

static void record(struct sundew_web_record r, const void *text, size_t n, size_t args)
{
    struct sundew_web *h = (struct sundew_web *)channel;
    size_t size = (sizeof r + n + 3) & ~(size_t)3;
    if (h->full || h->log_len + size > SUNDEW_WEB_LOG) {
        h->full = 1;
        return;
    }
    char *at = channel + SUNDEW_WEB_HEADER + SUNDEW_WEB_REQUEST + h->log_len;
    r.len = (uint32_t)size;
    r.text = (uint32_t)(n - args);
    memcpy(at, &r, sizeof r);
    memcpy(at + sizeof r, text, n);
    h->log_len += (uint32_t)size;
}

static uint64_t mix(uint64_t h, const void *data, size_t n)
{
    for (const unsigned char *p = data; n--; p++)
        h = (h ^ *p) * 0x100000001b3u;
    return h;
}

static uint32_t node(uint32_t op, const uint32_t *args, unsigned nargs, const char *text, size_t len)
{
    char room[16 + 512];
    for (unsigned i = 0; i < nargs; i++)
        if (!args[i])
            return 0;
    if (len > 512 || nnodes >= MOST_NODES)
        return 0;
    uint64_t key = mix(mix(0xcbf29ce484222325u ^ op, args, nargs * sizeof *args), text, len) | 1;
    size_t slot = key % (MOST_NODES * 2);
    while (nodes[slot].key && nodes[slot].key != key)
        slot = (slot + 1) % (MOST_NODES * 2);
    if (nodes[slot].key)
        return nodes[slot].id;
    memcpy(room, args, nargs * sizeof *args);
    memcpy(room + nargs * sizeof *args, text, len);
    record((struct sundew_web_record){ .kind = WEB_NODE, .id = nnodes, .op = op, .node = nargs }, room,
           nargs * sizeof *args + len, nargs * sizeof *args);
    nodes[slot].key = key;
    return nodes[slot].id = nnodes++;
}

static uint32_t input(const char *path) { return node(WOP_INPUT, NULL, 0, path, strlen(path)); }

static uint32_t text_node(const char *s, size_t n)
{
    char room[MOST_COMPARED + 1] = "S";
    memcpy(room + 1, s, n);
    return node(WOP_CONST, NULL, 0, room, n + 1);
}

static uint32_t pair(uint32_t op, uint32_t a, uint32_t b, const char *text)
{
    uint32_t args[] = { a, b };
    return node(op, args, 2, text, strlen(text));
}

/* The place of a call: stable over runs. */
static uint32_t site_of(void *from)
{
    Dl_info info;
    uint64_t at = (uintptr_t)from;
    if (dladdr(from, &info) && info.dli_fbase) {
        const char *name = strrchr(info.dli_fname, '/');
        at -= (uintptr_t)info.dli_fbase;
        at = mix(at * 0x9E3779B97F4A7C15u, name ? name : "", name ? strlen(name) : 0);
    }
    return (uint32_t)(at >> 32 ^ at) | 1;
}

static bool site_has_room(uint32_t site)
{
    uint32_t slot = site % SITES;
    for (unsigned i = 0; i < 64; i++, slot = (slot + 1) % SITES) {
        if (!sites[slot].site) {
            sites[slot].site = site;
            record((struct sundew_web_record){ .kind = WEB_HIT, .file = 1, .line = site & 0x7fffffff }, "",
                   0, 0);
        }
        if (sites[slot].site == site)
            return sites[slot].seen++ < SUNDEW_WEB_MOST_PER_SITE;
    }
    return false;
}

static void branch(uint32_t cond, bool taken, void *from, uint32_t sub)
{
    uint32_t site = site_of(from) * 31 + sub * 2 + 1;
    if (cond && site_has_room(site))
        record((struct sundew_web_record){ .kind = WEB_BRANCH, .id = site, .op = taken, .node = cond,
                                           .file = 1 }, "", 0, 0);
}

/* ---- parameters */

static bool is_name(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!((s[i] | 32) >= 'a' && (s[i] | 32) <= 'z') && !(s[i] >= '0' && s[i] <= '9') &&
            s[i] != '_' && s[i] != '-')
            return false;
    return n > 0 && n < 40;
}

static bool is_param_name(const char *s, size_t n)
{
    for (unsigned i = 0; i < nparams; i++)
        if (strlen(params[i].name) == n && memcmp(params[i].name, s, n) == 0)
            return true;
    return false;
}

/* The program asks for a parameter of this name. A place that goes through many names is many
 * branches, and a name is asked for once there, however many parameters it is compared with. */
static void asked_for(const char *name, size_t n, bool found, void *from)
{
    static uint64_t asked[1 << 10];
    char path[64];
    if (!is_name(name, n) || (!found && is_param_name(name, n)))
        return;
    uint64_t key = mix(site_of(from), name, n) | 1;
    size_t slot = key % (sizeof asked / sizeof *asked);
    if (asked[slot] == key)
        return;
    asked[slot] = key;
    snprintf(path, sizeof path, "%s[%.*s]", absent, (int)n, name);
    const char *own = path;
    for (unsigned i = 0; i < nparams && found; i++)
        if (strlen(params[i].name) == n && memcmp(params[i].name, name, n) == 0)
            own = params[i].path;
    uint32_t in = input(own);
    branch(node(WOP_ISSET, &in, 1, "", 0), found, from, (uint32_t)mix(7, name, n));
}

typedef enum { WHOLE, FOLDED, BEGIN, INSIDE } How;

/* Text `a` of the program is compared with `b`, which may be the value of a parameter. */
static void value_compared(const char *a, size_t na, const char *b, size_t nb, How how, bool yes, void *from)
{
    unsigned matches = 0;
    for (unsigned i = 0; i < nparams && matches < MOST_MATCHES; i++) {
        if (!na || params[i].n != na || memcmp(params[i].value, a, na) != 0)
            continue;
        uint32_t in = input(params[i].path), text = text_node(b, nb);
        uint32_t cond = how == WHOLE    ? pair(WOP_SAME, in, text, "")
                        : how == FOLDED ? pair(WOP_SAME, node(WOP_CALL, &in, 1, "strtolower", 10), text, "")
                        : how == BEGIN  ? pair(WOP_CALL, in, text, "str_starts_with")
                                        : pair(WOP_CALL, in, text, "str_contains");
        branch(cond, yes, from, 1 + matches++);
    }
}

static void compared(const char *a, size_t na, const char *b, size_t nb, How how, bool yes, void *from)
{
    if (!channel || inside || na > MOST_COMPARED || nb > MOST_COMPARED)
        return;
    inside = true;
    char folded[MOST_COMPARED + 1];
    for (int side = 0; side < 2; side++) {
        const char *x = side ? b : a, *y = side ? a : b;
        size_t nx = side ? nb : na, ny = side ? na : nb;
        if (how == FOLDED)
            for (size_t i = 0; i < ny; i++)
                folded[i] = y[i] >= 'A' && y[i] <= 'Z' ? (char)(y[i] | 32) : y[i];
        if (how != BEGIN || side == 0)
            value_compared(x, nx, how == FOLDED ? folded : y, ny, how, yes, from);
        if ((how == WHOLE || how == FOLDED) && is_param_name(x, nx) && (!yes || side == 0))
            asked_for(y, ny, yes, from);
        if (how == BEGIN && side == 0 && ny && y[ny - 1] == '=')
            asked_for(y, ny - 1, yes, from);
    }
    inside = false;
}

/* ---- what the program calls */

#define SEEN __attribute__((visibility("default"), noinline))
#define HERE __builtin_return_address(0)

static int fold(int c) { return c >= 'A' && c <= 'Z' ? c | 32 : c; }

static int differ(const char *a, const char *b, size_t n, bool folded)
{
    for (size_t i = 0; i < n; i++) {
        int x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (folded)
            x = fold(x), y = fold(y);
        if (x != y)
            return x - y;
        if (!x)
            return 0;
    }
    return 0;
}

static size_t length(const char *s, size_t most)
{
    size_t n = 0;
    while (n < most && s[n])
        n++;
    return n;
}

SEEN int strcmp(const char *a, const char *b)
{
    int d = differ(a, b, SIZE_MAX, false);
    compared(a, length(a, MOST_COMPARED + 1), b, length(b, MOST_COMPARED + 1), WHOLE, d == 0, HERE);
    return d;
}

SEEN int strcasecmp(const char *a, const char *b)
{
    int d = differ(a, b, SIZE_MAX, true);
    compared(a, length(a, MOST_COMPARED + 1), b, length(b, MOST_COMPARED + 1), FOLDED, d == 0, HERE);
    return d;
}

/* With the length of the second text: does the first begin so? */
static void begins(const char *a, const char *b, size_t n, bool yes, bool folded, void *from)
{
    size_t na = length(a, MOST_COMPARED + 1), nb = length(b, n < MOST_COMPARED ? n : MOST_COMPARED + 1);
    bool whole = n > nb && n > na;
    compared(a, na, b, nb, folded ? FOLDED : whole ? WHOLE : BEGIN, yes, from);
}

SEEN int strncmp(const char *a, const char *b, size_t n)
{
    int d = differ(a, b, n, false);
    begins(a, b, n, d == 0, false, HERE);
    return d;
}

SEEN int strncasecmp(const char *a, const char *b, size_t n)
{
    int d = differ(a, b, n, true);
    begins(a, b, n, d == 0, true, HERE);
    return d;
}

SEEN int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    int d = 0;
    for (size_t i = 0; i < n && !d; i++)
        d = x[i] - y[i];
    compared(a, n, b, n, WHOLE, d == 0, HERE);
    return d;
}

SEEN char *strstr(const char *hay, const char *needle)
{
    size_t n = length(needle, SIZE_MAX);
    char *found = NULL;
    for (const char *p = hay; !found && (*p || !n); p++)
        if (differ(p, needle, n, false) == 0)
            found = (char *)p;
    if (n && needle[n - 1] == '=' && channel && !inside) {
        inside = true;
        asked_for(needle, n - 1, found != NULL, HERE);
        inside = false;
    }
    compared(hay, length(hay, MOST_COMPARED + 1), needle, n, INSIDE, found != NULL, HERE);
    return found;
}

/* Text that goes to a shell, a file: once for each parameter that is in it. */
static void told(uint32_t kind, const char *text)
{
    if (!channel || inside || !text)
        return;
    inside = true;
    size_t n = length(text, 4096);
    unsigned matches = 0;
    for (unsigned i = 0; i < nparams && matches < MOST_MATCHES; i++)
        if (params[i].n && memmem(text, n, params[i].value, params[i].n)) {
            record((struct sundew_web_record){ .kind = WEB_SINK, .op = kind, .node = input(params[i].path),
                                               .file = 1 }, text, n, 0);
            matches++;
        }
    inside = false;
}

SEEN int system(const char *command)
{
    told(SINK_SHELL, command);
    return command ? -1 : 0;
}

SEEN FILE *popen(const char *command, const char *mode)
{
    (void)mode;
    told(SINK_SHELL, command);
    errno = ENOENT;
    return NULL;
}

SEEN FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);
    if (!real)
        real = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    told(SINK_FILE, path);
    return real ? real(path, mode) : NULL;
}

SEEN int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list ap;
    va_start(ap, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0;
    va_end(ap);
    if (!real)
        real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    told(SINK_FILE, path);
    return real ? real(path, flags, mode) : -1;
}

/* ---- begin */

static void read_params(const char *p, uint32_t n)
{
    const char *end = p + n;
    while (p < end && nparams < MOST_PARAMS) {
        size_t k = strnlen(p, (size_t)(end - p));
        const char *value = p + k + 1;
        if (value >= end)
            return;
        size_t v = strnlen(value, (size_t)(end - value));
        if (value + v >= end)
            return;
        params[nparams].path = p;
        params[nparams].value = value;
        params[nparams].n = v;
        const char *open = strchr(p, '['), *shut = open ? strchr(open, ']') : NULL;
        if (shut && shut - open - 1 < (ptrdiff_t)sizeof params->name)
            memcpy(params[nparams].name, open + 1, (size_t)(shut - open - 1));
        nparams++;
        p = value + v + 1;
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *fd = getenv(SUNDEW_WEB_ENV), *program = getenv("SCRIPT_FILENAME");
    const char *method = getenv("REQUEST_METHOD");
    inside = true;
    void *at = fd ? mmap(NULL, SUNDEW_WEB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0) : MAP_FAILED;
    if (at != MAP_FAILED) {
        struct sundew_web *h = at;
        channel = at;
        h->magic = SUNDEW_WEB_MAGIC;
        h->version = SUNDEW_WEB_VERSION;
        h->begun = 1;
        if (h->request_len <= SUNDEW_WEB_REQUEST)
            read_params(channel + SUNDEW_WEB_HEADER, h->request_len);
        absent = method && *method == 'P' ? "POST" : "GET";
        record((struct sundew_web_record){ .kind = WEB_FILE, .id = 1 }, program ? program : "",
               program ? strlen(program) : 0, 0);
    }
    unsetenv("LD_PRELOAD");
    inside = false;
}
