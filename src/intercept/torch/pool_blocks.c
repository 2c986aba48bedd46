/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks inside the memory of allocators other than PyTorch's.
 *
 * TensorFlow's (tsl::BFCAllocator) is a class with exported virtual functions: the loader finds
 * those of its table by name, so that ours, which come first, are called instead. They always call the
 * library's. Only its allocators for GPUs are recorded, which it names GPU_0_bfc and so on.
 *
 * Any other allocator may report its blocks by vramscope_pool_alloc and vramscope_pool_free; CuPy's does by
 * vramscope's Python part. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_log.h"
#include "intercept/process/process.h"
#include "intercept/route/definitions.h"
#include "intercept/route/hook.h"
#include "intercept/torch/attach.h"
#include "intercept/track/context.h"
#include "intercept/track/holding.h"
#include "intercept/track/tracker.h"
#include "vramscope.h"

static _Atomic(uint64_t) held[VS_DEVICES_MAX]; /* bytes in the blocks of each device; atomic */

static void record(const void *addr, uint64_t size, bool frees, uint32_t device)
{
    VS_OWN_WORK();
    uint64_t change = frees ? -size : size;
    uint64_t before = atomic_load_explicit(&held[device], memory_order_relaxed), sum;
    do
        sum = frees && before < size ? 0 : before + change; /* a block may have been allocated unseen */
    while (!atomic_compare_exchange_weak_explicit(&held[device], &before, sum, memory_order_relaxed,
                                                  memory_order_relaxed));
    vs_framework_record((uint64_t)(uintptr_t)addr, (int64_t)change, sum, 0, (int)device);
}

/* --- reported blocks --- */

VS_EXPORT void vramscope_pool_begin(void)
{
    atomic_store_explicit(&vs_holding_possible, true, memory_order_relaxed);
}

static bool records(const void *block, int device)
{
    return block && device >= 0 && device < VS_DEVICES_MAX && !vs_thread.inside && vs_process_records();
}

VS_EXPORT void vramscope_pool_alloc(const void *block, size_t bytes, int device)
{
    vramscope_pool_begin();
    if (!records(block, device))
        return;
    vs_thread.caller = __builtin_return_address(0);
    record(block, bytes, false, (uint32_t)device);
}

VS_EXPORT void vramscope_pool_free(const void *block, size_t bytes, int device)
{
    if (records(block, device))
        record(block, bytes, true, (uint32_t)device);
}

/* --- TensorFlow --- */

#define BFC "_ZN3tsl12BFCAllocator"
#define ALLOCATE BFC "11AllocateRawEmmRKNS_20AllocationAttributesE"
#define DEALLOCATE BFC "13DeallocateRawEPv"
#define ALLOCATORS 64u
#define LIBRARIES 8u

enum bfc_function { BFC_ALLOCATE, BFC_DEALLOCATE, BFC_NAME, BFC_SIZE, BFC_FUNCTIONS };

/* Libraries with such allocators, as TensorFlow and PyTorch/XLA in one program, each of which calls its own. */
static struct {
    _Atomic(const void *) name; /* its Name; written once; atomic */
    _Atomic(void *) functions[BFC_FUNCTIONS]; /* atomic */
} libraries[LIBRARIES];

/* The function that *self*'s table would have without ours: of the library that the loader took Name from, the third
 * of the table, as only some of the functions are ours. */
static void *library_function(const void *self, enum bfc_function which)
{
    static const char *const names[] = {ALLOCATE, DEALLOCATE, BFC "4NameB5cxx11Ev",
                                        "_ZNK3tsl12BFCAllocator13AllocatedSizeEPKv"};
    const void *name = (*(const void *const *const *)self)[2];
    _Atomic(void *) *slot = NULL;
    for (unsigned i = 0; i < LIBRARIES && !slot; i++) {
        const void *found = NULL;
        if (atomic_compare_exchange_strong(&libraries[i].name, &found, name) || found == name)
            slot = &libraries[i].functions[which];
    }
    void *fn = slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
    if (fn)
        return fn;
    struct vs_definitions found;
    struct vs_loaded object;
    vs_definitions_find(names[which], &found);
    fn = found.start.fn;
    if (!fn && vs_loaded_at(name, &object))
        fn = vs_loaded_symbol(&object, names[which], VS_LOADED_DEFAULT);
    if (!fn)
        fn = found.later[0].fn;
    if (slot)
        atomic_store_explicit(slot, fn, memory_order_release);
    return fn;
}

struct bfc_name { /* std::string of the GNU C++ library, returned in memory */
    const char *start;
    size_t length;
    char room[16];
};

/* Allocators that were seen; TensorFlow deletes none that has memory. */
static struct {
    _Atomic(const void *) of; /* written once; atomic */
    _Atomic(int) device; /* + 2; 1: not a GPU's; 0: not known yet; atomic */
} seen[ALLOCATORS];

/* The device of allocator *self*, which has just allocated *addr*; -1 for memory of the host. An allocator is of
 * one device. Its name has TensorFlow's number of it, which may not be the driver's. */
static int device_of(void *self, const void *addr)
{
    unsigned i = 0;
    for (const void *found = NULL; i < ALLOCATORS; i++, found = NULL)
        if (atomic_compare_exchange_strong(&seen[i].of, &found, self) || found == self)
            break;
    if (i == ALLOCATORS)
        return -1;
    int device = atomic_load_explicit(&seen[i].device, memory_order_relaxed);
    if (device || !addr)
        return device - 2;
    struct bfc_name (*name)(void *) = NULL;
    *(void **)&name = library_function(self, BFC_NAME);
    struct bfc_name text = name ? name(self) : (struct bfc_name){.start = ""}; /* a longer one leaks, once */
    device = 1;
    if (strncmp(text.start, "GPU_", 4) == 0) {
        int ordinal = 0;
        VS_OWN_WORK();
        if (VS_REAL(cuPointerGetAttribute, &ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                    (CUdeviceptr)(uintptr_t)addr) == CUDA_SUCCESS && ordinal >= 0 && ordinal < VS_DEVICES_MAX)
            device = ordinal + 2;
    }
    atomic_store_explicit(&seen[i].device, device, memory_order_relaxed);
    return device - 2;
}

static size_t size_of(void *self, const void *addr)
{
    size_t (*size)(const void *, const void *) = NULL;
    *(void **)&size = library_function(self, BFC_SIZE);
    return size ? size(self, addr) : 0;
}

/* The pool is full: usually the device was not even asked. */
static void failed(size_t bytes, uint32_t device)
{
    VS_OWN_WORK();
    struct vs_context *context = vs_context_alive_on(device);
    if (context)
        vs_track_failed(context, bytes, VS_FAMILY_DEVICE, 0, "TensorFlow", CUDA_ERROR_OUT_OF_MEMORY);
}

VS_EXPORT void *vs_bfc_allocate(void *self, size_t alignment, size_t bytes, const void *attributes) __asm__(ALLOCATE);
void *vs_bfc_allocate(void *self, size_t alignment, size_t bytes, const void *attributes)
{
    void *(*next)(void *, size_t, size_t, const void *) = NULL;
    *(void **)&next = library_function(self, BFC_ALLOCATE);
    if (!next) {
        vs_log_once(VS_LOG_ERROR, "TensorFlow's allocator is not found, so that its allocations fail: run the program "
                    "without vramscope");
        return NULL;
    }
    vramscope_pool_begin();
    vs_holding_within++; /* memory that it takes from the device holds blocks */
    void *addr = next(self, alignment, bytes, attributes);
    vs_holding_within--;
    int device = !vs_thread.inside && vs_process_records() ? device_of(self, addr) : -1;
    if (device >= 0) {
        vs_thread.caller = __builtin_return_address(0);
        if (addr)
            record(addr, size_of(self, addr), false, (uint32_t)device);
        else if (bytes && *(const bool *)attributes) /* retry_on_failure: false for scratch memory it can do without */
            failed(bytes, (uint32_t)device);
    }
    return addr;
}

VS_EXPORT void vs_bfc_deallocate(void *self, void *addr) __asm__(DEALLOCATE);
void vs_bfc_deallocate(void *self, void *addr)
{
    void (*next)(void *, void *) = NULL;
    *(void **)&next = library_function(self, BFC_DEALLOCATE);
    int device = addr && next && !vs_thread.inside && vs_process_records() ? device_of(self, NULL) : -1;
    if (device >= 0)
        record(addr, size_of(self, addr), true, (uint32_t)device);
    if (next)
        next(self, addr);
}
