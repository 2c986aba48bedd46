/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The calls are in one ring, in the order of their ends; the oldest makes room. */
#include "intercept/cupti/call_site.h"

#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "intercept/cupti/kernel_switch.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "trace/record/selection.h"

#define CALLS_MAX ((uint64_t)1 << 16) /* CUPTI delivers records at the latest after some thousand */

#define LATEST_NS UINT64_C(1000000000) /* between the end of CUPTI's record and ours, on a busy machine */

_Atomic unsigned vs_calls_wanted;

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_COLLECTOR, "calls");
static struct call {
    uint64_t began_ns, ended_ns, stack, api;
    uint32_t thread, correlation; /* of the latest record that was found for it */
} calls[CALLS_MAX];               /* guarded by lock */
static uint64_t count, forgotten; /* likewise; the next call's place is count % CALLS_MAX */

uint64_t vs_call_begins_for(enum vs_call_kind kind, const void *caller)
{
    if (vs_hook_active_for(caller) && vs_process_state() == VS_PROCESS_ACTIVE)
        vs_switch_signalled();
    bool wanted = atomic_load_explicit(&vs_calls_wanted, memory_order_relaxed) & kind;
    return wanted && vs_hook_active_for(caller) && vs_process_state() == VS_PROCESS_ACTIVE &&
                   vs_recorder_wants_activity(vs_process_recorder())
               ? vs_clock_ns()
               : 0;
}

void vs_call_remember(uint64_t began_ns, const char *api)
{
    VS_OWN_WORK();
    struct call call = {.began_ns = began_ns, .stack = vs_process_stack(),
                        .api = vs_process_api(vs_api(api)), .thread = vs_encode_thread()};
    VS_LOCK_SCOPE(&lock);
    call.ended_ns = vs_clock_ns();
    calls[count++ % CALLS_MAX] = call;
}

/* The first call of the ring from *low* on that ended at *ns* or later. */
static uint64_t first_ended_locked(uint64_t low, uint64_t ns)
{
    uint64_t high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (calls[middle % CALLS_MAX].ended_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void vs_call_found(uint32_t thread, uint64_t start_ns, uint64_t end_ns, uint32_t correlation)
{
    vs_lock_acquire(&lock);
    uint64_t oldest = count > CALLS_MAX ? count - CALLS_MAX : 0;
    /* Of calls that follow each other closely the one that has most of its time in common: clocks differ. */
    uint64_t best = count, most = 0;
    for (uint64_t i = first_ended_locked(oldest, start_ns); i < count; i++) {
        const struct call *c = &calls[i % CALLS_MAX];
        if (c->ended_ns > end_ns + LATEST_NS || (c->thread == thread && c->began_ns > end_ns))
            break;
        if (c->thread != thread)
            continue;
        uint64_t from = c->began_ns > start_ns ? c->began_ns : start_ns,
                 to = c->ended_ns < end_ns ? c->ended_ns : end_ns;
        if (best == count || to - from > most) {
            best = i;
            most = to - from;
        }
    }
    struct call *call = &calls[best % CALLS_MAX], found = *call;
    bool is_found = best < count;
    if (is_found)
        call->correlation = correlation;
    else if (oldest && calls[oldest % CALLS_MAX].ended_ns > start_ns)
        forgotten++;
    vs_lock_release(&lock);
    if (is_found && found.correlation != correlation)
        VS_RECORD(work_call, .correlation = correlation, .api = found.api, .stack = found.stack,
                  .thread = thread);
}

uint64_t vs_calls_forgotten(void)
{
    VS_LOCK_SCOPE(&lock);
    uint64_t now = forgotten;
    forgotten = 0;
    return now;
}
