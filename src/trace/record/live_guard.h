/* SPDX-License-Identifier: Apache-2.0
 *
 * The mapping of FILE.live must not cost the program its life: where the page behind a
 * store is not there any more, because somebody shortened the file, the disk went away or a
 * file system that copies on write has no room, the kernel sends SIGBUS. Such a fault is
 * answered by memory in the mapping's place; what was recorded is then lost from there, and
 * the recorder finds out and stops.
 *
 * Only where the program leaves SIGBUS at its default and the thread does not block it; its own
 * handler stays, and one that it sets later replaces ours. Any other SIGBUS ends the program as
 * without us. */
#ifndef VS_TRACE_LIVE_GUARD_H
#define VS_TRACE_LIVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* vs_live_guard_prepare: *fd* is a new, empty FILE.live. Asks for stores in place where the file
 * system would otherwise take new blocks for each change (btrfs). */
void vs_live_guard_prepare(int fd);

/* vs_live_guard_add, vs_live_guard_remove: around the life of a mapping; *map* may be NULL or
 * unknown to remove. The fifth at once is not guarded. Any thread. */
void vs_live_guard_add(void *map, size_t bytes);
void vs_live_guard_remove(const void *map);

/* vs_live_guard_lost: the mapping is memory now and what it held is gone. After reading from it,
 * too: true when what was read may be zeros instead. Any thread. */
bool vs_live_guard_lost(const void *map);

/* vs_live_guard_awake: whether SIGBUS can reach the calling thread of ours, which has all signals
 * blocked: only while it works, so that one for the program finds the program's threads. */
void vs_live_guard_awake(bool awake);

#endif
