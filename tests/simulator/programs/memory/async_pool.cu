// SPDX-License-Identifier: Apache-2.0
// Temporary memory in stream order: the default pool with a release threshold, so that it
// keeps its memory; then an explicit pool, trimmed by hand. Two streams pass memory on.
#include <cinttypes>

#include "async_pool_kernels.cuh"
#include "program.h"

static uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr what)
{
    uint64_t value = 0;
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, what, &value));
    return value;
}

static unsigned long long expected_sum(unsigned from, int n)
{
    unsigned long long sum = 0;
    for (int i = 0; i < n; i++)
        sum += (unsigned)((from + i) * (from + i));
    return sum;
}

// Runs *rounds* of work, each on memory of a different size; returns the number of wrong results.
static int work(cudaStream_t stream, cudaStream_t other, cudaMemPool_t pool, int rounds)
{
    unsigned long long *d_sum, sum;
    Event filled(cudaEventDisableTiming);
    int wrong = 0;
    CUDA_CHECK(cudaMallocFromPoolAsync(&d_sum, sizeof *d_sum, pool, stream));
    for (int r = 0; r < rounds; r++) {
        int n = 40000 + 7777 * (r % 5);
        unsigned *v;
        CUDA_CHECK(cudaMallocFromPoolAsync(&v, n * sizeof *v, pool, stream));
        fill_squares<<<40, 128, 0, stream>>>(v, n, 1000u * r);
        CUDA_CHECK(cudaMemsetAsync(d_sum, 0, sizeof *d_sum, stream));
        CUDA_CHECK(cudaEventRecord(filled, stream));
        CUDA_CHECK(cudaStreamWaitEvent(other, filled, 0));
        add_up<<<40, 128, 0, other>>>(v, n, d_sum);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaFreeAsync(v, other)); // the one that used it last
        CUDA_CHECK(cudaMemcpyAsync(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost, other));
        CUDA_CHECK(cudaStreamSynchronize(other));
        wrong += sum != expected_sum(1000u * r, n);
    }
    CUDA_CHECK(cudaFreeAsync(d_sum, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return wrong;
}

int main()
{
    int supported = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    if (!supported) {
        printf("no memory pools on this device\n");
        return 77;
    }
    Stream stream, other;
    cudaMemPool_t standard, own;
    uint64_t keep = UINT64_MAX, none = 0;
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
    CUDA_CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &keep));
    int wrong = work(stream, other, standard, 20);
    CUDA_CHECK(cudaDeviceSynchronize());
    uint64_t kept = attribute(standard, cudaMemPoolAttrReservedMemCurrent);
    printf("default pool: %d wrong, used %" PRIu64 ", keeps its memory: %s\n", wrong,
           attribute(standard, cudaMemPoolAttrUsedMemCurrent), kept ? "yes" : "no");
    bool ok = wrong == 0 && kept > 0 && attribute(standard, cudaMemPoolAttrUsedMemCurrent) == 0 &&
              attribute(standard, cudaMemPoolAttrUsedMemHigh) >= 40000 * sizeof(unsigned);
    CUDA_CHECK(cudaMemPoolTrimTo(standard, 0));
    ok &= attribute(standard, cudaMemPoolAttrReservedMemCurrent) == 0;
    CUDA_CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &none));

    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = 0;
    CUDA_CHECK(cudaMemPoolCreate(&own, &props));
    wrong = work(stream, other, own, 20);
    CUDA_CHECK(cudaDeviceSynchronize());
    printf("own pool: %d wrong, reserved at the end %" PRIu64 "\n", wrong,
           attribute(own, cudaMemPoolAttrReservedMemCurrent));
    ok &= wrong == 0 && attribute(own, cudaMemPoolAttrUsedMemCurrent) == 0;
    CUDA_CHECK(cudaMemPoolDestroy(own));
    printf("%s\n", ok ? "ok" : "WRONG");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
