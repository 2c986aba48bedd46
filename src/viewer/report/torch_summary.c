/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of torch.cuda.memory_summary() from a trace, in PyTorch's own layout, for those who know it by heart.
 * A block of up to 1 MiB is of the small pool, and a segment of 2 MiB (PyTorch, get_pool and get_allocation_size).
 * Which memory is PyTorch's is known only after a first reading. When PyTorch gets a block back that other streams
 * still use is not in a trace, so neither is what it calls active and non-releasable. */
#include "viewer/report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/state/history_blocks.h"
#include "analysis/state/reading.h"
#include "base/reading/vs_xalloc.h"

#define SMALL_BLOCK (UINT64_C(1) << 20)
#define SMALL_SEGMENT (UINT64_C(2) << 20)
#define CUDA_ERROR_OUT_OF_MEMORY 2

enum stat { ALLOCATED, REQUESTED, RESERVED, ALLOCATIONS, SEGMENTS, LARGE_BLOCKS, LARGE_SEGMENTS, STATS, UNKNOWN = STATS };
struct summary {
    struct vs_history_blocks blocks;
    unsigned account;
    uint64_t stats[STATS][3][4]; /* of all, the large and the small pool: in the table's columns */
    uint64_t ooms, retries, oversize; /* oversize: PyTorch's max_split_size */
    bool requested, begun_later; /* requested sizes are known; blocks from before the recording */
    bool before;                 /* now: an import writes those */
    bool mixed;      /* other pools report blocks as well: which segments are PyTorch's is not known */
    bool expandable; /* segments: PyTorch 2.15 retries without asking the device */
    uint64_t refused_by;         /* the thread whose request to the device was refused last, and 1 */
};

static void add(struct summary *s, enum stat stat, bool small, bool born, uint64_t amount)
{
    for (int pool = 0; pool < 3; pool += small ? 2 : 1) {
        uint64_t *column = s->stats[stat][pool];
        column[0] += born ? amount : -amount;
        column[1] = column[0] > column[1] ? column[0] : column[1];
        column[born ? 2 : 3] += amount;
        if (pool == 1)
            break;
    }
}

static void on_change(void *context, const struct vs_replay *replay, const struct vs_published *change)
{
    struct summary *s = context;
    const struct vs_live *live = change->live;
    bool born = change->kind == VS_CHANGE_BORN;
    (void)replay;
    if (live->device != s->account)
        return;
    if (live->level == VS_LEVEL_FRAMEWORK) {
        const struct vs_event *event = change->event;
        bool ours = event->kind == VS_EVENT_framework_alloc  ? event->framework_alloc.total_reserved
                    : event->kind == VS_EVENT_framework_free ? event->framework_free.total_reserved : true;
        s->mixed |= !ours; /* CuPy's, TensorFlow's and others come without that sum */
        if (!ours)
            return;
        bool small = live->size <= SMALL_BLOCK;
        add(s, ALLOCATED, small, born, live->size);
        add(s, REQUESTED, small, born, live->requested);
        add(s, ALLOCATIONS, small, born, 1);
        add(s, LARGE_BLOCKS, small, born, live->size >= s->oversize);
        s->requested &= !born || change->event->framework_alloc.requested;
        s->begun_later |= s->before;
    } else if (vs_history_holds(&s->blocks, live) && live->family != VS_FAMILY_VMM) {
        bool small = live->size == SMALL_SEGMENT;
        add(s, RESERVED, small, born, live->size);
        add(s, SEGMENTS, small, born, 1);
        add(s, LARGE_SEGMENTS, small, born, live->size >= s->oversize);
    }
}

static enum vs_err on_event(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct summary *s = context;
    const struct vs_reader *reader = replay->reader;
    uint64_t thread = (uint64_t)event->tid + 1;
    if (event->kind == VS_EVENT_range_push) {
        s->before |= strcmp(vs_reader_string(reader, event->range_push.name), VS_BEFORE_RANGE) == 0;
    } else if (event->kind == VS_EVENT_range_pop) {
        s->before = false;
    } else if (event->kind == VS_EVENT_option) {
        const char *limit = strstr(vs_reader_string(reader, event->option.value), "max_split_size_mb:");
        if (limit && strcmp(vs_reader_string(reader, event->option.name), "PYTORCH_ALLOC_CONF") == 0)
            s->oversize = strtoull(strchr(limit, ':') + 1, NULL, 10) << 20;
    } else if (event->kind == VS_EVENT_vmm_map || event->kind == VS_EVENT_vmm_unmap) {
        /* expandable segments: PyTorch counts what it maps, and no segments */
        bool map = event->kind == VS_EVENT_vmm_map;
        uint64_t size = map ? event->vmm_map.size : event->vmm_unmap.size;
        const struct vs_live *live = vs_live_table_find(
            &replay->device_live, (map ? event->vmm_map.memory : event->vmm_unmap.memory) | VS_ADDR_MEMORY);
        if (live && live->device == s->account && vs_history_holds(&s->blocks, live))
            add(s, RESERVED, live->size == SMALL_SEGMENT, map, size);
        s->expandable |= live && vs_history_holds(&s->blocks, live);
    } else if (event->kind == VS_EVENT_alloc_failed) {
        const struct vs_event_alloc_failed *refused = &event->alloc_failed;
        if (vs_replay_account(replay, refused->device) == s->account && refused->error == CUDA_ERROR_OUT_OF_MEMORY &&
            refused->requested % SMALL_SEGMENT == 0) /* otherwise it is not for a segment */
            s->refused_by = thread;
    } else {
        bool oom = event->kind == VS_EVENT_framework_oom;
        uint64_t device = oom ? event->framework_oom.device : event->framework_alloc.device;
        if (vs_replay_account(replay, device) != s->account)
            return VS_OK;
        s->ooms += oom;
        s->retries += oom || s->refused_by == thread; /* PyTorch emptied its cache, and asked once more */
        s->refused_by = s->refused_by == thread ? 0 : s->refused_by;
    }
    return VS_OK;
}

static void print_value(FILE *out, bool known, bool bytes, uint64_t value, uint64_t by)
{
    static const char *const units[2][6] = {{"", "K", "M", "M", "M", "M"}, {"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"}};
    unsigned unit = 0;
    for (double left = (double)by; left >= (bytes ? 768 * 1024 : 750 * 1000) && unit < (bytes ? 5u : 2u); unit++) {
        value /= bytes ? 1024 : 1000;
        left /= bytes ? 1024 : 1000;
    }
    if (!known)
        fputs("|not recorded", out);
    else
        fprintf(out, bytes ? "| %6" PRIu64 " %s " : "| %7" PRIu64 " %-1s  ", value, units[bytes][unit]);
}

static void print_device(const struct summary *s, uint64_t device, FILE *out)
{
    static const struct { const char *name; enum stat stat; bool bytes, pools; } rows[] = {
        {"Allocated memory", ALLOCATED, true, true}, {"Active memory", UNKNOWN, true, true},
        {"Requested memory", REQUESTED, true, true}, {"GPU reserved memory", RESERVED, true, true},
        {"Non-releasable memory", UNKNOWN, true, true}, {"Allocations", ALLOCATIONS, false, true},
        {"Active allocs", UNKNOWN, false, true}, {"GPU reserved segments", SEGMENTS, false, true},
        {"Non-releasable allocs", UNKNOWN, false, true}, {"Oversize allocations", LARGE_BLOCKS, false, false},
        {"Oversize GPU segments", LARGE_SEGMENTS, false, false}};
    static const char *const pools[] = {"", "      from large pool", "      from small pool"};
    static const char thick[] = "===========================================================================";
    static const char thin[] = "---------------------------------------------------------------------------";
    fprintf(out, "|%s|\n| %16s PyTorch CUDA memory summary, device ID %-17" PRIu64 " |\n|%s|\n", thick, "", device, thin);
    char ooms[24] = "not recorded", retries[24] = "not recorded";
    if (!s->begun_later)
        snprintf(ooms, sizeof ooms, "%" PRIu64, s->ooms);
    if (!s->begun_later && !s->expandable)
        snprintf(retries, sizeof retries, "%-8" PRIu64 "  ", s->retries);
    fprintf(out, "|  %9s CUDA OOMs: %-12s | %6s cudaMalloc retries: %-10s|\n", "", ooms, "", retries);
    fprintf(out, "|%s|\n|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n", thick);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum stat stat = rows[i].stat;
        bool of_segments = stat == RESERVED || stat == SEGMENTS || stat == LARGE_SEGMENTS;
        bool known = stat != UNKNOWN && (stat != REQUESTED || s->requested) && !(of_segments && s->mixed);
        fprintf(out, "|%s|\n", thin);
        for (int pool = 0; pool < (rows[i].pools ? 3 : 1); pool++) {
            const uint64_t *of = s->stats[known ? stat : 0][pool], *by = s->stats[known ? stat : 0][0];
            fprintf(out, "| %-21s ", pool ? pools[pool] : rows[i].name);
            for (int column = 0; column < 4; column++)
                print_value(out, known && !(column && s->begun_later), rows[i].bytes, of[column], by[column]);
            fputs("|\n", out);
        }
    }
    fprintf(out, "|%s|\n", thick);
}

enum vs_err vs_torch_summary(struct vs_reader *reader, const struct vs_time_window *window, bool one_device,
                             uint64_t device, FILE *out)
{
    static const unsigned changes = VS_CHANGE_BORN | VS_CHANGE_ENDED | VS_CHANGE_LOST;
    static const uint64_t kinds =
        VS_KIND_BIT(VS_EVENT_range_push) | VS_KIND_BIT(VS_EVENT_range_pop) | VS_KIND_BIT(VS_EVENT_option) |
        VS_KIND_BIT(VS_EVENT_vmm_map) | VS_KIND_BIT(VS_EVENT_vmm_unmap) | VS_KIND_BIT(VS_EVENT_alloc_failed) |
        VS_KIND_BIT(VS_EVENT_framework_oom) | VS_KIND_BIT(VS_EVENT_framework_alloc);
    struct summary *s = vs_xcalloc(1, sizeof *s);
    struct vs_history_blocks blocks = {0};
    uint64_t devices[VS_HOST_INDEX];
    unsigned count = 0, known = 0, printed = 0;
    vs_reader_rewind(reader); /* whoever resolved the window read it */
    struct vs_replay *replay = vs_replay_open(reader);
    enum vs_err err = vs_reading_run(reader, replay, NULL, NULL, 0);
    if (!err && vs_recording_partial(&replay->recording))
        err = VS_ERR_UNSUPPORTED;
    vs_history_blocks_learn(&blocks, replay);
    for (; count < replay->account_count; count++)
        devices[count] = replay->accounts[count]->device;
    vs_replay_close(replay);
    for (unsigned account = 0; account < count && !err; account++) {
        if (!blocks.framework[account] || (one_device && devices[account] != device))
            continue;
        known++;
        *s = (struct summary){.blocks = blocks, .account = account, .requested = true, .oversize = UINT64_MAX};
        const struct vs_observer observer = {kinds, NULL, on_event, s};
        vs_reader_rewind(reader);
        replay = vs_replay_open(reader);
        vs_replay_subscribe(replay, changes, on_change, s);
        err = vs_reading_run(reader, replay, window, &observer, 1);
        vs_replay_close(replay);
        bool used = s->stats[ALLOCATIONS][0][2] != 0;
        if (!err && used)
            print_device(s, devices[account], out);
        printed += used;
    }
    vs_history_blocks_free(&blocks);
    free(s);
    return err || printed ? err : known ? VS_ERR_STATE : VS_ERR_NOT_FOUND;
}
