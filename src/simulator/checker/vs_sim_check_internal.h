/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the checker: what drv_check.c (order), drv_check_memory.c (allocations),
 * drv_check_kernel.c (accesses of host functions), drv_check_report.c and
 * drv_check_stack.c ask of each other. */
#ifndef VS_SIM_CHECK_INTERNAL_H
#define VS_SIM_CHECK_INTERNAL_H

#include "simulator/checker/vs_sim_check.h"
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/checker/vs_sim_shadow.h"

enum vs_sim_check_what {
    VS_SIM_WHAT_CALL, /* some call of the host */
    VS_SIM_WHAT_HOST, /* the host's own access to memory */
    VS_SIM_WHAT_ALLOC,
    VS_SIM_WHAT_FREE,
    VS_SIM_WHAT_KERNEL,
    VS_SIM_WHAT_COPY,
    VS_SIM_WHAT_SET,
    VS_SIM_WHAT_OTHER,
};

/* ---- allocations ---- */

#define VS_SIM_USES_MAX 8

enum vs_sim_owned_state { VS_SIM_OWNED_PENDING, VS_SIM_OWNED_LIVE, VS_SIM_OWNED_FREED };

struct vs_sim_owned { /* one range, from its allocation until it is forgotten */
    struct vs_sim_owned *left, *right; /* those that hold their addresses now */
    struct vs_sim_owned *next, **link; /* among the pending or the freed ones */
    enum vs_sim_owned_state state;
    enum vs_sim_range_kind kind;
    uintptr_t base;
    size_t bytes;
    uint64_t id;
    const struct vs_sim_context *ctx;
    int device;
    bool variable; /* of a module */
    bool any_written; /* something unknown may have written it */
    uint64_t born;    /* unknown kernels seen before it */
    struct vs_sim_actor *alloc, *freed;
    struct vs_sim_actor *ending; /* the call that freed it in stream order */
    struct vs_sim_actor *uses[VS_SIM_USES_MAX]; /* kernels that had it as an argument */
    unsigned use_count;
    struct vs_sim_shadow shadow;
    struct vs_sim_alias *alias; /* MAPPED: of the physical memory */
};

#define VS_SIM_CHECK_USES_MAX 32
#define VS_SIM_CHECK_UNWRITTEN_MAX 8

struct vs_sim_check_op {
    uint32_t stack;
    uint64_t order;    /* among all submissions and calls */
    uint64_t host_seq; /* host events before the submission */
    struct vs_sim_clock *host; /* what the host knew then */
    struct vs_sim_clock *clock; /* from vs_sim_check_begin on */
    struct vs_sim_actor *actor; /* likewise */
    struct vs_sim_owned *begins; /* allocation that takes place here */
    uintptr_t ends_base;
    uint64_t ends_id; /* range that ends here; 0: none */
    const void *thread; /* that declared accesses of the kernel */
    bool many_threads;
    unsigned unwritten_count;
    struct {
        struct vs_sim_unwritten what;
        uintptr_t end; /* of the access */
    } unwritten[VS_SIM_CHECK_UNWRITTEN_MAX]; /* read by the kernel */
    unsigned use_count;
    struct {
        uintptr_t address;
        uint64_t id;
    } uses[VS_SIM_CHECK_USES_MAX];
};

/* vs_sim_check_lock/unlock: the one lock of the checker; unlock prints what has
 * been found meanwhile, release does not. */
void vs_sim_check_lock(void);
void vs_sim_check_unlock(void);
void vs_sim_check_release(void);

/* vs_sim_check_host_actor: a new event of the host, with the caller's stack. NULL:
 * no host memory. Locked. */
struct vs_sim_actor *vs_sim_check_host_actor(enum vs_sim_check_what what, uint32_t stack);
/* vs_sim_check_host_clock: what the host knows. Locked. */
struct vs_sim_clock *vs_sim_check_host_clock(void);

/* vs_sim_owned_new: for *range*; NULL: no host memory. */
struct vs_sim_owned *vs_sim_owned_new(const struct vs_sim_range *range);
/* vs_sim_owned_begin: *block*, whose alloc is set, takes its place. Locked, as the rest. */
void vs_sim_owned_begin(struct vs_sim_owned *block);
void vs_sim_owned_drop(struct vs_sim_owned *pending);
/* vs_sim_owned_end: the range at *base* with *id* is freed by *actor*. */
void vs_sim_owned_end(uintptr_t base, uint64_t id, struct vs_sim_actor *actor,
                      const struct vs_sim_clock *clock);
/* vs_sim_owned_use: *actor* has a pointer to *address*, of range *id* when it was
 * submitted. */
void vs_sim_owned_use(uintptr_t address, uint64_t id, struct vs_sim_actor *actor,
                      const struct vs_sim_clock *clock);
/* vs_sim_owned_written: the kernel that had that pointer may have written anything
 * of the range (*id* 0: of whichever holds the address). */
void vs_sim_owned_written(uintptr_t address, uint64_t id);

/* vs_sim_alias_ref: what is known of the physical memory *id*, whatever address it
 * is used at; NULL: no host memory. Give it back by vs_sim_alias_unref, which takes
 * NULL. */
struct vs_sim_alias;
struct vs_sim_alias *vs_sim_alias_ref(uint64_t id);
void vs_sim_alias_unref(struct vs_sim_alias *alias);
/* vs_sim_alias_access: check and enter *access*, to a mapping that begins at *base*. */
void vs_sim_alias_access(struct vs_sim_alias *alias, uintptr_t base,
                         const struct vs_sim_access *access, vs_sim_conflict conflict, void *to);

/* vs_sim_owned_near: is, or was, any of [begin, end) CUDA's? */
bool vs_sim_owned_near(uintptr_t begin, uintptr_t end);
/* Grows whenever an answer of vs_sim_owned_near may have become true. */
extern atomic_uint vs_sim_owned_generation;

#define VS_SIM_ACCESS_PAGEABLE 1u /* the program's own memory when submitted, and maybe again */
#define VS_SIM_ACCESS_CARRIES 2u  /* does not look at the bytes: a copy within devices */

/* vs_sim_check_access: check and enter *access* of memory. *flags*: as above. */
void vs_sim_check_access(const struct vs_sim_access *access, unsigned flags);
/* vs_sim_check_copy_unwritten: a copy within devices carries what was not written. */
void vs_sim_check_copy_unwritten(uintptr_t from, uintptr_t to, size_t bytes);
/* vs_sim_check_unwritten_to: keep reads of never-written bytes in *check* instead of
 * reporting them, until called with NULL. */
void vs_sim_check_unwritten_to(struct vs_sim_check_op *check);
/* vs_sim_check_unwritten_end: the kernel of *check* is done: report what it kept.
 * When several threads ran it, their order is not known, and bytes that it has
 * written itself meanwhile are left out. */
void vs_sim_check_unwritten_end(struct vs_sim_check_op *check);
/* vs_sim_check_unknown_kernel: a kernel ran whose writes nobody knows. */
void vs_sim_check_unknown_kernel(void);
/* vs_sim_check_unseen_kernels: how many kernels ran of which it is not known what
 * they touch, though they are given memory or have no host function. Locked. */
uint64_t vs_sim_check_unseen_kernels(void);

/* ---- stacks ---- */

/* vs_sim_stack_here: a number for the calling thread's stack outside this library;
 * 0: not recorded. Any thread. */
uint32_t vs_sim_stack_here(void);
/* vs_sim_stack_print: at most *max* frames, one a line, indented, into *text*;
 * returns how many bytes it is long. One thread at a time. */
size_t vs_sim_stack_print(uint32_t stack, unsigned max, char *text, size_t bytes);

/* vs_sim_stack_name: *symbol* as C++ has it, into *text*, when the process can tell;
 * else as it is. */
const char *vs_sim_stack_name(const char *symbol, char *text, size_t bytes);

/* ---- reports ---- */

enum vs_sim_report_kind {
    VS_SIM_REPORT_RACE,          /* two accesses */
    VS_SIM_REPORT_FREED,         /* access after the free */
    VS_SIM_REPORT_FREED_IN_USE,  /* free while an access may still run */
    VS_SIM_REPORT_EARLY,         /* access not ordered after the allocation: the last of work */
    VS_SIM_REPORT_FREED_POINTER, /* a call was given freed memory */
    VS_SIM_REPORT_UNWRITTEN,
    VS_SIM_REPORT_DOUBLE_FREE,
    VS_SIM_REPORT_FOREIGN_FREE,
    VS_SIM_REPORT_LEAK,
    VS_SIM_REPORT_KINDS
};

struct vs_sim_found {
    enum vs_sim_report_kind kind;
    uintptr_t address;
    size_t bytes;
    const struct vs_sim_owned *block;    /* NULL: none */
    struct vs_sim_actor *first, *second; /* in the order they came; may be NULL */
    enum vs_sim_how first_how, second_how;
    uint64_t count; /* LEAK: allocations */
};

/* vs_sim_check_found: queue a report unless one of the same kind and sites has
 * been made. Locked. */
void vs_sim_check_found(const struct vs_sim_found *found);
/* vs_sim_check_print: print what is queued. Unlocked. */
void vs_sim_check_print(void);
/* vs_sim_check_failed: shall the process fail, and has work done what it must not? */
bool vs_sim_check_failed(void);

#endif
