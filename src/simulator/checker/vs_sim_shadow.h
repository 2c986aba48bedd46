/* SPDX-License-Identifier: Apache-2.0
 *
 * The last accesses to one allocation: a map from byte intervals to who wrote them
 * last, who has read them since, and whether anybody wrote them at all. An access
 * is checked against it (does an earlier, conflicting one not happen before it?)
 * and entered. What never happened takes no space.
 *
 * Memory is bounded: when an allocation is in too many pieces, or too many streams
 * read the same bytes at once, the oldest knowledge is forgotten. That can miss a
 * conflict, never invent one.
 *
 * No locks of its own, as vs_sim_clock.h. */
#ifndef VS_SIM_SHADOW_H
#define VS_SIM_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulator/driver/vs_sim_clock.h"

/* Who did something: one piece of stream work or one host call. (lane, seq) is its
 * name among clocks; the rest is for the reader of a report. */
struct vs_sim_actor {
    unsigned refs;
    uint32_t lane;
    uint64_t seq;
    uint64_t order;   /* among all submissions and calls */
    uint32_t stack;   /* drv_check_stack.c: where it was submitted or called */
    uint32_t made;    /* of a graph's node: where it was made, or 0 */
    uint32_t stream;  /* 0: the host */
    uint8_t what;     /* enum vs_sim_check_what */
    const char *name; /* of a kernel; lives for good */
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

/* Atomic changes conflict with all but each other. */
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

/* Told of each earlier access that conflicts with *access* and is not ordered
 * before it, on the bytes [begin, end). */
typedef void (*vs_sim_conflict)(void *to, const struct vs_sim_access *access,
                                struct vs_sim_actor *earlier, enum vs_sim_how earlier_how,
                                uintptr_t begin, uintptr_t end);

struct vs_sim_unwritten { /* of one access */
    size_t bytes;
    uintptr_t first;
};

/* vs_sim_shadow_access: check *access* and enter it. *unwritten* (may be NULL): of
 * a read or change, the bytes nobody ever wrote. False: no host memory; the accesses to
 * this allocation are then forgotten. */
bool vs_sim_shadow_access(struct vs_sim_shadow *shadow, const struct vs_sim_access *access,
                          vs_sim_conflict conflict, void *to,
                          struct vs_sim_unwritten *unwritten) VS_MUST_CHECK;

/* vs_sim_shadow_end: check the end of the whole allocation, as a write of all of
 * it; enters nothing. */
void vs_sim_shadow_end(const struct vs_sim_shadow *shadow, const struct vs_sim_access *access,
                       vs_sim_conflict conflict, void *to);

/* vs_sim_shadow_unwritten: how many bytes of [begin, end) nobody has written. */
size_t vs_sim_shadow_unwritten(const struct vs_sim_shadow *shadow, uintptr_t begin, uintptr_t end);

/* vs_sim_shadow_copy_unwritten: bytes of [begin, begin + bytes) that nobody wrote
 * make the corresponding ones from *to_begin* in *to* unwritten: what a copy
 * within the device does. False as above. */
bool vs_sim_shadow_copy_unwritten(const struct vs_sim_shadow *from, uintptr_t begin, size_t bytes,
                                  struct vs_sim_shadow *to, uintptr_t to_begin) VS_MUST_CHECK;

/* vs_sim_shadow_forget: all of [begin, end) counts as written, by nobody. */
bool vs_sim_shadow_forget(struct vs_sim_shadow *shadow, uintptr_t begin,
                          uintptr_t end) VS_MUST_CHECK;

void vs_sim_shadow_free(struct vs_sim_shadow *shadow);

/* vs_sim_shadow_check: for tests: pieces in order, disjoint, not empty, counted. */
bool vs_sim_shadow_check(const struct vs_sim_shadow *shadow);

#endif
