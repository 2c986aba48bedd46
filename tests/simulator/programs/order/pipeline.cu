// SPDX-License-Identifier: Apache-2.0
// A signal too long for the device, in chunks: while one is worked on, the next is read
// into the other pinned buffer and the last is copied back. Host functions in the
// streams hand the buffers over to a consumer.
#include <atomic>
#include <cmath>
#include <vector>

#include "pipeline_kernels.cuh"
#include "program.h"

static const int CHUNK = 1 << 16, CHUNKS = 20, DEPTH = 2;
static const float GAIN = 1.75f, OFFSET = -0.25f;

struct Slot {
    Pinned<float> in{CHUNK, cudaHostAllocWriteCombined}, out{CHUNK};
    Device<float> device{CHUNK};
    Stream stream{cudaStreamNonBlocking};
    Event read{cudaEventDisableTiming}; // in has been copied to the device
};

struct Delivery {
    const float *from;
    float *to;
    std::atomic<int> *delivered;
};

static void CUDART_CB deliver(void *data)
{
    Delivery *d = (Delivery *)data;
    memcpy(d->to, d->from, CHUNK * sizeof(float));
    d->delivered->fetch_add(1);
}

static float source(int i) { return noise((unsigned)i * 3u + 1u); }

int main()
{
    Slot slot[DEPTH];
    std::vector<float> result((size_t)CHUNK * CHUNKS);
    std::vector<Delivery> deliveries(CHUNKS);
    std::atomic<int> delivered(0);
    Event begin, end;
    CUDA_CHECK(cudaEventRecord(begin, slot[0].stream));
    for (int c = 0; c < CHUNKS; c++) {
        Slot &s = slot[c % DEPTH];
        CUDA_CHECK(cudaEventSynchronize(s.read)); // never recorded: returns at once
        for (int i = 0; i < CHUNK; i++)
            s.in[i] = source(c * CHUNK + i);
        CUDA_CHECK(cudaMemcpyAsync(s.device, s.in, CHUNK * sizeof(float), cudaMemcpyHostToDevice,
                                   s.stream));
        CUDA_CHECK(cudaEventRecord(s.read, s.stream));
        adjust<<<(CHUNK / 4 + 127) / 128, 128, 0, s.stream>>>((float4 *)s.device.p, CHUNK / 4, GAIN,
                                                              OFFSET);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(s.out, s.device, CHUNK * sizeof(float), cudaMemcpyDeviceToHost,
                                   s.stream));
        deliveries[c] = {s.out.p, &result[(size_t)c * CHUNK], &delivered};
        CUDA_CHECK(cudaLaunchHostFunc(s.stream, deliver, &deliveries[c]));
    }
    CUDA_CHECK(cudaEventRecord(end, slot[(CHUNKS - 1) % DEPTH].stream));
    CUDA_CHECK(cudaDeviceSynchronize());
    float ms = ms_between(begin, end);
    fprintf(stderr, "%d chunks: %.3f ms, %.2f GB/s\n", CHUNKS, ms,
            2e-6 * CHUNK * CHUNKS * sizeof(float) / ms);

    int wrong = 0;
    double sum = 0;
    for (int i = 0; i < CHUNK * CHUNKS; i++) {
        float expected = fminf(fmaxf(source(i) * GAIN + OFFSET, 0.0f), 1.0f);
        wrong += !(fabsf(result[i] - expected) <= 1e-6f);
        sum += result[i];
    }
    printf("%d chunks delivered, mean %.3f, %d wrong\n", delivered.load(), sum / result.size(), wrong);
    return wrong == 0 && delivered == CHUNKS ? EXIT_SUCCESS : EXIT_FAILURE;
}
