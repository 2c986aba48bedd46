// SPDX-License-Identifier: Apache-2.0
//
// The two functions of PyTorch's libc10 through which its allocator reports, with the signatures of
// c10/core/Allocator.h, so that the compiler generates the mangled names.
#include "c10_library.h"

namespace c10 {
static c10_calls seen;

void reportMemoryUsageToProfiler(void *, int64_t bytes, size_t, size_t, Device)
{
    (bytes >= 0 ? seen.allocations : seen.frees)++;
}

void reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device) { seen.ooms++; }

c10_calls calls_seen() { return seen; }
} // namespace c10
