/* SPDX-License-Identifier: Apache-2.0
 *
 * Many threads on several devices for some time: every family of memory, streams of their own,
 * blocks that another thread frees while another device is current. Each block contains a mark of
 * its own, checked before the free, so that memory given to two owners is detected by the program
 * itself, also without the checker. VICTIM_SOAK_SECONDS: duration; scripts/soak runs this for a
 * minute. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "victim.h"

VICTIM("soak")

#define THREADS 24
#define DEVICES 4
#define OWN 24        /* blocks that a thread keeps */
#define SHARED 128    /* blocks left for any other thread */
#define MARK_BYTES 64
#define MARKED_MAX (4 * KIB) /* marked bytes of a block: more would take too long */

enum kind { PLAIN, PITCHED, ORDERED, MANAGED, PINNED, ARRAY, KINDS };
static const int family[KINDS] = {VT_DEVICE, VT_DEVICE, VT_ASYNC, VT_MANAGED, VT_PINNED,
                                  VT_ARRAY};

struct block {
    void *memory; /* NULL: none */
    size_t bytes;
    enum kind kind;
    int device;
    unsigned char mark;
};

struct worker {
    pthread_t thread;
    uint64_t random;
    cudaStream_t streams[DEVICES];
    struct block own[OWN];
    uint64_t rounds;
};

static struct worker workers[THREADS];
static struct block shared[SHARED]; /* guarded by its lock */
static pthread_mutex_t locks[SHARED];
static _Atomic bool over;

static uint64_t draw(struct worker *w, uint64_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random % below;
}

static cudaError_t allocate(struct worker *w, struct block *b)
{
    static const struct cudaChannelFormatDesc byte = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    size_t pitch;
    switch (b->kind) {
    case PLAIN: return cudaMalloc(&b->memory, b->bytes);
    case PITCHED: /* whole rows, so that the real size is the requested one */
        b->bytes = (b->bytes / (2 * KIB) + 1) * 2 * KIB;
        return cudaMallocPitch(&b->memory, &pitch, 2 * KIB, b->bytes / (2 * KIB));
    case ORDERED: return cudaMallocAsync(&b->memory, b->bytes, w->streams[b->device]);
    case MANAGED: return cudaMallocManaged(&b->memory, b->bytes, cudaMemAttachGlobal);
    case ARRAY:
        b->bytes = (b->bytes / KIB + 1) * KIB;
        return cudaMallocArray((cudaArray_t *)&b->memory, &byte, KIB, b->bytes / KIB, 0);
    default: return cudaMallocHost(&b->memory, b->bytes);
    }
}

/* A block of some kind and size, marked by work on a stream; empty if there is no memory. A thread
 * that frees it need not wait for that work: its mark identifies its owner. */
static struct block make(struct worker *w, int device)
{
    static const enum kind often[] = {PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PITCHED, ORDERED, ORDERED,
                                      MANAGED, PINNED, ARRAY};
    struct block b = {.kind = often[draw(w, sizeof often / sizeof *often)], .device = device,
                      .mark = (unsigned char)draw(w, 256)};
    size_t order = draw(w, 23);
    b.bytes = ((size_t)1 << order) + draw(w, (uint64_t)1 << order);
    cudaError_t e = allocate(w, &b);
    if (e != cudaSuccess) {
        CHECK(e == cudaErrorMemoryAllocation && cudaGetLastError() == e);
        tally_failed(family[b.kind]);
        return (struct block){0};
    }
    tally_alloc(family[b.kind], (int64_t)b.bytes);
    if (b.kind == ARRAY)
        b.bytes = 0; /* not checked */
    else if (b.kind == PINNED)
        memset(b.memory, b.mark, b.bytes < MARK_BYTES ? b.bytes : MARK_BYTES);
    else
        OK(cudaMemsetAsync(b.memory, b.mark, b.bytes < MARKED_MAX ? b.bytes : MARKED_MAX,
                           w->streams[device]));
    if (b.kind == ARRAY)
        return b;
    if (b.kind != PLAIN || draw(w, 2)) /* cudaFree of plain memory waits by itself */
        OK(cudaStreamSynchronize(w->streams[device]));
    else
        b.mark = 0, b.bytes = 0;
    return b;
}

static void look_at(struct worker *w, const struct block *b)
{
    unsigned char seen[MARK_BYTES];
    size_t n = b->bytes < MARK_BYTES ? b->bytes : MARK_BYTES;
    if (!n)
        return; /* work on it may still run */
    if (b->kind == PINNED) {
        memcpy(seen, b->memory, n);
    } else {
        OK(cudaMemcpyAsync(seen, b->memory, n, cudaMemcpyDefault, w->streams[b->device]));
        OK(cudaStreamSynchronize(w->streams[b->device]));
    }
    for (size_t i = 0; i < n; i++)
        CHECK(seen[i] == b->mark);
}

static void drop(struct worker *w, struct block *b)
{
    if (!b->memory)
        return;
    look_at(w, b);
    tally_free(family[b->kind]);
    if (b->kind == PINNED)
        OK(cudaFreeHost(b->memory));
    else if (b->kind == ARRAY)
        OK(cudaFreeArray(b->memory));
    else if (b->kind == ORDERED && draw(w, 4))
        OK(cudaFreeAsync(b->memory, w->streams[b->device]));
    else
        OK(cudaFree(b->memory)); /* with any current device */
    b->memory = NULL;
}

/* Leaves a block for other threads, and takes the one that was there. */
static void exchange(struct worker *w, struct block *b)
{
    size_t i = draw(w, SHARED);
    pthread_mutex_lock(&locks[i]);
    struct block other = shared[i];
    shared[i] = *b;
    pthread_mutex_unlock(&locks[i]);
    *b = other;
}

/* Creates, maps and releases physical memory. */
static void map_once(struct worker *w, int device)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t bytes = (1 + draw(w, 3)) * 2 * MIB;
    CUdeviceptr at;
    CUresult r = cuMemCreate(&handle, bytes, &prop, 0);
    if (r == CUDA_ERROR_OUT_OF_MEMORY) {
        tally_failed(VT_VMM);
        return;
    }
    ALLOCATES(VT_VMM, bytes, r);
    OK(cuMemAddressReserve(&at, bytes, 0, 0, 0));
    OK(cuMemMap(at, bytes, 0, handle, 0));
    OK(cuMemSetAccess(at, bytes, &access, 1));
    OK(cudaMemsetAsync((void *)(uintptr_t)at, 1, KIB, w->streams[device]));
    OK(cudaStreamSynchronize(w->streams[device]));
    bool early = draw(w, 2);
    if (early)
        OK(cuMemRelease(handle));
    OK(cuMemUnmap(at, bytes));
    if (!early)
        OK(cuMemRelease(handle));
    tally_free(VT_VMM);
    OK(cuMemAddressFree(at, bytes));
}

static void ask(struct worker *w, int device)
{
    size_t free_bytes, total;
    struct cudaPointerAttributes attributes;
    const struct block *b = &w->own[draw(w, OWN)];
    switch (draw(w, 16)) {
    case 0:
        OK(cudaMemGetInfo(&free_bytes, &total));
        CHECK(free_bytes <= total);
        break;
    case 1: OK(cudaDeviceSynchronize()); break;
    case 2: OK(cudaStreamSynchronize(w->streams[device])); break;
    case 3:
        if (!b->memory || b->kind == ARRAY)
            break;
        OK(cudaPointerGetAttributes(&attributes, b->memory));
        CHECK(b->kind == PINNED || b->kind == MANAGED || attributes.device == b->device);
        break;
    case 4: map_once(w, device); break;
    default: break;
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        OK(cudaStreamCreateWithFlags(&w->streams[d], draw(w, 2) ? cudaStreamNonBlocking : 0));
    }
    for (; !atomic_load_explicit(&over, memory_order_relaxed); w->rounds++) {
        int device = (int)draw(w, DEVICES);
        struct block *b = &w->own[draw(w, OWN)];
        OK(cudaSetDevice(device));
        if (!b->memory)
            *b = make(w, device);
        else if (draw(w, 2))
            drop(w, b);
        else
            exchange(w, b);
        ask(w, device);
    }
    for (int i = 0; i < OWN; i++)
        drop(w, &w->own[i]);
    return NULL;
}

CASE(soak, "24 threads on 4 devices, all families, frees by other threads", VF_SHARED_ONLY,
     SIMULATE("h100-80g,devices=4,capacity=2GiB,context=400MiB,time=off"))
{
    const char *text = getenv("VICTIM_SOAK_SECONDS");
    double seconds = text ? atof(text) : 0.5;
    struct timespec pause = {.tv_sec = (time_t)seconds,
                             .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    uint64_t rounds = 0;
    int count = 0, can;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == DEVICES);
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        for (int peer = 0; peer < DEVICES; peer++) {
            if (peer == d)
                continue;
            OK(cudaDeviceCanAccessPeer(&can, d, peer));
            CHECK(can);
            OK(cudaDeviceEnablePeerAccess(peer, 0));
        }
    }
    for (int i = 0; i < SHARED; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        workers[i].random = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    nanosleep(&pause, NULL);
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
        rounds += workers[i].rounds;
    }
    for (int i = 0; i < SHARED; i++)
        drop(&workers[0], &shared[i]);
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceSynchronize());
        for (int i = 0; i < THREADS; i++)
            OK(cudaStreamDestroy(workers[i].streams[d]));
    }
    if (text)
        fprintf(stderr, "%llu rounds\n", (unsigned long long)rounds);
    puts("every block was its owner's alone");
}

/* The device differs: see below. */
AGAIN(soak_checked, soak, "24 threads on 4 devices under the simulator's checker", 0,
      SIMULATE("h100-80g,devices=4,capacity=2GiB,context=400MiB,time=off,check=fail"))

AGAIN(soak_limited, soak, "24 threads on 4 devices with little memory (--limit)", VF_SHARED_ONLY,
      SIMULATE("h100-80g,devices=4,capacity=2GiB,context=400MiB,time=off,check=fail"),
      ENV("VRAMSCOPE_LIMIT=48MiB"))
