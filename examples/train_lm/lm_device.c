/* SPDX-License-Identifier: Apache-2.0
 *
 * See lm_device.h. The live buffers are in a table that is searched from its end: there
 * are few, and the latest one is usually freed first. */
#include "lm_device.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct live_buffer {
    void *pointer;
    size_t bytes;
};

static struct {
    struct live_buffer *buffers;
    size_t count, room;
    struct lm_tally tally;
} live;

static struct {
    long step;
    const char *phase;
} now = {0, "setup"};

static cudaStream_t compute_stream, copy_stream;

void lm_cuda_check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "train_lm: %s: %s (%s)\n", call, cudaGetErrorString(error),
            cudaGetErrorName(error));
    exit(1);
}

void lm_device_set_phase(long step, const char *phase)
{
    now.step = step;
    now.phase = phase;
}

void lm_device_open(void)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        fprintf(stderr, "train_lm: no CUDA device: %s\n",
                error == cudaSuccess ? "the driver reports none" : cudaGetErrorString(error));
        exit(1);
    }
    LM_CUDA(cudaSetDevice(0));
    LM_CUDA(cudaFree(NULL)); /* creates the context, because registration needs the driver */
    if (!lm_kernels_register_host() && !lm_kernels_have_device_code) {
        fprintf(stderr, "train_lm: built without nvcc: it has no code for a real GPU and runs on "
                        "the simulated one only\n");
        exit(1);
    }
    LM_CUDA(cudaStreamCreateWithFlags(&compute_stream, cudaStreamNonBlocking));
    LM_CUDA(cudaStreamCreateWithFlags(&copy_stream, cudaStreamNonBlocking));
    nvtxNameCudaStreamA(compute_stream, "compute");
    nvtxNameCudaStreamA(copy_stream, "batch copies");
    nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "trainer");
}

void lm_device_close(void)
{
    LM_CUDA(cudaDeviceSynchronize());
    LM_CUDA(cudaStreamDestroy(copy_stream));
    LM_CUDA(cudaStreamDestroy(compute_stream));
    copy_stream = compute_stream = NULL;
    free(live.buffers);
    live.buffers = NULL;
    live.count = live.room = 0;
}

cudaStream_t lm_compute_stream(void)
{
    return compute_stream;
}

cudaStream_t lm_copy_stream(void)
{
    return copy_stream;
}

/* --- memory --------------------------------------------------------------- */

const char *lm_format_bytes(size_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1024.0 && unit < 6; unit++)
        value /= 1024.0;
    snprintf(text, size, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

static void exit_out_of_memory(const char *what, const char *name, size_t bytes)
{
    char size[32], step[48];
    lm_format_bytes(bytes, size, sizeof size);
    if (now.step > 0)
        snprintf(step, sizeof step, "at step %ld", now.step);
    else
        snprintf(step, sizeof step, "outside training");
    fprintf(stderr, "train_lm: out of %s memory: tried to allocate %s for %s %s (%s)\n", what, size,
            name, step, now.phase);
    exit(1);
}

static void tally_add(void *pointer, size_t bytes)
{
    if (live.count == live.room) {
        size_t room = live.room ? 2 * live.room : 256;
        struct live_buffer *buffers =
            (struct live_buffer *)realloc(live.buffers, room * sizeof *buffers);
        if (!buffers) {
            fprintf(stderr, "train_lm: out of host memory for the list of buffers\n");
            exit(1);
        }
        live.buffers = buffers;
        live.room = room;
    }
    live.buffers[live.count++] = (struct live_buffer){pointer, bytes};
    live.tally.allocations++;
    live.tally.live_bytes += bytes;
    if (live.tally.live_bytes > live.tally.peak_bytes)
        live.tally.peak_bytes = live.tally.live_bytes;
}

static void tally_remove(const void *pointer)
{
    size_t i = live.count;
    while (i > 0 && live.buffers[i - 1].pointer != pointer)
        i--;
    if (i == 0) {
        fprintf(stderr, "train_lm: freeing %p, which is no live buffer\n", pointer);
        abort();
    }
    live.tally.frees++;
    live.tally.live_bytes -= live.buffers[i - 1].bytes;
    live.count--;
    for (; i <= live.count; i++)
        live.buffers[i - 1] = live.buffers[i];
}

void *device_alloc(const char *name, size_t bytes)
{
    void *pointer = NULL;
    cudaError_t error = cudaMalloc(&pointer, bytes);
    if (error == cudaErrorMemoryAllocation)
        exit_out_of_memory("device", name, bytes);
    lm_cuda_check(error, "cudaMalloc");
    tally_add(pointer, bytes);
    return pointer;
}

void device_free(void *pointer)
{
    if (!pointer)
        return;
    tally_remove(pointer);
    LM_CUDA(cudaFree(pointer));
}

struct lm_tally lm_device_tally(void)
{
    return live.tally;
}

void *pinned_alloc(const char *name, size_t bytes)
{
    void *pointer = NULL;
    cudaError_t error = cudaMallocHost(&pointer, bytes);
    if (error == cudaErrorMemoryAllocation)
        exit_out_of_memory("pinned host", name, bytes);
    lm_cuda_check(error, "cudaMallocHost");
    return pointer;
}

void pinned_free(void *pointer)
{
    if (pointer)
        LM_CUDA(cudaFreeHost(pointer));
}

void *host_alloc(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "train_lm: out of host memory\n");
        exit(1);
    }
    return memory;
}

/* --- copies and launches -------------------------------------------------- */

void copy_to_device(void *device, const void *host, size_t bytes)
{
    LM_CUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, compute_stream));
    LM_CUDA(cudaStreamSynchronize(compute_stream));
}

void copy_to_host(void *host, const void *device, size_t bytes)
{
    LM_CUDA(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, compute_stream));
    LM_CUDA(cudaStreamSynchronize(compute_stream));
}

void device_zero(void *pointer, size_t bytes)
{
    LM_CUDA(cudaMemsetAsync(pointer, 0, bytes, compute_stream));
}

void lm_launch(enum lm_kernel_id id, const void *args, unsigned long blocks, dim3 block)
{
    if (blocks == 0 || blocks > 0x7fffffffUL) {
        fprintf(stderr, "train_lm: a kernel would need %lu thread blocks; a launch takes 1 to %lu\n",
                blocks, 0x7fffffffUL);
        exit(1);
    }
    dim3 grid = {(unsigned)blocks, 1, 1};
    void *arguments[] = {(void *)args};
    LM_CUDA(cudaLaunchKernel(lm_kernel_symbol(id), grid, block, arguments, 0, compute_stream));
}
