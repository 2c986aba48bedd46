/* SPDX-License-Identifier: Apache-2.0
 *
 * PyTorch's own allocator, one level above the device: libc10_cuda reports every block that it
 * allocates or frees by calling two functions of libc10 through the symbol table, so that
 * intercepting them shows each tensor's memory; where this library was loaded later, attach.c leads
 * the calls here. These events form a second level and are never added to the device's. The contract
 * is weak: always forward, assume nothing. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "intercept/process/process.h"
#include "intercept/route/definitions.h"
#include "intercept/route/hook.h"
#include "intercept/route/upcalls.h"
#include "intercept/torch/attach.h"
#include "intercept/track/holding.h"
#include "intercept/track/track_change.h"

/* c10::Device: two bytes passed by value in one register. */
struct c10_device {
    int8_t type; /* 1 = CUDA */
    int8_t index;
};
#define C10_CUDA 1

/* c10::cuda::CUDAStream, returned by value in two registers. */
struct c10_stream {
    struct c10_device device;
    int64_t id; /* 0: the default stream */
};
typedef struct c10_stream (*current_stream_fn)(int8_t);
#define CURRENT_STREAM "_ZN3c104cuda20getCurrentCUDAStreamEa"
#define ABSENT ((void *)1)

#define REPORT_USAGE "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"
#define REPORT_OOM "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE"

typedef void (*usage_fn)(void *, int64_t, size_t, size_t, struct c10_device);
typedef void (*oom_fn)(int64_t, size_t, size_t, struct c10_device);

static void *next_symbol(_Atomic(void *) *slot, const char *name)
{
    void *fn = atomic_load_explicit(slot, memory_order_acquire);
    if (fn)
        return fn;
    fn = vs_next_symbol_of("libc10.so", name);
    atomic_store_explicit(slot, fn, memory_order_release);
    return fn;
}

/* The number of the stream that the allocator is serving: the thread's current one, which it has just
 * asked for itself. 0 where libc10_cuda has no such function. */
static uint64_t current_stream(int device)
{
    static _Atomic(void *) slot;
    void *fn = atomic_load_explicit(&slot, memory_order_acquire);
    if (!fn) {
        fn = vs_definition_in("libc10_cuda.so", CURRENT_STREAM);
        fn = fn ? fn : ABSENT;
        atomic_store_explicit(&slot, fn, memory_order_release);
    }
    return fn == ABSENT ? 0 : (uint64_t)((current_stream_fn)fn)((int8_t)device).id;
}

static bool on_cuda(struct c10_device device)
{
    return !vs_thread.inside && device.type == C10_CUDA && vs_process_records();
}

void vs_framework_record(uint64_t addr, int64_t bytes, uint64_t allocated, uint64_t reserved, int device)
{
    struct vs_recorder *recorder = vs_process_recorder();
    uint64_t index = (uint64_t)device, size = (uint64_t)(bytes < 0 ? -bytes : bytes);
    bool selected = recorder && bytes >= 0 &&
                    vs_recorder_selects(recorder, VS_LEVEL_FRAMEWORK, size);
    struct vs_change change =
        bytes >= 0 ? vs_change_alloc(VS_LEVEL_FRAMEWORK, VS_FAMILY_DEVICE, (uint32_t)index, size, size)
                   : vs_change_free(VS_LEVEL_FRAMEWORK, VS_FAMILY_DEVICE, (uint32_t)index, size, size);
    struct vs_event event;
    vs_event_begin(&event, bytes >= 0 ? VS_EVENT_framework_alloc : VS_EVENT_framework_free);
    if (recorder && bytes >= 0)
        event.framework_alloc = (struct vs_event_framework_alloc){
            .addr = addr,
            .size = size,
            .device = index,
            .total_allocated = allocated,
            .total_reserved = reserved,
            .stack = selected ? vs_process_stack() : 0,
            .framework_stream = selected && reserved ? current_stream(device) : 0}; /* PyTorch's have some */
    else if (recorder)
        event.framework_free = (struct vs_event_framework_free){.addr = addr,
                                                                .size = size,
                                                                .device = index,
                                                                .total_allocated = allocated,
                                                                .total_reserved = reserved};
    if (bytes >= 0)
        vs_holding_reported(addr);
    vs_track_change(change, selected, &event);
    if (recorder && bytes >= 0)
        vs_annotation_used(VS_ANNOTATED_TENSOR);
}

VS_EXPORT void vs_report_usage(void *ptr, int64_t bytes, size_t allocated, size_t reserved,
                               struct c10_device device) __asm__(REPORT_USAGE);
void vs_report_usage(void *ptr, int64_t bytes, size_t allocated, size_t reserved,
                     struct c10_device device)
{
    static _Atomic(void *) slot;
    usage_fn next = (usage_fn)next_symbol(&slot, REPORT_USAGE);
    if (on_cuda(device)) {
        vs_thread.caller = __builtin_return_address(0);
        VS_OWN_WORK();
        bool attaching = vs_attach_enter();
        if (!attaching || vs_attach_follows_locked((uint64_t)(uintptr_t)ptr, bytes < 0))
            vs_framework_record((uint64_t)(uintptr_t)ptr, bytes, allocated, reserved, device.index);
        vs_attach_leave(attaching);
    }
    if (next)
        next(ptr, bytes, allocated, reserved, device);
}

VS_EXPORT void vs_report_oom(int64_t bytes, size_t allocated, size_t reserved,
                             struct c10_device device) __asm__(REPORT_OOM);
void vs_report_oom(int64_t bytes, size_t allocated, size_t reserved, struct c10_device device)
{
    static _Atomic(void *) slot;
    oom_fn next = (oom_fn)next_symbol(&slot, REPORT_OOM);
    if (on_cuda(device)) {
        vs_thread.caller = __builtin_return_address(0);
        VS_OWN_WORK();
        VS_RECORD(framework_oom, .requested = (uint64_t)bytes,
                  .device = (uint64_t)device.index,
                  .total_allocated = allocated,
                  .total_reserved = reserved,
                  .stack = vs_process_stack(),
                  .framework_stream = current_stream(device.index));
    }
    if (next)
        next(bytes, allocated, reserved, device);
}

void vs_framework_lead_here(void)
{
    vs_attach_lead(REPORT_USAGE, (void *)vs_report_usage);
    vs_attach_lead(REPORT_OOM, (void *)vs_report_oom);
}
