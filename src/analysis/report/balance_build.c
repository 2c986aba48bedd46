/* SPDX-License-Identifier: Apache-2.0
 *
 * Each part comes from one source in the replay, so that nothing is counted twice: live bytes and
 * the cache from allocations and segments, pools and graphs from the driver's reserved figures,
 * contexts and modules from measurements, the rest from the device's free memory. The driver
 * allocates memory in pages of 2 MiB, which small requests share: the number of pages follows from
 * the addresses. */
#include "analysis/report/balance_build.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/naming/library.h"
#include "analysis/report/summary.h"
#include "analysis/state/driver_pages.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

/* --- pages --- */

/* Small pieces, and the pages that contain them. */
struct small {
    uint64_t *pages, bytes;
    size_t count, capacity;
};

/* The memory that a piece takes beyond its size; for small ones, collects the pages. */
static void round_one(uint64_t addr, uint64_t size, struct vs_balance *out,
                      struct small *small)
{
    if (size >= VS_DRIVER_SMALL) {
        out->rounding += vs_driver_pages(size) - size;
        return;
    }
    vs_vec_room(&small->pages, &small->capacity, small->count + 2, sizeof *small->pages);
    if (!size)
        return;
    small->pages[small->count++] = addr / VS_DRIVER_PAGE;
    if ((addr + size - 1) / VS_DRIVER_PAGE != addr / VS_DRIVER_PAGE)
        small->pages[small->count++] = addr / VS_DRIVER_PAGE + 1;
    small->bytes += size;
}

static void fill_rounding(const struct vs_replay *replay, unsigned account,
                          struct vs_balance *out)
{
    struct small small = {0};
    for (size_t i = 0; i < replay->device_live.slots; i++) {
        const struct vs_live *live = &replay->device_live.items[i];
        if (!live->used || live->device != account)
            continue;
        /* The address of an array is a handle: small arrays are assumed to use the room left by
         * other small pieces, and then as few pages as possible. */
        if (live->family == VS_FAMILY_ARRAY && live->size < VS_DRIVER_SMALL) {
            out->small_arrays++;
            out->small_array_bytes += live->size;
        } else if (!live->in_segment && (live->family == VS_FAMILY_DEVICE ||
                                         live->family == VS_FAMILY_ARRAY ||
                                             live->family == VS_FAMILY_VMM)) {
            round_one(live->addr, live->size, out, &small);
        }
    }
    for (size_t i = 0; i < replay->segments.count; i++) {
        const struct vs_replay_segment *segment = &replay->segments.items[i];
        if (segment->device == account && !segment->view)
            round_one(segment->addr, segment->size, out, &small);
    }
    vs_vec_sort(small.pages, small.count, sizeof *small.pages, vs_order_u64);
    uint64_t held = 0, needed = small.bytes + out->small_array_bytes;
    for (size_t i = 0; i < small.count; i++)
        held += i == 0 || small.pages[i] != small.pages[i - 1] ? VS_DRIVER_PAGE : 0;
    if (needed > held)
        held += vs_driver_pages(needed - held);
    out->rounding += held - needed;
    free(small.pages);
}

/* --- libraries --- */

size_t vs_site_library(const struct vs_summary *summary, struct vs_site_libraries *set,
                       uint32_t site)
{
    const struct vs_replay *replay = summary->replay;
    char buffer[VS_LIBRARY_NAME_MAX];
    bool framework;
    if (!set->of_site)
        set->of_site = vs_xcalloc(replay->sites.count + 1, sizeof *set->of_site);
    if (set->of_site[site])
        return set->of_site[site] - 1;
    const char *name =
        vs_summary_library(summary, replay->sites.items[site].stack, buffer, &framework);
    size_t i = 0;
    while (i < set->count && strcmp(set->items[i].name, name) != 0)
        i++;
    if (i == set->count) {
        vs_vec_room(&set->items, &set->capacity, i + 1, sizeof *set->items);
        set->items[set->count++] = (struct vs_balance_library){
            .name = vs_text_copy(summary->memory, name), .framework = framework};
    }
    set->items[i].framework |= replay->sites.items[site].backing;
    set->of_site[site] = (uint32_t)i + 1;
    return i;
}

/* The libraries with live memory, and a row for that without events of its own. */
static void fill_libraries(const struct vs_summary *summary, unsigned account,
                           struct vs_balance *out)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_account *a = replay->accounts[account];
    struct vs_site_libraries set = {0};
    uint64_t known = 0, count = 0, outside = 0;
    bool any = false;
    for (size_t i = 0; i < replay->device_live.slots; i++) {
        const struct vs_live *live = &replay->device_live.items[i];
        if (!live->used || live->device != account || !live->counted)
            continue;
        size_t at = vs_site_library(summary, &set, live->site);
        set.items[at].bytes += live->size;
        set.items[at].count++;
        known += live->size;
    }
    for (int level = VS_LEVEL_DEVICE; level <= VS_LEVEL_BLOCK; level++)
        for (int why = 0; why < VS_WHY_COUNT; why++)
            count += a->unrecorded[level][why].allocs - a->unrecorded[level][why].frees;
    if (vs_recording_partial(&replay->recording) && a->sums.now.allocated > known)
        VS_VEC_ADD(set.items, set.count, set.capacity,
                   (struct vs_balance_library){.name = "(not recorded individually)",
                                               .bytes = a->sums.now.allocated - known,
                                               .count = count <= INT64_MAX ? count : 0});
    VS_SORT(set.items, set.count, VS_DOWN(bytes), VS_UP(name));
    struct vs_balance_library *kept = vs_xarena(summary->memory, (set.count + 1) * sizeof *kept);
    for (size_t i = 0; i < set.count; i++) {
        kept[i] = set.items[i];
        any |= kept[i].framework;
        outside += kept[i].framework ? 0 : kept[i].bytes;
    }
    free(set.items);
    free(set.of_site);
    out->libraries = kept;
    out->library_count = set.count;
    out->outside_framework = any ? outside : 0;
}

void vs_balance_build(const struct vs_summary *summary, unsigned index,
                      const struct vs_reading *reading, struct vs_balance *out)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_account *account = replay->accounts[index];
    *out = (struct vs_balance){.event = reading->event,
                               .time_ns = vs_replay_since(replay, reading->time_ns),
                               .total = reading->total ? reading->total : account->total_bytes,
                               .free = reading->free,
                               .known = reading->total >= reading->free && reading->total > 0};
    out->place = vs_summary_place(summary, reading->place);
    if (out->known)
        out->used = out->total - out->free;
    for (int f = 0; f < VS_FAMILY_COUNT; f++) {
        if (vs_family_on_device((uint64_t)f) && f != VS_FAMILY_MANAGED)
            out->live[f] = account->sums.now.family[f];
    }
    out->managed_live = account->sums.now.family[VS_FAMILY_MANAGED];
    out->imported = account->sums.now.family[VS_FAMILY_IPC];
    uint64_t in_blocks = vs_ledger_block_bytes(&account->sums);
    uint64_t graphs = account->sums.graph_driver;
    out->cached =
        account->sums.segment_bytes > in_blocks ? account->sums.segment_bytes - in_blocks : 0;
    /* memory shared by launches counts once */
    if (graphs && out->live[VS_FAMILY_GRAPH] > graphs)
        out->live[VS_FAMILY_GRAPH] = graphs;
    if (account->sums.graph_reserved > out->live[VS_FAMILY_GRAPH] && graphs)
        out->graphs = graphs - out->live[VS_FAMILY_GRAPH];
    out->framework_allocated = account->framework.now.allocated;
    const struct vs_device_usage *usage = &account->usage;
    out->pools_known = usage->pools_known;
    if (usage->pools_known && usage->pools > out->live[VS_FAMILY_ASYNC])
        out->pools = usage->pools - out->live[VS_FAMILY_ASYNC];
    for (size_t i = 0; i < usage->context_count; i++) {
        const struct vs_usage_context *context = &usage->contexts[i];
        out->context_count++;
        out->contexts_unmeasured += !context->measured;
        out->contexts += (uint64_t)context->bytes[VS_OVERHEAD_CONTEXT];
        out->modules += context->bytes[VS_OVERHEAD_MODULE];
        out->limits += context->bytes[VS_OVERHEAD_LIMIT];
        if (context->how > out->contexts_how)
            out->contexts_how = context->how;
    }
    out->own_known = usage->own_known;
    out->own = usage->own;
    out->others_how = usage->others_how;
    out->others_known = usage->others_seen && usage->others_how != VS_USAGE_UNATTRIBUTED &&
                        usage->others_how != VS_USAGE_NO_BYTES;
    if (usage->others_seen) {
        out->others_count = usage->others_count;
        out->process_count = usage->process_count;
        memcpy(out->process, usage->process, sizeof out->process);
        out->others = out->others_known ? usage->others : 0;
    }
    fill_rounding(replay, index, out);
    out->rounding_partial = vs_recording_partial(&replay->recording);
    fill_libraries(summary, index, out);
    /* the rest after all other parts; managed memory may be in it */
    if (!out->known)
        out->used = vs_balance_parts(out);
    int64_t rest = (int64_t)(out->used - vs_balance_parts(out));
    if (rest > 0)
        out->managed = (uint64_t)rest < out->managed_live ? (uint64_t)rest : out->managed_live;
    out->unexplained = rest - (int64_t)out->managed;
}
