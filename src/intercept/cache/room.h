/* SPDX-License-Identifier: Apache-2.0
 *
 * Before an out-of-memory error reaches the program, free memory of the cache is released to the
 * driver, and the call is repeated. A refusal that the program does not see for that reason is recorded:
 * without the cache the call would have succeeded at once, since nothing would have been cached; unless
 * the refused bytes were free, as when the simulated GPU injects a failure: then the program would have
 * failed. */
#ifndef VS_ROOM_H
#define VS_ROOM_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/route/hook.h"

struct vs_context;

/* vs_room_make: give cached, free segments of *device* back to the driver; returns the
 * bytes returned. Call before the program gets an out-of-memory error. */
uint64_t vs_room_make(uint32_t device);

/* vs_room_made: is *r* out of memory, and did the cache of the current context's device release
 * some? Any thread, inside our own work or not. Cost otherwise: one comparison. */
bool vs_room_made(CUresult r);

/* vs_room_made_on: the same for *device*. */
bool vs_room_made_on(uint32_t device, CUresult r);

/* vs_room_made_unseen: the same for *device*, -1 for that of the current context, without a record
 * of the refusal: contexts and graphs. */
bool vs_room_made_unseen(CUdevice device, CUresult r);

/* vs_room_refused: the driver refused *bytes* (0: not known) during this call of the program; the first
 * of a call counts. *context* may be NULL: nothing is known then. */
void vs_room_refused(const struct vs_context *context, uint64_t bytes);

/* vs_room_given: *bytes* of the cache were given back to the driver. */
static inline void vs_room_given(uint64_t bytes)
{
    if (vs_thread.refused)
        vs_thread.given_bytes += bytes;
}

/* vs_room_served: the call ends with *r*: records a refusal that the program does not see.
 * vs_room_answered: after one. */
void vs_room_answered(CUresult r, const char *api);
static inline void vs_room_served(CUresult r, const char *api)
{
    if (__builtin_expect(vs_thread.refused, 0))
        vs_room_answered(r, api);
}

/* The entry point of a handler, from __func__. */
static inline const char *vs_room_entry(const char *function)
{
    return *function == 'c' ? function : function + sizeof "vs_on_" - 1;
}

/* Evaluates *call* into *r*, a second time if memory was released. */
#define VS_WITH_ROOM(r, call)                    \
    do {                                         \
        (r) = (call);                            \
        if (vs_room_made(r)) {                   \
            (r) = (call);                        \
            vs_room_served(r, vs_api(vs_room_entry(__func__))); \
        }                                        \
    } while (0)
#define VS_WITH_ROOM_ON(r, device, call)            \
    do {                                            \
        (r) = (call);                               \
        if (vs_room_made_on((uint32_t)(device), r)) { \
            (r) = (call);                           \
            vs_room_served(r, vs_api(vs_room_entry(__func__))); \
        }                                           \
    } while (0)

#endif
