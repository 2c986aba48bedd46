/* SPDX-License-Identifier: Apache-2.0
 *
 * CLOCK_MONOTONIC read from the processor's own counter: a third of the cost of clock_gettime, for
 * code that reads it millions of times. A clock is synchronised with CLOCK_MONOTONIC every few
 * milliseconds of use; in between it runs at the counter's measured rate, so its error never
 * exceeds that of the synchronisation (tens of ns, unless the thread was interrupted in it), also
 * while the system's time is being slewed. If the counter is not valid for the whole machine (the
 * kernel itself does not use it, or has forbidden it), every reading is a clock_gettime. */
#ifndef VS_TICKS_H
#define VS_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* Not thread-safe: the owner's lock guards it. */
struct vs_ticks {
    uint64_t tie_ticks, tie_ns;   /* one instant on both clocks */
    uint64_t span;                /* ticks after it for which it is valid; 0 = none */
    uint64_t rate;                /* ns per tick, times 2^32 */
    uint64_t base_ticks, base_ns; /* an earlier instant: the rate is measured from there */
    uint64_t last_ns;             /* never decreases */
    bool usable;                  /* immutable after init */
};

/* vs_ticks_init: starts the clock. Reads a file of /sys. */
void vs_ticks_init(struct vs_ticks *clock);

/* Slow path of vs_ticks_now: synchronises the clock and returns the time. */
uint64_t vs_ticks_tie(struct vs_ticks *clock);

/* vs_ticks_counter: the processor's counter; 0 if there is no known one. */
static inline uint64_t vs_ticks_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc(); /* <x86intrin.h> takes longer to compile than the recorder */
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

/* vs_ticks_now: CLOCK_MONOTONIC in ns, never before an earlier reading of this
 * clock. Cost: a read of the counter; one clock_gettime or a few every 4 ms. */
static inline uint64_t vs_ticks_now(struct vs_ticks *clock)
{
    uint64_t since = clock->span ? vs_ticks_counter() - clock->tie_ticks : 0;
    if (__builtin_expect(since >= clock->span, 0))
        return vs_ticks_tie(clock);
    uint64_t ns = clock->tie_ns + (uint64_t)(((unsigned __int128)since * clock->rate) >> 32);
    if (ns < clock->last_ns)
        ns = clock->last_ns;
    clock->last_ns = ns;
    return ns;
}

#endif
