/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocated bytes of a device over the whole run, in a fixed number of periods, each with its
 * highest value: when they are used up, two become one. And what was allocated in the last seconds.
 * Times are those of the events. Not thread-safe. */
#ifndef VS_MEMORY_HISTORY_H
#define VS_MEMORY_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define VS_HISTORY_PERIODS 128u
#define VS_RATE_PERIODS 16u

/* Zero-initialise. */
struct vs_memory_history {
    uint64_t highest[VS_HISTORY_PERIODS];
    size_t count;        /* periods begun */
    uint64_t start_ns, period_ns;
    uint64_t level;      /* now */
    struct {
        uint64_t period; /* number since start_ns */
        uint64_t bytes, allocs;
    } recent[VS_RATE_PERIODS];
};

/* vs_history_level: *level* bytes are allocated from *time_ns* on. */
void vs_history_level(struct vs_memory_history *history, uint64_t time_ns, uint64_t level);

/* vs_history_request: *bytes* were allocated at *time_ns*. */
void vs_history_request(struct vs_memory_history *history, uint64_t time_ns, uint64_t bytes);

/* vs_history_rate: bytes and allocations per second, in the last 5 seconds before *now_ns*, or
 * since the start if that is later. */
void vs_history_rate(const struct vs_memory_history *history, uint64_t now_ns, uint64_t *bytes,
                     uint64_t *allocs);

#endif
