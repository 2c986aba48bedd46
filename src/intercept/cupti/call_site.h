/* SPDX-License-Identifier: Apache-2.0
 *
 * Which call of the program began a kernel, copy or memset. CUPTI's records of calls have the
 * correlation of the work, but no stack; its external correlation ids do not help, because a call of
 * the runtime has begun when our hook of the driver's function runs, and the id of that time counts
 * (seen with CUDA 13.0). So the hook remembers when the thread was inside the driver, and with which
 * stack; the record of the call, which comes later, is of the same thread and time: that of the
 * runtime's function contains the hook's time, that of the driver's function lies within it. */
#ifndef VS_CALL_SITE_H
#define VS_CALL_SITE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Calls that begin work. vs_calls_wanted: those that are to be remembered, set by the collector. */
enum vs_call_kind {
    VS_CALL_COPIES = 1, VS_CALL_WORK = 2,
    VS_CALL_SIGNALLED = 4 /* a signal asked for a switch (kernel_switch.h): the next call makes it */
};
extern _Atomic unsigned vs_calls_wanted;

/* vs_call_remember: the call that began at *began_ns* has ended; *api* as for vs_api. Any thread, in
 * a hook. */
void vs_call_remember(uint64_t began_ns, const char *api);

/* vs_call_begins: the time, before the real call; 0: not to be remembered. *caller*: a return
 * address, as for vs_hook_called. */
uint64_t vs_call_begins_for(enum vs_call_kind kind, const void *caller);
static inline uint64_t vs_call_begins(enum vs_call_kind kind, const void *caller)
{
    unsigned wanted = atomic_load_explicit(&vs_calls_wanted, memory_order_relaxed);
    return __builtin_expect(wanted & (kind | VS_CALL_SIGNALLED), 0) ? vs_call_begins_for(kind, caller) : 0;
}
static inline void vs_call_ended(uint64_t began_ns, const char *api)
{
    if (__builtin_expect(began_ns != 0, 0))
        vs_call_remember(began_ns, api);
}

/* vs_call_found: records the `work_call` of the call with this correlation, if it was remembered.
 * vs_calls_forgotten: how many could not be recorded since the last query, because too many calls
 * followed before their records came. On CUPTI's thread. */
void vs_call_found(uint32_t thread, uint64_t start_ns, uint64_t end_ns, uint32_t correlation);
uint64_t vs_calls_forgotten(void);

#endif
