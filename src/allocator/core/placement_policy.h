/* SPDX-License-Identifier: Apache-2.0
 *
 * A placement policy: a row of base/vs_policy_table.h and, in its own file, a struct vs_policy.
 * Callers read properties from the table and never compare with one policy. All of it is immutable;
 * the functions are called with the full lock held. */
#ifndef VS_PLACEMENT_POLICY_H
#define VS_PLACEMENT_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vs_err.h"

struct vs_allocator;
struct vs_allocator_config;
struct vs_block;
struct vs_request;

enum vs_policy_id {
#define VS_POLICY(ID, name, option) VS_POLICY_##ID,
#include "base/vs_policy_table.h"
#undef VS_POLICY
    VS_POLICY_COUNT
};

struct vs_policy {
    const char *name;
    bool mapped;  /* memory is mapped on demand: needs virtual memory, has no legacy IPC */
    bool tunable; /* reads the options that tune PyTorch's rules */
    uint64_t small_max; /* larger requests have the large pool; 0: all requests share one pool */

    /* Adapts a configuration to the policy. May be NULL. */
    void (*configure)(struct vs_allocator_config *config);
    /* The block to use when the best fit for *request* is *block*, in a range; NULL: none. May be
     * NULL: then that block is used. Needs only the lock of its shard. */
    struct vs_block *(*fit)(const struct vs_request *request, struct vs_block *block);
    /* A free block for *request*, TAKEN; NULL when there is none. Makes no device call. */
    struct vs_block *(*search)(struct vs_allocator *allocator, const struct vs_request *request);
    /* One attempt to get memory from the device: a TAKEN block. On VS_ERR_DEVICE_OOM the
     * allocator releases cached memory and tries once more. */
    enum vs_err (*grow)(struct vs_allocator *allocator, const struct vs_request *request,
                        struct vs_block **out);
};

#define VS_POLICY(ID, name, option) extern const struct vs_policy vs_policy_##name;
#include "base/vs_policy_table.h"
#undef VS_POLICY

extern const struct vs_policy *const vs_policies[VS_POLICY_COUNT];

/* The policy with the name *name*; NULL when there is none. */
const struct vs_policy *vs_policy_named(const char *name);
/* The policy of the cache according to a trace: "caching" (the first of the table) or
 * "caching (NAME)"; NULL without a cache. */
const struct vs_policy *vs_policy_of_trace(const char *text);
/* Bytes needed from the device for a request that no cached block can serve: a segment, or whole
 * pages where memory is mapped and without a cache (NULL). Requests above the maximum are returned
 * unchanged. */
uint64_t vs_policy_device_bytes(const struct vs_policy *policy, uint64_t bytes);

#endif
