/* SPDX-License-Identifier: Apache-2.0
 *
 * The sums of one account (a device, the host, or a device as a framework sees it): a change in,
 * sums and peaks out. The recording process counts with it, the recorder uses it to compute the
 * sums that a reader of the trace will have, and the reader rebuilds the same sums from the events;
 * so the rules are here once:
 *
 * allocated = sizes of live allocations without imported memory; requested = the bytes asked for in
 * them; reserved = segments + live memory outside of segments, where graphs count with the larger
 * of their live memory and the memory that the driver holds for them, never with both.
 *
 * No locks: one thread changes an account at a time; any other may read single sums meanwhile
 * (vs_sum_read). Sums wrap around modulo 2^64 where a damaged trace makes them. */
#ifndef VS_LEDGER_H
#define VS_LEDGER_H

#include "ledger/change.h"

/* Bytes at one time, or the highest of each. */
struct vs_levels {
    union {
        struct {
            uint64_t allocated, requested, reserved;
            uint64_t family[VS_FAMILY_COUNT]; /* sizes of live allocations */
        };
        uint64_t sum[3 + VS_FAMILY_COUNT];
    };
};
#define VS_SUMS (3 + VS_FAMILY_COUNT)

struct vs_ledger {
    struct vs_levels now, peak;
    struct vs_family_counts {
        uint64_t live_before, allocs, frees, lost; /* since vs_ledger_restart */
    } family[VS_FAMILY_COUNT];
    uint64_t segment_bytes;
    uint64_t direct_bytes;   /* of family DEVICE, those outside of segments */
    uint64_t graph_driver;   /* memory that the driver holds for graphs */
    uint64_t graph_reserved; /* the part of reserved that is for graphs */
};

/* The constants of a change at its call site decide most branches of these functions: inlined they
 * are a few additions, as calls they are slow. */
#define VS_ALWAYS_INLINE __attribute__((always_inline))

/* Sums that reached a new peak. */
enum vs_rise { VS_ROSE_ALLOCATED = 1, VS_ROSE_REQUESTED = 2, VS_ROSE_RESERVED = 4 };

/* vs_sum_read: a sum that another thread may be changing. */
static inline uint64_t vs_sum_read(const uint64_t *sum)
{
    return __atomic_load_n(sum, __ATOMIC_RELAXED);
}

static inline void vs_sum_write(uint64_t *sum, uint64_t value)
{
    __atomic_store_n(sum, value, __ATOMIC_RELAXED);
}

static inline void vs_sum_add(uint64_t *sum, uint64_t by)
{
    vs_sum_write(sum, *sum + by);
}

static inline bool vs_sum_raise(uint64_t *peak, uint64_t value)
{
    bool higher = value > *peak;
    if (higher)
        vs_sum_write(peak, value);
    return higher;
}

/* vs_ledger_live: number of live allocations of *family*. */
static inline uint64_t vs_ledger_live(const struct vs_ledger *ledger, unsigned family)
{
    const struct vs_family_counts *counts = &ledger->family[family];
    return counts->live_before + counts->allocs - counts->frees - counts->lost;
}

/* vs_ledger_block_bytes: live bytes in blocks of segments. */
static inline uint64_t vs_ledger_block_bytes(const struct vs_ledger *ledger)
{
    return ledger->now.family[VS_FAMILY_DEVICE] - ledger->direct_bytes;
}

static inline uint64_t vs_ledger_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* vs_ledger_apply: apply *change*. Returns the sums that rose above their peaks, as bits of
 * vs_rise. A summed change raises no peak: vs_ledger_rise is called before it with the highest
 * sums. */
VS_ALWAYS_INLINE static inline unsigned vs_ledger_apply(struct vs_ledger *ledger,
                                                        const struct vs_change *change)
{
    uint64_t *now = &ledger->now.family[change->family];
    /* by how much the sums move */
    uint64_t family = change->size - change->freed_size, allocated = family;
    uint64_t requested = change->requested - change->freed_requested;
    uint64_t reserved = (uint64_t)change->reserved;
    unsigned rose = 0;
    if (change->level == VS_LEVEL_FRAMEWORK) {
        /* a framework also frees memory whose allocation it never reported */
        if (change->freed_size > *now + change->size)
            family = 0 - *now;
        allocated = requested = family;
        reserved = 0;
    } else if (change->level == VS_LEVEL_SEGMENT) {
        if (change->family == VS_FAMILY_GRAPH && !change->summed)
            reserved = vs_ledger_larger(*now, change->held) - ledger->graph_reserved;
    } else if (!change->summed && change->level == VS_LEVEL_DEVICE) {
        reserved = change->family == VS_FAMILY_IPC ? 0
                   : change->family == VS_FAMILY_GRAPH
                       ? vs_ledger_larger(*now + family, ledger->graph_driver) - ledger->graph_reserved
                       : allocated;
    }
    if (change->family == VS_FAMILY_GRAPH) {
        ledger->graph_reserved += reserved;
        if (change->level == VS_LEVEL_SEGMENT && !change->summed)
            ledger->graph_driver = change->held;
    }
    if (reserved) {
        vs_sum_add(&ledger->now.reserved, reserved);
        if (!change->summed && vs_sum_raise(&ledger->peak.reserved, ledger->now.reserved))
            rose |= VS_ROSE_RESERVED;
    }
    if (change->level == VS_LEVEL_SEGMENT) {
        if (change->family != VS_FAMILY_GRAPH)
            ledger->segment_bytes += reserved;
        return rose;
    }
    struct vs_family_counts *counts = &ledger->family[change->family];
    if (change->allocs)
        vs_sum_add(&counts->allocs, change->allocs);
    if (change->frees)
        vs_sum_add(change->lost ? &counts->lost : &counts->frees, change->frees);
    if (change->level == VS_LEVEL_DEVICE && change->family == VS_FAMILY_DEVICE)
        ledger->direct_bytes += family;
    vs_sum_add(now, family);
    if (change->family != VS_FAMILY_IPC) {
        vs_sum_add(&ledger->now.allocated, allocated);
        vs_sum_add(&ledger->now.requested, requested);
    }
    if (change->summed || !change->allocs)
        return rose;
    vs_sum_raise(&ledger->peak.family[change->family], *now);
    if (vs_sum_raise(&ledger->peak.allocated, ledger->now.allocated))
        rose |= VS_ROSE_ALLOCATED;
    if (vs_sum_raise(&ledger->peak.requested, ledger->now.requested))
        rose |= VS_ROSE_REQUESTED;
    return rose;
}

/* vs_ledger_rise: the sums reached *height* meanwhile; returns the raised peaks likewise. Raises
 * the peaks of the families as well. */
unsigned vs_ledger_rise(struct vs_ledger *ledger, const struct vs_levels *height);

/* vs_levels_raise: raise each of *high* to *now* if that is larger. */
void vs_levels_raise(struct vs_levels *high, const struct vs_levels *now);

/* vs_ledger_restart: restart peaks and counts from the live memory. */
void vs_ledger_restart(struct vs_ledger *ledger);

/* vs_ledger_restart_peaks: peaks alone; another thread may read them. */
void vs_ledger_restart_peaks(struct vs_ledger *ledger);

/* vs_ledger_check: the invariants, for tests: allocated and reserved equal the sums of their parts,
 * and no value is above its peak. *framework*: the account of a framework. */
bool vs_ledger_check(const struct vs_ledger *ledger, bool framework);

#endif
