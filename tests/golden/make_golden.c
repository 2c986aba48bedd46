/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the golden trace of the present format version: a small training program, so that every
 * record of a state is used, in many frames, with a checkpoint before every other one; then every
 * event kind with fields of all lengths; and symbols. Modules and stacks are given instead of found:
 * every run writes the same. Run once per format version by hand; the files are never replaced, so
 * that every later reader is tested with them. Usage: make_golden OUT.vst; test_golden prints the
 * hash of its text. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "analysis/checkpoint/checkpoint_build.h"
#include "trace/read/rewrite.h"
#include "trace/record/recorder_internal.h"
#include "trace/symbols/symbol_set.h"

#define START_NS UINT64_C(9000000000000000000) /* later than any boot: stored unchanged */
#define MODULES_MAX 256
#define MIB (UINT64_C(1) << 20)
#define SEGMENT UINT64_C(0x7f2000000000)
#define MAIN 100u
#define LOADER 101u

static struct vs_recorder *r;
static uint64_t now_ns = START_NS;
static uint64_t api, other_api, domain, stacks[4], names[8];

/* An event of *kind* by *tid* with its fields in the order of the table. */
static void put(uint32_t kind, uint32_t tid, const uint64_t *fields, size_t count)
{
    struct vs_event e = {.kind = kind, .tid = tid, .time_ns = now_ns += 1000};
    memcpy(e.fields, fields, count * sizeof *fields);
    vs_recorder_event(r, &e);
}

#define PUT(tid, name, ...)                                                \
    put(VS_EVENT_##name, tid, (const uint64_t[]){__VA_ARGS__},             \
        sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static uint64_t text(const char *string)
{
    return vs_recorder_string(r, string, SIZE_MAX);
}

static void put_module(uint32_t index, uint64_t base, const char *path, const char *function)
{
    PUT(MAIN, module, index, base, base, base ? base + 0x10000 : 0, text(path),
        text(base ? "0123abcd" : ""), 1, text(function));
    if (!base)
        return;
    r->modules[index] = (struct vs_loaded_module){base, base, base + 0x10000, index, index};
    r->module_count = index + 1;
}

static uint64_t put_stack(void *const *pcs, size_t count)
{
    vs_lock_acquire(&r->lock);
    uint64_t id = vs_intern_stack_add_locked(r, vs_intern_stack_hash(pcs, count), pcs, count);
    vs_lock_release(&r->lock);
    return id;
}

static void put_setup(void)
{
    PUT(MAIN, range_push, text("setup"), domain);
    PUT(MAIN, segment_alloc, SEGMENT, 8 * MIB, 0, 1, 0, 3, stacks[1]);
    PUT(MAIN, segment_map, SEGMENT + 32 * MIB, 2 * MIB, 2 * MIB, 0, 1, 1, 0, stacks[2]);
    PUT(MAIN, segment_map, SEGMENT + 34 * MIB, 2 * MIB, 2 * MIB, 0, 1, 1, 0, stacks[2]);
    PUT(MAIN, segment_map, SEGMENT + 64 * MIB, 2 * MIB, 0, 0, 1, 1, 0, stacks[2]);
    for (uint64_t i = 0; i < 6; i++)
        PUT(MAIN, alloc, SEGMENT + i * MIB, MIB - 100 * i, MIB, 0, 0, 1, 0, api, stacks[i % 4]);
    PUT(MAIN, alloc, 0x100000, 70000, 70000, 3, 0, 0, 0, other_api, stacks[3]);
    PUT(MAIN, alloc, 0x7f3000000000, 2 * MIB, 2 * MIB, 1, 0, 1, 1, other_api, 0);
    PUT(MAIN, alloc, 0x7f4000000000, MIB, MIB, 6, 1, 2, 0, api, stacks[1]);
    PUT(MAIN, alloc, 0x7f5000000000, 3 * MIB, 3 * MIB, 2, 1, 2, 0, api, stacks[2]);
    PUT(MAIN, graph_memory, 0, 0, 0, 4 * MIB, 4 * MIB);
    PUT(MAIN, alloc, 0x7f6000000000, MIB, MIB, 7, 0, 1, 0, api, 0);
    PUT(MAIN, framework_alloc, SEGMENT + 100, 5000, 0, 5000, 8 * MIB, stacks[1]);
    PUT(MAIN, device_sample, 0, 40 * MIB, 64 * MIB);
    PUT(MAIN, range_pop, domain);
    PUT(MAIN, note, 2, text("a note"));
    PUT(MAIN, dropped, text("stacks"), 3);
    PUT(MAIN, free, 0xdead000, 0, 0, api, 0);
    PUT(MAIN, range_pop, text("nobody's"));
    vs_recorder_flush(r);
}

/* The memory live after each step grows, as in a leak; two threads allocate. */
static void put_step(uint64_t step)
{
    char name[32];
    snprintf(name, sizeof name, "step %u", (unsigned)step);
    PUT(MAIN, range_push, text(name), domain);
    PUT(MAIN, range_push, names[0], domain);
    uint64_t block = SEGMENT + 6 * MIB + step * 65536;
    PUT(MAIN, alloc, block, 60000, 65536, 0, 0, 1, 0, api, stacks[1 + step % 2]);
    PUT(LOADER, alloc, 0x7f7000000000 + step * MIB, MIB, MIB, 0, 1, 2, 0, api, stacks[3]);
    uint64_t start = now_ns;
    PUT(MAIN, kernel, start, start + 500 + step, 0, 1, 1, names[4 + step % 2], step, 1, 2, 3, 64, 1,
        1, 1024);
    PUT(MAIN, memcpy, start + 600, start + 700, 0, 1, 1, 4096 * step, 1 + step % 2, 1, step);
    PUT(MAIN, memset, start + 800, start + 810, 1, 2, 0, 100, 0, step);
    PUT(MAIN, sync, start, start + 900, 0, 1, 0, 1);
    vs_recorder_flush(r);
    PUT(MAIN, range_pop, domain);
    PUT(MAIN, range_push, names[1], domain);
    if (step % 2)
        PUT(LOADER, free, 0x7f7000000000 + step * MIB, 1, 0, api, stacks[3]);
    PUT(MAIN, alloc_failed, (step + 1) * 32 * MIB, 0, 0, 1, 0, api, stacks[2], 2, 30 * MIB,
        64 * MIB);
    PUT(MAIN, framework_oom, MIB, 0, 5000, 8 * MIB, stacks[1]);
    PUT(MAIN, framework_alloc, SEGMENT + 200 + step, 700, 0, 6000, 9 * MIB, stacks[1]);
    if (step == 2)
        PUT(MAIN, framework_free, SEGMENT + 201, 700, 0, 5000, 9 * MIB);
    PUT(MAIN, device_sample, 0, (30 + step) * MIB, 64 * MIB);
    PUT(MAIN, range_start, 9 + step, names[2], domain);
    vs_recorder_flush(r);
    if (step > 2)
        PUT(LOADER, range_end, 9 + step);
    PUT(MAIN, range_pop, domain);
    PUT(MAIN, range_pop, domain);
    PUT(MAIN, mark, names[3], domain);
    vs_recorder_flush(r);
}

static void put_tail(void)
{
    PUT(MAIN, segment_unmap, SEGMENT + 33 * MIB, MIB, MIB, 0);
    PUT(MAIN, free, 0x7f6000000000, 0, 0, api, 0);
    PUT(MAIN, graph_memory, 0, 0, 0, 0, 4 * MIB);
    PUT(MAIN, free, SEGMENT, 0, 0, api, stacks[0]);
    PUT(MAIN, range_start, 50, text("iteration 9"), domain);
    vs_recorder_flush(r);
    PUT(MAIN, context, 2, 1, 0xc0de01, 1, 0);
    PUT(MAIN, module, 1, 0x7f1000000000, 0x7f1000000000, 0x7f1000010000, text("/opt/lib/new.so"),
        0, 1, 0);
    PUT(MAIN, free, 0x7f3000000000, 0, 1, other_api, 0);
    vs_recorder_flush(r);
    PUT(MAIN, range_end, 50);
    PUT(MAIN, recording_changed, 1, 0, 0, 0, 0, 1 << 29);
    PUT(MAIN, unrecorded, 0, 0, 0, 0, 3, 300, 1536, 1, 100, 512, 1024, 1536, 1536, 300, 1536, now_ns);
    PUT(MAIN, unrecorded, 1, 0, 0, 0, 2, 20, 1024, 0, 0, 0, 0, 0, 0, 0, 0, now_ns);
    PUT(MAIN, device_sample, 0, 20 * MIB, 64 * MIB);
    vs_recorder_flush(r);
}

static void put_all_kinds(unsigned round)
{
    for (uint32_t kind = 1; kind <= VS_EVENT_CODE_MAX; kind++) {
        const struct vs_event_info *info = vs_event_describe(kind);
        if (!info || kind == VS_EVENT_end || kind == VS_EVENT_module)
            continue;
        struct vs_event e = {.kind = kind, .tid = 100 + kind % 2, .time_ns = now_ns += kind % 3 * 500};
        for (unsigned i = 0; i < info->field_count; i++) {
            /* Values of every varint length, small deltas, a wrap of 64 bits. */
            uint64_t seed = (kind * 31u + round * 7u + i) * UINT64_C(0x9e3779b97f4a7c15);
            uint64_t value = round % 3 == 2 ? seed >> (seed % 64) : seed % 1000;
            if (info->fields[i].codec == VS_CODEC_STR)
                value = value % 9 ? names[value % 9 - 1] : 0;
            else if (info->fields[i].codec == VS_CODEC_STK)
                value = stacks[value % 4];
            e.fields[i] = value;
        }
        vs_recorder_event(r, &e);
    }
}

/* Adds names to the trace, as `vramscope symbolize` does; returns 0 on success. */
static int add_symbols(const char *trace)
{
    static const struct vs_symbol inlined[] = {
        {.function = "grow<float>", .file = "model.h", .line = 12, .inlined = 1, .known = 1},
        {.function = "main", .file = "train.c", .line = 40, .known = 1}};
    static const struct vs_symbol plain = {.function = "libmodel_forward", .file = "", .known = 1};
    struct vs_symbol_set set = {.budget = 1 << 20};
    struct vs_rewrite *rewrite = NULL;
    unsigned char payload[4096];
    char why[VS_READER_WHY_MAX];
    size_t next = 0, bytes = 0;
    int failed = vs_symbol_set_put(&set, 0, 0x1000, VS_LEVEL_LINES, inlined, 2) ||
                 vs_symbol_set_put(&set, 1, 0x320, VS_LEVEL_TABLE, &plain, 1) ||
                 vs_symbol_set_encode(&set, &next, payload, sizeof payload, &bytes) ||
                 vs_rewrite_open(trace, NULL, 0, &rewrite, why) ||
                 vs_rewrite_add(rewrite, VS_FRAME_SYMBOLS, 0, 0, payload, bytes) ||
                 vs_rewrite_commit(rewrite, why);
    vs_symbol_set_free(&set);
    return failed;
}

int main(int argc, char **argv)
{
    struct vs_recorder_config config = {.path = argv[1], .compression = 3, .flush_ms = 60000};
    if (argc < 2 || vs_recorder_open(&config, &r)) {
        fprintf(stderr, "usage: make_golden OUT.vst\n");
        return 2;
    }
    r->modules = vs_pages_map(MODULES_MAX * sizeof *r->modules);
    r->module_capacity = MODULES_MAX;
    static const char *const words[8] = {"forward",  "backward", "epoch",       "here",
                                         "gemm<8>",  "relu",     "unused name", "gr\xc3\xb6\xc3\x9f" "e"};
    for (size_t i = 0; i < 8; i++)
        names[i] = text(words[i]);
    api = text("cudaMalloc");
    other_api = text("cudaHostAlloc");
    domain = text("app");
    PUT(MAIN, process, 4242, 4241, 1700000000000000000, START_NS - 5000, text("/opt/app/train"),
        text("train --steps 4"), text("host"), text("1.0"), text("caching"), 4096, 77, 66,
        text("boot-id"), text(""));
    PUT(MAIN, option, text("allocator"), text("caching"));
    PUT(MAIN, recording_changed, 0, 512, 1, 7, 1 << 30, 0);
    put_module(0, 0x555500000000, "/opt/app/train", "");
    put_module(1, 0x7f0000000000, "/opt/lib/libmodel.so", "");
    put_module(2, 0, "/opt/app/train.py", "Trainer.step");
    for (uint64_t d = 0; d < 2; d++) {
        PUT(MAIN, device, d, text("Test GPU"), text(d ? "GPU-1" : "GPU-0"), 64 * MIB, 40, 7, 5, 1,
            13000);
        PUT(MAIN, context, 1 + d, d, 0xc0de00 + d, 1, 1);
        PUT(MAIN, overhead, d, 1 + d, 0, 3 * MIB, d);
        PUT(MAIN, overhead, d, 1 + d, 1, -4096, 2);
    }
    PUT(MAIN, stream, 1, 0, 0x5eed, text("copies"), 1);
    PUT(MAIN, stream, 2, 0, 0x5eee, text("gone"), 1);
    PUT(MAIN, stream, 2, 0, 0x5eee, 0, 0);
    PUT(MAIN, thread, MAIN, text("main"));
    PUT(LOADER, thread, LOADER, text("loader"));
    PUT(MAIN, device_usage, 0, 0, 9 * MIB, 0, 0, 0, 0);
    PUT(MAIN, device_usage, 0, 1, 5 * MIB, 2, 0, 0, 1);
    PUT(MAIN, device_usage, 0, 2, 4 * MIB, 0, 900, text("other"), 1);
    PUT(MAIN, device_usage, 0, 3, 2 * MIB, 1, 0, 0, 0);
    vs_recorder_flush(r);
    void *one[] = {(void *)0x555500001001, (void *)0x555500000101};
    void *two[] = {(void *)0x7f0000000321, (void *)0x555500001001, (void *)0x555500000101};
    void *jit[] = {(void *)0x7fff12345679, (void *)0x7f0000000321};
    stacks[1] = put_stack(one, 2);
    stacks[2] = put_stack(two, 3);
    stacks[3] = put_stack(jit, 2);
    put_setup();
    for (uint64_t step = 0; step < 4; step++)
        put_step(step);
    put_tail();
    for (unsigned round = 0; round < 6; round++) {
        put_all_kinds(round);
        if (round % 2)
            vs_recorder_flush(r);
    }
    vs_recorder_close(r, VS_END_SIGNAL, 6);
    const struct vs_checkpoint_options options = {.interval = 6, .share = 100000};
    char why[VS_READER_WHY_MAX];
    return add_symbols(argv[1]) || vs_checkpoint_into_trace(argv[1], &options, NULL, why);
}
