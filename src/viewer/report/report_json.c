/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/report/report_text.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/report/site_text.h"
#include "analysis/report/window_peaks.h"
#include "viewer/report/report_parts.h"

static const char *const conditions[] = {
    [VS_TRACE_COMPLETE] = "complete", [VS_TRACE_LIVE] = "live", [VS_TRACE_TRUNCATED] = "truncated",
    [VS_TRACE_DAMAGED] = "damaged"};
static const char *const reasons[] = {
    [VS_END_EXIT] = "exit", [VS_END_SIGNAL] = "signal", [VS_END_EXEC] = "exec",
    [VS_END_KILLED] = "killed", [VS_END_COPY] = "copied", [VS_END_IMPORTED] = "imported"};

static const char *reason_name(uint64_t reason)
{
    bool known = reason < sizeof reasons / sizeof *reasons && reasons[reason];
    return known ? reasons[reason] : "stopped";
}

static const char *level_name(enum vs_level level)
{
    return level == VS_LEVEL_FRAMEWORK ? "framework" : "device";
}

void vs_report_json_parts(struct vs_json *json, const struct vs_site_parts *parts)
{
    if (!parts->count)
        return;
    for (size_t i = 0; vs_json_next(json, "parts", i, parts->count); i++) {
        const struct vs_site_part *part = &parts->items[i];
        vs_json_object(json, NULL, VS_J_TEXT("function", part->function),
                       VS_J_TEXT("file", part->file), VS_J_UINT("line", part->line),
                       VS_J_TEXT("library", part->library), VS_J_UINT("bytes", part->bytes),
                       VS_J_UINT("count", part->count));
    }
}

void vs_report_json_frames(struct vs_json *json, const struct vs_report_site *site)
{
    char text[VS_CHAIN_TEXT_MAX];
    vs_json_members(json, VS_J_TEXT("text", vs_text_label(text, site)),
                    VS_J_TEXT("line", site->line), VS_J_TEXT("through", site->through));
    vs_report_json_parts(json, &site->parts);
    vs_json_members(json, VS_J_UINT("stacks", site->stacks), VS_J_BOOL("folds", site->folds),
                    VS_J_UINT("wrapper_frames", site->wrappers));
    for (size_t i = 0; vs_json_next(json, "frames", i, json->brief ? 0 : site->frame_count); i++) {
        const struct vs_report_frame *frame = &site->frames[i];
        vs_json_object(json, NULL, VS_J_TEXT("function", frame->function),
                       VS_J_TEXT("file", frame->file), VS_J_UINT("line", frame->line),
                       VS_J_TEXT("module", frame->module), VS_J_BOOL("inlined", frame->inlined),
                       VS_J_BOOL("known", frame->known), VS_J_TEXT("library", frame->library));
    }
}

void vs_report_json_site(struct vs_json *json, const struct vs_report_site *site)
{
    vs_json_members(json, VS_J_UINT("count", site->count),
                    VS_J_TEXT("family", vs_family_name(site->family)), VS_J_TEXT("api", site->api),
                    VS_J_UINT("allocations", site->allocs), VS_J_UINT("frees", site->frees),
                    VS_J_UINT("requested_bytes_total", site->alloc_bytes),
                    VS_J_UINT("largest_bytes", site->largest));
#define COUNTER(name, key) vs_json_uint(json, key, site->name);
    VS_SITE_COUNTERS(COUNTER)
#undef COUNTER
    vs_json_members(json, VS_J_UINT("lifetime_mean_ns", site->lifetime_mean_ns),
                    VS_J_BOOL("growing", site->growing));
    if (site->growing || site->growth_filled) {
        vs_json_members(json, VS_J_UINT("growth_bytes", site->growth_bytes),
                        VS_J_UINT("growth_bytes_per_step", site->growth_per_step));
        if (site->growth_in_steps)
            vs_json_members(json, VS_J_UINT("growth_since_step", site->growth_since),
                            VS_J_UINT("growth_until_step", site->growth_until),
                            VS_J_UINT("growth_every_steps", site->growth_every));
        vs_json_members(json, VS_J_UINT("growth_since_ns", site->growth_since_ns),
                        VS_J_UINT("growth_until_ns", site->growth_until_ns),
                        VS_J_BOOL("growth_freed_at_end", site->growth_freed),
                        VS_J_BOOL("growth_ended", site->growth_filled),
                        VS_J_RATIO("growth_confidence", site->growth_confidence));
    }
    vs_json_string(json, "level", level_name(site->level));
    vs_report_json_frames(json, site);
}

void vs_report_json_sites(struct vs_json *json, const char *key,
                          const struct vs_report_sites *sites)
{
    vs_json_begin(json, key, VS_J_UINT("total_bytes", sites->total_bytes),
                  VS_J_UINT("omitted_count", sites->omitted_count),
                  VS_J_UINT("omitted_bytes", sites->omitted_bytes),
                  VS_J_UINT_IF(sites->weight > 1, "estimated_from_one_in", sites->weight));
    if (sites->weight > 1 || sites->small_count || sites->limit_bytes)
        vs_json_members(json, VS_J_UINT("exact_bytes", sites->exact_bytes),
                        VS_J_UINT("small_bytes", sites->small_bytes),
                        VS_J_UINT("small_count", sites->small_count),
                        VS_J_INT("after_limit_bytes", sites->limit_bytes));
    if (sites->whole_bytes)
        vs_json_int(json, "not_recorded_bytes", vs_report_sites_unlisted(sites));
    for (size_t i = 0; vs_json_next_object(json, "sites", i, sites->count); i++) {
        const struct vs_report_site *site = &sites->items[i];
        vs_json_members(json, VS_J_UINT("bytes", site->bytes),
                        VS_J_UINT_IF(sites->weight > 1, "standard_error_bytes",
                                     vs_report_site_error(sites, site)));
        vs_report_json_site(json, site);
    }
    vs_json_end_object(json);
}

static void families_json(struct vs_json *json, const struct vs_report_family *families)
{
    vs_json_begin_object(json, "families");
    for (int f = 0; f < VS_FAMILY_COUNT; f++) {
        const struct vs_report_family *row = &families[f];
        if (!vs_report_family_seen(row))
            continue;
        vs_json_object(json, vs_family_name((uint64_t)f), VS_J_UINT("allocations", row->allocs),
                       VS_J_UINT("frees", row->frees), VS_J_UINT("failures", row->failures),
                       VS_J_UINT("requested_bytes_total", row->bytes),
                       VS_J_UINT("peak_bytes", row->peak_bytes),
                       VS_J_UINT("live_bytes", row->live_bytes),
                       VS_J_UINT("live_count", row->live_count));
    }
    vs_json_end_object(json);
}

static void peak_json(struct vs_json *json, const char *key, const struct vs_report_peak *peak)
{
    vs_json_begin(json, key, VS_J_UINT("bytes", peak->bytes), VS_J_UINT("time_ns", peak->time_ns),
                  VS_J_UINT("event", peak->event), VS_J_TEXT("phase", peak->place),
                  VS_J_UINT("allocated_bytes", peak->allocated),
                  VS_J_UINT("requested_bytes", peak->requested),
                  VS_J_UINT("reserved_bytes", peak->reserved),
                  VS_J_UINT("free_in_segments_bytes", peak->free_bytes),
                  VS_J_UINT("largest_hole_bytes", peak->largest_hole),
                  VS_J_UINT("holes", peak->holes));
    if (peak->holes_unknown)
        vs_json_bool(json, "holes_unknown", true);
    vs_json_ratio(json, "external_fragmentation", vs_report_external_fragmentation(peak));
    vs_json_end_object(json);
}

static void tally_json(struct vs_json *json, const char *key, const struct vs_activity_tally *tally)
{
    vs_json_object(json, key, VS_J_UINT("count", tally->count), VS_J_UINT("bytes", tally->bytes),
                   VS_J_UINT("time_ns", tally->time_ns));
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void device_json(struct vs_json *json, const struct vs_report_device *device)
{
    vs_json_begin(json, NULL, VS_J_UINT("device", device->device), VS_J_TEXT("name", device->name),
                  VS_J_TEXT("uuid", device->uuid), VS_J_UINT("total_bytes", device->total_bytes),
                  VS_J_UINT_IF(device->limit_bytes, "limit_bytes", device->limit_bytes),
                  VS_J_BOOL("simulated", device->simulated),
                  VS_J_UINT("sm_count", device->sm_count),
                  VS_J_UINT("cc_major", device->cc_major),
                  VS_J_UINT("cc_minor", device->cc_minor));
    peak_json(json, "peak_allocated", &device->peak_allocated);
    vs_json_string(json, "level", level_name(device->level));
    peak_json(json, "peak_user", &device->peak_user);
    peak_json(json, "peak_requested", &device->peak_requested);
    peak_json(json, "peak_reserved", &device->peak_reserved);
    vs_json_members(json, VS_J_UINT("peak_reserved_first_ns", device->peak_reserved_first_ns),
                    VS_J_TEXT("peak_reserved_first_phase", device->peak_reserved_first_place),
                    VS_J_RATIO("utilisation",
                               ratio(device->peak_reserved.allocated, device->peak_reserved.reserved)),
                    VS_J_RATIO("external_fragmentation",
                               vs_report_external_fragmentation(&device->peak_reserved)),
                    VS_J_RATIO("peak_to_peak_fragmentation",
                               device->peak_reserved.bytes
                               ? 1 - ratio(device->peak_allocated.bytes, device->peak_reserved.bytes)
                               : 0),
                    VS_J_UINT("rounding_waste_bytes",
                              device->peak_allocated.allocated - device->peak_allocated.requested),
                    VS_J_UINT("allocated_at_end_bytes", device->allocated),
                    VS_J_UINT("requested_at_end_bytes", device->requested),
                    VS_J_UINT("reserved_at_end_bytes", device->reserved),
                    VS_J_UINT("lost_with_context_bytes", device->lost_bytes),
                    VS_J_UINT("lost_with_context_count", device->lost_count),
                    VS_J_UINT("segment_allocations", device->segment_allocs),
                    VS_J_UINT("segment_frees", device->segment_frees),
                    VS_J_UINT("graph_reserved_at_end_bytes", device->graph_reserved),
                    VS_J_UINT("graph_reserved_peak_bytes", device->graph_reserved_peak),
                    VS_J_UINT("graph_used_peak_bytes", device->graph_used_peak),
                    VS_J_BOOL("growing", device->growth_steady),
                    VS_J_UINT("growth_bytes_per_step",
                              device->growth_steady ? device->growth_per_step : 0));
    families_json(json, device->family);
    vs_families_json(json, "families_at_peak_allocated", device->family_at_peak);
    if (device->has_framework)
        vs_json_object(json, "framework", VS_J_TEXT("name", device->framework), VS_J_TEXT("contents", device->contents),
                       VS_J_UINT("allocations", device->framework_allocs),
                       VS_J_UINT("frees", device->framework_frees),
                       VS_J_UINT("allocated_at_end_bytes", device->framework_allocated),
                       VS_J_UINT("peak_allocated_bytes", device->framework_peak_allocated),
                       VS_J_UINT("peak_reserved_bytes", device->framework_peak_reserved),
                       VS_J_UINT("failures", device->framework_ooms),
                       VS_J_UINT("retries", device->framework_retries));
    for (size_t i = 0; vs_json_next(json, "frameworks", i, VS_FRAMEWORK_COUNT); i++)
        if (device->frameworks[i].bytes)
            vs_json_object(json, NULL, VS_J_TEXT("name", vs_frameworks[i].name),
                           VS_J_UINT("bytes", device->frameworks[i].bytes),
                           VS_J_UINT("count", device->frameworks[i].count),
                           VS_J_TEXT("recorded", vs_frameworks[i].seen), VS_J_TEXT("to_see_more", vs_frameworks[i].more));
    vs_json_begin_object(json, "device_memory");
    vs_balance_json(json, "highest_use", &device->balance_peak);
    vs_balance_json(json, "last_reading", &device->balance_last);
    vs_json_end_object(json);
    vs_report_json_sites(json, "sites_at_peak_allocated", &device->at_peak);
    vs_report_json_sites(json, "sites_live_at_end", &device->at_end);
    vs_report_json_sites(json, "sites_growing", &device->growing);
    vs_report_json_sites(json, "sites_filled", &device->filled);
    vs_report_json_sites(json, "device_sites_at_peak_allocated", &device->device_at_peak);
    vs_report_json_sites(json, "device_sites_live_at_end", &device->device_at_end);
    vs_held_json(json, "live", &device->held);
    if (device->cached.items)
        vs_report_json_sites(json, "cached_by_site", &device->cached);
    vs_churn_json(json, "repeated_allocations", device);
    vs_json_begin(json, "kernels", VS_J_UINT("count", device->kernel_total.count),
                  VS_J_UINT("time_ns", device->kernel_total.time_ns));
    for (size_t i = 0; vs_json_next(json, "by_name", i, device->kernel_count); i++) {
        const struct vs_report_kernel *kernel = &device->kernels[i];
        vs_json_object(json, NULL, VS_J_TEXT("name", kernel->name),
                       VS_J_UINT("count", kernel->count), VS_J_UINT("time_ns", kernel->time_ns),
                       VS_J_UINT("shortest_ns", kernel->shortest_ns),
                       VS_J_UINT("longest_ns", kernel->longest_ns));
    }
    vs_json_end_object(json);
    vs_json_begin_object(json, "copies");
    for (int k = 0; k < VS_COPY_KIND_COUNT; k++)
        if (device->copies[k].count)
            tally_json(json, vs_copy_kind_name((uint64_t)k), &device->copies[k]);
    vs_json_end_object(json);
    vs_json_begin_object(json, "copies_by_site");
    for (int k = 0; k < VS_COPY_KIND_COUNT; k++)
        if (device->copy_sites[k].count)
            vs_report_json_sites(json, vs_copy_kind_name((uint64_t)k), &device->copy_sites[k]);
    vs_json_end_object(json);
    tally_json(json, "memsets", &device->sets);
    tally_json(json, "syncs", &device->syncs);
    vs_timeline_json(json, device);
    vs_json_end_object(json);
}

void vs_report_json_failure(struct vs_json *json, const char *key,
                            const struct vs_report_failure *failure)
{
    vs_json_begin(json, key, VS_J_UINT("event", failure->event),
                  VS_J_UINT("time_ns", failure->time_ns), VS_J_UINT("tid", failure->tid),
                  VS_J_TEXT("level", failure->framework ? "framework" : "driver"),
                  VS_J_TEXT("what", vs_failure_key(failure)),
                  VS_J_BOOL("recovered", failure->recovered),
                  VS_J_KNOWN("device", !failure->host, failure->device),
                  VS_J_TEXT("family", vs_family_name(failure->family)),
                  VS_J_TEXT("api", failure->api),
                  VS_J_UINT("requested_bytes", failure->requested),
                  VS_J_UINT("device_requested_bytes", failure->device_requested),
                  VS_J_UINT("device_refusals", failure->attempts),
                  VS_J_UINT("error", failure->error),
                  VS_J_TEXT("error_name",
                            failure->framework ? NULL : vs_error_text(failure->error)),
                  VS_J_UINT("device_free_bytes", failure->device_free),
                  VS_J_UINT("device_total_bytes", failure->device_total),
                  VS_J_UINT("allocated_bytes", failure->allocated),
                  VS_J_UINT("reserved_bytes", failure->reserved),
                  VS_J_TEXT("phase", failure->place));
    vs_report_json_frames(json, &failure->site);
    vs_json_end_object(json);
}

/* Whether a later value of the same option applies. */
static bool set_again(const struct vs_report *report, size_t option)
{
    for (size_t i = option + 1; i < report->option_count; i++)
        if (strcmp(report->options[i].name, report->options[option].name) == 0)
            return true;
    return false;
}

static void process_json(struct vs_json *json, const struct vs_report *report)
{
    const struct vs_job_rank *job = &report->job;
    vs_json_object(json, "process", VS_J_TEXT("program", report->program),
                   VS_J_TEXT("exe", report->exe), VS_J_TEXT("cmdline", report->cmdline),
                   VS_J_TEXT("host", report->host), VS_J_UINT("pid", report->pid),
                   VS_J_UINT("ppid", report->ppid), VS_J_UINT_IF(job->has_rank, "rank", job->rank),
                   VS_J_UINT_IF(job->has_local_rank, "local_rank", job->local_rank),
                   VS_J_UINT_IF(job->has_world_size, "world_size", job->world_size),
                   VS_J_TEXT("policy", report->policy),
                   VS_J_TEXT("recorder_version", report->version),
                   VS_J_UINT("start_realtime_ns", report->start_realtime_ns),
                   VS_J_UINT("start_monotonic_ns", report->start_ns),
                   VS_J_UINT("duration_ns", report->duration_ns),
                   VS_J_TEXT("end", report->has_end ? reason_name(report->end_reason) : NULL),
                   VS_J_KNOWN("status", report->has_end, report->end_status));
    char cut[VS_RECORDING_TEXT_MAX];
    vs_json_object(json, "trace", VS_J_TEXT("path", report->path),
                   VS_J_UINT("bytes", report->trace_bytes), VS_J_UINT("events", report->events),
                   VS_J_TEXT("condition", conditions[report->condition]),
                   VS_J_TEXT("condition_text", report->condition_text),
                   VS_J_TEXT("cut_short", vs_recording_cut_text(cut, report) ? cut : NULL),
                   VS_J_UINT_IF(report->kernels_until_ns, "kernels_until_ns",
                                report->kernels_until_ns),
                   VS_J_UINT("unmatched_frees", report->unmatched_frees),
                   VS_J_UINT("unmatched_range_pops", report->unmatched_pops),
                   VS_J_UINT("ignored_events", report->ignored),
                   VS_J_UINT("modules_without_symbols", report->missing_modules),
                   VS_J_TEXT("symbols_note", report->symbols_note ? report->symbols_note : ""));
    const struct vs_report_part *part = &report->part;
    if (part->point || part->window)
        vs_json_object(json, "part", VS_J_TEXT("of", part->point ? "moment" : "span"),
                       VS_J_UINT("from_ns", part->from_ns), VS_J_UINT("to_ns", part->to_ns),
                       VS_J_UINT("first_event", part->first_event),
                       VS_J_UINT("last_event", part->last_event),
                       VS_J_UINT("events", part->events));
    vs_json_begin_object(json, "options");
    for (size_t i = 0; i < report->option_count; i++)
        if (!set_again(report, i))
            vs_json_string(json, report->options[i].name, report->options[i].value);
    vs_json_end_object(json);
}

static void phases_json(struct vs_json *json, const struct vs_report *report)
{
    for (size_t i = 0; vs_json_next_object(json, "phases", i, report->phase_count); i++) {
        const struct vs_report_phase *phase = &report->phases[i];
        vs_json_members(json, VS_J_TEXT("name", phase->name), VS_J_TEXT("path", phase->path),
                        VS_J_UINT("depth", phase->depth), VS_J_UINT("times", phase->times),
                        VS_J_UINT("time_ns", phase->time_ns),
                        VS_J_UINT("allocations", phase->allocs),
                        VS_J_UINT("requested_bytes_total", phase->alloc_bytes));
        for (size_t d = 0; vs_json_next(json, "peak_allocated", d, report->device_count); d++)
            vs_json_object(json, NULL, VS_J_UINT("device", report->devices[d].device),
                           VS_J_UINT("bytes", phase->peaks[d]));
    }
    const struct vs_report_steps *steps = &report->steps;
    vs_json_object(json, "steps", VS_J_BOOL("found", steps->found),
                   VS_J_UINT("begun", steps->begun), VS_J_UINT("done", steps->done),
                   VS_J_UINT("total_ns", steps->total_ns),
                   VS_J_UINT("shortest_ns", steps->shortest_ns),
                   VS_J_UINT("longest_ns", steps->longest_ns),
                   VS_J_UINT("longest_step", steps->longest_number),
                   VS_J_UINT("device", steps->device), VS_J_UINT("peak_bytes", steps->kept.peak_bytes),
                   VS_J_UINT("lowest_peak_bytes", steps->kept.lowest_peak),
                   VS_J_UINT("highest_peak_bytes", steps->kept.highest_peak),
                   VS_J_INT("net_bytes", steps->kept.net_bytes),
                   VS_J_UINT("churn_bytes", steps->kept.churn_bytes));
}

void vs_report_json(const struct vs_report *report, bool brief, FILE *out)
{
    struct vs_json *json = &(struct vs_json){.out = out, .pretty = !brief, .brief = brief};
    vs_json_begin(json, NULL, VS_J_TEXT("schema", "vramscope.report/1"));
    process_json(json, report);
    vs_recording_json(json, report);
    if (report->device_clock.known)
        vs_json_members(json, VS_J_UINT("clock_error_ns", report->device_clock.error_ns),
                        VS_J_RATIO("clock_drift_ppm", (double)report->device_clock.drift_ppb / 1000));
    for (size_t i = 0; vs_json_next(json, "devices", i, report->device_count); i++)
        if (!report->wish.one_device || report->devices[i].device == report->wish.device)
            device_json(json, &report->devices[i]);
    const struct vs_report_host *host = &report->host_memory;
    vs_json_begin(json, "host_memory", VS_J_UINT("peak_bytes", host->peak_bytes),
                  VS_J_UINT("peak_time_ns", host->peak_time_ns),
                  VS_J_TEXT("peak_phase", host->peak_place),
                  VS_J_UINT("live_at_end_bytes", host->live_bytes));
    families_json(json, host->family);
    vs_report_json_sites(json, "sites_live_at_end", &host->at_end);
    vs_json_end_object(json);
    phases_json(json, report);
    vs_json_uint(json, "failure_count", report->failure_total);
    for (size_t i = 0; vs_json_next(json, "failures_by_error", i, report->refusals.count); i++) {
        const struct vs_refusal *r = &report->refusals.items[i];
        vs_json_object(json, NULL, VS_J_KNOWN("device", !r->host, r->device),
                       VS_J_TEXT("family", vs_family_name(r->family)), VS_J_UINT("error", r->error),
                       VS_J_TEXT("error_name", vs_error_text(r->error)),
                       VS_J_UINT("count", r->count));
    }
    for (size_t i = 0; vs_json_next(json, "failures", i, report->failure_count); i++)
        vs_report_json_failure(json, NULL, &report->failures[i]);
    for (size_t i = 0; vs_json_next_object(json, "failure_groups", i, report->group_count); i++) {
        const struct vs_report_failure_group *group = &report->groups[i];
        vs_json_members(json, VS_J_UINT("count", group->count),
                        VS_J_UINT("last_ns", group->last_ns),
                        VS_J_UINT("smallest_bytes", group->smallest),
                        VS_J_UINT("largest_bytes", group->largest),
                        VS_J_BOOL("recovered", group->recovered));
        vs_report_json_failure(json, "first", &group->first);
    }
    vs_json_uint(json, "failures_in_no_group", report->ungrouped);
    vs_uncomputed_json(json, report);
    vs_findings_json(json, report);
    for (size_t i = 0; vs_json_next(json, "notes", i, report->note_count); i++)
        vs_json_object(json, NULL, VS_J_UINT("severity", report->notes[i].severity),
                       VS_J_TEXT("text", report->notes[i].text));
    for (size_t i = 0; vs_json_next(json, "dropped", i, report->dropped_count); i++)
        vs_json_object(json, NULL, VS_J_TEXT("what", report->dropped[i].name),
                       VS_J_UINT("count", strtoull(report->dropped[i].value, NULL, 10)));
    /* The peaks of windows of time: one object for each window, in the order of their begins, with
     * one for
     * each device. */
    if (report->windows) {
        for (size_t i = 0; vs_json_next_object(json, "windows", i, report->window_count); i++) {
            const struct vs_report_window *window = &report->windows[i];
            vs_json_members(json, VS_J_UINT("from_ns", window->from_ns),
                            VS_J_UINT("to_ns", window->to_ns));
            for (size_t a = 0; vs_json_next(json, "devices", a, window->count); a++)
                if (!report->wish.one_device || window->devices[a].device == report->wish.device) {
                    const struct vs_window_peak *row = &window->devices[a];
                    vs_json_begin(json, NULL, VS_J_UINT("device", row->device),
                                  VS_J_TEXT("level", level_name(row->level)),
                                  VS_J_UINT("begin_bytes", row->begin_bytes),
                                  VS_J_UINT("peak_bytes", row->peak_bytes),
                                  VS_J_UINT("peak_event", row->peak_event),
                                  VS_J_UINT("peak_time_ns", row->peak_ns),
                                  VS_J_UINT("end_bytes", row->end_bytes));
                    vs_report_json_sites(json, "sites_more_at_peak", &row->more);
                    vs_report_json_sites(json, "sites_less_at_peak", &row->less);
                    vs_json_end_object(json);
                }
        }
    }
    vs_json_end_object(json);
}
