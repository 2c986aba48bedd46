/* SPDX-License-Identifier: Apache-2.0
 *
 * The disk is full. Recording stops for good, reports it once, and the recorded events stay
 * readable, followed by an `end` event (VS_END_STOPPED, errno): in FILE.live where there is one,
 * else in FILE, in reserved room. Private to the recorder. */
#ifndef VS_SHORTAGE_H
#define VS_SHORTAGE_H

#include "trace/record/recorder_internal.h"

/* vs_shortage_window_bytes: largest window size with which FILE.live leaves most of the free space
 * of its file system to FILE; *wanted* or less, 0 when there is no room for any. *before*: bytes of
 * FILE.live in front of the windows. */
size_t vs_shortage_window_bytes(int fd, size_t wanted, size_t before);

/* vs_shortage_begin: there is no space for FILE.live: write small frames, and reserve room for the
 * end before each. */
void vs_shortage_begin(struct vs_recorder *r);

/* vs_shortage_has_room: whether a frame of *bytes* leaves room for the end. false: errno. */
bool vs_shortage_has_room(const struct vs_recorder *r, size_t bytes);

/* vs_shortage_stop_locked: the file could not be written; nobody else writes. */
void vs_shortage_stop_locked(struct vs_recorder *r, int error);

/* vs_shortage_lost_locked: whether the recording has failed; fails it, with a message, when
 * FILE.live was lost (see live_guard.h). */
bool vs_shortage_lost_locked(struct vs_recorder *r);
/* vs_shortage_stall_locked: the background thread made no progress for *looks* tenths of a second
 * (a pipe without a reader, a server that does not answer). Unless the recording is ending it
 * fails, with a message: the program does not wait any longer. */
void vs_shortage_stall_locked(struct vs_recorder *r, unsigned looks);

/* vs_shortage_finish_locked: the process ends: if there is space by now, complete the trace and set
 * r->finished. The background thread has ended. */
void vs_shortage_finish_locked(struct vs_recorder *r);

#endif
