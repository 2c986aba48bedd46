/* SPDX-License-Identifier: Apache-2.0
 *
 * How the allocators of this process place memory, and how much they may take. The
 * options say it, read once at the start; a fraction may be set at any time and holds
 * for what exists and for what will. A wish that cannot be met on this device costs
 * one line, never the program. */
#include "intercept/policy.h"

#include <stdatomic.h>

#include "base/vs_log.h"
#include "intercept/device_ops.h"
#include "intercept/process.h"
#include "intercept/tracker.h"

static _Atomic double fractions[VS_DEVICES_MAX]; /* atomic; 0: no limit */

/* Does an allocator with this configuration come into being? */
static bool possible(const struct vs_context *context, const struct vs_device_ops *ops,
                     const struct vs_allocator_config *config)
{
    struct vs_allocator *probe;
    if (vs_allocator_create(config, ops, (void *)(uintptr_t)context, NULL, NULL, &probe))
        return false;
    vs_allocator_destroy(probe);
    return true;
}

static void choose_policy(const struct vs_context *context, const struct vs_device_ops *ops,
                          struct vs_allocator_config *config)
{
    if (!vs_option_is(vs_process_options(), VS_OPT_policy, "compact"))
        return;
    struct vs_allocator_config wish = *config;
    wish.policy = VS_POLICY_COMPACT;
    if (ops->range_reserve && possible(context, ops, &wish))
        *config = wish;
    else
        vs_log_once(VS_LOG_WARN, "the policy compact needs virtual memory, which device %u does not "
                                 "offer; using pytorch", context->device);
}

void vs_policy_config(const struct vs_context *context, const struct vs_device_ops *ops,
                      enum vs_reuse reuse, struct vs_allocator_config *config)
{
    *config = (struct vs_allocator_config){.reuse = reuse};
    choose_policy(context, ops, config);
    config->memory_fraction = atomic_load(&fractions[context->device]);
}

enum vs_err vs_policy_set_fraction(uint32_t device, double fraction)
{
    if (device >= VS_DEVICES_MAX || !(fraction >= 0 && fraction <= 1))
        return VS_ERR_ARG;
    atomic_store(&fractions[device], fraction);
    enum vs_err first_error = VS_OK;
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        for (int i = 0; c->device == device && i < VS_CONTEXT_ALLOCATORS; i++) {
            struct vs_allocator *allocator = vs_context_allocator_at(c, i);
            enum vs_err err =
                allocator ? vs_allocator_set_memory_fraction(allocator, fraction) : VS_OK;
            if (err && !first_error)
                first_error = err;
        }
    }
    return first_error;
}

bool vs_policy_allows(const struct vs_context *context, uint64_t bytes)
{
    double fraction = atomic_load(&fractions[context->device]);
    uint64_t free_bytes, total_bytes;
    struct vs_device_counters counters;
    if (fraction == 0 || fraction == 1 ||
        vs_device_memory_info(context, &free_bytes, &total_bytes) ||
        vs_track_device(context->device, &counters))
        return true;
    return (double)counters.reserved + (double)bytes <= fraction * (double)total_bytes;
}
