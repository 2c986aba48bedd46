/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes traces of known content through the recorder, for the tests of trace readers. Every call
 * advances the time by one event's duration (1 us unless changed), so that times are known too.
 * Failures end the test. Not thread-safe. */
#ifndef VS_TRACE_BUILDER_H
#define VS_TRACE_BUILDER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/format/event.h"
#include "trace/record/recorder.h"

/* EVENT(alloc, .addr = 1, .size = 2): an event of that kind with these fields. */
#define EVENT(name, ...) ((struct vs_event){.kind = VS_EVENT_##name, .name = {__VA_ARGS__}})

#define VS_BUILDER_PID 4242
#define VS_BUILDER_FUNCTIONS_MAX 64
#define VS_BUILDER_NATIVES_MAX 16
#define VS_BUILDER_LIBRARY "/env/libtorch_cpu.so" /* of the natives */

struct vs_builder {
    struct vs_recorder *recorder;
    char dir[64];
    char path[128];     /* the trace */
    uint64_t start_ns;  /* the process's start */
    uint64_t now_ns;    /* time of the next event */
    uint64_t tick_ns;
    uint32_t tid;       /* thread of the next event; the main thread at first */
    uint64_t stack;     /* stack id of the next memory events */
    char api[128];      /* of the next allocations; "": cudaMalloc */
    /* of trace_text.c */
    uint64_t device;
    uint64_t correlation, calls; /* of the next kernel or copy; how many had one */
    enum vs_memory_kind host_memory; /* of the next copy */
    uint64_t total_bytes; /* of the device */
    char functions[VS_BUILDER_FUNCTIONS_MAX][256]; /* functions and objects named so far, by module */
    char natives[VS_BUILDER_NATIVES_MAX][64]; /* native n is 16 (n + 1) bytes into the library */
    unsigned function_count, native_count;
};

/* vs_builder_open: a trace in a new directory, with a `process` event of the given
 * policy ("caching", "observe"). */
void vs_builder_open(struct vs_builder *builder, const char *policy);
/* vs_builder_open_windows: likewise, with frames of at most *window_bytes* (0: as usual). */
void vs_builder_open_windows(struct vs_builder *builder, const char *policy, size_t window_bytes);
/* vs_builder_open_on: likewise, of a machine with that *boot*, whose clock is ahead by *after_ns*. */
void vs_builder_open_on(struct vs_builder *builder, const char *policy, size_t window_bytes, const char *boot,
                        uint64_t after_ns);

void vs_builder_device(struct vs_builder *builder, uint64_t device, const char *name,
                       uint64_t total);
void vs_builder_context(struct vs_builder *builder, uint64_t context, uint64_t device, bool alive);
void vs_builder_alloc(struct vs_builder *builder, uint64_t device, enum vs_family family,
                      uint64_t addr, uint64_t requested, uint64_t size);
void vs_builder_free(struct vs_builder *builder, uint64_t device, uint64_t addr);
void vs_builder_failed(struct vs_builder *builder, uint64_t device, enum vs_family family,
                       uint64_t requested, uint64_t device_free, uint64_t device_total);
void vs_builder_segment(struct vs_builder *builder, uint64_t device, uint64_t addr, uint64_t size);
void vs_builder_segment_free(struct vs_builder *builder, uint64_t device, uint64_t addr,
                             uint64_t size);
void vs_builder_push(struct vs_builder *builder, const char *name);
void vs_builder_pop(struct vs_builder *builder);
/* vs_builder_step: pushes "step N". */
void vs_builder_step(struct vs_builder *builder, unsigned number);
/* vs_builder_kernel: on *stream*, *start_ns* and *length_ns* since the process's start. */
void vs_builder_kernel(struct vs_builder *builder, uint64_t device, uint64_t stream,
                       const char *name, uint64_t start_ns, uint64_t length_ns);
void vs_builder_memcpy(struct vs_builder *builder, uint64_t device, uint64_t stream,
                       enum vs_copy_kind kind, uint64_t bytes, uint64_t start_ns,
                       uint64_t length_ns);

/* vs_builder_event: any other event; time and thread filled in. */
void vs_builder_event(struct vs_builder *builder, struct vs_event event);
uint64_t vs_builder_string(struct vs_builder *builder, const char *text);

/* vs_builder_close: ends the trace; the file goes with the test's scratch folder. */
void vs_builder_close(struct vs_builder *builder, enum vs_end_reason reason, uint64_t status);

#endif
