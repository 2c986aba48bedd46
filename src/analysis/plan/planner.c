/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The time of a stream is the number of its requests so far. A block of the period
 * gets the longest life it had in any repetition; one that outlives a whole period would exist
 * twice and is not placed. Blocks of the prologue that are freed within the first repetition keep
 * their memory until the same time of every repetition; later ones keep it permanently. Requests
 * after the last repetition are not planned, because their time is unpredictable. */
#include "analysis/plan/planner.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "analysis/plan/interval_pack.h"
#include "analysis/state/period.h"
#include "base/reading/vs_vec.h"
#include "base/vs_map.h"

#define NEVER UINT32_MAX
#define PAGE (UINT64_C(2) << 20)

struct planner_lane { /* one stream */
    uint64_t stream;
    uint32_t *sizes, *deaths; /* by request: granules; requests of the lane when freed */
    size_t kept, size_capacity, death_capacity; /* the first VS_PLANNER_REQUESTS_MAX */
    uint64_t count, live, peak;                 /* all requests; granules in use */
};

struct alive {
    uint64_t block, bytes;
    uint32_t lane, request; /* UINT32_MAX: not kept */
    bool shared; /* used by other streams */
};

struct late { /* a free that takes effect when the planner's clock reaches its time */
    uint64_t due, granules;
    uint32_t lane, request;
};

struct vs_planner {
    struct planner_lane *lanes;
    size_t lane_count, lane_capacity;
    struct vs_map names; /* block -> index in alive + 1 */
    struct alive *alive;
    size_t alive_count, alive_capacity;
    struct late *late;
    size_t late_first, late_count, late_capacity;
    uint64_t clock, requests, live_bytes, peak_bytes;
    uint64_t unplanned_bytes; /* 0: unknown */
};

enum vs_err vs_planner_open(struct vs_planner **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? VS_OK : VS_ERR_NOMEM;
}

void vs_planner_close(struct vs_planner *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->lane_count; i++) {
        free(p->lanes[i].sizes);
        free(p->lanes[i].deaths);
    }
    free(p->lanes);
    vs_map_free(&p->names);
    free(p->alive);
    free(p->late);
    free(p);
}

/* --- recording --- */

static uint64_t granules_of(uint64_t bytes)
{
    return (bytes + VS_PLAN_GRANULE - 1) / VS_PLAN_GRANULE;
}

static void kill_request(struct vs_planner *p, uint32_t lane, uint32_t request, uint64_t granules)
{
    struct planner_lane *l = &p->lanes[lane];
    l->live -= granules;
    if (request < l->kept)
        l->deaths[request] = l->count < NEVER ? (uint32_t)l->count : NEVER - 1;
}

static void tick(struct vs_planner *p)
{
    p->clock++;
    while (p->late_first < p->late_count && p->late[p->late_first].due <= p->clock) {
        const struct late *late = &p->late[p->late_first++];
        kill_request(p, late->lane, late->request, late->granules);
    }
}

static enum vs_err find_lane(struct vs_planner *p, uint64_t stream, uint32_t *out)
{
    size_t i = 0;
    while (i < p->lane_count && p->lanes[i].stream != stream)
        i++;
    if (i == p->lane_count) {
        enum vs_err err =
            vs_vec_grow(&p->lanes, &p->lane_capacity, i + 1, sizeof *p->lanes);
        if (err)
            return err;
        p->lanes[p->lane_count++].stream = stream;
    }
    *out = (uint32_t)i;
    return VS_OK;
}

/* *request*: its number among the kept ones, UINT32_MAX for a later one. */
static enum vs_err add_request(struct planner_lane *lane, uint64_t bytes, uint32_t *request)
{
    uint64_t granules = granules_of(bytes);
    *request = UINT32_MAX;
    if (granules >= VS_PLAN_NONE)
        return VS_ERR_LIMIT;
    if (lane->kept < VS_PLANNER_REQUESTS_MAX) {
        enum vs_err err = vs_vec_grow(&lane->sizes, &lane->size_capacity, lane->kept + 1,
                                      sizeof *lane->sizes);
        if (!err)
            err = vs_vec_grow(&lane->deaths, &lane->death_capacity, lane->kept + 1,
                              sizeof *lane->deaths);
        if (err)
            return err;
        lane->sizes[lane->kept] = (uint32_t)granules;
        lane->deaths[lane->kept] = NEVER;
        *request = (uint32_t)lane->kept++;
    }
    lane->count++;
    lane->live += granules;
    if (lane->live > lane->peak)
        lane->peak = lane->live;
    return VS_OK;
}

enum vs_err vs_planner_alloc(struct vs_planner *p, uint64_t block, uint64_t bytes, uint64_t stream)
{
    uint32_t lane, request;
    if (!bytes)
        return VS_OK;
    if (!block || vs_map_get(&p->names, block))
        return VS_ERR_STATE;
    enum vs_err err = find_lane(p, stream, &lane);
    if (!err)
        err = vs_vec_grow(&p->alive, &p->alive_capacity, p->alive_count + 1, sizeof *p->alive);
    if (!err)
        err = vs_map_put(&p->names, block, p->alive_count + 1);
    if (err)
        return err;
    tick(p);
    err = add_request(&p->lanes[lane], bytes, &request);
    p->alive[p->alive_count++] = (struct alive){block, bytes, lane, request, false};
    p->requests++;
    p->live_bytes += bytes;
    if (p->live_bytes > p->peak_bytes)
        p->peak_bytes = p->live_bytes;
    return err;
}

enum vs_err vs_planner_record(struct vs_planner *p, uint64_t block)
{
    uint64_t *at = block ? vs_map_get(&p->names, block) : NULL;
    if (!at)
        return VS_ERR_NOT_FOUND;
    tick(p);
    p->alive[*at - 1].shared = true;
    return VS_OK;
}

enum vs_err vs_planner_free(struct vs_planner *p, uint64_t block)
{
    uint64_t at;
    if (!block || !vs_map_remove(&p->names, block, &at))
        return VS_ERR_NOT_FOUND;
    tick(p);
    struct alive gone = p->alive[--at], moved = p->alive[--p->alive_count];
    p->live_bytes -= gone.bytes;
    if (at < p->alive_count) { /* the last one moves here, with its name */
        p->alive[at] = moved;
        *vs_map_get(&p->names, moved.block) = at + 1;
    }
    uint64_t granules = granules_of(gone.bytes);
    if (!gone.shared) {
        kill_request(p, gone.lane, gone.request, granules);
        return VS_OK;
    }
    enum vs_err err =
        vs_vec_grow(&p->late, &p->late_capacity, p->late_count + 1, sizeof *p->late);
    if (!err)
        p->late[p->late_count++] =
            (struct late){p->clock + VS_PLANNER_LAG, granules, gone.lane, gone.request};
    return err;
}

void vs_planner_set_unplanned(struct vs_planner *p, uint64_t bytes)
{
    p->unplanned_bytes = bytes;
}

/* --- one stream --- */

/* The life of the blocks created at *place* of the period: the longest of all repetitions. NEVER
 * when one that had a whole period of time was not freed. */
static uint32_t life_in_period(const struct planner_lane *lane, const struct vs_period *period,
                               uint32_t place)
{
    uint32_t longest = 1;
    for (uint32_t r = 0; r < period->repeats; r++) {
        uint32_t request = period->prologue + r * period->length + place;
        uint32_t death = lane->deaths[request];
        if (death == NEVER && lane->kept - request > period->length)
            return NEVER;
        if (death == NEVER) /* the trace ended first */
            continue;
        uint32_t life = death > request ? death - request : 1;
        longest = life > longest ? life : longest;
    }
    return longest;
}

static void set_prologue(const struct planner_lane *lane, const struct vs_period *period,
                         struct vs_interval *blocks, uint32_t count)
{
    for (uint32_t i = 0; i < period->prologue; i++) {
        uint32_t death = lane->deaths[i];
        blocks[i].size = lane->sizes[i];
        blocks[i].death = death < count ? death : count;
    }
}

static void set_period(const struct planner_lane *lane, const struct vs_period *period,
                       struct vs_interval *blocks, uint32_t count)
{
    for (uint32_t place = 0; place < period->length; place++) {
        struct vs_interval *b = &blocks[period->prologue + place];
        uint32_t life = life_in_period(lane, period, place);
        uint64_t end = (uint64_t)period->prologue + place + life;
        b->size = life <= period->length ? lane->sizes[period->prologue + place] : 0;
        b->death = end < count ? (uint32_t)end : count;
        b->again = b->size && end > count ? (uint32_t)(end - period->length) : 0;
    }
}

static void fill_entries(const struct planner_lane *lane, const struct vs_interval *blocks,
                         uint32_t count, uint32_t bend, struct vs_plan_entry *entries)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct vs_interval *b = &blocks[i];
        uint32_t life = b->again ? count - i + b->again - bend : b->death - i;
        entries[i] = (struct vs_plan_entry){
            .granules = lane->sizes[i],
            .offset = b->offset,
            .reserved = VS_PLAN_NONE,
            .life = b->death == count && !b->again ? 0 : life,
        };
    }
}

static enum vs_err pack_lane(const struct planner_lane *lane, const struct vs_period *period,
                             uint64_t *budget, struct vs_plan_entry *entries,
                             struct vs_packing *packing)
{
    uint32_t count = period->prologue + period->length;
    uint32_t bend = period->length ? period->prologue : 0;
    struct vs_interval *blocks = calloc(count + 1, sizeof *blocks);
    if (!blocks)
        return VS_ERR_NOMEM;
    set_prologue(lane, period, blocks, count);
    set_period(lane, period, blocks, count);
    enum vs_err err = vs_interval_pack(blocks, count, bend, budget, packing);
    if (!err)
        fill_entries(lane, blocks, count, bend, entries);
    free(blocks);
    return err;
}

/* Planning the repetition is useful only if the peak is part of it, and if blocks that live longer
 * in some repetitions cost little. Sets the fields about the found repetition. */
static struct vs_plan_summary_stream found_of(const struct vs_period *period,
                                              const struct vs_packing *packing, uint64_t peak)
{
    struct vs_plan_summary_stream found = {.found_period = period->length,
                                           .found_repeats = period->repeats};
    if (!period->length) {
        found.why = VS_PLAN_NO_PERIOD;
    } else if (packing->bound < peak) {
        found.why = VS_PLAN_PEAK_OUTSIDE;
        found.found_bytes = packing->bound * VS_PLAN_GRANULE;
    } else if (packing->too_long || packing->peak > peak + peak / 100) {
        found.why = VS_PLAN_LIVES_DIFFER;
        found.found_bytes = packing->peak * VS_PLAN_GRANULE;
    }
    return found;
}

/* Plans a lane into *entries*, which has room for all its kept requests; *out* receives everything
 * except its first entry. */
static enum vs_err plan_lane(const struct planner_lane *lane, bool whole, uint64_t *budget,
                             struct vs_plan_entry *entries, struct vs_plan_stream *out,
                             struct vs_plan_summary *sum, struct vs_plan_summary_stream *summary)
{
    struct vs_period period = {0};
    struct vs_packing packing = {0};
    uint64_t peak = lane->peak;
    enum vs_err err = whole ? VS_OK : vs_period_find(lane->sizes, lane->kept, &period);
    if (!err && period.length)
        err = pack_lane(lane, &period, budget, entries, &packing);
    struct vs_plan_summary_stream tried = {.why = whole ? VS_PLAN_WHOLE : VS_PLAN_REPEATS};
    if (!err && !whole)
        tried = found_of(&period, &packing, peak);
    if (!err && tried.why != VS_PLAN_REPEATS) {
        period = (struct vs_period){(uint32_t)lane->kept, 0, 0};
        err = pack_lane(lane, &period, budget, entries, &packing);
        packing.too_long |= lane->kept < lane->count;
    }
    if (err)
        return err;
    sum->too_long |= packing.too_long;
    *out = (struct vs_plan_stream){0, period.prologue, period.length, period.repeats,
                                   (uint32_t)packing.peak, 0};
    *summary = (struct vs_plan_summary_stream){
        lane->stream, lane->count, 0, period.prologue, period.length, period.repeats,
        peak * VS_PLAN_GRANULE, packing.peak * VS_PLAN_GRANULE, tried.why, tried.found_period,
        tried.found_repeats, tried.found_bytes};
    for (uint32_t i = 0; i < period.prologue + period.length; i++)
        summary->placed += entries[i].offset != VS_PLAN_NONE;
    return VS_OK;
}

/* --- the file --- */

static void place_nothing(struct vs_plan_header *h, struct vs_plan_stream *streams,
                          struct vs_plan_entry *entries, uint32_t lanes,
                          struct vs_plan_summary *summary)
{
    for (uint32_t i = 0; i < h->entry_count; i++)
        entries[i].offset = VS_PLAN_NONE;
    for (uint32_t i = 0; i < lanes; i++) {
        streams[i].granules = 0;
        summary->streams[i].placed = 0;
    }
}

static void set_header(struct vs_plan_header *h, const struct vs_planner *p,
                       const struct vs_plan_identity *identity)
{
    h->magic = VS_PLAN_MAGIC;
    h->version = VS_PLAN_VERSION;
    h->header_bytes = sizeof *h;
    h->device = identity->device;
    h->device_bytes = identity->device_bytes;
    h->live_bytes = p->peak_bytes;
    if (identity->program) {
        size_t length = strnlen(identity->program, sizeof h->program - 1);
        memcpy(h->program, identity->program, length);
    }
}

enum vs_err vs_planner_build(struct vs_planner *p, const struct vs_plan_identity *identity,
                             bool whole, void **bytes, size_t *size,
                             struct vs_plan_summary *summary)
{
    uint32_t lanes = p->lane_count < VS_PLAN_STREAMS_MAX ? (uint32_t)p->lane_count
                                                         : VS_PLAN_STREAMS_MAX;
    size_t total = 0;
    memset(summary, 0, sizeof *summary);
    for (uint32_t i = 0; i < lanes; i++)
        total += p->lanes[i].kept;
    if (total > VS_PLAN_ENTRIES_MAX)
        return VS_ERR_LIMIT;
    struct vs_plan_header *h = calloc(1, sizeof *h + lanes * sizeof(struct vs_plan_stream) +
                                             total * sizeof(struct vs_plan_entry));
    if (!h)
        return VS_ERR_NOMEM;
    struct vs_plan_stream *streams = (void *)(h + 1);
    struct vs_plan_entry *entries = (void *)(streams + lanes);
    enum vs_err err = VS_OK;
    uint64_t budget = VS_INTERVAL_VISITS_MAX;
    set_header(h, p, identity);
    for (uint32_t i = 0; i < lanes && !err; i++) {
        err = plan_lane(&p->lanes[i], whole, &budget, entries + h->entry_count, &streams[i], summary,
                        &summary->streams[i]);
        streams[i].first = h->entry_count;
        h->entry_count += streams[i].prologue + streams[i].period;
        summary->planned_bytes += (summary->streams[i].peak_bytes + PAGE - 1) / PAGE * PAGE;
    }
    if (err) {
        free(h);
        return err;
    }
    summary->no_gain = p->unplanned_bytes && summary->planned_bytes >= p->unplanned_bytes;
    if (summary->no_gain || summary->too_long)
        place_nothing(h, streams, entries, lanes, summary);
    summary->requests = p->requests;
    summary->live_bytes = p->peak_bytes;
    summary->stream_count = h->stream_count = lanes;
    summary->unplanned_streams = p->lane_count - lanes;
    *size = sizeof *h + lanes * sizeof *streams + h->entry_count * sizeof *entries;
    h->file_bytes = *size;
    h->checksum = XXH64(h, *size, 0);
    *bytes = h;
    return VS_OK;
}
