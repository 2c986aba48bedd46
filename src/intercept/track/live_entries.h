/* SPDX-License-Identifier: Apache-2.0
 *
 * Live pointers by address, in little host memory: an entry of 32 bytes and a map slot each. The
 * tracker's lock guards everything. Internal to the tracker. */
#ifndef VS_LIVE_ENTRIES_H
#define VS_LIVE_ENTRIES_H

#include "intercept/track/tracker.h"

/* The entry of an address, which is the key. */
struct vs_live_entry {
    uint64_t requested, size;
    const char *leaving; /* while there is a ticket: the call that frees it; static text */
    uint32_t ticket;
    uint32_t device : 6, family : 4, holds : 1;
    uint32_t context : 21; /* 0: the number does not fit */
};
_Static_assert(sizeof(struct vs_live_entry) == 32, "what docs/internals/measurements.md says");
_Static_assert(VS_DEVICES_MAX <= 64 && VS_FAMILY_COUNT <= 16, "both fit their bits");

/* vs_live_find: NULL when *addr* is not there. Valid until it is removed. */
struct vs_live_entry *vs_live_find(uint64_t addr);

/* vs_live_of: *entry* of *addr*, unpacked. */
struct vs_tracked vs_live_of(const struct vs_live_entry *entry, uint64_t addr);

/* vs_live_put: enter *live*, of which *holds* says whether it holds a framework's blocks. *entry*:
 * vs_live_find of its address; it is replaced. False: out of host memory. */
bool vs_live_put(struct vs_live_entry *entry, const struct vs_tracked *live, bool holds);

/* vs_live_remove: false when *addr* is not there; else *was* gets the removed entry. */
bool vs_live_remove(uint64_t addr, struct vs_tracked *was);

/* vs_live_next: iterate over all entries: *cursor* starts at 0; NULL at the end. After removing the
 * returned entry, decrement the cursor: another entry may move to that slot. */
const struct vs_live_entry *vs_live_next(size_t *cursor, uint64_t *addr);

#endif
