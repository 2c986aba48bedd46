/* SPDX-License-Identifier: Apache-2.0
 *
 * The streams in which captures began, so that none is counted after its end. If too many are
 * active at once, a capture is counted without an entry in the table; then the end of its stream or
 * context is not detected, only its own. No lock: a forked child and threads at exit call this too.
 */
#include "intercept/track/capture.h"

#include <stdint.h>

#include "intercept/route/hook.h"
#include "intercept/track/context.h"

_Atomic int vs_capture_count;

#define ORIGINS_MAX 64
static struct {
    _Atomic uintptr_t stream;    /* atomic; 0: free */
    _Atomic(CUcontext) context;  /* atomic; whose stream, stored after the stream */
} origins[ORIGINS_MAX];

static _Thread_local char own __attribute__((tls_model("initial-exec")));

/* A thread's own default stream has the same handle in every thread. */
static uintptr_t name_of(CUstream stream, bool per_thread)
{
    if (stream == CU_STREAM_PER_THREAD || (!stream && per_thread))
        return (uintptr_t)&own;
    return (uintptr_t)stream;
}

static void enter(uintptr_t name, CUcontext context)
{
    for (int i = 0; name && i < ORIGINS_MAX; i++) {
        uintptr_t none = 0;
        if (atomic_compare_exchange_strong(&origins[i].stream, &none, name)) {
            atomic_store(&origins[i].context, context);
            return;
        }
    }
}

/* *context* (may be NULL) receives the stream's context. */
static bool leave(uintptr_t name, CUcontext *context)
{
    for (int i = 0; name && i < ORIGINS_MAX; i++) {
        uintptr_t expected = name;
        CUcontext its = atomic_load(&origins[i].context);
        if (!atomic_compare_exchange_strong(&origins[i].stream, &expected, 0))
            continue;
        if (context)
            *context = its;
        return true;
    }
    return false;
}

CUcontext vs_capture_begins(CUstream stream)
{
    CUcontext context = NULL;
    if (vs_capture_any() || !stream || stream == CU_STREAM_PER_THREAD ||
        VS_CALL(cuStreamGetCtx, stream, &context) != CUDA_SUCCESS)
        context = vs_context_handle();
    atomic_fetch_add(&vs_capture_count, 1);
    return context;
}

CUresult vs_capture_began(CUstream stream, bool per_thread, CUcontext context, CUresult r)
{
    if (r != CUDA_SUCCESS)
        atomic_fetch_sub(&vs_capture_count, 1);
    else
        enter(name_of(stream, per_thread), context);
    return r;
}

bool vs_capture_active(CUstream stream, bool per_thread, bool unknown)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!stream && per_thread) /* the query has a per-thread form as well */
        stream = CU_STREAM_PER_THREAD;
    return VS_CALL(cuStreamIsCapturing, stream, &status) == CUDA_SUCCESS
               ? status != CU_STREAM_CAPTURE_STATUS_NONE
               : unknown;
}

CUresult vs_capture_ended(CUstream stream, bool per_thread, CUresult r)
{
    /* an invalidated capture ends with an error, but ends; other errors end nothing */
    if (r != CUDA_SUCCESS && (!vs_capture_any() || vs_capture_active(stream, per_thread, true)))
        return r;
    bool known = leave(name_of(stream, per_thread), NULL);
    int entered = 0;
    for (int i = 0; i < ORIGINS_MAX; i++)
        entered += atomic_load(&origins[i].stream) != 0;
    /* a capture without an entry, or an end without a capture */
    if (known || (r == CUDA_SUCCESS && atomic_load(&vs_capture_count) > entered))
        atomic_fetch_sub(&vs_capture_count, 1);
    return r;
}

bool vs_capture_taken(CUstream stream, CUcontext *context)
{
    if (!stream || !vs_capture_any() || !leave((uintptr_t)stream, context))
        return false;
    atomic_fetch_sub(&vs_capture_count, 1);
    return true;
}

void vs_capture_given_back(CUstream stream, CUcontext context)
{
    atomic_fetch_add(&vs_capture_count, 1);
    enter((uintptr_t)stream, context);
}

void vs_capture_context_gone(CUcontext context)
{
    for (int i = 0; vs_capture_any() && i < ORIGINS_MAX; i++) {
        uintptr_t name = atomic_load(&origins[i].stream);
        if (name && atomic_load(&origins[i].context) == context &&
            atomic_compare_exchange_strong(&origins[i].stream, &name, 0))
            atomic_fetch_sub(&vs_capture_count, 1);
    }
}
