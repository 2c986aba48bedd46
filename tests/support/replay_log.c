/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The recording contains the segment events that each request caused; the device
 * answers from it: it refuses memory while the next recorded event frees a segment, because the
 * recorded allocator had been refused as well. */
#include "support/replay_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/core/block_ops.h"
#include "base/reading/vs_vec.h"

static bool layout_valid(uint64_t size, const struct vs_block_layout *blocks, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct vs_block_layout *b = &blocks[i];
        if (!b->size || b->size % VS_BLOCK_MIN || b->size > size - sum)
            return false;
        if (b->live ? !b->requested || b->requested > b->size : i && !blocks[i - 1].live)
            return false;
        sum += b->size;
    }
    return count && sum == size;
}

/* Puts *requested* bytes into the first *size* bytes of the TAKEN *block*, or leaves them free;
 * *out* receives the TAKEN rest, NULL at the end of the segment. */
static enum vs_err place(struct vs_allocator *a, struct vs_block *block,
                         const struct vs_block_layout *layout, struct vs_block **out)
{
    struct vs_segment *segment = block->segment;
    struct vs_pool *pool = segment->pool;
    struct vs_block *rest = NULL;
    if (layout->size < block->size) {
        rest = vs_block_new_in_locked(a, pool);
        if (!rest)
            return VS_ERR_NOMEM;
        *rest = (struct vs_block){.addr = block->addr + layout->size,
                                  .size = block->size - layout->size,
                                  .state = VS_BLOCK_TAKEN,
                                  .segment = segment,
                                  .prev = block};
        block->next = rest;
        vs_block_started(rest);
        vs_block_set(block, layout->size, VS_BLOCK_TAKEN);
    }
    *out = rest;
    if (!layout->live) {
        vs_block_set_state(block, VS_BLOCK_FREE);
        vs_free_insert(&pool->index, block);
        segment->idle_since = a->searches[pool->kind];
        if (vs_block_is_split(block)) {
            vs_counter_increase(&a->counters.inactive_split, pool->kind, 1);
            vs_counter_increase(&a->counters.inactive_split_bytes, pool->kind, block->size);
        }
        return VS_OK;
    }
    vs_block_set_state(block, VS_BLOCK_LIVE);
    vs_block_set_used(block, layout->requested, vs_serial_next(a, vs_block_shard(block)));
    vs_block_mark_start(block, true);
    vs_allocator_count_alloc_locked(a, pool->kind, block->size, layout->requested);
    return vs_live_put_locked(block);
}

enum vs_err replay_adopt_segment(struct vs_allocator *a, uint64_t addr, uint64_t size,
                                 enum vs_pool_kind kind, uint64_t stream,
                                 const struct vs_block_layout *blocks, size_t count)
{
    if (size >> 56 || !layout_valid(size, blocks, count) || stream == UINT64_MAX)
        return VS_ERR_ARG;
    if (a->config.reuse == VS_REUSE_AFTER_SYNC)
        stream = 0;
    VS_FULL_LOCK_SCOPE(a);
    enum vs_err err = VS_ERR_NOMEM;
    struct vs_stream_pools *pools = vs_stream_pin_locked(a, stream);
    if (pools) {
        struct vs_segment *segment;
        err = vs_segment_register_locked(a, &pools->pool[kind], addr, size, &segment);
        struct vs_block *block = err ? NULL : segment->first;
        for (size_t i = 0; i < count && !err; i++)
            err = place(a, block, &blocks[i], &block);
        vs_stream_unpin_locked(a, pools);
    }
    return err;
}

#define APPEND(log, name) \
    vs_vec_push(&(log)->name##s, &(log)->name##_count, &(log)->name##_max, sizeof *(log)->name##s)

static bool event_line(const char *line, struct replay_event *e)
{
    static const struct {
        const char *format;
        enum replay_kind kind;
        int fields;
    } forms[] = {
        {"alloc %" SCNu64 " %" SCNu64 " %" SCNu64, REPLAY_ALLOC, 3},
        {"free %" SCNu64, REPLAY_FREE, 1},
        {"segment_alloc %" SCNu64 " %" SCNu64 " %" SCNu64, REPLAY_SEGMENT_ALLOC, 3},
        {"segment_free %" SCNu64 " %" SCNu64, REPLAY_SEGMENT_FREE, 2},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        e->kind = forms[i].kind;
        if (sscanf(line, forms[i].format, &e->addr, &e->size, &e->stream) == forms[i].fields)
            return true;
    }
    e->kind = REPLAY_OOM;
    return sscanf(line, "oom %" SCNu64 " %" SCNu64, &e->size, &e->stream) == 2;
}

static bool take_line(const char *line, struct replay_log *log)
{
    char pool[8];
    struct replay_segment s = {0};
    struct vs_block_layout b = {0};
    struct replay_final f = {0};
    struct replay_event e = {0};
    int flag;
    if (sscanf(line, "segment %" SCNu64 " %" SCNu64 " %7s %" SCNu64, &s.addr, &s.size, pool,
               &s.stream) == 4) {
        s.pool = strcmp(pool, "small") == 0 ? VS_POOL_SMALL : VS_POOL_LARGE;
        s.first_block = log->block_count;
        *(struct replay_segment *)APPEND(log, segment) = s;
        return true;
    }
    if (sscanf(line, "block %" SCNu64 " %" SCNu64 " %d", &b.size, &b.requested, &flag) == 3) {
        b.live = flag;
        *(struct vs_block_layout *)APPEND(log, block) = b;
        if (log->segment_count)
            log->segments[log->segment_count - 1].block_count++;
        return log->segment_count > 0;
    }
    if (sscanf(line, "final %" SCNu64 " %" SCNu64 " %d", &f.addr, &f.size, &flag) == 3) {
        f.active = flag;
        *(struct replay_final *)APPEND(log, final) = f;
        return true;
    }
    if (!event_line(line, &e))
        return false;
    *(struct replay_event *)APPEND(log, event) = e;
    return true;
}

void replay_load(const char *path, struct replay_log *log)
{
    memset(log, 0, sizeof *log);
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(2);
    }
    char line[256];
    while (fgets(line, sizeof line, file)) {
        if (!take_line(line, log)) {
            fprintf(stderr, "%s: not understood: %s", path, line);
            exit(2);
        }
    }
    fclose(file);
}

void replay_log_free(struct replay_log *log)
{
    free(log->segments);
    free(log->blocks);
    free(log->events);
    free(log->finals);
    memset(log, 0, sizeof *log);
}

static const struct replay_event *peek(const struct replay *r)
{
    return r->next < r->log->event_count ? &r->log->events[r->next] : NULL;
}

static enum vs_err segment_alloc(void *ctx, size_t bytes, uint64_t *addr)
{
    struct replay *r = ctx;
    const struct replay_event *e = peek(r);
    if (!e || e->kind == REPLAY_SEGMENT_FREE || e->kind == REPLAY_OOM)
        return VS_ERR_DEVICE_OOM;
    if (e->kind != REPLAY_SEGMENT_ALLOC || e->size != bytes) {
        r->counts.segment_bad++;
        return VS_ERR_DEVICE;
    }
    r->counts.segment_ok++;
    r->next++;
    *addr = e->addr;
    return VS_OK;
}

static enum vs_err segment_free(void *ctx, uint64_t addr, size_t bytes)
{
    struct replay *r = ctx;
    const struct replay_event *e = peek(r);
    if (e && e->kind == REPLAY_SEGMENT_FREE && e->addr == addr && e->size == bytes) {
        r->next++;
        r->counts.segment_free_ok++;
    } else if (e) { /* at the end of the log the allocator is being destroyed */
        r->counts.segment_free_bad++;
    }
    return VS_OK;
}

enum vs_err replay_begin(const struct replay_log *log, struct replay *r)
{
    static const struct vs_device_ops ops = {.segment_alloc = segment_alloc,
                                             .segment_free = segment_free};
    static const struct vs_allocator_config config = {.reuse = VS_REUSE_STREAM_ORDERED};
    memset(r, 0, sizeof *r);
    r->log = log;
    enum vs_err err = vs_allocator_create(&config, &ops, r, NULL, NULL, &r->allocator);
    for (size_t i = 0; i < log->segment_count && !err; i++) {
        const struct replay_segment *s = &log->segments[i];
        err = replay_adopt_segment(r->allocator, s->addr, s->size, s->pool, s->stream,
                                         &log->blocks[s->first_block], s->block_count);
    }
    return err;
}

/* The request at or after the segment events at r->next, if they belong to one: a new segment, or a
 * failure, follows the freed segments. */
static const struct replay_event *request_behind(const struct replay *r)
{
    size_t i = r->next;
    const struct replay_event *events = r->log->events;
    while (i < r->log->event_count && events[i].kind == REPLAY_SEGMENT_FREE)
        i++;
    if (i == r->log->event_count)
        return NULL;
    if (events[i].kind == REPLAY_SEGMENT_ALLOC)
        return i + 1 < r->log->event_count && events[i + 1].kind == REPLAY_ALLOC ? &events[i + 1]
                                                                                  : NULL;
    return events[i].kind == REPLAY_OOM ? &events[i] : NULL;
}

/* The program called empty_cache: the freed segments come next. */
static void empty(struct replay *r)
{
    size_t at = r->next;
    uint64_t released;
    if (vs_allocator_empty_cache(r->allocator, &released) || r->next == at)
        r->counts.errors++, r->next = at + 1;
    else
        r->counts.emptied++;
}

/* Freed segments before a new one belong to the request, which was refused and released the cache,
 * or to an empty_cache before it. The recorded address decides: a request that the cache could have
 * served gets a block there, and no segment is freed. Then the block is freed again, which restores
 * the cache, and the other order is tried. */
static void request(struct replay *r, const struct replay_event *e)
{
    struct vs_allocation got;
    size_t at = r->next;
    uint64_t blocks = vs_block_count_locked(r->allocator), segments = r->allocator->segment_count;
    enum vs_err err = vs_allocator_malloc(r->allocator, e->size, e->stream, &got);
    if (!err && got.addr != e->addr && r->next == at &&
        r->log->events[at].kind == REPLAY_SEGMENT_FREE) {
        if (vs_allocator_free(r->allocator, got.addr))
            r->counts.errors++;
        empty(r);
        return;
    }
    if (e->kind == REPLAY_OOM) {
        r->counts.errors += err != VS_ERR_DEVICE_OOM;
    } else if (err || got.addr != e->addr) {
        r->counts.addr_mismatch++;
    } else {
        r->counts.addr_ok++;
        r->counts.splits +=
            vs_block_count_locked(r->allocator) - blocks - (r->allocator->segment_count - segments);
    }
    r->next = (size_t)(e - r->log->events) + 1;
}

static void one(struct replay *r)
{
    const struct replay_event *e = &r->log->events[r->next];
    uint64_t blocks = vs_block_count_locked(r->allocator);
    switch (e->kind) {
    case REPLAY_ALLOC:
        request(r, e);
        break;
    case REPLAY_FREE:
        r->next++;
        if (vs_allocator_free(r->allocator, e->addr))
            r->counts.errors++;
        else
            r->counts.frees++;
        r->counts.merges += blocks - vs_block_count_locked(r->allocator);
        break;
    case REPLAY_SEGMENT_ALLOC:
    case REPLAY_SEGMENT_FREE:
    case REPLAY_OOM: {
        const struct replay_event *behind = request_behind(r);
        if (behind)
            request(r, behind);
        else
            empty(r);
        break;
    }
    }
}

void replay_run(struct replay *r, void (*step)(struct vs_allocator *allocator))
{
    while (r->next < r->log->event_count) {
        one(r);
        if (step)
            step(r->allocator);
    }
}

struct comparison {
    struct replay *replay;
    size_t next;
};

static void compare_block(void *ctx, const struct vs_segment_info *segment,
                          const struct vs_block_info *block)
{
    struct comparison *c = ctx;
    (void)segment;
    if (!block)
        return;
    const struct replay_log *log = c->replay->log;
    const struct replay_final *f = c->next < log->final_count ? &log->finals[c->next] : NULL;
    c->next++;
    if (f && f->addr == block->addr && f->size == block->size &&
        f->active == (block->state != VS_BLOCK_FREE))
        c->replay->counts.final_ok++;
    else
        c->replay->counts.final_bad++;
}

static int by_address(const void *a, const void *b)
{
    const struct replay_final *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void replay_compare(struct replay *r)
{
    struct comparison c = {r, 0};
    qsort(r->log->finals, r->log->final_count, sizeof *r->log->finals, by_address);
    vs_allocator_snapshot(r->allocator, compare_block, &c);
    if (c.next < r->log->final_count)
        r->counts.final_bad += r->log->final_count - c.next;
}

void replay_end(struct replay *r)
{
    vs_allocator_destroy(r->allocator);
    r->allocator = NULL;
}
