/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. No call of the driver waits for a limited time, so that a thread makes the call. If the time
 * is over, this thread is left to itself and ends with the process. */
#define _GNU_SOURCE
#include "intercept/cache/end_wait.h"

#include <pthread.h>
#include <time.h>

#include "allocator/core/allocator.h"
#include "base/vs_log.h"
#include "intercept/cache/capture.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/context.h"
#include "trace/record/thread_start.h"

#define WAIT_S 5
#define STACK_BYTES (256u << 10)

static void *settle_all(void *arg)
{
    (void)arg;
    vs_thread.inside++; /* never left: no call of this thread is the program's */
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        for (int i = 0; atomic_load(&c->alive) && i < VS_CONTEXT_ALLOCATORS; i++) {
            struct vs_allocator *allocator = vs_context_allocator_at(c, i);
            enum vs_err err = allocator ? vs_allocator_settle(allocator) : VS_OK;
            if (err)
                vs_log(VS_LOG_DEBUG, "no wait for device %u at the end: %s", c->device, vs_err_text(err));
        }
    }
    return NULL;
}

static bool any_unsettled(void)
{
    bool any = false;
    for (struct vs_context *c = vs_context_next(NULL); c && !any; c = vs_context_next(c)) {
        for (int i = 0; atomic_load(&c->alive) && i < VS_CONTEXT_ALLOCATORS; i++) {
            struct vs_allocator *allocator = vs_context_allocator_at(c, i);
            any |= allocator && vs_allocator_unsettled(allocator);
        }
    }
    return any;
}

void vs_end_wait(void)
{
    pthread_t thread;
    struct timespec until;
    if (vs_capture_any() || !any_unsettled())
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    if (vs_thread_start(&thread, STACK_BYTES, settle_all, NULL) != 0)
        return;
    if (pthread_timedjoin_np(thread, NULL, &until) == 0)
        return;
    pthread_detach(thread);
    vs_log(VS_LOG_WARN, "the device was still busy %d s after the program's end; kernels and copies that had not "
                        "finished are not in the trace", WAIT_S);
}
