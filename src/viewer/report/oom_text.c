/* SPDX-License-Identifier: Apache-2.0
 *
 * Renderers of the post-mortem; see the header. The order is that of the
 * questions: what failed, where, why, who held the memory, what would help. */
#include "viewer/report/oom_text.h"

#include "base/vs_size.h"
#include "viewer/common/json_writer.h"
#include "viewer/report/balance_text.h"
#include "viewer/report/oom_words.h"
#include "viewer/report/report_json.h"
#include "viewer/report/report_text.h"

#define ULL(x) ((unsigned long long)(x))

static void wrapped(const struct vs_style *style, const char *lead, const char *text)
{
    size_t indent = vs_text_width(lead), column = indent;
    fprintf(style->out, "%s", lead);
    while (*text) {
        size_t length = 0, columns = 0;
        while (text[length] && text[length] != ' ')
            columns += ((unsigned char)text[length++] & 0xc0) != 0x80;
        if (column > indent && column + 1 + columns > style->width) {
            fprintf(style->out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', style->out);
            column++;
        }
        vs_text_put_part(style->out, text, length);
        column += columns;
        text += length;
        while (*text == ' ')
            text++;
    }
    fputc('\n', style->out);
}

static void what_failed(const struct vs_oom *oom, const struct vs_report *report,
                        const struct vs_style *style)
{
    const struct vs_report_failure *failure = &oom->failure;
    char size[VS_SIZE_TEXT_MAX], time[VS_SIZE_TEXT_MAX], chain[VS_CHAIN_TEXT_MAX], ending[96];
    fprintf(style->out, "%sout of memory%s  %s%s", vs_paint(style, VS_BAD), vs_unpaint(style),
            vs_size_format(size, failure->requested), *failure->api ? " by " : "");
    vs_text_put(style->out, failure->api);
    if (failure->host)
        fprintf(style->out, ", host memory");
    else
        fprintf(style->out, " on device %llu%s", ULL(failure->device),
                *oom->device_name ? ", " : "");
    vs_text_put(style->out, failure->host ? "" : oom->device_name);
    fprintf(style->out, "\n  when     %s%s%s", vs_time_format(time, failure->time_ns),
            *failure->place ? ", " : "", failure->place);
    if (!oom->in_step && oom->steps_done)
        fprintf(style->out, ", after %llu completed step%s", ULL(oom->steps_done),
                oom->steps_done == 1 ? "" : "s");
    fputc('\n', style->out);
    wrapped(style, "  where    ", vs_text_site(chain, &failure->site, style->full ? 64 : 6));
    fprintf(style->out, "  program  ");
    vs_text_put(style->out, report->program);
    fprintf(style->out, ", %s%s\n", vs_report_ending(ending, report),
            oom->ended ? "" : "; it got over this failure and went on");
    if (report->condition != VS_TRACE_COMPLETE)
        wrapped(style, "  trace    ", report->condition_text);
    if (oom->total_failures > 1)
        fprintf(style->out, "  failures %llu in all; this is number %llu (--nth chooses)\n",
                ULL(oom->total_failures), ULL(oom->number));
}

static void bytes_row(const struct vs_style *style, const char *label, uint64_t bytes,
                      uint64_t total, const char *remark)
{
    char size[VS_SIZE_TEXT_MAX], share[16];
    fprintf(style->out, "    %12s  %7s  %s%s\n", vs_size_format(size, bytes),
            vs_text_percent(share, bytes, total), label, remark);
}

static void where_the_bytes_were(const struct vs_oom *oom, const struct vs_style *style)
{
    if (oom->failure.host)
        return;
    char size[VS_SIZE_TEXT_MAX], remark[128];
    fprintf(style->out, "\n%swhere the %s %s were%s\n", vs_paint(style, VS_BOLD),
            oom->limit ? "limit's" : "device's", vs_size_format(size, oom->total), vs_unpaint(style));
    if (oom->balance.known && (oom->balance.context_count > oom->balance.contexts_unmeasured ||
                               oom->balance.others_known)) {
        vs_size_format(size, oom->largest_hole);
        if (oom->cached && oom->holes == 1)
            fprintf(style->out, "  the one hole in the cache was %s\n", size);
        else if (oom->cached)
            fprintf(style->out, "  the largest of %llu holes in the cache was %s\n", ULL(oom->holes),
                    size);
        vs_balance_rows(style, &oom->balance);
        return;
    }
    for (int f = 0; f < VS_FAMILY_COUNT; f++) {
        if (!oom->family[f] || f == VS_FAMILY_IPC)
            continue;
        snprintf(remark, sizeof remark, " (%s)", vs_family_name((uint64_t)f));
        bytes_row(style, "live", oom->family[f], oom->total, remark);
    }
    if (oom->cached) {
        snprintf(remark, sizeof remark, ", largest hole %s of %llu",
                 vs_size_format(size, oom->largest_hole), ULL(oom->holes));
        bytes_row(style, "cached, not in use", oom->cached, oom->total, remark);
    }
    if (oom->free_known && !oom->limit)
        bytes_row(style, "outside: context, modules, other processes", oom->outside, oom->total,
                  "");
    bytes_row(style, "free", oom->free_bytes, oom->total,
              oom->free_known ? "" : " (or outside; the device was not asked)");
}

void vs_oom_text(const struct vs_oom *oom, const struct vs_report *report,
                 const struct vs_style *style)
{
    char evidence[VS_EVIDENCE_MAX][VS_SENTENCE_MAX], sentence[VS_SENTENCE_MAX], lead[32];
    what_failed(oom, report, style);
    fprintf(style->out, "\n%sverdict  %s%s\n", vs_paint(style, VS_BOLD),
            vs_oom_verdict_words(oom->verdict), vs_unpaint(style));
    size_t count = vs_oom_evidence(oom, evidence);
    for (size_t i = 0; i < count; i++)
        wrapped(style, "  - ", evidence[i]);
    where_the_bytes_were(oom, style);
    if (oom->sites.count) {
        fprintf(style->out, "\n%swho held them%s\n", vs_paint(style, VS_BOLD), vs_unpaint(style));
        vs_text_sites(style, &oom->sites);
    }
    if (oom->remedy_count)
        fprintf(style->out, "\n%swhat would have helped%s\n", vs_paint(style, VS_BOLD),
                vs_unpaint(style));
    for (size_t i = 0; i < oom->remedy_count; i++) {
        snprintf(lead, sizeof lead, "  %zu. ", i + 1);
        wrapped(style, lead, vs_oom_remedy_words(oom, i, sentence));
    }
}

void vs_oom_text_none(const struct vs_report *report, const struct vs_style *style)
{
    char peak[VS_SIZE_TEXT_MAX], total[VS_SIZE_TEXT_MAX], left[VS_SIZE_TEXT_MAX], share[16];
    fprintf(style->out, "no allocation failed in ");
    vs_text_put(style->out, report->path);
    fputc('\n', style->out);
    if (report->condition != VS_TRACE_COMPLETE)
        wrapped(style, "  trace    ", report->condition_text);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_report_device *device = &report->devices[i];
        uint64_t reserved = device->peak_reserved.bytes;
        if (device->total_bytes == 0)
            continue;
        uint64_t room = device->total_bytes > reserved ? device->total_bytes - reserved : 0;
        fprintf(style->out, "  device %llu  peak reserved %s of %s; headroom %s (%s), context and "
                "other processes not counted\n", ULL(device->device),
                vs_size_format(peak, reserved), vs_size_format(total, device->total_bytes),
                vs_size_format(left, room), vs_text_percent(share, room, device->total_bytes));
    }
}

static const char *remedy_name(enum vs_remedy_kind kind)
{
    switch (kind) {
    case VS_REMEDY_FREE_GROWTH: return "free_growth";
    case VS_REMEDY_AVOID_SPIKE: return "avoid_spike";
    case VS_REMEDY_USE_HOLES: return "use_holes";
    case VS_REMEDY_RELEASE_CACHE: return "release_cache";
    case VS_REMEDY_STOP_OTHERS: return "stop_others";
    case VS_REMEDY_SMALLER_STEP: return "smaller_step";
    case VS_REMEDY_SHRINK_SITE: return "shrink_site";
    case VS_REMEDY_SMALLER_REQUEST: return "smaller_request";
    case VS_REMEDY_BIGGER_DEVICE: return "bigger_device";
    case VS_REMEDY_RAISE_LIMIT: return "raise_limit";
    case VS_REMEDY_LIFT_LIMIT: return "lift_limit";
    case VS_REMEDY_FIX_SIZE: return "fix_size";
    }
    return "unknown";
}

static void figures(struct vs_json *json, const struct vs_oom *oom)
{
    vs_json_begin_object(json, "device_bytes");
    vs_json_uint(json, "total", oom->total);
    vs_json_uint(json, "free", oom->free_bytes);
    vs_json_bool(json, "free_reported_by_device", oom->free_known);
    vs_json_uint(json, "outside", oom->outside);
    if (oom->limit) {
        vs_json_uint(json, "limit", oom->limit);
        vs_json_uint(json, "unlimited_total", oom->device_total);
        vs_json_uint(json, "unlimited_free", oom->device_free);
    }
    vs_json_uint(json, "reserved", oom->reserved);
    vs_json_uint(json, "allocated", oom->allocated);
    vs_json_uint(json, "cached", oom->cached);
    vs_json_uint(json, "cached_empty_segments", oom->empty_bytes);
    vs_json_uint(json, "largest_hole", oom->largest_hole);
    vs_json_uint(json, "holes", oom->holes);
    vs_json_uint(json, "needed", oom->need);
    vs_json_uint(json, "missing", oom->missing);
    vs_balance_json(json, "balance", &oom->balance);
    vs_json_begin_object(json, "live_by_family");
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        if (oom->family[f])
            vs_json_uint(json, vs_family_name((uint64_t)f), oom->family[f]);
    vs_json_end_object(json);
    vs_json_end_object(json);
    vs_json_begin_object(json, "steps");
    vs_json_uint(json, "begun", oom->steps_begun);
    vs_json_uint(json, "done", oom->steps_done);
    vs_json_uint(json, "allocated_in_this_step_bytes", oom->step_bytes);
    vs_json_uint(json, "earlier_steps_peak_bytes", oom->steps_peak);
    vs_json_uint(json, "growth_bytes", oom->growth_bytes);
    vs_json_uint(json, "growth_bytes_per_step", oom->growth_per_step);
    vs_json_uint(json, "growth_since_step", oom->growth_since);
    vs_json_uint(json, "spike_bytes", oom->spike_bytes);
    vs_json_end_object(json);
}

void vs_oom_json(const struct vs_oom *oom, const struct vs_report *report, FILE *out)
{
    struct vs_json json = {.out = out, .pretty = true};
    char evidence[VS_EVIDENCE_MAX][VS_SENTENCE_MAX], sentence[VS_SENTENCE_MAX];
    vs_json_begin_object(&json, NULL);
    vs_json_string(&json, "schema", "vramscope.oom/1");
    vs_json_string(&json, "trace", report->path);
    vs_json_string(&json, "program", report->program);
    vs_json_uint(&json, "failure_count", report->failure_total);
    if (!oom) {
        vs_json_string(&json, "verdict", NULL);
        vs_json_end_object(&json);
        return;
    }
    vs_json_uint(&json, "failure_number", oom->number);
    vs_report_json_failure(&json, "failure", &oom->failure);
    vs_json_string(&json, "verdict", vs_verdict_name(oom->verdict));
    vs_json_string(&json, "verdict_text", vs_oom_verdict_words(oom->verdict));
    vs_json_begin_array(&json, "evidence");
    size_t count = vs_oom_evidence(oom, evidence);
    for (size_t i = 0; i < count; i++)
        vs_json_string(&json, NULL, evidence[i]);
    vs_json_end_array(&json);
    figures(&json, oom);
    vs_report_json_sites(&json, "sites_live", &oom->sites);
    vs_report_json_sites(&json, "sites_growing", &oom->growing);
    vs_json_begin_array(&json, "remedies");
    for (size_t i = 0; i < oom->remedy_count; i++) {
        vs_json_begin_object(&json, NULL);
        vs_json_string(&json, "kind", remedy_name(oom->remedies[i].kind));
        vs_json_bool(&json, "fits", oom->remedies[i].fits);
        vs_json_uint(&json, "bytes", oom->remedies[i].bytes);
        vs_json_string(&json, "text", vs_oom_remedy_words(oom, i, sentence));
        vs_json_end_object(&json);
    }
    vs_json_end_array(&json);
    vs_json_end_object(&json);
}
