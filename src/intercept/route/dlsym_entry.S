/* SPDX-License-Identifier: Apache-2.0
 *
 * dlsym and dlvsym, exported in both of glibc's versions. They ask vs_route and either
 * return its answer or jump to the real function with the stack as the caller left it:
 * glibc takes the caller of RTLD_NEXT from the return address. Names that do not begin
 * with a "c" are nobody's but the real function's, once that is known. The numbers are
 * those of enum vs_route_entry. */
    .text
    .hidden vs_route
    .hidden vs_route_next

#if defined(__x86_64__)
#define OLD GLIBC_2.2.5

    .macro ENTRY name, number
    .p2align 4
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
    endbr64
    movl $\number, %ecx
    testq %rsi, %rsi
    je route
    cmpb $'c', (%rsi)
    je route
    movq vs_route_next+8*\number(%rip), %rax
    testq %rax, %rax
    je route
    jmp *%rax
    .cfi_endproc
    .size \name, . - \name
    .endm

    .p2align 4
    .type route, %function
route:
    .cfi_startproc
    movq (%rsp), %r8
    subq $40, %rsp
    .cfi_adjust_cfa_offset 40
    movq %rdi, 8(%rsp)
    movq %rsi, 16(%rsp)
    movq %rdx, 24(%rsp)
    leaq 24(%rsp), %rdx
    call vs_route
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
    .size route, . - route
#elif defined(__aarch64__)
#define OLD GLIBC_2.17

    .macro ENTRY name, number
    .p2align 4
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
    hint #34 /* bti c */
    mov w3, #\number
    cbz x1, route
    ldrb w16, [x1]
    cmp w16, #'c'
    b.eq route
    adrp x16, vs_route_next
    add x16, x16, :lo12:vs_route_next
    ldr x16, [x16, #8*\number]
    cbz x16, route
    br x16
    .cfi_endproc
    .size \name, . - \name
    .endm

    .p2align 4
    .type route, %function
route:
    .cfi_startproc
    mov x4, x30
    stp x29, x30, [sp, #-48]!
    .cfi_def_cfa_offset 48
    .cfi_offset 29, -48
    .cfi_offset 30, -40
    stp x0, x1, [sp, #16]
    str x2, [sp, #32]
    add x2, sp, #32
    bl vs_route
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
    .size route, . - route
#else
#error "dlsym_entry.S has no code for this architecture"
#endif

    ENTRY vs_dlsym_entry, 0
    ENTRY vs_dlsym_entry_old, 1
    ENTRY vs_dlvsym_entry, 2
    ENTRY vs_dlvsym_entry_old, 3
    .symver vs_dlsym_entry, dlsym@@GLIBC_2.34, remove
    .symver vs_dlsym_entry_old, dlsym@OLD, remove
    .symver vs_dlvsym_entry, dlvsym@@GLIBC_2.34, remove
    .symver vs_dlvsym_entry_old, dlvsym@OLD, remove
    .section .note.GNU-stack, "", %progbits
