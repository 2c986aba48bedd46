/* SPDX-License-Identifier: Apache-2.0
 *
 * The largest size of a trace, FILE.live included. Checked when a window begins, against the file
 * size if all unwritten data did not compress; so the limit holds whatever is recorded in that
 * window. Where that would stop something, the waiting windows are written first: they may compress
 * well. The least valuable data is dropped first: at half of the limit kernels and copies, at three
 * quarters new stacks (and their names), and when one more window would not fit, everything but
 * totals, failures and the end, for which a part is reserved from the beginning. There the totals
 * are written ever more rarely, so that they fit however long the process runs. */
#include "base/vs_log.h"
#include "base/vs_size.h"
#include "trace/record/recorder_internal.h"

/* Reserved for the last stage; the second part of it for the end alone. */
#define KEPT_BYTES ((uint64_t)96 << 10)
#define KEPT_FOR_END_BYTES ((uint64_t)32 << 10)
/* of one event: encoded, a frame of its own, its entry in the index */
#define EVENT_COST (VS_EVENT_BYTES_MAX + sizeof(struct vs_frame_header) + \
                    sizeof(struct vs_index_entry))
/* A window takes at most this share of the limit: FILE.live holds several, and the check runs for
 * each. */
#define WINDOW_SHARE 32u
#define WINDOW_BYTES_LEAST ((size_t)(VS_TRACE_LIMIT_MIN / WINDOW_SHARE))

size_t vs_trace_limit_window(uint64_t limit_bytes, size_t wanted)
{
    uint64_t most = limit_bytes / WINDOW_SHARE & ~(uint64_t)(VS_LIVE_HEADER_BYTES - 1);
    if (!limit_bytes || wanted <= most)
        return wanted;
    return most > WINDOW_BYTES_LEAST ? (size_t)most : WINDOW_BYTES_LEAST;
}

/* The largest size of the file once everything recorded so far, and the end, is in it. */
static uint64_t bytes_at_most_locked(const struct vs_recorder *r)
{
    uint64_t bytes = r->file_bytes > sizeof(struct vs_file_header) ? r->file_bytes
                                                                   : sizeof(struct vs_file_header);
    uint64_t entries = r->sequence < VS_INDEX_ENTRIES_MAX ? r->sequence : VS_INDEX_ENTRIES_MAX;
    for (unsigned i = 0; i < VS_WINDOWS; i++) {
        const struct vs_window *w = &r->windows[i];
        if (w->state == VS_WINDOW_FULL || w->state == VS_WINDOW_WRITING)
            bytes += w->used + sizeof(struct vs_frame_header);
    }
    return bytes + (r->active ? vs_window_used_locked(r) : 0) +
           entries * sizeof(struct vs_index_entry) +
           2 * (sizeof(struct vs_frame_header) + sizeof(struct vs_index_header)) +
           sizeof(struct vs_trailer);
}

static enum vs_recording stage_for_locked(const struct vs_recorder *r, uint64_t bytes)
{
    uint64_t live = r->live_on_disk ? r->live_bytes : 0;
    uint64_t limit = r->selection.limit_bytes;
    uint64_t left = limit > live ? limit - live : 0;
    if (bytes + r->window_bytes + sizeof(struct vs_frame_header) + KEPT_BYTES > left)
        return VS_RECORDING_TOTALS;
    if (bytes > left / 4 * 3)
        return VS_RECORDING_NO_STACKS;
    return bytes > left / 2 ? VS_RECORDING_NO_ACTIVITY : VS_RECORDING_SELECTS;
}

static void enter_stage_locked(struct vs_recorder *r, enum vs_recording stage, uint64_t bytes)
{
    struct vs_selection *s = &r->selection;
    bool totals = stage == VS_RECORDING_TOTALS;
    if (totals) {
        /* The names of kinds are needed at the end, when no new text is accepted any more. */
        for (uint32_t kind = 1; kind <= VS_EVENT_CODE_MAX; kind++) {
            const struct vs_event_info *info = vs_event_describe(kind);
            if (info)
                (void)vs_intern_string_locked(r, info->name, strlen(info->name));
        }
    }
    s->dropped_kinds |= totals ? ~vs_event_kinds(VS_PROPERTY_KEPT)
                               : vs_event_kinds(VS_PROPERTY_ACTIVITY | VS_PROPERTY_CALL);
    s->watched_kinds |= s->dropped_kinds;
    s->totals_since_ns = r->last_ns;
    atomic_store_explicit(&s->stage, stage, memory_order_relaxed);
    struct vs_event event = {.kind = VS_EVENT_recording_changed,
                             .recording_changed = {.what = stage,
                                                   .min_size = s->min_size,
                                                   .sample = s->sample,
                                                   .seed = s->seed,
                                                   .limit_bytes = s->limit_bytes,
                                                   .file_bytes = bytes}};
    vs_recorder_event_locked(r, &event);
    static const char *const stops[] = {
        [VS_RECORDING_NO_ACTIVITY] = "half full: kernels and copies are no longer recorded",
        [VS_RECORDING_NO_STACKS] = "three quarters full: new call stacks are no longer recorded",
        [VS_RECORDING_TOTALS] = "nearly full: only totals, peaks and failures are recorded now",
    };
    char limit[VS_SIZE_TEXT_MAX];
    vs_log(stage == VS_RECORDING_TOTALS ? VS_LOG_WARN : VS_LOG_INFO,
           "%s, limited to %s, is %s", r->path,
           vs_size_format(limit, r->selection.limit_bytes), stops[stage]);
}

/* Whether the limit can still affect the recording. */
static bool limit_active_locked(const struct vs_recorder *r, uint32_t now)
{
    return r->selection.limit_bytes && now != VS_RECORDING_TOTALS && !r->selection.looking;
}

bool vs_trace_limit_drain_first_locked(const struct vs_recorder *r)
{
    uint32_t now = atomic_load_explicit(&r->selection.stage, memory_order_relaxed);
    return limit_active_locked(r, now) && vs_window_count_locked(r, VS_WINDOW_FREE) < VS_WINDOWS &&
           stage_for_locked(r, bytes_at_most_locked(r)) > now;
}

void vs_trace_limit_check_locked(struct vs_recorder *r)
{
    uint32_t now = atomic_load_explicit(&r->selection.stage, memory_order_relaxed);
    if (!limit_active_locked(r, now))
        return;
    uint64_t bytes = bytes_at_most_locked(r);
    enum vs_recording stage = stage_for_locked(r, bytes);
    r->selection.looking = true; /* its own events may need the next window */
    if (stage > now)
        enter_stage_locked(r, stage, bytes);
    r->selection.looking = false;
}

bool vs_trace_limit_drop_locked(struct vs_recorder *r, const struct vs_event *event)
{
    struct vs_selection *s = &r->selection;
    bool room = s->spent_bytes + EVENT_COST < KEPT_BYTES - KEPT_FOR_END_BYTES;
    if (vs_event_has(event, VS_PROPERTY_KEPT_IF_ROOM) && room) {
        s->spent_bytes += EVENT_COST;
        return false;
    }
    s->dropped[event->kind]++;
    return true;
}

bool vs_trace_limit_totals_due_locked(struct vs_recorder *r, uint64_t now_ns)
{
    struct vs_selection *s = &r->selection;
    if (atomic_load_explicit(&s->stage, memory_order_relaxed) != VS_RECORDING_TOTALS)
        return true;
    uint64_t cost = s->cell_count * EVENT_COST, room = KEPT_BYTES - KEPT_FOR_END_BYTES;
    uint64_t passed = now_ns > s->totals_since_ns ? now_ns - s->totals_since_ns : 0;
    if (now_ns < s->totals_due_ns || s->spent_bytes + cost > room)
        return false;
    uint64_t pause = s->spent_bytes < room / 2 ? passed / 8 : passed;
    s->totals_due_ns = now_ns + (pause > UINT64_C(1000000000) ? pause : UINT64_C(1000000000));
    s->spent_bytes += cost;
    return true;
}

void vs_trace_limit_finish_locked(struct vs_recorder *r)
{
    struct vs_selection *s = &r->selection;
    for (uint32_t kind = 1; s->watched_kinds && kind <= VS_EVENT_CODE_MAX; kind++) {
        if (!s->dropped[kind])
            continue;
        const char *name = vs_event_describe(kind)->name;
        struct vs_event event = {.kind = VS_EVENT_dropped,
                                 .dropped = {.what = vs_intern_string_locked(r, name, strlen(name)),
                                             .count = s->dropped[kind]}};
        s->dropped[kind] = 0;
        vs_recorder_event_locked(r, &event);
    }
}
