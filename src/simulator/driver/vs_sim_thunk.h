/* SPDX-License-Identifier: Apache-2.0
 *
 * Exported functions that can be observed. A function F is compiled under another, hidden name
 * (vs_sim_rename.h); the exported F is a few instructions that jump there if calls are not
 * observed: a load, a test, a jump, arguments untouched. Otherwise they save the argument
 * registers, call vs_thunk_wanted and then vs_thunk_watched (C, one of each in each library), which
 * calls the function through vs_thunk_call and sees its result.
 *
 * VS_THUNK, once for each function, and VS_THUNK_COMMON, once for each library, are file-scope
 * assembly. They rely on the C calling conventions of Linux: no function takes more than
 * VS_THUNK_STACK_WORDS words on the stack or two floating-point numbers, and all return an int. The
 * frames can be unwound. */
#ifndef VS_SIM_THUNK_H
#define VS_SIM_THUNK_H

#include <stdint.h>

#define VS_THUNK_STACK_WORDS 16

#if defined(__x86_64__)
#define VS_THUNK_REGISTERS 6
#elif defined(__aarch64__)
#define VS_THUNK_REGISTERS 8
#else
#error "CUDA exists on x86-64 and aarch64 only"
#endif

/* Describes the function of a thunk. */
struct vs_thunk {
    void (*function)(void); /* the real one */
    const char *name;       /* as exported */
    uint32_t cbid;          /* as CUPTI numbers it */
};

/* The arguments of one call as passed. The assembly relies on this layout. */
struct vs_thunk_args {
    uint64_t words[VS_THUNK_REGISTERS];
    double numbers[2];
    const uint64_t *stack; /* the first argument that is not in a register */
    uint64_t caller;       /* the call's return address */
};

/* vs_thunk_wanted: is the call to be observed? If not, the function is entered as if called
 * directly: nothing is left on the stack. */
__attribute__((visibility("hidden"))) int vs_thunk_wanted(void);
/* vs_thunk_watched: makes the call of an observed function; returns its result. */
__attribute__((visibility("hidden"))) int vs_thunk_watched(const struct vs_thunk *thunk,
                                                           const struct vs_thunk_args *args);
/* vs_thunk_call: calls *function* with *args*. */
__attribute__((visibility("hidden"))) int vs_thunk_call(void (*function)(void),
                                                        const struct vs_thunk_args *args);

#define VS_THUNK_TEXT_1(x) #x
#define VS_THUNK_TEXT(x) VS_THUNK_TEXT_1(x)

/* VS_THUNK: exports *symbol*, described by the hidden object *descriptor*. Its function is the
 * hidden *impl*. WATCH (assembly text defined by the file that uses this) sets the condition "not
 * equal" if the call is to be observed; it may only use the scratch registers of a call boundary.
 * All are string literals. */
#if defined(__x86_64__)

#define VS_THUNK(symbol, impl, descriptor, WATCH)                                                  \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " symbol "\n"                                                                  \
            ".type " symbol ", @function\n"                                                        \
            ".p2align 4\n" symbol ":\n"                                                            \
            ".cfi_startproc\n"                                                                     \
            "endbr64\n" WATCH "jne 1f\n"                                                           \
            "jmp " impl "\n"                                                                       \
            "1: leaq " descriptor "(%rip), %r11\n"                                                 \
            "jmp vs_thunk_enter\n"                                                                 \
            ".cfi_endproc\n"                                                                       \
            ".size " symbol ", .-" symbol "\n"                                                     \
            ".popsection\n");

#define VS_THUNK_COMMON                                                                            \
    __asm__(".pushsection .text\n"                                                                 \
            ".type vs_thunk_enter, @function\n"                                                    \
            "vs_thunk_enter:\n"                                                                    \
            ".cfi_startproc\n"                                                                     \
            "pushq %rbp\n"                                                                         \
            ".cfi_def_cfa_offset 16\n"                                                             \
            ".cfi_offset %rbp, -16\n"                                                              \
            "movq %rsp, %rbp\n"                                                                    \
            ".cfi_def_cfa_register %rbp\n"                                                         \
            "subq $96, %rsp\n"                                                                     \
            "movq %rdi, 0(%rsp)\n"                                                                 \
            "movq %rsi, 8(%rsp)\n"                                                                 \
            "movq %rdx, 16(%rsp)\n"                                                                \
            "movq %rcx, 24(%rsp)\n"                                                                \
            "movq %r8, 32(%rsp)\n"                                                                 \
            "movq %r9, 40(%rsp)\n"                                                                 \
            "movsd %xmm0, 48(%rsp)\n"                                                              \
            "movsd %xmm1, 56(%rsp)\n"                                                              \
            "leaq 16(%rbp), %rax\n"                                                                \
            "movq %rax, 64(%rsp)\n"                                                                \
            "movq 8(%rbp), %rax\n"                                                                 \
            "movq %rax, 72(%rsp)\n"                                                                \
            "movq %r11, 80(%rsp)\n"                                                                \
            "call vs_thunk_wanted\n"                                                               \
            "testl %eax, %eax\n"                                                                   \
            "je 2f\n"                                                                              \
            "movq 80(%rsp), %rdi\n"                                                                \
            "movq %rsp, %rsi\n"                                                                    \
            "call vs_thunk_watched\n"                                                              \
            ".cfi_remember_state\n"                                                                \
            "leave\n"                                                                              \
            ".cfi_def_cfa %rsp, 8\n"                                                               \
            "ret\n"                                                                                \
            ".cfi_restore_state\n"                                                                 \
            "2: movq 0(%rsp), %rdi\n"                                                              \
            "movq 8(%rsp), %rsi\n"                                                                 \
            "movq 16(%rsp), %rdx\n"                                                                \
            "movq 24(%rsp), %rcx\n"                                                                \
            "movq 32(%rsp), %r8\n"                                                                 \
            "movq 40(%rsp), %r9\n"                                                                 \
            "movsd 48(%rsp), %xmm0\n"                                                              \
            "movsd 56(%rsp), %xmm1\n"                                                              \
            "movq 80(%rsp), %r11\n"                                                                \
            "leave\n"                                                                              \
            ".cfi_def_cfa %rsp, 8\n"                                                               \
            "jmp *(%r11)\n"                                                                        \
            ".cfi_endproc\n"                                                                       \
            ".size vs_thunk_enter, .-vs_thunk_enter\n"                                             \
            ".globl vs_thunk_call\n"                                                               \
            ".hidden vs_thunk_call\n"                                                              \
            ".type vs_thunk_call, @function\n"                                                     \
            "vs_thunk_call:\n"                                                                     \
            ".cfi_startproc\n"                                                                     \
            "endbr64\n"                                                                            \
            "pushq %rbp\n"                                                                         \
            ".cfi_def_cfa_offset 16\n"                                                             \
            ".cfi_offset %rbp, -16\n"                                                              \
            "movq %rsp, %rbp\n"                                                                    \
            ".cfi_def_cfa_register %rbp\n"                                                         \
            "subq $128, %rsp\n"                                                                    \
            "movq %rdi, %rax\n"                                                                    \
            "movq %rsi, %r10\n"                                                                    \
            "movq 64(%r10), %rsi\n"                                                                \
            "movq %rsp, %rdi\n"                                                                    \
            "movl $16, %ecx\n"                                                                     \
            "rep movsq\n"                                                                          \
            "movq 0(%r10), %rdi\n"                                                                 \
            "movq 8(%r10), %rsi\n"                                                                 \
            "movq 16(%r10), %rdx\n"                                                                \
            "movq 24(%r10), %rcx\n"                                                                \
            "movq 32(%r10), %r8\n"                                                                 \
            "movq 40(%r10), %r9\n"                                                                 \
            "movsd 48(%r10), %xmm0\n"                                                              \
            "movsd 56(%r10), %xmm1\n"                                                              \
            "call *%rax\n"                                                                         \
            "leave\n"                                                                              \
            ".cfi_def_cfa %rsp, 8\n"                                                               \
            "ret\n"                                                                                \
            ".cfi_endproc\n"                                                                       \
            ".size vs_thunk_call, .-vs_thunk_call\n"                                               \
            ".popsection\n");

#else /* aarch64 */

#define VS_THUNK(symbol, impl, descriptor, WATCH)                                                  \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " symbol "\n"                                                                  \
            ".type " symbol ", %function\n"                                                        \
            ".p2align 4\n" symbol ":\n"                                                            \
            ".cfi_startproc\n"                                                                     \
            "hint #34\n" /* bti c */                                                               \
            WATCH "b.ne 1f\n"                                                                      \
            "b " impl "\n"                                                                         \
            "1: adrp x16, " descriptor "\n"                                                        \
            "add x16, x16, :lo12:" descriptor "\n"                                                 \
            "b vs_thunk_enter\n"                                                                   \
            ".cfi_endproc\n"                                                                       \
            ".size " symbol ", .-" symbol "\n"                                                     \
            ".popsection\n");

#define VS_THUNK_COMMON                                                                            \
    __asm__(".pushsection .text\n"                                                                 \
            ".type vs_thunk_enter, %function\n"                                                    \
            "vs_thunk_enter:\n"                                                                    \
            ".cfi_startproc\n"                                                                     \
            "stp x29, x30, [sp, #-128]!\n"                                                         \
            ".cfi_def_cfa_offset 128\n"                                                            \
            ".cfi_offset x29, -128\n"                                                              \
            ".cfi_offset x30, -120\n"                                                              \
            "mov x29, sp\n"                                                                        \
            "stp x0, x1, [sp, #16]\n"                                                              \
            "stp x2, x3, [sp, #32]\n"                                                              \
            "stp x4, x5, [sp, #48]\n"                                                              \
            "stp x6, x7, [sp, #64]\n"                                                              \
            "stp d0, d1, [sp, #80]\n"                                                              \
            "add x17, sp, #128\n"                                                                  \
            "str x17, [sp, #96]\n"                                                                 \
            "str x30, [sp, #104]\n"                                                                \
            "str x16, [sp, #112]\n"                                                                \
            "bl vs_thunk_wanted\n"                                                                 \
            "cbz w0, 2f\n"                                                                         \
            "ldr x0, [sp, #112]\n"                                                                 \
            "add x1, sp, #16\n"                                                                    \
            "bl vs_thunk_watched\n"                                                                \
            ".cfi_remember_state\n"                                                                \
            "ldp x29, x30, [sp], #128\n"                                                           \
            ".cfi_restore x29\n"                                                                   \
            ".cfi_restore x30\n"                                                                   \
            ".cfi_def_cfa_offset 0\n"                                                              \
            "ret\n"                                                                                \
            ".cfi_restore_state\n"                                                                 \
            "2: ldp x0, x1, [sp, #16]\n"                                                           \
            "ldp x2, x3, [sp, #32]\n"                                                              \
            "ldp x4, x5, [sp, #48]\n"                                                              \
            "ldp x6, x7, [sp, #64]\n"                                                              \
            "ldp d0, d1, [sp, #80]\n"                                                              \
            "ldr x16, [sp, #112]\n"                                                                \
            "ldr x16, [x16]\n"                                                                     \
            "ldp x29, x30, [sp], #128\n"                                                           \
            ".cfi_restore x29\n"                                                                   \
            ".cfi_restore x30\n"                                                                   \
            ".cfi_def_cfa_offset 0\n"                                                              \
            "br x16\n"                                                                             \
            ".cfi_endproc\n"                                                                       \
            ".size vs_thunk_enter, .-vs_thunk_enter\n"                                             \
            ".globl vs_thunk_call\n"                                                               \
            ".hidden vs_thunk_call\n"                                                              \
            ".type vs_thunk_call, %function\n"                                                     \
            "vs_thunk_call:\n"                                                                     \
            ".cfi_startproc\n"                                                                     \
            "hint #34\n"                                                                           \
            "stp x29, x30, [sp, #-16]!\n"                                                          \
            ".cfi_def_cfa_offset 16\n"                                                             \
            ".cfi_offset x29, -16\n"                                                               \
            ".cfi_offset x30, -8\n"                                                                \
            "mov x29, sp\n"                                                                        \
            ".cfi_def_cfa_register x29\n"                                                          \
            "sub sp, sp, #128\n"                                                                   \
            "mov x16, x0\n"                                                                        \
            "mov x17, x1\n"                                                                        \
            "ldr x9, [x17, #80]\n"                                                                 \
            "mov x10, sp\n"                                                                        \
            "mov x11, #8\n"                                                                        \
            "1: ldp x12, x13, [x9], #16\n"                                                         \
            "stp x12, x13, [x10], #16\n"                                                           \
            "subs x11, x11, #1\n"                                                                  \
            "b.ne 1b\n"                                                                            \
            "ldp x0, x1, [x17]\n"                                                                  \
            "ldp x2, x3, [x17, #16]\n"                                                             \
            "ldp x4, x5, [x17, #32]\n"                                                             \
            "ldp x6, x7, [x17, #48]\n"                                                             \
            "ldp d0, d1, [x17, #64]\n"                                                             \
            "blr x16\n"                                                                            \
            "mov sp, x29\n"                                                                        \
            ".cfi_def_cfa_register sp\n"                                                           \
            "ldp x29, x30, [sp], #16\n"                                                            \
            ".cfi_restore x29\n"                                                                   \
            ".cfi_restore x30\n"                                                                   \
            ".cfi_def_cfa_offset 0\n"                                                              \
            "ret\n"                                                                                \
            ".cfi_endproc\n"                                                                       \
            ".size vs_thunk_call, .-vs_thunk_call\n"                                               \
            ".popsection\n");
#endif

#endif
