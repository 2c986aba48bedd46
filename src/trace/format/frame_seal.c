/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Checksums are XXH64 with seed 0, of all bytes of a header before its checksum, and of
 * what follows it in the frame. */
#include "trace/format/format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

void vs_header_seal(struct vs_file_header *header)
{
    header->checksum = XXH64(header, offsetof(struct vs_file_header, checksum), 0);
}

void vs_frame_seal(struct vs_frame_header *h, const struct vs_index_extension *extension, const void *payload)
{
    size_t extra = extension ? sizeof *extension : 0;
    XXH64_state_t state;
    h->sync = VS_FRAME_SYNC;
    h->header_bytes = (uint16_t)(sizeof *h + extra);
    XXH64_reset(&state, 0);
    XXH64_update(&state, h, offsetof(struct vs_frame_header, checksum));
    if (extra)
        XXH64_update(&state, extension, extra);
    XXH64_update(&state, payload, h->stored_bytes);
    h->checksum = XXH64_digest(&state);
}

void vs_trailer_seal(struct vs_trailer *trailer)
{
    trailer->checksum = XXH64(trailer, offsetof(struct vs_trailer, checksum), 0);
}
