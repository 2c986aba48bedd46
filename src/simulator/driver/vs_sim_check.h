/* SPDX-License-Identifier: Apache-2.0
 *
 * The checker's interface to the rest of the driver. The driver reports submissions, executions,
 * waits of the host, allocations and frees; the checker reports work whose order nothing guarantees
 * (drv_check.c and its siblings). Every call begins with `if (vs_sim_checking)`, the only cost when
 * it is off.
 *
 * Lock order: the checker's lock is taken with any of the driver's held and takes none itself.
 * Reports are printed after its release. */
#ifndef VS_SIM_CHECK_H
#define VS_SIM_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vs_sim_context;
struct vs_sim_check_context;
struct vs_sim_check_op;
struct vs_sim_lane;
struct vs_sim_op;
struct vs_sim_range;
struct vs_sim_stream;

extern bool vs_sim_checking; /* immutable after cuInit */

/* vs_sim_check_start: called by cuInit if the spec enables the checker. */
void vs_sim_check_start(void);

/* ---- work ---- */

/* vs_sim_check_op: creates the checker's part of an op, with the caller's stack. */
struct vs_sim_check_op *vs_sim_check_op(void);
void vs_sim_check_op_free(struct vs_sim_check_op *check);
/* vs_sim_check_made: that stack, for work that is stored instead of submitted. */
uint32_t vs_sim_check_made(const struct vs_sim_check_op *check);
/* vs_sim_check_stack: the calling thread's stack, for work that is described but not submitted. */
uint32_t vs_sim_check_stack(void);
/* vs_sim_check_submitted: called before *op* gets its number; under submit_mu. */
void vs_sim_check_submitted(struct vs_sim_op *op);
/* vs_sim_check_launch: called when a kernel's arguments are in *op*. */
void vs_sim_check_launch(struct vs_sim_op *op);
/* vs_sim_check_begin, _end: called before and after *op* runs; its dependencies are complete. */
void vs_sim_check_begin(struct vs_sim_stream *stream, struct vs_sim_op *op);
void vs_sim_check_end(struct vs_sim_stream *stream, struct vs_sim_op *op);
/* vs_sim_check_stream_new: *stream* was created; the object may have been used before. */
void vs_sim_check_stream_new(struct vs_sim_stream *stream);
/* vs_sim_check_retired: *stream* is destroyed and its work is complete. */
void vs_sim_check_retired(struct vs_sim_stream *stream);

/* ---- completions reported to the host ---- */

/* vs_sim_check_synced: the program has learned that *stream* completed *seq*. */
void vs_sim_check_synced(struct vs_sim_stream *stream, uint64_t seq);
/* vs_sim_check_synced_elsewhere: a wait for an event that another process recorded has passed; that
 * process may have waited for everything that this one recorded for others. */
void vs_sim_check_synced_elsewhere(void);
/* vs_sim_check_context_synced: as vs_sim_check_synced, for all destroyed streams of *ctx*. */
void vs_sim_check_context_synced(struct vs_sim_context *ctx);

/* ---- memory ---- */

/* vs_sim_check_range_added, _removed: called by drv_range.c. They take effect now, as done by the
 * calling thread, unless one of the next two functions changed that. */
void vs_sim_check_range_added(const struct vs_sim_range *range);
/* The last handle and the last mapping of the physical memory are gone. */
void vs_sim_check_physical_gone(uint64_t id);
void vs_sim_check_range_removed(const struct vs_sim_range *range);
/* vs_sim_check_defer: ranges that this thread adds or removes take effect when *op* runs, until it
 * calls this with NULL. */
void vs_sim_check_defer(struct vs_sim_op *op);
/* vs_sim_check_ending: this thread has freed *range* in stream order; the op reports the free
 * itself. */
void vs_sim_check_ending(const struct vs_sim_range *range);
/* vs_sim_check_unsynced: removals by this thread until vs_sim_check_unsynced(false) are checked
 * against the host's clock of now: a wait inside the call is not documented. */
void vs_sim_check_unsynced(bool on);
/* vs_sim_check_pointer: a call received *address*, which is not CUDA memory. */
void vs_sim_check_pointer(uintptr_t address, size_t bytes);
/* vs_sim_check_unreserved: the addresses were returned to the system; no CUDA memory is there. */
void vs_sim_check_unreserved(uintptr_t base, size_t bytes);
/* vs_sim_check_bad_free: a free function rejected *address*. */
void vs_sim_check_bad_free(uintptr_t address);
/* vs_sim_check_leaks: *ctx* is about to be destroyed together with the memory it owns. */
void vs_sim_check_leaks(const struct vs_sim_context *ctx);

/* ---- host functions of kernels ---- */

/* vs_sim_check_kernel: the kernel that this thread runs; NULL: none. */
struct vs_sim_op *vs_sim_check_kernel(void);
/* vs_sim_check_kernel_enter: this thread begins to run a part of *op*. Returns the previous kernel,
 * to be passed to vs_sim_check_kernel_leave, which enters the declared accesses. */
struct vs_sim_op *vs_sim_check_kernel_enter(struct vs_sim_op *op);
void vs_sim_check_kernel_leave(struct vs_sim_op *before);

#endif
