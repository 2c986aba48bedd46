/* SPDX-License-Identifier: Apache-2.0
 *
 * A program with an allocator of its own, which at some point starts serving large requests of the
 * whole process, including those of our libraries, from CUDA's managed memory. */
#include <cuda_runtime_api.h>
#include <stdatomic.h>

#include "victim.h"

VICTIM("hazards")

#define ARENA ((size_t)256 << 20)
#define LARGE ((size_t)8 << 10)

struct head {
    size_t bytes;
    size_t from_cuda;
};

static char arena[ARENA] __attribute__((aligned(64)));
static _Atomic size_t used;
static _Atomic int managed; /* large requests are CUDA's */
static _Thread_local int inside __attribute__((tls_model("initial-exec")));
static _Atomic int of_cuda;

static void *from_arena(size_t bytes)
{
    size_t at = atomic_fetch_add(&used, bytes);
    return at + bytes <= ARENA ? arena + at : NULL;
}

void *malloc(size_t bytes)
{
    struct head *h = NULL;
    size_t whole = (bytes + sizeof *h + 63) & ~(size_t)63;
    size_t from_cuda = 0;
    if (managed && bytes >= LARGE && !inside) {
        void *p = NULL;
        inside++;
        if (cudaMallocManaged(&p, whole, cudaMemAttachGlobal) == cudaSuccess) {
            h = p;
            from_cuda = 1;
            of_cuda++;
            tally_alloc(VT_MANAGED, (int64_t)whole);
        }
        inside--;
    }
    if (!h)
        h = from_arena(whole);
    if (!h) {
        errno = ENOMEM;
        return NULL;
    }
    *h = (struct head){bytes, from_cuda};
    return h + 1;
}

void free(void *p)
{
    struct head *h = (struct head *)p - 1;
    if (!p || !h->from_cuda)
        return;
    inside++;
    if (cudaFree(h) == cudaSuccess)
        tally_free(VT_MANAGED);
    inside--;
}

void *calloc(size_t n, size_t bytes)
{
    void *p = malloc(n * bytes);
    return p ? memset(p, 0, n * bytes) : NULL;
}

void *realloc(void *p, size_t bytes)
{
    void *q = malloc(bytes);
    if (p && q) {
        size_t old = ((struct head *)p - 1)->bytes;
        memcpy(q, p, old < bytes ? old : bytes);
        free(p);
    }
    return q;
}

void *memalign(size_t alignment, size_t bytes)
{
    size_t at = (size_t)from_arena(bytes + alignment + sizeof(struct head));
    struct head *h = (struct head *)((at + sizeof *h + alignment - 1) / alignment * alignment) - 1;
    *h = (struct head){bytes, 0};
    return h + 1;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **p, size_t alignment, size_t bytes)
{
    *p = memalign(alignment, bytes);
    return 0;
}

static void work(void)
{
    for (size_t i = 0; i < 30000; i++) {
        void *p;
        ALLOCATES(VT_DEVICE, ((i % 100 + 1) * 1000), cudaMalloc(&p, (i % 100 + 1) * 1000));
        FREES(VT_DEVICE, cudaFree(p));
    }
}

CASE_OF(allocator_of_its_own, work(), "defines its own malloc", 0)

/* our own requests to malloc are not recorded, and are in the program's tally */
CASE(allocator_over_cuda,
     "its malloc uses managed memory, also for vramscope (counts not compared)", VF_NO_TALLY)
{
    managed = 1; /* before the first call of its own: the start of recording allocates from CUDA */
    void *p = malloc(10 * LARGE);
    CHECK(p);
    work();
    free(p);
    p = malloc(LARGE);
    CHECK(p && of_cuda >= 2);
    work();
    free(p);
    managed = 0;
}
