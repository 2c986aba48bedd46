/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses the text of PyTorch's PYTORCH_ALLOC_CONF and PYTORCH_CUDA_ALLOC_CONF into an allocator's
 * configuration: comma-separated key:value, lists in brackets, white space ignored. Keys and
 * allowed values are those of PyTorch's AllocatorConfig.cpp and CUDAAllocatorConfig.cpp (2026); our
 * own keys begin with vramscope_. This code does not read the environment, allocate or print: the
 * text and the buffers for messages come from the caller. */
#ifndef VS_ALLOC_CONF_H
#define VS_ALLOC_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "base/vs_err.h"

/* Longest supported text, in bytes that are not white space. */
#define VS_ALLOC_CONF_MAX 4096
#define VS_ALLOC_CONF_MESSAGE_MAX 256
#define VS_ALLOC_CONF_KEY_MAX 64

enum vs_alloc_conf_backend {
    VS_BACKEND_NATIVE,
    VS_BACKEND_MALLOC_ASYNC, /* cudaMallocAsync: the driver's pools, not this allocator */
};

struct vs_alloc_conf {
    /* Fields that the text can set: max_split_size, max_non_split_rounding, large_segment_size,
     * roundup_power2_divisions, garbage_collection_threshold, expandable_segments,
     * expandable_reserve_*, memory_fraction, tie. The others are unchanged. */
    struct vs_allocator_config config;
    enum vs_alloc_conf_backend backend;
    /* Parsed, but without effect in this allocator. */
    bool release_lock_on_cudamalloc, graph_capture_record_stream_reuse, throw_on_cudamalloc_oom;
    bool pinned_use_cuda_host_register, pinned_use_background_threads, pinned_free_catch_all;
    uint32_t pinned_num_register_threads;    /* 0: not given */
    uint64_t pinned_reserve_segment_size_mb; /* 0: not given */
};

/* Receiver of messages: one line each, without a newline, printable characters only. */
struct vs_alloc_conf_messages {
    /* An option is ignored or may be interpreted differently than intended. May be NULL. */
    void (*warn)(void *ctx, const char *message);
    void *ctx;
    char error[VS_ALLOC_CONF_MESSAGE_MAX]; /* set when the text is rejected */
    char unknown[VS_ALLOC_CONF_KEY_MAX];   /* the first unknown key, shortened; "": there is none */
};

/* vs_alloc_conf_parse: parses *text* of *length* bytes, any bytes, into *conf*; fields not named in
 * the text stay. Unknown keys are skipped with a warning that names them; of a repeated key the
 * last one counts. *Returns* VS_ERR_ARG for a value that PyTorch would reject, a missing ':' or
 * ']', or a text that is too long; *messages* then has the key, the value and the allowed values,
 * and *conf* is unchanged. Any thread. The result passes vs_allocator_create's checks of a
 * configuration, except that expandable segments need handles of whole pages: an odd
 * large_segment_size_mb is rejected together with expandable_segments:True. */
enum vs_err vs_alloc_conf_parse(const char *text, size_t length, struct vs_alloc_conf *conf,
                                struct vs_alloc_conf_messages *messages) VS_MUST_CHECK;

/* vs_alloc_conf_key: the known key with number *index*, from 0; NULL after the last one. */
const char *vs_alloc_conf_key(size_t index);

#endif
