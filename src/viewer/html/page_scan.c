/* SPDX-License-Identifier: Apache-2.0
 *
 * A level holds from its event to the next one: a bucket without events has the
 * level before it. */
#include "viewer/html/page_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"

#define ZONES_MAX 16384 /* further ones are placed piece by piece */

/* The next buckets up to the one of *time_ns* begin with the present levels. */
static void go_on(struct vs_page_scan *scan, uint64_t time_ns)
{
    if (!scan->width_ns) {
        uint64_t length = scan->end_ns > scan->start_ns ? scan->end_ns - scan->start_ns : 0;
        scan->width_ns = length / VS_SCAN_BUCKETS + 1;
        scan->next_ns = scan->start_ns + scan->width_ns;
    }
    while (time_ns >= scan->next_ns && scan->bucket + 1 < VS_SCAN_BUCKETS) {
        scan->bucket++;
        scan->next_ns += scan->width_ns;
        for (unsigned d = 0; d < scan->device_count; d++) {
            struct vs_scan_device *device = scan->devices[d];
            for (int c = 0; c < VS_SCAN_CURVES; c++)
                device->levels[c][scan->bucket] =
                    (struct vs_scan_level){device->now[c], device->now[c]};
            device->used[scan->bucket] = device->used_now;
        }
        if (scan->host)
            scan->host->levels[scan->bucket] =
                (struct vs_scan_level){scan->host->now, scan->host->now};
    }
}

static void widen(struct vs_scan_level *level, uint64_t now, uint64_t peak, uint64_t *highest)
{
    if (now < level->low)
        level->low = now;
    if (now > level->high)
        level->high = now;
    if (peak > *highest) { /* also between two events, of allocations without their own */
        *highest = peak;
        if (peak > level->high)
            level->high = peak;
    }
}

static void set_level(struct vs_page_scan *scan, struct vs_scan_device *device, int curve,
                      uint64_t now, uint64_t peak)
{
    if (now == device->now[curve] && peak <= device->peak[curve])
        return; /* the level has it */
    device->now[curve] = now;
    widen(&device->levels[curve][scan->bucket], now, peak, &device->peak[curve]);
}

/* Adds addresses to the zones; those of a device that touch are one. */
static void add_zone(struct vs_page_scan *scan, unsigned account, uint64_t from, uint64_t size)
{
    size_t low = 0, high = scan->zone_count;
    uint64_t to = from + size < from ? UINT64_MAX : from + size;
    if (account >= VS_DEVICES_MAX || !size)
        return;
    while (low < high) { /* the first zone of the device that ends at *from* or later */
        size_t middle = (low + high) / 2;
        const struct vs_scan_zone *zone = &scan->zones[middle];
        if (zone->account < account || (zone->account == account && zone->to < from))
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < scan->zone_count && scan->zones[end].account == account &&
           scan->zones[end].from <= to) {
        from = scan->zones[end].from < from ? scan->zones[end].from : from;
        to = scan->zones[end].to > to ? scan->zones[end].to : to;
        end++;
    }
    if (end == low) {
        if (scan->zone_count >= ZONES_MAX)
            return;
        vs_vec_room(&scan->zones, &scan->zone_capacity, scan->zone_count + 1, sizeof *scan->zones);
        memmove(scan->zones + low + 1, scan->zones + low,
                (scan->zone_count - low) * sizeof *scan->zones);
        scan->zone_count++;
    } else {
        memmove(scan->zones + low + 1, scan->zones + end,
                (scan->zone_count - end) * sizeof *scan->zones);
        scan->zone_count -= end - low - 1;
    }
    scan->zones[low] = (struct vs_scan_zone){from, to, account};
}

static void read_sample(struct vs_page_scan *scan, const struct vs_replay *replay,
                        const struct vs_event *event)
{
    unsigned account = vs_replay_account(replay, event->device_sample.device);
    if (account >= scan->device_count)
        return;
    struct vs_scan_device *device = scan->devices[account];
    uint64_t total = event->device_sample.total_bytes, free_bytes = event->device_sample.free_bytes;
    if (!total || free_bytes > total)
        return;
    device->used_now = total - free_bytes;
    if (device->used_now > device->used[scan->bucket])
        device->used[scan->bucket] = device->used_now;
}

enum vs_err vs_page_scan_event(void *context, struct vs_replay *replay,
                               const struct vs_event *event)
{
    struct vs_page_scan *scan = context;
    unsigned account = replay->changed;
    if (replay->now_ns >= scan->next_ns)
        go_on(scan, replay->now_ns);
    while (scan->device_count < replay->account_count) {
        struct vs_scan_device *device = vs_xcalloc(1, sizeof *device);
        device->ordinal = replay->accounts[scan->device_count]->device;
        scan->devices[scan->device_count++] = device;
    }
    switch (event->kind) {
    case VS_EVENT_framework_alloc:
        account = vs_replay_account(replay, event->framework_alloc.device);
        break;
    case VS_EVENT_framework_free:
        account = vs_replay_account(replay, event->framework_free.device);
        break;
    case VS_EVENT_unrecorded:
        account = vs_replay_account(replay, event->unrecorded.device);
        break;
    case VS_EVENT_vmm_map:
        add_zone(scan, vs_replay_account(replay, event->vmm_map.device), event->vmm_map.addr,
                 event->vmm_map.size);
        break;
    case VS_EVENT_segment_map:
        add_zone(scan, vs_replay_account(replay, event->segment_map.device),
                 event->segment_map.addr, event->segment_map.size);
        break;
    case VS_EVENT_device_sample: read_sample(scan, replay, event); break;
    default: break;
    }
    if (account < scan->device_count) {
        const struct vs_account *a = replay->accounts[account];
        struct vs_scan_device *device = scan->devices[account];
        struct vs_user_sums user = {.allocated = a->sums.now.allocated, .peak = &a->peak_allocated};
        if (a->user.reports)
            user = vs_user_sums(replay, account);
        set_level(scan, device, VS_SCAN_ALLOCATED, a->sums.now.allocated, a->peak_allocated.bytes);
        set_level(scan, device, VS_SCAN_RESERVED, a->sums.now.reserved, a->peak_reserved.bytes);
        set_level(scan, device, VS_SCAN_LIVE, user.allocated, user.peak->bytes);
        set_level(scan, device, VS_SCAN_TENSORS, user.tensors, 0);
    } else if (account == VS_HOST_INDEX) {
        const struct vs_account *host = replay->accounts[VS_HOST_INDEX];
        uint64_t now = host->sums.now.allocated;
        if (!scan->host && now)
            scan->host = vs_xcalloc(1, sizeof *scan->host);
        if (scan->host)
            scan->host->now = now;
        if (scan->host)
            widen(&scan->host->levels[scan->bucket], now, host->peak_allocated.bytes,
                  &scan->host->peak);
    }
    return VS_OK;
}

/* Two columns, "…_min" and "…_max". */
static void add_levels(struct vs_section *section, const char *name,
                       const struct vs_scan_level *levels,
                       size_t count)
{
    for (int high = 0; high < 2; high++) {
        struct vs_column *column =
            vs_section_column(section, VS_COLUMN_DELTA, "%s_%s", name, high ? "max" : "min");
        for (size_t i = 0; i < count; i++)
            vs_column_add(column, high ? levels[i].high : levels[i].low);
    }
}

void vs_page_scan_columns(struct vs_page_scan *scan, const uint8_t numbers[VS_DEVICES_MAX],
                          struct vs_section *section)
{
    static const char *const what[] = {"allocated", "reserved", "live", "tensors"};
    go_on(scan, scan->end_ns);
    size_t count = scan->bucket + 1;
    for (unsigned d = 0; d < scan->device_count; d++) {
        const struct vs_scan_device *device = scan->devices[d];
        struct vs_column *time = vs_section_column(section, VS_COLUMN_DELTA, "%u.time", numbers[d]);
        for (size_t i = 0; i < count; i++)
            vs_column_add(time, i * scan->width_ns);
        bool tensors = false;
        for (size_t i = 0; i < VS_SCAN_BUCKETS; i++)
            tensors |= device->levels[VS_SCAN_TENSORS][i].high != 0;
        for (int c = 0; c < VS_SCAN_CURVES; c++) {
            char name[16];
            snprintf(name, sizeof name, "%u.%s", numbers[d], what[c]);
            if (c != VS_SCAN_TENSORS || tensors)
                add_levels(section, name, device->levels[c], count);
        }
        struct vs_column *used = vs_section_column(section, VS_COLUMN_VARINT, "%u.used",
                                                   numbers[d]);
        for (size_t i = 0; i < count; i++)
            vs_column_add(used, device->used[i]);
    }
    if (scan->host)
        add_levels(section, "host", scan->host->levels, count);
}

void vs_page_scan_free(struct vs_page_scan *scan)
{
    for (unsigned d = 0; d < scan->device_count; d++)
        free(scan->devices[d]);
    free(scan->host);
    free(scan->zones);
    *scan = (struct vs_page_scan){0};
}
