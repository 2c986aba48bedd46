/* SPDX-License-Identifier: Apache-2.0
 *
 * A class of gate_sites.cpp that owns device memory, in a header: its line says nothing about who allocates. */
#ifndef VS_GATE_BUFFER_HPP
#define VS_GATE_BUFFER_HPP

#include <cuda_runtime_api.h>

#include <cstdlib>

template <typename T> struct Buffer {
    T *data = nullptr;
    explicit Buffer(size_t count)
    {
        if (cudaMalloc(reinterpret_cast<void **>(&data), count * sizeof(T)) != cudaSuccess)
            exit(1);
    }
    ~Buffer()
    {
        cudaFree(data);
    }
    T *release()
    {
        T *released = data;
        data = nullptr;
        return released;
    }
};

#endif
