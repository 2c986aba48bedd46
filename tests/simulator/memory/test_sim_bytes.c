/* SPDX-License-Identifier: Apache-2.0
 *
 * usage: test_sim_bytes [FIRST COUNT]
 *
 * A simulated device runs out of bytes, never of addresses: random programs (device memory, virtual
 * memory, pools, graphs) against a plain sum of bytes with the rounding of docs/internals/simulator.md. After
 * each step cuMemGetInfo must return the sum, and a request is refused exactly when its bytes are
 * more than the free ones. The seeds FIRST to FIRST + COUNT - 1 (0 to 299) choose the programs. A
 * third of the requests is for all free bytes, and some are for one page more. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "sim_test.h"

#define PAGE (2 * MIB)
#define STEPS 160
#define MOST 400 /* live at once */

static const char *const devices[] = {
    "h200-141g,time=off",
    "h100-80g,time=off,addresses=linux",
    "h100-80g,time=off,addresses=lowest,hole=198MiB@94",
    "a100-40g,time=off,capacity=1GiB,context=24MiB",
    "a100-40g,time=off,capacity=1GiB,context=24MiB,addresses=linux",
    "h100-80g,time=off,others=900MiB,addresses=lowest",
};
#define DEVICES (sizeof devices / sizeof devices[0])

enum kind { DEVICE, MAPPED, POOL, GRAPH, KINDS };

static struct memory {
    enum kind kind;
    CUdeviceptr at;
    size_t bytes;
    CUmemGenericAllocationHandle handle;
    CUgraph graph;
    CUgraphExec exec;
} live[MOST];
static size_t count, at_rest; /* at_rest: used without any of them */
static size_t graph_used, graph_reserved;
static CUmemoryPool pools[2];
static uint64_t state, seed;
static int step;
static bool only_device; /* of a program: no other kind */

static void require(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "seed %llu, step %d (%s): %s\n", (unsigned long long)seed, step,
            getenv("VRAMSCOPE_SIMULATE"), what);
    exit(1);
}

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = state ^ state >> 29;
    return (x * 0x9E3779B97F4A7C15u >> 20) % below;
}

static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) & ~(PAGE - 1); }

static size_t used_bytes(void)
{
    size_t total;
    OK(cuDeviceTotalMem(&total, 0));
    return total - sim_free_bytes();
}

/* Pages of small requests are shared: one each, whoever is in it. */
static size_t sum_of_bytes(void)
{
    size_t sum = at_rest + graph_reserved;
    for (size_t i = 0; i < count; i++) {
        struct memory *m = &live[i];
        bool again = false;
        for (size_t k = 0; k < i && m->kind == DEVICE && m->bytes < MIB; k++)
            again |= live[k].kind == DEVICE && live[k].bytes < MIB && live[k].at / PAGE == m->at / PAGE;
        if ((m->kind == DEVICE && !again) || m->kind == MAPPED)
            sum += whole_pages(m->bytes);
    }
    for (size_t i = 0; i < 2; i++) {
        cuuint64_t reserved;
        OK(cuMemPoolGetAttribute(pools[i], CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
        sum += reserved;
    }
    return sum;
}

static CUresult map_new(struct memory *m)
{
    m->bytes = whole_pages(m->bytes);
    CUresult e = cuMemCreate(&m->handle, m->bytes, &sim_prop, 0);
    if (!e)
        m->at = sim_map(m->handle, m->bytes);
    return e;
}

static CUresult graph_new(struct memory *m)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = m->bytes};
    CUgraphNode node;
    m->graph = sim_graph();
    CUresult e = cuGraphAddMemAllocNode(&node, m->graph, NULL, 0, &p);
    m->at = p.dptr;
    if (!e) {
        m->exec = sim_exec(m->graph);
        if ((e = cuGraphLaunch(m->exec, NULL)))
            OK(cuGraphExecDestroy(m->exec));
    }
    if (e) {
        OK(cuGraphDestroy(m->graph));
        return e;
    }
    OK(cuCtxSynchronize());
    size_t kept = graph_reserved - graph_used, bytes = whole_pages(m->bytes);
    graph_reserved += bytes > kept ? bytes - kept : 0;
    graph_used += bytes;
    return e;
}

static void release(size_t i)
{
    struct memory *m = &live[i];
    switch (m->kind) {
    case DEVICE: OK(cuMemFree(m->at)); break;
    case POOL:
        OK(cuMemFreeAsync(m->at, NULL));
        OK(cuCtxSynchronize());
        break;
    case MAPPED:
        sim_unmap(m->at, m->bytes);
        OK(cuMemRelease(m->handle));
        break;
    case GRAPH:
        OK(cuMemFree(m->at));
        OK(cuGraphExecDestroy(m->exec));
        OK(cuGraphDestroy(m->graph));
        graph_used -= whole_pages(m->bytes);
        break;
    case KINDS: break;
    }
    *m = live[--count];
}

/* The bytes that the request adds to the sum if nothing that is kept serves it. */
static size_t bytes_needed(const struct memory *m)
{
    size_t kept = m->kind == GRAPH ? graph_reserved - graph_used : 0;
    return whole_pages(m->bytes) > kept ? whole_pages(m->bytes) - kept : 0;
}

static void request(size_t bytes)
{
    struct memory m = {.kind = only_device ? DEVICE : (enum kind)draw(KINDS), .bytes = bytes};
    size_t before = sim_free_bytes();
    CUresult e = CUDA_SUCCESS;
    switch (m.kind) {
    case DEVICE: e = cuMemAlloc(&m.at, bytes); break;
    case MAPPED: e = map_new(&m); break;
    case POOL: e = cuMemAllocFromPoolAsync(&m.at, bytes, pools[draw(2)], NULL); break;
    case GRAPH: e = graph_new(&m); break;
    case KINDS: break;
    }
    if (e) {
        require(e == CUDA_ERROR_OUT_OF_MEMORY, "another error than out of memory");
        require(bytes_needed(&m) > before && bytes_needed(&m) > sim_free_bytes(),
                "refused, though its bytes are free");
        return;
    }
    live[count++] = m;
    require(used_bytes() == sum_of_bytes(), "served, and the sum of bytes is another");
}

static size_t size_of_request(size_t growing)
{
    size_t room = sim_free_bytes();
    switch (draw(6)) {
    case 0: return growing < room ? growing : PAGE;
    case 1:
    case 2: return room & ~(PAGE - 1) ? room & ~(PAGE - 1) : PAGE;
    case 3: return room + PAGE;
    case 4: return 1 + draw(MIB);
    default: return 1 + draw(room / (1 + draw(64)) + PAGE);
    }
}

static void program(void)
{
    size_t growing = (1 + draw(2000)) * MIB, more = (1 + draw(1000)) * MIB;
    unsigned grows = (unsigned)draw(2) * 30; /* of 32 steps */
    only_device = draw(2);
    for (step = 0; step < STEPS; step++) {
        size_t keeps = count;
        if (draw(32) < grows) { /* something large, something that is kept, and the large one ends */
            request(growing += more);
            if (count > keeps && count < MOST)
                request(1 + draw(16 * MIB));
            if (count > keeps)
                release(keeps);
        } else if (count < MOST - 1 && draw(5) < 3) {
            request(size_of_request(growing));
        } else {
            for (uint64_t n = draw(1 + draw(12)) + 1; n && count; n--)
                release(draw(count));
        }
        if (draw(16) == 0) {
            OK(cuDeviceGraphMemTrim(0));
            graph_reserved = graph_used;
        }
        require(used_bytes() == sum_of_bytes(), "the sum of bytes is another");
    }
    while (count)
        release(count - 1);
    OK(cuDeviceGraphMemTrim(0));
    graph_reserved = 0;
    require(used_bytes() == at_rest, "bytes are in use after the end");
}

/* Regression: every free left a separate mapping in a large device's window, and after about 30,000
 * of them the kernel refused the next allocation. */
static void free_many_times(void)
{
    for (step = 0; step < 50000; step++)
        sim_alloc_and_free(PAGE);
}

/* Every second page is freed: more pieces than the host has mappings for a process (65,530). The
 * program still gets some for itself. */
static void more_pieces_than_mappings(void)
{
    size_t pages = sim_free_bytes() / PAGE;
    CUdeviceptr *at = calloc(pages, sizeof *at);
    for (size_t i = 0; i < pages; i++)
        OK(cuMemAlloc(&at[i], PAGE));
    for (size_t i = pages & ~(size_t)1; i; i -= 2)
        OK(cuMemFree(at[i - 2]));
    for (int i = 0; i < 100; i++)
        require(mmap(NULL, PAGE, i & 1 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
                    MAP_FAILED, "the program has no mappings left");
    for (size_t i = 0; i < 200; i += 2)
        OK(cuMemAlloc(&at[i], PAGE));
    *(volatile char *)at[198] = 1;
    exit(0); /* freeing all would take long */
}

static void run_seeds(uint64_t first, uint64_t end)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    sim_start();
    for (size_t i = 0; i < 2; i++)
        OK(cuMemPoolCreate(&pools[i], &props));
    at_rest = used_bytes();
    /* A step allocates 1000 + 400 s MiB, keeps 2 MiB and frees the large block. */
    only_device = true;
    for (step = 0; count == (size_t)step; step++) {
        request((1000 + 400 * (size_t)step) * MIB);
        request(PAGE);
        if (count > (size_t)step)
            release((size_t)step);
    }
    while (count)
        release(count - 1);
    if (first % DEVICES == 0)
        free_many_times();
    if (first == end)
        more_pieces_than_mappings();
    for (seed = first; seed < end; seed += DEVICES) {
        state = seed * 2654435761u + 1;
        program();
    }
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t end = first + (argc > 2 ? strtoull(argv[2], NULL, 10) : 300);
    int failed = 0, status;
    for (size_t i = 0; i <= DEVICES; i++)
        if (!fork()) {
            setenv("VRAMSCOPE_SIMULATE", devices[i % DEVICES], 1);
            run_seeds(i < DEVICES ? first + i : end, end);
            exit(0);
        }
    while (wait(&status) > 0)
        failed |= !WIFEXITED(status) || WEXITSTATUS(status);
    if (!failed)
        printf("%llu random programs: each refused exactly when its bytes ran out\n",
               (unsigned long long)(end - first));
    return failed;
}
