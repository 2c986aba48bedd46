/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a training program is, from who allocates: passes of the autograd engine, steps of
 * optimizers, repeated forward code, failures. Each is counted; a block remembers the counts at its
 * birth and compares them later. A backward pass begins with the first memory event of the engine
 * and ends with the next allocation by Python code on another thread: the calling thread waits
 * meanwhile. Not thread-safe. */
#ifndef VS_PROGRAM_CLOCK_H
#define VS_PROGRAM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/naming/maker.h"
#include "base/vs_map.h"

struct vs_program_counts {
    uint32_t begun, ended; /* backward passes */
    uint32_t recomputed;   /* ends of repeated forward code inside them */
    uint32_t optimized;    /* ends of optimizer steps */
    uint32_t outside;      /* times that code outside of modules followed forward code */
    uint32_t failed;       /* failed allocations */
    uint32_t broken;       /* of these, inside a backward pass, which ends it */
};

/* Zero-initialise; the user frees *roles*. */
struct vs_program_clock {
    struct vs_program_counts now;
    bool in_backward, in_optimizer, in_forward, in_recompute;
    bool no_threads; /* the trace does not tell threads apart: an imported one */
    bool failing;    /* an allocation failed and none has succeeded since */
    uint32_t broken_ended; /* now.ended at the latest broken pass */
    uint32_t optimizer_tid, main_tid;
    struct vs_map roles; /* tid + 1 -> enum vs_thread_role */
};

enum vs_thread_role { VS_THREAD_PLAIN = 1, VS_THREAD_ENGINE = 2 };

bool vs_clock_is_engine(const struct vs_program_clock *clock, uint32_t tid);

/* vs_clock_maker: who made a block of *site* that thread *tid* allocates now: forward code on an
 * engine's thread is a recomputation, for example. *assumed*: by elimination. */
enum vs_maker vs_clock_maker(const struct vs_program_clock *clock, const struct vs_maker_site *site,
                             uint32_t tid, bool python_trace, bool *assumed);

/* vs_clock_alloc: an allocation by *maker* on *tid*; before the block's birth. */
void vs_clock_alloc(struct vs_program_clock *clock, const struct vs_maker_site *site,
                    enum vs_maker maker, uint32_t tid);

/* vs_clock_free: *tid* frees a block with the counts *born*; before its end. */
void vs_clock_free(struct vs_program_clock *clock, uint32_t tid, enum vs_maker maker,
                   const struct vs_program_counts *born);

/* vs_clock_fail: an allocation failed. */
void vs_clock_fail(struct vs_program_clock *clock);

/* vs_clock_outlived: whether a block with the counts *born* outlived the backward pass that made
 * it, as far as is known. What a failure leaves behind did not. */
bool vs_clock_outlived(const struct vs_program_clock *clock, const struct vs_program_counts *born);

/* vs_clock_range: a range named *name* is opened on the main thread. */
void vs_clock_range(struct vs_program_clock *clock, const char *name);

/* vs_clock_finish: the program's own code ended the trace, which a snapshot's code does: passes and
 * steps that are open end here, except after a failure. Returns whether they did. */
bool vs_clock_finish(struct vs_program_clock *clock);

#endif
