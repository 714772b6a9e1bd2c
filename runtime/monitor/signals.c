/*
 * signals - the handlers that notice a failure, and the program's own.
 *
 * Ours stand for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT as long as the
 * program runs; what the program sets is remembered and answered to it. When
 * such a signal comes, the dump is written, then what the program had set is
 * really installed, and the handler returns: the instruction fails again (or
 * the signal, if it was sent, is sent to ourselves with all it carried), and
 * this time the kernel does exactly what it would have done to the plain
 * program: its handler on the stack it wanted, or death with this status and a
 * core. If the program survives, sundew_signals_check() puts ours back.
 *
 * The first four are never really blocked, because copying relies on them
 * (safecopy.c). If one of them is sent while the program has it blocked, it is
 * really blocked from then on, and waits as it would have.
 */
#include "runtime/monitor/monitor_int.h"
#include "runtime/heap/wrappers.h"
#include <assert.h>
#include <errno.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { NSIGNALS = 5, NVIRTUAL = 4 };
static const int signals[NSIGNALS] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* What the program set. Two of each, so that one is always whole. */
static struct sigaction program[NSIGNALS][2];
static volatile uint8_t which[NSIGNALS];
static uint8_t dumped[NSIGNALS];
static bool started;

static void on_signal(int sig, siginfo_t *info, void *context);

static int place(int sig)
{
    for (int i = 0; i < NSIGNALS; i++)
        if (signals[i] == sig)
            return i;
    return -1;
}

static const struct sigaction *programs(int i) { return &program[i][which[i]]; }

static void remember(int i, const struct sigaction *act)
{
    uint8_t other = !which[i];
    program[i][other] = *act;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    which[i] = other;
}

static bool is_ours(const struct sigaction *act)
{
    return (act->sa_flags & SA_SIGINFO) && act->sa_sigaction == on_signal;
}

static void install(int i)
{
    const struct sigaction *p = programs(i);
    struct sigaction act = { .sa_sigaction = on_signal };
    bool plain = p->sa_handler == SIG_DFL || p->sa_handler == SIG_IGN;
    act.sa_flags =
        SA_SIGINFO | SA_ONSTACK | SA_NODEFER | (plain ? SA_RESTART : p->sa_flags & SA_RESTART);
    /* Other signals wait until the dump is written. */
    sigfillset(&act.sa_mask);
    for (int k = 0; k < NSIGNALS; k++)
        sigdelset(&act.sa_mask, signals[k]);
    sigaction(signals[i], &act, NULL);
}

/* ---- sanitizers, if the program has one */

extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
extern void __asan_set_error_report_callback(void (*callback)(const char *)) __attribute__((weak));

static char report[256];               /* "heap-buffer-overflow on address …" */
static bool reported;                  /* one file for a report and the signal that
                                        * comes before or after it */
static struct sigaction first[NSIGNALS];   /* what stood there before the program */

/* The address sanitizer has written a report. */
static void on_report(const char *text)
{
    static const char mark[] = "AddressSanitizer: ";
    const char *at = strstr(text, mark);
    size_t n = 0;
    at = at ? at + sizeof mark - 1 : text;
    while (n < sizeof report - 1 && at[n] && at[n] != '\n')
        n++;
    memcpy(report, at, n);
    report[n] = 0;
}

/* It ends the program: after a report, or because of leaks, which are no crash. */
static void on_sanitizer_death(void)
{
    SundewCause cause = { .kind = SUNDEW_FAIL_SANITIZER,
                          .text = report,
                          .sp = (uintptr_t)__builtin_frame_address(0) };
    if (!*report || !sundew_thread())
        return;
    if (!reported)
        sundew_dump_failure(&cause);
    reported = true;
}

/* Its handler tells of the signal, and ends the program. */
static bool is_sanitizers(int i)
{
    return __asan_set_error_report_callback && (first[i].sa_flags & SA_SIGINFO) &&
           programs(i)->sa_sigaction == first[i].sa_sigaction;
}

/* ---- our handlers in place */

void sundew_signals_start(void)
{
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(on_sanitizer_death);
    if (__asan_set_error_report_callback)
        __asan_set_error_report_callback(on_report);
    for (int i = 0; i < NSIGNALS; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) != 0 || is_ours(&now))
            continue;
        first[i] = now;
        remember(i, &now);
        install(i);
    }
    /* Blocked ones come over exec; ours must not be. */
    sigset_t set, was;
    SundewThread *t = sundew_thread();
    sigemptyset(&set);
    for (int i = 0; i < NVIRTUAL; i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_UNBLOCK, &set, &was);
    for (int i = 0; t && i < NVIRTUAL; i++)
        if (sigismember(&was, signals[i]))
            t->blocked |= (uint8_t)(1 << i);
    started = true;
    sundew_may_fault = 1;
}

bool sundew_signals_check(void)
{
    int kept = errno;
    bool any = false;
    for (int i = 0; started && i < NSIGNALS; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) != 0 || is_ours(&now))
            continue;
        remember(i, &now);
        install(i);
        any = true;
    }
    SundewThread *t = sundew_self;
    if (started && t && !t->own_stack)
        sundew_signals_thread(t);
    if (started)
        sundew_may_fault = 1;
    errno = kept;
    return any;
}

/* ---- the alternate stack */

static bool runs_on(const stack_t *s)
{
    return (uintptr_t)__builtin_frame_address(0) - (uintptr_t)s->ss_sp < s->ss_size;
}

void sundew_signals_thread(SundewThread *t)
{
    stack_t now;
    if (sigaltstack(NULL, &now) != 0 || (now.ss_flags & SS_ONSTACK))
        return;
    if (!(now.ss_flags & SS_DISABLE) && now.ss_size >= SUNDEW_ALT_ENOUGH)
        return;
    if (!t->stack)
        t->stack = sundew_pages(SUNDEW_ALT_SIZE);
    if (!t->stack)
        return;
    t->alternate = now;
    stack_t ours = { .ss_sp = t->stack, .ss_size = SUNDEW_ALT_SIZE };
    t->own_stack = sigaltstack(&ours, NULL) == 0;
}

int sundew_sigaltstack(const stack_t *ss, stack_t *old)
{
    SundewThread *t = sundew_thread();
    if (!t || !t->own_stack)
        return sigaltstack(ss, old);
    stack_t ours = { .ss_sp = t->stack, .ss_size = SUNDEW_ALT_SIZE };
    stack_t was = t->alternate;
    if (runs_on(&ours)) {
        if (ss) {
            errno = EPERM;
            return -1;
        }
        was.ss_flags |= SS_ONSTACK;
    }
    if (ss) {
        int mode = ss->ss_flags & 0x7fffffff;     /* without SS_AUTODISARM */
        if (mode && mode != SS_DISABLE && mode != SS_ONSTACK) {
            errno = EINVAL;
            return -1;
        }
        if (mode != SS_DISABLE && ss->ss_size < 2048) {
            errno = ENOMEM;
            return -1;
        }
        if (mode != SS_DISABLE && ss->ss_size >= SUNDEW_ALT_ENOUGH) {
            /* Large enough for us as well. */
            if (sigaltstack(ss, NULL) != 0)
                return -1;
            t->own_stack = 0;
        } else {
            t->alternate = *ss;
            if (mode == SS_DISABLE)
                t->alternate = (stack_t){ .ss_flags = SS_DISABLE };
        }
    }
    if (old)
        *old = was;
    return 0;
}

/* Changes the alternate stack while we run on it. The kernel looks only at the
 * stack pointer, so for the time of the call that points elsewhere. */
static void change_stack(const stack_t *to)
{
#if defined(__x86_64__)
    static char elsewhere[64];
    long result = SYS_sigaltstack;
    __asm__ volatile("mov %%rsp, %%rbx\n"
                     "mov %3, %%rsp\n"
                     "syscall\n"
                     "mov %%rbx, %%rsp\n"
                     : "+a"(result)
                     : "D"(to), "S"(0), "r"(elsewhere + 64)
                     : "rbx", "rcx", "r11", "memory");
#else
    (void)to;
#endif
}

/* ---- a signal comes */

/* The signal waits, as the program wants: blocked for real, and sent again. */
static void hold_back(int sig, siginfo_t *info, ucontext_t *u)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, sig);
    sigaddset(&u->uc_sigmask, sig);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    if (sig == SIGSEGV || sig == SIGBUS)
        sundew_may_fault = 0;
    started = false;                   /* and stay out of it from now on */
    syscall(SYS_rt_sigqueueinfo, getpid(), sig, info);
}

/* Installs what the program has set and lets it come again. */
static void pass_on(int i, siginfo_t *info, ucontext_t *u, bool blocked)
{
    SundewThread *t = sundew_self;
    struct sigaction act = *programs(i);
    bool sent = info->si_code <= 0;
    bool handled =
        (act.sa_flags & SA_SIGINFO) || (act.sa_handler != SIG_DFL && act.sa_handler != SIG_IGN);
    /* The kernel kills who ignores or blocks what its own instruction did. */
    if (!sent && (blocked || !handled)) {
        act = (struct sigaction){ .sa_handler = SIG_DFL };
        handled = false;
    }
    if (signals[i] == SIGSEGV || signals[i] == SIGBUS)
        sundew_may_fault = 0;
    sigaction(signals[i], &act, NULL);
    if (handled && t && t->own_stack) {
        change_stack(&t->alternate);
        u->uc_stack = t->alternate;    /* set again when the handler returns */
        t->own_stack = 0;
    }
    if (sent) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, signals[i]);
        pthread_sigmask(SIG_BLOCK, &one, NULL);
        syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid), signals[i], info);
    }
}

/* Does a file tell of it? The program's handler returned without mending anything, or it
 * still runs and ends the program in its own way. */
static bool is_told(SundewThread *t, void *context)
{
    enum { HANDLERS_DEPTH = 64 };
    SundewCall calls[HANDLERS_DEPTH];
    bool sure, found = false;
    if (!t || !t->told_pc)
        return false;
    t->in_dump = 1;                    /* a fault in here ends only this */
    unsigned n = sundew_unwind(t, context, 0, calls, HANDLERS_DEPTH, &sure);
    t->in_dump = 0;
    for (unsigned k = 0; k < n && !found; k++)
        found = calls[k].pc == t->told_pc && calls[k].sp == t->told_sp;
    return found;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    bool sent = info->si_code <= 0;
    if (!sent && sundew_safe_copy_faulted(context))
        return;
    int kept = errno;
    SundewThread *t = sundew_thread();
    if (t && t->in_dump) {
        if (!sent && t->guard)
            siglongjmp(*t->guard, 1);
        if (sent) {
            errno = kept;
            return;                    /* one failure is enough */
        }
    }
    int i = place(sig);
    bool blocked = t && i < NVIRTUAL && (t->blocked & 1 << i);
    const struct sigaction *p = programs(i);
    bool plain = p->sa_handler == SIG_DFL || p->sa_handler == SIG_IGN;
    bool by_itself = sent && info->si_pid == getpid();
    if (sent && blocked) {
        hold_back(sig, info, context);
    } else if (sent && p->sa_handler == SIG_IGN && !by_itself) {
        /* As if it had not come. */
    } else {
        /* Handlers that mend things may be called often: one dump each. A handler that
         * sends itself the signal again, to die of it, adds nothing either. */
        bool again = dumped[i] && (!plain || by_itself);
        if (!again && !reported && !is_told(t, context)) {
            dumped[i] = 1;
            reported = is_sanitizers(i);
            SundewCause cause = {
                .kind = SUNDEW_FAIL_SIGNAL, .signal = sig, .info = info, .context = context
            };
            if (sig == SIGABRT && t && t->said) {
                cause.kind = SUNDEW_FAIL_ASSERT;
                cause.text = t->said;
            } else if (sig == SIGABRT && by_itself) {
                cause.kind = SUNDEW_FAIL_ABORT;
            }
            sundew_dump_failure(&cause);
            if (t) {
                SundewCall here = sundew_unwind_from(context);
                t->told_pc = here.pc;
                t->told_sp = here.sp;
            }
        }
        pass_on(i, info, context, blocked);
    }
    errno = kept;
}

/* ---- what the program asks for */

static void strip(sigset_t *set)
{
    for (int i = 0; i < NVIRTUAL; i++)
        sigdelset(set, signals[i]);
}

int sundew_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    int i = place(sig);
    if (i >= 0 && started) {
        sundew_signals_check();
        struct sigaction was = *programs(i);
        if (act) {
            struct sigaction now = *act;
            /* What queries answer never holds these, as with the kernel. */
            sigdelset(&now.sa_mask, SIGKILL);
            sigdelset(&now.sa_mask, SIGSTOP);
            remember(i, &now);
            bool plain = !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
            dumped[i] = plain ? dumped[i] : 0;
            install(i);
        }
        if (old)
            *old = was;
        return 0;
    }
    if (!act || !started)
        return sigaction(sig, act, old);
    struct sigaction now = *act;
    strip(&now.sa_mask);
    return sigaction(sig, &now, old);
}

void (*sundew_signal(int sig, void (*handler)(int)))(int)
{
    if (place(sig) < 0 || !started || handler == SIG_ERR)
        return signal(sig, handler);
    struct sigaction act = { .sa_handler = handler, .sa_flags = SA_RESTART };
    struct sigaction old;
    sigemptyset(&act.sa_mask);
    sigaddset(&act.sa_mask, sig);
    sundew_sigaction(sig, &act, &old);
    return old.sa_handler;
}

/* What signal() is where System V is asked for: the handler is good for once. */
void (*sundew___sysv_signal(int sig, void (*handler)(int)))(int)
{
    if (place(sig) < 0 || !started || handler == SIG_ERR)
        return __sysv_signal(sig, handler);
    struct sigaction act = { .sa_handler = handler, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
    struct sigaction old;
    sigemptyset(&act.sa_mask);
    sundew_sigaction(sig, &act, &old);
    return old.sa_handler;
}

int sundew_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    SundewThread *t = started ? sundew_thread() : NULL;
    if (!t)
        return pthread_sigmask(how, set, old);
    uint8_t was = t->blocked, bits = 0;
    sigset_t mine;
    if (set) {
        mine = *set;
        for (int i = 0; i < NVIRTUAL; i++)
            if (sigismember(set, signals[i]) == 1)
                bits |= (uint8_t)(1 << i);
        if (how != SIG_UNBLOCK)
            strip(&mine);
    }
    int failed = pthread_sigmask(how, set ? &mine : NULL, old);
    if (failed)
        return failed;
    if (set)
        t->blocked = how == SIG_BLOCK     ? was | bits
                     : how == SIG_UNBLOCK ? was & (uint8_t)~bits
                                          : bits;
    for (int i = 0; old && i < NVIRTUAL; i++)
        if (was & 1 << i)
            sigaddset(old, signals[i]);
    return 0;
}

int sundew_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int failed = sundew_pthread_sigmask(how, set, old);
    if (!failed)
        return 0;
    errno = failed;
    return -1;
}

int sundew_sigsuspend(const sigset_t *set)
{
    sigset_t mine = *set;
    if (started)
        strip(&mine);
    return sigsuspend(&mine);
}

static void *begin(void *arg)
{
    SundewThread *t = arg;
    void *(*routine)(void *) = t->routine;
    void *with = t->arg;
    sundew_thread_begin(t);
    return routine(with);
}

int sundew_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
                          void *arg)
{
    SundewThread *t = started ? sundew_thread_take() : NULL;
    if (!t)
        return pthread_create(thread, attr, routine, arg);
    SundewThread *parent = sundew_thread();
    t->routine = routine;
    t->arg = arg;
    t->blocked = parent ? parent->blocked : 0;
    int failed = pthread_create(thread, attr, begin, t);
    if (failed)
        __atomic_store_n(&t->taken, 0, __ATOMIC_RELEASE);
    return failed;
}

static char *put(char *to, const char *end, const char *text)
{
    char c;
    while (to < end && sundew_safe_copy(&c, (uintptr_t)text, 1) == 1 && c) {
        *to++ = c;
        text++;
    }
    *to = 0;
    return to;
}

void sundew___assert_fail(const char *expression, const char *file, unsigned line,
                          const char *function)
{
    static char text[1024];
    char *end = text + sizeof text - 1;
    SundewThread *t = sundew_thread();
    char *to = put(text, end - 400, file);
    to = put(to, end, ":");
    to = sundew_text_number(to, line);
    to = put(to, end, ": ");
    to = put(to, end - 200, function);
    to = put(to, end, ": Assertion `");
    to = put(to, end - 20, expression);
    put(to, end, "' failed.");
    if (t)
        t->said = text;
    __assert_fail(expression, file, line, function);
}
