/* SPDX-License-Identifier: Apache-2.0
 *
 * Synchronises a counter with CLOCK_MONOTONIC; see the header. The rate is measured over the time
 * since an earlier synchronisation, and is used for no longer than that time: an error e of the two
 * synchronisations makes at most e again by the end of the span. */
#define _GNU_SOURCE
#include "base/vs_ticks.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/vs_clock.h"

#define SPAN_NS UINT64_C(4000000)       /* longest time between two synchronisations */
#define BASELINE_NS UINT64_C(250000000) /* long enough: the base is moved forward */
#define BASELINE_MIN_NS UINT64_C(200000)
#define TRIES 3

/* The kernel ensures that its own time source is constant, runs in idle states and is equal on all
 * processors. */
static bool kernel_uses_counter(void)
{
#if defined(__x86_64__)
    int allowed = 0;
    if (prctl(PR_GET_TSC, &allowed) == 0 && allowed == PR_TSC_SIGSEGV)
        return false;
    static const char wanted[] = "tsc\n";
#elif defined(__aarch64__)
    static const char wanted[] = "arch_sys_counter\n";
#else
    static const char wanted[] = "?";
#endif
    char text[32] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 && strcmp(text, wanted) == 0;
}

void vs_ticks_init(struct vs_ticks *clock)
{
    *clock = (struct vs_ticks){.usable = kernel_uses_counter()};
}

/* Reads both clocks at one instant; the fastest of a few attempts counts. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = vs_ticks_counter(), now = vs_clock_ns();
        uint64_t took = vs_ticks_counter() - before;
        if (took >= shortest)
            continue;
        shortest = took;
        *ticks = before + took / 2;
        *ns = now;
    }
}

static void start_over(struct vs_ticks *clock, uint64_t ticks, uint64_t ns)
{
    clock->base_ticks = ticks;
    clock->base_ns = ns;
    clock->rate = clock->span = 0;
}

static void measure(struct vs_ticks *clock, uint64_t ticks, uint64_t ns)
{
    uint64_t passed_ns = ns - clock->base_ns, passed = ticks - clock->base_ticks;
    if (!clock->base_ns || ns < clock->base_ns || ticks <= clock->base_ticks) {
        start_over(clock, ticks, ns);
        return;
    }
    if (passed_ns < BASELINE_MIN_NS)
        return;
    uint64_t rate = (uint64_t)(((unsigned __int128)passed_ns << 32) / passed);
    uint64_t difference = clock->rate > rate ? clock->rate - rate : rate - clock->rate;
    /* further from the last one than this is not slewing: the machine slept, or was migrated */
    if (!rate || (clock->rate && difference > clock->rate / 512)) {
        start_over(clock, ticks, ns);
        return;
    }
    uint64_t span_ns = passed_ns < SPAN_NS ? passed_ns : SPAN_NS;
    clock->rate = rate;
    clock->span = (uint64_t)(((unsigned __int128)span_ns << 32) / rate);
    if (passed_ns > BASELINE_NS) { /* the next rate is measured over recent time */
        clock->base_ticks = clock->tie_ticks;
        clock->base_ns = clock->tie_ns;
    }
}

uint64_t vs_ticks_tie(struct vs_ticks *clock)
{
    uint64_t ticks = 0, ns = vs_clock_ns();
    if (clock->usable && (clock->span || ns - clock->base_ns >= BASELINE_MIN_NS)) {
        read_both(&ticks, &ns);
        measure(clock, ticks, ns);
        clock->tie_ticks = ticks;
        clock->tie_ns = ns;
    }
    if (ns < clock->last_ns)
        ns = clock->last_ns;
    clock->last_ns = ns;
    return ns;
}
