/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Addresses in the text are names of blocks: an address is looked up in a table of
 * the live ones and becomes an id. */
#include "support/request_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/vs_map.h"
#include "support/replay_log.h"

static void add(struct request_log *log, struct request request)
{
    *(struct request *)vs_vec_push(&log->requests, &log->count, &log->max, sizeof request) = request;
}

uint32_t request_log_alloc(struct request_log *log, uint64_t size, uint64_t stream)
{
    uint32_t id = log->id_count++;
    vs_vec_room(&log->sizes, &log->size_max, log->id_count, sizeof *log->sizes);
    log->sizes[id] = size;
    add(log, (struct request){REQUEST_ALLOC, id, size, stream});
    return id;
}

void request_log_free_block(struct request_log *log, uint32_t id)
{
    add(log, (struct request){REQUEST_FREE, id, 0, 0});
}

void request_log_record(struct request_log *log, uint32_t id, uint64_t stream)
{
    add(log, (struct request){REQUEST_RECORD, id, 0, stream});
}

void request_log_clear(struct request_log *log)
{
    free(log->requests);
    free(log->sizes);
    memset(log, 0, sizeof *log);
}

/* --- from text --- */

struct names {
    const char *path;
    struct vs_map ids; /* address -> id + 1, of what is alive */
};

static _Noreturn void bad(const struct names *names, const char *what, uint64_t addr)
{
    fprintf(stderr, "%s: %s: %llu\n", names->path, what, (unsigned long long)addr);
    exit(2);
}

static void name_block(struct names *names, uint64_t addr, uint32_t id)
{
    if (!addr || vs_map_get(&names->ids, addr))
        bad(names, "allocated twice", addr);
    if (vs_map_put(&names->ids, addr, id + UINT64_C(1)))
        bad(names, "no memory", addr);
}

static uint32_t named(struct names *names, uint64_t addr)
{
    uint64_t *id = addr ? vs_map_get(&names->ids, addr) : NULL;
    if (!id)
        bad(names, "not alive", addr);
    return (uint32_t)(*id - 1);
}

void request_log_load(const char *path, struct request_log *log)
{
    struct names names = {path, {0}};
    struct replay_log text;
    memset(log, 0, sizeof *log);
    replay_load(path, &text);
    for (size_t i = 0; i < text.segment_count; i++) {
        const struct replay_segment *s = &text.segments[i];
        uint64_t addr = s->addr;
        for (size_t k = s->first_block; k < s->first_block + s->block_count; k++) {
            const struct vs_block_layout *b = &text.blocks[k];
            if (b->live)
                name_block(&names, addr, request_log_alloc(log, b->requested, s->stream));
            addr += b->size;
        }
    }
    log->initial = log->count;
    for (size_t i = 0; i < text.event_count; i++) {
        const struct replay_event *e = &text.events[i];
        if (e->kind == REPLAY_ALLOC) {
            name_block(&names, e->addr, request_log_alloc(log, e->size, e->stream));
        } else if (e->kind == REPLAY_FREE) {
            request_log_free_block(log, named(&names, e->addr));
            vs_map_remove(&names.ids, e->addr, NULL);
        } /* segment events of the recorded allocator are not actions of the program */
    }
    vs_map_free(&names.ids);
    replay_log_free(&text);
}

/* --- figures --- */

uint64_t request_log_peak(const struct request_log *log)
{
    uint64_t live = 0, peak = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct request *r = &log->requests[i];
        if (r->kind == REQUEST_ALLOC)
            live += r->size;
        else if (r->kind == REQUEST_FREE)
            live -= log->sizes[r->id];
        if (live > peak)
            peak = live;
    }
    return peak;
}

uint64_t request_log_hash(const struct request_log *log)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < log->count; i++) {
        const struct request *r = &log->requests[i];
        uint64_t words[] = {(uint64_t)r->kind, r->id, r->size, r->stream};
        for (size_t k = 0; k < 4; k++)
            hash = (hash ^ words[k]) * UINT64_C(0x100000001b3);
    }
    return hash;
}
