// PyTorch's own allocator behind the functions of allocator.h, as far as it has them, to compare it
// with the reference model. Its CUDA calls for memory, events and waiting are defined here and use
// the test's fake device; all others go to the CUDA runtime that is loaded. Each allocator is a
// separate device, because PyTorch's allocators live as long as the process.
#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAAllocatorConfig.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/cuda/PeerToPeerAccess.h>
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

extern "C" {
#include "allocator/core/allocator.h"
#include "support/fake_device.h"
extern const bool diff_subject_is_ours;
const bool diff_subject_is_ours = false;
}

namespace c10::cuda::_internal {
void setHasPrimaryContext(bool (*)(DeviceIndex)); // libtorch_cuda's part in libc10_cuda
}

namespace caching = c10::cuda::CUDACachingAllocator;
using Trace = c10::CachingDeviceAllocator::TraceEntry;

#define DEVICES 120

struct vs_allocator {
    int index;
    const vs_device_ops *ops;
    fake_device *device;
    vs_event_sink sink;
    void *sink_ctx;
    std::map<uint64_t, vs_allocation> live;
    std::map<c10::MempoolId_t, bool> begun; // by pool
    int captures;
};

static vs_allocator *allocators[DEVICES];
static int made, current;
static std::map<cudaEvent_t, uint64_t> events;

static vs_allocator *here()
{
    return allocators[current];
}

static uint64_t number(const void *stream)
{
    return reinterpret_cast<uintptr_t>(stream) >> 12;
}

static cudaStream_t handle(uint64_t stream) // PyTorch takes aligned values for foreign streams
{
    return reinterpret_cast<cudaStream_t>(stream << 12);
}

// --- the CUDA runtime's memory functions ---

extern "C" {

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = DEVICES;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void) { return cudaSuccess; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device)
{
    std::memset(prop, 0, sizeof *prop);
    prop->totalGlobalMem = allocators[device] ? allocators[device]->device->capacity : 1 << 30;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *total = here()->device->capacity;
    *free_bytes = *total - here()->device->used;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **ptr, size_t bytes)
{
    uint64_t addr = 0;
    if (here()->ops->segment_alloc(here()->device, bytes, &addr))
        return cudaErrorMemoryAllocation;
    *ptr = reinterpret_cast<void *>(addr);
    return cudaSuccess;
}

cudaError_t cudaFree(void *ptr)
{
    fake_device *d = here()->device;
    uint64_t addr = reinterpret_cast<uintptr_t>(ptr);
    for (size_t i = 0; i < d->segment_count; i++) {
        if (d->segments[i].addr == addr)
            return here()->ops->segment_free(d, addr, d->segments[i].size) ? cudaErrorInvalidValue
                                                                           : cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int, int)
{
    *can = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status)
{
    *status = here()->captures ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

#undef cudaStreamGetCaptureInfo
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **, const cudaGraphEdgeData **,
                                     size_t *nodes)
{
    if (id)
        *id = 0;
    if (graph)
        *graph = nullptr;
    if (nodes)
        *nodes = 0;
    return cudaStreamIsCapturing(nullptr, status);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *) { return cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = reinterpret_cast<cudaEvent_t>(new char);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    here()->ops->event_record(here()->device, number(stream), &events[event]);
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    bool ready = false;
    here()->ops->event_query(here()->device, events[event], &ready);
    return ready ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    here()->ops->event_synchronize(here()->device, events[event]);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    here()->ops->stream_synchronize(here()->device, number(stream));
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) { return cudaSuccess; }
}

// --- the driver, for expandable segments ---

static CUresult result(enum vs_err err, CUresult otherwise = CUDA_ERROR_INVALID_VALUE)
{
    return err ? otherwise : CUDA_SUCCESS;
}

static CUresult reserve(CUdeviceptr *ptr, size_t bytes, size_t, CUdeviceptr, unsigned long long)
{
    uint64_t addr = 0;
    enum vs_err err = here()->ops->range_reserve(here()->device, bytes, &addr);
    *ptr = addr;
    return result(err);
}

static CUresult unreserve(CUdeviceptr ptr, size_t bytes)
{
    return result(here()->ops->range_release(here()->device, ptr, bytes));
}

static std::map<CUmemGenericAllocationHandle, size_t> sizes;

static CUresult create(CUmemGenericAllocationHandle *out, size_t bytes,
                       const CUmemAllocationProp *, unsigned long long)
{
    uint64_t made_handle = 0;
    enum vs_err err = here()->ops->memory_create(here()->device, bytes, &made_handle);
    *out = made_handle;
    sizes[made_handle] = bytes;
    return result(err, CUDA_ERROR_OUT_OF_MEMORY);
}

static CUresult release(CUmemGenericAllocationHandle h)
{
    return result(here()->ops->memory_release(here()->device, h, sizes[h]));
}

static CUresult map(CUdeviceptr ptr, size_t bytes, size_t, CUmemGenericAllocationHandle h,
                    unsigned long long)
{
    uint64_t one = h;
    return result(here()->ops->memory_map(here()->device, ptr, bytes, &one, 1));
}

static CUresult unmap(CUdeviceptr ptr, size_t bytes)
{
    return result(here()->ops->memory_unmap(here()->device, ptr, bytes));
}

static CUresult allow(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t) { return CUDA_SUCCESS; }

static CUresult device_get(CUdevice *device, int index)
{
    *device = index;
    return CUDA_SUCCESS;
}

static CUresult attribute(int *value, CUdevice_attribute, CUdevice)
{
    *value = 0;
    return CUDA_SUCCESS;
}

static CUresult granularity(size_t *value, const CUmemAllocationProp *,
                            CUmemAllocationGranularity_flags)
{
    *value = 2 << 20;
    return CUDA_SUCCESS;
}

static CUresult text(CUresult, const char **out)
{
    *out = "refused";
    return CUDA_SUCCESS;
}

static CUresult nothing() { return CUDA_SUCCESS; }

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                                        unsigned, unsigned long long,
                                                        cudaDriverEntryPointQueryResult *result)
{
    static const std::map<std::string, void *> functions = {
        {"cuMemAddressReserve", (void *)reserve}, {"cuMemAddressFree", (void *)unreserve},
        {"cuMemCreate", (void *)create},          {"cuMemRelease", (void *)release},
        {"cuMemMap", (void *)map},                {"cuMemUnmap", (void *)unmap},
        {"cuMemSetAccess", (void *)allow},        {"cuDeviceGet", (void *)device_get},
        {"cuDeviceGetAttribute", (void *)attribute},
        {"cuMemGetAllocationGranularity", (void *)granularity},
        {"cuGetErrorString", (void *)text}};
    auto found = functions.find(symbol);
    *function = found == functions.end() ? (void *)nothing : found->second;
    if (result)
        *result = cudaDriverEntryPointSuccess;
    return cudaSuccess;
}

// --- the functions of allocator.h ---

static c10::MempoolId_t id_of(vs_pool_id id)
{
    return {id.first, id.second};
}

static std::string settings(const vs_allocator_config &c)
{
    const uint64_t mib = 1 << 20, large = c.large_segment_size ? c.large_segment_size : 20 * mib;
    std::string text = "large_segment_size_mb:" + std::to_string(large / mib);
    text += ",max_split_size_mb:" +
            (c.max_split_size ? std::to_string(c.max_split_size / mib) : "1000000000");
    text += ",max_non_split_rounding_mb:" +
            std::to_string((c.max_non_split_rounding ? c.max_non_split_rounding : large) / mib);
    if (c.garbage_collection_threshold > 0)
        text += ",garbage_collection_threshold:" + std::to_string(c.garbage_collection_threshold);
    text += ",expandable_segments:" + std::string(c.expandable_segments ? "True" : "False");
    text += ",roundup_power2_divisions:[";
    for (int i = 0; i < VS_ROUNDUP_SLOTS; i++) {
        unsigned divisions = c.roundup_power2_divisions[i] ? c.roundup_power2_divisions[i] : 1;
        text += i < VS_ROUNDUP_SLOTS - 1 ? std::to_string(1 << i) : ">";
        text += ":" + std::to_string(divisions) + (i < VS_ROUNDUP_SLOTS - 1 ? "," : "]");
    }
    return text;
}

static void on_trace_entry(vs_allocator *a, const Trace &entry)
{
    static const std::map<int, vs_allocator_event_kind> kinds = {
        {Trace::ALLOC, VS_ALLOCATOR_ALLOC},
        {Trace::FREE_REQUESTED, VS_ALLOCATOR_FREE},
        {Trace::FREE_COMPLETED, VS_ALLOCATOR_FREE_COMPLETED},
        {Trace::SEGMENT_ALLOC, VS_ALLOCATOR_SEGMENT_ALLOC},
        {Trace::SEGMENT_FREE, VS_ALLOCATOR_SEGMENT_FREE},
        {Trace::SEGMENT_MAP, VS_ALLOCATOR_SEGMENT_MAP},
        {Trace::SEGMENT_UNMAP, VS_ALLOCATOR_SEGMENT_UNMAP},
        {Trace::OOM, VS_ALLOCATOR_OOM}};
    auto kind = kinds.find(entry.action_);
    if (entry.device_ != a->index || kind == kinds.end() || !a->sink.event)
        return;
    vs_allocator_event event = {};
    event.kind = kind->second;
    event.addr = entry.addr_;
    event.requested = event.size = entry.size_;
    event.stream = number(entry.stream_);
    a->sink.event(a->sink_ctx, &event);
}

extern "C" enum vs_err vs_allocator_create(const struct vs_allocator_config *config,
                                           const struct vs_device_ops *ops, void *ops_ctx,
                                           const struct vs_event_sink *sink, void *sink_ctx,
                                           struct vs_allocator **out)
{
    if (made == DEVICES)
        return VS_ERR_LIMIT; // run another process for more seeds
    auto *a = new vs_allocator{made, ops, static_cast<fake_device *>(ops_ctx), *sink, sink_ctx,
                                {}, {}, 0};
    allocators[made++] = a;
    current = a->index;
    c10::cuda::_internal::setHasPrimaryContext([](c10::DeviceIndex) { return true; });
    c10::CachingAllocator::setAllocatorSettings(settings(*config));
    if (a->index == 0)
        c10::cuda::detail::init_p2p_access_cache(DEVICES);
    caching::init(made);
    caching::attachAllocatorTraceTracker([a](const Trace &entry) { on_trace_entry(a, entry); });
    if (config->memory_fraction > 0 && config->memory_fraction < 1)
        caching::setMemoryFraction(config->memory_fraction, a->index);
    *out = a;
    return VS_OK;
}

// Releases everything: PyTorch empties the caches of all devices at once, and here all devices have
// the same addresses.
extern "C" void vs_allocator_destroy(struct vs_allocator *a)
{
    if (!a)
        return;
    a->sink.event = nullptr;
    current = a->index;
    for (const auto &block : a->live)
        caching::raw_delete(reinterpret_cast<void *>(block.first));
    for (const auto &pool : a->begun) {
        vs_pool_id id = {pool.first.first, pool.first.second};
        if (pool.second)
            (void)vs_allocator_pool_end(a, id);
        while (!vs_allocator_pool_release(a, id))
            ;
    }
    caching::emptyCache();
}

static uint64_t allocated(const vs_allocator *a)
{
    return caching::getDeviceStats(a->index).allocated_bytes[0].current;
}

extern "C" enum vs_err vs_allocator_malloc_for(struct vs_allocator *a, size_t bytes, uint64_t stream,
                                               bool, void *, struct vs_allocation *out)
{
    current = a->index;
    *out = {};
    uint64_t before = allocated(a);
    try {
        out->addr = reinterpret_cast<uintptr_t>(
            caching::raw_alloc_with_stream(bytes, handle(stream)));
    } catch (const c10::OutOfMemoryError &) {
        return VS_ERR_DEVICE_OOM;
    }
    out->requested = bytes;
    out->size = allocated(a) - before;
    a->live[out->addr] = *out;
    return VS_OK;
}

extern "C" enum vs_err vs_allocator_record_stream(struct vs_allocator *a, uint64_t addr,
                                                  uint64_t stream)
{
    current = a->index;
    void *ptr = reinterpret_cast<void *>(addr);
    c10::Device device(c10::DeviceType::CUDA, a->index);
    c10::DataPtr data(ptr, ptr, caching::get()->raw_deleter(), device);
    caching::recordStream(data, c10::cuda::getStreamFromExternal(handle(stream), a->index));
    data.release_context();
    return VS_OK;
}

extern "C" enum vs_err vs_allocator_free_for(struct vs_allocator *a, uint64_t addr, uint64_t stream, void *)
{
    current = a->index;
    if (!a->live.count(addr))
        return VS_ERR_FOREIGN;
    if (stream != VS_NO_STREAM)
        (void)vs_allocator_record_stream(a, addr, stream);
    a->live.erase(addr);
    caching::raw_delete(reinterpret_cast<void *>(addr));
    return VS_OK;
}

extern "C" enum vs_err vs_allocator_find(struct vs_allocator *a, uint64_t addr,
                                         struct vs_allocation *out, bool *live)
{
    auto found = a->live.find(addr);
    if (found == a->live.end())
        return VS_ERR_FOREIGN;
    *out = found->second;
    *live = true;
    return VS_OK;
}

static enum vs_err emptied(vs_allocator *a, c10::MempoolId_t id, uint64_t *released)
{
    current = a->index;
    auto reserved = [a] { return caching::getDeviceStats(a->index).reserved_bytes[0].current; };
    uint64_t before = reserved();
    caching::emptyCache(id);
    *released = before - reserved();
    return VS_OK;
}

extern "C" enum vs_err vs_allocator_empty_cache(struct vs_allocator *a, uint64_t *released)
{
    return emptied(a, {0, 0}, released);
}

extern "C" enum vs_err vs_allocator_set_memory_fraction(struct vs_allocator *a, double fraction)
{
    current = a->index;
    caching::setMemoryFraction(fraction, a->index);
    return VS_OK;
}

static vs_stat same(const c10::CachingAllocator::Stat &s)
{
    return {(uint64_t)s.current, (uint64_t)s.peak, (uint64_t)s.allocated, (uint64_t)s.freed};
}

extern "C" void vs_allocator_stats(struct vs_allocator *a, struct vs_allocator_stats *out)
{
    auto s = caching::getDeviceStats(a->index);
    std::memset(out, 0, sizeof *out);
    for (int pool = 0; pool < VS_STAT_POOLS; pool++) {
#define COPY(name) out->name[pool] = same(s.name[pool]);
        VS_ALLOCATOR_POOL_STATS(COPY)
#undef COPY
    }
    out->oversize_allocations = same(s.oversize_allocations);
    out->oversize_segments = same(s.oversize_segments);
    out->num_alloc_retries = s.num_alloc_retries;
    out->num_ooms = s.num_ooms;
    out->num_sync_all_streams = s.num_sync_all_streams;
    out->num_device_alloc = s.num_device_alloc;
    out->num_device_free = s.num_device_free;
}

extern "C" void vs_allocator_reset_peaks(struct vs_allocator *a)
{
    caching::get()->resetPeakStats(a->index);
}

extern "C" void vs_allocator_reset_accumulated(struct vs_allocator *a)
{
    caching::get()->resetAccumulatedStats(a->index);
}

extern "C" void vs_allocator_snapshot(struct vs_allocator *a,
                                      void (*visit)(void *, const struct vs_segment_info *,
                                                    const struct vs_block_info *),
                                      void *ctx)
{
    vs_event_sink sink = a->sink;
    a->sink.event = nullptr;
    auto segments = caching::snapshot({0, 0}, false).segments;
    a->sink = sink;
    std::sort(segments.begin(), segments.end(),
              [](const auto &x, const auto &y) { return x.address < y.address; });
    for (const auto &s : segments) {
        if (s.device != a->index)
            continue;
        vs_segment_info segment = {s.address, s.total_size, number(s.stream),
                                   s.is_large ? VS_POOL_LARGE : VS_POOL_SMALL, s.is_expandable,
                                   {s.owner_private_pool_id.first, s.owner_private_pool_id.second}};
        visit(ctx, &segment, nullptr);
        uint64_t addr = s.address;
        for (const auto &b : s.blocks) {
            vs_block_info block = {addr, b.size, b.active ? b.requested_size : 0,
                                   b.allocated ? VS_BLOCK_LIVE
                                   : b.active  ? VS_BLOCK_PENDING
                                               : VS_BLOCK_FREE};
            visit(ctx, &segment, &block);
            addr += b.size;
        }
    }
}

// --- private pools; PyTorch's assertions are checked first; a begun pool counts as a capture ---

static enum vs_err users_of(const vs_allocator *a, vs_pool_id id, uint64_t *users)
{
    try {
        *users = caching::getPoolUseCount(a->index, id_of(id));
        return VS_OK;
    } catch (const c10::Error &) {
        return VS_ERR_NOT_FOUND;
    }
}

extern "C" enum vs_err vs_allocator_pool_begin(struct vs_allocator *a, struct vs_pool_id id,
                                               vs_pool_filter *filter, void *ctx)
{
    current = a->index;
    uint64_t users = 0;
    bool there = users_of(a, id, &users) == VS_OK;
    bool &begun = a->begun[id_of(id)];
    if (there && (!users || begun))
        return VS_ERR_STATE;
    caching::beginAllocateToPool(a->index, id_of(id), [filter, ctx](cudaStream_t stream) {
        return !filter || filter(ctx, number(stream));
    });
    caching::markCaptureBegin(a->index);
    a->captures++;
    begun = true;
    return VS_OK;
}

extern "C" enum vs_err vs_allocator_pool_end(struct vs_allocator *a, struct vs_pool_id id)
{
    bool &begun = a->begun[id_of(id)];
    if (!begun)
        return VS_ERR_STATE;
    begun = false;
    caching::endAllocateToPool(a->index, id_of(id));
    caching::markCaptureEnd(a->index);
    a->captures--;
    return VS_OK;
}

extern "C" enum vs_err vs_allocator_pool_release(struct vs_allocator *a, struct vs_pool_id id)
{
    uint64_t users;
    enum vs_err err = users_of(a, id, &users);
    if (!err && (!users || (users == 1 && a->begun[id_of(id)])))
        err = VS_ERR_STATE;
    if (!err)
        caching::releasePool(a->index, id_of(id));
    return err;
}

// --- functions that PyTorch does not have and the test does not call ---

extern "C" enum vs_err vs_allocator_check(struct vs_allocator *) { return VS_OK; }
extern "C" void vs_allocator_abandon(struct vs_allocator *) {}
extern "C" uint64_t vs_allocator_sync_begin(struct vs_allocator *) { return 0; }
extern "C" void vs_allocator_sync_end(struct vs_allocator *, uint64_t) {}
