/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over activity records; see the header. */
#include "analysis/activity.h"

#include "analysis/vec.h"

#define DEVICES_MAX 64

static enum vs_err device_row(struct vs_activity *activity, uint64_t device,
                              struct vs_device_activity **out)
{
    *out = NULL;
    for (size_t i = 0; i < activity->device_count; i++) {
        if (activity->devices[i].device == device) {
            *out = &activity->devices[i];
            return VS_OK;
        }
    }
    if (activity->device_count == DEVICES_MAX)
        return VS_OK; /* a damaged trace: not counted */
    enum vs_err err = vs_vec_grow(&activity->devices, &activity->device_capacity,
                                  activity->device_count + 1, sizeof *activity->devices);
    if (err)
        return err;
    *out = &activity->devices[activity->device_count++];
    **out = (struct vs_device_activity){.device = device};
    return VS_OK;
}

static uint64_t length_of(uint64_t start_ns, uint64_t end_ns)
{
    return end_ns > start_ns ? end_ns - start_ns : 0;
}

static void add(struct vs_tally *tally, uint64_t bytes, uint64_t time_ns)
{
    tally->count++;
    tally->bytes += bytes;
    tally->time_ns += time_ns;
}

static enum vs_err count_kernel(struct vs_activity *activity, const struct vs_event *event,
                                uint64_t length_ns)
{
    uint64_t key = (event->kernel.name << 8 | (event->kernel.device & 255)) + 1;
    const uint64_t *found = vs_map_get(&activity->by_kernel, key);
    size_t at;
    if (found) {
        at = (size_t)*found;
    } else {
        enum vs_err err = vs_vec_grow(&activity->kernels, &activity->kernel_capacity,
                                      activity->kernel_count + 1, sizeof *activity->kernels);
        if (!err)
            err = vs_map_put(&activity->by_kernel, key, activity->kernel_count);
        if (err)
            return err;
        at = activity->kernel_count++;
        activity->kernels[at] = (struct vs_kernel_row){
            .name = event->kernel.name, .device = event->kernel.device, .shortest_ns = length_ns};
    }
    struct vs_kernel_row *row = &activity->kernels[at];
    row->count++;
    row->time_ns += length_ns;
    if (length_ns < row->shortest_ns)
        row->shortest_ns = length_ns;
    if (length_ns > row->longest_ns)
        row->longest_ns = length_ns;
    return VS_OK;
}

enum vs_err vs_activity_event(struct vs_activity *activity, const struct vs_event *event)
{
    uint64_t device, start_ns, end_ns;
    switch (event->kind) {
    case VS_EVENT_kernel:
        device = event->kernel.device, start_ns = event->kernel.start_ns, end_ns = event->kernel.end_ns;
        break;
    case VS_EVENT_memcpy:
        device = event->memcpy.device, start_ns = event->memcpy.start_ns, end_ns = event->memcpy.end_ns;
        break;
    case VS_EVENT_memset:
        device = event->memset.device, start_ns = event->memset.start_ns, end_ns = event->memset.end_ns;
        break;
    case VS_EVENT_sync:
        device = event->sync.device, start_ns = event->sync.start_ns, end_ns = event->sync.end_ns;
        break;
    default:
        return VS_OK;
    }
    struct vs_device_activity *row;
    enum vs_err err = device_row(activity, device, &row);
    if (err || !row)
        return err;
    uint64_t length_ns = length_of(start_ns, end_ns);
    if (end_ns > activity->last_ns)
        activity->last_ns = end_ns;
    if (event->kind == VS_EVENT_kernel) {
        add(&row->kernels, 0, length_ns);
        return count_kernel(activity, event, length_ns);
    }
    if (event->kind == VS_EVENT_memcpy) {
        uint64_t kind = event->memcpy.copy_kind;
        add(&row->copies[kind < VS_COPY_KIND_COUNT ? kind : VS_COPY_UNKNOWN], event->memcpy.bytes,
            length_ns);
    } else if (event->kind == VS_EVENT_memset) {
        add(&row->sets, event->memset.bytes, length_ns);
    } else {
        add(&row->syncs, 0, length_ns);
    }
    return VS_OK;
}

const struct vs_device_activity *vs_activity_device(const struct vs_activity *activity,
                                                    uint64_t device)
{
    for (size_t i = 0; i < activity->device_count; i++)
        if (activity->devices[i].device == device)
            return &activity->devices[i];
    return NULL;
}

enum vs_err vs_activity_restore_kernel(struct vs_activity *activity,
                                       const struct vs_kernel_row *row)
{
    uint64_t key = (row->name << 8 | (row->device & 255)) + 1;
    if (!key || vs_map_get(&activity->by_kernel, key))
        return VS_ERR_CORRUPT;
    enum vs_err err = vs_vec_grow(&activity->kernels, &activity->kernel_capacity,
                                  activity->kernel_count + 1, sizeof *activity->kernels);
    if (!err)
        err = vs_map_put(&activity->by_kernel, key, activity->kernel_count);
    if (!err)
        activity->kernels[activity->kernel_count++] = *row;
    return err;
}

enum vs_err vs_activity_restore_device(struct vs_activity *activity,
                                       const struct vs_device_activity *row)
{
    struct vs_device_activity *made;
    size_t before = activity->device_count;
    enum vs_err err = device_row(activity, row->device, &made);
    if (err)
        return err;
    if (activity->device_count == before)
        return VS_ERR_CORRUPT;
    *made = *row;
    return VS_OK;
}

void vs_activity_free(struct vs_activity *activity)
{
    free(activity->kernels);
    free(activity->devices);
    vs_map_free(&activity->by_kernel);
    *activity = (struct vs_activity){0};
}
