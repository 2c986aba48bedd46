/* SPDX-License-Identifier: Apache-2.0
 *
 * Live pointers outside the caching allocator, and the counters of every device.
 * Each logical allocation is entered once and recorded once. */
#ifndef VS_TRACKER_H
#define VS_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "intercept/track/context.h"
#include "trace/format/event.h"

struct vs_tracked {
    uint64_t addr, requested, size;
    uint32_t device, context;
    enum vs_family family;
    bool holds;      /* a framework's blocks (holding.h); vs_track_alloc decides it */
    uint32_t ticket; /* of the free in progress; 0: none. Callers leave it 0 */
};

/* vs_live_in: *addr* belongs to *context* and its device; NULL: to no registered context. */
static inline struct vs_tracked vs_live_in(const struct vs_context *context, uint64_t addr,
                                        uint64_t requested, uint64_t size, enum vs_family family)
{
    return (struct vs_tracked){.addr = addr,
                            .requested = requested,
                            .size = size,
                            .device = context ? context->device : 0,
                            .context = context ? context->id : 0,
                            .family = family};
}

/* When CUPTI reports the calls (route/replayed_call.h), a free that begins has not happened yet: vs_track_left
 * stores it here, for a second call once the driver's result is known. */
struct vs_replayed_free {
    bool watched;    /* the call has only begun: the driver may still refuse it */
    bool leaving;    /* it frees *live*, by *api* in *stream* */
    struct vs_tracked live;
    uint64_t stream;
    const char *api;
};
extern _Thread_local struct vs_replayed_free vs_replayed_free __attribute__((tls_model("initial-exec")));

/* vs_track_alloc: enter *live* and record the event. The driver has already returned the address.
 * Returns the event's time. Any thread; takes rank TRACKER. */
uint64_t vs_track_alloc(const struct vs_tracked *live, uint64_t stream, const char *api);

/* vs_track_is: true if memory of *family* is registered at *addr*. */
bool vs_track_is(uint64_t addr, enum vs_family family);

/* vs_track_holds: the live memory at *addr* holds blocks of a framework from here on; the caller
 * counts it. False if it is not registered, or already did. */
bool vs_track_holds(uint64_t addr);

/* vs_track_free: remove *addr* and record the event: the driver can no longer refuse the free.
 * False when it was never entered. *live* (may be NULL) gets the entry. */
bool vs_track_free(uint64_t addr, uint64_t stream, const char *api, struct vs_tracked *live);

/* vs_track_leave: the driver is about to free *addr*, and may refuse; nothing is recorded yet.
 * False when it was never entered, or another thread is freeing it. *live* gets the entry. Call
 * vs_track_left after the driver: *freed*: it succeeded, and the free is recorded now, unless
 * another thread got the address meanwhile: then it was recorded before that allocation. */
bool vs_track_leave(uint64_t addr, const char *api, struct vs_tracked *live);
void vs_track_left(const struct vs_tracked *live, uint64_t stream, const char *api, bool freed);

/* vs_track_context_gone: record all memory of *context* that is freed with it (device, managed and
 * pinned memory; not stream-ordered pools) as freed. */
void vs_track_context_gone(uint32_t context, const char *api);

/* vs_track_failed: record a failed allocation, with the device's free memory if the context is
 * given and the process is not exiting. */
void vs_track_failed(const struct vs_context *context, uint64_t requested, enum vs_family family,
                     uint64_t stream, const char *api, int error);

/* vs_track_free_failed: record a free of *addr* with the result *error* of the driver, or of the cache;
 * nothing if it succeeded. vs_track_free_refused: it did not. */
void vs_track_free_refused(uint64_t addr, const char *api, int error);
static inline void vs_track_free_failed(uint64_t addr, const char *api, int error)
{
    if (__builtin_expect(error != 0, 0) && addr)
        vs_track_free_refused(addr, api, error);
}

/* vs_track_hidden: record that the driver refused memory and the cache asked again with success, after it
 * gave back *given_bytes*. *hidden*: without the cache the program would have seen the refusal. */
void vs_track_hidden(bool hidden, uint64_t given_bytes, const char *api, const char *text);

/* vs_track_findings, vs_track_uncomputed: from here on, record what the simulated GPU's checker finds, and
 * reads of values that were not computed. Nothing on another GPU. */
void vs_track_findings(void);
void vs_track_uncomputed(void);

/* vs_track_overhead_failed: record that the driver refused memory that is no allocation: a context
 * of *device* (VS_OVERHEAD_CONTEXT), or code, a limit or what a launch needs in the current context
 * (*device* is ignored). Nothing unless *error* is out of memory. Call with vs_thread.inside == 0,
 * after vs_hook_active(). */
void vs_track_overhead_failed(int error, enum vs_overhead_what what, CUdevice device,
                              const char *api);

/* vs_track_count_failure: count one more failure of *device* for vs_track_device. */
void vs_track_count_failure(uint32_t device);

/* vs_track_device: counters of a device. Caller's struct is filled atomically per
 * field. VS_ERR_ARG for an ordinal out of range. */
struct vs_device_counters {
    uint64_t allocated, requested, reserved;
    uint64_t allocated_peak, requested_peak, reserved_peak;
    uint64_t allocations, frees, failures;
};
enum vs_err vs_track_device(uint32_t device, struct vs_device_counters *out);
void vs_track_reset_peaks(uint32_t device);

/* vs_track_last_failure: the last failure on a device, from vs_track_failed, and the device's
 * figures then. False when nothing failed there. */
struct vs_alloc_failure {
    uint64_t requested, device_free_bytes, device_total_bytes;
    uint64_t allocated, reserved; /* of the device's counters */
    uint64_t time_ns;
    int error;
};
bool vs_track_last_failure(uint32_t device, struct vs_alloc_failure *out);

#endif
