/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the programs here: exit with file and line on a CUDA error, a repeatable source of
 * numbers, and memory, streams and events that end with their variable. Results go to standard
 * output, which is the same in each run; times go to standard error. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#define CUDA_CHECK(call)                                                                   \
    do {                                                                                   \
        cudaError_t error_ = (call);                                                       \
        if (error_ != cudaSuccess) {                                                       \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                  \
                    cudaGetErrorString(error_));                                           \
            exit(EXIT_FAILURE);                                                            \
        }                                                                                  \
    } while (0)

/* Of the driver. */
#define CU_CHECK(call)                                                                     \
    do {                                                                                   \
        CUresult error_ = (call);                                                          \
        if (error_ != CUDA_SUCCESS) {                                                      \
            const char *text_ = "unknown error";                                           \
            cuGetErrorString(error_, &text_);                                              \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text_);          \
            exit(EXIT_FAILURE);                                                            \
        }                                                                                  \
    } while (0)

/* A number in [0, 1) that depends on *i* alone. */
static inline float noise(unsigned i)
{
    i = (i ^ 61u) ^ (i >> 16);
    i *= 9u;
    i ^= i >> 4;
    i *= 0x27d4eb2du;
    i ^= i >> 15;
    return (float)(i >> 8) / 16777216.0f;
}

template <typename T> struct Device { /* an array in device memory */
    T *p;
    size_t n;
    explicit Device(size_t count) : n(count) { CUDA_CHECK(cudaMalloc(&p, n * sizeof(T))); }
    explicit Device(const std::vector<T> &v) : Device(v.size())
    {
        CUDA_CHECK(cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    Device(const Device &) = delete;
    ~Device() { CUDA_CHECK(cudaFree(p)); }
    operator T *() const { return p; }
    std::vector<T> get() const { return first(n); }
    std::vector<T> first(size_t count) const
    {
        std::vector<T> v(count);
        CUDA_CHECK(cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost));
        return v;
    }
    void clear() { CUDA_CHECK(cudaMemset(p, 0, n * sizeof(T))); }
};

template <typename T> struct Pinned { /* an array in pinned host memory */
    T *p;
    explicit Pinned(size_t n, unsigned flags = cudaHostAllocDefault)
    {
        CUDA_CHECK(cudaHostAlloc(&p, n * sizeof(T), flags));
    }
    Pinned(const Pinned &) = delete;
    ~Pinned() { CUDA_CHECK(cudaFreeHost(p)); }
    operator T *() const { return p; }
};

struct Stream {
    cudaStream_t s;
    explicit Stream(unsigned flags = cudaStreamDefault)
    {
        CUDA_CHECK(cudaStreamCreateWithFlags(&s, flags));
    }
    Stream(const Stream &) = delete;
    ~Stream() { CUDA_CHECK(cudaStreamDestroy(s)); }
    operator cudaStream_t() const { return s; }
};

struct Event {
    cudaEvent_t e;
    explicit Event(unsigned flags = cudaEventDefault)
    {
        CUDA_CHECK(cudaEventCreateWithFlags(&e, flags));
    }
    Event(const Event &) = delete;
    ~Event() { CUDA_CHECK(cudaEventDestroy(e)); }
    operator cudaEvent_t() const { return e; }
};

/* Between the records of two complete events. */
static inline float ms_between(cudaEvent_t begin, cudaEvent_t end)
{
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

#endif
