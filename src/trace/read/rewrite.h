/* SPDX-License-Identifier: Apache-2.0
 *
 * Rewrites a trace with additions: a trace of a killed process becomes a finished file, and frames
 * computed later (state checkpoints, resolved names) are added after the events. The new file is
 * made beside the old one and replaces it in one step, so that a valid trace exists at all times.
 * Not thread-safe. */
#ifndef VS_REWRITE_H
#define VS_REWRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/format/format.h"

struct vs_rewrite;

/* A bit of *leave_out*: drop the rest of a damaged trace from the damage on, even if the trace has
 * its end. */
#define VS_REWRITE_READABLE 1u
struct vs_source;

/* vs_rewrite_open: copies the good event frames of the trace at *path* (those recovered from
 * FILE.live included, compressed) into a hidden file beside *to* (NULL: *path*), and the frames
 * added after recording except types in *leave_out* (bits 1u << type; of a trace without an end,
 * none). A trace without an end gets an `end` event, reason VS_END_KILLED, or VS_END_SIGNAL where
 * FILE.live records it. The caller commits or cancels. On failure *why* (VS_READER_WHY_MAX bytes)
 * receives one line. Errors as vs_reader_open, and: VS_ERR_STATE when a process is recording the
 * trace; VS_ERR_CORRUPT when the trace would be replaced (*to* NULL or the same file) and it is
 * damaged or truncated, or FILE.live has events that cannot be copied; VS_ERR_STATE when it would
 * be replaced and its owner cannot be preserved; VS_ERR_IO when the new file cannot be written. */
enum vs_err vs_rewrite_open(const char *path, const char *to, unsigned leave_out,
                            struct vs_rewrite **out, char *why) VS_MUST_CHECK;

/* vs_rewrite_add: adds one more frame: *bytes* of payload, at most VS_FRAME_RAW_MAX, compressed
 * here. *time_ns* and *sequence* go into the directory: the frame belongs before the event frame
 * *sequence* (0: to none). A failure is also reported by vs_rewrite_commit. */
enum vs_err vs_rewrite_add(struct vs_rewrite *rewrite, enum vs_frame_type type, uint64_t time_ns,
                           uint64_t sequence, const void *payload, size_t bytes) VS_MUST_CHECK;

/* vs_rewrite_commit: writes index, directory and trailer, renames the new file over the target, and
 * removes the old FILE.live when the trace itself was replaced and has all of its events. *why* as
 * above; VS_ERR_STATE when the trace was changed since it was read. On failure nothing has changed.
 * Frees *rewrite* in any case. */
enum vs_err vs_rewrite_commit(struct vs_rewrite *rewrite, char *why) VS_MUST_CHECK;

/* vs_rewrite_cancel: removes the new file; nothing else has changed. Frees *rewrite*; NULL does
 * nothing. */
void vs_rewrite_cancel(struct vs_rewrite *rewrite);

/* vs_rewrite_bytes: bytes written so far. */
uint64_t vs_rewrite_bytes(const struct vs_rewrite *rewrite);

/* vs_rewrite_whole_bytes: the size of the file if it were committed now. */
uint64_t vs_rewrite_whole_bytes(const struct vs_rewrite *rewrite);

/* vs_rewrite_recovered: number of events that came from FILE.live. */
uint64_t vs_rewrite_recovered(const struct vs_rewrite *rewrite);

/* vs_rewrite_left_out: number of unreadable bytes at the end of a damaged or truncated trace. */
uint64_t vs_rewrite_left_out(const struct vs_rewrite *rewrite);

/* vs_directory_load: lists the frames that were added to the trace in *file*, in file order. **out*
 * is malloc'ed and the caller's; NULL and 0 when there are none, or the trace has no end.
 * VS_ERR_CORRUPT when the directory is damaged. */
enum vs_err vs_directory_load(const struct vs_source *file, struct vs_directory_entry **out,
                              size_t *count) VS_MUST_CHECK;

/* vs_directory_read: reads the payload of such a frame, checked and decompressed into *raw*
 * (VS_FRAME_RAW_MAX bytes). VS_ERR_CORRUPT. */
enum vs_err vs_directory_read(const struct vs_source *file, const struct vs_directory_entry *entry,
                              void *raw, size_t *bytes) VS_MUST_CHECK;

#endif
