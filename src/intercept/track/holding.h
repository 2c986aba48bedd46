/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the device that holds a framework's blocks (PyTorch's segments). At the user's level the
 * blocks count, and this memory does not: so the rule is that of the analysis (docs/internals/trace-format.md,
 * "User's level"), decided when the memory is allocated.
 *
 * Memory holds blocks if libc10 allocated it, or if the framework reports a block at its address
 * right after this thread allocated it; then so does later memory of the same call stack, for
 * example of vramscope_torch_alloc in a torch.cuda.MemPool. */
#ifndef VS_HOLDING_H
#define VS_HOLDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/route/hook.h"

enum vs_holding {
    VS_HOLDING_NEVER, /* there is no libc10 in the process */
    VS_HOLDING_NOT,
    VS_HOLDING_YES,
};

/* The latest allocation of a thread, if it was VS_HOLDING_NOT; otherwise addr is 0. */
struct vs_holding_latest {
    uint64_t addr, size, key; /* key: vs_holding_key */
    uint32_t device;
    bool block; /* served by the cache */
};
extern _Thread_local struct vs_holding_latest vs_holding_latest
    __attribute__((tls_model("initial-exec")));

/* Above 0: this thread is inside of a framework's allocator. */
extern _Thread_local unsigned vs_holding_within __attribute__((tls_model("initial-exec")));

extern _Atomic(bool) vs_holding_possible; /* there is libc10; stays true */

/* The slow paths of the functions below. */
void vs_holding_judge_caller(void);
enum vs_holding vs_holding_of(uint64_t stack);
void vs_holding_found(void);

/* vs_holding_key: the key of a call stack: the id of *stack*; if it is 0, the address of the caller, which is
 * above all ids. */
static inline uint64_t vs_holding_key(uint64_t stack)
{
    return stack ? stack : (uint64_t)(uintptr_t)vs_thread.caller;
}

/* vs_holds: does the memory of a device that this thread is about to enter hold blocks? *stack*: its
 * id; 0: unknown. Any thread; no lock. Cost: three loads without libc10, and a search of the loaded
 * objects for each new caller. */
static inline enum vs_holding vs_holds(uint64_t stack)
{
    if (__builtin_expect(vs_thread.caller != vs_thread.judged, 0))
        vs_holding_judge_caller();
    return __builtin_expect(atomic_load_explicit(&vs_holding_possible, memory_order_relaxed), 0)
               ? vs_holding_of(stack)
               : VS_HOLDING_NEVER;
}

/* vs_holding_reported: the framework is about to report a block at *addr*. Outside of locks. */
static inline void vs_holding_reported(uint64_t addr)
{
    if (__builtin_expect(vs_holding_latest.addr == addr && addr, 0))
        vs_holding_found();
}

/* vs_holding_block_add, _remove: blocks of the cache that hold a framework's. add: false if it is one
 * already, or there is no host memory for it. remove: was *addr* one? Any thread; take rank COLLECTOR. */
bool vs_holding_block_add(uint64_t addr);
bool vs_holding_block_remove(uint64_t addr);
/* vs_holding_any_block: is there one? Cost: a load. */
extern _Atomic(uint64_t) vs_holding_blocks; /* their number */
static inline bool vs_holding_any_block(void)
{
    return atomic_load_explicit(&vs_holding_blocks, memory_order_relaxed) != 0;
}

#endif
