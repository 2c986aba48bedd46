/* SPDX-License-Identifier: Apache-2.0
 *
 * The overview of a whole trace, collected while the report reads it: for each device the lowest and
 * highest bytes in each of at most VS_SCAN_BUCKETS equal spans of time, and the ranges of addresses
 * into which memory was ever mapped, which get a place of their full extent on the page. Memory: a
 * fixed amount for each device. Not thread-safe. */
#ifndef VS_PAGE_SCAN_H
#define VS_PAGE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/state/replay.h"
#include "viewer/html/page_column.h"

#define VS_SCAN_BUCKETS 4096

enum vs_scan_curve {
    VS_SCAN_ALLOCATED,
    VS_SCAN_RESERVED,
    VS_SCAN_LIVE,    /* at the user's level: tensors, and memory that does not hold them */
    VS_SCAN_TENSORS, /* blocks of a framework */
    VS_SCAN_CURVES
};

struct vs_scan_level {
    uint64_t low, high;
};

struct vs_scan_device {
    uint64_t ordinal; /* the driver's */
    struct vs_scan_level levels[VS_SCAN_CURVES][VS_SCAN_BUCKETS];
    uint64_t used[VS_SCAN_BUCKETS]; /* highest reading of the device's use; 0: none so far */
    uint64_t now[VS_SCAN_CURVES], used_now;
    uint64_t peak[VS_SCAN_CURVES];  /* as counted by the replay, of the first three */
};

/* Allocations of pinned and mapped host memory. */
struct vs_scan_host {
    struct vs_scan_level levels[VS_SCAN_BUCKETS];
    uint64_t now, peak;
};

/* Addresses [from, to) into which memory of a device was mapped. */
struct vs_scan_zone {
    uint64_t from, to;
    unsigned account; /* of the device */
};

/* Zero-initialise, then set start_ns and end_ns of the trace's clock. */
struct vs_page_scan {
    uint64_t start_ns, end_ns;
    uint64_t width_ns, next_ns; /* of a bucket; begin of the next one */
    size_t bucket;
    unsigned device_count;
    struct vs_scan_device *devices[VS_DEVICES_MAX];
    struct vs_scan_host *host; /* NULL: none so far */
    struct vs_scan_zone *zones; /* by account, then ascending; those of an account are apart */
    size_t zone_count, zone_capacity;
};

/* vs_page_scan_event: the `after` of an observer of all events, with a struct vs_page_scan. */
enum vs_err vs_page_scan_event(void *context, struct vs_replay *replay,
                               const struct vs_event *event);

/* vs_page_scan_columns: adds the columns to *section*. *numbers*: of the devices, by account. */
void vs_page_scan_columns(struct vs_page_scan *scan, const uint8_t numbers[VS_DEVICES_MAX],
                          struct vs_section *section);

void vs_page_scan_free(struct vs_page_scan *scan);

#endif
