// SPDX-License-Identifier: Apache-2.0
// Heat spreading over two plates at once, each in a stream of its own; a third stream
// waits for both by events and compares them.
#include <cmath>
#include <vector>

#include "program.h"
#include "stencil_kernels.cuh"

static const int WIDTH = 150, HEIGHT = 70, STEPS = 60;

static std::vector<float> plate(float hot)
{
    std::vector<float> p((size_t)WIDTH * HEIGHT, 20.0f);
    for (int x = 0; x < WIDTH; x++)
        p[x] = hot;
    for (int y = 0; y < HEIGHT; y++)
        p[(size_t)y * WIDTH] = 0.0f;
    return p;
}

static void host_step(std::vector<float> &to, const std::vector<float> &from, float k)
{
    to = from;
    for (int y = 1; y < HEIGHT - 1; y++)
        for (int x = 1; x < WIDTH - 1; x++) {
            const float *p = &from[(size_t)y * WIDTH + x];
            to[(size_t)y * WIDTH + x] =
                *p + k * (p[-WIDTH] + p[WIDTH] + p[-1] + p[1] - 4.0f * *p);
        }
}

int main()
{
    const size_t cells = (size_t)WIDTH * HEIGHT, bytes = cells * sizeof(float);
    const float hot[2] = {100.0f, 60.0f}, k = 0.2f;
    dim3 block(STENCIL_X, STENCIL_Y);
    dim3 grid((WIDTH + STENCIL_X - 1) / STENCIL_X, (HEIGHT + STENCIL_Y - 1) / STENCIL_Y);
    Device<float> fields[4] = {Device<float>(cells), Device<float>(cells), Device<float>(cells),
                               Device<float>(cells)};
    float *field[2][2] = {{fields[0], fields[1]}, {fields[2], fields[3]}};
    Pinned<float> result[2] = {Pinned<float>(cells), Pinned<float>(cells)};
    Device<unsigned> most(1);
    unsigned most_bits;
    Stream stream[2] = {Stream(cudaStreamNonBlocking), Stream(cudaStreamNonBlocking)};
    Stream compare(cudaStreamNonBlocking);
    Event begin, end;
    Event done[2] = {Event(cudaEventDisableTiming), Event(cudaEventDisableTiming)};
    CUDA_CHECK(cudaMemsetAsync(most, 0, sizeof most_bits, compare));
    CUDA_CHECK(cudaEventRecord(begin, compare));
    for (int f = 0; f < 2; f++) {
        std::vector<float> first = plate(hot[f]);
        memcpy(result[f], first.data(), bytes);
        CUDA_CHECK(cudaMemcpyAsync(field[f][0], result[f], bytes, cudaMemcpyHostToDevice, stream[f]));
    }
    for (int s = 0; s < STEPS; s++)
        for (int f = 0; f < 2; f++)
            heat_step<<<grid, block, 0, stream[f]>>>(field[f][(s + 1) % 2], field[f][s % 2], WIDTH,
                                                     HEIGHT, k);
    CUDA_CHECK(cudaGetLastError());
    for (int f = 0; f < 2; f++) {
        CUDA_CHECK(cudaEventRecord(done[f], stream[f]));
#ifndef MISSING_WAIT
        CUDA_CHECK(cudaStreamWaitEvent(compare, done[f], 0));
#endif
        CUDA_CHECK(cudaMemcpyAsync(result[f], field[f][STEPS % 2], bytes, cudaMemcpyDeviceToHost,
                                   stream[f]));
    }
    largest_difference<<<4, 128, 0, compare>>>(field[0][STEPS % 2], field[1][STEPS % 2],
                                               WIDTH * HEIGHT, most);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpyAsync(&most_bits, most, sizeof most_bits, cudaMemcpyDeviceToHost, compare));
    CUDA_CHECK(cudaEventRecord(end, compare));
    CUDA_CHECK(cudaDeviceSynchronize());
    fprintf(stderr, "%d steps of two plates: %.3f ms\n", STEPS, ms_between(begin, end));

    bool ok = true;
    std::vector<float> host[2][2];
    for (int f = 0; f < 2; f++) {
        host[f][0] = plate(hot[f]);
        float worst = 0;
        for (int s = 0; s < STEPS; s++)
            host_step(host[f][(s + 1) % 2], host[f][s % 2], k);
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            worst = fmaxf(worst, fabsf(result[f][i] - host[f][STEPS % 2][i]));
        printf("plate %d: middle %.3f, %s\n", f, result[f][HEIGHT / 2 * WIDTH + WIDTH / 2],
               worst < 1e-3f ? "ok" : "WRONG");
        ok &= worst < 1e-3f;
    }
    float most_value;
    memcpy(&most_value, &most_bits, sizeof most_value);
    printf("largest difference %.3f\n", most_value);
    ok &= most_value == 40.0f; // on the edge, which keeps its temperature
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
