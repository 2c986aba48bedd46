/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a trace while it is being recorded: events arrive in order, each once, shortly after
 * being recorded. Only reads: FILE and FILE.live with pread, and whether the recorder's lock is
 * held; the program is not stopped, signalled or slowed.
 *
 * Records are taken from the window of FILE.live in which they are written, as far as `used` says
 * that they are whole. A window that the program reuses meanwhile is in FILE by then: the frame
 * there continues where the window was left, after its bytes have been compared. Bytes that cannot
 * be decoded are read again later; they are an error only once the process is gone. An `end` that
 * the process can still take back (an exec that fails, memory freed while it exits) is delivered
 * when the process is gone. Not thread-safe. */
#ifndef VS_FOLLOWER_H
#define VS_FOLLOWER_H

#include "trace/read/reader.h"

struct vs_follower;

/* vs_follower_open: as vs_reader_open, which describes *why* and the errors. */
enum vs_err vs_follower_open(const char *path, struct vs_follower **out, char *why)
    VS_MUST_CHECK;

/* vs_follower_next: the next event. VS_OK; VS_ERR_END: no more at present, or ever
 * (vs_follower_ended); VS_ERR_STATE: the events so far are not those of the trace (a window changed
 * while it was read, which file systems without shared mappings may do): follow it from the start
 * again. */
enum vs_err vs_follower_next(struct vs_follower *follow, struct vs_event *event) VS_MUST_CHECK;

/* vs_follower_ended: the process is gone and its last event was read, or the trace is damaged: the
 * reader's condition and outcome are final. */
bool vs_follower_ended(const struct vs_follower *follow);

/* vs_follower_reader: for strings, stacks, modules and positions; not for its next event. It
 * belongs to the follower. */
struct vs_reader *vs_follower_reader(struct vs_follower *follow);

/* vs_follower_recorder: the process that records it, as vs_reader_recorded_by; 0 once it is gone or
 * the trace is damaged. */
uint64_t vs_follower_recorder(const struct vs_follower *follow);

void vs_follower_close(struct vs_follower *follow); /* NULL does nothing */

#endif
