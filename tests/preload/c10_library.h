// SPDX-License-Identifier: Apache-2.0
//
// Declarations of c10_library.cpp for c10_victim.cpp.
#ifndef C10_LIBRARY_H
#define C10_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

struct c10_calls {
    int allocations, frees, ooms;
};

namespace c10 {
struct Device { // like c10/core/Device.h: a type and an index of one byte each
    int8_t type, index;
};
void reportMemoryUsageToProfiler(void *ptr, int64_t alloc_size, size_t total_allocated,
                                 size_t total_reserved, Device device);
void reportOutOfMemoryToProfiler(int64_t alloc_size, size_t total_allocated,
                                 size_t total_reserved, Device device);
c10_calls calls_seen();
} // namespace c10

#endif
