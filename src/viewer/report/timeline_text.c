/* SPDX-License-Identifier: Apache-2.0
 *
 * What the timeline says about time: which work took it, and why the device had none. */
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "viewer/report/report_parts.h"

#define SITES_OF_KERNEL 3
#define SITE_COLUMNS 160 /* of a call site in a sentence */
/* What the paragraph of the report is about: */
#define WORTH_WORKS 5                      /* pieces of work of a device */
#define WORTH_SPAN_NS UINT64_C(1000000)    /* between the first and the last */
#define WORTH_IDLE 10                      /* idle for this share of it, in percent */
#define WORTH_COPIES 2                     /* copies that could save this share */
#define WORTH_SMALL 100                    /* so many small copies */
#define CAUSES_SHOWN 2

static const char *const size_names[VS_SIZE_CLASSES] = {"<= 64 KiB", "<= 1 MiB", "<= 16 MiB", "larger"};
static const char *const memory_names[] = {"", "pageable", "pinned"};

char *vs_time_column(char out[2 * VS_SIZE_TEXT_MAX], uint64_t ns)
{
    char time[VS_SIZE_TEXT_MAX];
    int columns = (int)vs_text_width(vs_time_format(time, ns)); /* "µ" has two bytes */
    snprintf(out, 2 * VS_SIZE_TEXT_MAX, "%*s%s", columns < 10 ? 10 - columns : 0, "", time);
    return out;
}
#define time_column(ns) vs_time_column((char[2 * VS_SIZE_TEXT_MAX]){""}, ns)

/* "item (item.py:12) < main:3", for a sentence. */
static const char *site_text(char out[4 * SITE_COLUMNS + 8], const struct vs_report_site *site)
{
    char chain[VS_CHAIN_TEXT_MAX];
    return vs_text_clip(out, vs_text_site(chain, site, 2), SITE_COLUMNS);
}
#define site_words(site) site_text((char[4 * SITE_COLUMNS + 8]){""}, site)

/* In bytes a ns, which are GB/s. */
static double rate_of(uint64_t bytes, uint64_t ns)
{
    return ns ? (double)bytes / (double)ns : 0;
}

char *vs_rate_format(char out[32], uint64_t bytes, uint64_t ns)
{
    double rate = rate_of(bytes, ns);
    snprintf(out, 32, rate >= 1 ? "%.1f GB/s" : "%.1f MB/s", rate >= 1 ? rate : 1e3 * rate);
    return out;
}
#define rate_words(bytes, ns) vs_rate_format((char[32]){""}, bytes, ns)

/* --- waits and gaps --- */

/* "multi_tensor_apply_kernel" of "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<…>(…)". */
static const char *short_name(char out[200], const char *name)
{
    static const char unnamed[] = "(anonymous namespace)";
    const char *start = name, *at = name;
    for (; *at && *at != '<' && (*at != '(' || strncmp(at, unnamed, sizeof unnamed - 1) == 0); at++)
        if (*at == ':' || *at == ' ')
            start = at + 1;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(at - start), start);
    return vs_text_clip(out, at > start ? word : name, 48);
}

/* *name*: of a kernel, or NULL; *kind*: of the event. */
static const char *work_name(char out[200], const char *name, uint32_t kind)
{
    if (name)
        return short_name(out, name);
    return kind == VS_EVENT_memcpy ? "a copy" : kind == VS_EVENT_memset ? "a memset" : "a kernel";
}

/* "the host waited at item (item.py:12)", in *out* of VS_TEXT_LINES_MAX bytes. */
static const char *cause_text(char *out, const struct vs_report_work *gap)
{
    char until[4 * SITE_COLUMNS + 32] = "", name[200];
    bool copy = gap->kind == VS_WAIT_COPY || gap->kind == VS_WAIT_ASYNC_COPY;
    const char *wait = gap->kind == VS_WAIT_FREE ? "freed memory" : copy ? "was copying" : "waited";
    const char *in = !*gap->phase ? "" : strcmp(gap->phase, VS_AFTER_LAST_STEP) == 0 ? ", " : ", in ";
    if (gap->until)
        snprintf(until, sizeof until, " until %s", site_words(gap->until));
    else
        snprintf(until, sizeof until, " until %s%s", gap->name ? "kernel " : "",
                 work_name(name, gap->name, gap->ended_by));
    if (gap->cause == VS_GAP_UNKNOWN)
        snprintf(out, VS_TEXT_LINES_MAX, "unknown:%s", until);
    else if (gap->cause == VS_GAP_WAIT)
        snprintf(out, VS_TEXT_LINES_MAX, "the host %s at %s%s%s", wait,
                 gap->site ? site_words(gap->site) : "further call sites", in, gap->phase);
    else if (gap->site)
        snprintf(out, VS_TEXT_LINES_MAX, "the host was busy after it %s at %s,%s%s%s", copy ? "copied" : wait,
                 site_words(gap->site), until, in, gap->phase);
    else
        snprintf(out, VS_TEXT_LINES_MAX, "the host was busy%s%s%s", until, in, gap->phase);
    return out;
}

/* "      5.71 ms   76.9 %      11×  ", the begin of a row. */
static const char *lead_text(char lead[96], uint64_t ns, uint64_t whole_ns, uint64_t count)
{
    snprintf(lead, 96, "    %s  %7s  %6s×  ", time_column(ns), vs_percent_text(ns, whole_ns), vs_count_text(count));
    return lead;
}
#define row_lead(ns, whole_ns, count) lead_text((char[96]){""}, ns, whole_ns, count)

/* The steps of which waits were recorded. */
static struct vs_timeline_steps steps_of(const struct vs_report *report, const struct vs_report_timeline *line)
{
    return line->steps.count ? line->steps
                             : (struct vs_timeline_steps){report->steps.done, report->steps.total_ns};
}

/* The works that took longest, as shares of *whole_ns*: gaps by their cause, others by call site; with *steps*, how
 * often in a step, and however short they are those in every step. */
static void work_rows(const struct vs_style *style, const struct vs_report_works *works, uint64_t whole_ns,
                      enum vs_timeline_what what, const struct vs_timeline_steps *steps)
{
    char cause[VS_TEXT_LINES_MAX], row_indent[VS_ROW_COLUMNS + 1];
    snprintf(row_indent, sizeof row_indent, "%*s", VS_ROW_COLUMNS, "");
    uint64_t rest = works->total.time_ns, count = works->total.count;
    size_t shown = 0;
    for (size_t i = 0; i < works->count; i++) {
        const struct vs_report_work *work = &works->items[i];
        bool in_every = steps && steps->count > 1 && work->sums.step_count >= steps->count;
        bool small = i && !style->small_sites && work->sums.time_ns < whole_ns / 100;
        if (!in_every && (small || shown >= style->sites))
            continue;
        shown++;
        const char *lead = row_lead(work->sums.time_ns, whole_ns, work->sums.count);
        rest -= work->sums.time_ns;
        count -= work->sums.count;
        if (what == VS_ROWS_GAPS) {
            vs_text_lines(style, lead, "%s", cause_text(cause, work));
            continue;
        }
        fputs(lead, style->out);
        if (work->site)
            vs_text_chain(style, VS_ROW_COLUMNS, work->site);
        else if (what == VS_ROWS_COPIES)
            fprintf(style->out, "%s, line not recorded (run --copy-stacks)\n", vs_copy_kind_name(work->kind));
        else
            fprintf(style->out, "at further call sites\n");
        if (steps && steps->count && work->site && work->sums.step_count)
            vs_text_lines(style, row_indent, "%s, %.1f a step, %s of the steps' time", work->api,
                          (double)work->sums.step_count / (double)steps->count,
                          vs_percent_text(work->sums.step_ns, steps->time_ns));
        else if (what == VS_ROWS_WAITS && work->site)
            vs_text_lines(style, row_indent, "%s", work->api);
    }
    uint64_t more = works->count - shown + works->omitted_count;
    if (more && shown)
        fprintf(style->out, "%s%s%s%s%s\n", row_lead(rest, whole_ns, count), vs_paint(style, VS_DIM),
                what == VS_ROWS_GAPS ? "" : "at ",
                what == VS_ROWS_GAPS ? "other gaps" : vs_number_text(more, "more call site"), vs_unpaint(style));
}

void vs_timeline_waits(const struct vs_report *report, const struct vs_report_device *device,
                       const struct vs_style *style)
{
    const struct vs_report_works *waits = &device->timeline.waits;
    if (!device->syncs.count)
        return;
    fprintf(style->out, "  host waits: %s in %s call%s\n", vs_time_text(device->syncs.time_ns),
            vs_count_text(device->syncs.count), device->syncs.count == 1 ? "" : "s");
    struct vs_timeline_steps steps = steps_of(report, &device->timeline);
    work_rows(style, waits, waits->total.time_ns, VS_ROWS_WAITS, report->wish.syncs ? &steps : NULL);
}

static void gap_lines(const struct vs_report_timeline *line, const struct vs_style *style)
{
    const struct vs_timeline_device *device = line->device;
    fprintf(style->out, "  device idle: %s, %s of %s from its first to its last work\n",
            vs_time_text(device->gap_ns), vs_percent_text(device->gap_ns, line->span_ns), vs_time_text(line->span_ns));
    work_rows(style, &line->gaps, device->gap_ns, VS_ROWS_GAPS, NULL);
    if (device->short_count)
        fprintf(style->out, "%s%sgaps of less than 5 µs, between queued work%s\n",
                row_lead(device->short_ns, device->gap_ns, device->short_count), vs_paint(style, VS_DIM),
                vs_unpaint(style));
    bool known = false;
    for (size_t i = 0; i < line->kernels.count; i++)
        known |= line->kernels.items[i].site != NULL;
    if (!known && line->gaps.count && line->gaps.items[0].cause == VS_GAP_HOST && !line->gaps.items[0].until)
        fprintf(style->out, "    (record with --kernels=api to see the lines of launches)\n");
    if (device->unknown_ns)
        fprintf(style->out, "    not counted: %s in which work was not recorded\n", vs_time_text(device->unknown_ns));
    if (device->out_of_order)
        vs_text_lines(style, vs_text_mark(style, "warning"),
                      "%s of work came too late to be sorted: the device was idle for less than this",
                      vs_number_text(device->out_of_order, "record"));
}

/* --- kernels --- */

static void peak_line(const struct vs_timeline_device *device, uint64_t peak_ns, const struct vs_style *style)
{
    char text[VS_TEXT_LINES_MAX] = "", name[200];
    const struct vs_near_work *before = &device->before;
    size_t length = 0;
    for (size_t i = 0; i < device->running_count && length < sizeof text - 256; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s on stream %llu", i ? ", " : "",
                                   work_name(name, device->running[i].text, device->running[i].kind),
                                   (unsigned long long)device->running[i].stream);
    if (length)
        vs_text_lines(style, "  at the peak, ", "%s: %s ran", vs_time_text(peak_ns), text);
    else if (before->start_ns && before->end_ns <= peak_ns)
        vs_text_lines(style, "  at the peak, ", "%s: the device was idle; %s had ended %s before", vs_time_text(peak_ns),
                      work_name(name, before->text, before->kind), vs_time_text(peak_ns - before->end_ns));
}

/* The clocks, where CUPTI's was read. */
static void clock_line(const struct vs_report *report, const struct vs_style *style)
{
    char drift[64] = "";
    if (report->device_clock.drift_ppb)
        snprintf(drift, sizeof drift, "; drift of %.2f ppm corrected",
                 (double)report->device_clock.drift_ppb / 1000);
    if (report->device_clock.known)
        fprintf(style->out, "    times within %s of the host's clock%s\n",
                vs_time_text(report->device_clock.error_ns), drift);
}

static void kernel_sites(const struct vs_report_timeline *line, const char *kernel, const struct vs_style *style)
{
    size_t sites = 0;
    for (size_t i = 0; i < line->kernels.count && sites < SITES_OF_KERNEL; i++) {
        const struct vs_report_work *work = &line->kernels.items[i];
        if (!work->site || strcmp(work->name, kernel) != 0)
            continue;
        fprintf(style->out, "%20s%6s×  ", "", vs_count_text(work->sums.count));
        vs_text_chain(style, 29, work->site);
        sites++;
    }
}

void vs_timeline_kernels(const struct vs_report_device *device, bool detail, const struct vs_style *style)
{
    const struct vs_report_timeline *line = &device->timeline;
    uint64_t rest = device->kernel_total.time_ns, launches = device->kernel_total.count;
    uint64_t whole = detail ? line->device->busy_ns : rest;
    unsigned columns = detail ? 46 : 34; /* before the name */
    char clipped[1024];
    size_t shown = 0;
    if (detail && launches)
        fprintf(style->out, "    %s%10s  %7s  %7s  %10s%s\n", vs_paint(style, VS_DIM), "time", "of busy", "times",
                "mean", vs_unpaint(style));
    for (; shown < device->kernel_count && shown < style->kernels; shown++) {
        const struct vs_report_kernel *kernel = &device->kernels[shown];
        if (shown && !style->small_sites && kernel->time_ns < device->kernel_total.time_ns / 100)
            break;
        rest -= kernel->time_ns < rest ? kernel->time_ns : rest;
        launches -= kernel->count < launches ? kernel->count : launches;
        fprintf(style->out, "%s%s%s%s\n", row_lead(kernel->time_ns, whole, kernel->count),
                detail ? time_column(kernel->time_ns / kernel->count) : "", detail ? "  " : "",
                vs_text_clip(clipped, kernel->name, style->width > columns + 30 ? style->width - columns : 30));
        if (detail)
            kernel_sites(line, kernel->name, style);
    }
    if (shown < device->kernel_count)
        fprintf(style->out, "%s%*s%sother kernels%s\n", row_lead(rest, whole, launches), detail ? 12 : 0, "",
                vs_paint(style, VS_DIM), vs_unpaint(style));
}

/* --- copies --- */

static const struct vs_link *link_of(const struct vs_link links[2], uint32_t kind)
{
    const struct vs_link *link = kind == VS_COPY_HTOD   ? &links[0]
                                 : kind == VS_COPY_DTOH ? &links[1]
                                                        : NULL;
    return link && link->time_ns ? link : NULL;
}

bool vs_timeline_saved(const struct vs_timeline_device *device, const struct vs_report_work *copies, uint64_t *ns)
{
    const struct vs_link *pinned = link_of(device->pinned_links, copies->kind);
    if (!pinned)
        return false;
    double least = (double)copies->sums.bytes / (double)pinned->bytes * (double)pinned->time_ns;
    *ns = least < (double)copies->sums.time_ns ? copies->sums.time_ns - (uint64_t)least : 0;
    return true;
}

/* Of all pageable copies; false if nothing is known. */
static bool all_saved(const struct vs_report_timeline *line, uint64_t *ns)
{
    bool known = false;
    *ns = 0;
    for (size_t i = 0; i < line->copies.count; i++) {
        uint64_t saved;
        const struct vs_report_work *copies = &line->copies.items[i];
        bool of_these = copies->memory == VS_MEMORY_PAGEABLE && vs_timeline_saved(line->device, copies, &saved);
        *ns += of_these ? saved : 0;
        known |= of_these;
    }
    return known;
}

unsigned vs_pcie_generation(const struct vs_report_device *device)
{
    uint64_t major = device->cc_major;
    return major >= 9 ? 5 : major == 8 ? 4 : major >= 3 ? 3 : 0;
}

/* What is 100 % for copies of *kind*, in bytes a ns: *pcie*, or the fastest of them where that is unknown or they are
 * faster, as over NVLink; 0: none is larger than VS_SMALL_COPY_BYTES. */
static double whole_rate(const struct vs_report_timeline *line, uint32_t kind, double pcie)
{
    const struct vs_link *link = link_of(line->device->links, kind);
    double most = link ? rate_of(link->bytes, link->time_ns) : 0;
    for (size_t i = 0; i < line->copies.count; i++) {
        const struct vs_report_work *row = &line->copies.items[i];
        double rate = row->kind == kind && row->size != VS_COPY_SMALL ? rate_of(row->sums.bytes, row->sums.time_ns) : 0;
        most = rate > most ? rate : most;
    }
    return most && most < pcie ? pcie : most;
}

static void transfer_section(const struct vs_report_device *device, const struct vs_style *style)
{
    const struct vs_report_timeline *line = &device->timeline;
    const struct vs_report_works *copies = &line->copies;
    if (!copies->total.count) {
        fprintf(style->out, "  no copies\n");
        return;
    }
    fprintf(style->out, "  copies: %s in %s×, %s\n", vs_size_text(copies->total.bytes),
            vs_count_text(copies->total.count), vs_time_text(copies->total.time_ns));
    unsigned generation = vs_pcie_generation(device);
    double pcie = (double)vs_pcie_bytes_per_second(generation) / 1e9, whole[VS_COPY_DTOH + 1] = {0};
    for (uint32_t kind = VS_COPY_HTOD; kind <= VS_COPY_DTOH; kind++)
        whole[kind] = whole_rate(line, kind, pcie);
    for (size_t i = 0; i < copies->count; i++) {
        const struct vs_report_work *row = &copies->items[i];
        double share = row->size != VS_COPY_SMALL && row->kind <= VS_COPY_DTOH && whole[row->kind]
                           ? rate_of(row->sums.bytes, row->sums.time_ns) / whole[row->kind] : 0;
        fprintf(style->out, "    %-5s %-8s %-9s %10s %6s× %s", vs_copy_kind_name(row->kind),
                memory_names[row->memory], size_names[row->size], vs_size_text(row->sums.bytes),
                vs_count_text(row->sums.count), time_column(row->sums.time_ns));
        if (row->size != VS_COPY_SMALL)
            fprintf(style->out, " %11s", rate_words(row->sums.bytes, row->sums.time_ns));
        if (share)
            fprintf(style->out, " %6.1f %%", 100 * share);
        fputc('\n', style->out);
    }
    for (uint32_t kind = VS_COPY_HTOD; kind <= VS_COPY_DTOH; kind++)
        if (whole[kind] > pcie)
            fprintf(style->out, "    100 %% = %s: the fastest %s copies of this trace\n",
                    rate_words((uint64_t)(1e6 * whole[kind]), 1000000), vs_copy_kind_name(kind));
    if (generation && (whole[VS_COPY_HTOD] || whole[VS_COPY_DTOH]))
        fprintf(style->out, "    %s%.1f GB/s: PCIe %u.0 with 16 lanes, the most that such GPUs have\n",
                whole[VS_COPY_HTOD] == pcie || whole[VS_COPY_DTOH] == pcie ? "100 % = " : "", pcie, generation);
    if (line->pageable.total.count) {
        uint64_t saved;
        bool known = all_saved(line, &saved);
        vs_text_lines(style, "  pageable copies: ", "%s; %s%s%s", vs_time_text(line->pageable.total.time_ns),
                      !known ? "use pinned memory: in PyTorch pin_memory=True with non_blocking=True, in CUDA "
                               "cudaHostAlloc. What it would save cannot be worked out from this trace, which has no "
                               "large pinned copy"
                      : saved ? "pinned memory would save " : "no slower than the fastest pinned copy of this trace",
                      known && saved ? vs_time_text(saved) : "",
                      known && saved ? " of it, at the speed of the fastest pinned copy of this trace" : "");
        work_rows(style, &line->pageable, line->pageable.total.time_ns, VS_ROWS_COPIES, NULL);
    }
    if (line->small.total.count) {
        fprintf(style->out, "  copies of 64 KiB or less, where latency dominates: %s in %s\n",
                vs_time_text(line->small.total.time_ns), vs_count_text(line->small.total.count));
        work_rows(style, &line->small, line->small.total.time_ns, VS_ROWS_COPIES, NULL);
    }
}

void vs_timeline_sections(const struct vs_report *report, const struct vs_report_device *device,
                          const struct vs_style *style)
{
    const struct vs_report_wish *wish = &report->wish;
    bool any = device->timeline.device != NULL;
    if (!any && (wish->kernels || wish->transfers || wish->syncs))
        fprintf(style->out, "  no kernels or copies %s\n",
                report->part.point ? "are listed at a point in time: use --from and --to" : "were recorded");
    if (any && wish->kernels) {
        vs_text_lines(style, "  kernels: ", "%s in %s; with copies and memsets the device was busy for %s, %s of %s",
                      vs_time_text(device->kernel_total.time_ns), vs_number_text(device->kernel_total.count, "kernel"),
                      vs_time_text(device->timeline.device->busy_ns),
                      vs_percent_text(device->timeline.device->busy_ns, device->timeline.span_ns),
                      vs_time_text(device->timeline.span_ns));
        vs_timeline_kernels(device, true, style);
        peak_line(device->timeline.device, device->peak_user.time_ns, style);
        clock_line(report, style);
    }
    if (any && wish->transfers)
        transfer_section(device, style);
    if (wish->syncs)
        vs_timeline_waits(report, device, style);
    if (any && wish->syncs)
        gap_lines(&device->timeline, style);
}

/* --- the paragraph --- */

void vs_timeline_brief(const struct vs_report *report, const struct vs_report_device *device,
                       const struct vs_style *style)
{
    const struct vs_report_timeline *line = &device->timeline;
    char cause[VS_TEXT_LINES_MAX], *text;
    size_t length;
    const struct vs_first_step *before = line->device && line->later ? &line->device->first_step
                                                                     : &(struct vs_first_step){0};
    uint64_t span = line->span_ns, idle = line->idle_ns, saved = 0, steps_done = steps_of(report, line).count;
    if (!line->device || line->device->works - before->works < WORTH_WORKS || span < WORTH_SPAN_NS)
        return;
    char steps[64] = "", part[64] = "";
    if (line->later) {
        snprintf(steps, sizeof steps, "from step %llu on: ", (unsigned long long)before->second_step);
        snprintf(part, sizeof part, " --step %llu-%llu", (unsigned long long)before->second_step,
                 (unsigned long long)(before->second_step + report->steps.done - 2));
    }
    FILE *out = vs_xstream(&text, &length);
    if (idle >= span / 100 * WORTH_IDLE) {
        fprintf(out, "idle for %s of %s", vs_percent_text(idle, span), vs_time_text(span));
        for (size_t i = 0; i < line->gaps.count && i < CAUSES_SHOWN; i++) {
            const struct vs_report_work *gap = &line->gaps.items[i];
            if (gap->sums.time_ns < idle / 100 * WORTH_IDLE)
                break;
            fprintf(out, "%s %s (%s", i ? ";" : ":", cause_text(cause, gap), vs_percent_text(gap->sums.time_ns, span));
            for (size_t k = 0; gap->cause == VS_GAP_WAIT && gap->site && k < line->waits.count; k++)
                if (line->waits.items[k].site == gap->site && line->waits.items[k].sums.step_count && steps_done)
                    fprintf(out, ", %.1f a step", (double)line->waits.items[k].sums.step_count / (double)steps_done);
            fputc(')', out);
        }
        fputs(". ", out);
    }
    const struct vs_report_works *pageable = &line->pageable, *small = &line->small;
    bool known = all_saved(line, &saved);
    const struct vs_report_site *site = pageable->count ? pageable->items[0].site : NULL;
    if ((known ? saved : pageable->total.time_ns) > span / 100 * WORTH_COPIES) {
        fprintf(out, "Copies of pageable memory took %s", vs_time_text(pageable->total.time_ns));
        if (known)
            fprintf(out, "; pinned memory would save %s", vs_time_text(saved));
        fprintf(out, "%s%s. ", site ? ", most at " : "", site ? site_words(site) : "");
    }
    site = small->count ? small->items[0].site : NULL;
    if (small->total.count >= WORTH_SMALL && small->total.time_ns > span / 100 * WORTH_COPIES)
        fprintf(out, "%s copies of 64 KiB or less took %s%s%s. ", vs_count_text(small->total.count),
                vs_time_text(small->total.time_ns), site ? ", most at " : "", site ? site_words(site) : "");
    vs_xstream_end(out);
    if (length)
        vs_text_lines(style, line->later ? "  device time " : "  device time: ",
                      "%s%sMore: report%s --kernels --transfers --syncs", steps, text, part);
    free(text);
}
