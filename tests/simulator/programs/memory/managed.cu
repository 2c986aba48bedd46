// SPDX-License-Identifier: Apache-2.0
// Managed memory, more of it than a small device holds: each piece is prefetched, worked
// on, and read by the host where it lies. Advice for a table that all kernels read.
#include <cmath>
#include <vector>

#include "managed_kernels.cuh"
#include "program.h"

static const size_t PIECE = 1u << 17; // floats, 512 KiB
static const int PIECES = 20;

int main()
{
    int managed = 0, concurrent = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&managed, cudaDevAttrManagedMemory, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
    if (!managed || !concurrent) {
        printf("no concurrent managed access on this device\n");
        return 77;
    }
    size_t before = 0, unused = 0, device = 0;
    CUDA_CHECK(cudaMemGetInfo(&before, &device));
    cudaMemLocation gpu = {}, cpu = {};
    gpu.type = cudaMemLocationTypeDevice;
    gpu.id = 0;
    cpu.type = cudaMemLocationTypeHost;
    Stream stream;

    float *table;
    CUDA_CHECK(cudaMallocManaged(&table, PIECE * sizeof(float)));
    for (size_t i = 0; i < PIECE; i++)
        table[i] = (float)(i % 13);
    CUDA_CHECK(cudaMemAdvise(table, PIECE * sizeof(float), cudaMemAdviseSetReadMostly, gpu));
    CUDA_CHECK(cudaMemPrefetchAsync(table, PIECE * sizeof(float), gpu, 0, stream));

    std::vector<float *> piece(PIECES);
    unsigned long long expected = 1;
    for (int p = 0; p < PIECES; p++) {
        CUDA_CHECK(cudaMallocManaged(&piece[p], PIECE * sizeof(float)));
        for (size_t i = 0; i < PIECE; i++)
            piece[p][i] = (float)((i + p) % 7);
        CUDA_CHECK(cudaMemPrefetchAsync(piece[p], PIECE * sizeof(float), gpu, 0, stream));
        axpy<<<96, 256, 0, stream>>>((float)(p + 1), table, piece[p], PIECE);
        if (p % 5 == 0)
            sum_up<<<96, 256, 0, stream>>>(piece[p], PIECE);
        CUDA_CHECK(cudaGetLastError());
        if (p % 2) // every other one goes back, the rest stays where there is room
            CUDA_CHECK(cudaMemPrefetchAsync(piece[p], PIECE * sizeof(float), cpu, 0, stream));
    }
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaMemGetInfo(&unused, &device));
    fprintf(stderr, "device %zu MiB, managed %zu MiB, free before %zu and now %zu MiB\n",
            device >> 20, (PIECES + 1) * PIECE * sizeof(float) >> 20, before >> 20, unused >> 20);

    size_t wrong = 0;
    for (int p = 0; p < PIECES; p++)
        for (size_t i = 0; i < PIECE; i++) {
            float right = (float)(p + 1) * (float)(i % 13) + (float)((i + p) % 7);
            wrong += piece[p][i] != right;
            if (p % 5 == 0)
                expected += (unsigned long long)right;
        }
    printf("%d pieces, %zu wrong, sum %llu\n", PIECES, wrong, total);
    bool ok = wrong == 0 && total == expected && unused <= device;
    total = 0; // the host writes it, the next kernel counts on
    sum_up<<<96, 256, 0, stream>>>(table, PIECE);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    unsigned long long of_table = 0;
    for (size_t i = 0; i < PIECE; i++)
        of_table += i % 13;
    printf("sum of the table %llu, %s\n", total, total == of_table ? "ok" : "WRONG");
    ok &= total == of_table;
    for (float *p : piece)
        CUDA_CHECK(cudaFree(p));
    CUDA_CHECK(cudaFree(table));
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
