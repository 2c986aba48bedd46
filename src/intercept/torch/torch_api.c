/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered memory, for PyTorch's CUDAPluggableAllocator and for programs that specify their
 * streams. One allocator per context in addition to the one that serves cudaMalloc; both are
 * recorded, counted and released in the same way. The library may be preloaded or merely opened by
 * the program: nothing here relies on hooks. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/vs_log.h"
#include "intercept/api/api.h"
#include "intercept/cache/caching.h"
#include "intercept/cache/device_ops.h"
#include "intercept/cache/policy.h"
#include "intercept/cache/room.h"
#include "intercept/process/process.h"
#include "intercept/route/definitions.h"
#include "intercept/route/hook.h"
#include "intercept/route/loaded.h"
#include "intercept/torch/torch_pool.h"
#include "intercept/cache/sharing.h"
#include "intercept/track/tracker.h"
#include "vramscope.h"

/* --- out of memory, inside PyTorch --- */

/* PyTorch does not check for NULL and would pass it to kernels; it handles an exception. The C++
 * library's own function throws it. */
static void *no_memory(void)
{
    void (*throw_bad_alloc)(void) = NULL;
    if (!vs_loaded_find("libc10.so", NULL))
        return NULL;
    *(void **)&throw_bad_alloc = vs_next_symbol_of("libstdc++.so.6", "_ZSt17__throw_bad_allocv");
    if (throw_bad_alloc)
        throw_bad_alloc();
    return NULL;
}

/* --- requests --- */

static enum vs_err request(struct vs_context *context, size_t bytes, CUstream stream,
                           struct vs_allocation *out, uint64_t *time_ns)
{
    struct vs_allocator *allocator = vs_caching_allocator(context, VS_REUSE_STREAM_ORDERED);
    if (!allocator)
        return VS_ERR_DEVICE;
    if (vs_stream_capturing(stream) && !vs_torch_pool_accepts(context, stream)) {
        vs_log_once(VS_LOG_WARN, "vramscope_torch_alloc cannot allocate on a stream that is being "
                                 "captured into a graph, unless the graph has a private pool");
        return VS_ERR_STATE;
    }
    uint64_t key = vs_stream_key(context, stream);
    struct vs_caching_call call = vs_caching_request("vramscope_torch_alloc", bytes);
    enum vs_err err;
    bool again = false;
    do {
        err = vs_allocator_malloc_for(allocator, bytes, key, vs_sharing_on(), &call, out);
        again = !again && err == VS_ERR_DEVICE_OOM && vs_room_make(context->device);
    } while (again);
    *time_ns = call.time_ns;
    vs_room_served(err ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS, "vramscope_torch_alloc");
    if (err)
        vs_track_failed(context, bytes, VS_FAMILY_DEVICE, vs_stream_key_id(key),
                        "vramscope_torch_alloc",
                        err == VS_ERR_DEVICE_OOM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_UNKNOWN);
    return err;
}

static enum vs_err allocate(size_t bytes, int device, CUstream stream, uint64_t *addr)
{
    struct vs_entered entered = {.pushed = false};
    struct vs_allocation allocation;
    struct vs_context *current = vs_context_current(), *context = current;
    if (device < 0 || !current || current->device != (uint32_t)device)
        context = device >= 0 ? vs_context_on((uint32_t)device) : NULL;
    if (!context) {
        vs_log_once(VS_LOG_WARN, "vramscope_torch_alloc: cannot use device %d", device);
        return VS_ERR_DEVICE;
    }
    enum vs_err err = context == current ? VS_OK : vs_context_enter(context, &entered);
    if (err)
        return err;
    uint64_t time_ns;
    err = request(context, bytes, stream, &allocation, &time_ns);
    if (!err && vs_process_recorder())
        vs_device_sample(context, time_ns);
    vs_context_leave(&entered);
    if (!err)
        *addr = allocation.addr;
    return err;
}

VS_EXPORT void *vramscope_torch_alloc(size_t bytes, int device, void *stream)
{
    uint64_t addr = 0;
    if (!bytes)
        return NULL;
    if (vs_process_forked())
        return no_memory();
    vs_process_serve();
    vs_process_begin();
    vs_hook_called(__builtin_return_address(0));
    enum vs_err err;
    { /* ends before the exception: the unwinder runs no cleanup in C code */
        VS_OWN_WORK();
        err = allocate(bytes, device, stream, &addr);
    }
    return err ? no_memory() : (void *)(uintptr_t)addr;
}

static bool has(struct vs_context *context, uint64_t addr, struct vs_allocation *found, bool *live)
{
    struct vs_allocator *allocator = vs_context_allocator_at(context, 1);
    return allocator && vs_allocator_find(allocator, addr, found, live) == VS_OK;
}

/* The context whose stream-ordered allocator owns *addr*, and its state there. */
static struct vs_context *owner_of(uint64_t addr, struct vs_allocation *found, bool *live)
{
    struct vs_context *likely = vs_caching_likely_owner(addr);
    if (likely && has(likely, addr, found, live))
        return likely;
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        if (c != likely && has(c, addr, found, live))
            return c;
    }
    return NULL;
}

/* The last user of a freed block may be another stream than its own. A use that cannot be recorded
 * causes a leak rather than a race. */
static enum vs_err free_in(struct vs_context *context, uint64_t addr, CUstream stream,
                           struct vs_caching_call *call)
{
    struct vs_entered entered = {.pushed = false};
    struct vs_allocator *allocator = vs_context_allocator_at(context, 1);
    if (!allocator)
        return VS_ERR_FOREIGN;
    if (vs_process_state() == VS_PROCESS_EXITING)
        return vs_allocator_free_for(allocator, addr, VS_NO_STREAM, call);
    enum vs_err err =
        vs_stream_is_default(stream) ? VS_OK : vs_context_enter(context, &entered);
    if (err)
        return err;
    err = vs_allocator_free_for(allocator, addr, vs_stream_key(context, stream), call);
    vs_context_leave(&entered);
    return err;
}

VS_EXPORT void vramscope_torch_free(void *pointer, size_t bytes, int device, void *stream)
{
    (void)bytes;
    (void)device;
    if (!pointer || !vs_process_serving() || vs_process_forked())
        return;
    VS_OWN_WORK();
    struct vs_allocation found;
    bool live;
    uint64_t addr = (uint64_t)(uintptr_t)pointer;
    struct vs_context *context = vs_caching_likely_owner(addr);
    struct vs_caching_call call = {.api = "vramscope_torch_free"};
    enum vs_err err = context ? free_in(context, addr, stream, &call) : VS_ERR_FOREIGN;
    if (err == VS_ERR_FOREIGN && (context = owner_of(addr, &found, &live)))
        err = free_in(context, addr, stream, &call);
    if (err)
        vs_log_once(VS_LOG_WARN, "vramscope_torch_free: %p was not allocated by vramscope_torch_alloc",
                    pointer);
}

VS_EXPORT void vramscope_torch_record_stream(void *pointer, void *stream)
{
    struct vs_allocation found;
    bool live;
    if (!pointer || !vs_process_serving() || vs_process_forked())
        return;
    VS_OWN_WORK();
    struct vs_context *current = vs_context_current();
    struct vs_context *context = owner_of((uint64_t)(uintptr_t)pointer, &found, &live);
    if (context && live && current) {
        enum vs_err err = vs_allocator_record_stream(vs_context_allocator_at(context, 1),
                                                     found.addr, vs_stream_key(current, stream));
        if (err)
            vs_log_once(VS_LOG_WARN, "vramscope_torch_record_stream: %s", vs_err_text(err));
    }
}

VS_EXPORT void *vramscope_torch_base_alloc(void *pointer, size_t *bytes)
{
    struct vs_allocation found;
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)pointer;
    size_t size = 0;
    bool live;
    VS_OWN_WORK();
    if (vs_process_serving() && !vs_process_forked() && owner_of(base, &found, &live)) {
        bool mapped = found.mapped;
        if (mapped) /* PyTorch calls this before it shares the memory, which fails */
            vs_sharing_begin();
        /* for mapped memory the driver returns single pieces, which may be smaller than the
         * block */
        if (mapped || VS_REAL(cuMemGetAddressRange_v2, &base, &size, found.addr) != CUDA_SUCCESS) {
            base = found.addr;
            size = found.size;
        }
    }
    if (bytes)
        *bytes = size;
    return (void *)(uintptr_t)base;
}

VS_EXPORT void vramscope_torch_reset(void)
{
    for (int device = 0; device < VS_DEVICES_MAX; device++)
        vramscope_trim(device);
}

VS_EXPORT void vramscope_torch_set_memory_fraction(double fraction, int device)
{
    if (vramscope_set_memory_fraction(device, fraction))
        vs_log_once(VS_LOG_WARN, "the memory fraction %g of device %d cannot be set", fraction,
                    device);
}

VS_EXPORT void vramscope_torch_init(int device_count)
{
    (void)device_count;
    vs_process_serve();
}
