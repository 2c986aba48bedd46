// SPDX-License-Identifier: Apache-2.0
// Histogram with atomics in shared and device memory. Everything the kernels keep is in
// __device__, __constant__ and __managed__ variables, some with initial values.
#include <vector>

#include "histogram_kernels.cuh"
#include "program.h"

int main()
{
    const int n = 300000, rounds = 4;
    unsigned char edges[BINS];
    std::vector<unsigned char> data(n);
    unsigned expected[BINS] = {}, got[BINS], done = 0, best = 0;
    unsigned long long seen = 0;
    for (int b = 0; b < BINS; b++)
        edges[b] = (unsigned char)(b * b / 16);
    for (int i = 0; i < n; i++) {
        data[i] = (unsigned char)(noise(i) * noise(i + n) * 256.0f);
        int bin = BINS - 1;
        while (edges[bin] > data[i])
            bin--;
        expected[bin] += rounds;
    }
    for (int b = 1; b < BINS; b++)
        if (expected[b] > expected[best])
            best = b;

    CUDA_CHECK(cudaMemcpyFromSymbol(&done, rounds_done, sizeof done));
    printf("before: rounds %u, busiest %d\n", done, busiest);
    bool ok = done == 100 && busiest == -1;
    CUDA_CHECK(cudaMemcpyToSymbol(first_of_bin, edges, sizeof edges));
    Device<unsigned char> d_data(data);
    for (int r = 0; r < rounds; r++)
        count_bytes<<<30, 192>>>(d_data, n);
    find_busiest<<<1, 32>>>();
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());

    void *address;
    size_t bytes;
    CUDA_CHECK(cudaGetSymbolAddress(&address, histogram));
    CUDA_CHECK(cudaGetSymbolSize(&bytes, histogram));
    ok &= bytes == sizeof got;
    CUDA_CHECK(cudaMemcpy(got, address, sizeof got, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpyFromSymbol(&done, rounds_done, sizeof done));
    CUDA_CHECK(cudaMemcpyFromSymbol(&seen, text::bytes_seen, sizeof seen));
    int wrong = 0;
    for (int b = 0; b < BINS; b++)
        wrong += got[b] != expected[b];
    printf("after: rounds %u, bytes %llu, busiest %d with %u, %d bins wrong\n", done, seen, busiest,
           got[best], wrong);
    ok &= wrong == 0 && done == 100u + rounds && seen == (unsigned long long)n * rounds &&
          busiest == (int)best;

    CUDA_CHECK(cudaMemset(address, 0, sizeof got)); // and through its address again
    count_bytes<<<1, 64>>>(d_data, 1000);
    CUDA_CHECK(cudaMemcpyFromSymbol(got, histogram, sizeof got));
    unsigned total = 0;
    for (unsigned count : got)
        total += count;
    printf("once more: %u\n", total);
    ok &= total == 1000;
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
