/* SPDX-License-Identifier: Apache-2.0
 *
 * A training loop with one memory bug, chosen by its argument. The bugs are the lines marked
 * "planted: NAME"; without an argument there is none. check_gate.py compares what `vramscope check`
 * says with the numbers of these lines. Exit status: 0; 3 for "status", 137 for "137"; 1 when memory is
 * refused; "killed" ends with SIGKILL. */
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vramscope_client.h"

#define MIB ((size_t)1 << 20)
#define STEPS 20
#define LAYERS 6

static const char *bug = "";

static int is(const char *name)
{
    return strcmp(bug, name) == 0;
}

/* A range, which "unmarked" leaves out: its steps are found from the repeating requests. */
static void begin(const char *name)
{
    if (!is("unmarked"))
        nvtxRangePushA(name);
}

static void end(void)
{
    if (!is("unmarked"))
        nvtxRangePop();
}

/* Inlined, so that the caller's line is the first of the program's on the stack. */
#define ALLOCATE(pointer, bytes)                                      \
    do {                                                              \
        if (cudaMalloc((void **)&(pointer), bytes) != cudaSuccess) {  \
            fprintf(stderr, "gate: out of memory\n");                 \
            exit(1);                                                  \
        }                                                             \
    } while (0)

static float *weights, *gradients, *held, *batch, *activations[LAYERS];
static char host[64 * 1024];

static void load_batch(void)
{
    ALLOCATE(batch, MIB);
    cudaMemcpy(batch, host, sizeof host, cudaMemcpyHostToDevice);
    if (is("copy"))
        cudaMemcpy(batch, host, 4096, cudaMemcpyHostToDevice); /* planted: copy */
}

static void forward(void)
{
    begin("forward");
    for (int i = 0; i < LAYERS; i++)
        ALLOCATE(activations[i], 4 * MIB);
    if (is("peak") && !held)
        ALLOCATE(held, 5 * MIB); /* planted: peak */
    end();
}

/* A vector that doubles when it is full. */
static void append(void)
{
    static size_t size, capacity;
    static float *items;
    if (size++ < capacity)
        return;
    float *larger;
    capacity = 2 * size;
    ALLOCATE(larger, capacity * MIB); /* planted: vector */
    cudaFree(items);
    items = larger;
}

static void backward(void)
{
    begin("backward");
    float *temporary, *lost;
    ALLOCATE(temporary, 8 * MIB); /* planted: held */
    if (is("leak") || is("unmarked"))
        ALLOCATE(lost, MIB); /* planted: leak */
    if (is("pinned"))
        cudaMallocHost((void **)&lost, 2 * MIB); /* planted: pinned */
    if (is("managed"))
        cudaMallocManaged((void **)&lost, MIB, cudaMemAttachGlobal); /* planted: managed */
    if (is("vector"))
        append();
    if (is("small"))
        ALLOCATE(lost, 512); /* planted: small */
    if (is("held") && !held)
        held = temporary;
    else
        cudaFree(temporary);
    for (int i = 0; i < LAYERS; i++)
        cudaFree(activations[i]);
    end();
}

/* Fits below the peak, but in none of the cached segments: reserved grows, allocated does not. */
static void summarise(int step)
{
    float *logits;
    if (is("pool") && step == STEPS / 2) {
        ALLOCATE(logits, 28 * MIB); /* planted: pool */
        cudaFree(logits);
    }
}

static void train_step(int step)
{
    char name[32];
    size_t free_bytes, total_bytes;
    snprintf(name, sizeof name, "step %d", step);
    begin(name);
    load_batch();
    forward();
    cudaMemGetInfo(&free_bytes, &total_bytes); /* a reading at the same time of every run */
    backward();
    cudaMemcpy(host, gradients, 16, cudaMemcpyDeviceToHost);
    cudaFree(batch);
    summarise(step);
    end();
}

/* A suite of ordinary size; one of the last tests has the peak. */
static void many_tests(int count)
{
    char name[32];
    float *large;
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "test:t%04d", i);
        begin(name);
        if (i == 5990) {
            ALLOCATE(large, 100 * MIB); /* planted: tests */
            cudaFree(large);
        }
        end();
    }
}

#define N50 "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

/* Names as parametrised tests have them, longer than the columns of any table. */
static void odd_names(void)
{
    float *large;
    begin("test:tests/test_gate.py::test_odd[it's-\"1\" / $HOME `x` " N50 N50 N50 "]");
    begin("inner (" N50 N50 N50 ") [a-1]");
    ALLOCATE(large, 100 * MIB); /* planted: names */
    cudaFree(large);
    end();
    end();
}

/* The copies run while the program frees their memory and ends; cudaFree waits for them. */
static void copy_until_the_end(void)
{
    void *pinned;
    cudaMallocHost(&pinned, 16 * MIB);
    for (int i = 0; i < 5; i++)
        cudaMemcpyAsync(weights, pinned, 16 * MIB, cudaMemcpyHostToDevice, 0);
}

static void CUDART_CB never_return(void *arg)
{
    (void)arg;
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    float *large;
    const char *device = getenv("GATE_DEVICE");
    bug = argc > 1 ? argv[1] : "";
    if (device)
        cudaSetDevice(atoi(device));
    ALLOCATE(weights, 30 * MIB);
    ALLOCATE(gradients, 30 * MIB);
    begin("test:tests/test_gate.py::test_training");
    for (int step = 1; step <= STEPS; step++)
        train_step(step);
    end();
    if (is("tests"))
        many_tests(6000);
    if (is("limit")) /* more than a trace has phases for */
        many_tests(66000);
    if (is("names"))
        odd_names();
    if (is("paused")) { /* only totals are recorded meanwhile */
        vramscope_client_stop_recording();
        ALLOCATE(large, 200 * MIB);
        vramscope_client_start_recording();
        cudaFree(large);
    }
    if (is("stream")) { /* the pool caches freed memory */
        size_t free_bytes, total_bytes;
        uint64_t most = UINT64_MAX;
        cudaMemPool_t pool;
        cudaDeviceGetDefaultMemPool(&pool, 0);
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most);
        cudaMallocAsync((void **)&large, 160 * MIB, 0);
        cudaFreeAsync(large, 0);
        ALLOCATE(large, 100 * MIB);
        cudaMemGetInfo(&free_bytes, &total_bytes);
        cudaFree(large);
    }
    if (is("unfinished") || is("exec"))
        copy_until_the_end();
    if (is("oom"))
        ALLOCATE(large, (size_t)1 << 40); /* planted: oom */
    cudaFree(held);
    cudaFree(gradients);
    cudaFree(weights);
    if (is("exec"))
        execl("/bin/sh", "sh", "-c", ":", (char *)NULL);
    if (is("endless")) /* behind the last cudaFree: nothing waits for it */
        cudaLaunchHostFunc(0, never_return, NULL);
    if (is("killed"))
        raise(SIGKILL);
    return is("status") ? 3 : is("137") ? 137 : 0;
}
