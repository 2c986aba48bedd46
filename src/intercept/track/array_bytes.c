/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats, layers and mipmap levels in bytes. Formats are given by number, because older headers
 * lack names for some. */
#include "intercept/track/array_bytes.h"

#include <stddef.h>

#define SPARSE 0x40u
#define DEFERRED_MAPPING 0x80u

/* Formats *first* to *last*: bits of one element, of one channel if the array gives the channel
 * count, or of a compressed block of 4 x 4. */
static const struct {
    uint8_t first, last, bits;
    enum { PER_CHANNEL, PER_ELEMENT, PER_BLOCK } of;
} formats[] = {
    {0x01, 0x01, 8, PER_CHANNEL},  {0x02, 0x02, 16, PER_CHANNEL}, {0x03, 0x03, 32, PER_CHANNEL},
    {0x08, 0x08, 8, PER_CHANNEL},  {0x09, 0x09, 16, PER_CHANNEL}, {0x0a, 0x0a, 32, PER_CHANNEL},
    {0x10, 0x10, 16, PER_CHANNEL}, {0x20, 0x20, 32, PER_CHANNEL}, {0x50, 0x50, 32, PER_ELEMENT},
    {0x91, 0x92, 64, PER_BLOCK},   /* BC1 */
    {0x93, 0x96, 128, PER_BLOCK},  /* BC2, BC3 */
    {0x97, 0x98, 64, PER_BLOCK},   /* BC4 */
    {0x99, 0x9e, 128, PER_BLOCK},  /* BC5 to BC7 */
    {0x9f, 0x9f, 24, PER_ELEMENT}, /* P010 */
    {0xa1, 0xa1, 24, PER_ELEMENT}, /* P016 */
    {0xa2, 0xa2, 16, PER_ELEMENT}, /* NV16 */
    {0xa3, 0xa4, 32, PER_ELEMENT}, /* P210, P216 */
    {0xa5, 0xa5, 16, PER_ELEMENT}, /* YUY2 */
    {0xa6, 0xa9, 32, PER_ELEMENT}, /* Y210, Y216, AYUV, Y410 */
    {0xb0, 0xb0, 12, PER_ELEMENT}, /* NV12 */
    {0xb1, 0xb1, 64, PER_ELEMENT}, /* Y416 */
    {0xb2, 0xb2, 24, PER_ELEMENT}, {0xb3, 0xb3, 48, PER_ELEMENT}, /* Y444, 8 and 10 bits */
    {0xb4, 0xb4, 24, PER_ELEMENT}, {0xb5, 0xb5, 48, PER_ELEMENT}, /* the same, semi-planar */
    {0xc0, 0xc0, 8, PER_ELEMENT},  {0xc1, 0xc1, 16, PER_ELEMENT}, {0xc2, 0xc2, 32, PER_ELEMENT},
    {0xc3, 0xc3, 16, PER_ELEMENT}, {0xc4, 0xc4, 32, PER_ELEMENT}, {0xc5, 0xc5, 64, PER_ELEMENT},
    {0xc6, 0xc6, 8, PER_ELEMENT},  {0xc7, 0xc7, 16, PER_ELEMENT}, {0xc8, 0xc8, 32, PER_ELEMENT},
    {0xc9, 0xc9, 16, PER_ELEMENT}, {0xca, 0xca, 32, PER_ELEMENT}, {0xcb, 0xcb, 64, PER_ELEMENT},
};

bool vs_array_mapped_later(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    return desc->Flags & (SPARSE | DEFERRED_MAPPING);
}

static uint64_t plane_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc, uint64_t width, uint64_t height)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if ((unsigned)desc->Format < formats[i].first || (unsigned)desc->Format > formats[i].last)
            continue;
        if (formats[i].of == PER_BLOCK)
            return (width + 3) / 4 * ((height + 3) / 4) * (formats[i].bits / 8);
        uint64_t bits = formats[i].of == PER_CHANNEL ? formats[i].bits * desc->NumChannels
                                                     : formats[i].bits;
        return (width * height * bits + 7) / 8;
    }
    return 0;
}

static uint64_t at_level(uint64_t extent, unsigned level)
{
    return extent >> level ? extent >> level : 1;
}

uint64_t vs_array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels)
{
    uint64_t total = 0;
    bool layers = desc->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    if (vs_array_mapped_later(desc))
        return 0;
    uint64_t widest = desc->Width > desc->Height ? desc->Width : desc->Height;
    if (!layers && desc->Depth > widest)
        widest = desc->Depth;
    for (unsigned i = 0; i < 64 && (!i || (i < levels && widest >> i)); i++) {
        uint64_t depth = layers ? desc->Depth : at_level(desc->Depth, i);
        total += plane_bytes(desc, at_level(desc->Width, i), at_level(desc->Height, i)) *
                 (depth ? depth : 1);
    }
    return total;
}
