// SPDX-License-Identifier: Apache-2.0
//
// A framework's allocator in a library named libc10_cuda: segments from the device, blocks in them
// that it reports as PyTorch's does.
#ifndef LEVEL_ALLOCATOR_H
#define LEVEL_ALLOCATOR_H

#include <stddef.h>

namespace c10 {
// Where segments come from: cudaMalloc; cuMemCreate and a mapping; or *raw*, a function of the
// program, as in a torch.cuda.MemPool.
enum class Source { device, mapped, raw };
struct Segment {
    char *address;
    size_t bytes;
    Source source;
    unsigned long long handle; // of mapped memory
};
Segment segment_alloc(size_t bytes, Source source, void *(*raw)(size_t));
void segment_free(const Segment &segment, void (*raw)(void *));
// The block of *bytes* at *offset* of the segment.
void block_alloc(const Segment &segment, size_t offset, size_t bytes);
void block_free(const Segment &segment, size_t offset, size_t bytes);
} // namespace c10

#endif
