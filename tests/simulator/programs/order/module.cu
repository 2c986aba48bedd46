// SPDX-License-Identifier: Apache-2.0
// The driver API alone: a context, a module from the file beside the program, its
// variables and its kernels.
#include <unistd.h>

#include <string>

#include "program.h"

static std::string beside_the_program(const char *name)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    std::string self(path, n > 0 ? (size_t)n : 0);
    return self.substr(0, self.rfind('/') + 1) + name;
}

int main(int argc, char **argv)
{
    const unsigned n = 100000, threads = 250;
    std::string file = argc > 1 ? argv[1] : beside_the_program("program_module.fatbin");
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction add, reverse;
    CUstream stream;
    CUdeviceptr a, b, c, weight, calls;
    size_t weight_bytes, calls_bytes;
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    CU_CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CU_CHECK(cuCtxSetCurrent(context));
    CU_CHECK(cuModuleLoad(&module, file.c_str()));
    CU_CHECK(cuModuleGetFunction(&add, module, "vector_add"));
    CU_CHECK(cuModuleGetFunction(&reverse, module, "reverse_blocks"));
    CU_CHECK(cuModuleGetGlobal(&weight, &weight_bytes, module, "weight"));
    CU_CHECK(cuModuleGetGlobal(&calls, &calls_bytes, module, "calls"));
    CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    std::vector<float> host_a(n), host_b(n), host_c(n);
    for (unsigned i = 0; i < n; i++) {
        host_a[i] = (float)(i % 1000);
        host_b[i] = (float)(i / 1000) * 0.5f;
    }
    for (CUdeviceptr *p : {&a, &b, &c})
        CU_CHECK(cuMemAlloc(p, n * sizeof(float)));
    CU_CHECK(cuMemcpyHtoD(a, host_a.data(), n * sizeof(float)));
    CU_CHECK(cuMemcpyHtoD(b, host_b.data(), n * sizeof(float)));

    bool ok = weight_bytes == 2 * sizeof(float) && calls_bytes == sizeof(unsigned);
    unsigned count = n;
    void *add_args[] = {&a, &b, &c, &count}, *reverse_args[] = {&c};
    for (int round = 0; round < 2; round++) {
        float w[2] = {round ? 2.0f : 1.0f, round ? -4.0f : 1.0f}; // 1, 1: as the module begins
        if (round == 1)
            CU_CHECK(cuMemcpyHtoD(weight, w, sizeof w));
        CU_CHECK(cuLaunchKernel(add, n / threads, 1, 1, threads, 1, 1, 0, stream, add_args, NULL));
        CU_CHECK(cuLaunchKernel(reverse, n / threads, 1, 1, threads, 1, 1, threads * sizeof(float),
                                stream, reverse_args, NULL));
        CU_CHECK(cuMemcpyDtoHAsync(host_c.data(), c, n * sizeof(float), stream));
        CU_CHECK(cuStreamSynchronize(stream));
        unsigned wrong = 0;
        for (unsigned i = 0; i < n; i++) {
            unsigned from = i / threads * threads + (threads - 1 - i % threads);
            wrong += host_c[i] != w[0] * host_a[from] + w[1] * host_b[from];
        }
        printf("round %d: %u of %u wrong\n", round, wrong, n);
        ok &= wrong == 0;
    }
    CU_CHECK(cuMemcpyDtoH(&count, calls, sizeof count));
    printf("calls %u\n", count);
    ok &= count == 9;
    for (CUdeviceptr p : {a, b, c})
        CU_CHECK(cuMemFree(p));
    CU_CHECK(cuStreamDestroy(stream));
    CU_CHECK(cuModuleUnload(module));
    CU_CHECK(cuDevicePrimaryCtxRelease(device));
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
