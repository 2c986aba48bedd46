/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the parts of the victim with known call chains. Every case allocates a unique number of
 * bytes and prints its chain, innermost first: "a" a function, "b[i]" one inlined into the next,
 * "@libc" one or more frames of the C library and the loader, "@cxx" of the C++ runtime, "@none" of
 * code in no file, "@vdso", "..." omitted frames. */
#ifndef VS_CHAIN_VICTIM_H
#define VS_CHAIN_VICTIM_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__clang__)
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone, no_icf))
#endif
#define FOLDED __attribute__((always_inline)) static inline
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")
#define IN_USE(room) __asm__ volatile("" ::"r"(room) : "memory")

/* The frames from main to the case and from the case's last function to CUDA. */
#define FROM_MAIN " < main < @libc < _start"

/* take: allocates *bytes*, a size unique to this case. */
void take(unsigned long bytes);
/* expect: the chain of that allocation, without take itself. */
void expect(unsigned long bytes, const char *chain);

void cases_in_cxx(void);

#ifdef __cplusplus
}
#endif

#endif
