/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "intercept/track/wait.h"

#include "base/vs_clock.h"
#include "base/vs_option.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/context.h"
#include "trace/record/selection.h"

uint64_t vs_wait_begins(const void *caller)
{
    if (vs_process_state() != VS_PROCESS_ACTIVE || !vs_hook_active_for(caller) ||
        !vs_process_options()->number[VS_OPT_kernels] ||
        !vs_recorder_wants_activity(vs_process_recorder()))
        return 0;
    return vs_clock_ns();
}

static bool page_locked(const void *host)
{
    CUmemorytype type;
    return VS_REAL(cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                   (CUdeviceptr)(uintptr_t)host) == CUDA_SUCCESS;
}

void vs_wait_ended(uint64_t began_ns, enum vs_wait kind, const char *api, const void *of,
                   bool per_thread)
{
    if (!began_ns)
        return;
    uint64_t now_ns = vs_clock_ns();
    if (kind >= VS_WAIT_FREE && now_ns - began_ns < VS_WAIT_LEAST_NS)
        return;
    VS_OWN_WORK();
    const struct vs_context *context = vs_context_current();
    if (!context || (kind == VS_WAIT_ASYNC_COPY && page_locked(of)))
        return;
    CUstream stream = kind == VS_WAIT_STREAM ? (CUstream)(uintptr_t)of : NULL;
    VS_RECORD(sync, .start_ns = began_ns,
              .end_ns = now_ns,
              .device = context->device,
              .context = context->id,
              .stream = kind == VS_WAIT_STREAM ? vs_stream_id(context, stream, per_thread) : 0,
              .sync_kind = kind,
              .api = vs_process_api(vs_api(api)),
              .stack = vs_process_stack());
}
