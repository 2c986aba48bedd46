// SPDX-License-Identifier: Apache-2.0
//
// Stream-ordered memory as PyTorch requests it: streams, uses on other streams, and a graph with a
// private pool whose streams are selected by a std::function. Prints "ok" or the first line that
// was wrong.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstring>
#include <functional>
#include <new>
#include <vector>

#include "check_line.h"
#include "vramscope.h"

static int64_t figure(const char *key)
{
    int64_t value = -99;
    CHECK(vramscope_get_statistic(0, key, &value) == 0);
    return value;
}

static void *get(size_t bytes, cudaStream_t stream)
{
    return vramscope_torch_alloc(bytes, 0, stream);
}

static void put(void *p, cudaStream_t stream)
{
    vramscope_torch_free(p, 0, 0, stream);
}

static bool holds(const void *p, unsigned char value)
{
    std::vector<unsigned char> host(MIB);
    CHECK(cudaMemcpy(host.data(), p, MIB, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (unsigned char byte : host)
        if (byte != value)
            return false;
    return true;
}

static void streams(cudaStream_t s, cudaStream_t t)
{
    void *a = get(3 * MIB, s);
    CHECK(a && figure("allocation.all.current") == 1);
    put(a, s);
    CHECK(get(3 * MIB, s) == a); /* the same stream, immediately */
    put(a, s);
    void *other = get(3 * MIB, t); /* another stream has memory of its own */
    CHECK(other && other != a);
    put(other, t);
    CHECK(get(3 * MIB, s) == a);
    CHECK(cudaMemsetAsync(a, 1, 3 * MIB, t) == cudaSuccess);
    vramscope_torch_record_stream(a, t);
    put(a, s); /* t may still use it */
    CHECK(cudaStreamSynchronize(t) == cudaSuccess);
    CHECK(get(3 * MIB, s) == a);
    size_t bytes = 0;
    char *base = static_cast<char *>(vramscope_torch_base_alloc(static_cast<char *>(a) + 5, &bytes));
    CHECK(base && base <= a && base + bytes >= static_cast<char *>(a) + 3 * MIB);
    put(a, s);
    /* the query comes before sharing: later memory can be shared */
    void *shared = get(5 * MIB, s);
    cudaIpcMemHandle_t handle;
    base = static_cast<char *>(vramscope_torch_base_alloc(shared, &bytes));
    CHECK(base && base <= shared && base + bytes >= static_cast<char *>(shared) + 5 * MIB);
    CHECK(cudaIpcGetMemHandle(&handle, base) == cudaSuccess);
    put(shared, s);
    CHECK(get(0, s) == nullptr);
    put(nullptr, s);
    CHECK(get(size_t{1} << 50, s) == nullptr && get(1, nullptr) != nullptr);
    CHECK(vramscope_torch_alloc(1, 63, s) == nullptr);
    CHECK(figure("allocation.all.current") == 1 && figure("num_ooms") >= 1);
    vramscope_torch_reset();
    /* of the one byte: shared, it has no segment around it */
    int64_t kept = figure("reserved_bytes.all.current");
    CHECK(kept > 0 && kept <= static_cast<int64_t>(2 * MIB));
}

static void graph(cudaStream_t s, cudaStream_t t)
{
    const vramscope_torch_pool pool = {0, 7};
    int asked = 0;
    cudaGraph_t made;
    cudaGraphExec_t exec;
    std::function<bool(cudaStream_t)> filter = [&asked, s](cudaStream_t stream) {
        asked++;
        return stream == s;
    };
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(get(MIB, s) == nullptr); /* nothing would keep it for the graph */
    vramscope_torch_begin_allocate_to_pool(0, pool, &filter);
    filter = nullptr; /* it was copied */
    void *first = get(MIB, s);
    CHECK(first && asked > 0);
    CHECK(cudaMemsetAsync(first, 5, MIB, s) == cudaSuccess);
    put(first, s);
    void *second = get(MIB, s);
    CHECK(second == first); /* reused within the graph */
    CHECK(cudaMemsetAsync(second, 6, MIB, s) == cudaSuccess);
    put(second, s);
    void *outside = get(MIB, t); /* not of the capture */
    CHECK(outside && outside != second);
    CHECK(cudaStreamEndCapture(s, &made) == cudaSuccess);
    vramscope_torch_end_allocate_to_pool(0, pool);
    CHECK(cudaGraphInstantiate(&exec, made, 0) == cudaSuccess);
    void *after = get(MIB, s); /* the graph's memory is free, but reserved for it */
    CHECK(after && after != second);
    CHECK(cudaMemsetAsync(after, 9, MIB, s) == cudaSuccess);
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphLaunch(exec, s) == cudaSuccess);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(holds(second, 6) && holds(after, 9));
    put(after, s);
    put(outside, t);
    vramscope_torch_reset();
    int64_t kept = figure("reserved_bytes.all.current");
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess && cudaGraphDestroy(made) == cudaSuccess);
    vramscope_torch_release_pool(0, pool);
    vramscope_torch_reset();
    CHECK(figure("reserved_bytes.all.current") < kept);
}

/* A capture unrelated to our memory survives an out-of-memory retry. */
static void other_capture(cudaStream_t s, cudaStream_t t)
{
    cudaGraph_t made;
    vramscope_torch_reset();
    put(get(3 * MIB, t), t); /* cached */
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(get(size_t{1} << 46, t) == nullptr);
    CHECK(cudaStreamEndCapture(s, &made) == cudaSuccess);
    CHECK(cudaGraphDestroy(made) == cudaSuccess);
    /* the capture of a destroyed stream is over, and cached memory is released again */
    cudaStream_t doomed;
    CHECK(cudaStreamCreate(&doomed) == cudaSuccess);
    CHECK(cudaStreamBeginCapture(doomed, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaStreamDestroy(doomed) == cudaSuccess);
    int64_t before = figure("reserved_bytes.all.current");
    put(get(300 * MIB, t), t);
    vramscope_torch_reset();
    CHECK(figure("reserved_bytes.all.current") <= before);
}

/* CUDA's own frees do not know these blocks: they are refused, and free no segment. */
static void freed_elsewhere(cudaStream_t s)
{
    size_t bytes = 0;
    cudaGraph_t made;
    vramscope_torch_reset();
    char *a = static_cast<char *>(get(3 * MIB, s)), *b = static_cast<char *>(get(3 * MIB, s));
    CHECK(a && b && cudaMemset(b, 8, MIB) == cudaSuccess);
    char *begin = static_cast<char *>(vramscope_torch_base_alloc(a, &bytes));
    int64_t live = figure("allocation.all.current"), held = figure("reserved_bytes.all.current");
    char *const wrong[] = {a, b, begin, a + 512, b + MIB};
    for (char *p : wrong) {
        CHECK(cudaFree(p) == cudaErrorInvalidValue);
        CHECK(cudaFreeAsync(p, s) == cudaErrorInvalidValue);
        CHECK(cudaFreeAsync(p, cudaStreamPerThread) == cudaErrorInvalidValue);
    }
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(cudaFreeAsync(a, s) == cudaErrorInvalidValue);
    CHECK(cudaStreamEndCapture(s, &made) == cudaSuccess);
    CHECK(cudaGraphDestroy(made) == cudaSuccess && cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(figure("allocation.all.current") == live && figure("reserved_bytes.all.current") == held);
    CHECK(holds(b, 8) && cudaDeviceSynchronize() == cudaSuccess);
    put(a, s); /* cached: still not to be freed by the driver */
    CHECK(cudaFree(begin) == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(holds(b, 8));
    put(b, s);
    void *own = nullptr; /* memory from the driver or the cache is freed as always */
    CHECK(cudaMalloc(&own, MIB) == cudaSuccess && cudaFree(own) == cudaSuccess);
    CHECK(cudaMallocAsync(&own, MIB, s) == cudaSuccess && cudaFreeAsync(own, s) == cudaSuccess);
}

/* With PyTorch's library in the process, out of memory is an exception. */
static void inside_pytorch(const char *libc10, cudaStream_t s)
{
    bool thrown = false;
    CHECK(dlopen(libc10, RTLD_NOW));
    try {
        get(size_t{1} << 50, s);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown);
    CHECK(get(0, s) == nullptr);
    void *p = get(MIB, s); /* it continues to work */
    CHECK(p);
    put(p, s);
    freed_elsewhere(s); /* the exception left nothing behind: the thread's calls are still ours */
}

int main(int argc, char **argv)
{
    cudaStream_t s, t;
    CHECK(cudaFree(nullptr) == cudaSuccess);
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess);
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking) == cudaSuccess);
    if (argc > 1 && *argv[1] == '/')
        inside_pytorch(argv[1], s);
    else if (argc > 1 && std::strcmp(argv[1], "frees") == 0)
        freed_elsewhere(s);
    else
        streams(s, t);
    if (argc < 2 || !*argv[1]) {
        graph(s, t);
        other_capture(s, t);
    }
    puts("ok");
    return 0;
}
