/* SPDX-License-Identifier: Apache-2.0
 *
 * The positions of a trace's event frames, found without reading the frames: from the index where
 * the trace ends with one, otherwise (killed, truncated, index damaged) from the frames' headers.
 * Frames of FILE.live are not in it. Memory: 56 bytes a frame. Private to src/trace and its tests.
 */
#ifndef VS_FRAME_LIST_H
#define VS_FRAME_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

struct vs_source;
struct vs_frame_header;

struct vs_frame_place {
    uint64_t offset, sequence, first_event;
    uint64_t base_ns, last_ns;
    uint32_t events, definitions;
};

/* Zero-initialise. Sequences count up from 1, events are contiguous and times never decrease. */
struct vs_frame_list {
    struct vs_frame_place *items;
    size_t count, capacity;
    bool loaded;
    bool from_index; /* else from the frames' headers */
};

/* vs_frame_list_load: *first* is the offset of the first frame. An inconsistent frame ends the
 * list; payloads are not checked. Cost: one read for each 1024 frames, or one for each frame. */
void vs_frame_list_load(struct vs_frame_list *list, const struct vs_source *file, uint64_t first);

/* vs_frame_list_event: the frame of event number *event*; count when there is none. */
size_t vs_frame_list_event(const struct vs_frame_list *list, uint64_t event);

/* vs_frame_list_fingerprint: checksum of the first *count* frames' numbers and times. */
uint64_t vs_frame_list_fingerprint(const struct vs_frame_list *list, size_t count);

void vs_frame_list_free(struct vs_frame_list *list);

/* Zero-initialise; released by vs_frame_scratch_free. */
struct vs_frame_scratch {
    unsigned char *stored;
    size_t capacity;
    void *zstd;
};

/* vs_frame_header_read: reads the header of the frame at *offset*. NULL, or the problem: not a
 * whole frame (*cut*: the end of the file is missing). Checks no checksum. vs_frame_fetch:
 * likewise, and reads its extension and stored payload into *scratch*, checked. vs_frame_stored:
 * that payload. vs_frame_payload: likewise, decompressed into *raw*, which has room for *room*
 * bytes. VS_ERR_CORRUPT when there is no good frame or it is larger than *room*. */
const char *vs_frame_header_read(const struct vs_source *file, uint64_t offset,
                                 struct vs_frame_header *header, bool *cut);
const char *vs_frame_fetch(const struct vs_source *file, uint64_t offset,
                           struct vs_frame_scratch *scratch, struct vs_frame_header *header,
                           bool *cut);
const unsigned char *vs_frame_stored(const struct vs_frame_scratch *scratch,
                                     const struct vs_frame_header *header);
enum vs_err vs_frame_payload(const struct vs_source *file, uint64_t offset,
                             struct vs_frame_scratch *scratch, struct vs_frame_header *header,
                             void *raw, size_t room) VS_MUST_CHECK;
void vs_frame_scratch_free(struct vs_frame_scratch *scratch);

#endif
