/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. No call of the driver waits for a limited time, so that events behind all work of the contexts
 * are queried until they have completed. */
#define _GNU_SOURCE
#include "intercept/cache/end_wait.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "allocator/core/allocator.h"
#include "base/vs_cancel.h"
#include "base/vs_log.h"
#include "intercept/cache/capture.h"
#include "intercept/cache/device_ops.h"
#include "intercept/cupti/collector.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/context.h"

#define WAIT_S 5
#define LOCK_TRIES 100 /* of one millisecond each, for an allocator's lock */
#define PAUSE_NS 1000000

static atomic_bool waiting; /* atomic: a thread waits */

/* The driver's functions; record_all is NULL before CUDA 12.5. */
struct end_wait_driver {
    CUresult (*create)(CUevent *, unsigned);
    CUresult (*record)(CUevent, CUstream);
    CUresult (*record_all)(CUcontext, CUevent);
    CUresult (*query)(CUevent);
};

static bool find_driver(struct end_wait_driver *out)
{
    *(void **)&out->create = vs_driver_symbol("cuEventCreate");
    *(void **)&out->record = vs_driver_symbol("cuEventRecord");
    *(void **)&out->record_all = vs_driver_symbol("cuCtxRecordEvent");
    *(void **)&out->query = vs_driver_symbol("cuEventQuery");
    return out->create && out->record && out->query;
}

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

static bool is_unsettled(const struct vs_context *context)
{
    bool unsettled = false;
    for (int i = 0; i < VS_CONTEXT_ALLOCATORS && !unsettled; i++) {
        struct vs_allocator *allocator = vs_context_allocator_at(context, i);
        enum vs_settled settled = allocator ? vs_allocator_settled(allocator) : VS_SETTLED;
        for (int tries = 1; settled == VS_SETTLED_UNKNOWN && tries < LOCK_TRIES; tries++) {
            pause_briefly();
            settled = vs_allocator_settled(allocator);
        }
        unsettled = settled == VS_UNSETTLED;
    }
    return unsettled;
}

/* An event behind all work of the context, or on older drivers behind that of all streams that wait for the
 * default one; NULL if the driver refuses. */
static CUevent event_behind_all(const struct end_wait_driver *driver, const struct vs_context *context)
{
    struct vs_entered entered;
    CUevent event = NULL;
    if (vs_context_enter(context, &entered))
        return NULL;
    CUresult r = driver->create(&event, CU_EVENT_DISABLE_TIMING);
    if (!r)
        r = driver->record_all ? driver->record_all(context->handle, event) : driver->record(event, CU_STREAM_LEGACY);
    vs_context_leave(&entered);
    return r ? NULL : event; /* it ends with the process */
}

static uint64_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

static void wait_for(const struct end_wait_driver *driver, CUevent event, uint64_t until_s)
{
    char line[256];
    CUresult r;
    while ((r = driver->query(event)) == CUDA_ERROR_NOT_READY && now_s() < until_s)
        pause_briefly();
    if (r != CUDA_ERROR_NOT_READY)
        return;
    snprintf(line, sizeof line, VS_NOTE_UNFINISHED " %d s after the program's end; kernels and copies that had not "
             "finished are not in the trace", WAIT_S);
    vs_log_once(VS_LOG_WARN, "%s", line);
    if (vs_process_recorder())
        vs_process_note(VS_LOG_WARN, line);
}

void vs_end_wait(void)
{
    struct end_wait_driver driver;
    if (!vs_collector_running() || vs_capture_any() || !find_driver(&driver))
        return;
    if (atomic_exchange(&waiting, true))
        return;
    int cancel = vs_cancel_hold();
    uint64_t until_s = now_s() + WAIT_S + 1; /* at least WAIT_S */
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        CUevent event = atomic_load(&c->alive) && is_unsettled(c) ? event_behind_all(&driver, c) : NULL;
        if (event)
            wait_for(&driver, event, until_s);
    }
    vs_cancel_restore(cancel);
    atomic_store(&waiting, false);
}
