/* SPDX-License-Identifier: Apache-2.0
 *
 * Additional functions of a reader for the code that makes and uses checkpoints. Private to
 * src/trace, src/analysis and their tests. */
#ifndef VS_SEEK_H
#define VS_SEEK_H

#include "trace/read/checkpoint.h"
#include "trace/read/reader.h"

/* vs_reader_attach: uses the checkpoints in the trace itself. VS_OK also when some are in use
 * already; VS_ERR_NOT_FOUND when none match. */
enum vs_err vs_reader_attach(struct vs_reader *reader) VS_MUST_CHECK;

/* vs_reader_set_checkpoints: uses these from now on; the reader owns them. NULL: none. */
void vs_reader_set_checkpoints(struct vs_reader *reader, struct vs_checkpoints *checkpoints);

/* vs_reader_checkpoints: those in use; NULL when there are none. */
struct vs_checkpoints *vs_reader_checkpoints(const struct vs_reader *reader);

/* vs_reader_to_checkpoint: moves to the first event after checkpoint *index*. VS_ERR_CORRUPT when
 * its contents are invalid (it is not used from then on, and the position is the start). */
enum vs_err vs_reader_to_checkpoint(struct vs_reader *reader, size_t index) VS_MUST_CHECK;

/* vs_reader_unread: returns *event*, the last one that vs_reader_next returned, once more. */
void vs_reader_unread(struct vs_reader *reader, const struct vs_event *event);

/* vs_reader_finished: whether the trace has its proper end. */
bool vs_reader_finished(const struct vs_reader *reader);

/* vs_reader_ended: whether vs_reader_next has returned VS_ERR_END, so that vs_reader_condition is
 * set. */
bool vs_reader_ended(const struct vs_reader *reader);

/* vs_reader_frames: the list of event frames, loaded on first use. */
const struct vs_frame_list *vs_reader_frames(struct vs_reader *reader);

/* vs_reader_uuid: 16 bytes. */
const uint8_t *vs_reader_uuid(const struct vs_reader *reader);

struct vs_reader_counts {
    uint64_t strings, stack_nodes, events, unknown, time_ns;
    uint64_t sequence; /* of the present event frame */
    bool recovered;    /* that frame is in FILE.live */
};
/* vs_reader_counts: definitions and events read so far. */
struct vs_reader_counts vs_reader_counts(const struct vs_reader *reader);

#endif
