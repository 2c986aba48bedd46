/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace file that is written from front to back (docs/internals/trace-format.md §2), when no program is being
 * recorded: header, event frames with an index after every 1024, added frames with their directory,
 * final index, trailer. The composer and the rewriter write through it. The first failure is kept, with
 * its errno, and nothing is written after it, so that a caller may go on and check once. Not
 * thread-safe. */
#ifndef VS_FRAME_OUTPUT_H
#define VS_FRAME_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/format/format.h"

/* Zero-initialise, with *fd*; release with vs_frame_output_free, which leaves the file open. */
struct vs_frame_output {
    int fd;
    uint64_t offset;  /* bytes written */
    enum vs_err err;  /* the first failure; its errno in error */
    int error;
    uint64_t last_ns; /* of the last event frame; before it, when the trace begins */

    unsigned char *packed; /* a frame's payload as stored */
    size_t packed_bytes;

    struct vs_index_header index; /* of the next index frame: event frames that no index has yet */
    struct vs_index_entry entries[VS_INDEX_ENTRIES_MAX];

    struct vs_directory_entry *added;
    size_t added_count, added_capacity;
};

/* These return the first failure so far. */

/* vs_frame_output_fail: keeps *err* and errno, unless there was an earlier failure. */
enum vs_err vs_frame_output_fail(struct vs_frame_output *out, enum vs_err err);

/* vs_frame_output_bytes: appends *bytes*. VS_ERR_IO. */
enum vs_err vs_frame_output_bytes(struct vs_frame_output *out, const void *from, size_t bytes);

/* vs_frame_output_put: writes a frame with *extension* (may be NULL) after its header; the payload is
 * compressed if h->codec is VS_ZSTD and that makes it smaller. Sets the rest of *h*. VS_ERR_IO. */
enum vs_err vs_frame_output_put(struct vs_frame_output *out, struct vs_frame_header *h,
                                const struct vs_index_extension *extension, const void *payload);

/* vs_frame_output_room: called before each event frame: writes an index if it is full. */
enum vs_err vs_frame_output_room(struct vs_frame_output *out);

/* vs_frame_output_enter: adds the event frame that begins at *offset* to the index. *strings*,
 * *nodes*: texts and stack nodes that are defined up to its end. */
enum vs_err vs_frame_output_enter(struct vs_frame_output *out, const struct vs_frame_header *h,
                                  uint64_t offset, uint64_t strings, uint64_t nodes);

/* vs_frame_output_keep: adds *entry*, of an added frame, to the directory. VS_ERR_IO
 * (EFBIG) when the directory is full. */
enum vs_err vs_frame_output_keep(struct vs_frame_output *out, const struct vs_directory_entry *entry);

/* vs_frame_output_end: writes directory, final index and trailer, which complete the file. */
enum vs_err vs_frame_output_end(struct vs_frame_output *out);

/* vs_frame_output_whole_bytes: the size that the file has when it ends now. */
uint64_t vs_frame_output_whole_bytes(const struct vs_frame_output *out);

void vs_frame_output_free(struct vs_frame_output *out);

#endif
