/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA arrays inside the stand-in driver. An array's handle is the address of its storage, which is
 * in the registry of ranges like other device memory: so a stale handle is recognised, and queued
 * copies detect a destroyed array. Elements are stored row after row without gaps. */
#ifndef VS_SIM_ARRAY_H
#define VS_SIM_ARRAY_H

#include "simulator/driver/vs_sim_driver.h"

#define VS_SIM_MIP_LEVELS 18 /* 1 + log2 of the widest extent */

struct vs_sim_array {
    CUDA_ARRAY3D_DESCRIPTOR desc;
    size_t element;   /* bytes */
    bool is_level;    /* of a mipmapped array, which owns the storage */
    unsigned levels;  /* of a mipmapped array; 0: a plain one */
    uintptr_t level_base[VS_SIM_MIP_LEVELS];
};

/* vs_sim_array_of: the array, or mipmapped array, of *handle*; its storage goes to *range* (may be
 * NULL). NULL: there is none. */
const struct vs_sim_array *vs_sim_array_of(const void *handle, bool mipmapped,
                                           struct vs_sim_range *range);

/* vs_sim_end_array: fills *end* for the box of *width* bytes, *height* rows and *depth* planes or
 * layers at byte *x*, row *y* and plane *z* of an array. CUDA_ERROR_INVALID_VALUE if it is not an
 * array, the box exceeds it, or *x* or *width* are not multiples of the element size, which goes to
 * *element*. */
CUresult vs_sim_end_array(CUarray handle, const size_t at[3], const size_t box[3],
                          struct vs_sim_end *end, size_t *element);

/* vs_sim_array_format: stores the bytes of an element of this format in *element*, what textures
 * read it as in *texel* (may be NULL). CUDA_ERROR_INVALID_VALUE if cuda.h does not allow it,
 * CUDA_ERROR_NOT_SUPPORTED if it is not simulated. */
CUresult vs_sim_array_format(CUarray_format format, unsigned channels, size_t *element,
                             unsigned *texel);

/* vs_sim_array_release: frees the storage of an array or mipmapped array after the removal of its
 * range. */
void vs_sim_array_release(const struct vs_sim_range *range);

#endif
