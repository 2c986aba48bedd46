/* SPDX-License-Identifier: Apache-2.0
 *
 * Frees memory while work that uses it is still queued on another stream, then allocates again and
 * writes. If cudaFree waits as documented, the old work never writes to the new owner's bytes. Its
 * kernels are slow on purpose: each writes its mark after a delay. Exit 1 if a byte was
 * overwritten. */
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simulator/sim_stub.h"
#include "vramscope_simulator.h"

#define BYTES ((size_t)1 << 20)
#define ROUNDS 25

struct fill_args {
    unsigned char *target;
    size_t bytes;
    int value;
    int delay_us;
};

static void fill(const struct vramscope_sim_launch *launch, unsigned long first, unsigned long last)
{
    const struct fill_args *a = launch->args[0];
    if (first > 0 || last == 0)
        return;
    struct timespec ts = {0, (long)a->delay_us * 1000};
    nanosleep(&ts, NULL);
    memset(a->target, a->value, a->bytes);
}

static void fill_stub(void) {}

static void launch(unsigned char *p, int value, int delay_us, cudaStream_t stream)
{
    struct fill_args a = {p, BYTES, value, delay_us};
    void *args[] = {&a};
    if (cudaLaunchKernel((void *)fill_stub, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, stream)) {
        puts("launch failed");
        exit(3);
    }
}

/* *peer*: the old work is on another device, which may use the block by peer access; *devices*: it
 * has no access, but copies between devices still do. */
int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const bool peer = strcmp(mode, "peer") == 0, two = *mode;
    unsigned char *host = malloc(BYTES);
    cudaStream_t near, far;
    int wrong = 0;
    static const size_t sizes[] = {sizeof(struct fill_args)};
    void **handle = __cudaRegisterFatBinary(sim_stub_fat_binary());
    sim_stub_kernel(handle, fill_stub, "fill");
    __cudaRegisterFatBinaryEnd(handle);
    cudaFree(NULL);
    vramscope_sim_register("fill", fill, sizes, 1);
    if (cudaStreamCreateWithFlags(&near, cudaStreamNonBlocking) || (two && cudaSetDevice(1)) ||
        (peer && cudaDeviceEnablePeerAccess(0, 0)) ||
        cudaStreamCreateWithFlags(&far, cudaStreamNonBlocking))
        return 3;
    for (int i = 0; i < ROUNDS; i++) {
        void *old, *new;
        if (cudaSetDevice(0) || cudaMalloc(&old, BYTES) || (two && cudaSetDevice(1)))
            return 3;
        launch(old, 0xAA, 4000, far);
        if (peer)
            cudaSetDevice(0);
        if (cudaFree(old) || cudaSetDevice(0) || (peer && cudaDeviceSynchronize()) ||
            cudaMalloc(&new, BYTES))
            return 3;
        launch(new, i, 0, near);
        cudaStreamSynchronize(near);
        cudaStreamSynchronize(far);
        if (cudaMemcpy(host, new, BYTES, cudaMemcpyDeviceToHost))
            return 3;
        for (size_t b = 0; b < BYTES; b++)
            wrong += host[b] != (unsigned char)i;
        cudaFree(new);
    }
    printf("bytes overwritten: %d\n", wrong);
    free(host);
    return wrong != 0;
}
