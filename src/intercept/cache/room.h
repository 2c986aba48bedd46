/* SPDX-License-Identifier: Apache-2.0
 *
 * Before an out-of-memory error reaches the program, free memory of the cache is released to the
 * driver, and the call is repeated: without us it would have succeeded. */
#ifndef VS_ROOM_H
#define VS_ROOM_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* vs_room_made: is *r* out of memory, and did the cache of the current context's device release
 * some? Any thread, inside our own work or not. Cost otherwise: one comparison. */
bool vs_room_made(CUresult r);

/* vs_room_made_on: the same for *device*. */
bool vs_room_made_on(uint32_t device, CUresult r);

/* Evaluates *call* into *r*, a second time if memory was released. */
#define VS_WITH_ROOM(r, call) \
    do {                      \
        (r) = (call);         \
        if (vs_room_made(r))  \
            (r) = (call);     \
    } while (0)
#define VS_WITH_ROOM_ON(r, device, call)             \
    do {                                             \
        (r) = (call);                                \
        if (vs_room_made_on((uint32_t)(device), r))  \
            (r) = (call);                            \
    } while (0)

#endif
