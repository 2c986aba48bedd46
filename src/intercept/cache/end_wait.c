/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. No call of the driver waits for a limited time, so that events behind all work of the contexts
 * are queried until they have completed. */
#define _GNU_SOURCE
#include "intercept/cache/caching.h"

#include <stdatomic.h>
#include <time.h>

#include "allocator/core/allocator.h"
#include "base/vs_cancel.h"
#include "base/vs_clock.h"
#include "base/vs_log.h"
#include "intercept/track/capture.h"
#include "intercept/cache/device_ops.h"
#include "intercept/cupti/collector.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/context.h"

#define WAIT_MS 5000
#define LOCK_TRIES 100 /* of one millisecond each, for an allocator's lock */
#define PAUSE_NS 1000000

static atomic_bool waiting; /* atomic: a thread waits */

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

/* An event behind all work of the context, or before CUDA 12.5 behind that of all streams that wait for the
 * default one; NULL if the driver refuses. */
static CUevent event_behind_all(const struct vs_context *context)
{
    struct vs_entered entered;
    CUevent event = NULL;
    if (vs_context_enter(context, &entered))
        return NULL;
    CUresult r = VS_CALL(cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
    if (!r && VS_CALL(cuCtxRecordEvent, context->handle, event))
        r = VS_CALL(cuEventRecord, event, CU_STREAM_LEGACY);
    vs_context_leave(&entered);
    return r ? NULL : event; /* it ends with the process */
}

/* Why the context's work may not have ended; NULL: it has. */
static const char *wait_for_context(const struct vs_context *context, uint64_t until_ns)
{
    enum vs_settled settled = VS_SETTLED;
    for (int i = 0; i < VS_CONTEXT_ALLOCATORS && settled == VS_SETTLED; i++) {
        struct vs_allocator *allocator = vs_context_allocator_at(context, i);
        settled = allocator ? vs_allocator_settled(allocator) : VS_SETTLED;
        for (int tries = 1; settled == VS_SETTLED_UNKNOWN && tries < LOCK_TRIES; tries++) {
            pause_briefly();
            settled = vs_allocator_settled(allocator);
        }
    }
    if (settled == VS_SETTLED)
        return NULL;
    if (settled == VS_SETTLED_UNKNOWN)
        return VS_NOTE_UNFINISHED ": another thread was in the allocator";
    CUevent event = event_behind_all(context);
    CUresult r = CUDA_SUCCESS; /* a device that failed has nothing to wait for */
    while (event && (r = VS_CALL(cuEventQuery, event)) == CUDA_ERROR_NOT_READY &&
           vs_clock_ns() < until_ns)
        pause_briefly();
    if (r != CUDA_ERROR_NOT_READY)
        return NULL;
    return VS_NOTE_UNFINISHED ": the device was still busy 5 s after the program's end";
}

void vs_end_wait(void)
{
    if (!vs_collector_running() || vs_capture_any() || atomic_exchange(&waiting, true))
        return;
    int cancel = vs_cancel_hold();
    const char *unfinished = NULL;
    uint64_t until_ns = vs_clock_ns() + WAIT_MS * UINT64_C(1000000);
    for (struct vs_context *c = vs_context_next(NULL); c && !unfinished; c = vs_context_next(c))
        if (atomic_load(&c->alive))
            unfinished = wait_for_context(c, until_ns);
    if (unfinished)
        vs_log_once(VS_LOG_WARN, "%s", unfinished);
    if (unfinished && vs_process_recorder())
        vs_process_note(VS_LOG_WARN, unfinished);
    vs_cancel_restore(cancel);
    atomic_store(&waiting, false);
}
