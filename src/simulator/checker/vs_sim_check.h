/* SPDX-License-Identifier: Apache-2.0
 *
 * The checker as the rest of the driver sees it: it is told what is submitted,
 * what runs, what the host waited for, and what is allocated and freed, and
 * reports work whose order nothing guarantees (drv_check.c and its siblings).
 * Every call begins with `if (vs_sim_checking)`, the only cost when it is off.
 *
 * Lock order: the checker's lock is taken with any of the driver's held and takes
 * none itself. Reports are printed after it has been released. */
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

/* vs_sim_check_start: by cuInit, when the spec asks for it. */
void vs_sim_check_start(void);

/* ---- work ---- */

/* vs_sim_check_op: the checker's part of an op, with the caller's stack. NULL: no
 * host memory, the op goes unchecked. */
struct vs_sim_check_op *vs_sim_check_op(void);
void vs_sim_check_op_free(struct vs_sim_check_op *check);
/* vs_sim_check_made: that stack, for work that is kept instead of submitted. */
uint32_t vs_sim_check_made(const struct vs_sim_check_op *check);
/* vs_sim_check_stack: the calling thread's stack, for work that is described. */
uint32_t vs_sim_check_stack(void);
/* vs_sim_check_submitted: *op* is about to get its number; under submit_mu. */
void vs_sim_check_submitted(struct vs_sim_op *op);
/* vs_sim_check_launch: a kernel's arguments are in *op*. */
void vs_sim_check_launch(struct vs_sim_op *op);
/* vs_sim_check_begin, _end: around the execution of *op*, whose dependencies are done. */
void vs_sim_check_begin(struct vs_sim_stream *stream, struct vs_sim_op *op);
void vs_sim_check_end(struct vs_sim_stream *stream, struct vs_sim_op *op);
/* vs_sim_check_stream_new: *stream* begins a life, maybe not its first. */
void vs_sim_check_stream_new(struct vs_sim_stream *stream);
/* vs_sim_check_retired: *stream* is closed and has done all its work. */
void vs_sim_check_retired(struct vs_sim_stream *stream);

/* ---- what the host knows ---- */

/* vs_sim_check_synced: the program has been told that *stream* has completed *seq*. */
void vs_sim_check_synced(struct vs_sim_stream *stream, uint64_t seq);
/* vs_sim_check_synced_elsewhere: an event that another process recorded has been
 * passed; it may have waited for all that this one has recorded for others. */
void vs_sim_check_synced_elsewhere(void);
/* vs_sim_check_context_synced: likewise all closed streams of *ctx*. */
void vs_sim_check_context_synced(struct vs_sim_context *ctx);

/* ---- memory ---- */

/* vs_sim_check_range_added, _removed: by drv_range.c. They count as the calling
 * thread's, now, unless it said otherwise with one of the next two. */
void vs_sim_check_range_added(const struct vs_sim_range *range);
/* Physical memory is gone: no handle and no mapping is left of it. */
void vs_sim_check_physical_gone(uint64_t id);
void vs_sim_check_range_removed(const struct vs_sim_range *range);
/* vs_sim_check_defer: what this thread adds or removes until it calls this with
 * NULL takes place when *op* runs. */
void vs_sim_check_defer(struct vs_sim_op *op);
/* vs_sim_check_ending: this thread has asked for the free of *range* in stream order,
 * by an op that says so itself. */
void vs_sim_check_ending(const struct vs_sim_range *range);
/* vs_sim_check_unsynced: what this thread removes until vs_sim_check_unsynced(false)
 * counts with what the host knows now: a wait on the way is not documented. */
void vs_sim_check_unsynced(bool on);
/* vs_sim_check_pointer: a call was given *address*, where there is no memory that
 * CUDA knows. */
void vs_sim_check_pointer(uintptr_t address, size_t bytes);
/* vs_sim_check_unreserved: the addresses are given back to the system; nothing of
 * CUDA's is there. */
void vs_sim_check_unreserved(uintptr_t base, size_t bytes);
/* vs_sim_check_bad_free: a freeing call refuses *address*. */
void vs_sim_check_bad_free(uintptr_t address);
/* vs_sim_check_leaks: *ctx* is about to be destroyed with what it still owns. */
void vs_sim_check_leaks(const struct vs_sim_context *ctx);

/* ---- host functions of kernels ---- */

/* vs_sim_check_kernel: which kernel this thread runs; NULL: none. */
struct vs_sim_op *vs_sim_check_kernel(void);
/* vs_sim_check_kernel_enter: this thread runs a part of *op*. Returns what it ran
 * before, for vs_sim_check_kernel_leave, which enters what was declared. */
struct vs_sim_op *vs_sim_check_kernel_enter(struct vs_sim_op *op);
void vs_sim_check_kernel_leave(struct vs_sim_op *before);

#endif
