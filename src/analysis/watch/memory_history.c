/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/watch/memory_history.h"

#include <string.h>

#define PERIOD_FIRST_NS UINT64_C(50000000)
#define RATE_PERIOD_NS UINT64_C(500000000)
#define RATE_NS UINT64_C(5000000000)

void vs_history_level(struct vs_memory_history *h, uint64_t time_ns, uint64_t level)
{
    if (!h->period_ns) {
        h->period_ns = PERIOD_FIRST_NS;
        h->start_ns = time_ns;
    }
    uint64_t since = time_ns > h->start_ns ? time_ns - h->start_ns : 0;
    while (since / h->period_ns >= VS_HISTORY_PERIODS) {
        while (h->count < VS_HISTORY_PERIODS) /* the level did not change */
            h->highest[h->count++] = h->level;
        for (size_t i = 0; i < VS_HISTORY_PERIODS / 2; i++) {
            uint64_t a = h->highest[2 * i], b = h->highest[2 * i + 1];
            h->highest[i] = a > b ? a : b;
        }
        h->count = (h->count + 1) / 2;
        h->period_ns *= 2;
    }
    size_t period = (size_t)(since / h->period_ns);
    while (h->count <= period)
        h->highest[h->count++] = h->level;
    h->level = level;
    if (level > h->highest[period])
        h->highest[period] = level;
}

void vs_history_request(struct vs_memory_history *h, uint64_t time_ns, uint64_t bytes)
{
    uint64_t period = (time_ns > h->start_ns ? time_ns - h->start_ns : 0) / RATE_PERIOD_NS;
    size_t i = period % VS_RATE_PERIODS;
    if (h->recent[i].period != period)
        memset(&h->recent[i], 0, sizeof h->recent[i]);
    h->recent[i].period = period;
    h->recent[i].bytes += bytes;
    h->recent[i].allocs++;
}

void vs_history_rate(const struct vs_memory_history *h, uint64_t now_ns, uint64_t *bytes,
                     uint64_t *allocs)
{
    uint64_t since = now_ns > h->start_ns ? now_ns - h->start_ns : 0;
    uint64_t last = since / RATE_PERIOD_NS, begin = 0, sum = 0, count = 0;
    if (since > RATE_NS)
        begin = (since - RATE_NS) / RATE_PERIOD_NS + 1;
    for (size_t i = 0; i < VS_RATE_PERIODS; i++) {
        if (h->recent[i].period < begin || h->recent[i].period > last)
            continue;
        sum += h->recent[i].bytes;
        count += h->recent[i].allocs;
    }
    uint64_t span = since - begin * RATE_PERIOD_NS;
    double seconds = (double)(span > RATE_PERIOD_NS ? span : RATE_PERIOD_NS) / 1e9;
    *bytes = (uint64_t)((double)sum / seconds);
    *allocs = (uint64_t)((double)count / seconds + 0.5);
}
