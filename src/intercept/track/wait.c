/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "intercept/track/wait.h"

#include "base/vs_clock.h"
#include "base/vs_option.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/route/upcalls.h"
#include "intercept/track/capture.h"
#include "intercept/track/context.h"
#include "trace/record/selection.h"

_Atomic bool vs_waits_off;

static bool recording(void)
{
    return !atomic_load_explicit(&vs_waits_off, memory_order_relaxed) && vs_process_state() == VS_PROCESS_ACTIVE && vs_process_options()->number[VS_OPT_kernels] &&
           vs_recorder_wants_activity(vs_process_recorder());
}

uint64_t vs_wait_begins(const void *caller)
{
    return recording() && vs_hook_active_for(caller) ? vs_clock_ns() : 0;
}

/* Memory of the host that CUDA does not know; a query of other addresses is no error. */
static bool pageable(const void *host)
{
    CUmemorytype type = (CUmemorytype)0;
    CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    void *values[] = {&type};
    return VS_REAL(cuPointerGetAttributes, 1, &attribute, values, (CUdeviceptr)(uintptr_t)host) ==
               CUDA_SUCCESS && !type;
}

/* The context of the stream, or *handle*, that was waited for; NULL: the current one. */
static const struct vs_context *context_of(enum vs_wait kind, const void *of)
{
    CUcontext handle = kind == VS_WAIT_CONTEXT ? (CUcontext)(uintptr_t)of : NULL;
    CUstream stream = (CUstream)(uintptr_t)of;
    if (kind == VS_WAIT_STREAM && stream && stream != CU_STREAM_LEGACY &&
        stream != CU_STREAM_PER_THREAD && VS_CALL(cuStreamGetCtx, stream, &handle) != CUDA_SUCCESS)
        handle = NULL;
    const struct vs_context *found = handle ? vs_context_find(handle) : NULL;
    return found ? found : vs_context_current();
}

void vs_wait_ended(uint64_t began_ns, enum vs_wait kind, const char *api, const void *of,
                   const void *other, bool per_thread)
{
    if (!began_ns || !recording()) /* it may have ended during the wait */
        return;
    uint64_t now_ns = vs_clock_ns();
    if (kind >= VS_WAIT_FREE && now_ns - began_ns < VS_WAIT_LEAST_NS)
        return;
    VS_OWN_WORK();
    if (kind == VS_WAIT_ASYNC_COPY &&
        (vs_capture_any() || !(pageable(of) || (other && pageable(other)))))
        return;
    const struct vs_context *context = context_of(kind, of);
    if (!context)
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
    vs_upcalls.waited();
}
