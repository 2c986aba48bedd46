/* SPDX-License-Identifier: Apache-2.0
 *
 * Size of a CUDA array, computed from its description: the driver gives the size only of arrays
 * whose memory is mapped later. */
#ifndef VS_ARRAY_BYTES_H
#define VS_ARRAY_BYTES_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* vs_array_mapped_later: true for an array without memory of its own (sparse, deferred mapping).
 * Its tiles are memory of cuMemCreate. */
bool vs_array_mapped_later(const CUDA_ARRAY3D_DESCRIPTOR *desc);

/* vs_array_bytes: size of the elements of an array with *levels* mipmap levels (1 for a plain one;
 * limited to the number that the extents allow), without the driver's padding for tiles. 0 when the
 * memory is mapped later or the format is unknown. */
uint64_t vs_array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels);

#endif
