/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory pools inside: what drv_pool.c (the entry points) asks of
 * drv_pool_memory.c (segments, blocks, reuse). */
#ifndef VS_SIM_POOL_H
#define VS_SIM_POOL_H

#include "simulator/vs_sim_driver.h"

#define VS_SIM_POOL_MARK 0x7673504fu
#define VS_SIM_POOL_GONE 0x7673504eu

struct vs_sim_pool_segment;

struct vs_sim_pool {
    atomic_uint mark;
    int device;
    bool is_default;
    size_t max_bytes;   /* 0: no limit of its own */
    pthread_mutex_t mu; /* guards the rest */
    struct vs_sim_pool_segment *segments;
    uint64_t release_threshold;
    uint64_t reserved, reserved_high, used, used_high;
    int reuse_opportunistic, reuse_internal, reuse_events;
    bool readable[VS_SIM_DEVICES_MAX]; /* cuMemPoolSetAccess */
    struct vs_sim_pool *next;          /* all ever */
};

/* vs_sim_pool_new: NULL when the host has no memory. */
struct vs_sim_pool *vs_sim_pool_new(int device, bool is_default, size_t max_bytes);
/* vs_sim_pool_default: made at first use; NULL: no host memory. */
struct vs_sim_pool *vs_sim_pool_default(struct vs_sim_device *device);
/* vs_sim_pool_alloc: *bytes* for use in *stream* from now on. When the memory was
 * freed in another stream that is not done with it, (*wait_stream*, *wait_seq*) is
 * what *stream* must wait for first; otherwise *wait_stream* is NULL.
 * CUDA_ERROR_OUT_OF_MEMORY. */
CUresult vs_sim_pool_alloc(struct vs_sim_pool *pool, size_t bytes, struct vs_sim_stream *stream,
                           uintptr_t *address, struct vs_sim_stream **wait_stream,
                           uint64_t *wait_seq);
/* vs_sim_pool_trim: give segments nobody uses back, down to *keep* bytes reserved. */
void vs_sim_pool_trim(struct vs_sim_pool *pool, uint64_t keep);

#endif
