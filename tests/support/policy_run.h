/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one program under one configuration of the allocator on a fake device: the peak of reserved
 * memory, and whether the program completes. Work of other streams completes a fixed number of
 * requests after it was enqueued. */
#ifndef POLICY_RUN_H
#define POLICY_RUN_H

#include "allocator/core/allocator.h"
#include "support/request_log.h"

struct policy_result {
    uint64_t reserved_peak; /* bytes, as the device counts them */
    size_t failed_at;       /* the request that ran out of memory; the log's count: none */
    struct vs_allocator_stats stats;
};

/* policy_run: *capacity* bytes of device memory. *Returns* an error other than out of memory on the
 * device, which ends the run and sets failed_at. */
enum vs_err policy_run(const struct request_log *log, const struct vs_allocator_config *config,
                       uint64_t capacity, struct policy_result *out) VS_MUST_CHECK;

#endif
