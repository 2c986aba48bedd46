/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory a CUDA array takes: the driver tells of arrays whose memory is
 * mapped later only, so it is worked out from the description. */
#ifndef VS_ARRAY_BYTES_H
#define VS_ARRAY_BYTES_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* vs_array_mapped_later: is it an array without memory of its own (sparse, deferred
 * mapping)? Its tiles are memory of cuMemCreate. */
bool vs_array_mapped_later(const CUDA_ARRAY3D_DESCRIPTOR *desc);

/* vs_array_bytes: of the elements of an array with *levels* mipmap levels (1 for a plain
 * one; more than the extents allow are taken for as many as there can be). What the
 * driver adds to lay them out in tiles is its own business. 0 when the memory is mapped
 * later, and for a format that is not known here. */
uint64_t vs_array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels);

#endif
