/* SPDX-License-Identifier: Apache-2.0
 *
 * C++ that allocates as programs do: by the constructor of a class template, by a function template with
 * a long return type, and copies by several calls of one function that are alike. One memory bug, chosen
 * by the argument: the lines marked "planted: NAME". Exit status 0; 1 when memory is refused. */
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gate_buffer.hpp"

static constexpr size_t MIB = 1 << 20;
static const char *bug = "";

static bool is(const char *name)
{
    return strcmp(bug, name) == 0;
}

template <typename T> struct DeviceDeleter {
    void operator()(T *data) const
    {
        cudaFree(data);
    }
};

template <typename T> using device_ptr = std::unique_ptr<T, DeviceDeleter<T>>;

template <typename T, size_t BYTES> device_ptr<T> make()
{
    void *data;
    if (cudaMalloc(&data, BYTES) != cudaSuccess)
        exit(1);
    return device_ptr<T>(static_cast<T *>(data));
}

static char host[64 * 1024];
static std::vector<device_ptr<float>> kept;

static void upload(char *data)
{
    cudaMemcpy(data + sizeof host, data, 16 * 1024, cudaMemcpyDeviceToDevice);
    if (is("device"))
        cudaMemcpy(data + sizeof host, data, 24 * 1024, cudaMemcpyDeviceToDevice); /* planted: device */
    cudaMemcpy(host, data, 40 * 1024, cudaMemcpyDeviceToHost);
    if (is("copies"))
        cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice); /* planted: copies */
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice); /* alike */
    if (is("small") || is("smaller"))
        cudaMemcpy(data, host, 32, cudaMemcpyHostToDevice); /* planted: small */
    if (is("smaller"))
        cudaMemcpy(data, host, 24, cudaMemcpyHostToDevice); /* planted: smaller */
}

static void forward(char *data)
{
    Buffer<float> activations(MIB);
    if (is("buffer")) {
        Buffer<char> extra(3 * MIB); /* planted: buffer */
        upload(data);
        return;
    }
    auto first = [] { return make<float, 2 * MIB>(); };
    auto held = first();
    if (is("template")) {
        auto extra = [] { return make<char, 3 * MIB>(); }; /* planted: template */
        auto more = extra();
        upload(data);
        return;
    }
    if (is("lost"))
        Buffer<char>(MIB / 4).release(); /* planted: lost */
    if (is("kept"))
        kept.push_back(make<float, MIB>()); /* planted: kept */
    upload(data);
}

int main(int argc, char **argv)
{
    bug = argc > 1 ? argv[1] : "";
    if (is("single")) {
        Buffer<char> single(8 * MIB); /* planted: single */
        return 0;
    }
    Buffer<char> weights(8 * MIB);
    Buffer<double> gradients(MIB);
    if (is("oom"))
        Buffer<char> huge(MIB << 20); /* planted: oom */
    for (int step = 0; step < 10; step++) {
        nvtxRangePushA(("step " + std::to_string(step)).c_str());
        forward(weights.data);
        nvtxRangePop();
    }
    kept.clear();
    puts("done");
    return 0;
}
