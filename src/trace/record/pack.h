/* SPDX-License-Identifier: Apache-2.0
 *
 * The payload of an event frame: rows as the program's threads wrote them, compressed by the
 * background thread. */
#ifndef VS_PACK_H
#define VS_PACK_H

#include <stdbool.h>
#include <stddef.h>

struct vs_packer;

/* vs_packer_open: for frames of up to *raw_max* bytes, at zstd *level*. Calls malloc:
 * background thread only. NULL without zstd or memory: frames are stored. */
struct vs_packer *vs_packer_open(size_t raw_max, unsigned level);
void vs_packer_close(struct vs_packer *packer);

/* vs_packer_bound: room for a payload of up to *raw_max* bytes. */
size_t vs_packer_bound(size_t raw_max);

/* vs_packer_pack: *rows* into *out*, which has vs_packer_bound() of room. *hurried*: speed before
 * size. Returns the size and the codec (enum vs_frame_codec). */
size_t vs_packer_pack(struct vs_packer *packer, const unsigned char *rows, size_t bytes,
                      bool hurried, unsigned char *out, unsigned *codec);

#endif
