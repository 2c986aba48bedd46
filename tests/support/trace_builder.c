/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces of known content; see the header. The clock starts 100 s in the future: the recorder never
 * lets time decrease, so its own events (modules, the end) take the time of the event before them.
 */
#define _GNU_SOURCE
#include "support/trace_builder.h"

#include <stdio.h>
#include <unistd.h>

#include "support/cmocka_test.h"
#include "base/vs_clock.h"
#include "support/scratch_folder.h"

void vs_builder_event(struct vs_builder *builder, struct vs_event event)
{
    event.time_ns = builder->now_ns;
    event.tid = builder->tid;
    builder->now_ns += builder->tick_ns;
    vs_recorder_event(builder->recorder, &event);
}

uint64_t vs_builder_string(struct vs_builder *builder, const char *text)
{
    return vs_recorder_string(builder->recorder, text, SIZE_MAX);
}

void vs_builder_open(struct vs_builder *builder, const char *policy)
{
    vs_builder_open_windows(builder, policy, 0);
}

void vs_builder_open_windows(struct vs_builder *builder, const char *policy, size_t window_bytes)
{
    vs_builder_open_on(builder, policy, window_bytes, "one-boot", 0);
}

void vs_builder_open_on(struct vs_builder *builder, const char *policy, size_t window_bytes, const char *boot,
                        uint64_t after_ns)
{
    *builder = (struct vs_builder){.tick_ns = 1000, .tid = VS_BUILDER_PID};
    const char *folder = scratch_folder();
    assert_non_null(folder);
    snprintf(builder->dir, sizeof builder->dir, "%s/XXXXXX", folder);
    assert_non_null(mkdtemp(builder->dir));
    snprintf(builder->path, sizeof builder->path, "%s/trace.vst", builder->dir);
    struct vs_recorder_config config = {.path = builder->path, .compression = 1,
                                        .stack_depth_max = 64, .flush_ms = 600000,
                                        .window_bytes = window_bytes};
    assert_int_equal(vs_recorder_open(&config, &builder->recorder), VS_OK);
    builder->start_ns = builder->now_ns = vs_clock_ns() + UINT64_C(100000000000) + after_ns;
    vs_builder_event(builder, EVENT(process, .pid = VS_BUILDER_PID, .ppid = 1,
                                    .start_ns = builder->start_ns,
                                    .start_realtime_ns = UINT64_C(1700000000000000000),
                                    .exe = vs_builder_string(builder, "/opt/demo/train_demo"),
                                    .cmdline = vs_builder_string(builder, "./train_demo --steps 3"),
                                    .policy = vs_builder_string(builder, policy),
                                    .page_bytes = 4096,
                                    .boot = vs_builder_string(builder, boot)));
}

void vs_builder_device(struct vs_builder *builder, uint64_t device, const char *name,
                       uint64_t total)
{
    vs_builder_event(builder, EVENT(device, .device = device,
                                    .name = vs_builder_string(builder, name), .total_bytes = total,
                                    .sm_count = 4, .cc_major = 9, .simulated = 1));
}

void vs_builder_context(struct vs_builder *builder, uint64_t context, uint64_t device, bool alive)
{
    vs_builder_event(builder, EVENT(context, .context = context, .device = device, .primary = 1,
                                    .alive = alive));
}

void vs_builder_alloc(struct vs_builder *builder, uint64_t device, enum vs_family family,
                      uint64_t addr, uint64_t requested, uint64_t size)
{
    vs_builder_event(builder, (struct vs_event){
        .kind = VS_EVENT_alloc,
        .alloc = {.addr = addr, .requested = requested, .size = size, .family = family,
                  .device = device, .context = 1 + device, .stack = builder->stack,
                  .api = vs_builder_string(builder, *builder->api ? builder->api : "cudaMalloc")}});
}

void vs_builder_free(struct vs_builder *builder, uint64_t device, uint64_t addr)
{
    vs_builder_event(builder, EVENT(free, .addr = addr, .device = device, .stack = builder->stack,
                                    .api = vs_builder_string(builder, "cudaFree")));
}

void vs_builder_failed(struct vs_builder *builder, uint64_t device, enum vs_family family,
                       uint64_t requested, uint64_t device_free, uint64_t device_total)
{
    vs_builder_event(builder, EVENT(alloc_failed, .requested = requested, .family = family,
                                    .device = device, .context = 1 + device,
                                    .stack = builder->stack, .error = 2,
                                    .api = vs_builder_string(builder, "cudaMalloc"),
                                    .device_free_bytes = device_free,
                                    .device_total_bytes = device_total));
}

void vs_builder_segment(struct vs_builder *builder, uint64_t device, uint64_t addr, uint64_t size)
{
    vs_builder_event(builder, EVENT(segment_alloc, .addr = addr, .size = size, .device = device,
                                    .context = 1 + device, .stack = builder->stack));
}

void vs_builder_segment_free(struct vs_builder *builder, uint64_t device, uint64_t addr,
                             uint64_t size)
{
    vs_builder_event(builder, EVENT(segment_free, .addr = addr, .size = size, .device = device));
}

void vs_builder_push(struct vs_builder *builder, const char *name)
{
    vs_builder_event(builder, EVENT(range_push, .name = vs_builder_string(builder, name)));
}

void vs_builder_pop(struct vs_builder *builder)
{
    vs_builder_event(builder, EVENT(range_pop));
}

void vs_builder_step(struct vs_builder *builder, unsigned number)
{
    char name[32];
    snprintf(name, sizeof name, "step %u", number);
    vs_builder_push(builder, name);
}

void vs_builder_kernel(struct vs_builder *builder, uint64_t device, uint64_t stream,
                       const char *name, uint64_t start_ns, uint64_t length_ns)
{
    vs_builder_event(builder, EVENT(kernel, .start_ns = builder->start_ns + start_ns,
                                    .end_ns = builder->start_ns + start_ns + length_ns,
                                    .device = device, .stream = stream,
                                    .name = vs_builder_string(builder, name),
                                    .correlation = builder->correlation, .grid_x = 1,
                                    .grid_y = 1, .grid_z = 1, .block_x = 32, .block_y = 1,
                                    .block_z = 1));
    builder->correlation = 0;
}

void vs_builder_memcpy(struct vs_builder *builder, uint64_t device, uint64_t stream,
                       enum vs_copy_kind kind, uint64_t bytes, uint64_t start_ns,
                       uint64_t length_ns)
{
    vs_builder_event(builder, EVENT(memcpy, .start_ns = builder->start_ns + start_ns,
                                    .end_ns = builder->start_ns + start_ns + length_ns,
                                    .device = device, .stream = stream, .bytes = bytes,
                                    .copy_kind = kind, .correlation = builder->correlation,
                                    .src_kind = builder->host_memory,
                                    .dst_kind = builder->host_memory));
    builder->correlation = 0;
}

void vs_builder_close(struct vs_builder *builder, enum vs_end_reason reason, uint64_t status)
{
    vs_recorder_close(builder->recorder, reason, status);
    builder->recorder = NULL;
}
