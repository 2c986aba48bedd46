/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/state/activity.h"

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define DEVICES_MAX 64

/* NULL: a damaged trace has too many devices. */
static struct vs_device_activity *device_row(struct vs_activity *activity, uint64_t device)
{
    const struct vs_device_activity *known = vs_activity_device(activity, device);
    if (known)
        return &activity->devices[known - activity->devices];
    if (activity->device_count == DEVICES_MAX)
        return NULL;
    VS_VEC_ADD(activity->devices, activity->device_count, activity->device_capacity,
               (struct vs_device_activity){.device = device});
    return &activity->devices[activity->device_count - 1];
}

bool vs_activity_within(const struct vs_event *event, uint64_t from_ns, uint64_t to_ns,
                        struct vs_activity_part *inside)
{
    uint64_t start_ns = event->activity.start_ns, end_ns = event->activity.end_ns;
    if (!vs_event_has(event, VS_PROPERTY_ACTIVITY))
        return false;
    if (!start_ns) /* unknown: when it was reported */
        start_ns = end_ns = event->time_ns;
    if (end_ns < start_ns)
        end_ns = start_ns;
    if (inside)
        *inside = (struct vs_activity_part){start_ns > from_ns ? start_ns : from_ns, end_ns < to_ns ? end_ns : to_ns,
                                            end_ns - start_ns};
    return start_ns <= to_ns && end_ns >= from_ns;
}

uint64_t vs_activity_share(uint64_t bytes, const struct vs_activity_part *inside)
{
    uint64_t inside_ns = inside->end_ns - inside->start_ns;
    if (inside_ns == inside->whole_ns)
        return bytes;
    double part = (double)bytes * ((double)inside_ns / (double)inside->whole_ns);
    return part < (double)bytes ? (uint64_t)part : bytes; /* 2^64 fits into no integer */
}

static void add(struct vs_activity_tally *tally, uint64_t bytes, uint64_t time_ns)
{
    tally->count++;
    tally->bytes += bytes;
    tally->time_ns += time_ns;
}

/* Made if it is new. */
static struct vs_kernel_row *kernel_row(struct vs_activity *activity, uint64_t name, uint64_t device)
{
    uint64_t key = (name << 8 | (device & 255)) + 1;
    uint64_t index = vs_xmap_number(&activity->by_kernel, key, activity->kernel_count);
    if (index == activity->kernel_count)
        VS_VEC_ADD(activity->kernels, activity->kernel_count, activity->kernel_capacity,
                   (struct vs_kernel_row){.name = name, .device = device, .shortest_ns = UINT64_MAX});
    return &activity->kernels[index];
}

static void count(struct vs_activity *activity, const struct vs_event *event, const struct vs_activity_part *inside)
{
    struct vs_device_activity *row = device_row(activity, event->activity.device);
    uint64_t inside_ns = inside->end_ns - inside->start_ns;
    if (!row)
        return;
    if (event->kind == VS_EVENT_kernel) {
        struct vs_kernel_row *kernel = kernel_row(activity, event->kernel.name, event->kernel.device);
        add(&row->kernels, 0, inside_ns);
        kernel->count++;
        kernel->time_ns += inside_ns;
        if (inside->whole_ns < kernel->shortest_ns)
            kernel->shortest_ns = inside->whole_ns;
        if (inside->whole_ns > kernel->longest_ns)
            kernel->longest_ns = inside->whole_ns;
    } else if (event->kind == VS_EVENT_memcpy) {
        uint64_t kind = event->memcpy.copy_kind;
        add(&row->copies[kind < VS_COPY_KIND_COUNT ? kind : VS_COPY_UNKNOWN],
            vs_activity_share(event->memcpy.bytes, inside), inside_ns);
    } else if (event->kind == VS_EVENT_memset) {
        add(&row->sets, vs_activity_share(event->memset.bytes, inside), inside_ns);
    } else {
        add(&row->syncs, 0, inside_ns);
    }
}

void vs_activity_event_within(struct vs_activity *activity, const struct vs_event *event,
                              uint64_t from_ns, uint64_t to_ns)
{
    struct vs_activity_part whole, inside;
    if (!vs_activity_within(event, 0, UINT64_MAX, &whole))
        return;
    if (event->kind != VS_EVENT_sync && whole.end_ns > activity->known_ns)
        activity->known_ns = whole.end_ns;
    if (!vs_activity_within(event, from_ns, to_ns, &inside))
        return;
    if (event->kind != VS_EVENT_sync && inside.end_ns > activity->last_ns)
        activity->last_ns = inside.end_ns;
    count(activity, event, &inside);
}

const struct vs_device_activity *vs_activity_device(const struct vs_activity *activity,
                                                    uint64_t device)
{
    for (size_t i = 0; i < activity->device_count; i++)
        if (activity->devices[i].device == device)
            return &activity->devices[i];
    return NULL;
}

bool vs_activity_restore_kernel(struct vs_activity *activity, const struct vs_kernel_row *row)
{
    size_t before = activity->kernel_count;
    struct vs_kernel_row *made = kernel_row(activity, row->name, row->device);
    if (activity->kernel_count == before)
        return false;
    *made = *row;
    return true;
}

bool vs_activity_restore_device(struct vs_activity *activity, const struct vs_device_activity *row)
{
    size_t before = activity->device_count;
    struct vs_device_activity *made = device_row(activity, row->device);
    if (activity->device_count == before)
        return false;
    *made = *row;
    return true;
}

void vs_activity_free(struct vs_activity *activity)
{
    free(activity->kernels);
    free(activity->devices);
    vs_map_free(&activity->by_kernel);
    *activity = (struct vs_activity){0};
}
