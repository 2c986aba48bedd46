/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the tests of the stand-in libraries: the notes of a run, the simulated duration of work,
 * and stand-ins opened by soname. */
#ifndef SIM_LIBRARY_H
#define SIM_LIBRARY_H

#include "sim_test.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>

/* lib_notes_begin: empties the notes file. Call it before the first call of a library. */
static inline void lib_notes_begin(void)
{
    FILE *f = fopen(getenv("VRAMSCOPE_SIMULATE_NOTES"), "w");
    assert_non_null(f);
    fclose(f);
}

/* lib_notes: number of notes of *kind* ("assumed", "unsupported") about *name*. */
static inline int lib_notes(const char *kind, const char *name)
{
    char line[1024], pattern[256];
    int count = 0;
    FILE *f = fopen(getenv("VRAMSCOPE_SIMULATE_NOTES"), "r");
    assert_non_null(f);
    snprintf(pattern, sizeof pattern, "\t%s\t", name);
    while (fgets(line, sizeof line, f))
        count += !strncmp(line, kind, strlen(kind)) && line[strlen(kind)] == '\t' &&
                 strstr(line, pattern);
    fclose(f);
    return count;
}

/* lib_open: the stand-in *soname*, loaded beside the one that the test links. */
static inline void *lib_open(const char *soname)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", VS_LIBRARIES, soname);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        print_error("%s\n", dlerror());
    assert_non_null(library);
    return library;
}

/* lib_timing_begin, lib_timing_ms: simulated duration of the work between them on *stream*. A kernel
 * holds the stream until all of the work is queued, so that no pause of this process counts; the work
 * must not wait for the stream. */
struct lib_timing {
    cudaEvent_t begin, end;
};
static atomic_int lib_timing_open;

static inline struct lib_timing lib_timing_begin(cudaStream_t stream)
{
    struct lib_timing t;
    OK(cudaEventCreate(&t.begin));
    OK(cudaEventCreate(&t.end));
    sim_register_kernels();
    atomic_store(&lib_timing_open, 0);
    sim_launch_gate((CUstream)stream, &lib_timing_open);
    OK(cudaEventRecord(t.begin, stream));
    return t;
}
static inline float lib_timing_ms(struct lib_timing t, cudaStream_t stream)
{
    float ms;
    OK(cudaEventRecord(t.end, stream));
    atomic_store(&lib_timing_open, 1);
    OK(cudaEventSynchronize(t.end));
    OK(cudaEventElapsedTime(&ms, t.begin, t.end));
    OK(cudaEventDestroy(t.begin));
    OK(cudaEventDestroy(t.end));
    return ms;
}

/* lib_new: *count* floats in device memory: 1, 2, 3, … */
static inline float *lib_new(size_t count)
{
    float *memory, *values = malloc(count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(i + 1);
    OK(cudaMalloc((void **)&memory, count * sizeof *memory));
    OK(cudaMemcpy(memory, values, count * sizeof *memory, cudaMemcpyHostToDevice));
    free(values);
    return memory;
}
/* lib_value: element *i* of device memory, once all work is done. */
static inline float lib_value(const float *memory, size_t i)
{
    float value;
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(&value, memory + i, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

#endif
