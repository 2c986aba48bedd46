/* SPDX-License-Identifier: Apache-2.0
 *
 * No room for the trace. Recording stops for good, is told once, and what was recorded stays
 * readable, with an `end` event (VS_END_STOPPED, errno) behind it: in FILE.live where there is
 * one, else in FILE, in room that was kept for it. Part of the recorder's inside. */
#ifndef VS_SHORTAGE_H
#define VS_SHORTAGE_H

#include "trace/record/recorder_internal.h"

/* vs_shortage_window_bytes: how large windows may be for FILE.live to leave most of the free
 * space of its file system to FILE; *wanted* or less, 0 when there is no room for any. *before*:
 * bytes of FILE.live in front of them. */
size_t vs_shortage_window_bytes(int fd, size_t wanted, size_t before);

/* vs_shortage_begin: room is so short that there is no FILE.live: write small frames, and keep
 * room for the end before each. */
void vs_shortage_begin(struct vs_recorder *r);

/* vs_shortage_has_room: whether a frame of *bytes* leaves room for the end. false: errno. */
bool vs_shortage_has_room(const struct vs_recorder *r, size_t bytes);

/* vs_shortage_stop_locked: the file could not be written; nobody else writes. */
void vs_shortage_stop_locked(struct vs_recorder *r, int error);

/* vs_shortage_lost_locked: whether the recording has failed; it fails here, and says so, when
 * FILE.live was lost (see live_guard.h). */
bool vs_shortage_lost_locked(struct vs_recorder *r);
/* vs_shortage_stall_locked: the background thread made no headway for *looks* tenths of a second (a
 * pipe that nobody reads, a server that does not answer). Unless the recording ends anyway it
 * fails, and says so: the program does not wait any longer. */
void vs_shortage_stall_locked(struct vs_recorder *r, unsigned looks);

/* vs_shortage_finish_locked: the process ends: should there be room by now, the trace is
 * finished, and r->finished says so. There is no background thread any more. */
void vs_shortage_finish_locked(struct vs_recorder *r);

#endif
