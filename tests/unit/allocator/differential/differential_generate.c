/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws the steps of the differential test: phases of filling and draining, a few repeated sizes
 * among random ones, streams, events, failures of the device. Everything depends only on the seed.
 */
#include "differential.h"

#include <string.h>

uint64_t diff_draw(uint64_t *random, uint64_t below)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (*random * UINT64_C(0x2545f4914f6cdd1d) >> 16) % below;
}

static uint64_t draw(struct diff_run *r, uint64_t below)
{
    return diff_draw(&r->random, below);
}

static bool one_in(struct diff_run *r, uint64_t n)
{
    return draw(r, n) == 0;
}

/* Log-uniform, sometimes exactly a power of two or near one; rarely a special size. */
static uint64_t draw_size(struct diff_run *r)
{
    int largest = r->config->largest;
    uint64_t power = UINT64_C(1) << (draw(r, 3) ? draw(r, 21)
                                                : 20 + draw(r, (uint64_t)largest - 20));
    uint64_t special = draw(r, 64);
    if (!diff_subject_is_ours && special < 2)
        special = 63;
    switch (special) {
    case 0:
        return 0;
    case 1:
        return VS_ALLOCATOR_REQUEST_MAX + draw(r, 2);
    case 2:
        return DIFF_MIB * (draw(r, 2) ? 10 : 20) - draw(r, 2) * 512;
    case 3:
    case 4:
    case 5:
        return DIFF_MIB * (1 + draw(r, UINT64_C(1) << (largest - 21)));
    default:
        break;
    }
    switch (draw(r, 4)) {
    case 0:
        return power;
    case 1:
        return power + 1;
    default:
        return power + draw(r, power);
    }
}

static int live_one(struct diff_run *r)
{
    return r->live[draw(r, (uint64_t)r->live_count)];
}

/* --- the options of a drawn configuration --- */

void diff_draw_config(struct diff_config *config, uint64_t seed)
{
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    struct vs_allocator_config *c = &config->allocator;
    memset(c, 0, sizeof *c);
    for (int i = 0; i < 4; i++)
        (void)diff_draw(&random, 2);
    config->capacity = (250 + diff_draw(&random, 600)) * DIFF_MIB;
    config->largest = 22 + (int)diff_draw(&random, 6);
    config->failures = diff_draw(&random, 2);
    config->fractions = diff_draw(&random, 2);
    config->abandons = diff_draw(&random, 4) == 0;
    config->pools = diff_draw(&random, 2);
    config->alone = diff_draw(&random, 4) == 0;
    c->expandable_segments = diff_draw(&random, 2);
    if (diff_draw(&random, 3) == 0)
        c->large_segment_size = (12 + 2 * diff_draw(&random, 20)) * DIFF_MIB;
    if (diff_draw(&random, 2))
        c->max_split_size = (52 + diff_draw(&random, 40)) * DIFF_MIB;
    if (diff_draw(&random, 2))
        c->max_non_split_rounding = (1 + diff_draw(&random, 40)) * DIFF_MIB;
    if (diff_draw(&random, 2)) {
        for (int i = 0; i < VS_ROUNDUP_SLOTS; i++)
            c->roundup_power2_divisions[i] = 1u << diff_draw(&random, 5);
    }
    if (diff_draw(&random, 2))
        c->memory_fraction = 0.3 + (double)diff_draw(&random, 700) / 1000;
    if (diff_draw(&random, 2))
        c->garbage_collection_threshold = 0.1 + (double)diff_draw(&random, 850) / 1000;
    if (diff_draw(&random, 4) == 0)
        c->reuse = VS_REUSE_AFTER_SYNC;
    config->falling = diff_draw(&random, 2);
    if (diff_draw(&random, 2))
        c->expandable_reserve_bytes = (40 + diff_draw(&random, 300)) * DIFF_MIB;
    c->tie = diff_draw(&random, 2) ? VS_TIE_OLDEST_SEGMENT : VS_TIE_LOWEST_ADDRESS;
}

/* --- steps --- */

static struct diff_step probe(struct diff_run *r)
{
    struct diff_step s = {STEP_PROBE, -1, 0, 0, FAIL_NONE, VS_OK, 0};
    if (!diff_subject_is_ours)
        return (struct diff_step){STEP_RESET_PEAKS, -1, 0, 0, FAIL_NONE, VS_OK, 0};
    if (r->live_count && !one_in(r, 3)) {
        s.target = live_one(r);
        s.a = draw(r, 4096) * 512 - DIFF_MIB;
    } else {
        s.a = (r->config->allocator.expandable_segments ? FAKE_RANGE_BASE : FAKE_BASE) +
              draw(r, 2 * r->config->capacity);
    }
    return s;
}

static uint64_t draw_pool(struct diff_run *r, bool begun)
{
    uint64_t pool = 1 + draw(r, DIFF_POOLS);
    for (int i = 0; i < DIFF_POOLS && begun && !(r->begun_pools & 1u << pool); i++)
        pool = pool % DIFF_POOLS + 1;
    return pool;
}

/* Balanced, so that pools are created and removed: each begin is soon ended. */
static struct diff_step pool_step(struct diff_run *r)
{
    struct diff_step s = {STEP_POOL_RELEASE, -1, draw_pool(r, false), 0, FAIL_NONE, VS_OK, 0};
    uint64_t what = draw(r, 16);
    if (what < 5 && one_in(r, r->begun_pools ? 4 : 1)) {
        s.kind = STEP_POOL_BEGIN;
        s.b = draw(r, 2) ? 0 : draw(r, 1u << DIFF_STREAMS);
    } else if (what < 11) {
        s.kind = STEP_POOL_END;
        s.a = draw_pool(r, true);
    } else if (!diff_subject_is_ours && r->config->allocator.expandable_segments) {
        s.kind = STEP_POOL_END; /* there PyTorch's counts for a pool without users are wrong */
    }
    return s;
}

static struct diff_step plain(struct diff_run *r)
{
    struct diff_step s = {STEP_MALLOC, -1, 0, 0, FAIL_NONE, VS_OK, 0};
    bool room = r->live_count < DIFF_LIVE_MAX && r->requests < DIFF_STEPS_MAX;
    /* phases of filling and draining; the fill level differs between seeds */
    int full = r->requests / 500 % 4 == 3 ? 15 : 40 + (int)(r->seed % 5) * 40;
    if (room && (!r->live_count || (r->live_count < full && !one_in(r, 3)) || one_in(r, 20))) {
        s.target = r->requests++;
        s.a = draw_size(r);
        s.b = draw(r, 3) || r->config->restless ? 0 : draw(r, DIFF_STREAMS);
    } else if (r->live_count) {
        s.kind = STEP_FREE;
        s.target = live_one(r);
    } else {
        s.kind = STEP_EMPTY;
    }
    return s;
}

static struct diff_step any(struct diff_run *r)
{
    uint64_t what = draw(r, 1000);
    if (what < 10 || (r->config->restless && what >= 950)) {
        /* Rare, so that the run makes progress. */
        struct diff_step s = {STEP_EMPTY, -1, 0, 0, FAIL_NONE, VS_OK, 0};
        switch (draw(r, 8)) {
        case 0:
        case 1:
            s.kind = STEP_RESET_PEAKS;
            break;
        case 2:
            s.kind = STEP_RESET_SUMS;
            break;
        case 3:
        case 4:
            if (r->config->fractions) {
                s.kind = STEP_FRACTION;
                s.a = one_in(r, 8) ? 1001 : draw(r, 2) ? 250 * (1 + draw(r, 4)) : draw(r, 1001);
                if (!diff_subject_is_ours)
                    s.a = 1 + s.a % 999; /* 0 and 1 have special meanings */
            }
            break;
        case 5:
            if (r->config->abandons && one_in(r, 4))
                s.kind = STEP_ABANDON;
            break;
        default:
            break;
        }
        return s;
    }
    if (r->config->alone && what < 240)
        return what < 20 ? probe(r) : plain(r);
    if (what < 60)
        return (struct diff_step){STEP_COMPLETE, -1, draw(r, DIFF_STREAMS + 1), draw(r, 1000),
                                  FAIL_NONE, VS_OK, 0};
    if (what < 110 && r->config->allocator.reuse == VS_REUSE_AFTER_SYNC)
        return (struct diff_step){draw(r, 2) ? STEP_SYNC_BEGIN : STEP_SYNC_END, -1, draw(r, 1000),
                                  0, FAIL_NONE, VS_OK, 0};
    if (what < 160)
        return r->config->pools && what % 2 ? pool_step(r) : probe(r);
    /* PyTorch remembers uses during a capture beyond the life of their block */
    if (what < 240 && r->live_count && (diff_subject_is_ours || !r->begun_pools))
        return (struct diff_step){STEP_RECORD, live_one(r),
                                  diff_subject_is_ours ? draw(r, DIFF_STREAMS + 1) : DIFF_STREAMS,
                                  0, FAIL_NONE, VS_OK, 0};
    return plain(r);
}

struct diff_step diff_next(struct diff_run *r)
{
    static const enum vs_err codes[] = {VS_ERR_DEVICE_OOM, VS_ERR_DEVICE, VS_ERR_STATE};
    static const enum diff_failure request[] = {FAIL_ALLOC, FAIL_ALLOC,  FAIL_FREE, FAIL_SYNC,
                                                FAIL_QUERY, FAIL_RECORD, FAIL_MAP,  FAIL_CREATE,
                                                FAIL_UNMAP};
    struct diff_step s = any(r);
    if (r->config->failures && one_in(r, s.kind == STEP_EMPTY ? 3 : 10)) {
        if (s.kind == STEP_MALLOC)
            s.fail = request[draw(r, sizeof request / sizeof *request)];
        else if (s.kind == STEP_FREE)
            s.fail = FAIL_RECORD;
        else if (s.kind == STEP_EMPTY)
            s.fail = draw(r, 2) ? FAIL_FREE : FAIL_UNMAP;
        s.code = s.fail ? codes[draw(r, 3)] : VS_OK;
        s.after = s.fail && one_in(r, 2) ? 1 + draw(r, 4) : 0;
    }
    return s;
}
