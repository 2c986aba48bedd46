/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Readings are kept at a distance, so that their errors are small against it. */
#include "intercept/cupti/cupti_clock.h"

#include <string.h>

#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"

#define DISTANCE_NS UINT64_C(50000000)
#define RECORD_NS UINT64_C(1000000000)
#define FIRST_RECORD_NS (RECORD_NS / 10) /* the second: short runs have a drift too */
#define TRIES 8
#define GOOD_NS 200 /* a reading as fast as this is not repeated */

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_COLLECTOR, "CUPTI's clock");
static struct vs_cupti_clock known;       /* guarded by lock */
static struct vs_clock_reading recorded;  /* likewise; host_ns 0: none yet */
static uint64_t record_after_ns = FIRST_RECORD_NS; /* likewise */

/* The reading with the least delay counts. False if CUPTI has no time. */
static bool read_both(const struct vs_cupti *cupti, struct vs_clock_reading *best)
{
    uint64_t best_gap = UINT64_MAX, theirs;
    for (int i = 0; i < TRIES && best_gap > GOOD_NS; i++) {
        uint64_t before = vs_clock_ns();
        if (cupti->timestamp(&theirs) != CUPTI_SUCCESS)
            return false;
        uint64_t gap = vs_clock_ns() - before;
        if (gap >= best_gap)
            continue;
        best_gap = gap;
        *best = (struct vs_clock_reading){before + gap / 2, theirs, gap / 2 + 1};
    }
    return true;
}

static void record_locked(const struct vs_clock_reading *now)
{
    double host_ns = (double)(now->host_ns - recorded.host_ns);
    double device_ns = (double)(int64_t)(now->device_ns - recorded.device_ns);
    int64_t drift_ppb = recorded.host_ns ? (int64_t)((device_ns - host_ns) / host_ns * 1e9) : 0;
    VS_RECORD(clock_reading, .device_ns = now->device_ns, .error_ns = now->error_ns,
              .drift_ppb = (uint64_t)drift_ppb);
    record_after_ns = recorded.host_ns ? RECORD_NS : FIRST_RECORD_NS;
    recorded = *now;
}

void vs_cupti_clock_read(const struct vs_cupti *cupti, struct vs_cupti_clock *clock)
{
    struct vs_clock_reading now;
    bool has_time = read_both(cupti, &now);
    VS_LOCK_SCOPE(&lock);
    struct vs_clock_reading *r = known.readings;
    if (has_time && !(known.count && now.host_ns <= r[known.count - 1].host_ns)) { /* else another thread read later */
        if (known.count && now.device_ns <= r[known.count - 1].device_ns)
            known.count = 0; /* the clock was set back */
        if (known.count > 1 && r[known.count - 1].host_ns - r[known.count - 2].host_ns < DISTANCE_NS)
            known.count--;
        if (known.count == VS_CLOCK_READINGS)
            memmove(r, r + 1, --known.count * sizeof *r);
        r[known.count++] = now;
        if (!recorded.host_ns || now.host_ns - recorded.host_ns >= record_after_ns)
            record_locked(&now);
    }
    *clock = known;
}

uint64_t vs_cupti_clock_ns(const struct vs_cupti_clock *clock, uint64_t device_ns)
{
    const struct vs_clock_reading *r = clock->readings;
    unsigned i = clock->count ? clock->count - 1 : 0;
    if (!device_ns || !clock->count)
        return device_ns;
    while (i && device_ns < r[i].device_ns)
        i--;
    int64_t since = (int64_t)(device_ns - r[i].device_ns);
    if (i + 1 < clock->count) /* at their distance also for times before the first */
        since = (int64_t)((double)since * (double)(r[i + 1].host_ns - r[i].host_ns) /
                          (double)(r[i + 1].device_ns - r[i].device_ns));
    return r[i].host_ns + (uint64_t)since;
}
