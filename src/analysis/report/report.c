/* SPDX-License-Identifier: Apache-2.0
 *
 * One reading of a trace and its observers. The lists at the peaks are filled after it, from the states
 * that were kept (peak_states.h). The state at a time (`--at`) comes from a checkpoint where there is
 * one, so that the peaks before it were not read: they are sought. */
#include "analysis/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/checkpoint/trace_state.h"
#include "analysis/report/held_segments.h"
#include "analysis/report/summary.h"
#include "analysis/state/peak_states.h"
#include "analysis/state/reading.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_limit_spec.h"
#include "base/vs_text.h"
#include "trace/read/seek.h"

/* The highest use of each device while a chosen phase was open, and in it while chosen steps were: what
 * `vramscope report --phase NAME --step N` shows the memory of. The rules are those of the peaks of phases: an
 * allocation, or the begin of a range, counts for the phases of its thread. */
struct chosen_peaks {
    const struct vs_held_filter *filter; /* its phase and steps choose */
    struct vs_peak devices[VS_DEVICES_MAX]; /* at the user's level, by index of the replay */
    bool reports[VS_DEVICES_MAX]; /* a framework reports its memory */
    unsigned char *answers; /* of each phase, which is never removed: 0 not asked yet, 1 no, 2 yes */
    size_t answer_capacity;
};

/* Until a framework reports its first block, the memory below its blocks counts in their place. */
static void follow_framework(struct chosen_peaks *peaks, const struct vs_replay *replay)
{
    for (unsigned a = 0; a < replay->account_count && a < VS_DEVICES_MAX; a++) {
        const struct vs_user_account *user = &replay->accounts[a]->user;
        uint64_t *bytes = &peaks->devices[a].bytes;
        if (peaks->reports[a] || !user->reports)
            continue;
        peaks->reports[a] = true;
        *bytes = *bytes > user->backing ? *bytes - user->backing : 0;
    }
}

static void raise_peaks(struct chosen_peaks *peaks, struct vs_replay *replay, uint32_t tid)
{
    struct vs_place place = vs_phases_place(&replay->phases, tid);
    bool chosen = vs_held_in_steps(peaks->filter, place);
    if (chosen && place.phase < replay->phases.count) {
        vs_vec_room(&peaks->answers, &peaks->answer_capacity, replay->phases.count, 1);
        unsigned char *answer = &peaks->answers[place.phase];
        if (!*answer)
            *answer = vs_held_phase_is(replay, place.phase, peaks->filter->phase) ? 2 : 1;
        chosen = *answer == 2;
    }
    for (unsigned a = 0; chosen && a < replay->account_count && a < VS_DEVICES_MAX; a++) {
        const struct vs_ledger *sums = &replay->accounts[a]->sums;
        uint64_t bytes = vs_user_sums(replay, a).allocated;
        if (bytes <= peaks->devices[a].bytes)
            continue;
        peaks->devices[a] = (struct vs_peak){
            .bytes = bytes, .event = replay->events, .place = place,
            .time_ns = replay->now_ns, .allocated = sums->now.allocated,
            .requested = sums->now.requested, .reserved = sums->now.reserved};
        vs_peak_states_raised(replay);
    }
}

static enum vs_err chosen_after(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct chosen_peaks *peaks = context;
    if (event->kind != VS_EVENT_range_push && event->kind != VS_EVENT_unrecorded &&
        !vs_event_has(event, VS_PROPERTY_ALLOCATES))
        return VS_OK;
    follow_framework(peaks, replay);
    raise_peaks(peaks, replay, event->tid);
    return VS_OK;
}

#define LINES_MAX 100 /* limit each of notes, options, dropped kinds */

static void add_pair(struct vs_report *report, struct vs_report_pair *pairs, size_t *count,
                     const char *name, const char *value)
{
    if (*count < LINES_MAX)
        pairs[(*count)++] = (struct vs_report_pair){vs_text_copy(&report->memory, name),
                                                    vs_text_copy(&report->memory, value)};
}

struct pass {
    struct vs_reader *reader;
    struct vs_report *report;
    const struct vs_time_window *window; /* NULL: the whole trace */
    struct vs_trace_state *point;
    uint64_t from_ns, to_ns; /* activity between them counts */
    bool ended;              /* read to the trace's end, which the condition describes */
    bool no_more;            /* all activity events of the trace were read */
    struct vs_event_end end; /* the trace's, if has_end: read in the part or after it */
    bool has_end;
    struct vs_growth_tracker *tracker; /* NULL for a point in time, before which not all events are read */
    struct vs_growth_result growth;
    struct vs_failure_groups groups;
    struct vs_finding_groups findings;
    struct vs_device_uses uses;
    struct vs_timeline *timeline; /* NULL for a point in time */
    struct chosen_peaks chosen;
    struct vs_kinds *kinds; /* of the whole trace */
    const struct vs_report_options *asked;
};

static void note_event(struct pass *pass, const struct vs_event *event)
{
    struct vs_report *report = pass->report;
    const struct vs_reader *reader = pass->reader;
    char count[VS_READER_WHY_MAX];
    switch (event->kind) {
    case VS_EVENT_note:
        if (report->note_count < LINES_MAX)
            report->notes[report->note_count++] = (struct vs_report_note){
                event->note.severity,
                vs_text_copy(&report->memory, vs_reader_string(reader, event->note.text))};
        return;
    case VS_EVENT_option:
        add_pair(report, report->options, &report->option_count,
                 vs_reader_string(reader, event->option.name),
                 vs_reader_string(reader, event->option.value));
        return;
    case VS_EVENT_dropped:
        snprintf(count, sizeof count, "%llu", (unsigned long long)event->dropped.count);
        add_pair(report, report->dropped, &report->dropped_count,
                 vs_reader_string(reader, event->dropped.what), count);
        return;
    case VS_EVENT_clock_reading:
        report->device_clock.known = true;
        if (event->clock_reading.error_ns > report->device_clock.error_ns)
            report->device_clock.error_ns = event->clock_reading.error_ns;
        if (event->clock_reading.drift_ppb)
            report->device_clock.drift_ppb = (int64_t)event->clock_reading.drift_ppb;
        return;
    case VS_EVENT_alloc_failed:
        vs_refusal_add(&pass->report->refusals, event->alloc_failed.device,
                       event->alloc_failed.family, event->alloc_failed.error);
        return;
    case VS_EVENT_finding:
        vs_findings_add(&pass->findings, event, pass->point->replay->events);
        return;
    default:
        if (vs_event_has(event, VS_PROPERTY_ACTIVITY))
            vs_device_uses_event(&pass->uses, event);
        vs_activity_event_within(&pass->point->activity, event, pass->from_ns, pass->to_ns);
    }
}

static enum vs_err open_part(struct pass *pass)
{
    struct vs_report_part *part = &pass->report->part;
    if (!pass->window) {
        pass->point = vs_trace_state_open(pass->reader);
        vs_reader_rewind(pass->reader);
        return VS_OK;
    }
    part->window = pass->window->from.given;
    if (part->window && pass->window->to.given && !pass->window->to.by_event)
        pass->to_ns = pass->window->to.value;
    part->point = !part->window;
    enum vs_err err = part->window
                          ? vs_span_open(pass->reader, pass->window, &pass->point)
                          : vs_span_state(pass->reader, pass->window, &pass->point);
    if (err)
        return err;
    part->first_event = part->window ? pass->point->replay->events + 1 : 1;
    part->from_ns = !part->window                    ? 0
                    : pass->window->from.by_event ? pass->point->replay->now_ns
                                                  : pass->window->from.value;
    pass->from_ns = part->from_ns;
    /* The options and notes before the part that is read; for a window only those still valid. */
    const struct vs_retained *retained = &pass->point->retained;
    for (size_t i = 0; i < retained->count; i++) {
        const struct vs_event *event = &retained->items[i];
        bool said = event->kind == VS_EVENT_note || event->kind == VS_EVENT_dropped;
        if (event->kind == VS_EVENT_option || (said && pass->report->part.point))
            note_event(pass, event);
    }
    return VS_OK;
}

/* --- the observers --- */

/* Counts a failure that the replay forgets: of many failures it keeps the latest. */
static void failure_forgotten(void *groups, const struct vs_replay *replay,
                              const struct vs_published *change)
{
    (void)replay;
    vs_failure_groups_add(groups, change->failure);
}

static enum vs_err notes_after(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct pass *pass = context;
    (void)replay;
    note_event(pass, event);
    return VS_OK;
}

static enum vs_err read_events(struct pass *pass, struct vs_symbols *symbols)
{
    enum vs_err err = open_part(pass);
    if (err)
        return err;
    struct vs_replay *replay = pass->point->replay;
    bool all = pass->report->part.point; /* all read by then */
    bool of_phase = vs_report_of_phase(pass->report);
    if (!all)
        vs_growth_open(replay, &pass->tracker);
    if (of_phase)
        follow_framework(&pass->chosen, replay);
    for (size_t i = 0; of_phase && i < replay->phases.thread_count; i++) /* with ranges open before the part */
        raise_peaks(&pass->chosen, replay, replay->phases.threads[i].tid);
    if (!all)
        vs_peak_states_begin(replay, of_phase ? pass->chosen.devices : pass->asked->chosen);
    if (!pass->window)
        pass->kinds = vs_kinds_open(replay, symbols);
    if (pass->asked->begin)
        pass->asked->begin(pass->asked->observed, replay, pass->tracker); /* after the kinds of
                                                                           * what ends */
    uint64_t activity = vs_event_kinds(VS_PROPERTY_ACTIVITY);
    if (!all)
        pass->timeline = vs_timeline_open(pass->from_ns, pass->to_ns);
    struct vs_observer observers[5 + VS_REPORT_OBSERVERS_MAX] = {
        pass->kinds ? vs_kinds_observer(pass->kinds) : (struct vs_observer){0},
        {of_phase ? VS_KINDS_EVERY : 0, NULL, chosen_after, &pass->chosen},
        {VS_KINDS_EVERY, NULL, vs_growth_observe, pass->tracker},
        {activity | VS_KIND_BIT(VS_EVENT_note) | VS_KIND_BIT(VS_EVENT_option) | VS_KIND_BIT(VS_EVENT_dropped) |
             VS_KIND_BIT(VS_EVENT_clock_reading) | VS_KIND_BIT(VS_EVENT_alloc_failed) | VS_KIND_BIT(VS_EVENT_finding),
         NULL, notes_after, pass},
        {vs_timeline_kinds(), NULL, vs_timeline_event, pass->timeline}};
    for (size_t i = 0; i < pass->asked->observer_count; i++)
        observers[5 + i] = pass->asked->observers[i];
    vs_replay_subscribe(replay, VS_CHANGE_FORGOTTEN, failure_forgotten, &pass->groups);
    if (!all)
        err = vs_reading_run(pass->reader, replay, pass->window, observers,
                             5 + pass->asked->observer_count);
    if (err)
        return err;
    vs_replay_finish(replay);
    if (pass->kinds)
        vs_kinds_finish(pass->kinds);
    if (pass->tracker)
        vs_growth_finish(pass->tracker, &pass->growth);
    pass->ended = pass->no_more = vs_reader_ended(pass->reader);
    pass->has_end = replay->has_end;
    pass->end = replay->end.end;
    if (pass->window) {
        struct vs_report_part *part = &pass->report->part;
        part->last_event = replay->events;
        part->events = part->last_event + 1 - part->first_event;
        part->from_ns = vs_replay_since(replay, part->from_ns);
        pass->to_ns = pass->window->to.given && !pass->window->to.by_event ? pass->window->to.value
                                                                          : replay->now_ns;
        part->to_ns = vs_replay_since(replay, pass->to_ns);
        if (pass->timeline)
            vs_timeline_until(pass->timeline, pass->to_ns);
    }
    struct vs_event late; /* the activity of the part that was recorded only after it */
    while (!pass->no_more && !(pass->no_more = vs_reader_next(pass->reader, &late) != VS_OK)) {
        if (late.time_ns > vs_span_late_ns(pass->to_ns))
            break;
        if (late.kind == VS_EVENT_end) {
            pass->has_end = true;
            pass->end = late.end;
        }
        vs_activity_event_within(&pass->point->activity, &late, pass->from_ns, pass->to_ns);
        if (pass->timeline)
            err = vs_timeline_event(pass->timeline, replay, &late);
    }
    if (pass->timeline)
        vs_timeline_finish(pass->timeline, replay);
    /* The time until which kernels are known, where later ones were not delivered. */
    const struct vs_activity *ran = &pass->point->activity;
    uint64_t start_ns = vs_replay_start_ns(replay), known_ns = ran->known_ns;
    if (ran->last_ns > known_ns)
        known_ns = ran->last_ns; /* from a checkpoint */
    bool killed = !pass->has_end || pass->end.reason == VS_END_SIGNAL ||
                  pass->end.reason == VS_END_KILLED;
    if (pass->no_more && killed && known_ns < pass->to_ns && known_ns > start_ns)
        pass->report->kernels_until_ns = known_ns - start_ns;
    return VS_OK;
}

/* The event at which the live memory of *device* is listed: the chosen time, or its peak, that of
 * the chosen phase if there is one; 0: none. */
static uint64_t held_event(const struct vs_report *report, const struct vs_report_device *device)
{
    if (report->part.point)
        return report->part.last_event;
    return vs_report_of_phase(report) ? device->peak_chosen.event : device->peak_user.event;
}

/* The lists of all devices at *event*: *summary* has the state after it. */
static void fill_peak(struct pass *pass, const struct vs_summary *summary,
                      struct vs_kinds_table *kinds, uint64_t event)
{
    struct vs_report *report = pass->report;
    bool whole = !report->part.point && !report->part.window; /* else not all of the activity
                                                                * was read */
    struct vs_held_request request = {.filter = &report->wish.filter,
                                      .others = report->wish.filter.phase != NULL,
                                      .steps = pass->tracker ? &pass->growth.steps : NULL,
                                      .uses = whole ? &pass->uses : NULL,
                                      .whole = report->wish.by & 1u << VS_BY_OP ? pass->point->replay : NULL,
                                      .picture = report->wish.map || report->wish.everything};
    for (size_t i = 0; i < report->device_count; i++) {
        struct vs_report_device *device = &report->devices[i];
        unsigned account = vs_replay_account(summary->replay, device->device);
        bool held = account != VS_ACCOUNT_NONE && event == held_event(report, device);
        if (held && kinds && pass->kinds)
            vs_kinds_of_live(pass->kinds, summary->replay, account, &kinds[i]);
        vs_report_device_at(device, summary, event);
        if (!held)
            continue;
        request.kinds = kinds && kinds[i].event ? &kinds[i] : NULL;
        vs_held_build(summary, account, &request, &device->held);
        const struct vs_report_peak *peak =
            vs_report_of_phase(report) ? &device->peak_chosen : &device->peak_user;
        if (!report->part.point) {
            device->held.time_ns = peak->time_ns;
            device->held.place = peak->place;
        }
    }
}

/* The lists at the peaks. For a point in time, which is read from a checkpoint, the peaks before it are sought. */
static enum vs_err fill_peaks(struct pass *pass, struct vs_symbols *symbols,
                              const struct vs_wrappers *wrappers, size_t sites_max)
{
    struct vs_report *report = pass->report;
    bool any = false;
    for (size_t i = 0; i < report->device_count; i++) /* kinds are PyTorch's */
        any |= report->devices[i].has_framework && strstr(report->devices[i].framework, "PyTorch");
    struct vs_kinds_table *kinds = any && !vs_recording_partial(&report->recording)
                                       ? vs_xcalloc(report->device_count, sizeof *kinds) : NULL;
    enum vs_err err = VS_OK;
    if (kinds && !pass->kinds) { /* a reading of its own, because kinds follow from what came
                                  * before a part */
        struct vs_kinds_query *queries = vs_xcalloc(report->device_count, sizeof *queries);
        for (size_t i = 0; i < report->device_count; i++)
            queries[i] = (struct vs_kinds_query){.device = report->devices[i].device,
                                                 .blocks = true,
                                                 .event = held_event(report, &report->devices[i])};
        err = vs_kinds_read(pass->reader, symbols, queries, report->device_count, kinds);
        free(queries);
    }
    if (report->part.point)
        (void)!vs_reader_attach(pass->reader); /* without checkpoints from the start */
    for (uint64_t event = 0, next; !err; event = next) {
        next = UINT64_MAX;
        for (size_t i = 0; i < report->device_count; i++) {
            uint64_t held = held_event(report, &report->devices[i]);
            next = held > event && held < next ? held : next;
            next = vs_report_next_peak(&report->devices[i], event, next);
        }
        if (next == UINT64_MAX)
            break;
        struct vs_trace_state *sought = NULL;
        struct vs_replay *state = NULL;
        if (report->part.point)
            err = vs_trace_state_at_event(pass->reader, next, &sought);
        else
            state = vs_peak_states_at(pass->point->replay, next);
        struct vs_replay *replay = sought ? sought->replay : state;
        if (replay) {
            replay->phases.after_last = pass->point->replay->phases.after_last;
            struct vs_summary summary = {.memory = &report->memory, .replay = replay, .symbols = symbols,
                                         .sites_max = sites_max, .wrappers = wrappers};
            fill_peak(pass, &summary, kinds, next);
        }
        vs_trace_state_close(sought);
        vs_peak_state_close(state);
    }
    for (size_t i = 0; kinds && i < report->device_count; i++)
        vs_kinds_table_free(&kinds[i]);
    free(kinds);
    return err;
}

#define FAR_EVENTS ((uint64_t)1 << 22) /* a second or less to decode */

/* The memory that is reserved but not in use at the time, by the call sites that requested its
 * segments. Their stacks are in no checkpoint: of a device with segments of the caching allocator the
 * trace is decoded from its start, which is fast; without *far* not up to a time that is far in it. */
static void fill_reserved_now(struct vs_report *report, const struct vs_summary *summary,
                              struct vs_reader *reader, bool far)
{
    const struct vs_replay *replay = summary->replay;
    struct vs_held_segments held = {0};
    struct vs_event event;
    bool segments = replay->segments.count > 0;
    if (vs_recording_partial(&report->recording) || (segments && !far &&
                                                     replay->events > FAR_EVENTS))
        return;
    if (segments)
        vs_reader_rewind(reader);
    for (uint64_t n = 1; segments && n <= replay->events && vs_reader_next(reader, &event) == VS_OK;
         n++)
        vs_held_segments_event(&held, &event);
    for (size_t i = 0; i < report->device_count; i++) {
        struct vs_report_device *device = &report->devices[i];
        unsigned account = vs_replay_account(replay, device->device);
        struct vs_held_segment *unused = NULL;
        size_t count = 0;
        if (account == VS_ACCOUNT_NONE)
            continue;
        vs_held_unused(&held, replay, account, &unused, &count);
        vs_segment_sites(summary, unused, count, device->device, &device->cached);
        device->cached.weight = 1;
        free(unused);
    }
    vs_held_segments_free(&held);
}

/* The process, and the condition of its trace. */
static void fill_process(struct pass *pass, const struct vs_summary *summary, const char *path)
{
    struct vs_report *report = pass->report;
    const struct vs_replay *replay = summary->replay;
    const struct vs_event none = {0}, *process = replay->has_process ? &replay->process : &none;
    char why[VS_READER_WHY_MAX] = "only the requested part was read";
    uint64_t last = pass->point->activity.last_ns;
    report->condition = pass->ended ? vs_reader_condition(pass->reader, why) : VS_TRACE_COMPLETE;
    report->condition_text = vs_text_copy(&report->memory, why);
    report->outcome = vs_reader_outcome(pass->reader);
    report->path = vs_text_copy(&report->memory, path);
    report->trace_bytes = vs_reader_bytes(pass->reader);
    report->start_ns = vs_replay_start_ns(replay);
    report->duration_ns = vs_replay_since(replay, last > replay->now_ns ? last : replay->now_ns);
    report->events = replay->events;
    report->unmatched_frees = replay->unmatched_frees;
    report->unmatched_pops = replay->phases.unmatched_pops;
    report->ignored = replay->ignored;
    report->has_end = replay->has_end;
    if (replay->has_end) {
        report->end_reason = replay->end.end.reason;
        report->end_status = replay->end.end.status;
    }
    report->recording = replay->recording;
    report->totals_ns = replay->totals_ns ? vs_replay_since(replay, replay->totals_ns) : 0;
    for (int i = 0; i <= VS_RECORDING_TOTALS; i++)
        report->recording.since_ns[i] = vs_replay_since(replay, replay->recording.since_ns[i]);
    report->recording.paused_ns = vs_replay_since(replay, replay->recording.paused_ns);
    report->pid = process->process.pid;
    report->ppid = process->process.ppid;
    report->start_realtime_ns = process->process.start_realtime_ns;
    report->exe = vs_summary_text(summary, process->process.exe);
    report->cmdline = vs_summary_text(summary, process->process.cmdline);
    report->host = vs_summary_text(summary, process->process.host);
    report->boot = vs_summary_text(summary, process->process.boot);
    report->born_ns = process->process.born_ns;
    report->version = vs_summary_text(summary, process->process.version);
    report->policy = vs_summary_text(summary, process->process.policy);
    report->program = vs_text_base_name(report->exe);
    for (size_t i = 0; i < report->option_count; i++)
        vs_job_rank_option(&report->job, report->options[i].name, report->options[i].value);
}

/* All failures, in the order of their events: of a point in time the latest ones. */
static void fill_failures(struct pass *pass, const struct vs_summary *summary)
{
    struct vs_report *report = pass->report;
    struct vs_replay *replay = pass->point->replay;
    bool well = pass->has_end && pass->end.reason == VS_END_EXIT && !pass->end.status;
    if (report->part.point) /* the events before it were only replayed */
        replay->firsts = (struct vs_failure_firsts){.count = 0};
    else
        vs_did_without(replay, summary->symbols, well);
    report->firsts = vs_report_firsts(summary);
    report->first_count = replay->firsts.count;
    for (size_t i = 0; i <= VS_HOST_INDEX; i++)
        report->failures_recovered += replay->firsts.recovered[i];
    report->failures = vs_report_failures(summary);
    report->failure_count = replay->failure_count;
    report->failure_total = replay->failure_total;
    for (size_t i = 0; i < replay->failure_count; i++) {
        const struct vs_report_failure *failure = &report->failures[i];
        report->failures_recovered += failure->recovered;
        if (report->part.point && !failure->framework && !failure->overhead)
            vs_refusal_add(&report->refusals, failure->device, failure->family, failure->error);
        vs_failure_groups_add(&pass->groups, &replay->failures[i]);
    }
    report->groups = vs_report_failure_groups(summary, &pass->groups, &report->group_count);
    report->ungrouped = pass->groups.left_out;
    vs_findings_explain(&pass->findings, pass->reader);
    report->findings = vs_report_findings(summary, &pass->findings);
    report->finding_count = pass->findings.count;
    report->findings_ungrouped = pass->findings.left_out;
}

static enum vs_err build(struct pass *pass, const char *path,
                         const struct vs_report_options *options)
{
    struct vs_report *report = pass->report;
    struct vs_symbols *symbols = vs_symbols_open(pass->reader);
    enum vs_err err = read_events(pass, symbols);
    if (err) {
        vs_symbols_close(symbols);
        return err;
    }
    const struct vs_replay *replay = pass->point->replay;
    struct vs_wrappers wrappers;
    struct vs_summary summary = {.memory = &report->memory, .replay = replay,
                                 .symbols = symbols, .sites_max = options->sites_max,
                                 .wrappers = &wrappers,
                                 .growth = pass->tracker ? &pass->growth : NULL,
                                 .all_growth = options->all_growth};
    bool whole = !report->part.window && !report->part.point;
    vs_summary_wrappers(&summary, &wrappers);
    fill_process(pass, &summary, path);
    vs_growth_steps_fill(&summary, &report->steps);
    report->devices = vs_report_devices(&summary, report->steps.done, &pass->point->activity,
                                        options->kernels_max);
    report->device_count = replay->account_count;
    vs_report_host(&summary, &report->host_memory);
    report->phases = vs_report_phases(&summary, report->devices, report->device_count,
                                      &report->phase_count);
    const char *calls = vs_report_option(report, "copy_stacks"),
        *limit = vs_report_option(report, "limit");
    struct vs_limit_spec spec;
    bool limited = limit && *limit && !vs_limit_parse(limit, &spec);
    report->copy_sites_known = whole && calls && strcmp(calls, "on") == 0;
    for (size_t i = 0; i < report->device_count; i++) {
        struct vs_report_device *device = &report->devices[i];
        if (vs_report_of_phase(report))
            device->peak_chosen = vs_report_peak_of(
                &summary, &pass->chosen.devices[vs_replay_account(replay, device->device)]);
        for (uint32_t kind = 0; !pass->window && kind < VS_COPY_KIND_COUNT; kind++)
            vs_timeline_sites(&summary, pass->timeline, VS_ROWS_COPIES, device->device, kind,
                              &device->copy_sites[kind]);
        const struct vs_report_wish *wish = &report->wish;
        if (pass->timeline && options->timeline)
            vs_timeline_fill(&summary, pass->timeline, device->device,
                             wish->everything || vs_report_wish_time(wish) || !options->wish, &device->timeline);
        uint64_t most = limited && device->device < VS_LIMIT_DEVICES_MAX
                            ? vs_limit_bytes(&spec, (uint32_t)device->device, device->total_bytes)
                            : VS_LIMIT_NONE;
        device->limit_bytes = most == VS_LIMIT_NONE ? 0 : most;
    }
    for (uint32_t what = 0; what < VS_UNCOMPUTED_COUNT; what++)
        vs_timeline_sites(&summary, pass->timeline, VS_ROWS_READS, 0, what, &report->uncomputed[what]);
    if (report->part.point)
        fill_reserved_now(report, &summary, pass->reader, report->wish.by & 1u << VS_BY_SITE);
    fill_failures(pass, &summary);
    err = fill_peaks(pass, symbols, &wrappers, options->sites_max);
    bool passed = false;
    for (size_t i = 0; i < report->device_count; i++)
        passed |= report->devices[i].held.blocks > 0;
    if (report->wish.filter.site && !passed)
        report->site_unknown = !vs_held_site_seen(&summary, report->wish.filter.site);
    char note[VS_SYMBOLS_NOTE_MAX];
    report->missing_modules = vs_symbols_missing(symbols);
    vs_symbols_note(symbols, note);
    report->symbols_note = vs_text_copy(&report->memory, note);
    vs_symbols_close(symbols);
    return err;
}

enum vs_err vs_report_build(struct vs_reader *reader, const char *path,
                            const struct vs_report_options *options, struct vs_report **out)
{
    static const struct vs_report_options defaults = {.timeline = true};
    struct pass pass = {.reader = reader, .report = vs_xcalloc(1, sizeof *pass.report),
                        .to_ns = UINT64_MAX};
    if (!options)
        options = &defaults;
    pass.asked = options;
    struct vs_arena *memory = &pass.report->memory;
    pass.report->notes = vs_xarena(memory, LINES_MAX * sizeof *pass.report->notes);
    pass.report->options = vs_xarena(memory, LINES_MAX * sizeof *pass.report->options);
    pass.report->dropped = vs_xarena(memory, LINES_MAX * sizeof *pass.report->dropped);
    if (options->wish)
        pass.report->wish = *options->wish;
    pass.chosen.filter = &pass.report->wish.filter;
    if (options->window && (options->window->from.given || options->window->to.given))
        pass.window = options->window;
    enum vs_err err = build(&pass, path, options);
    vs_growth_close(pass.tracker);
    vs_kinds_close(pass.kinds);
    if (options->state && !err) {
        *options->state = pass.point;
        pass.point->replay->subscriber_count = 0; /* they end here */
    } else {
        vs_trace_state_close(pass.point);
    }
    vs_timeline_close(pass.timeline);
    free(pass.chosen.answers);
    if (err) {
        vs_report_free(pass.report);
        return err;
    }
    *out = pass.report;
    return VS_OK;
}

struct vs_report_device *vs_report_device_of(const struct vs_report *report, uint64_t device)
{
    for (size_t i = 0; i < report->device_count; i++)
        if (report->devices[i].device == device)
            return &report->devices[i];
    return NULL;
}

const char *vs_report_option(const struct vs_report *report, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < report->option_count; i++)
        if (strcmp(report->options[i].name, name) == 0)
            value = report->options[i].value;
    return value;
}

void vs_report_free(struct vs_report *report)
{
    if (!report)
        return;
    struct vs_arena memory = report->memory; /* the arena's chunks do not contain the report */
    vs_arena_free_all(&memory);
    free(report);
}

double vs_report_external_fragmentation(const struct vs_report_peak *peak)
{
    if (peak->free_bytes == 0)
        return 0;
    return 1 - (double)peak->largest_hole / (double)peak->free_bytes;
}
