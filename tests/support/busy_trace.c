/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Steps and phases nest as in a training loop; memory is allocated and freed at a
 * few hundred addresses, so that most frees match a live allocation; new names and modules appear
 * throughout. */
#define _GNU_SOURCE
#include "support/busy_trace.h"

#include <stdio.h>

#include "support/cmocka_test.h"

#define WINDOW_BYTES 1 /* the smallest size: 128 KiB */

static void memory(struct vs_builder *b, uint64_t r)
{
    uint64_t device = r >> 8 & 1, addr = UINT64_C(0x7f0000000000) + (r >> 16 & 511) * MIB;
    uint64_t size = ((r >> 28 & 15) + 1) * 4096, context = 1 + device;
    struct vs_event event;
    switch (r % 16) {
    case 0: case 1: case 2: case 3: case 4:
        event = EVENT(alloc, .addr = addr, .requested = size - (r >> 40 & 1023), .size = size,
                      .family = (r >> 33) % 9, .device = device, .context = context,
                      .api = vs_builder_string(b, "cudaMalloc"));
        break;
    case 5: case 6: case 7: case 8: case 9:
        event = EVENT(free, .addr = addr, .device = device);
        break;
    case 10:
        event = EVENT(segment_alloc, .addr = addr, .size = 20 * MIB, .device = device,
                      .context = context);
        break;
    case 11:
        event = EVENT(segment_free, .addr = addr, .device = device);
        break;
    case 12:
        event = EVENT(framework_alloc, .addr = addr, .size = size, .device = device,
                      .requested = size - size / 3);
        break;
    case 13:
        event = EVENT(framework_free, .addr = addr, .device = device);
        break;
    case 14:
        event = EVENT(segment_map, .addr = addr + (UINT64_C(1) << 40), .size = MIB, .reserved = MIB,
                      .device = device, .context = context);
        break;
    default:
        event = EVENT(segment_unmap, .addr = addr + (UINT64_C(1) << 40), .size = 2 * MIB,
                      .device = device);
    }
    vs_builder_event(b, event);
}

static void rest(struct vs_builder *b, uint64_t r)
{
    uint64_t device = r >> 8 & 1, id = 1 + (r >> 12 & 7);
    char name[64];
    switch (r % 13) {
    case 0:
        vs_builder_failed(b, device, VS_FAMILY_DEVICE, MIB << (r >> 20 & 7), MIB, 100 * MIB);
        break;
    case 1:
        snprintf(name, sizeof name, "kernel_%u", (unsigned)(r >> 20 & 255));
        vs_builder_kernel(b, device, id, name, r >> 30 & 0xffff, 100);
        break;
    case 2:
        vs_builder_memcpy(b, device, id, VS_COPY_HTOD, 4096, r >> 30 & 0xffff, 50);
        break;
    case 3:
        vs_builder_event(b, EVENT(device_sample, .device = device,
                                  .free_bytes = (r >> 20 & 1023) * MIB, .total_bytes = 1024 * MIB));
        break;
    case 4:
        vs_builder_event(b, EVENT(device_usage, .device = device, .what = r >> 20 & 3,
                                  .bytes = r >> 30 & 0xffffff, .count = 2, .pid = 77));
        break;
    case 5:
        vs_builder_event(b, EVENT(overhead, .device = device, .context = 1 + device,
                                  .what = (r >> 20) % 3, .bytes = (r >> 30 & 0xffff) - 1000));
        break;
    case 6:
        snprintf(name, sizeof name, "thread %u", (unsigned)(r >> 20 & 63));
        vs_builder_event(b, EVENT(thread, .tid = b->tid, .name = vs_builder_string(b, name)));
        break;
    case 7:
        vs_builder_event(b, EVENT(stream, .stream = id, .device = device, .alive = r >> 20 & 1,
                                  .name = vs_builder_string(b, "copies")));
        break;
    case 8:
        vs_builder_event(b, EVENT(range_start, .range = id,
                                  .name = vs_builder_string(b, "overlapping")));
        break;
    case 9:
        vs_builder_event(b, EVENT(range_end, id));
        break;
    case 10:
        vs_builder_event(b, EVENT(graph_memory, .device = device, .used = 4096,
                                  .used_high = r >> 20 & 0xffff, .reserved = r >> 24 & 0xffff,
                                  .reserved_high = r >> 20 & 0xfffff));
        break;
    case 11:
        vs_builder_event(b, EVENT(note, .severity = 1,
                                  .text = vs_builder_string(b, "something was odd")));
        break;
    default:
        if (r >> 20 & 7)
            return;
        vs_builder_context(b, 1 + device, device, false);
        vs_builder_context(b, 1 + device, device, true);
    }
}

void vs_busy_trace(struct vs_builder *b, uint64_t seed, unsigned events)
{
    unsigned step = 0;
    char name[64];
    const char *code = (const char *)&div; /* in libc, also with sanitizers; any address in it may be a caller */
    vs_builder_open_windows(b, "observe", WINDOW_BYTES);
    vs_builder_device(b, 0, "Demo GPU", 1024 * MIB);
    vs_builder_context(b, 1, 0, true);
    vs_builder_step(b, step);
    for (unsigned i = 0; i < events; i++) {
        uint64_t r = vs_random(&seed);
        b->tid = VS_BUILDER_PID + (r >> 60 ? 0 : 1);
        b->tick_ns = r >> 50 & 3 ? 1000 * (r >> 52 & 7) : 0; /* some at the same time */
        r = vs_random(&seed) >> 1;
        b->stack = vs_recorder_caller(b->recorder, code + (r >> 30 & 255) + i / 1000);
        if (i % 97 == 96) {
            b->tid = VS_BUILDER_PID;
            vs_builder_pop(b);
            vs_builder_step(b, ++step);
        } else if (r % 8 < 5) {
            memory(b, r >> 3);
        } else if (r % 8 == 5) {
            snprintf(name, sizeof name, "part %u", (unsigned)(r >> 20 & 15));
            vs_builder_push(b, name);
        } else if (r % 8 == 6) {
            vs_builder_pop(b);
        } else {
            rest(b, r >> 3);
        }
    }
    b->tid = VS_BUILDER_PID;
    b->tick_ns = 1000;
}
