/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The plan is one sequence of entries that repeats: the last entry of the period is
 * followed by its first. A position is the number of the entry expected next; it is indexed by the
 * VS_FOLLOW_RUN entries before it in that sequence; in the period the period's end comes before its
 * first entry. */
#include "allocator/plan/plan_follow.h"

#include <string.h>

#include "base/vs_arena.h"

#define NOWHERE UINT32_MAX
#define CANDIDATES_MAX 4096 /* positions with the same hash that are tried */

static uint32_t granules_of(uint64_t bytes)
{
    uint64_t granules = (bytes + VS_PLAN_GRANULE - 1) / VS_PLAN_GRANULE;
    return granules < UINT32_MAX ? (uint32_t)granules : UINT32_MAX;
}

/* The position after *at*: the period's start after its end. */
static uint32_t after(const struct vs_follow *f, uint32_t at)
{
    at++;
    return at == f->count && f->stream->period ? f->stream->prologue : at;
}

static uint64_t mix(uint64_t hash, uint32_t granules)
{
    return (hash ^ granules) * UINT64_C(0x9fb21c651e98df25);
}

static uint32_t slot_of(const struct vs_follow *f, uint64_t hash)
{
    return (uint32_t)(hash >> 32) & f->head_mask;
}

static uint64_t hash_of_recent(const struct vs_follow *f)
{
    uint64_t hash = 0;
    for (uint64_t i = 0; i < VS_FOLLOW_RUN; i++)
        hash = mix(hash, f->recent[(f->requests + i) % VS_FOLLOW_RUN]);
    return hash;
}

/* The entry before *at* on the way to *end*: within the period if *end* is. */
static uint32_t before(const struct vs_follow *f, uint32_t at, uint32_t end)
{
    if (at == f->stream->prologue && end >= at)
        return f->count - 1;
    return at ? at - 1 : NOWHERE;
}

/* Whether the recent requests equal the entries up to *end*. */
static bool recent_end_with(const struct vs_follow *f, uint32_t end)
{
    uint32_t at = end;
    for (uint64_t i = 1; i <= VS_FOLLOW_RUN; i++) {
        if (at == NOWHERE ||
            f->entries[at].granules != f->recent[(f->requests - i) % VS_FOLLOW_RUN])
            return false;
        at = before(f, at, end);
    }
    return true;
}

static void enter(struct vs_follow *f, uint64_t hash, uint32_t end)
{
    uint32_t *head = &f->heads[slot_of(f, hash)];
    f->links[end] = *head;
    *head = end;
}

/* The hash of the run that ends with entry *end*; false when it is too short. */
static bool hash_of_run(const struct vs_follow *f, uint32_t end, uint64_t *hash)
{
    uint32_t run[VS_FOLLOW_RUN], at = end;
    for (uint32_t i = VS_FOLLOW_RUN; i-- > 0; at = before(f, at, end)) {
        if (at == NOWHERE)
            return false;
        run[i] = f->entries[at].granules;
    }
    *hash = 0;
    for (uint32_t i = 0; i < VS_FOLLOW_RUN; i++)
        *hash = mix(*hash, run[i]);
    return true;
}

static size_t table_bytes(const struct vs_follow *f)
{
    return ((size_t)f->head_mask + 1 + f->count) * sizeof(uint32_t);
}

enum vs_err vs_follow_init(struct vs_follow *f, const struct vs_plan *plan, uint32_t stream)
{
    uint64_t hash;
    memset(f, 0, sizeof *f);
    f->stream = &plan->streams[stream];
    f->entries = plan->entries + f->stream->first;
    f->count = f->stream->prologue + f->stream->period;
    f->head_mask = 255;
    while (f->head_mask < f->count)
        f->head_mask = 2 * f->head_mask + 1;
    f->heads = vs_pages_map(table_bytes(f));
    if (!f->heads)
        return VS_ERR_NOMEM;
    f->links = f->heads + f->head_mask + 1;
    memset(f->heads, 0xff, table_bytes(f));
    for (uint32_t i = 0; i < f->count; i++) {
        if (hash_of_run(f, i, &hash))
            enter(f, hash, i);
    }
    return VS_OK;
}

void vs_follow_free(struct vs_follow *f)
{
    if (f->heads)
        vs_pages_unmap(f->heads, table_bytes(f));
    f->heads = NULL;
}

/* How far entry *at* is ahead of the expected one; around the period if it is behind. */
static uint64_t distance(const struct vs_follow *f, uint32_t at)
{
    if (at >= f->next)
        return at - f->next;
    if (at >= f->stream->prologue && f->stream->period)
        return (uint64_t)f->count - f->next + at - f->stream->prologue;
    return UINT64_C(1) << 32 | at; /* only after a new start */
}

/* The position that matches the recent requests; NOWHERE. */
static uint32_t find_place(const struct vs_follow *f)
{
    uint32_t best = NOWHERE, looked = 0;
    if (f->requests < VS_FOLLOW_RUN)
        return NOWHERE;
    uint32_t at = f->heads[slot_of(f, hash_of_recent(f))];
    for (; at != NOWHERE && looked < CANDIDATES_MAX; at = f->links[at], looked++) {
        if (recent_end_with(f, at) && (best == NOWHERE || distance(f, at) < distance(f, best)))
            best = at;
    }
    return best;
}

/* The entry of this size among those expected next; NOWHERE. */
static uint32_t find_near(const struct vs_follow *f, uint32_t granules)
{
    uint32_t at = f->next;
    for (uint32_t i = 0; i <= VS_FOLLOW_SKIP && at < f->count; i++) {
        if (f->entries[at].granules == granules)
            return at;
        at = after(f, at);
    }
    return NOWHERE;
}

static const struct vs_plan_entry *follow_to(struct vs_follow *f, uint32_t at)
{
    f->next = after(f, at);
    f->extra = 0;
    f->lost = false;
    f->followed++;
    return &f->entries[at];
}

const struct vs_plan_entry *vs_follow_request(struct vs_follow *f, uint64_t bytes)
{
    uint32_t granules = granules_of(bytes), at = NOWHERE;
    f->recent[f->requests++ % VS_FOLLOW_RUN] = granules;
    if (!f->lost) {
        if (f->next < f->count && f->entries[f->next].granules == granules)
            return follow_to(f, f->next);
        at = find_near(f, granules);
        if (at == NOWHERE) {
            f->deviated++;
            f->lost = ++f->extra > VS_FOLLOW_EXTRA;
            return NULL;
        }
    } else {
        at = find_place(f);
        if (at == NOWHERE) {
            f->deviated++;
            return NULL;
        }
    }
    f->resynchronised++;
    return follow_to(f, at);
}
