/* SPDX-License-Identifier: Apache-2.0
 *
 * From a trace to the request log of one device, and the facts of the recorded run. Internal to
 * this folder. */
#ifndef VS_REQUESTS_READ_H
#define VS_REQUESTS_READ_H

#include "analysis/whatif/request_store.h"
#include "analysis/whatif/whatif.h"

/* A stream of VS_REUSE_STREAM_ORDERED requests (vramscope_torch_alloc); those of cudaMalloc have no
 * stream. */
#define VS_LANE_ORDERED (UINT32_C(1) << 31)

struct vs_whatif_log {
    struct vs_request_store store;
    struct vs_whatif_recorded recorded;
    uint64_t *stacks; /* of the sites */
    size_t site_count, site_capacity;
    uint32_t slot_count; /* of blocks of the level, of all devices */
    uint64_t *streams; /* of the lanes */
    size_t lane_count, lane_capacity;
};

/* vs_requests_choose: the device and the level to read. *device*: see vs_whatif_query; receives the
 * one with most memory in use. VS_ERR_NOT_FOUND. */
enum vs_err vs_requests_choose(struct vs_reader *reader, uint64_t *device,
                               enum vs_whatif_requests *requests) VS_MUST_CHECK;

/* vs_requests_read: fills *log* of which everything but the store's start is zero. */
enum vs_err vs_requests_read(struct vs_reader *reader, const struct vs_whatif_query *query,
                             struct vs_whatif_log *log) VS_MUST_CHECK;

#endif
