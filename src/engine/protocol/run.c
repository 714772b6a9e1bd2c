/*
 * What processes did, from their files of calls (runtime/format/callfile.h): values
 * become objects.
 *
 * A value names the same object until a maker gives it out again, or the caller's struct is
 * set up anew. A maker that returns NULL (or -1 of an integer) gives an object
 * that stands for "none": a later call with NULL for that type is a call on it.
 *
 * The file was written by the subject and may say anything: no number in it is used
 * before it was compared with what there is.
 */
#include "base/file.h"
#include "engine/protocol/protocol.h"
#include "run/locate.h"
#include "runtime/format/callfile.h"
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------- runs made by hand */

ProtoRun *proto_run_new(void)
{
    ProtoRun *r = xcalloc(1, sizeof *r);
    r->said = xstrdup("");
    r->name = xstrdup("");
    return r;
}

void proto_run_free(ProtoRun *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->frames.len; i++) {
        free(r->frames.items[i].module);
        free(r->frames.items[i].function);
    }
    vec_release(&r->frames);
    vec_release(&r->calls);
    vec_release(&r->objects);
    vec_release(&r->left);
    free(r->first);
    free(r->uses);
    free(r->said);
    free(r->name);
    free(r);
}

void proto_runs_release(ProtoRuns *runs)
{
    for (size_t i = 0; i < runs->len; i++)
        proto_run_free(runs->items[i]);
    vec_release(runs);
}

uint32_t proto_run_object(ProtoRun *r, unsigned type)
{
    vec_push(&r->objects, ((ProtoObject){ .type = type }));
    return (uint32_t)r->objects.len;
}

ProtoCall *proto_run_call(ProtoRun *r, unsigned function)
{
    vec_push(&r->calls, ((ProtoCall){ .function = function, .returned = true }));
    return &r->calls.items[r->calls.len - 1];
}

/* The distinct objects that a call names; gives their number. */
static unsigned named(const ProtoCall *c, uint32_t out[5])
{
    unsigned n = 0;
    for (unsigned i = 0; i < 5; i++) {
        uint32_t o = i < 3 ? c->objects[i] : c->made[i - 3];
        bool old = !o;
        for (unsigned k = 0; k < n; k++)
            old |= out[k] == o;
        if (!old)
            out[n++] = o;
    }
    return n;
}

void proto_run_index(ProtoRun *r)
{
    size_t total = 0;
    uint32_t all[5];
    free(r->first);
    free(r->uses);
    r->first = xcalloc(r->objects.len + 2, sizeof *r->first);
    for (size_t i = 0; i < r->calls.len; i++) {
        unsigned n = named(&r->calls.items[i], all);
        total += n;
        for (unsigned k = 0; k < n; k++) {
            assert(all[k] <= r->objects.len);
            r->first[all[k] + 1]++;
        }
    }
    for (size_t o = 1; o <= r->objects.len + 1; o++)
        r->first[o] += r->first[o - 1];
    r->uses = xcalloc(total + 1, sizeof *r->uses);
    /* first[o] is where object o goes on; in the end it is where o + 1 begins. */
    for (size_t i = 0; i < r->calls.len; i++) {
        unsigned n = named(&r->calls.items[i], all);
        for (unsigned k = 0; k < n; k++)
            r->uses[r->first[all[k]]++] = (uint32_t)i;
    }
    for (size_t o = r->objects.len + 1; o > 0; o--)
        r->first[o] = r->first[o - 1];
    r->first[0] = 0;
}

/* ------------------------------------------------------------------ values */

/* From a type and a value to the object that it names now: open addressing. */
typedef struct Values {
    struct {
        uint64_t value;
        uint32_t type, object;  /* object 0: free */
    } *slots;
    size_t len, cap;
} Values;

static size_t slot_of(const Values *v, uint32_t type, uint64_t value)
{
    uint64_t h = (value ^ (uint64_t)type << 56) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(h >> 20) & (v->cap - 1);
    while (v->slots[i].object && (v->slots[i].value != value || v->slots[i].type != type))
        i = (i + 1) & (v->cap - 1);
    return i;
}

static void values_grow(Values *v)
{
    Values bigger = { .cap = v->cap ? v->cap * 2 : 1024, .len = v->len };
    bigger.slots = xcalloc(bigger.cap, sizeof *bigger.slots);
    for (size_t i = 0; i < v->cap; i++)
        if (v->slots[i].object)
            bigger.slots[slot_of(&bigger, v->slots[i].type, v->slots[i].value)] = v->slots[i];
    free(v->slots);
    *v = bigger;
}

static uint32_t *value_object(Values *v, uint32_t type, uint64_t value)
{
    if (v->len * 2 >= v->cap)
        values_grow(v);
    size_t i = slot_of(v, type, value);
    if (!v->slots[i].object) {
        v->slots[i].type = type;
        v->slots[i].value = value;
        v->len++;
    }
    return &v->slots[i].object;
}

/* ------------------------------------------------------------------- calls */

typedef struct Reader {
    const ProtoReading *how;
    ProtoRun *run;
    Values values;
    Vec(uint32_t) none;          /* by type: the last object that stands for none */
} Reader;

static const ProtoType *type_at(const Reader *r, unsigned type)
{
    return &r->how->api->types.items[type];
}

static bool is_none(const Reader *r, unsigned type, uint64_t value)
{
    return type_at(r, type)->integer ? (int32_t)value < 0 : value == 0;
}

static uint32_t new_object(Reader *r, unsigned type, bool made)
{
    uint32_t o = proto_run_object(r->run, type);
    if (made)
        r->run->objects.items[o - 1].maker = (uint32_t)r->run->calls.len + 1;
    return o;
}

/* A handle that goes in. */
static uint32_t object_in(Reader *r, const ProtoPlace *p, uint64_t value, ProtoCall *c)
{
    if (p->param != PROTO_HIDDEN && is_none(r, p->type, value))
        return r->none.items[p->type];
    uint32_t *at = value_object(&r->values, p->type, value);
    bool begins = p->use == PROTO_INITIALISES ||
                  (!*at && (type_at(r, p->type)->caller_owned || p->param == PROTO_HIDDEN));
    if (!*at || p->use == PROTO_INITIALISES)
        *at = new_object(r, p->type, begins);
    uint32_t o = *at;
    if (begins) {
        c->made[c->made[0] != 0] = o;
        r->run->objects.items[o - 1].found = p->use != PROTO_INITIALISES;
    }
    if (p->use == PROTO_DESTROYS && c->returned)
        r->run->objects.items[o - 1].ender = (uint32_t)r->run->calls.len + 1;
    return o;
}

/* A handle that comes out. */
static uint32_t object_out(Reader *r, const ProtoPlace *p, uint64_t value)
{
    if (is_none(r, p->type, value)) {
        if (p->use != PROTO_CREATES)
            return 0;
        uint32_t o = new_object(r, p->type, true);
        r->run->objects.items[o - 1].none = true;
        r->none.items[p->type] = o;
        return o;
    }
    uint32_t *at = value_object(&r->values, p->type, value);
    bool ended = *at && r->run->objects.items[*at - 1].ender;
    if (!*at || ended || p->use == PROTO_CREATES)
        *at = new_object(r, p->type, true);
    return *at;
}

static int32_t result_of(const ProtoFunction *f, uint64_t result)
{
    int64_t x = (int64_t)result;
    if (f->pointer)
        return result != 0;
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

static void add_call(Reader *r, const SundewCallRecord *e)
{
    unsigned fn = r->how->callee[e->site], in = 0, out = 0, receivers = 0, made;
    const ProtoFunction *f = r->how->api->functions.items[fn];
    ProtoCall c = { .function = fn,
                    .site = e->site,
                    .thread = e->thread,
                    .returned = e->state == SUNDEW_CALL_RETURNED };
    if (c.returned) {
        c.result = result_of(f, e->result);
        c.error = (int16_t)e->error;
    }
    for (unsigned i = 0; i < f->nplaces; i++) {
        const ProtoPlace *p = &f->places[i];
        if (p->out || p->param == PROTO_RETURNED)
            continue;
        uint64_t value = p->param == PROTO_HIDDEN ? 1 : in < 3 ? e->in[in++] : 0;
        uint32_t o = object_in(r, p, value, &c);
        if (receivers < 3 && o)
            c.objects[receivers++] = o;
    }
    made = c.made[0] != 0;
    for (unsigned i = 0; c.returned && i < f->nplaces; i++) {
        const ProtoPlace *p = &f->places[i];
        if (!p->out && p->param != PROTO_RETURNED)
            continue;
        uint64_t value = p->out ? (out < 2 ? e->out[out++] : 0) : e->result;
        uint32_t o = object_out(r, p, value);
        if (o && made < 2)
            c.made[made++] = o;
    }
    vec_push(&r->run->calls, c);
}

static void add_record(Reader *r, const SundewCallRecord *e)
{
    bool call = e->state == SUNDEW_CALL_BEGUN || e->state == SUNDEW_CALL_RETURNED;
    if (call && e->site < r->how->nsites)
        add_call(r, e);
    else if (e->state == SUNDEW_CALL_LEFT && e->site < r->how->nleft)
        vec_push(&r->run->left, ((ProtoLeft){ e->site, (uint32_t)r->run->calls.len, e->thread }));
}

/* ------------------------------------------------------------------- stack */

typedef struct Mapping {
    uint64_t begin, end, offset;
    char *path;
} Mapping;
typedef Vec(Mapping) Mappings;

static void read_maps(const char *path, Mappings *out)
{
    Str text = { 0 };
    char *save = NULL;
    if (!file_read_left(path, 4 << 20, &text, NULL) || !text.len)
        return;
    for (char *l = strtok_r(text.data, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
        Mapping m = { 0 };
        unsigned long long begin, end, offset;
        char *slash = strchr(l, '/');
        if (sscanf(l, "%llx-%llx %*4s %llx", &begin, &end, &offset) != 3 || !slash)
            continue;
        m = (Mapping){ begin, end, offset, xstrdup(slash) };
        vec_push(out, m);
    }
    str_release(&text);
}

static void read_frames(const ProtoReading *how, ProtoRun *r, const SundewCallsHeader *h,
                        const char *maps)
{
    Mappings all = { 0 };
    Arena a = { 0 };
    read_maps(maps, &all);
    for (uint32_t i = 0; i < h->nframes && i < SUNDEW_CALLS_FRAMES; i++) {
        ProtoFrame f = { 0 };
        uint64_t pc = h->frames[i] - (i > 0);       /* the call, not what follows it */
        for (size_t k = 0; k < all.len && !f.module; k++) {
            const Mapping *m = &all.items[k];
            const char *function = NULL;
            if (pc < m->begin || pc >= m->end)
                continue;
            f.module = xstrdup(m->path);
            bool ours = how->original && !strcmp(m->path, how->original);
            elf_locate(&a, ours ? how->woven : m->path, pc - m->begin + m->offset, &function);
            f.function = function ? xstrdup(function) : NULL;
        }
        vec_push(&r->frames, f);
    }
    for (size_t k = 0; k < all.len; k++)
        free(all.items[k].path);
    vec_release(&all);
    arena_release(&a);
}

/* -------------------------------------------------------------------- file */

static bool is_good(const SundewCallsHeader *h)
{
    return !memcmp(h->magic, SUNDEW_CALLS_MAGIC, sizeof h->magic) &&
           h->version == SUNDEW_CALLS_VERSION && h->record == sizeof(SundewCallRecord);
}

static void take_header(const ProtoReading *how, ProtoRun *r, const SundewCallsHeader *h,
                        const char *path)
{
    char said[SUNDEW_CALLS_SAID + 1] = "";
    memcpy(said, h->said, SUNDEW_CALLS_SAID);
    free(r->said);
    r->said = xstrdup(said);
    r->end = h->how == SUNDEW_CALLS_EXIT     ? PROTO_ENDED
             : h->how == SUNDEW_CALLS_SIGNAL ? PROTO_DIED
                                             : PROTO_CUT_SHORT;
    r->signal = h->signal;
    r->address = h->address;
    r->thread = h->thread;
    r->fault = h->fault <= how->nsites ? (uint32_t)h->fault : 0;
    if (h->count > h->capacity)
        r->lost = h->count - h->capacity;
    if (r->end == PROTO_DIED) {
        char *maps = xprintf("%.*smaps", (int)(strlen(path) - strlen("calls")), path);
        read_frames(how, r, h, maps);
        free(maps);
    }
}

static ProtoRun *read_file(const ProtoReading *how, const char *path)
{
    enum { AT_ONCE = 1024 };
    const off_t MOST_CALLS = (off_t)8 << 30;     /* as of traces */
    union {
        SundewCallsHeader h;
        char page[SUNDEW_CALLS_HEADER];
    } head;
    static SundewCallRecord part[AT_ONCE];
    int fd = file_open_regular(path, false, NULL);
    struct stat st;
    FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;
    bool ok = f && fstat(fd, &st) == 0 && st.st_size <= MOST_CALLS &&
              fread(&head, sizeof head, 1, f) == 1 && is_good(&head.h);
    Reader r = { .how = how, .run = ok ? proto_run_new() : NULL };
    uint64_t left = !ok ? 0 : head.h.count < head.h.capacity ? head.h.count : head.h.capacity;
    for (size_t i = 0; ok && i < how->api->types.len; i++)
        vec_push(&r.none, 0);
    while (ok && left) {
        size_t n = fread(part, sizeof *part, left < AT_ONCE ? left : AT_ONCE, f);
        for (size_t i = 0; i < n && r.run->calls.len < UINT32_MAX / 4; i++)
            add_record(&r, &part[i]);
        left = n ? left - n : 0;
    }
    if (ok) {
        take_header(how, r.run, &head.h, path);
        proto_run_index(r.run);
    }
    free(r.values.slots);
    vec_release(&r.none);
    if (f)
        fclose(f);
    else if (fd >= 0)
        close(fd);
    return r.run;
}

bool proto_runs_read(ProtoReading *how, const char *folder, ProtoRuns *out, Err *err)
{
    Strings names = { 0 };
    bool ok = dir_list(folder, &names, err);
    for (size_t i = 0; ok && i < names.len; i++) {
        char *path = path_join(folder, names.items[i]);
        ProtoRun *r = str_ends(path, ".calls") ? read_file(how, path) : NULL;
        if (r) {
            free(r->name);
            r->name = xstrdup(names.items[i]);
            vec_push(out, r);
        } else if (str_ends(path, ".calls")) {
            how->damaged++;
        }
        free(path);
    }
    strings_release(&names);
    return ok;
}

/* ---------------------------------------------------------------- failures */

long proto_run_fatal(const ProtoRun *r)
{
    for (size_t i = r->calls.len; i-- > 0;)
        if (!r->calls.items[i].returned && r->calls.items[i].thread == r->thread)
            return (long)i;
    return -1;
}

const ProtoCode *proto_misuse(const ProtoApi *api, const ProtoCall *c)
{
    const ProtoFunction *f = api->functions.items[c->function];
    bool failed = f->pointer ? !c->result : c->result < 0;
    for (unsigned i = 0; c->returned && i < f->nmisuse; i++)
        if (f->misuse[i].is_errno ? failed && c->error == f->misuse[i].value
                                  : c->result == f->misuse[i].value)
            return &f->misuse[i];
    return NULL;
}
