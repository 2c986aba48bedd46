/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "support/trace_maker.h"

#include "base/vs_text.h"

#define PID 4242

void vs_maker_put(struct vs_trace_maker *maker, uint64_t after_ns, struct vs_event event)
{
    maker->now_ns += after_ns;
    event.time_ns = maker->now_ns;
    event.tid = PID;
    maker->write(maker->to, &event);
}

void vs_maker_begin(struct vs_trace_maker *maker, uint64_t after_ns, const char *exe, const char *policy)
{
    struct vs_event process = {.kind = VS_EVENT_process}, device = {.kind = VS_EVENT_device};
    process.process.pid = PID;
    process.process.start_ns = maker->now_ns;
    process.process.exe = maker->text(maker->to, exe);
    process.process.cmdline = maker->text(maker->to, vs_text_base_name(exe));
    process.process.policy = maker->text(maker->to, policy);
    vs_maker_put(maker, after_ns, process);
    device.device.name = maker->text(maker->to, "GPU");
    device.device.total_bytes = UINT64_C(80) << 30;
    vs_maker_put(maker, after_ns, device);
}

struct vs_event vs_maker_alloc(uint64_t addr, uint64_t requested, uint64_t size, uint64_t stream)
{
    struct vs_event event = {.kind = VS_EVENT_alloc};
    event.alloc.addr = addr;
    event.alloc.requested = requested;
    event.alloc.size = size;
    event.alloc.context = 1;
    event.alloc.stream = stream;
    return event;
}

struct vs_event vs_maker_free(uint64_t addr)
{
    struct vs_event event = {.kind = VS_EVENT_free};
    event.free.addr = addr;
    return event;
}
