/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/report/report_text.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/report/site_text.h"
#include "analysis/report/window_peaks.h"
#include "viewer/report/report_parts.h"

static const char *condition_name(enum vs_condition condition)
{
    switch (condition) {
    case VS_TRACE_COMPLETE: return "complete";
    case VS_TRACE_LIVE: return "live";
    case VS_TRACE_TRUNCATED: return "truncated";
    case VS_TRACE_DAMAGED: return "damaged";
    }
    return "damaged";
}

static const char *reason_name(uint64_t reason)
{
    switch (reason) {
    case VS_END_EXIT: return "exit";
    case VS_END_SIGNAL: return "signal";
    case VS_END_EXEC: return "exec";
    case VS_END_KILLED: return "killed";
    case VS_END_COPY: return "copied";
    case VS_END_IMPORTED: return "imported";
    default: return "stopped";
    }
}

static const char *level_name(enum vs_level level)
{
    return level == VS_LEVEL_FRAMEWORK ? "framework" : "device";
}

void vs_report_json_parts(struct vs_json *json, const struct vs_site_parts *parts)
{
    if (!parts->count)
        return;
    vs_json_begin_array(json, "parts");
    for (size_t i = 0; i < parts->count; i++) {
        const struct vs_site_part *part = &parts->items[i];
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "function", part->function);
        vs_json_string(json, "file", part->file);
        vs_json_uint(json, "line", part->line);
        vs_json_string(json, "library", part->library);
        vs_json_uint(json, "bytes", part->bytes);
        vs_json_uint(json, "count", part->count);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
}

void vs_report_json_frames(struct vs_json *json, const struct vs_report_site *site)
{
    char text[VS_CHAIN_TEXT_MAX];
    vs_json_string(json, "text", vs_text_label(text, site));
    vs_json_string(json, "line", site->line);
    vs_json_string(json, "through", site->through);
    vs_report_json_parts(json, &site->parts);
    vs_json_uint(json, "stacks", site->stacks);
    vs_json_bool(json, "folds", site->folds);
    vs_json_uint(json, "wrapper_frames", site->wrappers);
    vs_json_begin_array(json, "frames");
    for (size_t i = 0; i < site->frame_count && !json->brief; i++) {
        const struct vs_report_frame *frame = &site->frames[i];
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "function", frame->function);
        vs_json_string(json, "file", frame->file);
        vs_json_uint(json, "line", frame->line);
        vs_json_string(json, "module", frame->module);
        vs_json_bool(json, "inlined", frame->inlined);
        vs_json_bool(json, "known", frame->known);
        vs_json_string(json, "library", frame->library);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
}

static void growth_json(struct vs_json *json, const struct vs_report_site *site)
{
    if (!site->growing && !site->growth_filled)
        return;
    vs_json_uint(json, "growth_bytes", site->growth_bytes);
    vs_json_uint(json, "growth_bytes_per_step", site->growth_per_step);
    if (site->growth_in_steps) {
        vs_json_uint(json, "growth_since_step", site->growth_since);
        vs_json_uint(json, "growth_until_step", site->growth_until);
        vs_json_uint(json, "growth_every_steps", site->growth_every);
    }
    vs_json_uint(json, "growth_since_ns", site->growth_since_ns);
    vs_json_uint(json, "growth_until_ns", site->growth_until_ns);
    vs_json_bool(json, "growth_freed_at_end", site->growth_freed);
    vs_json_bool(json, "growth_ended", site->growth_filled);
    vs_json_ratio(json, "growth_confidence", site->growth_confidence);
}

void vs_report_json_site(struct vs_json *json, const struct vs_report_site *site)
{
    vs_json_uint(json, "count", site->count);
    vs_json_string(json, "family", vs_family_name(site->family));
    vs_json_string(json, "api", site->api);
    vs_json_uint(json, "allocations", site->allocs);
    vs_json_uint(json, "frees", site->frees);
    vs_json_uint(json, "requested_bytes_total", site->alloc_bytes);
    vs_json_uint(json, "largest_bytes", site->largest);
#define COUNTER(name, key) vs_json_uint(json, key, site->name);
    VS_SITE_COUNTERS(COUNTER)
#undef COUNTER
    vs_json_uint(json, "lifetime_mean_ns", site->lifetime_mean_ns);
    vs_json_bool(json, "growing", site->growing);
    growth_json(json, site);
    vs_json_string(json, "level", level_name(site->level));
    vs_report_json_frames(json, site);
}

void vs_report_json_sites(struct vs_json *json, const char *key,
                          const struct vs_report_sites *sites)
{
    vs_json_begin_object(json, key);
    vs_json_uint(json, "total_bytes", sites->total_bytes);
    vs_json_uint(json, "omitted_count", sites->omitted_count);
    vs_json_uint(json, "omitted_bytes", sites->omitted_bytes);
    if (sites->weight > 1)
        vs_json_uint(json, "estimated_from_one_in", sites->weight);
    if (sites->weight > 1 || sites->small_count || sites->limit_bytes) {
        vs_json_uint(json, "exact_bytes", sites->exact_bytes);
        vs_json_uint(json, "small_bytes", sites->small_bytes);
        vs_json_uint(json, "small_count", sites->small_count);
        vs_json_int(json, "after_limit_bytes", sites->limit_bytes);
    }
    if (sites->whole_bytes)
        vs_json_int(json, "not_recorded_bytes", vs_report_sites_unlisted(sites));
    vs_json_begin_array(json, "sites");
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_report_site *site = &sites->items[i];
        vs_json_begin_object(json, NULL);
        vs_json_uint(json, "bytes", site->bytes);
        if (sites->weight > 1)
            vs_json_uint(json, "standard_error_bytes", vs_report_site_error(sites, site));
        vs_report_json_site(json, site);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    vs_json_end_object(json);
}

static void families_json(struct vs_json *json, const struct vs_report_family *families)
{
    vs_json_begin_object(json, "families");
    for (int f = 0; f < VS_FAMILY_COUNT; f++) {
        const struct vs_report_family *row = &families[f];
        if (!vs_report_family_seen(row))
            continue;
        vs_json_begin_object(json, vs_family_name((uint64_t)f));
        vs_json_uint(json, "allocations", row->allocs);
        vs_json_uint(json, "frees", row->frees);
        vs_json_uint(json, "failures", row->failures);
        vs_json_uint(json, "requested_bytes_total", row->bytes);
        vs_json_uint(json, "peak_bytes", row->peak_bytes);
        vs_json_uint(json, "live_bytes", row->live_bytes);
        vs_json_uint(json, "live_count", row->live_count);
        vs_json_end_object(json);
    }
    vs_json_end_object(json);
}

static void peak_json(struct vs_json *json, const char *key, const struct vs_report_peak *peak)
{
    vs_json_begin_object(json, key);
    vs_json_uint(json, "bytes", peak->bytes);
    vs_json_uint(json, "time_ns", peak->time_ns);
    vs_json_uint(json, "event", peak->event);
    vs_json_string(json, "phase", peak->place);
    vs_json_uint(json, "allocated_bytes", peak->allocated);
    vs_json_uint(json, "requested_bytes", peak->requested);
    vs_json_uint(json, "reserved_bytes", peak->reserved);
    vs_json_uint(json, "free_in_segments_bytes", peak->free_bytes);
    vs_json_uint(json, "largest_hole_bytes", peak->largest_hole);
    vs_json_uint(json, "holes", peak->holes);
    if (peak->holes_unknown)
        vs_json_bool(json, "holes_unknown", true);
    vs_json_ratio(json, "external_fragmentation", vs_report_external_fragmentation(peak));
    vs_json_end_object(json);
}

static void tally_json(struct vs_json *json, const char *key, const struct vs_report_tally *tally)
{
    vs_json_begin_object(json, key);
    vs_json_uint(json, "count", tally->count);
    vs_json_uint(json, "bytes", tally->bytes);
    vs_json_uint(json, "time_ns", tally->time_ns);
    vs_json_end_object(json);
}

static void activity_json(struct vs_json *json, const struct vs_report_device *device)
{
    vs_json_begin_object(json, "kernels");
    vs_json_uint(json, "count", device->kernel_total.count);
    vs_json_uint(json, "time_ns", device->kernel_total.time_ns);
    vs_json_begin_array(json, "by_name");
    for (size_t i = 0; i < device->kernel_count; i++) {
        const struct vs_report_kernel *kernel = &device->kernels[i];
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "name", kernel->name);
        vs_json_uint(json, "count", kernel->count);
        vs_json_uint(json, "time_ns", kernel->time_ns);
        vs_json_uint(json, "shortest_ns", kernel->shortest_ns);
        vs_json_uint(json, "longest_ns", kernel->longest_ns);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
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
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void device_json(struct vs_json *json, const struct vs_report_device *device)
{
    vs_json_begin_object(json, NULL);
    vs_json_uint(json, "device", device->device);
    vs_json_string(json, "name", device->name);
    vs_json_string(json, "uuid", device->uuid);
    vs_json_uint(json, "total_bytes", device->total_bytes);
    if (device->limit_bytes)
        vs_json_uint(json, "limit_bytes", device->limit_bytes);
    vs_json_bool(json, "simulated", device->simulated);
    vs_json_uint(json, "sm_count", device->sm_count);
    vs_json_uint(json, "cc_major", device->cc_major);
    vs_json_uint(json, "cc_minor", device->cc_minor);
    peak_json(json, "peak_allocated", &device->peak_allocated);
    vs_json_string(json, "level", level_name(device->level));
    peak_json(json, "peak_user", &device->peak_user);
    peak_json(json, "peak_requested", &device->peak_requested);
    peak_json(json, "peak_reserved", &device->peak_reserved);
    vs_json_uint(json, "peak_reserved_first_ns", device->peak_reserved_first_ns);
    vs_json_string(json, "peak_reserved_first_phase", device->peak_reserved_first_place);
    vs_json_ratio(json, "utilisation",
                  ratio(device->peak_reserved.allocated, device->peak_reserved.reserved));
    vs_json_ratio(json, "external_fragmentation",
                  vs_report_external_fragmentation(&device->peak_reserved));
    vs_json_ratio(json, "peak_to_peak_fragmentation",
                  device->peak_reserved.bytes
                      ? 1 - ratio(device->peak_allocated.bytes, device->peak_reserved.bytes) : 0);
    vs_json_uint(json, "rounding_waste_bytes",
                 device->peak_allocated.allocated - device->peak_allocated.requested);
    vs_json_uint(json, "allocated_at_end_bytes", device->allocated);
    vs_json_uint(json, "requested_at_end_bytes", device->requested);
    vs_json_uint(json, "reserved_at_end_bytes", device->reserved);
    vs_json_uint(json, "lost_with_context_bytes", device->lost_bytes);
    vs_json_uint(json, "lost_with_context_count", device->lost_count);
    vs_json_uint(json, "segment_allocations", device->segment_allocs);
    vs_json_uint(json, "segment_frees", device->segment_frees);
    vs_json_uint(json, "graph_reserved_at_end_bytes", device->graph_reserved);
    vs_json_uint(json, "graph_reserved_peak_bytes", device->graph_reserved_peak);
    vs_json_uint(json, "graph_used_peak_bytes", device->graph_used_peak);
    vs_json_bool(json, "growing", device->growth_steady);
    vs_json_uint(json, "growth_bytes_per_step", device->growth_steady ? device->growth_per_step : 0);
    families_json(json, device->family);
    vs_json_begin_object(json, "families_at_peak_allocated");
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        if (device->family_at_peak[f])
            vs_json_uint(json, vs_family_name((uint64_t)f), device->family_at_peak[f]);
    vs_json_end_object(json);
    if (device->has_framework) {
        vs_json_begin_object(json, "framework");
        vs_json_uint(json, "allocations", device->framework_allocs);
        vs_json_uint(json, "frees", device->framework_frees);
        vs_json_uint(json, "allocated_at_end_bytes", device->framework_allocated);
        vs_json_uint(json, "peak_allocated_bytes", device->framework_peak_allocated);
        vs_json_uint(json, "peak_reserved_bytes", device->framework_peak_reserved);
        vs_json_uint(json, "failures", device->framework_ooms);
        vs_json_uint(json, "retries", device->framework_retries);
        vs_json_end_object(json);
    }
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
    activity_json(json, device);
    vs_json_end_object(json);
}

void vs_report_json_failure(struct vs_json *json, const char *key,
                            const struct vs_report_failure *failure)
{
    vs_json_begin_object(json, key);
    vs_json_uint(json, "event", failure->event);
    vs_json_uint(json, "time_ns", failure->time_ns);
    vs_json_uint(json, "tid", failure->tid);
    vs_json_string(json, "level", failure->framework ? "framework" : "driver");
    vs_json_string(json, "what", vs_failure_key(failure));
    vs_json_bool(json, "recovered", failure->recovered);
    vs_json_known_uint(json, "device", !failure->host, failure->device);
    vs_json_string(json, "family", vs_family_name(failure->family));
    vs_json_string(json, "api", failure->api);
    vs_json_uint(json, "requested_bytes", failure->requested);
    vs_json_uint(json, "device_requested_bytes", failure->device_requested);
    vs_json_uint(json, "device_refusals", failure->attempts);
    vs_json_uint(json, "error", failure->error);
    vs_json_string(json, "error_name", failure->framework ? NULL : vs_error_text(failure->error));
    vs_json_uint(json, "device_free_bytes", failure->device_free);
    vs_json_uint(json, "device_total_bytes", failure->device_total);
    vs_json_uint(json, "allocated_bytes", failure->allocated);
    vs_json_uint(json, "reserved_bytes", failure->reserved);
    vs_json_string(json, "phase", failure->place);
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
    vs_json_begin_object(json, "process");
    vs_json_string(json, "program", report->program);
    vs_json_string(json, "exe", report->exe);
    vs_json_string(json, "cmdline", report->cmdline);
    vs_json_string(json, "host", report->host);
    vs_json_uint(json, "pid", report->pid);
    vs_json_uint(json, "ppid", report->ppid);
    /* Members only of a process that a launcher started. */
    const struct vs_job_rank *job = &report->job;
    if (job->has_rank)
        vs_json_uint(json, "rank", job->rank);
    if (job->has_local_rank)
        vs_json_uint(json, "local_rank", job->local_rank);
    if (job->has_world_size)
        vs_json_uint(json, "world_size", job->world_size);
    vs_json_string(json, "policy", report->policy);
    vs_json_string(json, "recorder_version", report->version);
    vs_json_uint(json, "start_realtime_ns", report->start_realtime_ns);
    vs_json_uint(json, "start_monotonic_ns", report->start_ns);
    vs_json_uint(json, "duration_ns", report->duration_ns);
    vs_json_string(json, "end", report->has_end ? reason_name(report->end_reason) : NULL);
    vs_json_known_uint(json, "status", report->has_end, report->end_status);
    vs_json_end_object(json);
    char cut[VS_RECORDING_TEXT_MAX];
    vs_json_begin_object(json, "trace");
    vs_json_string(json, "path", report->path);
    vs_json_uint(json, "bytes", report->trace_bytes);
    vs_json_uint(json, "events", report->events);
    vs_json_string(json, "condition", condition_name(report->condition));
    vs_json_string(json, "condition_text", report->condition_text);
    vs_json_string(json, "cut_short", vs_recording_cut_text(cut, report) ? cut : NULL);
    if (report->kernels_until_ns)
        vs_json_uint(json, "kernels_until_ns", report->kernels_until_ns);
    vs_json_uint(json, "unmatched_frees", report->unmatched_frees);
    vs_json_uint(json, "unmatched_range_pops", report->unmatched_pops);
    vs_json_uint(json, "ignored_events", report->ignored);
    vs_json_uint(json, "modules_without_symbols", report->missing_modules);
    vs_json_string(json, "symbols_note", report->symbols_note ? report->symbols_note : "");
    vs_json_end_object(json);
    const struct vs_report_part *part = &report->part;
    if (part->moment || part->window) {
        vs_json_begin_object(json, "part");
        vs_json_string(json, "of", part->moment ? "moment" : "span");
        vs_json_uint(json, "from_ns", part->from_ns);
        vs_json_uint(json, "to_ns", part->to_ns);
        vs_json_uint(json, "first_event", part->first_event);
        vs_json_uint(json, "last_event", part->last_event);
        vs_json_uint(json, "events", part->events);
        vs_json_end_object(json);
    }
    vs_json_begin_object(json, "options");
    for (size_t i = 0; i < report->option_count; i++)
        if (!set_again(report, i))
            vs_json_string(json, report->options[i].name, report->options[i].value);
    vs_json_end_object(json);
}

static void phases_json(struct vs_json *json, const struct vs_report *report)
{
    vs_json_begin_array(json, "phases");
    for (size_t i = 0; i < report->phase_count; i++) {
        const struct vs_report_phase *phase = &report->phases[i];
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "name", phase->name);
        vs_json_string(json, "path", phase->path);
        vs_json_uint(json, "depth", phase->depth);
        vs_json_uint(json, "times", phase->times);
        vs_json_uint(json, "time_ns", phase->time_ns);
        vs_json_uint(json, "allocations", phase->allocs);
        vs_json_uint(json, "requested_bytes_total", phase->alloc_bytes);
        vs_json_begin_array(json, "peak_allocated");
        for (size_t d = 0; d < report->device_count; d++) {
            vs_json_begin_object(json, NULL);
            vs_json_uint(json, "device", report->devices[d].device);
            vs_json_uint(json, "bytes", phase->peaks[d]);
            vs_json_end_object(json);
        }
        vs_json_end_array(json);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    const struct vs_report_steps *steps = &report->steps;
    vs_json_begin_object(json, "steps");
    vs_json_bool(json, "found", steps->found);
    vs_json_uint(json, "begun", steps->begun);
    vs_json_uint(json, "done", steps->done);
    vs_json_uint(json, "total_ns", steps->total_ns);
    vs_json_uint(json, "shortest_ns", steps->shortest_ns);
    vs_json_uint(json, "longest_ns", steps->longest_ns);
    vs_json_uint(json, "longest_step", steps->longest_number);
    vs_json_uint(json, "device", steps->device);
    vs_json_uint(json, "peak_bytes", steps->peak_bytes);
    vs_json_uint(json, "lowest_peak_bytes", steps->lowest_peak);
    vs_json_uint(json, "highest_peak_bytes", steps->highest_peak);
    vs_json_int(json, "net_bytes", steps->net_bytes);
    vs_json_uint(json, "churn_bytes", steps->churn_bytes);
    vs_json_end_object(json);
}

/* The peaks of windows of time: one object for each window, in the order of their begins, with one for
 * each device. */
static void windows_json(struct vs_json *json, const struct vs_report *report)
{
    if (!report->windows)
        return;
    vs_json_begin_array(json, "windows");
    for (size_t i = 0; i < report->window_count; i++) {
        const struct vs_report_window *window = &report->windows[i];
        vs_json_begin_object(json, NULL);
        vs_json_uint(json, "from_ns", window->from_ns);
        vs_json_uint(json, "to_ns", window->to_ns);
        vs_json_begin_array(json, "devices");
        for (size_t a = 0; a < window->count; a++)
            if (!report->wish.one_device || window->devices[a].device == report->wish.device) {
                const struct vs_window_peak *row = &window->devices[a];
                vs_json_begin_object(json, NULL);
                vs_json_uint(json, "device", row->device);
                vs_json_string(json, "level", level_name(row->level));
                vs_json_uint(json, "begin_bytes", row->begin_bytes);
                vs_json_uint(json, "peak_bytes", row->peak_bytes);
                vs_json_uint(json, "peak_event", row->peak_event);
                vs_json_uint(json, "peak_time_ns", row->peak_ns);
                vs_json_uint(json, "end_bytes", row->end_bytes);
                vs_report_json_sites(json, "sites_more_at_peak", &row->more);
                vs_report_json_sites(json, "sites_less_at_peak", &row->less);
                vs_json_end_object(json);
            }
        vs_json_end_array(json);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
}

static void whole_report(struct vs_json *json, const struct vs_report *report)
{
    vs_json_begin_object(json, NULL);
    vs_json_string(json, "schema", "vramscope.report/1");
    process_json(json, report);
    vs_recording_json(json, report);
    vs_json_begin_array(json, "devices");
    for (size_t i = 0; i < report->device_count; i++)
        if (!report->wish.one_device || report->devices[i].device == report->wish.device)
            device_json(json, &report->devices[i]);
    vs_json_end_array(json);
    const struct vs_report_host *host = &report->host_memory;
    vs_json_begin_object(json, "host_memory");
    vs_json_uint(json, "peak_bytes", host->peak_bytes);
    vs_json_uint(json, "peak_time_ns", host->peak_time_ns);
    vs_json_string(json, "peak_phase", host->peak_place);
    vs_json_uint(json, "live_at_end_bytes", host->live_bytes);
    families_json(json, host->family);
    vs_report_json_sites(json, "sites_live_at_end", &host->at_end);
    vs_json_end_object(json);
    phases_json(json, report);
    vs_json_uint(json, "failure_count", report->failure_total);
    vs_json_begin_array(json, "failures_by_error");
    for (size_t i = 0; i < report->refusals.count; i++) {
        const struct vs_refusal *r = &report->refusals.items[i];
        vs_json_begin_object(json, NULL);
        vs_json_known_uint(json, "device", !r->host, r->device);
        vs_json_string(json, "family", vs_family_name(r->family));
        vs_json_uint(json, "error", r->error);
        vs_json_string(json, "error_name", vs_error_text(r->error));
        vs_json_uint(json, "count", r->count);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    vs_json_begin_array(json, "failures");
    for (size_t i = 0; i < report->failure_count; i++)
        vs_report_json_failure(json, NULL, &report->failures[i]);
    vs_json_end_array(json);
    vs_json_begin_array(json, "failure_groups");
    for (size_t i = 0; i < report->group_count; i++) {
        const struct vs_report_failure_group *group = &report->groups[i];
        vs_json_begin_object(json, NULL);
        vs_json_uint(json, "count", group->count);
        vs_json_uint(json, "last_ns", group->last_ns);
        vs_json_uint(json, "smallest_bytes", group->smallest);
        vs_json_uint(json, "largest_bytes", group->largest);
        vs_json_bool(json, "recovered", group->recovered);
        vs_report_json_failure(json, "first", &group->first);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    vs_json_uint(json, "failures_in_no_group", report->ungrouped);
    vs_uncomputed_json(json, report);
    vs_findings_json(json, report);
    vs_json_begin_array(json, "notes");
    for (size_t i = 0; i < report->note_count; i++) {
        vs_json_begin_object(json, NULL);
        vs_json_uint(json, "severity", report->notes[i].severity);
        vs_json_string(json, "text", report->notes[i].text);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    vs_json_begin_array(json, "dropped");
    for (size_t i = 0; i < report->dropped_count; i++) {
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "what", report->dropped[i].name);
        vs_json_uint(json, "count", strtoull(report->dropped[i].value, NULL, 10));
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    windows_json(json, report);
    vs_json_end_object(json);
}

void vs_report_json(const struct vs_report *report, FILE *out)
{
    whole_report(&(struct vs_json){.out = out, .pretty = true}, report);
}

void vs_report_json_brief(const struct vs_report *report, FILE *out)
{
    whole_report(&(struct vs_json){.out = out, .brief = true}, report);
}
