/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of one device that another device's work still reads when it is freed: however peer access
 * was enabled, cudaFree waits for the work. And memory that other devices read and write through a
 * descriptor. */
#include "victim_memory.h"

VICTIM("sharing")

#define BYTES ((size_t)6 << 20)
enum { ROUNDS = 8 };

static int let_in_by_library(CUcontext owner)
{
    int (*lets_in)(CUcontext);
    void *library = dlopen(beside("libpeer_library.so"), RTLD_NOW | RTLD_LOCAL);
    *(void **)&lets_in = find(library, "library_lets_in");
    return lets_in(owner);
}

static int let_in_by_entry_point(CUcontext owner)
{
    CUresult (*enable)(CUcontext, unsigned) = NULL;
    void *fn = NULL;
    OK(cudaGetDriverEntryPointByVersion("cuCtxEnablePeerAccess", &fn, 13000, 0, NULL));
    memcpy(&enable, &fn, sizeof fn);
    return (int)enable(owner, 0);
}

static int let_in_by_runtime(CUcontext owner)
{
    (void)owner;
    return (int)cudaDeviceEnablePeerAccess(0, 0);
}

static int not_let_in(CUcontext owner) /* copies between devices still read its memory */
{
    (void)owner;
    return 0;
}

static void work_begins_late(void *unused)
{
    (void)unused;
    usleep(5000);
}

/* Each round's memory is freed while a copy on the other device has yet to read it, and reused
 * after a wait for the owner, which does not cover work of the other device. */
static void read_after_free(int (*let_in)(CUcontext))
{
    CUcontext owner, reader;
    OK(cudaSetDevice(0));
    OK(cudaFree(NULL));
    OK(cuCtxGetCurrent(&owner));
    OK(cudaSetDevice(1));
    OK(cudaFree(NULL));
    OK(cuCtxGetCurrent(&reader));
    printf("let in: %d\n", let_in(owner));
    CUstream copies;
    OK(cuStreamCreate(&copies, CU_STREAM_NON_BLOCKING));
    CUdeviceptr to = allocate(BYTES);
    int wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned char byte = 0;
        OK(cuCtxSetCurrent(owner));
        CUdeviceptr from = allocate(BYTES);
        OK(cuMemsetD8(from, (unsigned char)(i + 1), BYTES));
        OK(cuCtxSynchronize());
        OK(cuCtxSetCurrent(reader));
        OK(cuLaunchHostFunc(copies, work_begins_late, NULL));
        OK(cuMemcpyDtoDAsync(to, from, BYTES, copies));
        OK(cuCtxSetCurrent(let_in == not_let_in ? reader : owner)); /* whose work the free waits for */
        release(from);
        OK(cuCtxSetCurrent(owner));
        OK(cuCtxSynchronize());
        CUdeviceptr next = allocate(BYTES);
        OK(cuMemsetD8(next, 200, BYTES));
        OK(cuCtxSynchronize());
        OK(cuCtxSetCurrent(reader));
        OK(cuStreamSynchronize(copies));
        OK(cuMemcpyDtoH(&byte, to + BYTES - 1, 1));
        wrong += byte != i + 1;
        release(next);
    }
    printf("copies of what came later: %d\n", wrong);
    release(to);
}

#define TWO SIMULATE("a100-40g,capacity=1GiB,context=400MiB,devices=2")

CASE_OF(peer_by_dlsym, read_after_free(let_in_by_library),
        "peers: cuCtxEnablePeerAccess through dlsym in a library, memory freed while read", 0, TWO)

AGAIN(peer_by_dlsym_compact, peer_by_dlsym,
      "peers: cuCtxEnablePeerAccess through dlsym, policy compact", VF_CACHING_ONLY, TWO,
      ENV("VRAMSCOPE_POLICY=compact"))

CASE_OF(peer_by_entry_point, read_after_free(let_in_by_entry_point),
        "peers: access enabled through cudaGetDriverEntryPointByVersion", 0, TWO)
CASE_OF(peer_by_runtime, read_after_free(let_in_by_runtime),
        "peers: access enabled by cudaDeviceEnablePeerAccess", 0, TWO)

CASE_OF(no_peer, read_after_free(not_let_in), "peers: no access, copies between devices", VF_COMPACT, TWO)
AGAIN(peer_by_runtime_expandable, peer_by_runtime,
      "peers: access enabled by cudaDeviceEnablePeerAccess, expandable segments", VF_CACHING_ONLY, TWO,
      ENV("VRAMSCOPE_ALLOC_CONF=expandable_segments:True"))
AGAIN(no_peer_expandable, no_peer, "peers: no access, copies between devices, expandable segments",
      VF_CACHING_ONLY, TWO, ENV("VRAMSCOPE_ALLOC_CONF=expandable_segments:True"))

/* --- devices of others: a descriptor of memory (dma-buf) --- */

#define PIECE ((size_t)64 << 10)
enum { PIECES = 16, LATER = 64 };

static int descriptor_of(CUdeviceptr p, int *error)
{
    int fd = -1;
    *error = (int)cuMemGetHandleForAddressRange(&fd, p, PIECE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    return *error ? -1 : fd;
}

/* Number of bytes equal to *value* behind the descriptor, which the simulated device can read. */
static long bytes_behind(int fd, unsigned char value)
{
    static unsigned char bytes[PIECE];
    long n = 0;
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (at < 0 || pread(fd, bytes, sizeof bytes, at) != (ssize_t)sizeof bytes)
        return -1;
    for (size_t i = 0; i < sizeof bytes; i++)
        n += bytes[i] == value;
    return n;
}

static CUdeviceptr piece(unsigned char value)
{
    CUdeviceptr p = allocate(PIECE);
    OK(cuMemsetD8(p, value, PIECE));
    return p;
}

/* A descriptor covers its block only, and no other block once that is freed. */
CASE(descriptors, "dma-buf: descriptors of memory, which is not reused after a free", 0)
{
    CUdeviceptr p[PIECES], later[LATER];
    int fd[PIECES], error, given = 0;
    long others = 0;
    start();
    for (int i = 0; i < PIECES; i++)
        p[i] = piece((unsigned char)(i + 1));
    OK(cuCtxSynchronize());
    for (int i = 0; i < PIECES; i++) {
        fd[i] = descriptor_of(p[i], &error);
        given += !error;
        if (!error)
            CHECK(bytes_behind(fd[i], (unsigned char)(i + 1)) == (long)PIECE);
        else
            printf("not given: %d\n", error);
    }
    printf("given %d\n", given);
    for (int i = 0; i < PIECES; i++)
        release(p[i]);
    for (int i = 0; i < LATER; i++)
        later[i] = piece(200);
    OK(cuCtxSynchronize());
    for (int i = 0; i < PIECES; i++) {
        others += fd[i] < 0 ? 0 : bytes_behind(fd[i], 200);
        close(fd[i]);
    }
    /* the simulated driver reuses freed memory; cached memory is not reused */
    const char *preload = getenv("LD_PRELOAD"), *mode = getenv("VRAMSCOPE_ALLOCATOR");
    CHECK(!others || !preload || !strstr(preload, "libvramscope") || strcmp(mode, "caching") != 0);
    for (int i = 0; i < LATER; i++)
        release(later[i]);
    printf("of freed memory %d", descriptor_of(later[0], &error) >= 0);
    printf(" %d\n", error);
}

AGAIN(descriptors_compact, descriptors, "dma-buf: descriptors of memory, policy compact",
      VF_CACHING_ONLY, ENV("VRAMSCOPE_POLICY=compact"),
      STDERR_HAS("cuMemGetHandleForAddressRange failed"),
      REFUSED(CACHING, "mapped memory is refused where the driver refuses it; use --ipc=always"))
