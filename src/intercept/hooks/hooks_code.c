/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that programs load: the driver allocates its memory, at once or lazily, when one of its
 * functions or variables is first requested or launched. The amount is measured, and if there is
 * none left the cache releases some first. If that was not enough, the failure is recorded. A
 * refused launch has not begun, so it can be repeated; one that succeeds costs a comparison.
 *
 * A program may request functions in a loop: those calls are measured once per module or library,
 * and otherwise one call per period of the option sample_ms. */
#include <stdatomic.h>

#include "base/vs_clock.h"
#include "intercept/cache/room.h"
#include "intercept/cupti/call_site.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/tracker.h"
#include "intercept/track/usage.h"

/* The table of measured modules and libraries. One without room in it is measured by time alone, so
 * the table bounds the cost of any program. */
#define PLACES 1024
#define TRIES 8

static _Atomic(const void *) seen[PLACES]; /* NULL: free */
static _Atomic uint64_t due_ns;            /* any unit is measured from then on */

static _Atomic(const void *) *place(const void *unit, unsigned try)
{
    uint64_t mixed = (uint64_t)(uintptr_t)unit * UINT64_C(0x9E3779B97F4A7C15);
    return &seen[((mixed >> 54) + try) % PLACES];
}

/* Replaces *from* by *to* in one of the unit's places; NULL: in all, as two threads may have stored
 * it. */
static void replace(const void *unit, const void *from, const void *to)
{
    bool done = false;
    for (unsigned i = 0; i < TRIES && !done; i++) {
        const void *expected = from;
        done = atomic_compare_exchange_strong_explicit(place(unit, i), &expected, to,
                                                       memory_order_relaxed,
                                                       memory_order_relaxed) && to;
    }
}

/* vs_usage_begins if *unit* was not measured yet, or the last measurement is old enough; otherwise
 * *mark* requests nothing. NULL: by time only. */
static void first_use_begins(struct vs_usage_mark *mark, const void *unit)
{
    *mark = (struct vs_usage_mark){0};
    if (!vs_process_recorder())
        return;
    uint64_t now = vs_clock_ns();
    bool due = now >= atomic_load_explicit(&due_ns, memory_order_relaxed);
    bool room = false, seen_before = !unit; /* fresh: not measured yet, and there is room for it */
    for (unsigned i = 0; i < TRIES && !seen_before; i++) {
        const void *other = atomic_load_explicit(place(unit, i), memory_order_relaxed);
        seen_before = other == unit;
        room |= !other;
    }
    bool fresh = room && !seen_before;
    if (!due && !fresh)
        return;
    vs_usage_begins(mark);
    if (!mark->wanted) /* during a capture, for example: then at the next call */
        return;
    uint64_t period = vs_process_options()->number[VS_OPT_sample_ms] * 1000000;
    atomic_store_explicit(&due_ns, now + period, memory_order_relaxed);
    if (fresh)
        replace(unit, NULL, unit);
}

/* The rows' ways to measure. */
#define BEGIN_NEVER mark.wanted = false
#define BEGIN_ALWAYS vs_usage_begins(&mark)
#define BEGIN_FIRST_USE(unit) first_use_begins(&mark, unit)

#define VS_CODE_HOOK(name, params, args, api, per_thread, what, measured) \
    CUresult name params                                                \
    {                                                                   \
        struct vs_usage_mark mark;                                      \
        CUresult r;                                                     \
        BEGIN_##measured;                                               \
        uint64_t began_ns = 0;                                          \
        if (VS_OVERHEAD_##what == VS_OVERHEAD_LAUNCH)                   \
            began_ns = vs_call_begins(VS_CALL_WORK, __builtin_return_address(0)); \
        VS_WITH_ROOM(r, VS_REAL_OF(name, args));                        \
        if (r == CUDA_SUCCESS)                                          \
            vs_call_ended(began_ns, api);                               \
        if (r == CUDA_SUCCESS && mark.wanted)                           \
            vs_usage_took(&mark, VS_OVERHEAD_##what);                   \
        if (r == CUDA_ERROR_OUT_OF_MEMORY)                              \
            vs_track_overhead_failed(r, VS_OVERHEAD_##what, -1, api);   \
        return r;                                                       \
    }
#include "generated/hook_table.h"

/* An unload is not repeated: one that fails may have ended the unit, and report an earlier launch.
 * */
static CUresult unload(void *unit, bool library, const char *api)
{
    struct vs_usage_mark mark;
    if (unit)
        replace(unit, unit, NULL); /* another may get the same handle */
    vs_usage_begins(&mark);
    CUresult r = library ? VS_REAL(cuLibraryUnload, unit) : VS_REAL(cuModuleUnload, unit);
    if (r == CUDA_SUCCESS && mark.wanted)
        vs_usage_took(&mark, VS_OVERHEAD_MODULE);
    if (r == CUDA_ERROR_OUT_OF_MEMORY)
        vs_track_overhead_failed(r, VS_OVERHEAD_MODULE, -1, api);
    return r;
}

CUresult cuModuleUnload(CUmodule module)
{
    return unload(module, false, "cuModuleUnload");
}

CUresult cuLibraryUnload(CUlibrary library)
{
    return unload(library, true, "cuLibraryUnload");
}
