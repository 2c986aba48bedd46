/* SPDX-License-Identifier: Apache-2.0
 *
 * The mapping of FILE.live must not kill the program: when the page behind a store no longer
 * exists, because somebody shortened the file, the disk went away or a copy-on-write file system is
 * full, the kernel sends SIGBUS. The handler then maps memory over the mapping; everything recorded
 * from there on is lost, and the recorder notices and stops.
 *
 * Only where the program leaves SIGBUS at its default and the thread does not block it; a handler
 * of the program stays, and one that it sets later replaces ours. Any other SIGBUS ends the program
 * as it would without us. */
#ifndef VS_TRACE_LIVE_GUARD_H
#define VS_TRACE_LIVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* vs_live_guard_prepare: *fd* is a new, empty FILE.live. Requests in-place stores where the file
 * system would otherwise allocate new blocks for each change (btrfs). */
void vs_live_guard_prepare(int fd);

/* vs_live_guard_add, vs_live_guard_remove: start and stop guarding a mapping; remove accepts NULL
 * and a mapping that was not added. A fifth mapping at the same time is not guarded. Any thread. */
void vs_live_guard_add(void *map, size_t bytes);
void vs_live_guard_remove(const void *map);

/* vs_live_guard_lost: the mapping was replaced by memory and its contents are gone. Also to be
 * checked after a read: true when the bytes read may be zeros instead. Any thread. */
bool vs_live_guard_lost(const void *map);

/* vs_live_guard_awake: whether SIGBUS can reach the calling background thread, which has all
 * signals blocked: unblocked only while it works, so that the program's own SIGBUS goes to the
 * program's threads. */
void vs_live_guard_awake(bool awake);

#endif
