/* SPDX-License-Identifier: Apache-2.0
 *
 * Live memory is summed up by the replay already: its sites are read at the time. */
#include "analysis/checkpoint/stack_sums.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/checkpoint/trace_state.h"
#include "analysis/state/peak_states.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"
#include "trace/read/seek.h"

/* Bytes and blocks allocated by each site of the replay. */
struct site_totals {
    struct site_total {
        uint64_t bytes, count;
    } *items;
    size_t capacity;
};

static void count_birth(void *context, const struct vs_replay *replay, const struct vs_published *change)
{
    struct site_totals *totals = context;
    uint32_t site = change->live->site;
    (void)replay;
    vs_vec_room(&totals->items, &totals->capacity, site + 1, sizeof *totals->items);
    totals->items[site].bytes += change->live->size;
    totals->items[site].count++;
}

static void add_row(struct vs_stack_device *device, const struct vs_site *site,
                    uint64_t bytes, uint64_t count)
{
    VS_VEC_ADD(device->rows, device->count, device->capacity,
               (struct vs_stack_sum){{site->stack, site->mark, site->api,
                                     site->level == VS_LEVEL_FRAMEWORK}, bytes, count});
    device->bytes += bytes;
    device->blocks += count;
}

void vs_stack_unrecorded(const struct vs_replay *replay, unsigned index, uint64_t *bytes,
                         uint64_t *blocks)
{
    static const enum vs_why whys[] = {VS_WHY_SMALL, VS_WHY_LIMIT};
    bool tensors = vs_user_level(replay, index) == VS_LEVEL_FRAMEWORK;
    *bytes = *blocks = 0;
    for (int level = VS_LEVEL_DEVICE; level <= VS_LEVEL_FRAMEWORK; level++) {
        for (size_t i = 0; i < sizeof whys / sizeof *whys; i++) {
            const struct vs_unrecorded *sums =
                &replay->accounts[index]->unrecorded[level][whys[i]];
            int64_t live = vs_unrecorded_live(sums);
            if (live <= 0 || tensors != (level == VS_LEVEL_FRAMEWORK))
                continue;
            *bytes += (uint64_t)live;
            *blocks += sums->allocs > sums->frees ? sums->allocs - sums->frees : 0;
        }
    }
}

/* The rows of account *index* as *replay* is now; of *totals*, or of live memory without. */
static void fill_device(const struct vs_replay *replay, unsigned index,
                        const struct site_totals *totals, struct vs_stack_sums *out)
{
    struct vs_stack_device *device = &out->devices[out->count];
    *device = (struct vs_stack_device){
        .device = replay->accounts[index]->device, .event = replay->events,
        .time_ns = vs_replay_since(replay, replay->now_ns),
        .tensors = vs_user_level(replay, index) == VS_LEVEL_FRAMEWORK};
    out->weight = vs_recording_weight(&replay->recording);
    for (size_t i = 0; i < replay->sites.count; i++) {
        const struct vs_site *site = &replay->sites.items[i];
        struct site_total total = {site->live_bytes, site->live_count};
        if (totals)
            total = i < totals->capacity ? totals->items[i] : (struct site_total){0, 0};
        if (site->device == index && total.bytes && site->family != VS_FAMILY_IPC &&
            vs_user_has_site(replay, site))
            add_row(device, site, total.bytes * out->weight, total.count * out->weight);
    }
    if (!totals)
        vs_stack_unrecorded(replay, index, &device->unrecorded_bytes, &device->unrecorded_blocks);
    VS_SORT(device->rows, device->count, VS_DOWN(bytes), VS_UP(of.stack), VS_UP(of.mark));
    out->count++;
}

/* Reads the window from its start, or up to its end where the state there is enough. */
static enum vs_err read_window(struct vs_reader *reader, const struct vs_stack_query *query,
                               struct site_totals *totals, struct vs_trace_state **state,
                               uint64_t *first_event, struct vs_stack_sums *out)
{
    static const struct vs_time_window whole;
    const struct vs_time_window *window = query->window ? query->window : &whole;
    bool point = query->subject == VS_STACKS_AT;
    enum vs_err err = point ? vs_span_state(reader, window, state) : vs_span_open(reader, window, state);
    if (err)
        return err;
    struct vs_replay *replay = (*state)->replay;
    *first_event = point ? 1 : replay->events + 1;
    if (query->subject == VS_STACKS_AT_PEAK)
        vs_peak_states_begin(replay, NULL);
    if (totals)
        vs_replay_subscribe(replay, VS_CHANGE_BORN, count_birth, totals);
    if (!point)
        err = vs_reading_run(reader, replay, window, NULL, 0);
    if (err)
        return err;
    vs_replay_finish(replay);
    const char *exe =
        replay->has_process ? vs_reader_string(replay->reader, replay->process.process.exe) : "";
    out->program = vs_text_base_name(exe);
    out->recording = replay->recording;
    for (int i = 0; i <= VS_RECORDING_TOTALS; i++)
        out->recording.since_ns[i] = vs_replay_since(replay, replay->recording.since_ns[i]);
    out->ended = vs_reader_ended(reader);
    out->condition = out->ended ? vs_reader_condition(reader, out->why) : VS_TRACE_COMPLETE;
    return VS_OK;
}

/* The times of the devices that are asked for. */
static enum vs_err find_points(const struct vs_replay *replay, const struct vs_stack_query *query,
                                struct vs_stack_points *out)
{
    bool any = !query->one_device;
    out->count = 0;
    out->last_event = replay->events;
    for (unsigned i = 0; i < replay->account_count; i++) {
        if (query->one_device && replay->accounts[i]->device != query->device)
            continue;
        any = true;
        out->items[out->count++] = (struct vs_stack_point){
            replay->accounts[i]->device, query->subject == VS_STACKS_AT_PEAK
                                             ? vs_user_sums(replay, i).peak->event
                                             : replay->events};
    }
    return any ? VS_OK : VS_ERR_NOT_FOUND;
}

static enum vs_err fill(const struct vs_stack_query *query, const struct vs_replay *replay,
                        const struct site_totals *totals, struct vs_stack_sums *out)
{
    struct vs_stack_points points;
    enum vs_err err = find_points(replay, query, &points);
    if (err)
        return err;
    out->weight = vs_recording_weight(&replay->recording);
    out->devices = vs_xcalloc(points.count + 1, sizeof *out->devices);
    for (size_t i = 0; i < points.count; i++) {
        unsigned index = vs_replay_account(replay, points.items[i].device);
        struct vs_replay *state = query->subject == VS_STACKS_AT_PEAK
                                      ? vs_peak_states_at(replay, points.items[i].event) : NULL;
        if (state || query->subject != VS_STACKS_AT_PEAK)
            fill_device(state ? state : replay, index,
                        query->subject == VS_STACKS_ALLOCATED ? totals : NULL, out);
        vs_peak_state_close(state);
    }
    return VS_OK;
}

enum vs_err vs_stack_points_read(struct vs_reader *reader, const struct vs_stack_query *query,
                                  struct vs_stack_points *points, struct vs_stack_sums *sums)
{
    struct vs_trace_state *state = NULL;
    *sums = (struct vs_stack_sums){0};
    enum vs_err err = read_window(reader, query, NULL, &state, &points->first_event, sums);
    if (!err) {
        sums->weight = vs_recording_weight(&state->replay->recording);
        err = find_points(state->replay, query, points);
    }
    vs_trace_state_close(state);
    return err;
}

enum vs_err vs_stack_sums_read(struct vs_reader *reader, const struct vs_stack_query *query,
                               struct vs_stack_sums *out)
{
    struct site_totals totals = {0};
    struct vs_trace_state *state = NULL;
    uint64_t first_event;
    *out = (struct vs_stack_sums){0};
    enum vs_err err = read_window(reader, query, query->subject == VS_STACKS_ALLOCATED ? &totals : NULL,
                                  &state, &first_event, out);
    if (!err)
        err = fill(query, state->replay, &totals, out);
    vs_trace_state_close(state);
    free(totals.items);
    if (err) {
        vs_stack_sums_free(out);
        return err;
    }
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (out->devices[i].count || out->devices[i].unrecorded_bytes)
            out->devices[kept++] = out->devices[i];
        else
            free(out->devices[i].rows);
    }
    out->count = kept;
    vs_vec_sort(out->devices, kept, sizeof *out->devices, vs_order_u64);
    return VS_OK;
}

void vs_stack_sums_free(struct vs_stack_sums *sums)
{
    for (size_t i = 0; sums->devices && i < sums->count; i++)
        free(sums->devices[i].rows);
    free(sums->devices);
    sums->devices = NULL;
    sums->count = 0;
}
