/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that contains a recorder, as libvramscope.so does: its own frames must not appear in
 * the stacks it captures. */
#include "trace/record/recorder.h"

#define EXPORT __attribute__((visibility("default"), noinline))

EXPORT struct vs_recorder *victim_open(const char *path);
EXPORT uint64_t victim_hook(struct vs_recorder *r, uint64_t (*below)(struct vs_recorder *));
EXPORT uint64_t victim_capture(struct vs_recorder *r);
EXPORT void victim_close(struct vs_recorder *r, uint64_t stack);

struct vs_recorder *victim_open(const char *path)
{
    struct vs_recorder_config config = {
        .path = path, .compression = 1, .stack_depth_max = 64, .flush_ms = 1000};
    struct vs_recorder *r = NULL;
    return vs_recorder_open(&config, &r) ? NULL : r;
}

static __attribute__((noinline)) uint64_t inner(struct vs_recorder *r)
{
    uint64_t id = vs_recorder_stack(r, 0);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return id;
}

uint64_t victim_capture(struct vs_recorder *r)
{
    uint64_t id = inner(r);
    __asm__ volatile("" ::: "memory");
    return id;
}

/* The program's call goes through this library, out again, and back in. */
uint64_t victim_hook(struct vs_recorder *r, uint64_t (*below)(struct vs_recorder *))
{
    uint64_t id = below(r);
    __asm__ volatile("" ::: "memory");
    return id;
}

void victim_close(struct vs_recorder *r, uint64_t stack)
{
    struct vs_event e = {.kind = VS_EVENT_free};
    e.free.stack = stack;
    vs_recorder_event(r, &e);
    vs_recorder_close(r, VS_END_EXIT, 0);
}
