/* SPDX-License-Identifier: Apache-2.0
 *
 * The level that the user thinks in. Where a framework (PyTorch) reports its blocks, that is the
 * framework's level: its tensors, and memory of the device that does not hold the framework's
 * blocks (NCCL, cuBLAS, an extension's cudaMalloc). Elsewhere it is the device's level. Both are
 * kept, because a framework is known only from its first event on; these functions choose. Their
 * answers are for the present time of the replay. Not thread-safe. */
#ifndef VS_USER_LEVEL_H
#define VS_USER_LEVEL_H

#include "analysis/state/replay.h"

/* vs_user_level: VS_LEVEL_FRAMEWORK if a framework has reported memory of *account* (a device index
 * or VS_HOST_INDEX), otherwise VS_LEVEL_DEVICE. */
enum vs_level vs_user_level(const struct vs_replay *replay, unsigned account);

/* vs_user_learn_pool: memory that was allocated with *stack* holds a framework's blocks: so does other memory
 * that the same code takes. Nothing for libc10, which is known. */
void vs_user_learn_pool(struct vs_replay *replay, uint64_t stack);

struct vs_user_sums {
    enum vs_level level;
    uint64_t allocated; /* live now: tensors + outside; at the device's level its allocated */
    uint64_t tensors;   /* of these, blocks of the framework; 0 at the device's level */
    uint64_t outside;   /* of these, other memory of the device */
    uint64_t backing;   /* live memory of the device that holds the framework's blocks */
    const struct vs_peak *peak; /* of *allocated*; .allocated, .requested and .reserved are the
                                 * device's at that time */
    uint64_t step_peak, steps_peak;       /* as in struct vs_account, of *allocated* */
    uint64_t step_largest, steps_largest, largest, freed_bytes;
    const struct vs_growth *growth;       /* of *allocated* at step ends */
};

/* vs_user_sums: the sums of *account* at the user's level. */
struct vs_user_sums vs_user_sums(const struct vs_replay *replay, unsigned account);

/* vs_user_has_site, vs_user_has_live: whether the site or live allocation is at the user's level of
 * its account. Memory that holds the framework's blocks is not. */
bool vs_user_has_site(const struct vs_replay *replay, const struct vs_site *site);
bool vs_user_has_live(const struct vs_replay *replay, const struct vs_live *live);

/* vs_user_live_next: iterates over the live allocations of *account* at the user's level, in no
 * useful order: *cursor* starts at 0; NULL at the end. No event meanwhile. */
const struct vs_live *vs_user_live_next(const struct vs_replay *replay, unsigned account,
                                        size_t *cursor);

/* vs_user_phase_peak: the highest sum at the user's level while *phase* was open.
 * vs_user_phase_allocs: allocations at the user's level in it; *bytes* receives their sum. */
uint64_t vs_user_phase_peak(const struct vs_replay *replay, const struct vs_phase *phase,
                            unsigned account);
uint64_t vs_user_phase_allocs(const struct vs_replay *replay, const struct vs_phase *phase,
                              uint64_t *bytes);

/* A segment of a framework's allocator: device memory, or an address range without gaps where memory
 * is mapped. */
struct vs_user_segment {
    uint64_t addr, size;
    uint32_t site; /* that allocated it, or the first part of it */
    bool mapped;
};

/* vs_user_segments: those of *account*, by address; the caller frees *out*. Cost: the
 * live set. */
void vs_user_segments(const struct vs_replay *replay, unsigned account,
                      struct vs_user_segment **out, size_t *count);

/* vs_user_failure_site: the site at which *failure*'s request was made, if it allocated before; or
 * NULL. Valid until the next event. */
const struct vs_site *vs_user_failure_site(const struct vs_replay *replay,
                                           const struct vs_failure *failure);

#endif
