/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading: each event is applied to the replay, the growth tracker and the history of its
 * device. */
#include "analysis/watch/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "analysis/naming/naming.h"
#include "analysis/report/site_text.h"
#include "analysis/report/summary.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_clock.h"
#include "base/vs_limit_spec.h"
#include "base/vs_map.h"
#include "base/vs_posix_name.h"
#include "trace/read/follower.h"

#define EVENTS_BETWEEN_CLOCKS 4096u

/* What the latest pass of the growth tracker found. */
struct vs_watch_growth {
    struct vs_growth_row sum[VS_DEVICES_MAX]; /* of all sites that grow */
    bool growing[VS_DEVICES_MAX];
    struct vs_map by_site; /* those sites: index + 1 -> bytes per step */
    enum vs_steps_source source;
    unsigned account;      /* of the steps */
    uint64_t begun, step_ns, begin_ns, highest; /* length; begin of the latest; highest bytes in the
                                                 * latest two */
};

struct vs_watch {
    char *path;
    struct vs_follower *follower;
    struct vs_replay *replay;
    struct vs_growth_tracker *tracker;
    struct vs_symbols *symbols;
    struct vs_memory_history history[VS_DEVICES_MAX];
    struct vs_limit_spec limit;
    bool limited;
    uint64_t job, rank; /* ids of texts */
    bool caught_up; /* everything was read once */
    bool behind;    /* there is more than was read */

    /* passes over all live memory, which may take long: not more than a tenth of the time */
    uint64_t next_growth_ns, next_holes_ns;
    struct vs_watch_growth growth;
    struct vs_holes holes[VS_DEVICES_MAX];

    /* the program's own allocation functions, and the call sites when they were found; [1]: by the
     * names that take no time */
    struct vs_wrappers wrappers[2];
    size_t wrappers_at[2];
    struct vs_map owners;  /* vs_naming_key */
    uint64_t *keys;        /* by call site; 0: not known yet */
    size_t key_count;
};

/* The present in the trace's clock: the last event's time once it ended. */
static uint64_t watch_now_ns(const struct vs_watch *w)
{
    uint64_t now = vs_clock_ns();
    bool running = vs_follower_recorder(w->follower) != 0;
    return running && now > w->replay->now_ns ? now : w->replay->now_ns;
}

static enum vs_err apply(struct vs_watch *w, const struct vs_event *event)
{
    const struct vs_replay *replay = w->replay;
    const struct vs_reader *reader = replay->reader;
    vs_replay_event(w->replay, event);
    enum vs_err err = vs_growth_observe(w->tracker, w->replay, event);
    if (err)
        return err;
    if (event->kind == VS_EVENT_option) {
        const char *name = vs_reader_string(reader, event->option.name);
        if (strcmp(name, "limit") == 0)
            w->limited = !vs_limit_parse(vs_reader_string(reader, event->option.value), &w->limit);
        else if (strcmp(name, "JOB") == 0 || strcmp(name, "RANK") == 0)
            *(*name == 'J' ? &w->job : &w->rank) = event->option.value;
        return VS_OK;
    }
    const struct vs_site *site = replay->changed_site == VS_SITE_NONE
                                     ? NULL : &replay->sites.items[replay->changed_site];
    unsigned account = site ? site->device : replay->changed;
    if (account >= VS_DEVICES_MAX || !replay->accounts[account])
        return VS_OK;
    struct vs_memory_history *history = &w->history[account];
    vs_history_level(history, event->time_ns, vs_user_sums(replay, account).allocated);
    if (!site || !vs_user_has_site(replay, site))
        return VS_OK;
    if (event->kind == VS_EVENT_alloc)
        vs_history_request(history, event->time_ns, event->alloc.size);
    else if (event->kind == VS_EVENT_framework_alloc)
        vs_history_request(history, event->time_ns, event->framework_alloc.size);
    return VS_OK;
}

/* --- life --- */

static enum vs_err open_state(struct vs_watch *w, char *why)
{
    enum vs_err err = vs_follower_open(w->path, &w->follower, why);
    if (err)
        return err;
    w->replay = vs_replay_open(vs_follower_reader(w->follower));
    vs_growth_open(w->replay, &w->tracker);
    w->symbols = vs_symbols_open(vs_follower_reader(w->follower));
    return VS_OK;
}

static void close_state(struct vs_watch *w)
{
    vs_symbols_close(w->symbols);
    vs_growth_close(w->tracker);
    vs_replay_close(w->replay);
    vs_follower_close(w->follower);
    vs_map_free(&w->owners);
    vs_map_free(&w->growth.by_site);
    free(w->keys);
    *w = (struct vs_watch){.path = w->path};
}

enum vs_err vs_watch_open(const char *path, struct vs_watch **out, char *why)
{
    struct vs_watch *w = vs_xcalloc(1, sizeof *w);
    w->path = vs_xstrdup(path);
    enum vs_err err = open_state(w, why);
    if (err)
        vs_watch_close(w);
    else
        *out = w;
    return err;
}

void vs_watch_close(struct vs_watch *w)
{
    if (!w)
        return;
    close_state(w);
    free(w->path);
    free(w);
}

enum vs_err vs_watch_read(struct vs_watch *w, uint64_t until_ns)
{
    struct vs_event event;
    enum vs_err err;
    for (uint64_t n = 1; !(err = vs_follower_next(w->follower, &event)); n++) {
        err = apply(w, &event);
        if (err)
            return err;
        if (n % EVENTS_BETWEEN_CLOCKS == 0 && vs_clock_ns() >= until_ns) {
            w->behind = true;
            return VS_OK;
        }
    }
    if (err == VS_ERR_STATE) { /* bytes that were read are not those of the trace: from the start */
        close_state(w);
        return open_state(w, NULL);
    }
    w->caught_up |= err == VS_ERR_END;
    w->behind = false;
    return err == VS_ERR_END ? VS_OK : err;
}

bool vs_watch_ended(const struct vs_watch *w)
{
    return vs_follower_ended(w->follower);
}

bool vs_watch_complete(const struct vs_watch *w)
{
    return !w->behind;
}

/* --- The state of a watched process as figures. --- */

/* --- a device --- */

static void fill_use(struct vs_watch *w, unsigned account, struct vs_watch_device *out)
{
    uint64_t now = w->behind ? w->replay->now_ns : watch_now_ns(w);
    const struct vs_account *a = w->replay->accounts[account];
    const struct vs_user_sums sums = vs_user_sums(w->replay, account);
    out->device = a->device;
    out->name = vs_reader_string(w->replay->reader, a->name);
    out->uuid = vs_reader_string(w->replay->reader, a->uuid);
    out->simulated = a->simulated != 0;
    out->level = sums.level;
    out->allocated = sums.allocated;
    out->peak = sums.peak->bytes > sums.allocated ? sums.peak->bytes : sums.allocated;
    out->reserved = a->sums.now.reserved;
    out->peak_reserved = a->sums.peak.reserved;
    out->used_known = a->sample_total != 0;
    out->used = a->sample_total > a->sample_free ? a->sample_total - a->sample_free : 0;
    out->total = a->sample_total ? a->sample_total : a->total_bytes;
    if (w->limited && a->device < VS_LIMIT_DEVICES_MAX)
        out->limit_bytes = vs_limit_bytes(&w->limit, (uint32_t)a->device, a->total_bytes);
    if (out->limit_bytes == VS_LIMIT_NONE)
        out->limit_bytes = 0;
    uint64_t in_use = sums.level == VS_LEVEL_FRAMEWORK
                          ? sums.tensors + (a->sums.now.allocated - sums.backing)
                          : a->sums.now.allocated;
    out->cached = out->reserved > in_use ? out->reserved - in_use : 0;
    if (w->history[account].period_ns) /* the level has not changed since */
        vs_history_level(&w->history[account], now, w->history[account].level);
    out->history = &w->history[account];
    vs_history_rate(out->history, now, &out->bytes_per_second, &out->allocs_per_second);
}

/* The next pass begins when ten times as long has passed as this one took, from *begin_ns* until
 * now. */
static uint64_t next_pass_ns(uint64_t begin_ns)
{
    uint64_t now = vs_clock_ns();
    return now + (now - begin_ns) * 10;
}

/* --- growth: the tracker's result, as far as it is shown, is copied, because more events may follow before
 * the next pass --- */

#define STEPS_FOR_TIME 10u /* the latest, whose mean length is the length of a step */

static uint64_t step_length(const struct vs_growth_steps *steps)
{
    size_t last = steps->count ? steps->count - 1 : 0;
    size_t first = last > STEPS_FOR_TIME ? last - STEPS_FOR_TIME : 0;
    if (first == last)
        return 0;
    return (steps->items[last].time_ns - steps->items[first].time_ns) /
           ((last - first) * steps->stride);
}

/* Memory runs out at the height of a step, not at its end. */
static void forecast(const struct vs_watch *w, unsigned account, struct vs_watch_device *out)
{
    const struct vs_account *a = w->replay->accounts[account];
    const struct vs_watch_growth *growth = &w->growth;
    uint64_t now = watch_now_ns(w), highest = out->allocated;
    if (growth->account == account && growth->highest > highest)
        highest = growth->highest;
    struct vs_forecast_facts facts = {
        .highest = highest, .per_step = out->growth.per_step, .step_ns = growth->step_ns,
        .since_step_ns = now > growth->begin_ns ? now - growth->begin_ns : 0,
        .grown = out->growth.bytes, .from_ns = out->growth.since_ns,
        .until_ns = out->growth.until_ns, .now_ns = now, .times = out->growth.count};
    if (out->growth.since_step_known && out->growth.until_step_known)
        facts.times = out->growth.until_step + 1 - out->growth.since_step;
    if (a->sample_total)
        facts.capacity = a->sample_free < UINT64_MAX - out->reserved ? a->sample_free + out->reserved
                                                                     : UINT64_MAX;
    if (out->limit_bytes && (!facts.capacity || out->limit_bytes < facts.capacity))
        facts.capacity = out->limit_bytes;
    out->forecast = vs_forecast_make(&facts);
}

/* --- memory that is held for a device but not in use. In segments of our cache: vs_replay_holes. In the
 * segments of a framework, which are allocations of the device: the gaps between its blocks --- */

struct watch_extents {
    struct vs_holes_block *items;
    size_t count, capacity;
};

/* The live blocks of *account* in *table*; *backing*: only those that hold a framework's blocks. */
static void list(const struct vs_replay *replay, const struct vs_live_table *table,
                 unsigned account, bool backing, struct watch_extents *out)
{
    for (size_t i = 0; i < table->slots; i++) {
        const struct vs_live *live = &table->items[i];
        if (!live->used || live->device != account ||
            (backing && !replay->sites.items[live->site].backing))
            continue;
        VS_VEC_ADD(out->items, out->count, out->capacity, (struct vs_holes_block){live->addr, live->size});
    }
    vs_vec_sort(out->items, out->count, sizeof *out->items, vs_order_u64);
}

static void fill_holes(const struct vs_watch *w, unsigned account, struct vs_holes *out)
{
    const struct vs_replay *replay = w->replay;
    *out = (struct vs_holes){0};
    if (vs_user_level(replay, account) != VS_LEVEL_FRAMEWORK) {
        vs_replay_holes(replay, account, out);
        return;
    }
    struct watch_extents segments = {0}, blocks = {0};
    list(replay, &replay->device_live, account, true, &segments);
    list(replay, &replay->framework_live, account, false, &blocks);
    size_t at = 0;
    for (size_t i = 0; i < segments.count; i++)
        vs_holes_walk(segments.items[i].addr, segments.items[i].size, blocks.items, blocks.count, &at, out);
    free(segments.items);
    free(blocks.items);
}

/* --- the call sites that hold most memory now. Stacks with the same functions of the user's are one
 * (vs_naming_key, whose result is kept for each stack) --- */

#define OWN_KEY (UINT64_C(1) << 63)

static uint64_t group_key(struct vs_watch *w, uint32_t index)
{
    const struct vs_site *site = &w->replay->sites.items[index];
    uint64_t key = w->keys[index];
    if (key)
        return key;
    key = (uint64_t)index << 8 | OWN_KEY; /* told apart by its API */
    if (site->stack || site->mark) {
        vs_naming_key(w->replay->reader, &w->owners, site->stack, site->mark, &key);
        key = ((key * 16 + site->family) * 2 + (site->level == VS_LEVEL_FRAMEWORK)) *
                  VS_DEVICES_MAX + site->device;
        key |= key == 0;
    }
    return w->keys[index] = key;
}

struct watch_group {
    struct vs_watch_site row;
    uint64_t heaviest;
};

struct watch_groups {
    struct watch_group *items;
    size_t count, capacity;
    struct vs_map by_key; /* index */
};

static void add_site(struct vs_watch *w, struct watch_groups *groups, uint32_t index)
{
    const struct vs_site *site = &w->replay->sites.items[index];
    uint64_t weight = vs_recording_weight(&w->replay->recording), key = group_key(w, index);
    size_t at = vs_xmap_number(&groups->by_key, key, groups->count);
    if (at == groups->count) {
        struct watch_group *fresh =
            vs_vec_push(&groups->items, &groups->count, &groups->capacity, sizeof *fresh);
        *fresh = (struct watch_group){.row = {.key = key, .site = index}};
    }
    struct watch_group *group = &groups->items[at];
    group->row.bytes += site->live_bytes * weight;
    group->row.count += site->live_count * weight;
    if (site->live_bytes > group->heaviest) {
        group->heaviest = site->live_bytes;
        group->row.site = index;
    }
    const uint64_t *grows = vs_map_get(&w->growth.by_site, index + 1);
    if (grows) {
        group->row.growing = true;
        group->row.growth_per_step += *grows * weight;
    }
}

static void fill_sites(struct vs_watch *w, unsigned account, struct vs_watch_device *out)
{
    const struct vs_sites *sites = &w->replay->sites;
    struct watch_groups groups = {0};
    vs_vec_room(&w->keys, &w->key_count, sites->count, sizeof *w->keys);
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_site *site = &sites->items[i];
        if (site->device == account && site->live_bytes && vs_user_has_site(w->replay, site))
            add_site(w, &groups, (uint32_t)i);
    }
    VS_SORT(groups.items, groups.count, VS_DOWN(row.bytes), VS_UP(row.site));
    out->site_count = groups.count < VS_WATCH_SITES_MAX ? groups.count : VS_WATCH_SITES_MAX;
    out->sites_omitted = groups.count - out->site_count;
    for (size_t i = 0; i < groups.count; i++) {
        out->sites_bytes += groups.items[i].row.bytes;
        if (i < out->site_count)
            out->sites[i] = groups.items[i].row;
    }
    free(groups.items);
    vs_map_free(&groups.by_key);
}

/* --- the process --- */

static void describe_ending(const struct vs_watch *w, char *out)
{
    const struct vs_event *end = &w->replay->end;
    unsigned long long status = end->end.status;
    const char *name = vs_signal_name(status);
    enum vs_end_reason reason = (enum vs_end_reason)end->end.reason;
    vs_reader_condition(w->replay->reader, out);
    if (!w->replay->has_end)
        return;
    if (reason == VS_END_EXIT)
        snprintf(out, VS_READER_WHY_MAX, "the program exited with status %llu", status);
    else if (reason == VS_END_EXEC)
        snprintf(out, VS_READER_WHY_MAX, "the process started another program (exec)");
    else if (reason == VS_END_COPY)
        snprintf(out, VS_READER_WHY_MAX, "a copy that the program made while it ran");
    else if (reason == VS_END_SIGNAL || (reason == VS_END_KILLED && status))
        snprintf(out, VS_READER_WHY_MAX, "the program was killed by signal %llu%s%s%s", status,
                 name ? " (SIG" : "", name ? name : "", name ? ")" : "");
}

static void fill_process(const struct vs_watch *w, struct vs_watch_view *out)
{
    const struct vs_replay *replay = w->replay;
    const struct vs_reader *reader = replay->reader;
    const struct vs_event *process = replay->has_process ? &replay->process : NULL;
    uint64_t bytes = vs_reader_bytes(reader), at = vs_reader_position(reader);
    uint64_t start = vs_replay_start_ns(replay), now = watch_now_ns(w);
    out->pid = process ? process->process.pid : 0;
    out->exe = vs_reader_string(reader, process ? process->process.exe : 0);
    out->cmdline = vs_reader_string(reader, process ? process->process.cmdline : 0);
    out->job = vs_reader_string(reader, w->job);
    out->rank = vs_reader_string(reader, w->rank);
    out->path = w->path;
    out->running = !vs_watch_ended(w);
    out->complete = w->caught_up;
    out->read_share = bytes && !w->caught_up ? (double)at / (double)bytes : 1;
    *out->ending = 0;
    if (!out->running)
        describe_ending(w, out->ending);
    out->run_ns = start && now > start ? now - start : 0;
    out->events = replay->events;
    out->failures = replay->failure_total;
    out->sampled = replay->recording.min_size || replay->recording.sample > 1 ||
                   replay->recording.stage >= VS_RECORDING_TOTALS;
    out->host_bytes = replay->accounts[VS_HOST_INDEX]->sums.now.allocated;
}

void vs_watch_fill(struct vs_watch *w, bool exact, struct vs_watch_view *out)
{
    size_t count = w->replay->account_count;
    uint64_t begin = vs_clock_ns();
    fill_process(w, out);
    if (exact || begin >= w->next_growth_ns) {
        struct vs_growth_result result;
        struct vs_watch_growth *growth = &w->growth;
        vs_growth_finish(w->tracker, &result);
        vs_map_free(&growth->by_site);
        for (size_t i = 0; i < result.site_count; i++) {
            const struct vs_growth_row *row = &result.sites[i];
            if (row->user_level && vs_growth_is_named(row))
                vs_xmap_put(&growth->by_site, row->site + UINT64_C(1), row->per_step);
        }
        for (unsigned i = 0; i < w->replay->account_count; i++)
            growth->growing[i] = vs_growth_sum(&result, i, &growth->sum[i]) > 0;
        const struct vs_growth_steps *steps = &result.steps;
        growth->source = steps->source;
        growth->account = steps->account;
        growth->begun = steps->begun;
        growth->step_ns = step_length(steps);
        growth->begin_ns = steps->count ? steps->items[steps->count - 1].time_ns : 0;
        growth->highest = 0;
        for (size_t i = steps->count > 2 ? steps->count - 2 : 0; i < steps->count; i++)
            if (steps->items[i].peak_bytes > growth->highest)
                growth->highest = steps->items[i].peak_bytes;
        w->next_growth_ns = next_pass_ns(begin);
    }
    const struct vs_watch_growth *growth = &w->growth;
    out->steps_source = growth->source;
    out->steps_begun = growth->begun;
    out->step_ns = growth->step_ns;
    out->step = growth->source == VS_STEPS_MARKED  ? w->replay->phases.steps.number
                : growth->source == VS_STEPS_FOUND ? growth->begun
                                                   : 0;
    begin = vs_clock_ns();
    bool holes = exact || begin >= w->next_holes_ns;
    if (count > out->device_count)
        out->devices = vs_xrealloc(out->devices, count, sizeof *out->devices);
    out->device_count = count;
    for (unsigned i = 0; i < count; i++) {
        struct vs_watch_device *device = &out->devices[i];
        *device = (struct vs_watch_device){0};
        fill_use(w, i, device);
        device->growing = w->growth.growing[i];
        device->growth = w->growth.sum[i];
        if (device->growing)
            forecast(w, i, device);
        if (holes)
            fill_holes(w, i, &w->holes[i]);
        device->holes = w->holes[i];
        fill_sites(w, i, device);
    }
    if (holes)
        w->next_holes_ns = next_pass_ns(begin);
}

/* --- a view without its watch --- */

static const char *keep_text(char **to, const char *text)
{
    char *copy = *to;
    size_t bytes = strlen(text) + 1;
    memcpy(copy, text, bytes);
    *to += bytes;
    return copy;
}

void vs_watch_view_keep(struct vs_watch_view *view)
{
    size_t histories = view->device_count * sizeof *view->devices->history;
    size_t bytes = strlen(view->exe) + strlen(view->cmdline) + strlen(view->path) + strlen(view->job) + strlen(view->rank) + 5;
    for (size_t i = 0; i < view->device_count; i++)
        bytes += strlen(view->devices[i].name) + strlen(view->devices[i].uuid) + 2;
    struct vs_memory_history *history = vs_xcalloc(1, histories + bytes);
    char *text = (char *)history + histories;
    for (size_t i = 0; i < view->device_count; i++) {
        history[i] = *view->devices[i].history;
        view->devices[i].history = &history[i];
        view->devices[i].name = keep_text(&text, view->devices[i].name);
        view->devices[i].uuid = keep_text(&text, view->devices[i].uuid);
    }
    view->exe = keep_text(&text, view->exe);
    view->cmdline = keep_text(&text, view->cmdline);
    view->job = keep_text(&text, view->job);
    view->rank = keep_text(&text, view->rank);
    view->path = keep_text(&text, view->path);
    free(view->kept);
    view->kept = history;
}

void vs_watch_view_free(struct vs_watch_view *view)
{
    free(view->devices);
    free(view->kept);
    *view = (struct vs_watch_view){0};
}

/* --- Names of call sites: at once what the trace has itself, such as Python lines, and the rest on
 * request. --- */

#define CHAIN_FRAMES 32

/* Names *row* in *named*, with texts in *memory*. *own*: only what takes no time. */
static void name_row(struct vs_watch *w, const struct vs_watch_site *row, bool own,
                     struct vs_arena *memory, struct vs_report_site *named)
{
    const struct vs_site *site = &w->replay->sites.items[row->site];
    struct vs_summary summary = {.memory = memory, .replay = w->replay, .symbols = w->symbols,
                                 .wrappers = &w->wrappers[own], .own_only = own};
    *named = (struct vs_report_site){.level = (enum vs_level)site->level, .family = site->family,
                                     .api = vs_reader_string(w->replay->reader, site->api)};
    if (w->replay->sites.count >= 2 * w->wrappers_at[own]) { /* twice as many as when last found */
        vs_summary_wrappers(&summary, &w->wrappers[own]);
        w->wrappers_at[own] = w->replay->sites.count;
    }
    vs_summary_frames(&summary, site->stack, site->mark, named);
}

bool vs_watch_line(struct vs_watch *w, const struct vs_watch_site *row, char *out)
{
    char text[VS_CHAIN_TEXT_MAX];
    struct vs_arena memory = {0};
    struct vs_report_site named;
    name_row(w, row, true, &memory, &named);
    bool known = named.line || named.folds || !w->replay->sites.items[row->site].stack;
    if (known)
        vs_text_clip(out, vs_text_label(text, &named), (VS_WATCH_NAME_MAX - 4) / 4);
    else /* no other name before it is known: it would change while one reads it */
        snprintf(out, VS_WATCH_NAME_MAX, "…");
    vs_arena_free_all(&memory);
    return known;
}

void vs_watch_name(struct vs_watch *w, const struct vs_watch_site *row,
                   char name[VS_WATCH_NAME_MAX], char chain[VS_WATCH_CHAIN_MAX])
{
    _Static_assert(VS_WATCH_CHAIN_MAX == VS_CHAIN_TEXT_MAX, "one buffer");
    struct vs_arena memory = {0};
    struct vs_report_site named;
    name_row(w, row, false, &memory, &named);
    vs_text_label(chain, &named);
    vs_text_clip(name, chain, (VS_WATCH_NAME_MAX - 4) / 4);
    const char *line = named.line; /* of code: it stands for the functions in the name only */
    named.line = NULL;
    size_t length = strlen(vs_text_site(chain, &named, CHAIN_FRAMES));
    char code[VS_CODE_TEXT_MAX] = "";
    if (!line && named.wrappers < named.frame_count) {
        const struct vs_report_frame *frame = &named.frames[named.wrappers];
        vs_text_code(code, frame->file, frame->line, w->replay->process.process.start_realtime_ns);
    }
    if (*code && length + strlen(code) + 2 <= VS_WATCH_CHAIN_MAX)
        snprintf(chain + length, VS_WATCH_CHAIN_MAX - length, "\n%s", code);
    vs_arena_free_all(&memory);
}
