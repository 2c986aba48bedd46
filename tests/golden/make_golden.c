/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the golden trace of the present format version: every event kind with fixed fields, texts,
 * stacks in two modules, several frames. Run once per format version by hand (target make_golden);
 * the file is never replaced, so that every later reader is tested with it. Usage: make_golden
 * OUT.vst OUT.txt */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "golden/golden_trace.h"
#include "trace/read/trace_dump.h"

static void put_module(struct vs_recorder *r, uint32_t index, uint64_t base, const char *path,
                       const char *build_id)
{
    struct vs_event e = {.kind = VS_EVENT_module, .tid = 100, .time_ns = START_NS};
    e.module.module = index;
    e.module.base = base;
    e.module.start = base;
    e.module.end = base ? base + 0x10000 : 0;
    e.module.path = vs_recorder_string(r, path, SIZE_MAX);
    e.module.build_id = vs_recorder_string(r, build_id, SIZE_MAX);
    e.module.alive = 1;
    if (!base) /* a Python function: offsets are lines */
        e.module.function = vs_recorder_string(r, "Trainer.step", SIZE_MAX);
    vs_recorder_event(r, &e);
    if (!base)
        return;
    place_module(r, index, base);
}

/* Values of every varint length, small deltas, a wrap of 64 bits. */
static uint64_t value_of(uint32_t kind, unsigned round, unsigned field)
{
    uint64_t seed = (kind * 31u + round * 7u + field) * UINT64_C(0x9e3779b97f4a7c15);
    return round % 3 == 2 ? seed >> (seed % 64) : seed % 1000;
}

static void put_all_kinds(struct vs_recorder *r, unsigned round, const uint64_t *strings,
                          const uint64_t *stacks)
{
    for (uint32_t kind = 1; kind <= VS_EVENT_CODE_MAX; kind++) {
        const struct vs_event_info *info = vs_event_describe(kind);
        if (!info || kind == VS_EVENT_end || kind == VS_EVENT_module)
            continue;
        struct vs_event e = {.kind = kind, .tid = 100 + kind % 2};
        e.time_ns = START_NS + round * 1000000 + (kind / 3) * 1000;
        for (unsigned i = 0; i < info->field_count; i++) {
            uint64_t value = value_of(kind, round, i);
            if (info->fields[i].codec == VS_CODEC_STR)
                value = strings[value % 5];
            else if (info->fields[i].codec == VS_CODEC_STK)
                value = stacks[value % 4];
            e.fields[i] = value;
        }
        vs_recorder_event(r, &e);
    }
}

/* Names for two places. */
static int add_symbols(const char *trace)
{
    static const struct vs_symbol inlined[] = {
        {.function = "grow<float>", .file = "model.h", .line = 12, .inlined = 1, .known = 1},
        {.function = "main", .file = "train.c", .line = 40, .known = 1}};
    static const struct vs_symbol plain = {.function = "libmodel_forward", .file = "", .known = 1};
    struct vs_symbol_set set = {.budget = 1 << 20};
    return vs_symbol_set_put(&set, 0, 0x1000, VS_LEVEL_LINES, inlined, 2) ||
           vs_symbol_set_put(&set, 1, 0x320, VS_LEVEL_TABLE, &plain, 1) || add_names(trace, &set);
}

/* The trace as text, in a file beside it. */
static int write_dump(const char *trace, const char *text)
{
    struct vs_reader *reader = NULL;
    char why[VS_READER_WHY_MAX];
    FILE *out = fopen(text, "w");
    if (!out || vs_reader_open(trace, &reader, why))
        return 1;
    enum vs_err err = vs_trace_dump(reader, out, true);
    vs_reader_close(reader);
    return fclose(out) || err;
}

int main(int argc, char **argv)
{
    struct vs_recorder *r = NULL;
    if (argc < 3 || !open_recorder(argv[1], &r)) {
        fprintf(stderr, "usage: make_golden OUT.vst OUT.txt\n");
        return 2;
    }
    put_module(r, 0, 0x555500000000, "/opt/app/train", "0123456789abcdef0123456789abcdef01234567");
    put_module(r, 1, 0x7f0000000000, "/opt/lib/libmodel.so", "fedcba98");
    put_module(r, 2, 0, "/opt/app/train.py", "");
    uint64_t strings[5] = {0, vs_recorder_string(r, "cudaMalloc", SIZE_MAX),
                           vs_recorder_string(r, "gemm<float, 128>", SIZE_MAX),
                           vs_recorder_string(r, "gr\xc3\xb6\xc3\x9f" "e \xff", SIZE_MAX),
                           vs_recorder_string(r, "a \"quoted\" \\ name", SIZE_MAX)};
    void *one[] = {(void *)0x555500001001, (void *)0x555500002001, (void *)0x555500000101};
    void *two[] = {(void *)0x7f0000000321, (void *)0x555500002001, (void *)0x555500000101};
    void *jit[] = {(void *)0x7fff12345679, (void *)0x7f0000000321};
    uint64_t stacks[4] = {0, put_stack(r, one, 3), put_stack(r, two, 3), put_stack(r, jit, 2)};
    for (unsigned round = 0; round < 6; round++) {
        put_all_kinds(r, round, strings, stacks);
        if (round % 2)
            vs_recorder_flush(r);
    }
    vs_recorder_close(r, VS_END_SIGNAL, 6);
    return add_symbols(argv[1]) || write_dump(argv[1], argv[2]);
}
