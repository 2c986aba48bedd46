// SPDX-License-Identifier: Apache-2.0
// A wave over all devices there are: each has a part of the string and, in constant
// memory, what that part is made of. After every step neighbours exchange their outer
// cells by peer copies; events order what happens on different devices.
#include <cmath>
#include <vector>

#include "halo_exchange_kernels.cuh"
#include "program.h"

static const int CELLS = 3000, STEPS = 200;

struct Part {
    int device, cells, first;
    float *u[3]; // before, now, next; a cell of each neighbour at the ends
    cudaStream_t stream;
    cudaEvent_t stepped, given;
    Medium medium;
};

static Medium medium_of(int device)
{
    Medium m = {0.25f + 0.15f * device, 1.0f - 0.001f * device};
    return m;
}

static float start(int i) { return expf(-0.0004f * (float)((i - 900) * (i - 900))); }

static std::vector<float> reference(const std::vector<Part> &parts)
{
    std::vector<float> before(CELLS + 2), now(CELLS + 2), next(CELLS + 2);
    for (int i = 0; i < CELLS; i++)
        before[i + 1] = now[i + 1] = start(i);
    for (int s = 0; s < STEPS; s++) {
        for (const Part &p : parts)
            for (int i = p.first + 1; i <= p.first + p.cells; i++) {
                float curve = now[i - 1] - 2.0f * now[i] + now[i + 1];
                next[i] = p.medium.damping * (2.0f * now[i] - before[i] + p.medium.speed2 * curve);
            }
        before.swap(now);
        now.swap(next);
    }
    return now;
}

static void set_up(Part &p, int index, int parts)
{
    p.device = index;
    p.first = CELLS * index / parts;
    p.cells = CELLS * (index + 1) / parts - p.first;
    p.medium = medium_of(index);
    CUDA_CHECK(cudaSetDevice(p.device));
    CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&p.stepped, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreateWithFlags(&p.given, cudaEventDisableTiming));
    if (index > 0) // device 0 keeps what the program was compiled with
        CUDA_CHECK(cudaMemcpyToSymbol(medium, &p.medium, sizeof p.medium));
    std::vector<float> cells(p.cells + 2);
    for (int i = 0; i < p.cells + 2; i++) {
        int at = p.first + i - 1;
        cells[i] = at >= 0 && at < CELLS ? start(at) : 0.0f;
    }
    for (float *&u : p.u) {
        CUDA_CHECK(cudaMalloc(&u, (p.cells + 2) * sizeof(float)));
        CUDA_CHECK(cudaMemset(u, 0, (p.cells + 2) * sizeof(float)));
    }
    for (int i = 0; i < 2; i++)
        CUDA_CHECK(cudaMemcpy(p.u[i], cells.data(), cells.size() * sizeof(float),
                              cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize());
}

static void give(Part &from, int cell, Part &to, int halo)
{
    CUDA_CHECK(cudaMemcpyPeerAsync(to.u[2] + halo, to.device, from.u[2] + cell, from.device,
                                   sizeof(float), from.stream));
}

static void step(std::vector<Part> &parts)
{
    int n = (int)parts.size();
    for (Part &p : parts) {
        CUDA_CHECK(cudaSetDevice(p.device));
        wave_step<<<(p.cells + 127) / 128, 128, 0, p.stream>>>(p.u[1], p.u[0], p.u[2], p.cells);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaEventRecord(p.stepped, p.stream));
    }
    for (int i = 0; i < n; i++) {
        CUDA_CHECK(cudaSetDevice(parts[i].device));
        if (i > 0) {
            CUDA_CHECK(cudaStreamWaitEvent(parts[i].stream, parts[i - 1].stepped, 0));
            give(parts[i], 1, parts[i - 1], parts[i - 1].cells + 1);
        }
        if (i + 1 < n) {
            CUDA_CHECK(cudaStreamWaitEvent(parts[i].stream, parts[i + 1].stepped, 0));
            give(parts[i], parts[i].cells, parts[i + 1], 0);
        }
        CUDA_CHECK(cudaEventRecord(parts[i].given, parts[i].stream));
    }
    for (int i = 0; i < n; i++)
        for (int j : {i - 1, i + 1})
            if (j >= 0 && j < n)
                CUDA_CHECK(cudaStreamWaitEvent(parts[i].stream, parts[j].given, 0));
    for (Part &p : parts) {
        float *oldest = p.u[0];
        p.u[0] = p.u[1];
        p.u[1] = p.u[2];
        p.u[2] = oldest;
    }
}

int main()
{
    int devices = 0;
    CUDA_CHECK(cudaGetDeviceCount(&devices));
    std::vector<Part> parts(devices > 4 ? 4 : devices);
    for (size_t i = 0; i < parts.size(); i++)
        set_up(parts[i], (int)i, (int)parts.size());
    for (size_t i = 0; i + 1 < parts.size(); i++)
        for (int way = 0; way < 2; way++) {
            int from = parts[i + way].device, to = parts[i + 1 - way].device, possible = 0;
            CUDA_CHECK(cudaDeviceCanAccessPeer(&possible, from, to));
            CUDA_CHECK(cudaSetDevice(from));
            if (possible)
                CUDA_CHECK(cudaDeviceEnablePeerAccess(to, 0));
        }
    for (int s = 0; s < STEPS; s++)
        step(parts);

    std::vector<float> result(CELLS), right = reference(parts);
    bool ok = true;
    for (Part &p : parts) {
        int steps = 0;
        CUDA_CHECK(cudaSetDevice(p.device));
        CUDA_CHECK(cudaStreamSynchronize(p.stream));
        CUDA_CHECK(cudaMemcpy(&result[p.first], p.u[1] + 1, p.cells * sizeof(float),
                              cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaMemcpyFromSymbol(&steps, steps_taken, sizeof steps));
        printf("device %d: cells %d to %d, %d steps\n", p.device, p.first, p.first + p.cells, steps);
        ok &= steps == STEPS;
    }
    float worst = 0, energy = 0;
    for (int i = 0; i < CELLS; i++) {
        worst = fmaxf(worst, fabsf(result[i] - right[i + 1]));
        energy += result[i] * result[i];
    }
    ok &= worst < 1e-3f && energy > 1.0f;
    printf("energy %.2f, %s\n", energy, ok ? "ok" : "WRONG");
    for (Part &p : parts) {
        CUDA_CHECK(cudaSetDevice(p.device));
        for (float *u : p.u)
            CUDA_CHECK(cudaFree(u));
        CUDA_CHECK(cudaStreamDestroy(p.stream));
        CUDA_CHECK(cudaEventDestroy(p.stepped));
        CUDA_CHECK(cudaEventDestroy(p.given));
    }
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
