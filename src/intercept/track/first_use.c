/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of measured handles; see the header. A handle without room in it is measured by time
 * alone, so the table bounds the cost of any program. */
#include "intercept/track/first_use.h"

#include <stdatomic.h>

#include "base/vs_clock.h"
#include "intercept/process/process.h"

#define PLACES 1024
#define TRIES 8

static _Atomic(const void *) seen[PLACES]; /* NULL: free */
static _Atomic uint64_t due_ns;            /* any handle is measured from then on */

static _Atomic(const void *) *place(const void *handle, unsigned try)
{
    uint64_t mixed = (uint64_t)(uintptr_t)handle * UINT64_C(0x9E3779B97F4A7C15);
    return &seen[((mixed >> 54) + try) % PLACES];
}

/* Not measured yet, and there is room for it. */
static bool is_fresh(const void *handle)
{
    bool room = false;
    for (unsigned i = 0; i < TRIES; i++) {
        const void *other = atomic_load_explicit(place(handle, i), memory_order_relaxed);
        if (other == handle)
            return false;
        room |= !other;
    }
    return room;
}

static void remember(const void *handle)
{
    for (unsigned i = 0; i < TRIES; i++) {
        const void *none = NULL;
        if (atomic_compare_exchange_strong_explicit(place(handle, i), &none, handle,
                                                    memory_order_relaxed, memory_order_relaxed))
            return;
    }
}

void vs_first_use_begins(struct vs_usage_mark *mark, const void *handle)
{
    *mark = (struct vs_usage_mark){0};
    if (!vs_process_recorder())
        return;
    uint64_t now = vs_clock_ns();
    bool due = now >= atomic_load_explicit(&due_ns, memory_order_relaxed);
    bool fresh = handle && is_fresh(handle);
    if (!due && !fresh)
        return;
    vs_usage_begins(mark);
    if (!mark->wanted) /* during a capture, for example: then at the next call */
        return;
    uint64_t period = vs_process_options()->number[VS_OPT_sample_ms] * 1000000;
    atomic_store_explicit(&due_ns, now + period, memory_order_relaxed);
    if (fresh)
        remember(handle);
}

void vs_first_use_gone(const void *handle)
{
    for (unsigned i = 0; i < TRIES && handle; i++) {
        const void *it = handle;
        atomic_compare_exchange_strong_explicit(place(handle, i), &it, NULL, memory_order_relaxed,
                                                memory_order_relaxed);
    }
}
