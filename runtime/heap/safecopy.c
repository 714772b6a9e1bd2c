/*
 * safecopy - read memory that may not be there.
 *
 * The copy is a routine whose first and last address are known. When it
 * faults, the runtime's handler of SIGSEGV and SIGBUS sees the program counter in between
 * and goes on at its end, which returns how far it came. So a good pointer
 * costs a plain copy, and nobody has to know beforehand whether it is good.
 * While others' handlers stand in place of ours, process_vm_readv() reads.
 */
#include "runtime/monitor/monitor_int.h"
#include <errno.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

volatile int sundew_may_fault;

static size_t copy_by_kernel(void *to, uint64_t from, size_t n)
{
    int kept = errno;
    size_t done = 0;
    while (done < n) {
        /* Page by page: a call with a hole in it may read nothing. */
        size_t part = 4096 - ((from + done) & 4095);
        if (part > n - done)
            part = n - done;
        struct iovec here = { (uint8_t *)to + done, part };
        struct iovec there = { (void *)(uintptr_t)(from + done), part };
        ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    errno = kept;
    return done;
}

#if defined(__x86_64__)
size_t sundew_copy_raw(void *to, uint64_t from, size_t n);
extern const char sundew_copy_begin[], sundew_copy_end[];

/* rax: where it began; rdi goes on, so at the end rdi - rax bytes are copied. */
__asm__(".pushsection .text.sundew_copy,\"ax\",@progbits\n"
        ".p2align 4\n"
        ".globl sundew_copy_raw, sundew_copy_begin, sundew_copy_end\n"
        ".hidden sundew_copy_raw, sundew_copy_begin, sundew_copy_end\n"
        ".type sundew_copy_raw, @function\n"
        "sundew_copy_raw:\n"
        "    .cfi_startproc\n"
        "    mov %rdi, %rax\n"
        "    cmp $512, %rdx\n"
        "sundew_copy_begin:\n"
        "    jae 3f\n"
        "1:  cmp $8, %rdx\n"
        "    jb 2f\n"
        "    mov (%rsi), %rcx\n"
        "    mov %rcx, (%rdi)\n"
        "    add $8, %rsi\n"
        "    add $8, %rdi\n"
        "    sub $8, %rdx\n"
        "    jmp 1b\n"
        "2:  test %rdx, %rdx\n"
        "    jz sundew_copy_end\n"
        "    mov (%rsi), %cl\n"
        "    mov %cl, (%rdi)\n"
        "    inc %rsi\n"
        "    inc %rdi\n"
        "    dec %rdx\n"
        "    jmp 2b\n"
        "3:  mov %rdx, %rcx\n"
        "    rep movsb\n"
        "sundew_copy_end:\n"
        "    sub %rax, %rdi\n"
        "    mov %rdi, %rax\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size sundew_copy_raw, .-sundew_copy_raw\n"
        ".popsection\n");

size_t sundew_safe_copy(void *to, uint64_t from, size_t n)
{
    if (SUNDEW_UNLIKELY(!sundew_may_fault))
        return copy_by_kernel(to, from, n);
    size_t got = sundew_copy_raw(to, from, n);
    while (SUNDEW_UNLIKELY(got < n)) {
        /* A word may reach into what is not there; its first bytes don't. */
        size_t more = n - got > 7 ? 7 : n - got;
        size_t part = sundew_copy_raw((uint8_t *)to + got, from + got, more);
        got += part;
        if (part < more)
            break;
    }
    return got;
}

bool sundew_safe_copy_faulted(void *ucontext)
{
    greg_t *pc = &((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP];
    if (*pc < (greg_t)(uintptr_t)sundew_copy_begin || *pc >= (greg_t)(uintptr_t)sundew_copy_end)
        return false;
    *pc = (greg_t)(uintptr_t)sundew_copy_end;
    return true;
}
#else
size_t sundew_safe_copy(void *to, uint64_t from, size_t n) { return copy_by_kernel(to, from, n); }

bool sundew_safe_copy_faulted(void *ucontext)
{
    (void)ucontext;
    return false;
}
#endif

uint64_t sundew_read_word(uint64_t address)
{
    uint64_t word = 0;
    return sundew_safe_copy(&word, address, sizeof word) == sizeof word ? word : 0;
}
