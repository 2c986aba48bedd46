/* SPDX-License-Identifier: Apache-2.0
 *
 * The text summary; see the header. The order: how the program ended, how much memory it used, who
 * holds it, when, and then the rest. Sections without content are not printed. */
#define _GNU_SOURCE /* strcasestr */
#include "viewer/report/report_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/vs_posix_name.h"
#include "base/vs_size.h"
#include "viewer/report/report_parts.h"

#define PHASES_SHOWN 12
#define CHURN_SHOWN 3
#define CHURN_CALLS_MIN 100 /* fewer, and less than one a step, are not worth a buffer */
#define ENDING_MAX 96
#define HOST_WORTH VS_MIB /* less page-locked memory at the end is not listed by call site */
#define PROGRAM_COLUMNS 24

static void killed_text(char *out, uint64_t number)
{
    const char *name = vs_signal_name(number);
    if (name)
        snprintf(out, ENDING_MAX, "killed by SIG%s", name);
    else
        snprintf(out, ENDING_MAX, "killed by signal %llu", (unsigned long long)number);
}

char *vs_report_ending(char *out, const struct vs_report *report)
{
    if (!report->has_end) {
        /* A trace without an end. */
        unsigned long long status = report->outcome.status;
        switch (report->outcome.kind) {
        case VS_OUTCOME_KILLED: killed_text(out, status); break;
        case VS_OUTCOME_EXITED: snprintf(out, ENDING_MAX, "exit %llu, trace not ended",
                                         status); break;
        case VS_OUTCOME_RECORDING: snprintf(out, ENDING_MAX, "still running"); break;
        default:
            if (report->condition == VS_TRACE_LIVE || report->condition == VS_TRACE_COMPLETE)
                snprintf(out, ENDING_MAX, "no end recorded (killed)");
            else
                snprintf(out, ENDING_MAX, "end missing from the trace");
        }
        return out;
    }
    unsigned long long status = report->end_status;
    switch (report->end_reason) {
    case VS_END_EXIT: snprintf(out, ENDING_MAX, "exit %llu", status); break;
    case VS_END_SIGNAL: killed_text(out, status); break;
    case VS_END_EXEC: snprintf(out, ENDING_MAX, "replaced by exec"); break;
    case VS_END_KILLED: snprintf(out, ENDING_MAX, "no end recorded (killed); recovered"); break;
    case VS_END_COPY: snprintf(out, ENDING_MAX, "copied while it ran"); break;
    case VS_END_IMPORTED: snprintf(out, ENDING_MAX, "imported"); break;
    default: {
        const char *why = vs_errno_text(status);
        snprintf(out, ENDING_MAX, "recording stopped early%s%s%s", why ? " (" : "", why ? why : "",
                 why ? ")" : "");
    }
    }
    return out;
}

/* The program and its arguments. If the line is too long, folders are left out, the program's first:
 * "…/bin/train --batch 8". */
static void command_line(const struct vs_report *report, const struct vs_style *style)
{
    static const char dots[] = "…";
    char text[4096 + sizeof dots], clipped[1024];
    size_t width = style->width - 11, exe = strlen(report->exe), dots_length = sizeof dots - 1;
    snprintf(text, sizeof text, "%s", report->cmdline);
    bool own = exe && strncmp(text, report->exe, exe) == 0 && strchr(" ", text[exe]);
    for (char *word = text; *word && vs_text_width(text) > width; word += strspn(word, " ")) {
        size_t over = vs_text_width(text) - width;
        char *end = word + (word == text && own ? exe : strcspn(word, " ")), *cut = NULL;
        for (char *at = word + 1; at < end && (!cut || (size_t)(cut - word) <= over); at++)
            if (*at == '/')
                cut = at;
        if (cut && (size_t)(cut - word) >= dots_length) {
            memcpy(word, dots, dots_length);
            memmove(word + dots_length, cut, strlen(cut) + 1);
            end -= cut - word - (ptrdiff_t)dots_length;
        }
        word = end;
    }
    fprintf(style->out, "  command  %s\n", vs_text_clip(clipped, text, width));
}

static void heading(const struct vs_report *report, const struct vs_style *style)
{
    FILE *out = style->out;
    char clipped[1024], rank[VS_JOB_RANK_TEXT_MAX];
    fputs(vs_paint(style, VS_BOLD), out);
    vs_text_put(out, vs_text_clip(clipped, *report->program ? report->program : "(unknown program)",
                                  PROGRAM_COLUMNS));
    fprintf(out, "%s%s", vs_job_rank_text(rank, &report->job), vs_unpaint(style));
    if (*rank && report->job.has_world_size)
        fprintf(out, " of %llu", (unsigned long long)report->job.world_size);
    fputs("  ", out);
    if (report->pid) /* unknown in an imported trace */
        fprintf(out, "pid %llu  ", (unsigned long long)report->pid);
    /* How the program ended, or which part of the trace this is. */
    char ending[96], to[VS_SIZE_TEXT_MAX], rest[192];
    const struct vs_report_part *part = &report->part;
    bool ended_well = report->has_end &&
                      (report->end_reason != VS_END_EXIT || !report->end_status) &&
                      report->end_reason != VS_END_SIGNAL && report->end_reason != VS_END_KILLED &&
                      report->end_reason != VS_END_STOPPED;
    vs_time_format(to, part->to_ns);
    if (part->point)
        fprintf(style->out, "%sstate at %s%s", vs_paint(style, VS_BOLD), to, vs_unpaint(style));
    else if (part->window)
        fprintf(style->out, "%sfrom %s to %s%s (%s)", vs_paint(style, VS_BOLD),
                vs_time_text(part->from_ns), to, vs_unpaint(style),
                vs_time_text(part->to_ns > part->from_ns ? part->to_ns - part->from_ns : 0));
    else
        fprintf(style->out, "%s  %s%s%s", vs_time_format(to, report->duration_ns),
                vs_paint(style, ended_well ? VS_GOOD : VS_BAD),
                vs_report_ending(ending, report), vs_unpaint(style));
    if (*report->policy)
        fprintf(out, "  allocator ");
    vs_text_put(out, report->policy);
    fputc('\n', out);
    if (*report->cmdline)
        command_line(report, style);
    const char *size = vs_size_text(report->trace_bytes), *first = vs_count_text(part->first_event);
    const char *last = vs_count_text(part->last_event);
    if (part->point)
        snprintf(rest, sizeof rest, "(%s, after event %s)", size, last);
    else if (part->window && !part->events)
        snprintf(rest, sizeof rest, "(%s, no events in this span; the next is event %s)", size,
                 first);
    else if (part->window)
        snprintf(rest, sizeof rest, "(%s, events %s to %s, %s in all)", size, first, last,
                 vs_count_text(part->events));
    else
        snprintf(rest, sizeof rest, "(%s, %s events)", size, vs_count_text(report->events));
    vs_text_path(style, "  trace    ", report->path, rest);
    if (part->point)
        fprintf(out, "  figures  peaks and counts from the start up to that time\n");
    else if (part->window)
        fprintf(out, "  figures  of this span only; earlier memory is live at its start\n");
    vs_recording_text(report, style);
    if (report->condition != VS_TRACE_COMPLETE)
        vs_text_wrapped(style, vs_text_mark(style, "warning"), report->condition_text);
    vs_recording_cut_line(report, style);
    vs_recording_kernels_line(report, style);
    /* Events dropped for the size limit that do not affect the figures, and those that do. */
    bool begun = false;
    for (size_t i = 0; i < report->dropped_count; i++) {
        const struct vs_report_pair *d = &report->dropped[i];
        if (vs_recording_left_out(&report->recording, d->name)) {
            fprintf(style->out, begun ? ", %s %s" : "  left out %s %s", d->value,
                    vs_recording_what(d->name));
            begun = true;
        }
    }
    if (begun)
        fputc('\n', style->out);
    for (size_t i = 0; i < report->dropped_count; i++) {
        const struct vs_report_pair *d = &report->dropped[i];
        if (!vs_recording_left_out(&report->recording, d->name))
            vs_text_lines(style, vs_text_mark(style, "warning"),
                          "not recorded: %s %s; the figures below are too low by these", d->value,
                          vs_recording_what(d->name));
    }
    for (size_t i = 0; i < report->note_count; i++)
        vs_text_wrapped(style, "  note     ", report->notes[i].text);
}

/* *peak* as a part of *total*; 0: that is not printed. */
static void peak_line(const struct vs_style *style, const char *label,
                      const struct vs_report_peak *peak, uint64_t total, bool bold)
{
    char share[16] = "", lead[128];
    if (total)
        vs_text_percent(share, peak->bytes, total);
    snprintf(lead, sizeof lead, "  %-17s %s%12s%s  %7s  ", label,
             bold ? vs_paint(style, VS_BOLD) : "", vs_size_text(peak->bytes),
             bold ? vs_unpaint(style) : "", share);
    if (!peak->time_ns && *peak->place) /* "before the recording", which begins at 0 */
        vs_text_lines(style, lead, "%s", peak->place);
    else
        vs_text_lines(style, lead, "at %s%s%s", vs_time_text(peak->time_ns),
                      *peak->place ? ", " : "", peak->place);
}

/* With PyTorch the lists below are of its tensors: the subject of each figure is named. */
static const char *peak_label(const struct vs_report_device *device)
{
    return device->level == VS_LEVEL_FRAMEWORK ? "device peak" : "peak allocated";
}

/* The peaks, how much of the memory reserved then was in use, and those of graphs and PyTorch. */
static void device_peaks(const struct vs_report_device *device, const struct vs_style *style)
{
    const struct vs_report_peak *allocated = &device->peak_allocated, *full = &device->peak_reserved;
    const struct vs_report_peak *requested = &device->peak_requested, *user = &device->peak_user;
    bool limited = device->limit_bytes && device->limit_bytes < device->total_bytes;
    uint64_t whole = limited ? device->limit_bytes : device->total_bytes;
    struct vs_report_peak first = {.bytes = full->bytes, .place = device->peak_reserved_first_place,
                                   .time_ns = device->peak_reserved_first_ns};
    char lead[64];
    if (allocated->event) {
        peak_line(style, peak_label(device), allocated, whole, true);
        if (strcmp(vs_size_text(requested->bytes), vs_size_text(allocated->bytes)) != 0)
            peak_line(style, "peak requested", requested, 0, false);
        if (device->segment_allocs || full->bytes != allocated->bytes)
            peak_line(style, "peak reserved", &first, whole, true);
        if (device->segment_allocs || full->allocated != full->reserved)
            fprintf(style->out, "  %-17s %12s  of reserved memory, at its peak\n", "in use",
                    vs_percent_text(full->allocated, full->reserved));
        if (device->segment_allocs && full->holes_unknown)
            fprintf(style->out, "  %-17s %12s  holes unknown: not every block was recorded\n",
                    "cached but unused", vs_size_text(full->free_bytes));
        else if (device->segment_allocs && full->holes)
            fprintf(style->out, "  %-17s %12s  in %llu hole%s, the largest %s\n",
                    "cached but unused", vs_size_text(full->free_bytes),
                    (unsigned long long)full->holes, full->holes == 1 ? "" : "s",
                    vs_size_text(full->largest_hole));
    }
    if (device->graph_reserved_peak) {
        snprintf(lead, sizeof lead, "  %-17s ", "CUDA graphs");
        vs_text_lines(style, lead, "reserved by the driver: peak %s (%s in use), %s at the end",
                      vs_size_text(device->graph_reserved_peak),
                      vs_size_text(device->graph_used_peak), vs_size_text(device->graph_reserved));
    }
    if (!device->has_framework)
        return;
    bool dated = device->level == VS_LEVEL_FRAMEWORK && user->event;
    char label[128];
    snprintf(label, sizeof label, "%s %s", device->framework, device->contents);
    snprintf(lead, sizeof lead, "  %-17.40s ", strlen(label) > 17 ? device->framework : label);
    vs_text_lines(style, lead, "peak %s%s%s%s%s; %s in the run", vs_size_text(device->framework_peak_allocated),
                  dated ? ", at " : "", dated ? vs_time_text(user->time_ns) : "", dated && *user->place ? ", " : "",
                  dated ? user->place : "", vs_number_text(device->framework_allocs, "allocation"));
    if (device->framework_peak_reserved)
        fprintf(style->out, "  %-17s reserved %s at its peak\n", "",
                vs_size_text(device->framework_peak_reserved));
}

bool vs_framework_lines(const struct vs_report_device *device, const struct vs_style *style)
{
    bool any = false;
    for (size_t i = 0; i < VS_FRAMEWORK_COUNT; i++) {
        const struct vs_report_framework *held = &device->frameworks[i];
        const struct vs_framework *row = &vs_frameworks[i];
        char lead[64];
        if (!held->bytes || !row->seen)
            continue;
        snprintf(lead, sizeof lead, "  %-17s ", row->name);
        vs_text_lines(style, lead, "%s in %s at the peak: %s%s%s (docs/frameworks.md)", vs_size_text(held->bytes),
                      vs_number_text(held->count, "allocation"), row->seen, row->more ? ". " : "",
                      row->more ? row->more : "");
        any |= row->more != NULL;
    }
    return any;
}

/* Current bytes, for the state at a point in time. With PyTorch the device has only the memory that
 * PyTorch reserved, all of it allocated. */
static void now_lines(const struct vs_report_device *device, const struct vs_style *style)
{
    char share[16] = "";
    bool equal = device->allocated == device->requested && device->allocated == device->reserved;
    const char *first = equal && device->level == VS_LEVEL_FRAMEWORK ? "reserved now" : "allocated now";
    const struct {
        const char *label;
        uint64_t bytes;
    } lines[] = {{first, device->allocated}, {"requested now", device->requested},
                 {"reserved now", device->reserved}};
    size_t rows = equal ? 1 : sizeof lines / sizeof *lines;
    for (size_t i = 0; i < rows; i++) {
        if (device->total_bytes)
            vs_text_percent(share, lines[i].bytes, device->total_bytes);
        fprintf(style->out, "  %-17s %s%12s%s  %7s\n", lines[i].label, vs_paint(style, VS_BOLD),
                vs_size_text(lines[i].bytes), vs_unpaint(style), share);
    }
}

static void family_table(const struct vs_report_family *families, const char *live,
                         const struct vs_style *style)
{
    bool header = false;
    for (int f = 0; f < VS_FAMILY_COUNT; f++) {
        const struct vs_report_family *row = &families[f];
        if (!vs_report_family_seen(row))
            continue;
        if (!header)
            fprintf(style->out, "  %s%-14s %12s %12s %8s %13s %13s%s\n", vs_paint(style, VS_DIM),
                    "type of memory", "allocations", "frees", "failed", "peak", live,
                    vs_unpaint(style));
        header = true; /* "async" is the name in JSON */
        fprintf(style->out, "  %-14s %12s %12s %s%8s%s %13s %13s\n",
                f == VS_FAMILY_ASYNC ? "stream-ordered" : vs_family_name((uint64_t)f),
                vs_count_text(row->allocs), vs_count_text(row->frees),
                row->failures ? vs_paint(style, VS_BAD) : "", vs_count_text(row->failures),
                row->failures ? vs_unpaint(style) : "", vs_size_text(row->peak_bytes),
                vs_size_text(row->live_bytes));
    }
}

/* Whether the rows shown of *some* are among those of *all*, with the same bytes. */
static bool shown_before(const struct vs_report_sites *all, const struct vs_report_sites *some,
                         const struct vs_style *style)
{
    char x[VS_CHAIN_TEXT_MAX], y[VS_CHAIN_TEXT_MAX];
    size_t rows = vs_text_sites_shown(style, some), others = vs_text_sites_shown(style, all), k = 0;
    if (all->small_count != some->small_count)
        return false;
    for (size_t i = 0; i < rows; i++) {
        vs_text_site(x, &some->items[i], 4);
        for (k = 0; k < others; k++)
            if (all->items[k].bytes == some->items[i].bytes &&
                strcmp(x, vs_text_site(y, &all->items[k], 4)) == 0)
                break;
        if (k == others)
            return false;
    }
    return true;
}

/* Blocks of one size allocated and freed again and again, where each is a call of the driver: the
 * cache of --allocator=caching serves them without. */
static void churn_lines(const struct vs_report *report, const struct vs_report_device *device,
                        const struct vs_style *style)
{
    char count[VS_SIZE_TEXT_MAX];
    size_t shown = 0;
    if (strncmp(report->policy, "caching", 7) == 0 || device->has_framework)
        return;
    for (size_t i = 0; i < device->churn_count && shown < CHURN_SHOWN; i++) {
        const struct vs_report_churn *churn = &device->churn[i];
        bool calls = churn->site.family == VS_FAMILY_DEVICE || churn->site.family == VS_FAMILY_MANAGED;
        if (!calls || (churn->allocs < CHURN_CALLS_MIN && churn->per_step < 1))
            continue;
        if (shown++ == 0)
            fprintf(style->out, "  %sallocated and freed again and again%s: a buffer that is reused "
                                "would save\n", vs_paint(style, VS_BOLD), vs_unpaint(style));
        fprintf(style->out, "    ");
        if (churn->per_step >= 1)
            vs_count_format(count, (uint64_t)(churn->per_step + 0.5));
        else
            vs_count_format(count, churn->allocs - 1);
        fprintf(style->out, "%s call%s of ", count, strcmp(count, "1") == 0 ? "" : "s");
        vs_text_put(style->out, *churn->site.api ? churn->site.api : "the allocator");
        fprintf(style->out, "%s%s%s\n      ", churn->per_step >= 1 ? " a step" : "",
                churn->one_at_a_time ? ", with one buffer of " : ", with buffers of ",
                vs_size_text(churn->block_bytes));
        vs_text_chain(style, 6, &churn->site);
    }
}

static void tally_line(const struct vs_style *style, const char *label, const char *kind,
                       const struct vs_activity_tally *tally)
{
    if (tally->count == 0)
        return;
    fprintf(style->out, "  %-8s %-5s %12s in %s×, %s", label, kind, vs_size_text(tally->bytes),
            vs_count_text(tally->count), vs_time_text(tally->time_ns));
    char rate[32];
    if (tally->time_ns)
        fprintf(style->out, ", %s", vs_rate_format(rate, tally->bytes, tally->time_ns));
    fprintf(style->out, "\n");
}

static bool still_runs(const struct vs_report *report)
{
    return !report->has_end && report->outcome.kind == VS_OUTCOME_RECORDING;
}

/* The meaning of "the end", after "live". */
static const char *end_word(const struct vs_report *report)
{
    return report->part.point    ? "at that time"
           : report->part.window ? "at the end of the span"
           : still_runs(report)  ? "now"
                                 : "at the end";
}

/* Of the call sites: at its limit a trace has totals alone, and which blocks were freed since is not known. */
static const char *sites_word(const struct vs_report *report)
{
    bool totals = report->recording.stage >= VS_RECORDING_TOTALS && !report->part.point && !report->part.window;
    return totals ? "when single allocations were last recorded" : end_word(report);
}

static const char *live_heading(const struct vs_report *report)
{
    return report->part.point ? "live then" : !report->part.window && still_runs(report) ? "live now" : "live at end";
}

static void device_heading(const struct vs_report_device *device, const struct vs_style *style)
{
    fprintf(style->out, "\n%sdevice %llu%s  ", vs_paint(style, VS_BOLD),
            (unsigned long long)device->device, vs_unpaint(style));
    vs_text_put(style->out, device->name);
    if (device->simulated && !strcasestr(device->name, "simulated"))
        fprintf(style->out, " (simulated)");
    if (device->total_bytes)
        fprintf(style->out, "  %s", vs_size_text(device->total_bytes));
    if (device->limit_bytes)
        fprintf(style->out, ", limited to %s", vs_size_text(device->limit_bytes));
    fprintf(style->out, "\n");
}

static void host_section(const struct vs_report *report, const struct vs_style *style)
{
    const struct vs_report_host *host = &report->host_memory;
    bool any = false;
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        any |= vs_report_family_seen(&host->family[f]);
    if (!any)
        return;
    fprintf(style->out, "\n%shost%s  page-locked memory\n", vs_paint(style, VS_BOLD),
            vs_unpaint(style));
    if (host->peak_bytes)
        peak_line(style, "peak", &(struct vs_report_peak){.bytes = host->peak_bytes,
                  .time_ns = host->peak_time_ns, .place = host->peak_place}, 0, false);
    family_table(host->family, live_heading(report), style);
    vs_growth_lines(report, &host->growing, &host->filled, style);
    if (host->at_end.count && (host->live_bytes >= HOST_WORTH || style->small_sites)) {
        fprintf(style->out, "  live %s\n", sites_word(report));
        vs_text_sites(style, &host->at_end);
    }
}

static void phase_section(const struct vs_report *report, const struct vs_style *style)
{
    if (report->phase_count == 0)
        return;
    char time[2 * VS_SIZE_TEXT_MAX];
    bool tensors = false;
    for (size_t i = 0; i < report->device_count; i++)
        tensors |= report->devices[i].level == VS_LEVEL_FRAMEWORK;
    fprintf(style->out, "\n%sphases%s\n", vs_paint(style, VS_BOLD), vs_unpaint(style));
    fprintf(style->out, "  %s%-36s %9s %12s %13s%s\n", vs_paint(style, VS_DIM), "", "times", "time",
            tensors ? "peak live" : "peak allocated", vs_unpaint(style));
    size_t shown = 0;
    for (size_t i = 0; i < report->phase_count && shown < PHASES_SHOWN; i++) {
        const struct vs_report_phase *phase = &report->phases[i];
        if (phase->depth > 3)
            continue;
        uint64_t peak = 0;
        for (size_t d = 0; d < report->device_count; d++)
            peak = phase->peaks[d] > peak ? phase->peaks[d] : peak;
        int indent = (int)phase->depth * 2, pad = 36 - indent - (int)vs_text_width(phase->name);
        fprintf(style->out, "  %*s", indent, "");
        vs_text_put(style->out, phase->name);
        if (pad < 0) { /* whole, because --phase takes the name */
            fputs("\n  ", style->out);
            pad = 36;
        }
        fprintf(style->out, "%*s %9s   %s %14s\n", pad, "", vs_count_text(phase->times),
                vs_time_column(time, phase->time_ns), vs_size_text(peak));
        shown++;
    }
    if (shown < report->phase_count)
        fprintf(style->out, "  %sand %zu more; --json lists all of them%s\n", vs_paint(style, VS_DIM),
                report->phase_count - shown, vs_unpaint(style));
}

/* By family and error, where not every failure is a lack of memory. */
static void error_lines(const struct vs_report *report, const struct vs_style *style)
{
    const struct vs_refusals *refusals = &report->refusals;
    bool other = false;
    for (size_t i = 0; i < refusals->count; i++)
        other |= refusals->items[i].error != VS_CUDA_OUT_OF_MEMORY;
    if (!other || refusals->count < 2)
        return;
    fprintf(style->out, "\n%sfailed allocations by error%s\n", vs_paint(style, VS_BOLD),
            vs_unpaint(style));
    for (size_t i = 0; i < refusals->count; i++)
        fprintf(style->out, "  %-12s %6s×  %s\n", vs_family_name(refusals->items[i].family),
                vs_count_text(refusals->items[i].count), vs_error_text(refusals->items[i].error));
}

/* Only the lists that were asked for. */
static void wished_lists(const struct vs_report *report, const struct vs_style *style)
{
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_report_device *device = &report->devices[i];
        bool of_phase = vs_report_of_phase(report);
        const struct vs_report_peak *peak = of_phase ? &device->peak_chosen : &device->peak_allocated;
        if (report->wish.one_device && device->device != report->wish.device)
            continue;
        device_heading(device, style);
        if (peak->event && !report->part.point)
            peak_line(style, of_phase ? "peak of the phase" : peak_label(device), peak,
                      device->total_bytes, true);
        else if (report->part.point && report->wish.by & 1u << VS_BY_SITE)
            now_lines(device, style);
        if (vs_report_wish_memory(&report->wish))
            vs_held_text_wished(report, device, style);
        vs_timeline_sections(report, device, style);
    }
}

void vs_report_text(const struct vs_report *report, uint64_t explained, const struct vs_style *style)
{
    FILE *out = style->out;
    const struct vs_report_part *part = &report->part;
    const char *when = end_word(report);
    heading(report, style);
    if (report->device_count == 0)
        fprintf(out, "\nno device memory was used%s\n",
                part->point || part->window ? " in this part of the trace" : "");
    if (vs_report_wish_memory(&report->wish) || vs_report_wish_time(&report->wish)) {
        wished_lists(report, style);
        return;
    }
    vs_failure_text(report, explained, style);
    vs_uncomputed_lines(report, style);
    vs_findings_text(report, true, style);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_report_device *device = &report->devices[i];
        if (report->wish.one_device && device->device != report->wish.device)
            continue;
        device_heading(device, style);
        if (part->point)
            now_lines(device, style);
        device_peaks(device, style);
        vs_framework_lines(device, style);
        family_table(device->family, live_heading(report), style);
        if (device->framework_retries + device->framework_ooms &&
            device->family[VS_FAMILY_DEVICE].failures > device->framework_ooms)
            vs_text_lines(style, "    ", "after a failed call PyTorch empties its cache and tries again; %s of its "
                          "allocations failed", device->framework_ooms ? vs_count_text(device->framework_ooms) : "none");
        vs_balance_text(style, device,
                        part->window || part->point ? part->to_ns : report->duration_ns,
                        strncmp(when, "at ", 3) == 0 ? when + 3 : "the end so far");
        vs_held_text(report, device, style);
        vs_held_text_cached(device, style);
        if (device->at_end.total_bytes && !part->point) {
            bool same = shown_before(&device->at_peak, &device->at_end, style);
            bool lost = device->lost_bytes && device->level == VS_LEVEL_DEVICE;
            char lead[96];
            snprintf(lead, sizeof lead, "  %slive %s%s: ", vs_paint(style, VS_BOLD), sites_word(report),
                     vs_unpaint(style));
            vs_text_lines(style, lead, "%s%s%s%s%s", vs_size_text(device->at_end.total_bytes),
                          same ? ", at call sites listed above" : "", lost ? ", " : "",
                          lost ? vs_size_text(device->lost_bytes) : "",
                          lost ? " of it freed only when its context was destroyed" : "");
            if (!same)
                vs_text_sites(style, &device->at_end);
        }
        vs_growth_lines(report, &device->growing, &device->filled, style);
        churn_lines(report, device, style);
        if (device->kernel_total.count)
            fprintf(out, "  kernels: %s in %s launch%s\n", vs_time_text(device->kernel_total.time_ns),
                    vs_count_text(device->kernel_total.count), device->kernel_total.count == 1 ? "" : "es");
        vs_timeline_kernels(device, false, style);
        for (int k = 0; k < VS_COPY_KIND_COUNT; k++) {
            tally_line(style, "copies", vs_copy_kind_name((uint64_t)k), &device->copies[k]);
            if (device->copy_sites[k].count)
                vs_text_sites(style, &device->copy_sites[k]);
        }
        tally_line(style, "memsets", "", &device->sets);
        vs_timeline_waits(report, device, style);
        vs_timeline_brief(report, device, style);
    }
    host_section(report, style);
    phase_section(report, style);
    vs_growth_steps_lines(report, style);
    error_lines(report, style);
    if (report->symbols_note && *report->symbols_note) {
        fputc('\n', out);
        vs_text_wrapped(style, "names: ", report->symbols_note);
    }
    if (!report->failure_total && !report->device_count)
        return;
    bool lasting = report->ungrouped;
    for (size_t i = 0; i < report->group_count; i++)
        lasting |= !report->groups[i].recovered;
    bool oom = lasting && !vs_recording_partial(&report->recording);
    fputc('\n', out);
    vs_text_command(style, "next: ", oom ? "vramscope oom" : "vramscope view", report->path,
                    oom ? "" : "--open");
    if (!oom)
        fputs("      (memory over time, in the browser)\n", out);
}
