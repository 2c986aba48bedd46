/* SPDX-License-Identifier: Apache-2.0
 *
 * dlsym, exported in both of glibc's versions. Asks vs_route_dlsym and either
 * returns its answer or jumps to the real function with the stack as the caller
 * left it: glibc takes the caller of RTLD_NEXT from the return address. */
    .text
    .globl vs_dlsym_entry
    .globl vs_dlsym_entry_old
    .type vs_dlsym_entry, %function
    .type vs_dlsym_entry_old, %function
    .hidden vs_route_dlsym

#if defined(__x86_64__)
    .p2align 4
vs_dlsym_entry:
vs_dlsym_entry_old:
    .cfi_startproc
    endbr64
    subq $40, %rsp
    .cfi_adjust_cfa_offset 40
    movq %rdi, 8(%rsp)
    movq %rsi, 16(%rsp)
    leaq 24(%rsp), %rdx
    call vs_route_dlsym
    movq 8(%rsp), %rdi
    movq 16(%rsp), %rsi
    movq 24(%rsp), %rdx
    addq $40, %rsp
    .cfi_adjust_cfa_offset -40
    testq %rax, %rax
    je 1f
    jmp *%rax
1:  movq %rdx, %rax
    ret
    .cfi_endproc
    .size vs_dlsym_entry, . - vs_dlsym_entry
    .size vs_dlsym_entry_old, . - vs_dlsym_entry_old
    .symver vs_dlsym_entry, dlsym@@GLIBC_2.34, remove
    .symver vs_dlsym_entry_old, dlsym@GLIBC_2.2.5, remove
#elif defined(__aarch64__)
    .p2align 4
vs_dlsym_entry:
vs_dlsym_entry_old:
    .cfi_startproc
    stp x29, x30, [sp, #-48]!
    .cfi_def_cfa_offset 48
    .cfi_offset 29, -48
    .cfi_offset 30, -40
    stp x0, x1, [sp, #16]
    add x2, sp, #32
    bl vs_route_dlsym
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldr x2, [sp, #32]
    ldp x29, x30, [sp], #48
    .cfi_restore 29
    .cfi_restore 30
    .cfi_def_cfa_offset 0
    cbz x16, 1f
    br x16
1:  mov x0, x2
    ret
    .cfi_endproc
    .size vs_dlsym_entry, . - vs_dlsym_entry
    .size vs_dlsym_entry_old, . - vs_dlsym_entry_old
    .symver vs_dlsym_entry, dlsym@@GLIBC_2.34, remove
    .symver vs_dlsym_entry_old, dlsym@GLIBC_2.17, remove
#else
#error "dlsym_entry.S has no code for this architecture"
#endif
    .section .note.GNU-stack, "", %progbits
