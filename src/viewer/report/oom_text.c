/* SPDX-License-Identifier: Apache-2.0
 *
 * Renderers of the post-mortem; see the header. The order: the answer, what failed, where, why, who
 * held the memory, what would help. */
#include "viewer/report/oom_text.h"

#include <string.h>

#include "base/vs_size.h"
#include "viewer/common/json_writer.h"
#include "viewer/report/report_parts.h"
#include "viewer/report/report_text.h"

#define ULL(x) ((unsigned long long)(x))

static void what_failed(const struct vs_oom *oom, const struct vs_report *report,
                        const struct vs_style *style)
{
    const struct vs_report_failure *failure = &oom->failure;
    char one[VS_FAILURE_WHAT_MAX], chain[VS_CHAIN_TEXT_MAX], ending[96];
    char what[VS_CUDA_ERROR_TEXT_MAX + 32] = "out of memory";
    char lead[sizeof what + 32], place[48];
    if (!vs_oom_is_out_of_memory(failure))
        snprintf(what, sizeof what, "allocation failed (%s)", vs_error_text(failure->error));
    snprintf(lead, sizeof lead, "%s%s%s  ", vs_paint(style, VS_BAD), what, vs_unpaint(style));
    snprintf(place, sizeof place, failure->host ? ", host memory" : " on device %llu", ULL(failure->device));
    vs_text_lines(style, lead, "%s%s%s%s", vs_failure_what(one, failure),
                  failure->framework || *failure->api ? " by " : "",
                  failure->framework ? "PyTorch" : failure->api, place);
    if (!failure->host && *oom->device_name)
        vs_text_wrapped(style, "  device   ", oom->device_name);
    fprintf(style->out, "  when     %s%s%s", vs_time_text(failure->time_ns),
            *failure->place ? ", " : "", failure->place);
    if (!oom->in_step && oom->steps_done)
        fprintf(style->out, ", after %s", vs_number_text(oom->steps_done, "completed step"));
    fputc('\n', style->out);
    vs_text_wrapped(style, "  where    ", style->full ? vs_text_site(chain, &failure->site, 64)
                                                     : vs_text_called(chain, &failure->site));
    if (oom->line && *oom->line && !strstr(chain, oom->line)) {
        fprintf(style->out, "  line     ");
        vs_text_put(style->out, oom->line);
        fputc('\n', style->out);
    }
    fprintf(style->out, "  program  ");
    vs_text_put(style->out, report->program);
    fprintf(style->out, ", %s%s\n", vs_report_ending(ending, report),
            oom->ended ? "" : "; it recovered from this failure");
    if (report->condition != VS_TRACE_COMPLETE)
        vs_text_wrapped(style, "  trace    ", report->condition_text);
    uint64_t others = oom->total_failures - 1 - oom->repeated;
    uint64_t itself = oom->ended ? 0 : 1 + oom->repeated;
    uint64_t recovered = oom->failures_recovered > itself ? oom->failures_recovered - itself : 0;
    if (oom->total_failures <= 1)
        return;
    char text[200];
    int used = 0;
    if (oom->repeated)
        used = snprintf(text, sizeof text, "%s more like this one follow%s%s",
                        vs_count_text(oom->repeated), oom->repeated == 1 ? "s" : "",
                        others ? "; " : "");
    if (others)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s, the program recovered from %s", vs_number_text(others, "other"),
                         vs_count_text(recovered < others ? recovered : others));
    snprintf(text + used, sizeof text - (size_t)used, " (this is --nth %llu)", ULL(oom->number));
    vs_text_wrapped(style, "  failures ", text);
}

static void bytes_row(const struct vs_style *style, const char *label, uint64_t bytes,
                      uint64_t total, const char *remark)
{
    fprintf(style->out, "    %12s  %7s  %s%s\n", vs_size_text(bytes), vs_percent_text(bytes, total),
            label, remark);
}

static const char *holes_text(char text[128], const struct vs_oom *oom)
{
    const char *size = vs_size_text(oom->largest_hole);
    if (oom->holes == 1)
        snprintf(text, 128, " in one hole");
    else
        snprintf(text, 128, " in %s holes, the largest %s", vs_count_text(oom->holes), size);
    return text;
}

static void where_the_bytes_were(const struct vs_oom *oom, const struct vs_style *style)
{
    if (oom->failure.host)
        return;
    char remark[128];
    fprintf(style->out, "\n%swhere the %s %s were%s\n", vs_paint(style, VS_BOLD),
            oom->limit ? "limit's" : "device's", vs_size_text(oom->total), vs_unpaint(style));
    if (oom->balance.known && (oom->balance.context_count > oom->balance.contexts_unmeasured ||
                               oom->balance.others_known)) {
        vs_balance_rows(style, &oom->balance);
        if (oom->cached && oom->cache.framework)
            vs_text_lines(style, "  ", "PyTorch's tensors use %s of the %s in its segments",
                          vs_size_text(oom->cache.used_bytes),
                              vs_size_text(oom->cache.segment_bytes));
        else if (oom->cached)
            vs_text_lines(style, "  ", "the cached memory is%s", holes_text(remark, oom));
        return;
    }
    for (int f = 0; f < VS_FAMILY_COUNT; f++) {
        if (!oom->family[f] || f == VS_FAMILY_IPC)
            continue;
        snprintf(remark, sizeof remark, " (%s)", vs_family_name((uint64_t)f));
        bytes_row(style, "live", oom->family[f], oom->total, remark);
    }
    if (oom->cached)
        bytes_row(style, "cached but unused", oom->cached, oom->total, holes_text(remark, oom));
    if (oom->free_known && !oom->limit)
        bytes_row(style, "outside: contexts, modules, other processes", oom->outside, oom->total,
                  "");
    bytes_row(style, "free", oom->free_bytes, oom->total,
              oom->free_known ? "" : " (or outside; the device was not read)");
}

/* A remedy with its grounds; none are needed for what is wrong with the request itself. */
static const char *remedy_text(char text[VS_CHAIN_TEXT_MAX], const struct vs_oom *oom, size_t index)
{
    const struct vs_remedy *remedy = &oom->remedies[index];
    const struct vs_verdict *cause = oom->refusal ? oom->refusal : oom->verdict;
    snprintf(text, VS_CHAIN_TEXT_MAX, "%s%s", remedy->text,
             remedy->replayed ? " (replayed)"
             : cause->decides || !remedy->bytes ? "" : " (estimate)");
    return text;
}

static bool worth_showing(const struct vs_oom *oom, const struct vs_oom_cause *cause)
{
    return cause->suspected && cause->bytes >= oom->total / 50;
}

static void look_at(const struct vs_oom *oom, const struct vs_report_site *site,
                    const struct vs_style *style)
{
    char chain[VS_CHAIN_TEXT_MAX];
    if (site && site != &oom->failure.site)
        vs_text_wrapped(style, "  look at  ", style->full ? vs_text_site(chain, site, 64) : vs_text_called(chain, site));
}

void vs_oom_text(const struct vs_oom *oom, const struct vs_report *report,
                 const struct vs_style *style)
{
    char lead[32];
    /* The answer: the causes, their call sites, and the first remedy. */
    char text[VS_CHAIN_TEXT_MAX];
    fputs(vs_paint(style, VS_BOLD), style->out);
    vs_text_wrapped(style, "verdict  ", oom->verdict->words);
    fputs(vs_unpaint(style), style->out);
    look_at(oom, oom->culprit, style);
    for (size_t i = 0; i < oom->cause_count; i++)
        if (oom->causes[i].verdict == oom->second) {
            vs_text_wrapped(style, "    and  ", oom->second->words);
            look_at(oom, oom->causes[i].culprit, style);
        }
    for (size_t i = 0; i < oom->also_count; i++) {
        vs_text_wrapped(style, "   also  ", oom->also[i]->verdict->words);
        look_at(oom, oom->also[i]->culprit, style);
    }
    if (oom->remedy_count && oom->remedies[0].fits && oom->ended)
        vs_text_wrapped(style, "  remedy   ", remedy_text(text, oom, 0));
    unsigned count = 0;
    for (size_t i = 0; i < oom->cause_count; i++)
        count += worth_showing(oom, &oom->causes[i]);
    for (size_t i = 0; count > 1 && i < oom->cause_count; i++)
        if (worth_showing(oom, &oom->causes[i]))
            fprintf(style->out, "  share    %12s  %7s  %s\n", vs_size_text(oom->causes[i].bytes),
                    vs_percent_text(oom->causes[i].bytes, oom->limit && oom->device_total
                                                              ? oom->device_total
                                                              : oom->total),
                    oom->causes[i].verdict->noun);
    fputc('\n', style->out);
    what_failed(oom, report, style);
    fprintf(style->out, "\n%swhy%s\n", vs_paint(style, VS_BOLD), vs_unpaint(style));
    for (size_t i = 0; i < oom->evidence_count; i++) {
        /* One piece of evidence; what speaks against the verdict begins with "but". */
        const struct vs_evidence *evidence = &oom->evidence[i];
        snprintf(text, sizeof text, "%s%s", evidence->against ? "but " : "", evidence->text);
        vs_text_wrapped(style, "  - ", text);
    }
    vs_uncomputed_warning(report, style);
    bool of_memory = vs_oom_is_out_of_memory(&oom->failure);
    if (of_memory)
        where_the_bytes_were(oom, style);
    if (of_memory && oom->sites.count) {
        fprintf(style->out, "\n%s%s by call site%s\n", vs_paint(style, VS_BOLD),
                vs_text_only_tensors(&oom->sites) ? "tensors" : "memory", vs_unpaint(style));
        vs_text_sites(style, &oom->sites);
    }
    if (oom->remedy_count)
        fprintf(style->out, "\n%swhat would have helped%s\n", vs_paint(style, VS_BOLD),
                vs_unpaint(style));
    for (size_t i = 0; i < oom->remedy_count; i++) {
        snprintf(lead, sizeof lead, "  %zu. ", i + 1);
        vs_text_wrapped(style, lead, remedy_text(text, oom, i));
    }
    vs_findings_text(report, false, style);
}

void vs_oom_text_none(const struct vs_report *report, const struct vs_style *style)
{
    fprintf(style->out, "no allocation failed in ");
    vs_text_put(style->out, report->path);
    fputc('\n', style->out);
    if (report->condition != VS_TRACE_COMPLETE)
        vs_text_wrapped(style, "  trace    ", report->condition_text);
    vs_uncomputed_warning(report, style);
    for (size_t i = 0; i < report->device_count; i++)
        if (report->devices[i].total_bytes) {
            /* Lowest free memory of *device*: as read, or computed from the recorded memory. */
            const struct vs_report_device *device = &report->devices[i];
            const struct vs_balance *fullest = &device->balance_peak;
            uint64_t reserved = device->peak_reserved.bytes, total = device->total_bytes;
            fprintf(style->out, "  device %llu  ", ULL(device->device));
            if (fullest->known) {
                fprintf(style->out, "lowest free memory seen: %s of %s (%s)\n",
                        vs_size_text(fullest->free), vs_size_text(fullest->total),
                        vs_percent_text(fullest->free, fullest->total));
            } else {
                uint64_t room = total > reserved ? total - reserved : 0;
                fprintf(style->out,
                        "peak reserved %s of %s: %s (%s) left for contexts and other processes\n",
                        vs_size_text(reserved), vs_size_text(total), vs_size_text(room),
                        vs_percent_text(room, total));
            }
            if (vs_framework_lines(device, style))
                vs_text_lines(style, "", "A request that such a pool refused is not in the trace: its own message says how "
                              "much it asked for.");
        }
    vs_findings_text(report, false, style);
}

static void figures(struct vs_json *json, const struct vs_oom *oom)
{
    vs_json_begin(json, "device_bytes", VS_J_UINT("total", oom->total), VS_J_UINT("free", oom->free_bytes),
                  VS_J_BOOL("free_reported_by_device", oom->free_known),
                  VS_J_UINT("outside", oom->outside));
    if (oom->limit)
        vs_json_members(json, VS_J_UINT("limit", oom->limit),
                        VS_J_UINT("unlimited_total", oom->device_total),
                        VS_J_UINT("unlimited_free", oom->device_free));
    vs_json_members(json, VS_J_UINT("reserved", oom->reserved),
                    VS_J_UINT("allocated", oom->allocated), VS_J_UINT("cached", oom->cached),
                    VS_J_UINT("cached_empty_segments", oom->empty_bytes),
                    VS_J_UINT("largest_hole", oom->largest_hole), VS_J_UINT("holes", oom->holes),
                    VS_J_UINT("needed", oom->need), VS_J_UINT("missing", oom->missing));
    vs_balance_json(json, "balance", &oom->balance);
    vs_families_json(json, "live_by_family", oom->family);
    vs_json_end_object(json);
    vs_json_object(json, "steps", VS_J_UINT("begun", oom->steps_begun),
                   VS_J_UINT("done", oom->steps_done),
                   VS_J_UINT("allocated_in_this_step_bytes", oom->step_bytes),
                   VS_J_UINT("earlier_steps_peak_bytes", oom->steps_peak));
    vs_json_object(json, "growth", VS_J_UINT("bytes", oom->growth_bytes),
                   VS_J_UINT("allocations", oom->growth_count),
                   VS_J_UINT("times", oom->growth_times),
                   VS_J_UINT("bytes_per_time", oom->growth_each),
                   VS_J_UINT("bytes_per_step", oom->growth_per_step),
                   VS_J_UINT("since_step", oom->growth_since),
                   VS_J_UINT("since_ns", oom->growth_since_ns));
    vs_json_members(json, VS_J_UINT("spike_bytes", oom->spike_bytes),
                    VS_J_UINT("spike_allocations", oom->spike_count));
    if (!oom->kinds_total)
        return;
    vs_json_begin_object(json, "kinds");
    for (int kind = 0; kind < VS_KIND_COUNT; kind++)
        if (oom->kinds[kind].bytes)
            vs_json_uint(json, vs_kind_key((enum vs_kind)kind), oom->kinds[kind].bytes);
    vs_json_end_object(json);
}

static void causes(struct vs_json *json, const struct vs_oom *oom)
{
    char chain[VS_CHAIN_TEXT_MAX];
    for (size_t i = 0; vs_json_next(json, "causes", i, oom->cause_count); i++) {
        const struct vs_oom_cause *cause = &oom->causes[i];
        vs_json_object(json, NULL, VS_J_TEXT("name", cause->verdict->name),
                       VS_J_UINT("bytes", cause->bytes), VS_J_BOOL("suffices", cause->enough),
                       VS_J_BOOL("accused", cause->suspected),
                       VS_J_TEXT("where",
                                 cause->culprit ? vs_text_label(chain, cause->culprit) : NULL));
    }
}

static void evidence(struct vs_json *json, const char *key, const struct vs_oom *oom, bool against)
{
    for (size_t i = 0; vs_json_next(json, key, i, oom->evidence_count); i++)
        if (oom->evidence[i].against == against)
            vs_json_string(json, NULL, oom->evidence[i].text);
}

void vs_oom_json(const struct vs_oom *oom, const struct vs_report *report, bool brief, FILE *out)
{
    struct vs_json *json = &(struct vs_json){.out = out, .pretty = !brief, .brief = brief};
    vs_json_begin(json, NULL, VS_J_TEXT("schema", "vramscope.oom/2"), VS_J_TEXT("trace", report->path),
                  VS_J_TEXT("program", report->program),
                  VS_J_UINT("failure_count", report->failure_total));
    vs_findings_json(json, report);
    if (!oom) {
        vs_json_string(json, "verdict", NULL);
        vs_json_end_object(json);
        return;
    }
    vs_json_members(json, VS_J_UINT("failure_number", oom->number),
                    VS_J_UINT("identical_failures", oom->repeated));
    vs_report_json_failure(json, "failure", &oom->failure);
    vs_json_members(json, VS_J_TEXT("verdict", oom->verdict->name),
                    VS_J_TEXT("second", oom->second ? oom->second->name : NULL),
                    VS_J_TEXT("refused_because", oom->refusal ? oom->refusal->name : NULL),
                    VS_J_TEXT("verdict_text", oom->verdict->words),
                    VS_J_TEXT("second_text", oom->second ? oom->second->words : NULL),
                    VS_J_TEXT("line", oom->line && *oom->line ? oom->line : NULL));
    struct vs_report_sites culprit = {.items = oom->culprit, .count = 1, .weight = 1,
                                     .total_bytes = oom->culprit->bytes};
    vs_report_json_sites(json, "guilty", &culprit);
    causes(json, oom);
    evidence(json, "evidence", oom, false);
    evidence(json, "evidence_against", oom, true);
    figures(json, oom);
    vs_report_json_sites(json, "sites_live", &oom->sites);
    vs_report_json_sites(json, "sites_growing", &oom->growing);
    vs_report_json_sites(json, "sites_of_spike", &oom->spike_sites);
    for (size_t i = 0; vs_json_next(json, "remedies", i, oom->remedy_count); i++)
        vs_json_object(json, NULL, VS_J_TEXT("kind", oom->remedies[i].kind),
                       VS_J_BOOL("fits", oom->remedies[i].fits),
                       VS_J_BOOL("replayed", oom->remedies[i].replayed),
                       VS_J_UINT("bytes", oom->remedies[i].bytes),
                       VS_J_TEXT("text", oom->remedies[i].text));
    vs_json_end_object(json);
}
