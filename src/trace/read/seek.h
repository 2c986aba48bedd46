/* SPDX-License-Identifier: Apache-2.0
 *
 * What those who make and use checkpoints need of a reader besides vs_reader_seek.
 * Private to src/trace, src/analysis and their tests. */
#ifndef VS_SEEK_H
#define VS_SEEK_H

#include "trace/read/checkpoint.h"
#include "trace/read/frame_list.h"
#include "trace/read/reader.h"

/* vs_reader_attach: use the checkpoints in the trace itself. VS_OK also when it has some
 * already; VS_ERR_NOT_FOUND when there are none that fit, VS_ERR_NOMEM. */
enum vs_err vs_reader_attach(struct vs_reader *reader) VS_MUST_CHECK;

/* vs_reader_set_checkpoints: use these from now on; they become the reader's. NULL: none. */
void vs_reader_set_checkpoints(struct vs_reader *reader, struct vs_checkpoints *checkpoints);

/* vs_reader_checkpoints: those in use; NULL when there are none. */
struct vs_checkpoints *vs_reader_checkpoints(const struct vs_reader *reader);

/* vs_reader_to_checkpoint: the next event is the first one after checkpoint *index*.
 * VS_ERR_CORRUPT when it does not hold what it says (it is not used from then on, and the
 * position is the start); VS_ERR_NOMEM. */
enum vs_err vs_reader_to_checkpoint(struct vs_reader *reader, size_t index) VS_MUST_CHECK;

/* vs_reader_unread: *event*, which vs_reader_next gave last, comes next once more. */
void vs_reader_unread(struct vs_reader *reader, const struct vs_event *event);

/* vs_reader_finished: the trace ends as it should. */
bool vs_reader_finished(const struct vs_reader *reader);

/* vs_reader_ended: vs_reader_next has said VS_ERR_END, and vs_reader_condition is known. */
bool vs_reader_ended(const struct vs_reader *reader);

/* vs_reader_frames: the list of event frames, loaded when it was not; NULL when out of
 * memory. */
const struct vs_frame_list *vs_reader_frames(struct vs_reader *reader);

/* vs_reader_uuid: 16 bytes. */
const uint8_t *vs_reader_uuid(const struct vs_reader *reader);

struct vs_reader_counts {
    uint64_t strings, stack_nodes, events, unknown, time_ns;
    uint64_t sequence; /* of the present event frame */
    bool recovered;    /* which is in FILE.live */
};
/* vs_reader_counts: defined and read up to here. */
struct vs_reader_counts vs_reader_counts(const struct vs_reader *reader);

#endif
