/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "support/policy_run.h"

#include <stdlib.h>
#include <string.h>

#include "support/fake_device.h"

#define LAG 32 /* requests until enqueued work is complete: between this and twice as many */

struct run {
    struct fake_device device;
    struct vs_allocator *allocator;
    uint64_t *addrs; /* by id */
    uint64_t enqueued[FAKE_STREAMS];
};

static enum vs_err one(struct run *run, const struct request *r)
{
    struct vs_allocation got;
    enum vs_err err;
    switch (r->kind) {
    case REQUEST_ALLOC:
        err = vs_allocator_malloc(run->allocator, r->size, r->stream, &got);
        if (!err)
            run->addrs[r->id] = got.addr;
        return err;
    case REQUEST_FREE:
        return vs_allocator_free(run->allocator, run->addrs[r->id]);
    case REQUEST_RECORD:
        return vs_allocator_record_stream(run->allocator, run->addrs[r->id], r->stream);
    }
    return VS_ERR_ARG;
}

enum vs_err policy_run(const struct request_log *log, const struct vs_allocator_config *config,
                       uint64_t capacity, struct policy_result *out)
{
    struct run *run = calloc(1, sizeof *run);
    enum vs_err err = VS_ERR_NOMEM;
    memset(out, 0, sizeof *out);
    if (!run || !(run->addrs = calloc(log->id_count + 1, sizeof *run->addrs)))
        goto out;
    fake_device_init(&run->device, capacity);
    err = vs_allocator_create(config, &fake_device_ops, &run->device, NULL, NULL, &run->allocator);
    size_t i = 0;
    for (; i < log->count && !err; i++) {
        if (i % LAG == 0) {
            /* Completes the work that was enqueued when this was last called. */
            for (uint64_t stream = 0; stream < FAKE_STREAMS; stream++) {
                fake_device_complete(&run->device, stream, run->enqueued[stream]);
                run->enqueued[stream] = run->device.recorded[stream];
            }
        }
        err = one(run, &log->requests[i]);
        if (run->device.used > out->reserved_peak)
            out->reserved_peak = run->device.used;
    }
    out->failed_at = err && i ? i - 1 : i;
    if (err == VS_ERR_DEVICE_OOM)
        err = VS_OK;
    if (run->allocator)
        vs_allocator_stats(run->allocator, &out->stats);
    vs_allocator_destroy(run->allocator);
    fake_device_free(&run->device);
out:
    if (run)
        free(run->addrs);
    free(run);
    return err;
}
