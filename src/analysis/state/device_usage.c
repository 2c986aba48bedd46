/* SPDX-License-Identifier: Apache-2.0
 *
 * A row is valid until the next one of its kind; rows about single processes belong
 * to the preceding row about all of them. */
#include "analysis/state/device_usage.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/state/driver_pages.h"
#include "base/reading/vs_vec.h"

void vs_device_usage_row(struct vs_device_usage *usage, const struct vs_event *event)
{
    const struct vs_event_device_usage *row = &event->device_usage;
    switch (row->what) {
    case VS_USAGE_OWN:
        usage->own = row->bytes;
        usage->own_known = true;
        break;
    case VS_USAGE_OTHERS:
        usage->others = row->bytes;
        usage->others_count = row->count;
        usage->others_how = (unsigned)row->how;
        usage->others_seen = true;
        usage->process_count = 0;
        break;
    case VS_USAGE_PROCESS:
        if (usage->process_count < VS_BALANCE_PROCESSES)
            usage->process[usage->process_count++] =
                (struct vs_balance_process){row->pid, row->bytes};
        break;
    case VS_USAGE_POOLS:
        usage->pools = row->bytes;
        usage->pools_known = true;
        break;
    default: /* of a newer writer */
        break;
    }
}

static void add_overheads(struct vs_device_usage *usage)
{
    usage->overhead = 0;
    usage->at_most = false;
    for (size_t i = 0; i < usage->context_count; i++) {
        for (int what = 0; what < VS_OVERHEAD_WHAT_COUNT; what++)
            usage->overhead += (uint64_t)usage->contexts[i].bytes[what];
        usage->at_most |= usage->contexts[i].how == VS_OVERHEAD_AT_MOST;
    }
}

static struct vs_usage_context *context_for(struct vs_device_usage *usage, uint64_t context)
{
    size_t i = 0;
    while (i < usage->context_count && usage->contexts[i].context != context)
        i++;
    if (i == usage->context_count) {
        vs_vec_room(&usage->contexts, &usage->context_capacity, i + 1,
                    sizeof *usage->contexts);
        usage->contexts[usage->context_count++] = (struct vs_usage_context){.context = context};
    }
    return &usage->contexts[i];
}

void vs_device_usage_overhead(struct vs_device_usage *usage, const struct vs_event *event)
{
    if (event->overhead.what >= VS_OVERHEAD_WHAT_COUNT)
        return;
    struct vs_usage_context *context = context_for(usage, event->overhead.context);
    context->bytes[event->overhead.what] += (int64_t)event->overhead.bytes;
    if (event->overhead.what == VS_OVERHEAD_CONTEXT) {
        context->measured = true;
        context->how = (unsigned)event->overhead.how;
    }
    add_overheads(usage);
}

void vs_device_usage_context(struct vs_device_usage *usage, const struct vs_event *event)
{
    if (event->context.alive) {
        context_for(usage, event->context.context);
        return;
    }
    for (size_t i = 0; i < usage->context_count; i++) {
        if (usage->contexts[i].context != event->context.context)
            continue;
        usage->contexts[i] = usage->contexts[--usage->context_count];
        add_overheads(usage);
        break;
    }
}

void vs_device_usage_free(struct vs_device_usage *usage)
{
    free(usage->contexts);
    *usage = (struct vs_device_usage){0};
}

static uint64_t fixed_bytes(const struct vs_levels *now, const struct vs_device_usage *usage)
{
    return now->reserved - now->family[VS_FAMILY_ASYNC] - now->family[VS_FAMILY_MANAGED] +
           usage->overhead;
}

/* Of managed memory, the part that no other memory explains. Without a figure of other processes it could
 * be theirs; the upper bound of a context includes them. */
static uint64_t managed_on_device(const struct vs_between_readings *since, const struct vs_levels *now,
                                  const struct vs_device_usage *usage)
{
    uint64_t managed = now->family[VS_FAMILY_MANAGED];
    uint64_t explained = since->fixed + since->pools + usage->others;
    if (!(usage->others_seen || usage->at_most) || since->used <= explained)
        return 0;
    return since->used - explained < managed ? since->used - explained : managed;
}

void vs_between_read(struct vs_between_readings *since, uint64_t used, const struct vs_levels *now,
                     const struct vs_device_usage *usage)
{
    uint64_t async = now->family[VS_FAMILY_ASYNC];
    since->read = true;
    since->used = used;
    since->fixed = fixed_bytes(now, usage);
    since->async = since->async_high = async;
    since->pools = usage->pools_known && usage->pools > async ? usage->pools : async;
    since->managed = managed_on_device(since, now, usage);
}

struct vs_between_use vs_between_now(struct vs_between_readings *since, const struct vs_levels *now,
                                     const struct vs_device_usage *usage, uint64_t graphs)
{
    uint64_t async = now->family[VS_FAMILY_ASYNC], managed = now->family[VS_FAMILY_MANAGED];
    if (!since->read)
        return (struct vs_between_use){0};
    since->async_high = async > since->async_high ? async : since->async_high;
    int64_t more = (int64_t)(fixed_bytes(now, usage) + graphs - since->fixed);
    more = more / (int64_t)VS_DRIVER_PAGE * (int64_t)VS_DRIVER_PAGE; /* less may be in a page that was read */
    uint64_t base = more > 0 || -(uint64_t)more < since->used ? since->used + (uint64_t)more : 0;
    return (struct vs_between_use){
        .known = base + (async > since->pools ? async - since->pools : 0),
        .possible = base + since->async_high - since->async +
                    (managed > since->managed ? managed - since->managed : 0)};
}
