/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory pools, internal: functions of drv_pool_memory.c (segments, blocks, reuse) for drv_pool.c
 * (the entry points). */
#ifndef VS_SIM_POOL_H
#define VS_SIM_POOL_H

#include "simulator/driver/vs_sim_driver.h"

#define VS_SIM_POOL_MARK 0x7673504fu
#define VS_SIM_POOL_GONE 0x7673504eu

#define VS_SIM_POOL_CLASSES 256 /* free blocks by size, four to each power of two */

struct vs_sim_pool_segment;
struct vs_sim_pool_block;

struct vs_sim_pool {
    atomic_uint mark;
    int device;
    bool is_default;
    size_t max_bytes;   /* 0: no limit of its own */
    int store;          /* of a shareable or imported pool, its memory file; else -1 */
    bool imported;      /* of another process: segments are single imported blocks */
    pthread_mutex_t mu; /* guards the rest */
    uint64_t store_next; /* offsets in the file are never reused */
    struct vs_sim_pool_segment *segments;
    bool apart; /* free neighbours wait for different streams */
    struct vs_sim_pool_block *free[VS_SIM_POOL_CLASSES];
    uint64_t release_threshold;
    uint64_t reserved, reserved_high, used, used_high;
    int reuse_opportunistic, reuse_internal, reuse_events;
    bool readable[VS_SIM_DEVICES_MAX]; /* cuMemPoolSetAccess */
    struct vs_sim_pool *next;          /* all ever */
};

/* vs_sim_pool_new: *store* (-1: none): the memory file of a shareable or imported pool, which it
 * takes over. */
struct vs_sim_pool *vs_sim_pool_new(int device, size_t max_bytes, int store);
/* vs_sim_pool_default: created at first use. */
struct vs_sim_pool *vs_sim_pool_default(struct vs_sim_device *device);
/* vs_sim_pool_alloc: memory of its pool for *range*, whose bytes and pool are set, for use in
 * *stream* from now on. If the memory was freed in another stream that may still use it, *stream*
 * must first wait for (*wait_stream*, *wait_seq*); otherwise *wait_stream* is NULL.
 * CUDA_ERROR_OUT_OF_MEMORY. */
CUresult vs_sim_pool_alloc(struct vs_sim_range *range, struct vs_sim_stream *stream,
                           struct vs_sim_stream **wait_stream, uint64_t *wait_seq);
/* vs_sim_pool_import: likewise the memory at *offset* of an imported pool's file. */
CUresult vs_sim_pool_import(struct vs_sim_range *range, uint64_t offset);
/* vs_sim_pool_trim: releases unused segments until *keep* bytes remain reserved. */
void vs_sim_pool_trim(struct vs_sim_pool *pool, uint64_t keep);

#endif
