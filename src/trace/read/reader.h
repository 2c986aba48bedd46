/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a trace: a stream of events in file order; the tables of strings, stacks and modules are
 * filled in as the stream defines them. Safe for any input bytes: damage ends the stream after the
 * last good event, and vs_reader_condition reports the cause. Memory: tables + a few frames, whatever
 * the file claims. Not thread-safe; one reader, one thread. */
#ifndef VS_READER_H
#define VS_READER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/format/event.h"

struct vs_reader;

#define VS_READER_WHY_MAX 512

enum vs_condition {
    VS_TRACE_COMPLETE,   /* ended properly */
    VS_TRACE_LIVE,       /* no end, last events recovered from FILE.live: killed or still running */
    VS_TRACE_TRUNCATED,  /* no end and no live window: truncated */
    VS_TRACE_DAMAGED,    /* bytes with a wrong checksum or invalid contents */
};

/* vs_reader_is_trace: whether the file at *path* begins as a trace; vs_reader_is_part: as a trace or
 * a FILE.live. Any thread. */
bool vs_reader_is_trace(const char *path);
bool vs_reader_is_part(const char *path);

/* vs_reader_open: opens a trace (and FILE.live beside it, when the trace has no end). On failure
 * *why* (VS_READER_WHY_MAX bytes) receives one line with the file, the problem and the remedy:
 * VS_ERR_IO (missing, a directory, no permission), VS_ERR_FORMAT (empty, not a trace),
 * VS_ERR_VERSION, VS_ERR_CORRUPT (nothing usable). */
enum vs_err vs_reader_open(const char *path, struct vs_reader **out, char *why) VS_MUST_CHECK;

/* vs_reader_next: reads the next event. VS_OK, VS_ERR_END after the last readable event.
 * Definitions of strings and stacks are not returned; `module` events are. */
enum vs_err vs_reader_next(struct vs_reader *reader, struct vs_event *event) VS_MUST_CHECK;

/* vs_reader_read_ahead: from now on (*on*), or no longer, a thread reads and decompresses the next frames
 * while the present one is decoded. Without it every frame is read when it is needed. */
void vs_reader_read_ahead(struct vs_reader *reader, bool on);

/* vs_reader_rewind: starts over; ids stay the same. */
void vs_reader_rewind(struct vs_reader *reader);

/* vs_reader_seek_event: moves to event number *event* (from 0; kinds unknown to this build count,
 * but are not returned); ids and all earlier definitions are available as after reading up to there.
 * Past the last event vs_reader_next returns VS_ERR_END. VS_OK. Cost: with checkpoints, the earlier
 * definitions and at most the events between two checkpoints; without, the frames from the present
 * position or, to go back, from the start; frames without definitions are skipped. Damage is found
 * only in frames that are read. */
enum vs_err vs_reader_seek_event(struct vs_reader *reader, uint64_t event) VS_MUST_CHECK;

/* vs_reader_extent: times of the first and the last event, and the number of events; 0/0/0 for an
 * empty trace. The position is lost. Cost: reads the index, or the frames' headers,
 * the first event and FILE.live's events. */
struct vs_extent {
    uint64_t first_ns, last_ns, events;
};
enum vs_err vs_reader_extent(struct vs_reader *reader, struct vs_extent *out) VS_MUST_CHECK;

/* vs_reader_event_number: number of the event that vs_reader_next returns next, as for
 * vs_reader_seek_event (or a smaller one, where unknown kinds come before it). */
uint64_t vs_reader_event_number(const struct vs_reader *reader);

#define VS_NOTHING_READABLE "no event before it is readable" /* in the text of a trace without events */
/* vs_reader_condition: meaningful after VS_ERR_END. *text* (may be NULL, VS_READER_WHY_MAX bytes)
 * receives a sentence ("the trace ends early: frame 12 at byte 88,123 fails its checksum; 41,200
 * events before it are good"). */
enum vs_condition vs_reader_condition(const struct vs_reader *reader, char *text);

/* vs_reader_string: the text of a string id, NUL-terminated and valid UTF-8 (invalid bytes
 * replaced). "" for 0 and for ids never defined. Valid until vs_reader_close. */
const char *vs_reader_string(const struct vs_reader *reader, uint64_t id);

struct vs_frame {
    uint64_t pc;     /* return address - 1, so that it is within the call */
    uint32_t module; /* index for vs_reader_module; VS_NO_MODULE when there is none */
};
#define VS_NO_MODULE UINT32_MAX

/* vs_reader_stack: frames of stack *id*, innermost first, at most *max*; returns
 * how many were written. 0 for id 0 or unknown ids. */
size_t vs_reader_stack(const struct vs_reader *reader, uint64_t id, struct vs_frame *frames,
                       size_t max);

struct vs_module {
    uint64_t base, start, end; /* file address = pc - base */
    const char *path;
    const char *build_id; /* lower-case hex, "" when it has none */
    const char *function; /* not "": a Python function; path is its source file, pc the line */
};
/* vs_reader_module: module *index*; NULL when there is none. Valid until the next vs_reader_next;
 * its strings until close. */
const struct vs_module *vs_reader_module(const struct vs_reader *reader, uint32_t module);

/* vs_reader_bytes: size of the trace file. vs_reader_position: bytes of it read so
 * far (for progress). */
uint64_t vs_reader_bytes(const struct vs_reader *reader);
uint64_t vs_reader_position(const struct vs_reader *reader);

/* vs_reader_recorded_by: the process on this machine that is recording the trace at *path*; 0 for
 * none; VS_RECORDED_ELSEWHERE: a process without a pid here (in another container). */
#define VS_RECORDED_ELSEWHERE UINT64_MAX
uint64_t vs_reader_recorded_by(const char *path);

/* vs_reader_recorder_text: writes "process 4242" or another description to *out*. Returns out. */
#define VS_RECORDER_TEXT_MAX 64
const char *vs_reader_recorder_text(char *out, uint64_t recorder);

/* The outcome of the recording process, read when the trace was opened; set only for traces
 * without an `end` event. */
enum vs_outcome {
    VS_OUTCOME_UNKNOWN = 0,
    VS_OUTCOME_EXITED = 1,
    VS_OUTCOME_KILLED = 2,
    VS_OUTCOME_RECORDING = 3
};
struct vs_reader_outcome {
    enum vs_outcome kind;
    uint64_t status; /* exit status, signal, or the recording process (as above) */
};
struct vs_reader_outcome vs_reader_outcome(const struct vs_reader *reader);

/* vs_ending_status: the status with which the program ended, as a shell has it (128 + signal), by the trace's `end`
 * (NULL: it has none) and outcome; false when they do not have it. */
bool vs_ending_status(const struct vs_event_end *end, struct vs_reader_outcome outcome, uint64_t *status);

/* vs_reader_record_outcome: writes the outcome (EXITED or KILLED) of process *pid*, whose trace
 * at *path* has no end, to its FILE.live. Returns false when there is no such FILE.live. */
bool vs_reader_record_outcome(const char *path, uint64_t pid, enum vs_outcome outcome,
                              uint32_t status);

/* vs_reader_owns_live: whether the file at *live* is a FILE.live of the trace at *path*, or one
 * without events. A FILE.live of another trace may hold that trace's only copy of its last
 * events. */
bool vs_reader_owns_live(const char *path, const char *live);

/* vs_reader_clear_live: frees the name *live* for another FILE.live. A file without events is
 * removed; another trace's file is renamed to *kept*, which is empty otherwise. Returns false when
 * the file must stay. */
bool vs_reader_clear_live(const char *live, char kept[PATH_MAX]);

/* vs_reader_needs_live: whether the trace at *path* has no end, and its FILE.live has events. */
bool vs_reader_needs_live(const char *path);

void vs_reader_close(struct vs_reader *reader); /* NULL does nothing */

/* vs_trace_uuid: the uuid of the trace at *path*, which copies share. Returns false when it cannot
 * be read. */
bool vs_trace_uuid(const char *path, uint8_t uuid[16]);

#endif
