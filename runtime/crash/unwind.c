/*
 * unwind - the machine's stack at a failure, as return addresses.
 *
 * The compiler's own unwinder (libgcc) goes from the signal handler through the
 * signal's frame to the code that failed and outwards. A call of a bad function
 * pointer leaves a program counter that it can't start from: then it starts
 * from the return address that the call pushed. If it finds nothing (a stack that was
 * written over), the words on the stack that follow a call instruction are
 * taken. All under the guard of the dump: a fault here ends only this.
 */
#include "runtime/monitor/monitor_int.h"
#include <ucontext.h>
#include <unwind.h>

typedef struct Trace {
    SundewCall *out;
    unsigned n, most;
    uint64_t pc;                       /* begin there; 0: above `sp` */
    uint64_t sp;
} Trace;

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
    Trace *t = arg;
    uint64_t pc = _Unwind_GetIP(context);
    if (t->n == 0 && (t->pc ? pc != t->pc : _Unwind_GetCFA(context) <= t->sp))
        return _URC_NO_REASON;
    if (pc)
        t->out[t->n++] = (SundewCall){ pc, _Unwind_GetCFA(context) };
    return t->n < t->most ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static bool is_code(uint64_t address)
{
    const SundewMap *m = sundew_map_find(address);
    return m && m->executable;
}

/* A call instruction ends here. */
static bool follows_call(uint64_t address)
{
#if defined(__x86_64__)
    uint8_t b[7];
    if (!is_code(address) || sundew_safe_copy(b, address - 7, 7) < 7)
        return false;
    if (b[2] == 0xe8)
        return true;
    for (unsigned i = 0; i < 6; i++)
        if (b[i] == 0xff && (b[i + 1] & 0x38) == 0x10)
            return true;
    return false;
#else
    return is_code(address);
#endif
}

static unsigned scan(uint64_t sp, SundewCall *out, unsigned most)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 8192 && n < most; i++) {
        uint64_t word;
        if (sundew_safe_copy(&word, (sp & ~(uint64_t)7) + i * 8, 8) < 8)
            break;
        if (word >= 4096 && follows_call(word))
            out[n++] = (SundewCall){ word, 0 };
    }
    return n;
}

#if defined(__x86_64__)
static unsigned from_context(ucontext_t *u, SundewCall *out, unsigned most)
{
    greg_t *pc = &u->uc_mcontext.gregs[REG_RIP];
    greg_t *sp = &u->uc_mcontext.gregs[REG_RSP];
    greg_t kept_pc = *pc, kept_sp = *sp;
    unsigned n = 0;
    out[n++] = (SundewCall){ (uint64_t)*pc, (uint64_t)*sp };
    uint64_t back = sundew_read_word((uint64_t)*sp);
    if (!is_code((uint64_t)*pc) && follows_call(back)) {
        *pc = (greg_t)back;
        *sp += 8;
    } else {
        n = 0;
    }
    Trace t = { out + n, 0, most - n, (uint64_t)*pc, 0 };
    _Unwind_Backtrace(step, &t);
    *pc = kept_pc;
    *sp = kept_sp;
    return n + t.n;
}

static uint64_t context_sp(const ucontext_t *u) { return (uint64_t)u->uc_mcontext.gregs[REG_RSP]; }

static uint64_t context_pc(const ucontext_t *u) { return (uint64_t)u->uc_mcontext.gregs[REG_RIP]; }
#else
static unsigned from_context(ucontext_t *u, SundewCall *out, unsigned most)
{
    (void)u, (void)out, (void)most;
    return 0;
}

static uint64_t context_sp(const ucontext_t *u)
{
    (void)u;
    return 0;
}

static uint64_t context_pc(const ucontext_t *u)
{
    (void)u;
    return 0;
}
#endif

unsigned sundew_unwind(SundewThread *thread, void *context, uint64_t sp, SundewCall *out,
                       unsigned most, bool *sure)
{
    sigjmp_buf guard, *outer = thread->guard;
    volatile unsigned n = 0;
    thread->guard = &guard;
    if (sigsetjmp(guard, 0) == 0) {
        if (context) {
            n = from_context(context, out, most);
        } else {
            Trace t = { out, 0, most, 0, sp };
            _Unwind_Backtrace(step, &t);
            n = t.n;
        }
    } else {
        n = 0;
    }
    thread->guard = outer;
    *sure = n >= 2;
    if (context && n < 2) {
        out[0] = (SundewCall){ context_pc(context), context_sp(context) };
        n = 1 + scan(context_sp(context), out + 1, most < 65 ? most - 1 : 64);
    }
    return n;
}

SundewCall sundew_unwind_from(const void *context)
{
    return (SundewCall){ context_pc(context), context_sp(context) };
}

static _Unwind_Reason_Code stop(struct _Unwind_Context *context, void *arg)
{
    (void)context, (void)arg;
    return _URC_END_OF_STACK;
}

/* The first use may load and initialise things. */
void sundew_unwind_prime(void) { _Unwind_Backtrace(stop, NULL); }
