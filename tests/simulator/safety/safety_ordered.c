/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs on several streams that use the allocator in stream order, or, like cudaMalloc,
 * without streams: safety_ordered POLICY ordered|sync FIRST-SEED COUNT. The program is correct
 * (safety.h) and calls vs_allocator_record_stream for each other stream. */
#include "safety.h"

#include "allocator/core/allocator.h"

/* --- the device, for the allocator --- */

static enum vs_err from(CUresult r)
{
    return r == CUDA_SUCCESS ? VS_OK : r == CUDA_ERROR_OUT_OF_MEMORY ? VS_ERR_DEVICE_OOM : VS_ERR_DEVICE;
}

static const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                         .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};

/* An operation that is one call of the driver. */
#define OP(name, call, ...)                         \
    static enum vs_err name(void *ctx, __VA_ARGS__) \
    {                                               \
        (void)ctx;                                  \
        return from(call);                          \
    }
OP(segment_alloc, cuMemAlloc((CUdeviceptr *)addr, bytes), size_t bytes, uint64_t *addr)
OP(segment_free, ((void)bytes, cuMemFree(addr)), uint64_t addr, size_t bytes)
OP(event_synchronize, cuEventSynchronize((CUevent)(uintptr_t)event), uint64_t event)
OP(memory_info, cuMemGetInfo(free_bytes, total_bytes), uint64_t *free_bytes, uint64_t *total_bytes)
OP(range_reserve, cuMemAddressReserve((CUdeviceptr *)addr, bytes, 0, 0, 0), uint64_t bytes,
   uint64_t *addr)
OP(range_release, cuMemAddressFree(addr, bytes), uint64_t addr, uint64_t bytes)
OP(memory_create, cuMemCreate((CUmemGenericAllocationHandle *)handle, bytes, &prop, 0),
   uint64_t bytes, uint64_t *handle)
OP(memory_release, ((void)bytes, cuMemRelease(handle)), uint64_t handle, uint64_t bytes)
OP(memory_unmap, cuMemUnmap(addr, bytes), uint64_t addr, uint64_t bytes)
OP(stream_synchronize, cuStreamSynchronize(streams[stream]), uint64_t stream)

static enum vs_err synchronize(void *ctx)
{
    (void)ctx;
    return from(cuCtxSynchronize());
}

static enum vs_err event_record(void *ctx, uint64_t stream, uint64_t *event)
{
    CUevent e;
    (void)ctx;
    enum vs_err err = from(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    if (!err)
        err = from(cuEventRecord(e, streams[stream]));
    if (!err)
        *event = (uint64_t)(uintptr_t)e;
    return err;
}

static enum vs_err event_query(void *ctx, uint64_t event, bool *ready)
{
    (void)ctx;
    CUresult r = cuEventQuery((CUevent)(uintptr_t)event);
    *ready = r == CUDA_SUCCESS;
    return r == CUDA_ERROR_NOT_READY ? VS_OK : from(r);
}

static void event_release(void *ctx, uint64_t event)
{
    (void)ctx;
    cuEventDestroy((CUevent)(uintptr_t)event);
}

static enum vs_err memory_map(void *ctx, uint64_t addr, uint64_t bytes_each,
                              const uint64_t *handles, size_t count)
{
    CUmemAccessDesc access = {.location = prop.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    (void)ctx;
    for (size_t i = 0; i < count; i++)
        OK(cuMemMap(addr + i * bytes_each, bytes_each, 0, handles[i], 0));
    return from(cuMemSetAccess(addr, bytes_each * count, &access, 1));
}

static const struct vs_device_ops device_ops = {
    .segment_alloc = segment_alloc,
    .segment_free = segment_free,
    .synchronize = synchronize,
    .event_record = event_record,
    .event_query = event_query,
    .event_synchronize = event_synchronize,
    .event_release = event_release,
    .memory_info = memory_info,
    .range_reserve = range_reserve,
    .range_release = range_release,
    .memory_create = memory_create,
    .memory_release = memory_release,
    .memory_map = memory_map,
    .memory_unmap = memory_unmap,
    .stream_synchronize = stream_synchronize,
};

/* --- the program --- */

static const char *policy;
static bool ordered;
static struct vs_allocator *allocator;

static uint64_t allocate(uint64_t bytes, uint64_t stream)
{
    struct vs_allocation got = {0};
    enum vs_err err = vs_allocator_malloc(allocator, bytes, stream, &got);
    REQUIRE(err == VS_OK || err == VS_ERR_DEVICE_OOM);
    return err ? 0 : got.addr;
}

static void use_block(unsigned i)
{
    struct block *b = &blocks[i];
    use(b);
    if (b->at != b->home)
        REQUIRE(vs_allocator_record_stream(allocator, b->addr, b->at) == VS_OK);
}

static void free_block(unsigned i)
{
    REQUIRE(vs_allocator_free(allocator, blocks[i].addr) == VS_OK);
}

static void other(unsigned what)
{
    if (what == 95)
        vs_allocator_empty_cache(allocator, NULL);
}

static void run_seed(uint64_t seed)
{
    static const struct memory memory = {allocate, use_block, free_block, other};
    struct vs_allocator_config config = {.reuse = ordered ? VS_REUSE_STREAM_ORDERED
                                                          : VS_REUSE_AFTER_SYNC};
    while (vs_policies[config.policy] != vs_policy_named(policy))
        config.policy++;
    if (!draw(4))
        config.max_split_size = 32 * MIB;
    REQUIRE(vs_allocator_create(&config, &device_ops, NULL, NULL, NULL, &allocator) == VS_OK);
    run(&memory, seed);
    REQUIRE(vs_allocator_check(allocator) == VS_OK);
    vs_allocator_destroy(allocator);
}

int main(int argc, char **argv)
{
    policy = argc > 1 ? argv[1] : "";
    ordered = argc > 2 && !strcmp(argv[2], "ordered");
    REQUIRE(vs_policy_named(policy) != NULL);
    run_seeds(argc, argv, 4, run_seed);
    return 0;
}
