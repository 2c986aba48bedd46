/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of PyTorch's PYTORCH_ALLOC_CONF and PYTORCH_CUDA_ALLOC_CONF, turned into
 * an allocator's configuration: comma-separated key:value, lists in brackets, white
 * space ignored. Keys and allowed values are those of PyTorch's AllocatorConfig.cpp
 * and CUDAAllocatorConfig.cpp (2026); keys of our own begin with vramscope_. Nothing here reads the environment, allocates
 * or prints: the text comes from the caller, and so do the places for messages. */
#ifndef VS_ALLOC_CONF_H
#define VS_ALLOC_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "base/vs_err.h"

/* Longest text understood, in bytes that are not white space. */
#define VS_ALLOC_CONF_MAX 4096
#define VS_ALLOC_CONF_MESSAGE_MAX 256

enum vs_alloc_conf_backend {
    VS_BACKEND_NATIVE,
    VS_BACKEND_MALLOC_ASYNC, /* cudaMallocAsync: the driver's pools, not this allocator */
};

struct vs_alloc_conf {
    /* The fields the text can set are set: max_split_size, max_non_split_rounding,
     * large_segment_size, roundup_power2_divisions, garbage_collection_threshold,
     * expandable_segments, expandable_reserve_*, memory_fraction, tie. The others are as
     * the caller left them. */
    struct vs_allocator_config config;
    enum vs_alloc_conf_backend backend;
    /* Understood, without a meaning for this allocator. */
    bool release_lock_on_cudamalloc, graph_capture_record_stream_reuse, throw_on_cudamalloc_oom;
    bool pinned_use_cuda_host_register, pinned_use_background_threads, pinned_free_catch_all;
    uint32_t pinned_num_register_threads;    /* 0: not given */
    uint64_t pinned_reserve_segment_size_mb; /* 0: not given */
};

/* Where messages go: one line each, without a newline, printable characters only. */
struct vs_alloc_conf_messages {
    /* Something is ignored or read differently than it may be meant. May be NULL. */
    void (*warn)(void *ctx, const char *message);
    void *ctx;
    char error[VS_ALLOC_CONF_MESSAGE_MAX]; /* set when the text is refused */
};

/* vs_alloc_conf_parse: *text* of *length* bytes, any bytes at all, into *conf*, whose
 * fields the text does not name stay. Unknown keys are skipped with a warning that
 * names them; a repeated key counts the last time. *Returns* VS_ERR_ARG, and *messages*
 * says which key, which value and what is allowed, for a value PyTorch would refuse,
 * a missing ':' or ']', or a text that is too long; *conf* is unchanged then. Any
 * thread. The result passes vs_allocator_create's checks of a configuration, except
 * that expandable segments need handles of whole pages: a large_segment_size_mb that
 * is odd is refused together with expandable_segments:True. */
enum vs_err vs_alloc_conf_parse(const char *text, size_t length, struct vs_alloc_conf *conf,
                                struct vs_alloc_conf_messages *messages) VS_MUST_CHECK;

#endif
