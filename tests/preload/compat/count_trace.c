/* SPDX-License-Identifier: Apache-2.0
 *
 * The content of a trace, counted event by event rather than by the analysis: names as they come,
 * each once, the end of the trace, one line per family with allocations, frees, failures and
 * requested bytes, and one per figure. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vs_map.h"
#include "trace/read/reader.h"

struct count {
    uint64_t allocs, frees, failed, bytes;
};

/* A number of the whole trace; those of the cache's segments, and of the device family's requests. */
#define FIGURES(X)                                                                                  \
    X(stray) X(twice) X(wrong) X(live) X(frees) X(failed) X(segments) X(segment_frees) X(maps)      \
    X(unmaps) X(reserved) X(requested_live) X(requested_peak) X(kernels) X(copies) X(copy_bytes)    \
    X(sets) X(event_waits) X(stream_waits) X(context_waits) X(copy_waits) X(async_copy_waits) \
    X(free_waits)
#define FIGURE(name) name,
static struct {
    uint64_t FIGURES(FIGURE) last_ns;
} figures;

static struct count counts[VS_FAMILY_COUNT];
static struct block {
    uint64_t family, requested;
} *blocks;
static size_t block_count;
static struct vs_map live; /* address, without its family's bits -> index of blocks */
static struct vs_map named; /* names that were printed */

static void print_name(const struct vs_reader *reader, const char *what, uint64_t name)
{
    uint64_t key = name << 8 | (unsigned char)*what;
    if (vs_map_get(&named, key))
        return;
    printf("%s %s\n", what, vs_reader_string(reader, name));
    if (vs_map_put(&named, key, 1))
        exit(2);
}

static void count_alloc(const struct vs_reader *reader, const struct vs_event *e)
{
    counts[e->alloc.family].allocs++;
    counts[e->alloc.family].bytes += e->alloc.requested;
    print_name(reader, "api", e->alloc.api);
    figures.twice += vs_map_get(&live, e->alloc.addr) != NULL;
    figures.live++;
    if (block_count % 1024 == 0)
        blocks = realloc(blocks, (block_count + 1024) * sizeof *blocks);
    if (!blocks || vs_map_put(&live, e->alloc.addr, block_count))
        exit(2);
    blocks[block_count++] = (struct block){e->alloc.family, e->alloc.requested};
    if (e->alloc.family != VS_FAMILY_DEVICE)
        return;
    figures.wrong += e->alloc.size < e->alloc.requested;
    figures.requested_live += e->alloc.requested;
    if (figures.requested_live > figures.requested_peak)
        figures.requested_peak = figures.requested_live;
}

static void count_free(const struct vs_event *e)
{
    uint64_t *index = vs_map_get(&live, e->free.addr);
    if (!index) {
        figures.stray++;
        return;
    }
    const struct block *block = &blocks[*index];
    counts[block->family].frees++;
    figures.frees++;
    figures.live--;
    if (block->family == VS_FAMILY_DEVICE)
        figures.requested_live -= block->requested;
    vs_map_remove(&live, e->free.addr, NULL);
}

static void apply(const struct vs_reader *reader, const struct vs_event *e)
{
    figures.wrong += e->time_ns < figures.last_ns;
    figures.last_ns = e->time_ns;
    switch (e->kind) {
    case VS_EVENT_alloc: count_alloc(reader, e); break;
    case VS_EVENT_free: count_free(e); break;
    case VS_EVENT_alloc_failed:
        counts[e->alloc_failed.family].failed++;
        figures.failed++;
        break;
    case VS_EVENT_segment_alloc:
        figures.segments++;
        figures.reserved += e->segment_alloc.size;
        break;
    case VS_EVENT_segment_free:
        figures.segment_frees++;
        figures.reserved -= e->segment_free.size;
        break;
    case VS_EVENT_segment_map:
        figures.maps++;
        figures.reserved += e->segment_map.reserved;
        break;
    case VS_EVENT_segment_unmap:
        figures.unmaps++;
        figures.reserved -= e->segment_unmap.reserved;
        break;
    case VS_EVENT_kernel: figures.kernels++; break;
    case VS_EVENT_memcpy:
        figures.copies++;
        figures.copy_bytes += e->memcpy.bytes;
        figures.wrong += e->memcpy.end_ns < e->memcpy.start_ns;
        break;
    case VS_EVENT_memset: figures.sets++; break;
    case VS_EVENT_sync:
#define WAIT(name, kind) figures.name##_waits += e->sync.sync_kind == VS_WAIT_##kind;
        WAIT(event, EVENT) WAIT(stream, STREAM) WAIT(context, CONTEXT) WAIT(copy, COPY)
        WAIT(async_copy, ASYNC_COPY) WAIT(free, FREE)
        figures.wrong += e->sync.end_ns < e->sync.start_ns || !e->sync.api;
        break;
    case VS_EVENT_range_push: print_name(reader, "phase", e->range_push.name); break;
    case VS_EVENT_range_start: print_name(reader, "phase", e->range_start.name); break;
    case VS_EVENT_mark: print_name(reader, "phase", e->mark.name); break;
    case VS_EVENT_note: print_name(reader, "note", e->note.text); break;
    case VS_EVENT_end:
        printf("end %" PRIu64 " %" PRIu64 "\n", e->end.reason, e->end.status);
        break;
    default: break;
    }
}

int main(int argc, char **argv)
{
    struct vs_reader *reader;
    struct vs_event event;
    char why[VS_READER_WHY_MAX], text[VS_READER_WHY_MAX];
    enum vs_err err;
    if (argc != 2)
        return 2;
    if (vs_reader_open(argv[1], &reader, why)) {
        printf("unreadable %s\n", why);
        return 1;
    }
    while (!(err = vs_reader_next(reader, &event)))
        apply(reader, &event);
    for (unsigned i = 0; i < VS_FAMILY_COUNT; i++)
        printf("family %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i, counts[i].allocs,
               counts[i].frees, counts[i].failed, counts[i].bytes);
#define PRINT(name) printf(#name " %" PRIu64 "\n", figures.name);
    FIGURES(PRINT)
    printf("condition %d %s\n", (int)vs_reader_condition(reader, text), text);
    free(blocks);
    vs_map_free(&named);
    vs_map_free(&live);
    vs_reader_close(reader);
    return err == VS_ERR_END ? 0 : 1;
}
