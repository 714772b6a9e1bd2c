    .globl asm_add
    .type asm_add, @function
asm_add:
    leal (%rdi,%rsi), %eax
    ret
    .section .note.GNU-stack,"",@progbits
