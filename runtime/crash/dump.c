/*
 * dump - write the crash file.
 *
 * What is surest and most wanted comes first: the failure and the machine's
 * stack, then the frames with their arguments, the copies, and the memory
 * that can be reached from both. A fault on the way (a broken stack, memory
 * that goes away under us) jumps out, and the file ends where it is.
 *
 * One dump at a time; a second thread that fails meanwhile waits for the end
 * of the process, though not for ever.
 */
#include "runtime/monitor/monitor_int.h"
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    FRAMES_MOST = 512,                 /* half of them inmost, half outmost */
    MEMORY_BUDGET = 1 << 20,           /* … for each MiB of sundew_settings.size */
    COPIES_BUDGET = 1 << 20,
    LACKS = 64,
    STREAMS = 32,
    SECRETS = 4096,
    DUMPS_MOST = 16,                   /* of one process */
};

typedef struct Chosen {
    const SundewLane *lane;
    const SundewFrame *frame;
    uint32_t flags;
} Chosen;

/* Something of a type with fields that must not leave lies at `address`, and
 * perhaps more of it before and behind, from lo to hi. */
typedef struct Secret {
    uint64_t address, lo, hi;
    uint32_t type;
} Secret;

/* All that one dump needs. There is one; it costs nothing until it is used. */
static struct Dump {
    SundewOut out;
    const SundewCause *cause;
    SundewThread *thread;
    SundewCall stack[SUNDEW_STACK_DEPTH];
    unsigned nstack;
    bool stack_sure;
    uint64_t pc, sp;
    Chosen frames[FRAMES_MOST];
    unsigned nframes;
    uint32_t frames_left_out;
    SundewObject *objects;
    uint32_t nobjects, objects_most;
    uint32_t *index;                   /* by their addresses: place + 1; NULL: none */
    uint32_t index_mask;
    void *room;                        /* where they are; NULL: in `small` */
    bool hides;                        /* the program has fields that must not leave */
    Secret secrets[SECRETS];
    unsigned nsecrets;
    bool secrets_left_out;             /* there were more */
    uint64_t streams[STREAMS];
    unsigned nstreams;
    struct {
        SundewMissing missing;
        const char *text;
    } lacks[LACKS];
    unsigned nlacks;
} dump;

static volatile int dumping;
static volatile int ndumps;

/* If no memory can be had: a small walk is better than none. */
static struct {
    SundewItem queue[1024];
    uint64_t seen[4096];
    SundewObject objects[1024];
} small;

static void lack(uint32_t code, uint32_t frame, uint64_t address, uint64_t amount, const char *text)
{
    if (dump.nlacks == LACKS)
        return;
    dump.lacks[dump.nlacks].missing = (SundewMissing){ code, frame, address, amount };
    dump.lacks[dump.nlacks++].text = text;
}

/* ---- what failed */

static void out_build(SundewOut *o)
{
    SundewBuild b = { sundew_slide(), sundew_tables.strategy | sundew_tables.variant << 8,
                      (uint32_t)getpid() };
    const char *texts[] = { sundew_tables.key, "\n", sundew_tables.name, "\n",
                            sundew_tables.build };
    size_t n = sizeof b;
    for (unsigned i = 0; i < 5; i++)
        n += strlen(texts[i]);
    sundew_out_record(o, SUNDEW_REC_BUILD, n);
    sundew_out_bytes(o, &b, sizeof b);
    for (unsigned i = 0; i < 5; i++)
        sundew_out_bytes(o, texts[i], strlen(texts[i]));
}

static uint32_t access_of(const SundewCause *c)
{
    if (c->signal != SIGSEGV && c->signal != SIGBUS)
        return SUNDEW_ACCESS_NONE;
    if (!c->info || c->info->si_code <= 0)
        return SUNDEW_ACCESS_NONE;
#if defined(__x86_64__)
    greg_t bits = ((ucontext_t *)c->context)->uc_mcontext.gregs[REG_ERR];
    return bits & 16 ? SUNDEW_EXECUTE : bits & 2 ? SUNDEW_WRITE : SUNDEW_READ;
#else
    return SUNDEW_READ;
#endif
}

/* The fault is just outside the stack that the thread runs on. */
static bool is_overflow(uint64_t address)
{
    const SundewMap *m = sundew_map_find(address);
    uint64_t near = address > dump.sp ? address - dump.sp : dump.sp - address;
    if ((m && m->writable) || near > 256 << 10)
        return false;
    for (uint64_t up = 0; up <= 512 << 10; up += 4096) {
        m = sundew_map_find(address + up);
        if (m && m->writable)
            return true;
    }
    return false;
}

static void out_failure(SundewOut *o)
{
    const SundewCause *c = dump.cause;
    SundewFailure f = {
        .kind = c->kind, .signal = c->signal, .pc = dump.pc, .sp = dump.sp, .access = access_of(c)
    };
    if (c->info)
        f.code = c->info->si_code;
    if (c->info && c->signal != SIGABRT && c->info->si_code > 0)
        f.address = (uintptr_t)c->info->si_addr;
    if (f.kind == SUNDEW_FAIL_SIGNAL && c->signal == SIGSEGV && f.access && is_overflow(f.address))
        f.kind = SUNDEW_FAIL_STACK_OVERFLOW;
    size_t n = 0;
    char part[1024];
    if (c->text) {
        n = sundew_safe_copy(part, (uintptr_t)c->text, sizeof part);
        const char *nul = memchr(part, 0, n);
        n = nul ? (size_t)(nul - part) : n;
    }
    sundew_out_record(o, SUNDEW_REC_FAILURE, sizeof f + n);
    sundew_out_bytes(o, &f, sizeof f);
    sundew_out_bytes(o, part, n);
}

static void out_stack(SundewOut *o)
{
    SundewStack s = { 0, dump.nstack };
    sundew_out_record(o, SUNDEW_REC_STACK, sizeof s + dump.nstack * 8);
    sundew_out_bytes(o, &s, sizeof s);
    for (unsigned i = 0; i < dump.nstack; i++)
        sundew_out_bytes(o, &dump.stack[i].pc, 8);
}

static bool add_map(const SundewMap *m, const char *text, size_t n, void *arg)
{
    /* Twice over: to know the length of the record, and to fill it. */
    size_t *length = arg;
    if (!m->executable)
        return true;
    if (length) {
        *length += n + 1;
    } else {
        sundew_out_bytes(&dump.out, text, n);
        sundew_out_bytes(&dump.out, "\n", 1);
    }
    return true;
}

static void out_world(SundewOut *o)
{
    size_t n = 0;
    sundew_maps(add_map, &n);
    if (n) {
        sundew_out_record(o, SUNDEW_REC_MAPS, n);
        sundew_maps(add_map, NULL);
    }
    for (uint32_t i = 0; i < sundew_tables.nexternals; i++) {
        const SundewExternal *e = &sundew_tables.externals[i];
        if (!e->address)
            continue;
        sundew_out_record(o, SUNDEW_REC_EXTERNAL, 8 + strlen(e->symbol));
        sundew_out_bytes(o, &e->address, 8);
        sundew_out_bytes(o, e->symbol, strlen(e->symbol));
    }
}

/* ---- frames */

/* Is a frame of the machine's stack that of the function? Its stack pointer is
 * the one noted at the entry; with a variable array it lies below. */
static bool is_on_stack(const SundewFrame *f)
{
    const SundewCall *c = dump.stack;
    for (unsigned i = 0; i < dump.nstack; i++) {
        if (c[i].sp == f->sp)
            return true;
        if (i + 1 < dump.nstack && c[i].sp < f->sp && f->sp < c[i + 1].sp &&
            sundew_row_at(c[i].pc - (i > 0)) == (long)f->row)
            return true;
    }
    return false;
}

/* A frame may have been left while its function was off, or by a longjmp whose
 * catcher has not entered anything since. */
static uint32_t flags_of(const SundewLane *l, const SundewFrame *f)
{
    bool here = dump.sp - l->lo < l->span;
    bool seen = dump.stack_sure && dump.nstack < SUNDEW_STACK_DEPTH;
    if ((here && f->sp < dump.sp) || (seen && !is_on_stack(f)))
        return f->flags | SUNDEW_FRAME_STALE;
    return f->flags;
}

/* Left without a word, but not by longjmp: there is no f.leave (see monitor.h), or its
 * function was turned off meanwhile. */
static bool has_returned(const Chosen *c)
{
    return sundew_tables.second_chance || c->flags & SUNDEW_FRAME_UNSURE ||
           sundew_turned_off(c->frame);
}

static void choose_frames(const SundewLane *l)
{
    for (uint32_t i = l->last; i;) {
        const SundewFrame *f = sundew_frame_at(l, i);
        Chosen c = { l, f, flags_of(l, f) };
        uint32_t prev = f->prev;
        if (c.flags & SUNDEW_FRAME_STALE && has_returned(&c)) {
            if (prev >= i)
                break;
            i = prev;
            continue;
        }
        if (dump.nframes == FRAMES_MOST) {
            /* Room for an outer one: the innermost of the outer half goes. */
            memmove(&dump.frames[FRAMES_MOST / 2], &dump.frames[FRAMES_MOST / 2 + 1],
                    (FRAMES_MOST / 2 - 1) * sizeof *dump.frames);
            dump.nframes--;
            dump.frames_left_out++;
        }
        dump.frames[dump.nframes++] = c;
        if (prev >= i)
            break;
        i = prev;
    }
}

static bool is_main(const SundewFrame *f)
{
    return f->row < sundew_tables.nfunctions &&
           strcmp(sundew_tables.functions[f->row].symbol, "main") == 0;
}

/* Another thread fails: main() runs the program again, with all its threads. It is the first
 * frame of the main thread, and stays as it is as long as main() runs. */
static void choose_main(void)
{
    const SundewThread *t = sundew_threads;
    while (t && !(t->taken && t->tid == getpid()))
        t = t->next;
    if (!t || t == dump.thread || !t->nlanes || t->lanes[0].top <= SUNDEW_FIRST_FRAME ||
        dump.nframes == FRAMES_MOST)
        return;
    const SundewLane *l = &t->lanes[0];
    const SundewFrame *f = sundew_frame_at(l, SUNDEW_FIRST_FRAME);
    if (is_main(f) && !(f->flags & SUNDEW_FRAME_STALE))
        dump.frames[dump.nframes++] = (Chosen){ l, f, f->flags | SUNDEW_FRAME_ELSEWHERE };
}

/* ---- what must not leave */

static bool anything_hidden(void)
{
    for (uint32_t i = 0; i < sundew_tables.ntypes; i++)
        if (sundew_tables.types[i].nhidden)
            return true;
    return false;
}

static void add_secret(uint64_t address, uint32_t type, uint64_t lo, uint64_t size)
{
    const SundewType *ty = sundew_type(type);
    if (!ty || !ty->nhidden || !ty->size)
        return;
    for (unsigned i = 0; i < dump.nsecrets; i++) {
        const Secret *s = &dump.secrets[i];
        if (s->type == type && s->address == address && s->lo <= lo && lo + size <= s->hi)
            return;
    }
    dump.secrets_left_out |= dump.nsecrets == SECRETS;
    if (dump.nsecrets < SECRETS)
        dump.secrets[dump.nsecrets++] = (Secret){ address, lo, lo + size, type };
}

static bool is_hidden(const SundewType *ty, uint64_t at)
{
    const SundewHidden *h = sundew_tables.hidden + ty->first_hidden;
    for (uint32_t k = 0; k < ty->nhidden; k++)
        if (at - h[k].offset < h[k].size)
            return true;
    return false;
}

/* Zeroes it in n bytes of memory at `address`. */
static void blank(const Secret *s, uint8_t *bytes, size_t n, uint64_t address)
{
    const SundewType *ty = sundew_type(s->type);
    uint64_t from = s->lo > address ? s->lo : address;
    uint64_t to = s->hi < address + n ? s->hi : address + n;
    for (uint64_t a = from; a < to; a++) {
        uint64_t at = a >= s->address ? (a - s->address) % ty->size
                                      : ty->size - 1 - (s->address - a - 1) % ty->size;
        if (is_hidden(ty, at))
            bytes[a - address] = 0;
    }
}

/* Whatever they were reached as. */
static void blank_all(uint8_t *bytes, size_t n, uint64_t address)
{
    for (unsigned i = 0; i < dump.nsecrets; i++)
        blank(&dump.secrets[i], bytes, n, address);
}

/* What has no type can't be searched for it; and if more was met than could be
 * noted, anything may hold it. */
static bool may_leave(uint32_t type)
{
    const SundewType *ty = sundew_type(type);
    return !dump.hides || (ty && ty->kind != SUNDEW_UNKNOWN && !dump.secrets_left_out);
}

/* In arguments: structs that were passed by value. The frame is ours. */
static void blank_arguments(const SundewFrame *f, const SundewFunction *fn)
{
    const SundewParam *p = sundew_tables.params + fn->params;
    for (unsigned i = 0; i < fn->nparams; i++, p++) {
        const SundewType *ty = sundew_type(p->type);
        if (p->by_copy || p->slot + p->nslots > fn->nslots || !ty || !ty->nhidden)
            continue;
        uint8_t *bytes = (uint8_t *)(uintptr_t)(f->slots + p->slot);
        for (uint32_t at = 0; at < p->nslots * 8u; at++)
            if (is_hidden(ty, at))
                bytes[at] = 0;
    }
}

static void out_frames(SundewOut *o)
{
    SundewThread *t = dump.thread;
    const SundewLane *inner = NULL;
    for (uint32_t i = 0; i < t->nlanes; i++)
        if (dump.sp - t->lanes[i].lo < t->lanes[i].span)
            inner = &t->lanes[i];
    if (!inner)
        inner = t->lane;
    if (inner)
        choose_frames(inner);
    if (t->nlanes && inner != &t->lanes[0])
        choose_frames(&t->lanes[0]);
    choose_main();
    for (unsigned i = 0; i < dump.nframes; i++) {
        const SundewFrame *f = dump.frames[i].frame;
        const SundewFunction *fn = &sundew_tables.functions[f->row];
        SundewFrameRecord r = { .frame = i,
                                .function = fn->id,
                                .flags = dump.frames[i].flags,
                                .nslots = fn->nslots,
                                .nlocals = fn->nlocals,
                                .sp = f->sp };
        size_t words = ((size_t)fn->nslots + fn->nlocals) * 8;
        blank_arguments(f, fn);
        sundew_out_record(o, SUNDEW_REC_FRAME, sizeof r + words + strlen(fn->symbol));
        sundew_out_bytes(o, &r, sizeof r);
        sundew_out_bytes(o, f->slots, words);
        sundew_out_bytes(o, fn->symbol, strlen(fn->symbol));
    }
    if (dump.frames_left_out)
        lack(SUNDEW_LACK_BUDGET, FRAMES_MOST / 2, 0, dump.frames_left_out, "frames");
}

static void out_copy(SundewOut *o, unsigned frame, const void *bytes, size_t n, uint64_t address)
{
    SundewCopyRecord r = { .frame = frame, .address = address };
    sundew_out_record(o, SUNDEW_REC_COPY, sizeof r + n);
    sundew_out_bytes(o, &r, sizeof r);
    sundew_out_bytes(o, bytes, n);
}

/* Is main() the last frame, with arguments that may leave? They have no type: where something is
 * hidden they stay here. */
static bool has_arguments(void)
{
    return sundew_settings.ntext && dump.nframes && !dump.hides &&
           is_main(dump.frames[dump.nframes - 1].frame);
}

/* main()'s arguments as they were: a program cuts its words up, moves and drops them. */
static void out_arguments(SundewOut *o)
{
    const SundewSettings *s = &sundew_settings;
    SundewCopyRecord r = { .frame = dump.nframes - 1, .address = s->argv };
    uint64_t null = 0, words = 0;
    if (!has_arguments())
        return;
    for (uint64_t at = 0; at < s->ntext; at += strlen(s->text_before + at) + 1)
        words++;
    if ((words + 1) * sizeof null != s->nargv)
        return;
    sundew_out_record(o, SUNDEW_REC_COPY, sizeof r + (words + 1) * sizeof null);
    sundew_out_bytes(o, &r, sizeof r);
    for (uint64_t at = 0; at < s->ntext; at += strlen(s->text_before + at) + 1) {
        uint64_t word = s->text + at;
        sundew_out_bytes(o, &word, sizeof word);
    }
    sundew_out_bytes(o, &null, sizeof null);
    for (uint64_t at = 0; at < s->ntext;) {
        size_t n = strlen(s->text_before + at) + 1;
        out_copy(o, r.frame, s->text_before + at, n, s->text + at);
        at += n;
    }
}

static void out_copies(SundewOut *o)
{
    uint64_t left = COPIES_BUDGET;
    out_arguments(o);
    for (unsigned i = 0; i < dump.nframes; i++) {
        const SundewFrame *f = dump.frames[i].frame;
        const SundewCopy *c = sundew_first_copy(f);
        for (uint32_t k = 0; k < f->ncopies; k++, c = sundew_next_copy(c)) {
            if (c->size > left) {
                lack(SUNDEW_LACK_BUDGET, i, c->address, c->size, "copies");
                return;
            }
            if (!may_leave(c->type)) {
                lack(SUNDEW_LACK_UNTYPED, i, c->address, c->size, NULL);
                continue;
            }
            left -= c->size;
            SundewCopyRecord r = { i, c->from ? 0 : c->type, c->address };
            sundew_out_record(o, SUNDEW_REC_COPY, sizeof r + c->size);
            sundew_out_bytes(o, &r, sizeof r);
            for (uint32_t at = 0; at < c->size;) {
                uint8_t piece[1024];
                uint32_t n = c->size - at < sizeof piece ? c->size - at : (uint32_t)sizeof piece;
                memcpy(piece, c->bytes + at, n);
                blank_all(piece, n, c->address + at);
                sundew_out_bytes(o, piece, n);
                at += n;
            }
        }
    }
}

/* ---- memory */

/* How much of it can be read, from the first byte on. */
static uint64_t readable(uint64_t address, uint64_t n)
{
    uint8_t byte;
    for (uint64_t at = 0; at < n;) {
        if (sundew_safe_copy(&byte, address + at, 1) == 0)
            return at;
        at += 4096 - ((address + at) & 4095);
    }
    return n;
}

static bool says_more(uint32_t type, uint32_t than)
{
    const SundewType *a = sundew_type(type), *b = sundew_type(than);
    if (!a || a->kind != SUNDEW_DATA)
        return false;
    return !b || b->kind != SUNDEW_DATA || (a->npointers && !b->npointers);
}

/* Met again, by another type. */
/* Where the place of an object stands, or would stand, in the index. */
static uint32_t *index_slot(uint64_t at)
{
    uint32_t i = (uint32_t)((at * 0x9e3779b97f4a7c15u) >> 32);
    for (;; i++) {
        uint32_t *slot = &dump.index[i & dump.index_mask];
        const SundewObject *o = *slot ? &dump.objects[*slot - 1] : NULL;
        if (!o || o->address + o->offset == at)
            return slot;
    }
}

/* The object of which the kept part begins there; NULL: none. */
static SundewObject *find_object(uint64_t at)
{
    if (dump.index) {
        uint32_t place = *index_slot(at);
        return place ? &dump.objects[place - 1] : NULL;
    }
    for (uint32_t i = 0; i < dump.nobjects; i++)
        if (dump.objects[i].address + dump.objects[i].offset == at)
            return &dump.objects[i];
    return NULL;
}

static void met_again(SundewWalk *w, const SundewObject *object)
{
    SundewObject *o = find_object(object->address + object->offset);
    if (!o || o->address != object->address)
        return;
    if (says_more(object->type, o->type))
        o->type = object->type;
    /* A guess with a larger type sees more of it. */
    if (object->kept > o->kept && object->kept - o->kept <= w->budget) {
        uint64_t all = readable(o->address + o->offset, object->kept);
        w->budget -= all > o->kept ? all - o->kept : 0;
        o->kept = all;
        o->size = object->size;
    }
}

static bool met(SundewWalk *w, const SundewObject *object)
{
    enum { ANY_TYPE = UINT32_MAX - 1 };
    add_secret(object->at, object->type, object->address, object->size);
    if (!sundew_walk_first_time(w, object->address + object->offset, (uint32_t)ANY_TYPE)) {
        met_again(w, object);
        return true;
    }
    if (dump.nobjects == dump.objects_most) {
        w->cut = true;
        return false;
    }
    SundewObject o = *object;
    o.kept = readable(o.address + o.offset, o.kept);
    if (o.kept > w->budget)
        o.kept = w->budget;
    if (o.kept == 0) {
        lack(SUNDEW_LACK_UNREADABLE, 0, o.address, o.size, NULL);
        return false;
    }
    w->budget -= o.kept;
    dump.objects[dump.nobjects++] = o;
    if (dump.index)
        *index_slot(o.address + o.offset) = dump.nobjects;
    return true;
}

static void met_foreign(SundewWalk *w, uint64_t address, uint32_t type)
{
    if (!sundew_is_stream(address)) {
        lack(SUNDEW_LACK_FOREIGN, 0, address, 0, NULL);
        return;
    }
    SundewObject o = { .address = address,
                       .size = sizeof(FILE),
                       .kept = sizeof(FILE),
                       .place = SUNDEW_GUESSED,
                       .type = type };
    met(w, &o);
    if (dump.nstreams < STREAMS)
        dump.streams[dump.nstreams++] = address;
}

static void add_roots(SundewWalk *w)
{
    for (unsigned i = 0; i < dump.nframes; i++) {
        const SundewFrame *f = dump.frames[i].frame;
        const SundewFunction *fn = &sundew_tables.functions[f->row];
        const SundewLocal *locals = sundew_tables.locals + fn->locals;
        sundew_walk_frame(w, f);
        const SundewCopy *c = sundew_first_copy(f);
        for (uint32_t k = 0; k < f->ncopies; k++, c = sundew_next_copy(c)) {
            add_secret(c->address - c->from, c->type, c->address, c->size);
            sundew_walk_bytes(w, c->bytes, c->size, c->type, c->from);
        }
        if (dump.frames[i].flags & SUNDEW_FRAME_STALE)
            continue;
        for (unsigned k = 0; k < fn->nlocals; k++)
            sundew_walk_add(w, f->slots[fn->nslots + k], locals[k].type, true);
    }
    for (unsigned i = 0; i < dump.nframes; i++) {
        const SundewFunction *fn = &sundew_tables.functions[dump.frames[i].frame->row];
        for (uint32_t k = 0; k < fn->nuses; k++) {
            const SundewGlobal *g = sundew_global_numbered(sundew_tables.uses[fn->uses + k]);
            if (g && g->address && !g->constant)
                sundew_walk_add(w, g->address, g->type, true);
        }
    }
    const SundewSettings *s = &sundew_settings;
    for (uint64_t at = 0; has_arguments() && at < s->ntext; at += strlen(s->text_before + at) + 1)
        sundew_walk_add(w, s->text + at, 0, true);
}

/* What was freed is read as it was then. */
static size_t read_object(const SundewObject *ob, uint64_t at, uint8_t *to, size_t n)
{
    uint32_t number;
    size_t got = sundew_safe_copy(to, ob->address + at, n);
    const SundewHead *h = ob->place == SUNDEW_FREED && at < sizeof h->bytes
                              ? sundew_head_of(dump.thread, ob->address, &number)
                              : NULL;
    for (uint64_t i = at; h && i < sizeof h->bytes && i - at < got; i++)
        to[i - at] = h->bytes[i];
    return got;
}

/* The innermost frame in which a freed object was still alive, plus 1; 0: not
 * known. */
static uint32_t alive_in(const SundewObject *ob)
{
    uint32_t number;
    if (!sundew_head_of(dump.thread, ob->address, &number))
        return 0;
    for (unsigned i = 0; i < dump.nframes; i++)
        if ((int32_t)(number - dump.frames[i].frame->freed) >= 0)
            return i + 1;
    return 0;
}

static void out_object(SundewOut *o, const SundewObject *ob)
{
    SundewMemory m = { .address = ob->address,
                       .size = ob->size,
                       .offset = ob->offset,
                       .place = ob->place,
                       .type = ob->type,
                       .variable = ob->variable };
    if (ob->place == SUNDEW_FREED)
        m.variable = alive_in(ob);
    uint8_t piece[2048];
    for (uint64_t at = 0; dump.nsecrets && at < ob->kept; at += sizeof piece) {
        size_t n = ob->kept - at < sizeof piece ? (size_t)(ob->kept - at) : sizeof piece;
        memset(piece, 1, n);
        blank_all(piece, n, ob->address + ob->offset + at);
        for (size_t i = 0; i < n; i++)
            m.hidden += !piece[i];
    }
    sundew_out_record(o, SUNDEW_REC_MEMORY, sizeof m + ob->kept);
    sundew_out_bytes(o, &m, sizeof m);
    for (uint64_t at = 0; at < ob->kept; at += sizeof piece) {
        size_t n = ob->kept - at < sizeof piece ? (size_t)(ob->kept - at) : sizeof piece;
        size_t got = read_object(ob, ob->offset + at, piece, n);
        memset(piece + got, 0, n - got);
        blank_all(piece, n, ob->address + ob->offset + at);
        sundew_out_bytes(o, piece, n);
    }
}

enum {
    QUEUE = 1 << 16,
    SEEN = 1 << 17,
    OBJECTS = 1 << 14,    /* for each MiB */
    ROOM = QUEUE * sizeof(SundewItem) + SEEN * 8 + OBJECTS * sizeof(SundewObject) +
           OBJECTS * 2 * sizeof(uint32_t),
};

static void find_memory(void)
{
    uint32_t size = sundew_settings.size;
    uint8_t *room = sundew_pages((size_t)ROOM * size);
    SundewWalk w = { .budget = (uint64_t)MEMORY_BUDGET * size,
                     .lane = dump.thread->lane,
                     .read = read_object,
                     .frames = FRAMES_MOST,
                     .at_dump = true,
                     .met = met,
                     .foreign = met_foreign };
    if (dump.nframes)
        w.lane = dump.frames[0].lane;
    if (room) {
        w.queue = (SundewItem *)(void *)room;
        w.nqueue = QUEUE * size;
        w.nseen = SEEN * size;
        w.seen = (uint64_t *)(void *)(room + w.nqueue * sizeof(SundewItem));
        dump.objects = (SundewObject *)(void *)(w.seen + w.nseen);
        dump.objects_most = OBJECTS * size;
        dump.index = (uint32_t *)(void *)(dump.objects + dump.objects_most);
        dump.index_mask = OBJECTS * 2 * size - 1;
    } else {
        memset(&small, 0, sizeof small);
        w.queue = small.queue;
        w.seen = small.seen;
        w.nqueue = 1024;
        w.nseen = 4096;
        dump.objects = small.objects;
        dump.index = NULL;
        dump.objects_most = 1024;
    }
    add_roots(&w);
    sundew_walk_run(&w);
    if (w.cut || w.budget == 0)
        lack(SUNDEW_LACK_BUDGET, 0, 0, w.tail - w.head, "memory");
    dump.room = room;
}

static void out_memory(SundewOut *o)
{
    for (uint32_t i = 0; i < dump.nobjects; i++) {
        const SundewObject *ob = &dump.objects[i];
        if (may_leave(ob->type))
            out_object(o, ob);
        else
            lack(SUNDEW_LACK_UNTYPED, 0, ob->address, ob->size, NULL);
    }
    for (unsigned i = 0; i < dump.nstreams; i++)
        sundew_out_stream(o, dump.streams[i]);
    if (dump.room)
        sundew_pages_free(dump.room, (size_t)ROOM * sundew_settings.size);
    dump.room = NULL;
    dump.objects = NULL;
}

/* ---- what is not there */

static void note_off(void)
{
    long before = -1;
    for (unsigned i = 0; i < dump.nstack; i++) {
        long row = sundew_row_at(dump.stack[i].pc - (i > 0));
        const SundewMap *m = sundew_map_find(dump.stack[i].pc);
        if (row < 0 || row == before || sundew_modes[row] || !m ||
            sundew_tables.functions[row].address < m->lo)
            continue;
        before = row;
        lack(SUNDEW_LACK_OFF, i, sundew_tables.functions[row].address, 0,
             sundew_tables.functions[row].symbol);
    }
}

static void note_threads(void)
{
    uint64_t others = 0;
    for (SundewThread *t = sundew_threads; t; t = t->next)
        if (t != dump.thread && t->taken && t->tid && syscall(SYS_tgkill, getpid(), t->tid, 0) == 0)
            others++;
    if (others)
        lack(SUNDEW_LACK_THREAD, 0, 0, others, "other threads");
}

static void out_lacks(SundewOut *o)
{
    note_off();
    note_threads();
    for (unsigned i = 0; i < dump.nlacks; i++) {
        const char *text = dump.lacks[i].text ? dump.lacks[i].text : "";
        sundew_out_record(o, SUNDEW_REC_MISSING, sizeof(SundewMissing) + strlen(text));
        sundew_out_bytes(o, &dump.lacks[i].missing, sizeof(SundewMissing));
        sundew_out_bytes(o, text, strlen(text));
    }
}

/* ---- all of it */

static void write_all(SundewOut *o)
{
    out_build(o);
    out_failure(o);
    out_stack(o);
    sundew_out_flush(o);
    out_world(o);
    out_frames(o);
    /* The memory tells what must not leave. */
    if (dump.hides)
        find_memory();
    out_copies(o);
    sundew_out_flush(o);
    if (!dump.hides)
        find_memory();
    out_memory(o);
    out_lacks(o);
    sundew_out_record(o, SUNDEW_REC_END, 0);
}

static void say(const SundewOut *o)
{
    static const char text[] = "sundew: crash file ";
    if (!sundew_settings.verbose)
        return;
    if (write(2, text, sizeof text - 1) < 0 || write(2, o->path, strlen(o->path)) < 0 ||
        write(2, "\n", 1) < 0) {
        /* Then nobody reads it. */
    }
}

static void prepare(const SundewCause *cause)
{
    dump.cause = cause;
    dump.thread = sundew_self;
    dump.nframes = dump.nlacks = dump.nstreams = dump.nstack = 0;
    dump.nobjects = dump.frames_left_out = dump.nsecrets = 0;
    dump.out.fd = -1;
    dump.out.open = dump.out.pad = 0;
    dump.hides = anything_hidden();
    dump.secrets_left_out = false;
    dump.room = NULL;
    dump.pc = 0;
    dump.sp = cause->sp;
#if defined(__x86_64__)
    if (cause->context) {
        ucontext_t *u = cause->context;
        dump.pc = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
        dump.sp = (uint64_t)u->uc_mcontext.gregs[REG_RSP];
    }
#endif
    sundew_maps_load();
    dump.nstack = sundew_unwind(dump.thread, cause->context, cause->sp, dump.stack,
                                SUNDEW_STACK_DEPTH, &dump.stack_sure);
    if (!dump.pc && dump.nstack)
        dump.pc = dump.stack[0].pc;
}

static bool take_turn(void)
{
    int none = 0;
    struct timespec little = { 0, 1000000 };
    for (int i = 0; i < 3000; i++) {
        if (__atomic_compare_exchange_n(&dumping, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true;
        none = 0;
        nanosleep(&little, NULL);
    }
    return false;
}

void sundew_dump_failure(const SundewCause *cause)
{
    SundewThread *t = sundew_self;
    sigjmp_buf guard;
    if (!t || sundew_settings.off || t->in_dump || ndumps >= DUMPS_MOST || !take_turn())
        return;
    ndumps++;
    uint64_t busy = t->busy;
    t->in_dump = 1;
    t->guard = &guard;
    if (sigsetjmp(guard, 0) == 0) {
        prepare(cause);
        if (sundew_out_open(&dump.out))
            write_all(&dump.out);
    }
    t->guard = NULL;
    if (dump.out.fd >= 0) {
        sundew_out_close(&dump.out);
        say(&dump.out);
    }
    if (sundew_tables.second_chance && dump.nstack)
        sundew_chance_add(dump.stack, dump.nstack);
    t->in_dump = 0;
    t->busy = busy;
    __atomic_store_n(&dumping, 0, __ATOMIC_RELEASE);
}

__attribute__((noinline)) void sundew_dump_now(const char *reason)
{
    int kept = errno;
    SundewCause cause = { .kind = SUNDEW_FAIL_DUMP,
                          .text = reason,
                          .sp = (uintptr_t)__builtin_frame_address(0) };
    if (sundew_thread())
        sundew_dump_failure(&cause);
    errno = kept;
}
