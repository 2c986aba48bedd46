/* SPDX-License-Identifier: Apache-2.0
 *
 * Registry of devices, contexts and streams. A context is registered at its first use, however the
 * program created it; the list only grows, so readers take no lock. Ids are ours unless the CUPTI
 * collector runs; its stream ids are then used, so that allocations and kernels agree. */
#define _GNU_SOURCE
#include "intercept/track/context.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/vs_arena.h"
#include "base/vs_lock.h"
#include "base/vs_map.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/route/replayed_call.h"
#include "intercept/route/upcalls.h"
#include "intercept/track/limit.h"
#include "intercept/track/nvml.h"
#include "intercept/track/tracker.h"

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_DEVICE, "contexts");
static struct vs_arena arena;                  /* guarded by lock */
static _Atomic(struct vs_context *) contexts;  /* newest first; release on push */
static uint32_t context_count;                 /* guarded by lock */
static bool device_known[VS_DEVICES_MAX];      /* guarded by lock */
static struct vs_map streams;                  /* guarded by lock: key -> id */
static uint64_t stream_count;                  /* guarded by lock */
_Atomic bool vs_several_contexts, vs_peer_access;

/* the thread's last context, so that the hot path does not walk the list */
static _Thread_local struct vs_context *recent __attribute__((tls_model("initial-exec")));

inline CUcontext vs_context_handle(void) /* inline: see vs_recorder_acquire */
{
    CUcontext handle = NULL;
    return VS_CALL(cuCtxGetCurrent, &handle) == CUDA_SUCCESS ? handle : NULL;
}

struct vs_context *vs_context_find(CUcontext handle)
{
    for (struct vs_context *c = atomic_load_explicit(&contexts, memory_order_acquire); c;
         c = c->next) {
        if (c->handle == handle && atomic_load_explicit(&c->alive, memory_order_relaxed))
            return c;
    }
    return NULL;
}

struct vs_context *vs_context_next(const struct vs_context *previous)
{
    return previous ? previous->next : atomic_load_explicit(&contexts, memory_order_acquire);
}

struct vs_context *vs_context_alive_on(uint32_t device)
{
    struct vs_context *c = vs_context_next(NULL);
    while (c && (c->device != device || !atomic_load(&c->alive)))
        c = c->next;
    return c;
}

struct vs_allocator *vs_allocator_next(uint32_t device, struct vs_context **context, int *i)
{
    if (!*context)
        *context = vs_context_next(NULL);
    for (; *context; *context = (*context)->next, *i = 0) {
        while ((*context)->device == device && *i < VS_CONTEXT_ALLOCATORS) {
            struct vs_allocator *allocator = vs_context_allocator_at(*context, (*i)++);
            if (allocator)
                return allocator;
        }
    }
    return NULL;
}

int vs_device_attribute(uint32_t device, CUdevice_attribute which)
{
    int value = 0;
    CUresult r = VS_CALL(cuDeviceGetAttribute, &value, which, (CUdevice)device);
    return r == CUDA_SUCCESS ? value : 0;
}

static uint64_t attribute(CUdevice device, CUdevice_attribute which)
{
    return (uint64_t)vs_device_attribute((uint32_t)device, which);
}

/* Call before taking the lock: a search waits while another thread loads a library, whose
 * constructor may wait for the lock. */
static void find_functions(void)
{
    static const enum vs_driver_function all[] = {
        VS_FN_cuDeviceGetName,    VS_FN_cuDeviceTotalMem_v2,  VS_FN_cuDeviceGetUuid_v2,
        VS_FN_cuDriverGetVersion, VS_FN_cuDeviceGetAttribute, VS_FN_vramscopeSimRegisterKernel};
    (void)vs_driver_has(all, sizeof all / sizeof *all);
    vs_track_findings();
}

static void record_device(CUdevice device)
{
    if (!vs_process_recorder())
        return;
    char name[256] = "", uuid[VS_UUID_TEXT_MAX] = "";
    size_t total = 0;
    int driver_version = 0;
    CUuuid id;
    if (VS_CALL(cuDeviceGetName, name, sizeof name, device) != CUDA_SUCCESS)
        snprintf(name, sizeof name, "device %d", device);
    if (VS_CALL(cuDeviceTotalMem_v2, &total, device) != CUDA_SUCCESS)
        total = 0;
    if (VS_CALL(cuDeviceGetUuid_v2, &id, device) == CUDA_SUCCESS)
        vs_uuid_text(uuid, "GPU", &id);
    if (VS_CALL(cuDriverGetVersion, &driver_version) != CUDA_SUCCESS)
        driver_version = 0;
    bool simulated = vs_driver_function(VS_FN_vramscopeSimRegisterKernel) != NULL;
    VS_RECORD(device, .device = (uint64_t)device,
              .name = vs_process_string(name),
              .uuid = vs_process_string(uuid),
              .total_bytes = total,
              .sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
              .cc_major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
              .cc_minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
              .simulated = simulated,
              .driver_version = (uint64_t)driver_version);
    if (simulated)
        vs_track_uncomputed();
}

void vs_device_note(uint32_t device)
{
    if (device >= VS_DEVICES_MAX)
        return;
    find_functions();
    VS_LOCK_SCOPE(&lock);
    if (!device_known[device])
        record_device((CUdevice)device);
    device_known[device] = true;
}

static void record_context(const struct vs_context *context, bool alive)
{
    if (!vs_process_recorder())
        return;
    VS_RECORD(context, .context = context->id,
              .device = context->device,
              .handle = (uint64_t)(uintptr_t)context->handle,
              .primary = context->primary,
              .alive = alive);
}

bool vs_primary_active(CUdevice device)
{
    unsigned flags;
    int active;
    return VS_CALL(cuDevicePrimaryCtxGetState, device, &flags, &active) != CUDA_SUCCESS || active;
}

static struct vs_context *register_context(CUcontext handle)
{
    CUdevice device;
    if (VS_CALL(cuCtxGetDevice, &device) != CUDA_SUCCESS || device < 0 || device >= VS_DEVICES_MAX)
        return NULL;
    CUcontext kept = NULL;
    unsigned flags;
    int active = 0, replayed = vs_replay_suspend();
    /* retain and release leave the count unchanged and return the handle */
    bool primary =
        VS_CALL(cuDevicePrimaryCtxGetState, device, &flags, &active) == CUDA_SUCCESS && active &&
        VS_REAL(cuDevicePrimaryCtxRetain, &kept, device) == CUDA_SUCCESS &&
        VS_REAL(cuDevicePrimaryCtxRelease_v2, device) == CUDA_SUCCESS && kept == handle;
    vs_replay_resume(replayed);
    find_functions();
    VS_LOCK_SCOPE(&lock);
    struct vs_context *context = vs_context_find(handle);
    if (!context && (context = vs_arena_alloc(&arena, sizeof *context))) {
        context->handle = handle;
        context->id = ++context_count;
        context->device = (uint32_t)device;
        context->primary = primary;
        atomic_store_explicit(&context->alive, true, memory_order_relaxed);
        if (!device_known[device])
            record_device(device);
        device_known[device] = true;
        record_context(context, true);
        context->next = atomic_load_explicit(&contexts, memory_order_relaxed);
        atomic_store_explicit(&contexts, context, memory_order_release);
    }
    return context;
}

/* Separate, so that a repeated call needs few registers. */
static __attribute__((noinline)) struct vs_context *find_current(CUcontext handle)
{
    struct vs_context *context = vs_context_find(handle);
    if (!context)
        context = register_context(handle);
    return recent = context;
}

struct vs_context *vs_context_current(void)
{
    CUcontext handle = vs_context_handle();
    if (!handle)
        return NULL;
    if (recent && recent->handle == handle &&
        atomic_load_explicit(&recent->alive, memory_order_relaxed))
        return recent;
    return find_current(handle);
}

void vs_context_gone(struct vs_context *context, const char *api)
{
    if (!atomic_exchange(&context->alive, false))
        return;
    vs_upcalls.context_gone(context, vs_api(api));
    vs_track_context_gone(context->id, vs_api(api));
    record_context(context, false);
}

bool vs_context_device(CUcontext handle, uint32_t *device)
{
    const struct vs_context *known = vs_context_find(handle);
    CUcontext was;
    CUdevice ordinal = -1;
    if (known) {
        *device = known->device;
        return true;
    }
    if (VS_CALL(cuCtxPushCurrent_v2, handle) != CUDA_SUCCESS)
        return false;
    bool found = VS_CALL(cuCtxGetDevice, &ordinal) == CUDA_SUCCESS && ordinal >= 0;
    VS_CALL(cuCtxPopCurrent_v2, &was);
    *device = (uint32_t)ordinal;
    return found;
}

struct vs_context *vs_context_on(uint32_t device)
{
    static _Atomic(struct vs_context *) primary[VS_DEVICES_MAX];
    struct vs_context *context = vs_context_current();
    if (context && context->device == device)
        return context;
    context = device < VS_DEVICES_MAX ? atomic_load(&primary[device]) : NULL;
    if (device >= VS_DEVICES_MAX || (context && atomic_load(&context->alive)))
        return context;
    CUcontext handle, was;
    CUresult r = VS_REAL(cuDevicePrimaryCtxRetain, &handle, (CUdevice)device);
    if (r == CUDA_ERROR_NOT_INITIALIZED && VS_CALL(cuInit, 0) == CUDA_SUCCESS)
        r = VS_REAL(cuDevicePrimaryCtxRetain, &handle, (CUdevice)device);
    if (r != CUDA_SUCCESS || VS_CALL(cuCtxPushCurrent_v2, handle) != CUDA_SUCCESS)
        return NULL;
    context = vs_context_current();
    VS_CALL(cuCtxPopCurrent_v2, &was);
    atomic_store(&primary[device], context);
    return context;
}

enum vs_err vs_err_of_driver(CUresult r)
{
    switch (r) {
    case CUDA_SUCCESS:
        return VS_OK;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return VS_ERR_DEVICE_OOM;
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
        return VS_ERR_STATE;
    default:
        return VS_ERR_DEVICE;
    }
}

enum vs_err vs_context_enter(const struct vs_context *context, struct vs_entered *entered)
{
    entered->pushed = false;
    if (vs_context_handle() == context->handle)
        return VS_OK;
    if (VS_CALL(cuCtxPushCurrent_v2, context->handle) != CUDA_SUCCESS)
        return VS_ERR_DEVICE;
    entered->pushed = true;
    return VS_OK;
}

void vs_context_leave(const struct vs_entered *entered)
{
    CUcontext was;
    if (entered->pushed)
        VS_CALL(cuCtxPopCurrent_v2, &was);
}

enum vs_err vs_device_memory_info(const struct vs_context *context, uint64_t *free_bytes,
                                  uint64_t *total_bytes)
{
    struct vs_entered entered;
    size_t f, t;
    enum vs_err err = vs_context_enter(context, &entered);
    if (err)
        return err;
    err = vs_err_of_driver(VS_REAL(cuMemGetInfo_v2, &f, &t));
    vs_context_leave(&entered);
    if (err)
        return err;
    *free_bytes = f;
    *total_bytes = t;
    vs_limit_view(context->device, 0, free_bytes, total_bytes);
    return VS_OK;
}

static void record_stream(uint64_t id, uint32_t device, CUstream handle, const char *name)
{
    if (!vs_process_recorder())
        return;
    VS_RECORD(stream, .stream = id,
              .device = device,
              .handle = (uint64_t)(uintptr_t)handle,
              .name = vs_process_string(name),
              .alive = 1);
}

uint64_t vs_stream_id(const struct vs_context *context, CUstream stream, bool per_thread)
{
    bool legacy = !per_thread && (!stream || stream == CU_STREAM_LEGACY);
    uint32_t id32;
    uint64_t key = ((uint64_t)(uintptr_t)stream << 8 ^ (uint64_t)context->id << 1 ^
                    (uint64_t)(per_thread && !stream)) | UINT64_C(1) << 63;
    vs_lock_acquire(&lock);
    uint64_t *known = vs_map_get(&streams, key);
    uint64_t id = known ? *known : 0;
    vs_lock_release(&lock);
    if (known)
        return id;
    if (vs_upcalls.stream_number(context->handle, stream, per_thread, &id32))
        id = id32;
    else if (legacy)
        id = 0;
    else {
        VS_LOCK_SCOPE(&lock);
        id = (uint64_t)context->id << 20 | ++stream_count;
    }
    const char *name = !stream || stream == CU_STREAM_LEGACY ? "default" : "";
    if (stream == CU_STREAM_PER_THREAD || (!stream && per_thread))
        name = "per-thread default";
    VS_LOCK_SCOPE(&lock);
    if (vs_map_put(&streams, key, id) == VS_OK)
        record_stream(id, context->device, stream, name);
    return id;
}

void vs_stream_name(CUstream stream, const char *name)
{
    const struct vs_context *context = vs_context_current();
    if (!context)
        return;
    uint64_t id = vs_stream_id(context, stream, false);
    record_stream(id, context->device, stream, name);
}
