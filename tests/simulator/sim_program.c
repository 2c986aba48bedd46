/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as users write it, built by the C compiler alone: scale a vector in chunks with pinned
 * double buffering over two streams, sum it, compare with the host. Exits 0 when the numbers are
 * right. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim_stub.h"
#include "vramscope_simulator.h"

#define CHECK(call)                                                                            \
    do {                                                                                       \
        cudaError_t error_ = (call);                                                           \
        if (error_ != cudaSuccess) {                                                           \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_)); \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

enum { CHUNK = 1 << 16, CHUNKS = 24, THREADS = 256 };

/* ---- kernels, and their host functions for the simulated GPU ---- */

static float factor; /* the host shadows of variables in device code */
static int *launches_pointer;
#define launches (*launches_pointer)
struct range {
    const float *values;
    int first, last;
};

static void scale(void) {}
static void sum(void) {}
static void **image;

__attribute__((constructor)) static void register_program(void)
{
    image = __cudaRegisterFatBinary(sim_stub_fat_binary());
    sim_stub_kernel(image, scale, "scale");
    sim_stub_kernel(image, sum, "sum");
    __cudaRegisterVar(image, (char *)&factor, (char *)"factor", "factor", 0, sizeof factor, 1, 0);
    __cudaRegisterManagedVar(image, (void **)&launches_pointer, (char *)"launches", "launches", 0,
                             sizeof(int), 0, 0);
    __cudaRegisterFatBinaryEnd(image);
}

static void host_scale(const struct vramscope_sim_launch *launch, unsigned long first,
                       unsigned long last)
{
    float *v = *(float **)launch->args[0];
    int n = *(int *)launch->args[1];
    float by = *(float *)launch->args[2];
    for (unsigned long i = first * launch->block[0];
         i < last * launch->block[0] && i < (unsigned long)n; i++)
        v[i] *= by;
}

static void host_sum(const struct vramscope_sim_launch *launch, unsigned long first,
                     unsigned long last)
{
    const struct range *r = (const struct range *)launch->args[0];
    double *partial = *(double **)launch->args[1];
    for (unsigned long b = first; b < last; b++) {
        double s = 0;
        for (int i = r->first + (int)b; i < r->last; i += (int)launch->grid[0])
            s += r->values[i];
        partial[b] = s;
    }
}

int main(void)
{
    enum { BLOCKS = 64 };
    static const size_t scale_bytes[] = {sizeof(float *), sizeof(int), sizeof(float)};
    static const size_t sum_bytes[] = {sizeof(struct range), sizeof(double *)};
    float *pinned[2], *device, by = 2.5f, by_back = 0;
    double *partial, partials[BLOCKS], total = 0, expected = 0;
    cudaStream_t stream[2];
    cudaEvent_t begin, end, copied[2];
    float ms;
    CHECK(cudaFree(0));
    vramscope_sim_register("scale", host_scale, scale_bytes, 3);
    vramscope_sim_register("sum", host_sum, sum_bytes, 2);
    __cudaInitModule(image); /* what nvcc inserts before the first access of a managed variable */
    launches = 0;
    CHECK(cudaMemcpyToSymbol(&factor, &by, sizeof by, 0, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyFromSymbol(&by_back, &factor, sizeof by, 0, cudaMemcpyDeviceToHost));
    CHECK(cudaMalloc((void **)&device, sizeof(float) * CHUNK * CHUNKS));
    CHECK(cudaMalloc((void **)&partial, sizeof partials));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int k = 0; k < 2; k++) {
        CHECK(cudaMallocHost((void **)&pinned[k], sizeof(float) * CHUNK));
        CHECK(cudaStreamCreate(&stream[k]));
        CHECK(cudaEventCreateWithFlags(&copied[k], cudaEventDisableTiming));
    }
    CHECK(cudaEventRecord(begin, NULL));
    for (int c = 0; c < CHUNKS; c++) {
        int k = c % 2;
        CHECK(cudaEventSynchronize(copied[k])); /* the buffer is free again */
        for (int i = 0; i < CHUNK; i++)
            pinned[k][i] = (float)((c * CHUNK + i) % 1000);
        CHECK(cudaMemcpyAsync(device + c * CHUNK, pinned[k], sizeof(float) * CHUNK,
                              cudaMemcpyHostToDevice, stream[k]));
        CHECK(cudaEventRecord(copied[k], stream[k]));
        float *chunk = device + c * CHUNK;
        void *args[] = {&chunk, &(int){CHUNK}, &by_back};
        CHECK(cudaLaunchKernel((const void *)scale, (dim3){CHUNK / THREADS, 1, 1},
                               (dim3){THREADS, 1, 1}, args, 0, stream[k]));
        launches++;
    }
    struct range r = {device, 0, CHUNK * CHUNKS};
    void *args[] = {&r, &partial};
    CHECK(cudaLaunchKernel((const void *)sum, (dim3){BLOCKS, 1, 1}, (dim3){32, 1, 1}, args, 0,
                           NULL)); /* default stream: waits for both */
    CHECK(cudaEventRecord(end, NULL));
    CHECK(cudaMemcpy(partials, partial, sizeof partials, cudaMemcpyDeviceToHost));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    for (int i = 0; i < BLOCKS; i++)
        total += partials[i];
    for (int k = 0; k < 2; k++) {
        CHECK(cudaFreeHost(pinned[k]));
        CHECK(cudaStreamDestroy(stream[k]));
        CHECK(cudaEventDestroy(copied[k]));
    }
    CHECK(cudaFree(partial));
    CHECK(cudaFree(device));
    for (int i = 0; i < CHUNK * CHUNKS; i++)
        expected += (double)((float)(i % 1000) * by);
    printf("sum %.1f, expected %.1f, launches %d\n", total, expected, launches);
    return total == expected && launches == CHUNKS && ms > 0 ? 0 : 1;
}
