/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a trace of random events of every kind with extreme field values, texts of any bytes,
 * stacks and modules that come and go, in frames of any size. Usage:
 *   random_trace SEED EVENTS COMPRESSION OUT.vst [leave|stopped|count]
 * leave: ends without closing the trace, as a killed process does; stopped: the recording stopped
 * early; count: as leave, and small allocations have no events; some of them are then only counted,
 * in at least three cells. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/record/recorder_internal.h"

#define START_NS UINT64_C(9000000000000000000) /* later than any boot: stored unchanged */
#define MODULES 24u

static uint64_t state;

static uint64_t next_random(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t extreme(void)
{
    static const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_C(1) << 32,
                                      INT64_MAX, UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 1};
    uint64_t r = next_random();
    switch (r % 4) {
    case 0:
        return values[r / 4 % (sizeof values / sizeof values[0])];
    case 1:
        return next_random() >> (r / 4 % 64);
    default:
        return r / 4 % 1000;
    }
}

static uint64_t random_string(struct vs_recorder *r)
{
    static char text[5000];
    uint64_t how = next_random() % 20;
    size_t length = how == 0 ? next_random() % sizeof text : next_random() % 12;
    if (how == 19) { /* ranges with such names are steps */
        static const char *const steps[] = {"Step %u", "batch#%u/9", "iter", "step %u x", "step:=%u of "};
        unsigned number = (unsigned)(next_random() % 100);
        snprintf(text, sizeof text, steps[number % 5], number);
        return vs_recorder_string(r, text, SIZE_MAX);
    }
    for (size_t i = 0; i < length; i++) {
        if (how < 3)
            text[i] = (char)next_random();
        else
            text[i] = how < 6 ? "\xe2\x82\xac\xf0\x9f\x98\x80\xc3"[i % 8]
                              : (char)('a' + next_random() % 3);
    }
    return vs_recorder_string(r, text, length);
}

static uint64_t random_stack(struct vs_recorder *r)
{
    void *pcs[VS_STACK_FRAMES_MAX];
    uint64_t depth = next_random() % 40 ? next_random() % 9 : next_random() % VS_STACK_FRAMES_MAX;
    for (uint64_t i = 0; i < depth; i++)
        pcs[i] = (void *)(uintptr_t)(next_random() % 50 ? (UINT64_C(0x10000) * (1 + next_random() % 30) +
                                                           next_random() % 40)
                                                        : extreme());
    if (!depth)
        return 0;
    vs_lock_acquire(&r->lock);
    uint64_t id = vs_intern_stack_add_locked(r, vs_intern_stack_hash(pcs, depth), pcs, depth);
    vs_lock_release(&r->lock);
    return id;
}

/* Adds a module as the list of loaded objects would: one place, one index. */
static void put_module(struct vs_recorder *r, uint32_t index)
{
    struct vs_event e = {.kind = VS_EVENT_module};
    e.module.module = index;
    e.module.base = UINT64_C(0x10000) * (index + 1) - (index % 3 ? 0 : 0x500);
    e.module.start = UINT64_C(0x10000) * (index + 1);
    e.module.end = e.module.start + 0x10000;
    e.module.path = random_string(r);
    e.module.build_id = random_string(r);
    e.module.alive = 1;
    vs_recorder_event(r, &e);
    r->modules[index] =
        (struct vs_loaded_module){e.module.base, e.module.start, e.module.end, index, index};
    r->module_count = index + 1;
}

static void put_event(struct vs_recorder *r, uint64_t *time_ns)
{
    const struct vs_event_info *info;
    uint32_t kind;
    do {
        kind = 1 + (uint32_t)(next_random() % VS_EVENT_CODE_MAX);
        info = vs_event_describe(kind);
    } while (!info || kind == VS_EVENT_end);
    uint64_t step = next_random() % 3 ? next_random() % 300 : 0;
    *time_ns += next_random() % 500 ? step : next_random() >> 24;
    struct vs_event e = {.kind = kind, .time_ns = *time_ns};
    e.tid = next_random() % 3 ? 100 : (uint32_t)next_random() | 1;
    for (unsigned i = 0; i < info->field_count; i++) {
        if (info->fields[i].codec == VS_CODEC_STR)
            e.fields[i] = random_string(r);
        else if (info->fields[i].codec == VS_CODEC_STK)
            e.fields[i] = random_stack(r);
        else
            e.fields[i] = extreme();
    }
    if (kind == VS_EVENT_module && next_random() % 3)
        e.module.module = next_random() % (MODULES + 4);
    if (kind == VS_EVENT_range_push && e.time_ns % 2) {
        e.tid = 100;
        e.range_push.name = vs_recorder_string(r, "step 7", SIZE_MAX);
    }
    if (kind == VS_EVENT_mark && e.time_ns % 8) { /* the open step is none */
        e.tid = 100;
        e.mark.name = vs_recorder_string(r, VS_NO_STEP_MARK, SIZE_MAX);
        e.mark.domain = vs_recorder_string(r, VS_AUTOMATIC_DOMAIN, SIZE_MAX);
    }
    vs_recorder_event(r, &e);
}

/* --- counts --- */

#define SLOTS 64u
#define LEFT_CELLS 3u

static uint64_t change_state; /* separate, so that the other random values do not change */
static struct slot {
    struct vs_change change;
    uint64_t addr;
    bool live;
} slots[SLOTS];
static struct vs_book book;

/* Allocated memory is freed, and freed memory allocated again; most changes have no event. */
static void put_change(struct vs_recorder *r)
{
    uint64_t kept = state, random;
    state = change_state;
    random = next_random();
    change_state = state;
    state = kept;
    struct slot *slot = &slots[random % SLOTS];
    struct vs_change change = slot->change;
    bool selected = false;
    slot->live = !slot->live;
    if (slot->live) {
        uint64_t size = 1 + (random >> 20 & 0xfffff);
        change = vs_change_alloc((enum vs_level)(random >> 6 & 3),
                                 (enum vs_family)((random >> 8 & 0xff) % VS_FAMILY_COUNT),
                                 random >> 16 & 3, size, size);
        change.reserved = random >> 18 & 1 ? (int64_t)size : 0;
        slot->change = change;
        slot->addr = 1 + random % SLOTS;
        selected = vs_recorder_selects(r, change.level, size);
    } else {
        change = vs_change_free(change.level, change.family, change.device, change.requested,
                                change.size);
        change.reserved = -slot->change.reserved;
    }
    struct vs_event event = {.kind = VS_EVENT_free,
                             .free = {.addr = slot->addr, .device = change.device}};
    if (slot->live)
        event = (struct vs_event){.kind = VS_EVENT_alloc,
                                  .alloc = {.addr = slot->addr, .requested = change.requested,
                                            .size = change.size, .family = change.family,
                                            .device = change.device}};
    vs_recorder_change(r, &book, change, selected, &event);
}

/* The process is killed while some changes have no event. */
static _Noreturn void leave_counting(struct vs_recorder *r)
{
    unsigned changes = 0, cells;
    do {
        put_change(r);
        vs_recorder_acquire(r);
        cells = r->selection.cell_count;
        if (++changes >= 20 && cells >= LEFT_CELLS)
            _exit(0); /* under the lock, so that no thread records them */
        vs_recorder_release(r);
    } while (changes < 10000);
    _exit(1);
}

int main(int argc, char **argv)
{
    struct vs_recorder *r = NULL;
    if (argc < 5)
        return 2;
    state = change_state = strtoull(argv[1], NULL, 0);
    struct vs_recorder_config config = {
        .path = argv[4], .compression = (unsigned)atoi(argv[3]), .flush_ms = 60000};
    bool counts = argc > 5 && !strcmp(argv[5], "count");
    if (counts)
        config.min_size = 1000000;
    if (vs_recorder_open(&config, &r))
        return 1;
    r->modules = vs_pages_map(256 * sizeof *r->modules);
    r->module_capacity = r->modules ? 256 : 0;
    if (!r->modules)
        return 1;
    uint64_t time_ns = START_NS, events = strtoull(argv[2], NULL, 0);
    for (uint64_t i = 0; i < events; i++) {
        if (i % (events / MODULES + 1) == 0)
            put_module(r, (uint32_t)(i / (events / MODULES + 1)));
        put_event(r, &time_ns);
        for (unsigned k = 0; counts && k < i % 5; k++)
            put_change(r);
        if (next_random() % (events / 7 + 2) == 0)
            vs_recorder_flush(r);
    }
    if (counts)
        leave_counting(r);
    if (argc > 5 && !strcmp(argv[5], "leave"))
        _exit(0);
    vs_recorder_close(r, argc > 5 ? VS_END_STOPPED : VS_END_SIGNAL, argc > 5 ? next_random() % 200 : 6);
    return 0;
}
