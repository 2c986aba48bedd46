/* SPDX-License-Identifier: Apache-2.0
 *
 * See held.h: gathers the live blocks of a device that pass the filter, and their sums that need
 * the whole list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/growth/growth.h"
#include "analysis/report/held.h"
#include "analysis/report/site_text.h"
#include "analysis/report/summary.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

static const char *const by_names[VS_BY_COUNT] = {"site", "kind", "phase", "step", "library",
                                                  "size", "age", "op", "module"};

const char *vs_by_name(enum vs_by by)
{
    return by < VS_BY_COUNT ? by_names[by] : "";
}

enum vs_by vs_by_parse(const char *word)
{
    int by = 0;
    while (by < VS_BY_COUNT && strcmp(by_names[by], word) != 0)
        by++;
    return (enum vs_by)by;
}

bool vs_held_phase_matches(const char *path, const char *wanted)
{
    size_t length = strlen(wanted);
    bool found = false;
    for (const char *at = path; !found && length && (at = strstr(at, wanted)) != NULL; at++) {
        bool begins = at == path || (at - path >= 3 && memcmp(at - 3, " / ", 3) == 0);
        found = begins && (!at[length] || strncmp(at + length, " / ", 3) == 0);
    }
    return found;
}

bool vs_held_phase_is(const struct vs_replay *replay, uint32_t phase, const char *wanted)
{
    char *path = vs_phases_path(&replay->phases, phase);
    bool is = path && vs_held_phase_matches(path, wanted);
    free(path);
    return is;
}

/* Answers that are the same for all blocks of a site, or of a phase: 0 not asked yet, 1 no, 2 yes. */
struct held_answers {
    unsigned char *site, *phase;
};

static bool site_matches(const struct vs_summary *summary, uint32_t index, const regex_t *wanted)
{
    struct vs_report_site site = {0};
    char text[VS_CHAIN_TEXT_MAX];
    const struct vs_site *from = &summary->replay->sites.items[index];
    vs_summary_frames(summary, from->stack, from->mark, &site);
    for (size_t i = 0; i < site.frame_count; i++) {
        struct vs_report_site one = {.frames = site.frames + i, .frame_count = 1};
        if (regexec(wanted, vs_text_site(text, &one, 1), 0, NULL, 0) == 0)
            return true;
    }
    const char *api =
        vs_reader_string(summary->replay->reader, from->api);
    return site.frame_count == 0 && regexec(wanted, api ? api : "", 0, NULL, 0) == 0;
}

bool vs_held_site_seen(const struct vs_summary *summary, const regex_t *wanted)
{
    for (uint32_t i = 0; i < summary->replay->sites.count; i++)
        if (site_matches(summary, i, wanted))
            return true;
    return false;
}

static bool passes(const struct vs_summary *summary, const struct vs_held_filter *filter,
                   struct held_answers *answers, const struct vs_held_block *block)
{
    if (block->size < filter->min_bytes || !vs_held_in_steps(filter, block->place))
        return false;
    if (filter->phase) {
        unsigned char *answer = &answers->phase[block->place.phase];
        if (!*answer)
            *answer = vs_held_phase_is(summary->replay, block->place.phase, filter->phase) ? 2 : 1;
        if (*answer == 1)
            return false;
    }
    if (!filter->site)
        return true;
    unsigned char *answer = &answers->site[block->site];
    if (!*answer)
        *answer = site_matches(summary, block->site, filter->site) ? 2 : 1;
    return *answer == 2;
}

/* The blocks of *account* at the user's level that pass *filter* (NULL: all); *others* receives those
 * that do not, unless it is NULL. */
static void gather(const struct vs_summary *summary, unsigned account,
                   const struct vs_held_filter *filter, const struct vs_growth_steps *steps,
                   struct vs_held_blocks *out, struct vs_held_blocks *others)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_live *live;
    size_t cursor = 0;
    struct held_answers answers = {vs_xcalloc(replay->sites.count + 1, 1),
                                   vs_xcalloc(replay->phases.count + 1, 1)};
    while ((live = vs_user_live_next(replay, account, &cursor)) != NULL) {
        struct vs_held_block block = {
            .addr = live->addr, .size = live->size, .requested = live->requested,
            .time_ns = live->time_ns, .epoch = live->epoch, .site = live->site,
            .place = live->place, .tensor = live->level == VS_LEVEL_FRAMEWORK};
        if (!live->counted)
            continue;
        vs_found_step_place(steps, live->time_ns, &block.place);
        out->all_bytes += live->size;
        out->all_blocks++;
        if (live->size > out->largest)
            out->largest = live->size;
        struct vs_held_blocks *to = !filter || passes(summary, filter, &answers, &block) ? out
            : others;
        if (to)
            VS_VEC_ADD(to->items, to->count, to->capacity, block);
    }
    free(answers.site);
    free(answers.phase);
}

/* The rows by call site of *blocks*, of their bytes or, with *rounding*, of those beyond the
 * requested ones. */
static void sum_sites(const struct vs_summary *summary, const struct vs_held_blocks *blocks,
                      bool rounding, const struct vs_report_sites **out)
{
    size_t site_count = summary->replay->sites.count, count = 0;
    uint64_t weight = vs_recording_weight(&summary->replay->recording);
    struct vs_summary_row *rows = vs_xcalloc(site_count + 1, sizeof *rows);
    struct vs_report_sites *sites = vs_xarena(summary->memory, sizeof *sites);
    for (size_t i = 0; i < blocks->count; i++) {
        const struct vs_held_block *block = &blocks->items[i];
        uint64_t bytes = rounding ? block->size - block->requested : block->size;
        if (!bytes || (rounding && block->size < block->requested))
            continue;
        rows[block->site].site = block->site;
        rows[block->site].bytes += bytes * weight;
        rows[block->site].count += weight;
    }
    for (size_t i = 0; i < site_count; i++)
        if (rows[i].bytes)
            rows[count++] = rows[i];
    vs_summary_rows(summary, rows, count, sites);
    sites->weight = weight;
    *out = sites;
    free(rows);
}

void vs_device_uses_event(struct vs_device_uses *uses, const struct vs_event *event)
{
    if (event->kind != VS_EVENT_kernel && event->kind != VS_EVENT_memcpy &&
        event->kind != VS_EVENT_memset)
        return;
    const struct vs_event_activity *a = &event->activity;
    struct vs_device_use *use = uses->items;
    while (use < uses->items + uses->count && use->device != a->device)
        use++;
    if (use == uses->items + VS_DEVICES_MAX)
        return;
    if (use == uses->items + uses->count) {
        uses->count++;
        *use = (struct vs_device_use){a->device, a->start_ns, a->end_ns};
    }
    if (a->start_ns < use->first_ns)
        use->first_ns = a->start_ns;
    if (a->end_ns > use->last_ns)
        use->last_ns = a->end_ns;
}

/* Blocks that were allocated after the device's last kernel or copy. Which memory a kernel or copy
 * used is not recorded, so that nothing is known of the others. */
static void fill_unused(const struct vs_summary *summary, unsigned account,
                        const struct vs_device_uses *uses,
                        const struct vs_held_blocks *blocks, struct vs_held *out)
{
    struct vs_held_blocks unused = {0};
    const struct vs_replay *replay = summary->replay;
    const struct vs_device_use *use = NULL;
    for (size_t i = 0; uses && i < uses->count; i++)
        if (uses->items[i].device == replay->accounts[account]->device)
            use = &uses->items[i];
    out->activity_known = use != NULL;
    if (!use || use->last_ns >= replay->now_ns)
        return;
    for (size_t i = 0; i < blocks->count; i++) {
        if (blocks->items[i].time_ns <= use->last_ns)
            continue;
        out->unused_bytes += blocks->items[i].size;
        out->unused_blocks++;
        VS_VEC_ADD(unused.items, unused.count, unused.capacity, blocks->items[i]);
    }
    if (unused.count)
        sum_sites(summary, &unused, false, &out->unused);
    free(unused.items);
}

/* The rows of the tensors among *blocks*. */
static void fill_modules(const struct vs_summary *summary, const struct vs_kinds_table *kinds,
                         const struct vs_held_blocks *blocks, struct vs_module_rows *out)
{
    struct vs_kinds_table part = *kinds;
    part.blocks = vs_xcalloc(blocks->count + 1, sizeof *part.blocks);
    part.block_count = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        const struct vs_kind_block *found =
            blocks->items[i].tensor ? vs_kinds_find(kinds, kinds->device, blocks->items[i].addr) : NULL;
        if (found)
            part.blocks[part.block_count++] = *found;
    }
    vs_module_rows(summary->memory, &part, out);
    free(part.blocks);
}

void vs_held_build(const struct vs_summary *summary, unsigned account,
                   const struct vs_held_request *request, struct vs_held *out)
{
    const struct vs_replay *replay = summary->replay;
    struct vs_held_blocks blocks = {0}, every = {0}, others = {0};
    *out = (struct vs_held){.known = true, .tensors = vs_user_level(replay, account) == VS_LEVEL_FRAMEWORK,
                            .event = replay->events, .place = "",
                            .time_ns = vs_replay_since(replay, replay->now_ns)};
    gather(summary, account, request->filter, request->steps, &blocks, request->others ? &others : NULL);
    out->all_bytes = blocks.all_bytes;
    out->all_blocks = blocks.all_blocks;
    out->largest = blocks.largest;
    for (size_t i = 0; i < blocks.count; i++) {
        const struct vs_held_block *block = &blocks.items[i];
        out->bytes += block->size;
        out->rounding_bytes += block->size > block->requested ? block->size - block->requested : 0;
    }
    out->blocks = blocks.count;
    sum_sites(summary, &blocks, false, &out->sites);
    sum_sites(summary, &blocks, true, &out->rounding);
    for (int by = VS_BY_SITE + 1; by < VS_BY_OP; by++)
        vs_held_sum(summary, &blocks, request->kinds, (enum vs_by)by, &out->by[by]);
    if (request->kinds)
        fill_modules(summary, request->kinds, &blocks, &out->modules);
    if (request->whole)
        vs_held_operations(summary, request->whole, account, &blocks, &out->by[VS_BY_OP]);
    fill_unused(summary, account, request->uses, &blocks, out);
    if (request->others)
        sum_sites(summary, &others, false, &out->others);
    if (request->picture) {
        gather(summary, account, NULL, NULL, &every, NULL);
        vs_held_picture(summary, account, &every, out);
    }
    free(blocks.items);
    free(every.items);
    free(others.items);
}
