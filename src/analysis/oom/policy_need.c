/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/oom/policy_need.h"

#include <stdlib.h>

#include "allocator/core/allocator.h"
#include "analysis/state/address_device.h"

/* Represents any other stream that uses a block. */
#define OTHER_STREAM (UINT64_C(1) << 32)

/* More than any device has: the trace is damaged, and its pages would take a long time. */
#define PEAK_MAX (UINT64_C(16) << 40)

static enum vs_err do_step(struct vs_allocator *a, const struct vs_planner_step *step,
                           uint64_t *addrs)
{
    struct vs_allocation got;
    switch (step->kind) {
    case VS_PLANNER_ALLOC: {
        enum vs_err err = vs_allocator_malloc(a, step->bytes, step->lane, &got);
        addrs[step->request] = err ? 0 : got.addr;
        return err;
    }
    case VS_PLANNER_USE:
        return vs_allocator_record_stream(a, addrs[step->request], OTHER_STREAM);
    default: return vs_allocator_free(a, addrs[step->request]);
    }
}

static struct vs_policy_need need(const struct vs_planner_step *steps, size_t count,
                                  const struct vs_allocator_config *config, uint64_t total,
                                  uint64_t *addrs)
{
    struct vs_policy_need out = {0, VS_OK};
    struct vs_address_device device;
    struct vs_allocator_stats stats;
    struct vs_allocator *allocator = NULL;
    vs_address_device_init(&device, total, VS_PLANNER_LAG);
    out.err = vs_allocator_create(config, &vs_address_device_ops, &device, NULL, NULL, &allocator);
    for (size_t i = 0; i < count && !out.err; i++) {
        device.now = i;
        out.err = do_step(allocator, &steps[i], addrs);
    }
    if (!out.err) {
        vs_allocator_stats(allocator, &stats);
        out.reserved_bytes = stats.reserved_bytes[VS_STAT_ALL].peak;
    }
    vs_allocator_destroy(allocator);
    return out;
}

struct vs_policy_need vs_policy_need_of(const struct vs_planner *planner, uint64_t device_bytes,
                                        enum vs_policy_id policy)
{
    const struct vs_allocator_config config = {.policy = policy,
                                               .reuse = VS_REUSE_STREAM_ORDERED};
    size_t count;
    const struct vs_planner_step *steps = vs_planner_steps(planner, &count);
    uint64_t total = 4 * vs_planner_peak(planner) + (UINT64_C(1) << 30);
    if (vs_planner_peak(planner) > PEAK_MAX)
        return (struct vs_policy_need){0, VS_ERR_LIMIT};
    uint64_t *addrs = calloc(count + 1, sizeof *addrs);
    if (!addrs)
        return (struct vs_policy_need){0, VS_ERR_NOMEM};
    if (device_bytes > total)
        total = device_bytes;
    total &= ~(VS_PAGE_BYTES - 1);
    struct vs_policy_need out = need(steps, count, &config, total, addrs);
    free(addrs);
    return out;
}

void vs_policy_needs(const struct vs_planner *planner, uint64_t device_bytes,
                     struct vs_policy_need out[VS_POLICY_COUNT])
{
    for (int i = 0; i < VS_POLICY_COUNT; i++)
        out[i] = vs_policy_need_of(planner, device_bytes, (enum vs_policy_id)i);
}
