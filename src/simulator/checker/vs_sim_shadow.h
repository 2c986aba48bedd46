/* SPDX-License-Identifier: Apache-2.0
 *
 * The last accesses to one allocation: a map from byte intervals to the last writer, the readers
 * since, and whether the bytes were ever written. An access is checked against the map (does an
 * earlier conflicting access not happen before it?) and entered. Bytes without accesses take no
 * space.
 *
 * Memory is bounded: if an allocation has too many pieces, or too many streams read the same bytes
 * at once, the oldest entries are dropped. That can miss a conflict, never invent one.
 *
 * No locks of its own, as vs_sim_clock.h. */
#ifndef VS_SIM_SHADOW_H
#define VS_SIM_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulator/driver/vs_sim_clock.h"

/* The origin of an access: one piece of stream work or one host call. (lane, seq) identifies it in
 * clocks; the other fields are for reports. */
struct vs_sim_actor {
    unsigned refs;
    uint32_t lane;
    uint64_t seq;
    uint64_t order;   /* among all submissions and calls */
    uint32_t stack;   /* drv_check_stack.c: where it was submitted or called */
    uint32_t made;    /* of a graph's node: the stack that created it, or 0 */
    uint32_t stream;  /* 0: the host */
    uint8_t what;     /* enum vs_sim_check_what */
    const char *name; /* of a kernel; never freed */
};

static inline struct vs_sim_actor *vs_sim_actor_ref(struct vs_sim_actor *actor)
{
    if (actor)
        actor->refs++;
    return actor;
}

void vs_sim_actor_unref(struct vs_sim_actor *actor);

/* vs_sim_ordered: did *earlier* happen before *later*, whose clock is *clock*? */
static inline bool vs_sim_ordered(const struct vs_sim_actor *earlier,
                                  const struct vs_sim_actor *later,
                                  const struct vs_sim_clock *clock)
{
    if (!earlier)
        return true;
    if (earlier->lane == later->lane)
        return earlier->seq <= later->seq;
    return vs_sim_clock_at(clock, earlier->lane) >= earlier->seq;
}

/* Atomic changes conflict with every access except each other. */
enum vs_sim_how { VS_SIM_READS, VS_SIM_WRITES, VS_SIM_CHANGES };

struct vs_sim_piece;

struct vs_sim_shadow { /* zero-initialise */
    struct vs_sim_piece *root;
    size_t pieces;
};

struct vs_sim_access {
    uintptr_t begin, end;
    enum vs_sim_how how;
    struct vs_sim_actor *actor;
    const struct vs_sim_clock *clock; /* of the actor */
};

/* Called for each earlier access that conflicts with *access* and is not ordered before it, with
 * the bytes [begin, end) concerned. */
typedef void (*vs_sim_conflict)(void *to, const struct vs_sim_access *access,
                                struct vs_sim_actor *earlier, enum vs_sim_how earlier_how,
                                uintptr_t begin, uintptr_t end);

struct vs_sim_unwritten { /* of one access */
    size_t bytes;
    uintptr_t first;
};

/* vs_sim_shadow_access: checks *access* and enters it. *unwritten* (may be NULL) receives the bytes
 * of a read or change that were never written. */
void vs_sim_shadow_access(struct vs_sim_shadow *shadow, const struct vs_sim_access *access,
                          vs_sim_conflict conflict, void *to, struct vs_sim_unwritten *unwritten);

/* vs_sim_shadow_end: checks the free of the whole allocation, as a write of all of it; enters
 * nothing. */
void vs_sim_shadow_end(const struct vs_sim_shadow *shadow, const struct vs_sim_access *access,
                       vs_sim_conflict conflict, void *to);

/* vs_sim_shadow_unwritten: number of bytes of [begin, end) that were never written. */
size_t vs_sim_shadow_unwritten(const struct vs_sim_shadow *shadow, uintptr_t begin, uintptr_t end);

/* vs_sim_shadow_copy_unwritten: marks bytes of *to*, from *to_begin* on, as unwritten where the
 * corresponding bytes of [begin, begin + bytes) are, as a copy within the device does. */
void vs_sim_shadow_copy_unwritten(const struct vs_sim_shadow *from, uintptr_t begin, size_t bytes,
                                  struct vs_sim_shadow *to, uintptr_t to_begin);

void vs_sim_shadow_free(struct vs_sim_shadow *shadow);

/* vs_sim_shadow_check: for tests: true if pieces are in order, disjoint, not empty and counted. */
bool vs_sim_shadow_check(const struct vs_sim_shadow *shadow);

#endif
