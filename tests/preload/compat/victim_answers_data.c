/* SPDX-License-Identifier: Apache-2.0
 *
 * Integrity of data: every block is filled when allocated and checked after every operation that
 * might have given its memory to another owner: allocations of all kinds, frees by the other
 * family's function, captures, registrations, exports, a second context and device, and memory
 * running short. No byte may ever change. */
#include "victim_memory.h"

VICTIM("answers")

enum { LIVE = 48, STEPS = 500 };

static struct {
    void *p;
    size_t bytes;
    unsigned char value;
    int family; /* of the tally */
    int device;
} blocks[LIVE];

static uint64_t random_state;

static uint64_t next_random(uint64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % below;
}

static void check(int i)
{
    unsigned char *host = malloc(blocks[i].bytes);
    CHECK(host);
    OK(cudaMemcpy(host, blocks[i].p, blocks[i].bytes, cudaMemcpyDefault));
    CHECK(host[0] == blocks[i].value && memcmp(host, host + 1, blocks[i].bytes - 1) == 0);
    free(host);
}

static void check_all(int devices)
{
    for (int d = 0; d < devices; d++) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceSynchronize());
    }
    for (int i = 0; i < LIVE; i++)
        if (blocks[i].p)
            check(i);
}

static void fill(int i, cudaStream_t stream)
{
    blocks[i].value = (unsigned char)next_random(256);
    if (blocks[i].family == VT_PINNED)
        memset(blocks[i].p, blocks[i].value, blocks[i].bytes);
    else
        OK(cudaMemsetAsync(blocks[i].p, blocks[i].value, blocks[i].bytes, stream));
}

static void take_block(int i, cudaStream_t stream)
{
    static const int families[] = {VT_DEVICE, VT_DEVICE, VT_DEVICE, VT_DEVICE,
                                   VT_ASYNC,  VT_ASYNC,  VT_MANAGED, VT_PINNED};
    static const size_t around[] = {1,      512,    4096, 4096,    70000,   70000,
                                    300000, 700000, MIB,  2 * MIB, 5 * MIB, 12 * MIB};
    size_t bytes = 1 + next_random(around[next_random(sizeof around / sizeof *around)]);
    blocks[i].bytes = bytes;
    blocks[i].family = families[next_random(sizeof families / sizeof *families)];
    OK(cudaGetDevice(&blocks[i].device));
    switch (blocks[i].family) {
    case VT_DEVICE: OK(cudaMalloc(&blocks[i].p, bytes)); break;
    case VT_ASYNC: OK(cudaMallocAsync(&blocks[i].p, bytes, stream)); break;
    case VT_MANAGED: OK(cudaMallocManaged(&blocks[i].p, bytes, cudaMemAttachGlobal)); break;
    default: OK(cudaMallocHost(&blocks[i].p, bytes)); break;
    }
    tally_alloc(blocks[i].family, (int64_t)bytes);
    fill(i, stream);
}

/* Frees by the function of its own family or, where CUDA allows it, of the other one. */
static void give_block(int i, cudaStream_t stream)
{
    int crossed = next_random(4) == 0;
    switch (blocks[i].family) {
    case VT_DEVICE:
        OK(crossed ? cudaFreeAsync(blocks[i].p, stream) : cudaFree(blocks[i].p));
        break;
    case VT_ASYNC:
        if (crossed)
            OK(cudaStreamSynchronize(stream));
        OK(crossed ? cudaFree(blocks[i].p) : cudaFreeAsync(blocks[i].p, stream));
        break;
    case VT_MANAGED: OK(cudaFree(blocks[i].p)); break;
    default: OK(cudaStreamSynchronize(stream)); OK(cudaFreeHost(blocks[i].p)); break;
    }
    tally_free(blocks[i].family);
    blocks[i].p = NULL;
}

/* Exports or registers a block: its memory must not be reused from then on. */
static void notify_others(int i)
{
    cudaIpcMemHandle_t handle;
    unsigned on = 1;
    if (next_random(2))
        OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                                 (CUdeviceptr)(uintptr_t)blocks[i].p));
    else if (cudaIpcGetMemHandle(&handle, blocks[i].p))
        (void)cudaGetLastError();
}

static void schedule(uint64_t seed, int exchanging, int devices)
{
    cudaStream_t streams[2][2];
    random_state = seed;
    for (int d = 0; d < devices; d++) {
        OK(cudaSetDevice(d));
        OK(cudaStreamCreate(&streams[d][0]));
        OK(cudaStreamCreateWithFlags(&streams[d][1], cudaStreamNonBlocking));
        if (devices > 1)
            OK(cudaDeviceEnablePeerAccess(1 - d, 0));
    }
    for (int step = 0; step < STEPS; step++) {
        int i = (int)next_random(LIVE);
        int d = blocks[i].p ? blocks[i].device : (int)next_random((uint64_t)devices);
        cudaStream_t stream = streams[d][i % 2]; /* always the same for a block */
        OK(cudaSetDevice(d));
        if (!blocks[i].p) {
            take_block(i, stream);
            continue;
        }
        OK(cudaStreamSynchronize(stream));
        check(i);
        if (exchanging && blocks[i].family == VT_DEVICE && next_random(3) == 0)
            notify_others(i);
        if (next_random(3))
            give_block(i, stream);
        else
            fill(i, stream);
        if (step % 100 == 0)
            check_all(devices);
    }
    check_all(devices);
    for (int i = 0; i < LIVE; i++) {
        if (!blocks[i].p)
            continue;
        OK(cudaSetDevice(blocks[i].device));
        give_block(i, streams[blocks[i].device][i % 2]);
    }
    puts("all as it was written");
}

#define COMPACT ENV("VRAMSCOPE_POLICY=compact")
#define TWO SIMULATE("t4-16g,devices=2")

CASE_OF(mixed, schedule(1, 0, 1),
        "no data is overwritten: all kinds of memory, freed by either family's function", 0)
CASE_OF(exchanged, schedule(3, 1, 1), "no data is overwritten: registered and exported blocks", 0)
CASE_OF(two_devices, schedule(5, 1, 2), "no data is overwritten: two devices with peer access", 0,
        TWO)

AGAIN(mixed_compact, mixed, "no data is overwritten: all kinds of memory, policy compact",
      VF_CACHING_ONLY, COMPACT)
AGAIN(exchange_compact, exchanged,
      "no data is overwritten: registered and exported blocks, policy compact", VF_CACHING_ONLY,
      COMPACT, STDERR_HAS("--ipc=always"))
AGAIN(two_devices_compact, two_devices,
      "no data is overwritten: two devices with peer access, policy compact", VF_CACHING_ONLY, TWO,
      COMPACT, STDERR_HAS("--ipc=always"))

/* --- frees of the other family, one by one --- */

CASE(crossed_frees, "memory of cudaMalloc freed in stream order, pool memory freed by cudaFree", 0)
{
    void *p;
    unsigned char bytes[4096];
    cudaStream_t stream = new_stream(0);
    for (int i = 0; i < 30; i++) {
        p = take(3 * MIB);
        OK(cudaMemsetAsync(p, 7, 3 * MIB, stream));
        OK(cudaMemcpyAsync(bytes, p, sizeof bytes, cudaMemcpyDeviceToHost, stream));
        FREES(VT_DEVICE, cudaFreeAsync(p, stream)); /* in stream order, after the copy */
        void *q = take(3 * MIB);
        OK(cudaMemset(q, 9, 3 * MIB));
        OK(cudaStreamSynchronize(stream));
        for (size_t k = 0; k < sizeof bytes; k++)
            CHECK(bytes[k] == 7);
        give(q);
        ALLOCATES(VT_ASYNC, MIB, cudaMallocAsync(&p, MIB, stream));
        OK(cudaStreamSynchronize(stream));
        FREES(VT_ASYNC, cudaFree(p));
    }
    printf("again %d\n", (int)cudaFreeAsync(p, stream));
    printf("nothing %d\n", (int)cudaFreeAsync(NULL, stream));
}

/* Memory that does not belong to a node is not freed in a capture, and is unchanged. */
CASE(freed_in_a_capture, "cudaFreeAsync of memory of cudaMalloc during a capture", 0)
{
    cudaGraph_t graph = NULL;
    enum cudaStreamCaptureStatus status;
    void *p = take(5000);
    unsigned char byte = 0;
    cudaStream_t stream = new_stream(0);
    OK(cudaMemset(p, 3, 5000));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    printf("freed there %d", (int)cudaFreeAsync(p, stream));
    OK(cudaStreamIsCapturing(stream, &status));
    printf(" capture %d", (int)status);
    printf(" ended %d graph %d\n", (int)cudaStreamEndCapture(stream, &graph), graph != NULL);
    (void)cudaGetLastError();
    if (graph)
        OK(cudaGraphDestroy(graph));
    OK(cudaMemcpy(&byte, p, 1, cudaMemcpyDeviceToHost));
    printf("still %d\n", byte);
    give(p);
}

/* --- memory that only fits if the cache releases some --- */

static void fill_the_cache(void)
{
    void *p[6];
    for (int i = 0; i < 6; i++)
        p[i] = take(100 * MIB);
    for (int i = 0; i < 6; i++)
        give(p[i]);
}

CASE(room_for_others, "pools, arrays, physical memory and contexts need memory that is cached", 0,
     SIMULATE("t4-16g,capacity=1100MiB,context=400MiB"))
{
    void *p;
    CUcontext first;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR plane = {16384, 8192, CU_AD_FORMAT_FLOAT, 1};
    CUmemGenericAllocationHandle physical;
    CUmemAllocationProp prop = on_device(0);
    start();
    OK(cuCtxGetCurrent(&first));
    fill_the_cache();
    ALLOCATES(VT_ASYNC, 600 * MIB, cudaMallocAsync(&p, 600 * MIB, NULL));
    FREES(VT_ASYNC, cudaFreeAsync(p, NULL));
    OK(cudaDeviceSynchronize());
    fill_the_cache();
    ALLOCATES(VT_ARRAY, 512 * MIB, cuArrayCreate(&array, &plane));
    FREES(VT_ARRAY, cuArrayDestroy(array));
    fill_the_cache();
    ALLOCATES(VT_VMM, 600 * MIB, cuMemCreate(&physical, 600 * MIB, &prop, 0));
    FREES(VT_VMM, cuMemRelease(physical));
    fill_the_cache();
    CUcontext context = new_context(0); /* takes 400 MiB of the device */
    puts("a context");
    release(allocate(150 * MIB));
    OK(cuCtxSetCurrent(first));
    /* the cache of the other context releases memory */
    release(allocate(150 * MIB));
    OK(cuCtxDestroy(context));
}

/* It would share the device with cached memory, and migrate back and forth. */
CASE(room_for_managed, "managed memory needs memory that is cached", 0,
     SIMULATE("t4-16g,capacity=1100MiB,context=400MiB"))
{
    size_t before, after, total;
    void *p;
    OK(cudaFree(NULL));
    OK(cudaMemGetInfo(&before, &total));
    fill_the_cache();
    ALLOCATES(VT_MANAGED, 600 * MIB, cudaMallocManaged(&p, 600 * MIB, cudaMemAttachGlobal));
    OK(cuMemPrefetchAsync((CUdeviceptr)(uintptr_t)p, 600 * MIB,
                          (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaMemGetInfo(&after, &total));
    printf("resident %zu MiB\n", (before - after) / MIB);
    FREES(VT_MANAGED, cudaFree(p));
}

AGAIN(room_for_others_compact, room_for_others,
      "managed memory needs memory that is cached, policy compact", VF_CACHING_ONLY,
      SIMULATE("t4-16g,capacity=1100MiB,context=400MiB"), ENV("VRAMSCOPE_POLICY=compact"))
