/* SPDX-License-Identifier: Apache-2.0
 *
 * The histories of all devices, merged by their times, as events of both levels: segments are memory
 * of the device (cudaMalloc; of expandable segments cuMemCreate and cuMemMap), blocks are the
 * framework's, as a recording of the same program would have them. A block ends when PyTorch is
 * asked to free it; the memory under it may be in use by other streams until the free completes. */
#include "analysis/import/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "analysis/import/block_tiles.h"
#include "analysis/import/import_writer.h"
#include "base/reading/vs_vec.h"
#include "base/vs_size.h"

#define CUDA_ERROR_OUT_OF_MEMORY 2

struct device_state {
    const struct vs_snapshot_device *from;
    struct vs_snapshot_start start;
    struct vs_tiles tiles;
    size_t next; /* entry */
    uint64_t allocated, reserved;
    uint64_t start_reserved; /* while the state at the start is written: all of it */
    uint64_t bytes; /* free or held by PyTorch at a failure; 0: unknown */
};

struct snapshot_import {
    const struct vs_snapshot *snapshot;
    struct vs_import_result *result;
    struct vs_import_writer *writer;
    struct device_state devices[VS_DEVICES_MAX];
    size_t next_annotation;
    const struct vs_pickle_text *metadata; /* in force */
    uint64_t memories, first_us;
    uint64_t step_domain; /* 0: no step is open */
    uint64_t before;      /* the stack of blocks of which the snapshot has none */
    uint64_t cuda_malloc, cuda_free, mem_create, mem_release; /* string ids */
};

/* --- memory of the device --- */

static void device_alloc(struct snapshot_import *m, unsigned device, enum vs_family family,
                         uint64_t addr, uint64_t size, uint64_t stack)
{
    m->devices[device].reserved += size;
    VS_IMPORT(m->writer, alloc, .addr = addr, .requested = size, .size = size, .family = family,
              .device = device, .context = 1 + device, .stack = stack,
              .api = family == VS_FAMILY_VMM ? m->mem_create : m->cuda_malloc);
}

static void device_free(struct snapshot_import *m, unsigned device, uint64_t addr, uint64_t size,
                        uint64_t api)
{
    m->devices[device].reserved -= size;
    VS_IMPORT(m->writer, free, .addr = addr, .device = device, .api = api);
}

static void map_piece(struct snapshot_import *m, unsigned device, struct vs_snapshot_piece *piece,
                      uint64_t stack)
{
    piece->number = ++m->memories;
    device_alloc(m, device, VS_FAMILY_VMM, VS_ADDR_MEMORY + piece->number, piece->end - piece->addr,
                 stack);
    VS_IMPORT(m->writer, vmm_map, .addr = piece->addr, .size = piece->end - piece->addr,
              .memory = piece->number, .device = device, .stack = stack);
}

static enum vs_err change_mapping(struct snapshot_import *m, unsigned device,
                                  const struct vs_snapshot_entry *entry)
{
    struct vs_snapshot_start *start = &m->devices[device].start;
    bool map = entry->action == VS_SNAPSHOT_SEGMENT_MAP;
    uint64_t stack = vs_import_stack(&m->writer->stacks, entry->frames);
    size_t first, count;
    enum vs_err err = vs_snapshot_pieces(start, entry->addr, entry->size, &first, &count);
    for (size_t i = first; !err && i < first + count; i++) {
        struct vs_snapshot_piece *piece = &start->pieces[i];
        if (map && !piece->number)
            map_piece(m, device, piece, stack);
        if (map || !piece->number)
            continue;
        VS_IMPORT(m->writer, vmm_unmap, .addr = piece->addr, .size = piece->end - piece->addr,
                  .memory = piece->number, .device = device);
        device_free(m, device, VS_ADDR_MEMORY + piece->number, piece->end - piece->addr,
                    m->mem_release);
        piece->number = 0;
    }
    return err;
}

/* --- blocks --- */

static void end_block(struct snapshot_import *m, unsigned device, struct vs_tile *block)
{
    struct device_state *d = &m->devices[device];
    d->allocated -= block->size;
    block->allocated = false;
    VS_IMPORT(m->writer, framework_free, .addr = block->addr, .size = block->size,
              .device = device, .total_allocated = d->allocated, .total_reserved = d->reserved);
}

static void begin_block(struct snapshot_import *m, unsigned device, uint64_t addr, uint64_t requested,
                        uint64_t size, uint64_t stream, uint64_t stack)
{
    struct device_state *d = &m->devices[device];
    struct vs_tile *old = vs_tiles_find(d->tiles.blocks, addr);
    if (old && old->allocated)
        end_block(m, device, old);
    d->allocated += size;
    uint64_t reserved = d->reserved > d->start_reserved ? d->reserved : d->start_reserved;
    VS_IMPORT(m->writer, framework_alloc, .addr = addr, .size = size, .device = device,
              .total_allocated = d->allocated, .total_reserved = reserved, .stack = stack,
              .framework_stream = stream, .requested = requested);
    vs_tiles_put(&d->tiles, &d->tiles.blocks, addr, size, true);
}

static void free_block(struct snapshot_import *m, unsigned device,
                       const struct vs_snapshot_entry *entry)
{
    struct vs_tiles *tiles = &m->devices[device].tiles;
    struct vs_tile *block = vs_tiles_find(tiles->blocks, entry->addr);
    bool completed = entry->action == VS_SNAPSHOT_FREE_COMPLETED;
    if (!block) {
        m->result->unmatched += !completed;
        return;
    }
    if (block->allocated) {
        m->result->frees++;
        end_block(m, device, block);
    }
    if (completed)
        vs_tiles_drop(tiles, &tiles->blocks, block);
}

/* The driver refused what PyTorch asked of it, or a limit of PyTorch's own did. A snapshot does not
 * contain the size of the device, but a failure has its free memory: together with the memory that
 * PyTorch held, this is the size that PyTorch could use. */
static void out_of_memory(struct snapshot_import *m, unsigned device,
                          const struct vs_snapshot_entry *entry)
{
    struct device_state *d = &m->devices[device];
    uint64_t stack = vs_import_stack(&m->writer->stacks, entry->frames), bytes = d->reserved + entry->addr;
    if (!d->bytes)
        vs_import_note(m->writer, false,
                       "the size of device %u is not in the snapshot: %s were free or held by PyTorch "
                       "when it ran out of memory; the CUDA context and other processes have the rest",
                       device, vs_size_text(bytes));
    if (bytes > d->bytes)
        d->bytes = bytes;
    VS_IMPORT(m->writer, alloc_failed, .requested = entry->size, .family = VS_FAMILY_DEVICE,
              .device = device, .context = 1 + device, .api = m->cuda_malloc, .stack = stack,
              .error = CUDA_ERROR_OUT_OF_MEMORY, .device_free_bytes = entry->addr,
              .device_total_bytes = d->bytes);
    VS_IMPORT(m->writer, framework_oom, .requested = entry->size, .device = device,
              .total_allocated = d->allocated, .total_reserved = d->reserved, .stack = stack,
              .framework_stream = entry->stream);
    m->result->failures++;
}

/* --- ranges: one ends with the last of its domain, so those of different domains may overlap --- */

static uint64_t text_id(struct snapshot_import *m, const struct vs_pickle_text *text)
{
    return vs_composer_string(m->writer->composer, text->bytes, text->length);
}

static bool same_text(const struct vs_pickle_text *a, const struct vs_pickle_text *b)
{
    return a == b || (a && b && a->length == b->length && !memcmp(a->bytes, b->bytes, a->length));
}

/* torch.cuda.memory._set_memory_metadata: in force until it changes, so a range. */
static void change_metadata(struct snapshot_import *m, const struct vs_pickle_text *text)
{
    if (same_text(m->metadata, text))
        return;
    uint64_t domain = vs_import_string(m->writer, "user_metadata");
    if (m->metadata)
        VS_IMPORT(m->writer, range_pop, .domain = domain);
    m->metadata = text;
    if (text)
        VS_IMPORT(m->writer, range_push, .name = text_id(m, text), .domain = domain);
}

/* --- the state at the start --- */

_Static_assert(!offsetof(struct vs_snapshot_block, addr) &&
                   !offsetof(struct vs_snapshot_segment, addr),
               "vs_order_u64 sorts both by address");

/* Writes the blocks from *next* on that begin before *end*. */
static void write_blocks(struct snapshot_import *m, unsigned device, uint64_t end, size_t *next)
{
    const struct vs_snapshot_start *start = &m->devices[device].start;
    for (; *next < start->block_count && start->blocks[*next].addr < end; ++*next) {
        const struct vs_snapshot_block *block = &start->blocks[*next];
        if (!block->allocated)
            continue;
        m->result->start_blocks++;
        m->result->start_bytes += block->size;
        begin_block(m, device, block->addr, block->requested, block->size, 0,
                    block->frames || !m->before ? vs_import_stack(&m->writer->stacks,
                    block->frames) : m->before);
    }
}

/* Segments that hold blocks come first, each with its blocks behind it, as in a recording: a reader
 * knows then from the first block on that such memory holds tensors. */
static void write_start(struct snapshot_import *m, unsigned device)
{
    struct vs_snapshot_start *start = &m->devices[device].start;
    size_t next = 0, empty = 0;
    struct device_state *d = &m->devices[device];
    d->start_reserved = d->reserved;
    for (size_t i = 0; i < start->segment_count; i++)
        d->start_reserved += start->segments[i].size;
    for (size_t i = 0; i < start->segment_count; i++) {
        const struct vs_snapshot_segment segment = start->segments[i];
        write_blocks(m, device, segment.addr, &next);
        if (next == start->block_count || start->blocks[next].addr >= segment.addr + segment.size) {
            start->segments[empty++] = segment;
            continue;
        }
        device_alloc(m, device, VS_FAMILY_DEVICE, segment.addr, segment.size,
                     vs_import_stack(&m->writer->stacks, segment.frames));
        write_blocks(m, device, segment.addr + segment.size, &next);
    }
    for (size_t i = 0; i < empty; i++)
        device_alloc(m, device, VS_FAMILY_DEVICE, start->segments[i].addr, start->segments[i].size,
                     vs_import_stack(&m->writer->stacks, start->segments[i].frames));
    write_blocks(m, device, UINT64_MAX, &next);
    d->start_reserved = 0;
}

static void begin_device(struct snapshot_import *m, unsigned device)
{
    struct device_state *d = &m->devices[device];
    struct vs_snapshot_start *start = &d->start;
    vs_import_device(m->writer, device);
    vs_vec_sort(start->blocks, start->block_count, sizeof *start->blocks, vs_order_u64);
    vs_vec_sort(start->segments, start->segment_count, sizeof *start->segments, vs_order_u64);
    for (size_t i = 0; i < start->segment_count; i++)
        vs_tiles_put(&d->tiles, &d->tiles.segments, start->segments[i].addr, start->segments[i].size, true);
    for (size_t i = 0; i < start->block_count; i++)
        vs_tiles_put(&d->tiles, &d->tiles.blocks, start->blocks[i].addr, start->blocks[i].size, false);
    /* sizes of blocks follow from those behind them, so all must be there before the first is used */
    for (size_t i = 0; i < start->block_count; i++)
        if (!start->blocks[i].size)
            start->blocks[i].size =
                vs_tiles_size(&d->tiles, start->blocks[i].addr, start->blocks[i].requested);
    for (size_t i = 0; i < start->piece_count; i++)
        if (start->pieces[i].mapped)
            map_piece(m, device, &start->pieces[i], 0);
    write_start(m, device);
}

/* --- the history --- */

static enum vs_err apply(struct snapshot_import *m, unsigned device,
                         const struct vs_snapshot_entry *entry)
{
    struct device_state *d = &m->devices[device];
    struct vs_tile *old;
    change_metadata(m, entry->metadata);
    switch (entry->action) {
    case VS_SNAPSHOT_ALLOC:
        m->result->allocs++;
        begin_block(m, device, entry->addr, entry->size,
                    vs_tiles_size(&d->tiles, entry->addr, entry->size), entry->stream,
                    vs_import_stack(&m->writer->stacks, entry->frames));
        return VS_OK;
    case VS_SNAPSHOT_FREE_REQUESTED:
    case VS_SNAPSHOT_FREE_COMPLETED: free_block(m, device, entry); return VS_OK;
    case VS_SNAPSHOT_SEGMENT_ALLOC:
    case VS_SNAPSHOT_SEGMENT_FREE:
        old = vs_tiles_find(d->tiles.segments, entry->addr);
        if (old) {
            device_free(m, device, entry->addr, old->size, m->cuda_free);
            vs_tiles_drop(&d->tiles, &d->tiles.segments, old);
        }
        if (entry->action == VS_SNAPSHOT_SEGMENT_FREE) {
            m->result->unmatched += !old;
            return VS_OK;
        }
        device_alloc(m, device, VS_FAMILY_DEVICE, entry->addr, entry->size,
                     vs_import_stack(&m->writer->stacks, entry->frames));
        vs_tiles_put(&d->tiles, &d->tiles.segments, entry->addr, entry->size, true);
        return VS_OK;
    case VS_SNAPSHOT_SEGMENT_MAP:
    case VS_SNAPSHOT_SEGMENT_UNMAP: return change_mapping(m, device, entry);
    case VS_SNAPSHOT_OOM: out_of_memory(m, device, entry); return VS_OK;
    default: return VS_OK;
    }
}

static void set_time(struct snapshot_import *m, uint64_t time_us)
{
    m->writer->now_ns = time_us > m->first_us ? (time_us - m->first_us) * 1000 : 0;
}

/* The device whose next entry is the earliest; device_count at the end. */
static unsigned earliest(const struct snapshot_import *m)
{
    unsigned found = m->snapshot->device_count;
    uint64_t time_us = UINT64_MAX;
    for (unsigned i = 0; i < m->snapshot->device_count; i++) {
        const struct device_state *d = &m->devices[i];
        if (d->next < d->from->count && d->from->entries[d->next].time_us < time_us) {
            time_us = d->from->entries[d->next].time_us;
            found = i;
        }
    }
    return found;
}

/* Writes the annotations up to *time_us*. */
static void annotate_until(struct snapshot_import *m, uint64_t time_us)
{
    const struct vs_snapshot *s = m->snapshot;
    for (; s->timed && m->next_annotation < s->annotation_count &&
           s->annotations[m->next_annotation].time_us <= time_us;
         m->next_annotation++) {
        const struct vs_snapshot_annotation *one = &s->annotations[m->next_annotation];
        uint64_t domain = text_id(m, one->name); /* of several threads: each name is one of its own */
        set_time(m, one->time_us);
        if (one->start) {
            VS_IMPORT(m->writer, range_push, .name = text_id(m, one->name), .domain = domain);
            continue;
        }
        VS_IMPORT(m->writer, range_pop, .domain = domain);
        if (!m->step_domain || !same_text(one->name, s->optimizer))
            continue;
        VS_IMPORT(m->writer, range_pop, .domain = m->step_domain);
        m->step_domain = 0;
    }
}

static enum vs_err write_history(struct snapshot_import *m)
{
    const struct vs_snapshot *s = m->snapshot;
    enum vs_err err = VS_OK;
    uint64_t step = 0;
    for (unsigned device; !err && (device = earliest(m)) < s->device_count;) {
        struct device_state *d = &m->devices[device];
        const struct vs_snapshot_entry *entry = &d->from->entries[d->next++];
        annotate_until(m, entry->time_us);
        if (s->timed)
            set_time(m, entry->time_us);
        else
            m->writer->now_ns = ++step * 1000;
        /* PyTorch marks each optimizer's step: where the program marks none itself, a step of training
         * ends with the step of its first optimizer */
        if (!m->step_domain && s->optimizer && !s->steps && s->timed) {
            m->step_domain = vs_import_string(m->writer, "steps");
            VS_IMPORT(m->writer, range_push, .name = vs_import_string(m->writer, "step"),
                      .domain = m->step_domain);
        }
        err = apply(m, device, entry);
    }
    annotate_until(m, UINT64_MAX);
    change_metadata(m, NULL);
    return err;
}

static void write_notes(struct snapshot_import *m)
{
    const struct vs_import_result *r = m->result;
    char blocks[VS_SIZE_TEXT_MAX];
    vs_import_note(m->writer, false, "imported from %.300s, a PyTorch memory snapshot", m->writer->name);
    if (r->history && r->overwritten)
        vs_import_note(m->writer, true,
                       "the history has lost its beginning (its length is max_entries of "
                       "torch.cuda.memory._record_memory_history): %s blocks (%s) were allocated "
                       "before it",
                       vs_count_format(blocks, r->start_blocks),
                       vs_size_text(r->start_bytes));
    if (r->history && !r->timed)
        vs_import_note(m->writer, true, "the history has no times: its entries follow each other "
                       "by 1 µs");
}

static enum vs_err begin_all(struct snapshot_import *m)
{
    enum vs_err err = VS_OK;
    m->cuda_malloc = vs_import_string(m->writer, "cudaMalloc");
    m->cuda_free = vs_import_string(m->writer, "cudaFree");
    m->mem_create = vs_import_string(m->writer, "cuMemCreate");
    m->mem_release = vs_import_string(m->writer, "cuMemRelease");
    if (m->snapshot->conf)
        vs_import_option(m->writer, "PYTORCH_ALLOC_CONF",
                         vs_import_text(m->writer->composer, m->snapshot->conf));
    uint64_t domain = vs_import_string(m->writer, VS_BEFORE_DOMAIN),
             range = vs_import_string(m->writer, VS_BEFORE_RANGE);
    if (m->result->history) {
        uint32_t module = vs_composer_module(m->writer->composer, vs_import_string(m->writer, ""),
                                             vs_import_string(m->writer, "allocated " VS_BEFORE_RANGE));
        m->before = vs_composer_node(m->writer->composer, 0, module, 0);
        VS_IMPORT(m->writer, range_push, .name = range, .domain = domain);
    }
    for (unsigned i = 0; i < m->snapshot->device_count && !err; i++) {
        struct device_state *d = &m->devices[i];
        d->from = &m->snapshot->devices[i];
        d->tiles.config = &m->snapshot->config;
        if (!d->from->count && !d->from->segment_count)
            continue;
        err = vs_snapshot_start_find(d->from, &d->start);
        m->result->overwritten |= d->start.overwritten;
        if (!err)
            begin_device(m, i);
    }
    if (m->result->history)
        VS_IMPORT(m->writer, range_pop, .domain = domain);
    if (!err)
        write_notes(m);
    return err;
}

enum vs_err vs_snapshot_trace(const struct vs_snapshot *snapshot, struct vs_import_writer *w)
{
    struct snapshot_import *m = vs_xcalloc(1, sizeof *m);
    uint64_t seed[2];
    m->snapshot = snapshot;
    m->writer = w;
    m->result = w->result;
    m->result->timed = snapshot->timed;
    /* A hash of the file's contents, and the time of its first entry. */
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    m->first_us = UINT64_MAX;
    for (unsigned i = 0; i < m->snapshot->device_count; i++) {
        const struct vs_snapshot_device *d = &m->snapshot->devices[i];
        for (size_t k = 0; k < d->count; k++)
            XXH3_128bits_update(&state, &d->entries[k],
                                offsetof(struct vs_snapshot_entry, frames));
        for (size_t k = 0; k < d->block_count; k++)
            XXH3_128bits_update(&state, &d->blocks[k], offsetof(struct vs_snapshot_block, frames));
        if (d->count && d->entries[0].time_us < m->first_us)
            m->first_us = d->entries[0].time_us;
        m->result->history |= d->count != 0;
        m->result->devices += d->count || d->segment_count;
    }
    if (m->first_us == UINT64_MAX || !m->snapshot->timed)
        m->first_us = 0;
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    seed[0] = hash.low64;
    seed[1] = hash.high64;
    enum vs_err err = vs_import_begin(w, "torch-snapshot", m->first_us * 1000, seed);
    if (!err)
        err = begin_all(m);
    if (!err)
        err = write_history(m);
    if (err == VS_ERR_CORRUPT)
        snprintf(w->why, VS_IMPORT_WHY_MAX,
                 "its expandable segments map the same addresses too many times");
    for (unsigned i = 0; i < VS_DEVICES_MAX; i++) {
        vs_snapshot_start_free(&m->devices[i].start);
        vs_tiles_free(&m->devices[i].tiles);
    }
    free(m);
    return err;
}
