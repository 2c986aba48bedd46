/* SPDX-License-Identifier: Apache-2.0
 *
 * A memory snapshot as torch.cuda.memory._dump_snapshot writes it, for pytorch.org/memory_viz and
 * other tools that read it: the segments and blocks at the end of the trace or of the part, and the
 * history of each device, without the ring that PyTorch's own has. Memory that PyTorch did not
 * allocate (NCCL, cuBLAS) is in it as segments with one block. The trace is read once to learn what
 * holds tensors, and once for each device. Memory: the live set. */
#include "viewer/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/checkpoint/trace_state.h"
#include "analysis/naming/stack_names.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "viewer/common/pickle_writer.h"
#include "analysis/state/history_blocks.h"

/* PyTorch's pool for blocks of up to 1 MiB has segments of 2 MiB; expandable ones are longer. */
#define SMALL_BLOCK (UINT64_C(1) << 20)
#define SMALL_SEGMENT (UINT64_C(2) << 20)

/* A range that is open: of a thread and a domain, or with a number. */
struct note_range {
    uint64_t thread, domain, range, name;
};

struct torch_snapshot {
    struct vs_pickle_out pickle;
    struct vs_reader *reader;
    struct vs_stack_names *names;
    const struct vs_time_window *window;
    struct vs_replay *replay; /* of the present reading */
    uint64_t written;
    const char *settings; /* of PyTorch's allocator */
    struct vs_history_blocks blocks;
    uint64_t device_count; /* the highest number of a device, and 1 */
    /* of the present reading: */
    unsigned account;
    bool last;    /* reading: it learns what the segments need */
    bool before;  /* the state at the start of an import */
    uint64_t now_ns; /* time of the present event */
    struct vs_pickle_items history;
    struct note_range *ranges;
    size_t range_count, range_capacity;
    struct { uint64_t name, time_us; bool start; } *notes; /* of ranges */
    size_t note_count, note_capacity;
};

/* --- the parts of an entry --- */

static void write_frames(struct torch_snapshot *s, const struct vs_stack_of *of)
{
    struct vs_pickle_out *p = &s->pickle;
    const uint64_t key[] = {0, of->stack, of->mark, of->stack ? 0 : of->api, of->tensor};
    uint32_t number, frame_number;
    vs_pickle_text(p, "frames");
    if (vs_pickle_again(p, key, sizeof key, &number))
        return;
    struct vs_pickle_items list = vs_pickle_begin_list(p);
    struct vs_named_stack stack = vs_stack_names_of(s->names, of);
    /* what has frames was allocated while a history was recorded */
    bool none = (!of->stack && !of->api) ||
                (stack.count == 1 && strcmp(vs_stack_names_frame(s->names, stack.frames[0])->function,
                                            "allocated " VS_BEFORE_RANGE) == 0);
    for (size_t i = none ? 0 : stack.count; i-- > 0;) {
        const uint64_t frame_key[] = {0, stack.frames[i]};
        vs_pickle_item(p, &list);
        if (vs_pickle_again(p, frame_key, sizeof frame_key, &frame_number))
            continue;
        const struct vs_named_frame *frame = vs_stack_names_frame(s->names, stack.frames[i]);
        vs_pickle_begin_dict(p);
        vs_pickle_text_member(p, "name", frame->function);
        vs_pickle_text_member(p, "filename", frame->file ? frame->file : "??");
        vs_pickle_uint_member(p, "line", frame->line);
        vs_pickle_end_dict(p);
        vs_pickle_keep(p, frame_number);
    }
    vs_pickle_end_list(p);
    vs_pickle_keep(p, number);
}

static struct vs_stack_of stack_of(const struct vs_replay *replay, const struct vs_live *live)
{
    const struct vs_site *site = &replay->sites.items[live->site];
    return (struct vs_stack_of){site->stack, site->mark, site->api,
                                live->level == VS_LEVEL_FRAMEWORK};
}

static uint64_t time_us(const struct vs_replay *replay, uint64_t time_ns)
{
    uint64_t start = replay->has_process ? replay->process.process.start_realtime_ns : 0;
    return (start + vs_replay_since(replay, time_ns)) / 1000;
}

static void write_entry(struct torch_snapshot *s, const char *action, uint64_t addr, uint64_t size,
                        uint64_t stream, const struct vs_stack_of *of)
{
    struct vs_pickle_out *p = &s->pickle;
    if (s->before)
        return;
    vs_pickle_item(p, &s->history);
    vs_pickle_begin_dict(p);
    vs_pickle_text_member(p, "action", action);
    vs_pickle_uint_member(p, strcmp(action, "oom") == 0 ? "device_free" : "addr", addr);
    vs_pickle_uint_member(p, "size", size);
    vs_pickle_uint_member(p, "stream", stream);
    vs_pickle_uint_member(p, "time_us", time_us(s->replay, s->now_ns));
    write_frames(s, of);
    vs_pickle_end_dict(p);
    s->written++;
}

/* --- the history of a device --- */

/* The block is a segment as well: no allocator's segment contains it. */
static bool stands_alone(const struct torch_snapshot *s, const struct vs_live *live)
{
    return live->level != VS_LEVEL_FRAMEWORK && (!live->in_segment || s->blocks.framework[live->device]);
}

static void on_born(struct torch_snapshot *s, const struct vs_published *change)
{
    const struct vs_live *live = change->live;
    uint64_t stream = vs_history_born(&s->blocks, change);
    if (live->device != s->account || !live->counted)
        return;
    struct vs_stack_of of = stack_of(s->replay, live);
    uint64_t addr = vs_history_address(live->addr);
    if (vs_history_holds(&s->blocks, live)) { /* where physical memory is mapped is the segment */
        if (live->addr < VS_ADDR_ARRAY)
            write_entry(s, "segment_alloc", addr, live->size, stream, &of);
        return;
    }
    if (stands_alone(s, live))
        write_entry(s, "segment_alloc", addr, live->size, stream, &of);
    write_entry(s, "alloc", addr, live->requested, stream, &of);
}

static void on_ended(struct torch_snapshot *s, const struct vs_live *live)
{
    uint64_t addr = vs_history_address(live->addr), stream = vs_history_stream(&s->blocks, s->replay, live);
    if (live->device != s->account || !live->counted)
        return;
    struct vs_stack_of of = stack_of(s->replay, live);
    bool holds = vs_history_holds(&s->blocks, live);
    if (!holds) {
        write_entry(s, "free_requested", addr, live->requested, stream, &of);
        write_entry(s, "free_completed", addr, live->requested, stream, &of);
    }
    if (holds ? live->addr < VS_ADDR_ARRAY : stands_alone(s, live))
        write_entry(s, "segment_free", addr, live->size, stream, &of);
}

static void on_change(void *context, const struct vs_replay *replay,
                      const struct vs_published *change)
{
    static const char *const names[2][2] = {{"segment_free", "segment_alloc"},
                                            {"segment_unmap", "segment_map"}};
    struct torch_snapshot *s = context;
    (void)replay; /* s->replay */
    if (change->kind == VS_CHANGE_BORN) {
        on_born(s, change);
    } else if (change->live) {
        on_ended(s, change->live);
    } else if (change->kind == VS_CHANGE_REFUSED) {
        const struct vs_failure *f = change->failure;
        struct vs_stack_of of = {f->stack, f->mark, f->api, f->framework};
        if (f->account == s->account && f->framework == s->blocks.framework[s->account])
            write_entry(s, "oom", f->device_free, f->requested, f->stream, &of);
    } else if (change->piece && change->piece->device == s->account && !change->piece->view &&
               !s->blocks.framework[s->account]) {
        const struct vs_replay_segment *piece = change->piece;
        write_entry(s, names[piece->mapped][change->kind == VS_CHANGE_HELD], piece->addr,
                    piece->size, piece->stream, &(struct vs_stack_of){0});
    }
}

/* The framework maps physical memory into its segments, or takes it out. */
static void on_mapping(struct torch_snapshot *s, const struct vs_event *event)
{
    bool map = event->kind == VS_EVENT_vmm_map;
    uint64_t memory = map ? event->vmm_map.memory : event->vmm_unmap.memory;
    const struct vs_live *live =
        vs_live_table_find(&s->replay->device_live, memory | VS_ADDR_MEMORY);
    if (!live || live->device != s->account || !vs_history_holds(&s->blocks, live))
        return;
    struct vs_stack_of of = stack_of(s->replay, live);
    write_entry(s, map ? "segment_map" : "segment_unmap",
                map ? event->vmm_map.addr : event->vmm_unmap.addr,
                map ? event->vmm_map.size : event->vmm_unmap.size, 0, &of);
}

/* --- ranges, as annotations --- */

static void note(struct torch_snapshot *s, uint64_t name, bool start)
{
    if (!s->last || s->before)
        return;
    vs_vec_room(&s->notes, &s->note_capacity, s->note_count + 1, sizeof *s->notes);
    s->notes[s->note_count].name = name;
    s->notes[s->note_count].start = start;
    s->notes[s->note_count++].time_us = time_us(s->replay, s->now_ns);
}

static void begin_range(struct torch_snapshot *s, uint64_t thread, uint64_t domain, uint64_t range,
                        uint64_t name)
{
    s->before |= strcmp(vs_reader_string(s->reader, name), VS_BEFORE_RANGE) == 0;
    VS_VEC_ADD(s->ranges, s->range_count, s->range_capacity,
               (struct note_range){thread, domain, range, name});
    note(s, name, true);
}

static void end_range(struct torch_snapshot *s, uint64_t thread, uint64_t domain, uint64_t range)
{
    for (size_t i = s->range_count; i-- > 0;) {
        const struct note_range open = s->ranges[i];
        if (open.thread != thread || open.domain != domain || open.range != range)
            continue;
        memmove(&s->ranges[i], &s->ranges[i + 1], (--s->range_count - i) * sizeof *s->ranges);
        note(s, open.name, false);
        s->before &= strcmp(vs_reader_string(s->reader, open.name), VS_BEFORE_RANGE) != 0;
        return;
    }
}

static void follow_ranges(struct torch_snapshot *s, const struct vs_event *event)
{
    uint64_t thread = (uint64_t)event->tid + 1; /* 0: a range with a number */
    switch (event->kind) {
    case VS_EVENT_range_push:
        begin_range(s, thread, event->range_push.domain, 0, event->range_push.name);
        break;
    case VS_EVENT_range_pop: end_range(s, thread, event->range_pop.domain, 0); break;
    case VS_EVENT_range_start:
        begin_range(s, 0, 0, event->range_start.range, event->range_start.name);
        break;
    case VS_EVENT_range_end: end_range(s, 0, 0, event->range_end.range); break;
    default: break;
    }
}

/* --- readings --- */

static void follow_option(struct torch_snapshot *s, const struct vs_event *event)
{
    if (event->kind == VS_EVENT_option &&
        strcmp(vs_reader_string(s->reader, event->option.name), "PYTORCH_ALLOC_CONF") == 0)
        s->settings = vs_reader_string(s->reader, event->option.value);
}

/* Reads the window; with *history* its changes of s->account are written. The replay stays open. */
static enum vs_err read_window(struct torch_snapshot *s, bool history,
                               struct vs_trace_state **state)
{
    struct vs_event event;
    enum vs_err err = vs_span_open(s->reader, s->window, state);
    if (err)
        return err;
    s->replay = (*state)->replay;
    s->range_count = 0;
    s->before = false;
    if (history)
        vs_replay_subscribe(s->replay,
                            VS_CHANGE_BORN | VS_CHANGE_ENDED | VS_CHANGE_LOST | VS_CHANGE_HELD |
                                VS_CHANGE_RELEASED | VS_CHANGE_REFUSED,
                            on_change, s);
    for (size_t i = 0; !history && i < (*state)->retained.count; i++)
        follow_option(s, &(*state)->retained.items[i]); /* of before the window */
    while ((err = vs_reader_next(s->reader, &event)) == VS_OK &&
           vs_span_holds(s->window, &event, s->replay->events + 1)) {
        s->now_ns = event.time_ns;
        if (history && event.kind == VS_EVENT_vmm_unmap)
            on_mapping(s, &event);
        vs_replay_event(s->replay, &event);
        if (history && event.kind == VS_EVENT_vmm_map)
            on_mapping(s, &event);
        if (history)
            follow_ranges(s, &event);
        else
            follow_option(s, &event);
    }
    return err;
}

static void learn(struct torch_snapshot *s)
{
    const struct vs_replay *replay = s->replay;
    vs_history_blocks_learn(&s->blocks, replay);
    for (unsigned i = 0; i < replay->account_count; i++) {
        uint64_t device = replay->accounts[i]->device;
        if (device < VS_DEVICES_MAX && device >= s->device_count)
            s->device_count = device + 1; /* the history of a device has its number as its place */
    }
}

/* --- the segments at the end --- */

struct segment_part {
    uint64_t addr, size;
    const struct vs_live *live; /* a block; NULL: a segment of an allocator */
    bool mapped;
    struct vs_stack_of of;
    uint64_t stream;
};

struct segment_parts {
    struct segment_part *items;
    size_t count, capacity;
};

static void collect(struct torch_snapshot *s, unsigned account, struct segment_parts *segments,
                    struct segment_parts *blocks)
{
    struct vs_replay *replay = s->replay;
    const struct vs_live *live;
    size_t cursor = 0, count = 0;
    struct vs_user_segment *held = NULL;
    if (s->blocks.framework[account])
        vs_user_segments(replay, account, &held, &count);
    for (size_t i = 0; i < count; i++) {
        const struct vs_site *site = &replay->sites.items[held[i].site];
        VS_VEC_ADD(segments->items, segments->count, segments->capacity,
                   (struct segment_part){.addr = held[i].addr, .size = held[i].size,
                                 .mapped = held[i].mapped,
                                 .of = {site->stack, site->mark, site->api, false}});
    }
    for (size_t i = 0; !s->blocks.framework[account] && i < replay->segments.count; i++) {
        const struct vs_replay_segment *r = &replay->segments.items[i];
        if (r->device == account && !r->view)
            VS_VEC_ADD(segments->items, segments->count, segments->capacity,
                       (struct segment_part){.addr = r->addr, .size = r->size, .mapped = r->mapped,
                                     .stream = r->stream});
    }
    free(held);
    while ((live = vs_user_live_next(replay, account, &cursor)) != NULL) {
        struct segment_part part = {vs_history_address(live->addr), live->size, live, false,
                            stack_of(replay, live), vs_history_stream(&s->blocks, s->replay, live)};
        if (!live->counted)
            continue;
        VS_VEC_ADD(blocks->items, blocks->count, blocks->capacity, part);
        if (stands_alone(s, live))
            VS_VEC_ADD(segments->items, segments->count, segments->capacity, part);
    }
    VS_SORT(segments->items, segments->count, VS_UP(addr));
    VS_SORT(blocks->items, blocks->count, VS_UP(addr));
}

static void write_block(struct torch_snapshot *s, struct vs_pickle_items *list, uint64_t addr,
                        uint64_t size, const struct segment_part *block)
{
    struct vs_pickle_out *p = &s->pickle;
    vs_pickle_item(p, list);
    vs_pickle_begin_dict(p);
    vs_pickle_uint_member(p, "address", addr);
    vs_pickle_uint_member(p, "size", size);
    vs_pickle_uint_member(p, "requested_size", block ? block->live->requested : 0);
    vs_pickle_text_member(p, "state", block ? "active_allocated" : "inactive");
    write_frames(s, block ? &block->of : &(struct vs_stack_of){0});
    vs_pickle_end_dict(p);
}

/* *blocks*: those from the segment's address on. Returns how many lie in it. */
static size_t write_segment(struct torch_snapshot *s, unsigned account,
                            const struct segment_part *segment,
                            const struct segment_part *blocks, size_t count)
{
    struct vs_pickle_out *p = &s->pickle;
    uint64_t end = segment->addr + segment->size, at = segment->addr;
    uint64_t live = 0, requested = 0, largest = 0;
    size_t inside = 0;
    for (; inside < count && blocks[inside].addr < end; inside++) {
        live += blocks[inside].size;
        largest = blocks[inside].size > largest ? blocks[inside].size : largest;
        requested += blocks[inside].live->requested;
    }
    vs_pickle_begin_dict(p);
    vs_pickle_uint_member(p, "device", s->replay->accounts[account]->device);
    vs_pickle_uint_member(p, "address", segment->addr);
    vs_pickle_uint_member(p, "total_size", segment->size);
    vs_pickle_uint_member(p, "allocated_size", live);
    vs_pickle_uint_member(p, "active_size", live);
    vs_pickle_uint_member(p, "requested_size", requested);
    /* a framework allocates for one stream in all of a segment */
    vs_pickle_uint_member(p, "stream", inside ? blocks[0].stream : segment->stream);
    bool small = segment->mapped && inside ? largest <= SMALL_BLOCK
                                           : segment->size <= SMALL_SEGMENT;
    vs_pickle_text_member(p, "segment_type", small ? "small" : "large");
    vs_pickle_text(p, "segment_pool_id");
    vs_pickle_pair(p, 0, 0);
    vs_pickle_text(p, "is_expandable");
    vs_pickle_bool(p, segment->mapped);
    write_frames(s, segment->of.stack ? &segment->of : &(struct vs_stack_of){0});
    vs_pickle_text(p, "blocks");
    struct vs_pickle_items list = vs_pickle_begin_list(p);
    for (size_t i = 0; i < inside; i++) {
        if (blocks[i].addr > at)
            write_block(s, &list, at, blocks[i].addr - at, NULL);
        write_block(s, &list, blocks[i].addr, blocks[i].size, &blocks[i]);
        at = blocks[i].addr + blocks[i].size;
    }
    if (at < end)
        write_block(s, &list, at, end - at, NULL);
    vs_pickle_end_list(p);
    vs_pickle_end_dict(p);
    return inside;
}

static void write_segments(struct torch_snapshot *s)
{
    vs_pickle_text(&s->pickle, "segments");
    struct vs_pickle_items list = vs_pickle_begin_list(&s->pickle);
    for (unsigned account = 0; account < s->replay->account_count; account++) {
        struct segment_parts segments = {0}, blocks = {0};
        size_t next = 0;
        if (s->replay->accounts[account]->device >= s->device_count)
            continue;
        collect(s, account, &segments, &blocks);
        for (size_t i = 0; i < segments.count; i++) {
            while (next < blocks.count && blocks.items[next].addr < segments.items[i].addr)
                next++; /* of a segment that was allocated before the trace */
            vs_pickle_item(&s->pickle, &list);
            next += write_segment(s, account, &segments.items[i], &blocks.items[next],
                                  blocks.count - next);
        }
        free(segments.items);
        free(blocks.items);
    }
    vs_pickle_end_list(&s->pickle);
}

/* --- the rest --- */

static void write_settings(struct torch_snapshot *s)
{
    struct vs_pickle_out *p = &s->pickle;
    const char *settings = s->settings;
    vs_pickle_text(p, "allocator_settings");
    vs_pickle_begin_dict(p);
    vs_pickle_text_member(p, "PYTORCH_CUDA_ALLOC_CONF", settings ? settings : "");
    vs_pickle_text(p, "expandable_segments");
    vs_pickle_bool(p, settings && strstr(settings, "expandable_segments:True"));
    vs_pickle_end_dict(p);
}

static void write_annotations(struct torch_snapshot *s)
{
    struct vs_pickle_out *p = &s->pickle;
    vs_pickle_text(p, "external_annotations");
    struct vs_pickle_items list = vs_pickle_begin_list(p);
    for (size_t i = 0; i < s->note_count; i++) {
        vs_pickle_item(p, &list);
        vs_pickle_begin_dict(p);
        vs_pickle_text_member(p, "name", vs_reader_string(s->reader, s->notes[i].name));
        vs_pickle_text_member(p, "stage", s->notes[i].start ? "START" : "END");
        vs_pickle_uint_member(p, "device", 0);
        vs_pickle_uint_member(p, "time_us", s->notes[i].time_us);
        vs_pickle_end_dict(p);
    }
    vs_pickle_end_list(p);
}

enum vs_err vs_export_torch_snapshot(struct vs_reader *reader, FILE *out,
                                     const struct vs_export_options *options,
                                     struct vs_export_result *result)
{
    static const struct vs_time_window whole;
    struct torch_snapshot *s = vs_xcalloc(1, sizeof *s);
    struct vs_trace_state *state = NULL;
    s->pickle.out = out;
    s->reader = reader;
    s->window = options->window ? options->window : &whole;
    s->names = vs_stack_names_open(reader);
    enum vs_err err = read_window(s, false, &state);
    if (!err || err == VS_ERR_END) {
        learn(s);
        if (err == VS_ERR_END)
            vs_export_ended(reader, result);
        vs_export_recording(&s->replay->recording, vs_replay_start_ns(s->replay), result);
        err = VS_OK;
    }
    vs_pickle_begin(&s->pickle);
    vs_pickle_begin_dict(&s->pickle);
    vs_pickle_text(&s->pickle, "device_traces");
    struct vs_pickle_items devices = vs_pickle_begin_list(&s->pickle);
    for (uint64_t device = 0; !err && device < s->device_count; device++) {
        vs_pickle_item(&s->pickle, &devices);
        s->history = vs_pickle_begin_list(&s->pickle);
        s->account = vs_replay_account(state->replay, device);
        s->last = device + 1 == s->device_count;
        if (s->account != VS_ACCOUNT_NONE) {
            vs_trace_state_close(state);
            state = NULL;
            err = read_window(s, true, &state);
            err = err == VS_ERR_END ? VS_OK : err;
        }
        vs_pickle_end_list(&s->pickle);
    }
    vs_pickle_end_list(&s->pickle);
    if (!err) {
        write_segments(s);
        write_settings(s);
        write_annotations(s);
    }
    vs_pickle_end_dict(&s->pickle);
    vs_pickle_end(&s->pickle);
    result->written = s->written;
    vs_trace_state_close(state);
    vs_stack_names_close(s->names);
    vs_history_blocks_free(&s->blocks);
    free(s->ranges);
    free(s->notes);
    free(s);
    return err;
}
