/* SPDX-License-Identifier: Apache-2.0
 *
 * Internal interface of the checker: drv_check.c (order), drv_check_memory.c (allocations),
 * drv_check_kernel.c (accesses of host functions), drv_check_report.c and drv_check_stack.c. */
#ifndef VS_SIM_CHECK_INTERNAL_H
#define VS_SIM_CHECK_INTERNAL_H

#include "simulator/driver/vs_sim_check.h"
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/checker/vs_sim_shadow.h"
#include "simulator/memory/vs_sim_memory.h"

enum vs_sim_check_what {
    VS_SIM_WHAT_CALL, /* any call of the host */
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
    struct vs_sim_owned *left, *right; /* in the tree of current owners of addresses */
    struct vs_sim_owned *next, **link; /* in the list of pending or of freed blocks */
    enum vs_sim_owned_state state;
    enum vs_sim_range_kind kind;
    uintptr_t base;
    size_t bytes;
    uint64_t id;
    const struct vs_sim_context *ctx;
    int device;
    bool variable; /* of a module */
    bool any_written; /* an unknown access may have written it */
    uint64_t born;    /* unknown kernels counted before it */
    struct vs_sim_actor *alloc, *freed;
    struct vs_sim_actor *ending; /* the call that freed it in stream order */
    struct vs_sim_actor *uses[VS_SIM_USES_MAX]; /* kernels that received it as an argument */
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
    struct vs_sim_clock *host; /* the host's clock at that time */
    struct vs_sim_clock *clock; /* from vs_sim_check_begin on */
    struct vs_sim_actor *actor; /* likewise */
    struct vs_sim_owned *begins; /* allocation that takes effect here */
    uintptr_t ends_base;
    uint64_t ends_id; /* range that is freed here; 0: none */
    const void *thread; /* the thread that declared accesses of the kernel */
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

/* vs_sim_check_lock/unlock: the one lock of the checker. unlock prints the reports queued
 * meanwhile, release does not. */
void vs_sim_check_lock(void);
void vs_sim_check_unlock(void);
void vs_sim_check_release(void);

/* vs_sim_check_host_actor: a new event of the host, with the caller's stack. Locked. */
struct vs_sim_actor *vs_sim_check_host_actor(enum vs_sim_check_what what, uint32_t stack);
/* vs_sim_check_host_clock: the host's clock. Locked. */
struct vs_sim_clock *vs_sim_check_host_clock(void);

/* vs_sim_owned_new: a block for *range*. */
struct vs_sim_owned *vs_sim_owned_new(const struct vs_sim_range *range);
/* vs_sim_owned_begin: *block*, whose alloc is set, becomes the owner of its addresses. Locked, as
 * the following functions. */
void vs_sim_owned_begin(struct vs_sim_owned *block);
void vs_sim_owned_drop(struct vs_sim_owned *pending);
/* vs_sim_owned_end: the range at *base* with *id* is freed by *actor*. */
void vs_sim_owned_end(uintptr_t base, uint64_t id, struct vs_sim_actor *actor,
                      const struct vs_sim_clock *clock);
/* vs_sim_owned_use: *actor* has a pointer to *address*, which belonged to range *id* at
 * submission. */
void vs_sim_owned_use(uintptr_t address, uint64_t id, struct vs_sim_actor *actor,
                      const struct vs_sim_clock *clock);
/* vs_sim_owned_written: the kernel with that pointer may have written any byte of the range (*id*
 * 0: of the current owner of the address). */
void vs_sim_owned_written(uintptr_t address, uint64_t id);

/* vs_sim_alias_ref: accesses to the physical memory *id* by any address. Release it with vs_sim_alias_unref, which accepts NULL. */
struct vs_sim_alias;
struct vs_sim_alias *vs_sim_alias_ref(uint64_t id);
void vs_sim_alias_unref(struct vs_sim_alias *alias);
/* vs_sim_alias_access: checks and enters *access* to a mapping that begins at *base*. */
void vs_sim_alias_access(struct vs_sim_alias *alias, uintptr_t base,
                         const struct vs_sim_access *access, vs_sim_conflict conflict, void *to);

/* vs_sim_owned_near: does, or did, any of [begin, end) belong to CUDA? */
bool vs_sim_owned_near(uintptr_t begin, uintptr_t end);
/* Grows whenever a result of vs_sim_owned_near may have become true. */
extern atomic_uint vs_sim_owned_generation;

/* the program's own memory at submission; it may be freed and reused */
#define VS_SIM_ACCESS_PAGEABLE 1u
#define VS_SIM_ACCESS_CARRIES 2u  /* does not use the values: a copy within devices */

/* vs_sim_check_access: checks and enters *access* to memory. *flags*: as above. */
void vs_sim_check_access(const struct vs_sim_access *access, unsigned flags);
/* vs_sim_check_copy_unwritten: a copy within devices makes the target bytes unwritten where the
 * source bytes are. */
void vs_sim_check_copy_unwritten(uintptr_t from, uintptr_t to, size_t bytes);
/* vs_sim_check_unwritten_to: stores reads of never-written bytes in *check* instead of reporting
 * them, until called with NULL. */
void vs_sim_check_unwritten_to(struct vs_sim_check_op *check);
/* vs_sim_check_unwritten_end: the kernel of *check* has finished: reports the stored reads. If
 * several threads ran it, their order is unknown, and bytes that the kernel itself wrote are left
 * out. */
void vs_sim_check_unwritten_end(struct vs_sim_check_op *check);
/* vs_sim_check_unknown_kernel: a kernel ran whose writes are unknown. */
void vs_sim_check_unknown_kernel(void);
/* vs_sim_check_unseen_kernels: number of kernels that ran with unknown accesses although they
 * received memory or have no host function. Locked. */
uint64_t vs_sim_check_unseen_kernels(void);

/* ---- stacks ---- */

/* vs_sim_stack_here: the number of the calling thread's stack outside this library; 0: not
 * recorded. Any thread. */
uint32_t vs_sim_stack_here(void);
/* vs_sim_stack_frames: its return addresses, innermost first, valid for the life of the process; NULL
 * and 0 if it was not recorded. */
void *const *vs_sim_stack_frames(uint32_t stack, size_t *count);
/* vs_sim_stack_print: writes at most *max* frames, one a line, indented, to *text*; returns the
 * length in bytes. One thread at a time. */
size_t vs_sim_stack_print(uint32_t stack, unsigned max, char *text, size_t bytes);

/* vs_sim_stack_name: writes the demangled *symbol* to *text* if the process has a demangler; else
 * returns it unchanged. */
const char *vs_sim_stack_name(const char *symbol, char *text, size_t bytes);

/* ---- reports ---- */

enum vs_sim_report_kind {
    VS_SIM_REPORT_RACE,          /* two accesses */
    VS_SIM_REPORT_FREED,         /* access after the free */
    VS_SIM_REPORT_FREED_IN_USE,  /* free while an access may still run */
    /* access not ordered after the allocation: last of the kinds about work */
    VS_SIM_REPORT_EARLY,
    VS_SIM_REPORT_FREED_POINTER, /* a call received freed memory */
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
    struct vs_sim_actor *first, *second; /* in program order; may be NULL */
    enum vs_sim_how first_how, second_how;
    uint64_t count; /* LEAK: allocations */
};

/* vs_sim_check_found: queues a report unless one of the same kind and code locations was made
 * before. Locked. */
void vs_sim_check_found(const struct vs_sim_found *found);
/* vs_sim_check_print: prints the queued reports. Unlocked. */
void vs_sim_check_print(void);
/* vs_sim_check_failed: true if the spec asks for an exit status and an error was found. */
bool vs_sim_check_failed(void);

#endif
