/* SPDX-License-Identifier: Apache-2.0
 *
 * Refused frees, refusals that the cache hid, and what the simulated GPU reports: what its checker finds,
 * and reads of values that were not computed (drv_uncomputed.c), on the program's own thread, inside the
 * call that reads. The checker reports a bad free from within the driver's call: the stacks that it adds
 * wait for the event of the hook, which has the error. */
#include "base/vs_lock.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/route/upcalls.h"
#include "intercept/track/tracker.h"

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_TRACKER, "findings");
static struct vs_event_finding bad_free; /* guarded by lock: the last from the checker */

void vs_track_free_refused(uint64_t addr, const char *api, int error)
{
    if (!vs_process_recorder() || error == CUDA_ERROR_DEINITIALIZED)
        return; /* at the end of the process the driver may be gone: not the program's mistake */
    struct vs_event event = {.kind = VS_EVENT_finding,
                             .finding = {.what = VS_FINDING_FAILED_FREE,
                                         .addr = addr,
                                         .api = vs_process_api(api),
                                         .stack = vs_process_stack(),
                                         .error = (uint64_t)error}};
    vs_lock_acquire(&lock);
    if (bad_free.addr == addr) {
        event.finding.alloc_stack = bad_free.alloc_stack;
        event.finding.earlier_stack = bad_free.earlier_stack;
        bad_free.addr = 0;
    }
    vs_lock_release(&lock);
    vs_recorder_event(vs_process_recorder(), &event);
}

void vs_track_hidden(bool hidden, uint64_t given_bytes, const char *api, const char *text)
{
    VS_RECORD(finding, .what = hidden ? VS_FINDING_HIDDEN_FAILURE : VS_FINDING_CACHE_GAVE_BACK,
              .bytes = given_bytes,
              .api = vs_process_api(api),
              .stack = vs_process_stack(),
              .error = CUDA_ERROR_OUT_OF_MEMORY,
              .text = vs_process_string(text));
}

static void found(unsigned what, uint64_t addr, uint64_t bytes, const char *text,
                  void *const *const frames[3], const size_t counts[3])
{
    struct vs_recorder *recorder = vs_process_recorder();
    if (!recorder)
        return;
    VS_OWN_WORK();
    struct vs_event event = {
        .kind = VS_EVENT_finding,
        .finding = {.what = what,
                    .addr = addr,
                    .bytes = bytes,
                    .stack = vs_recorder_stack_of(recorder, frames[0], counts[0]),
                    .alloc_stack = vs_recorder_stack_of(recorder, frames[1], counts[1]),
                    .earlier_stack = vs_recorder_stack_of(recorder, frames[2], counts[2]),
                    .text = vs_process_string(text)}};
    if (what == VS_FINDING_FAILED_FREE) {
        VS_LOCK_SCOPE(&lock);
        bad_free = event.finding;
    } else {
        vs_recorder_event(recorder, &event);
    }
}

static bool on_read(int what, int device, uint64_t bytes, const char *text)
{
    if (vs_thread.inside || vs_process_state() != VS_PROCESS_ACTIVE)
        return false;
    VS_OWN_WORK();
    VS_RECORD(uncomputed_read, .device = (uint64_t)(device < 0 ? 0 : device),
              .what = (uint64_t)what,
              .bytes = bytes,
              .text = vs_process_string(text ? text : ""),
              .stack = vs_process_stack());
    return true;
}

void vs_track_findings(void)
{
    VS_CALL(vramscopeSimFindings, found);
}

void vs_track_uncomputed(void)
{
    VS_CALL(vramscopeSimWatch, on_read, vs_upcalls.cached_block);
}
