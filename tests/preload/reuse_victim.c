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

/* The code that nvcc would generate for one kernel. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *tid, void *bid, void *bdim, void *gdim, int *wsize);
static char fill_stub;

static void register_kernel(void)
{
    static const struct {
        int magic, version;
        const void *data;
        void *unused;
    } wrapper = {0x466243b1, 1, "", NULL};
    void **handle = __cudaRegisterFatBinary((void *)&wrapper);
    __cudaRegisterFunction(handle, &fill_stub, (char *)"fill", "fill", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFatBinaryEnd(handle);
    static const size_t sizes[] = {sizeof(struct fill_args)};
    cudaFree(NULL);
    vramscope_sim_register("fill", fill, sizes, 1);
}

static void launch(unsigned char *p, int value, int delay_us, cudaStream_t stream)
{
    struct fill_args a = {p, BYTES, value, delay_us};
    void *args[] = {&a};
    if (cudaLaunchKernel(&fill_stub, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, stream)) {
        puts("launch failed");
        exit(3);
    }
}

/* The same with the old work on another device. With peer access any device may use the block;
 * without it, copies between devices still do. */
static int between_devices(bool peer_access)
{
    unsigned char *host = malloc(BYTES);
    cudaStream_t near, far;
    int wrong = 0;
    register_kernel();
    if (cudaStreamCreateWithFlags(&near, cudaStreamNonBlocking) || cudaSetDevice(1) ||
        (peer_access && cudaDeviceEnablePeerAccess(0, 0)) ||
        cudaStreamCreateWithFlags(&far, cudaStreamNonBlocking))
        return 3;
    for (int i = 0; i < ROUNDS; i++) {
        void *old, *new;
        if (cudaSetDevice(0) || cudaMalloc(&old, BYTES) || cudaSetDevice(1))
            return 3;
        launch(old, 0xAA, 4000, far);
        if (peer_access)
            cudaSetDevice(0);
        if (cudaFree(old) || cudaSetDevice(0) || (peer_access && cudaDeviceSynchronize()) ||
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

int main(int argc, char **argv)
{
    if (argc > 1 && *argv[1])
        return between_devices(strcmp(argv[1], "peer") == 0);
    unsigned char *host = malloc(BYTES);
    cudaStream_t streams[2];
    int wrong = 0;
    register_kernel();
    for (int i = 0; i < 2; i++) {
        if (cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking))
            return 3;
    }
    for (int i = 0; i < ROUNDS; i++) {
        void *old, *new;
        if (cudaMalloc(&old, BYTES))
            return 3;
        launch(old, 0xAA, 4000, streams[0]);
        cudaFree(old);
        if (cudaMalloc(&new, BYTES))
            return 3;
        launch(new, i, 0, streams[1]);
        cudaStreamSynchronize(streams[1]);
        cudaStreamSynchronize(streams[0]);
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
