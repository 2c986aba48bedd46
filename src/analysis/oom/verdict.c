/* SPDX-License-Identifier: Apache-2.0
 *
 * Selects the verdict, and the functions that write its sentences; see the header. All text is in
 * the arena of the struct vs_oom. When memory runs out, the remaining text is omitted and
 * vs_diagnose reports it. */
#include "analysis/oom/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report/site_text.h"
#include "base/vs_size.h"

#define SITE_COLUMNS 120

static const struct vs_verdict *const verdicts[] = {
#define VS_VERDICT(id) &vs_verdict_##id,
#include "analysis/oom/verdict_table.h"
#undef VS_VERDICT
};

/* Moves the remedies that suffice alone before the others. */
static void sort_remedies(struct vs_oom *oom)
{
    size_t fitting = 0;
    for (size_t i = 0; i < oom->remedy_count; i++) {
        struct vs_remedy remedy = oom->remedies[i];
        if (!remedy.fits)
            continue;
        memmove(&oom->remedies[fitting + 1], &oom->remedies[fitting],
                (i - fitting) * sizeof remedy);
        oom->remedies[fitting++] = remedy;
    }
}

enum vs_err vs_diagnose(struct vs_oom *oom)
{
    size_t i = 0, last = sizeof verdicts / sizeof *verdicts - 1;
    while (i < last && !verdicts[i]->applies(oom))
        i++;
    oom->verdict = verdicts[i];
    oom->verdict->explain(oom);
    sort_remedies(oom);
    return oom->no_memory ? VS_ERR_NOMEM : VS_OK;
}

static const char *keep(struct vs_oom *oom, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = vs_arena_alloc(&oom->memory, bytes);
    oom->no_memory |= !copy;
    return copy ? memcpy(copy, text, bytes) : "";
}

static const char *sentence(struct vs_oom *oom, const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    return keep(oom, text);
}

void vs_oom_evidence(struct vs_oom *oom, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (oom->evidence_count < VS_EVIDENCE_MAX)
        oom->evidence[oom->evidence_count++].text = sentence(oom, format, args);
    va_end(args);
}

void vs_oom_but(struct vs_oom *oom, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (oom->evidence_count < VS_EVIDENCE_MAX)
        oom->evidence[oom->evidence_count++] =
            (struct vs_evidence){.text = sentence(oom, format, args), .against = true};
    va_end(args);
}

void vs_oom_remedy(struct vs_oom *oom, const char *kind, uint64_t bytes, bool fits,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (oom->remedy_count < VS_REMEDIES_MAX)
        oom->remedies[oom->remedy_count++] =
            (struct vs_remedy){kind, sentence(oom, format, args), bytes, fits};
    va_end(args);
}

const char *vs_oom_size(struct vs_oom *oom, uint64_t bytes)
{
    char text[VS_SIZE_TEXT_MAX];
    return keep(oom, vs_size_format(text, bytes));
}

const char *vs_oom_percent(struct vs_oom *oom, uint64_t part, uint64_t whole)
{
    char text[16];
    return keep(oom, vs_text_percent(text, part, whole));
}

const char *vs_oom_site(struct vs_oom *oom, const struct vs_report_site *site, size_t frames)
{
    char chain[VS_CHAIN_TEXT_MAX], text[4 * SITE_COLUMNS + 4];
    return keep(oom, vs_text_clip(text, vs_text_site(chain, site, frames), SITE_COLUMNS));
}

const char *vs_oom_enough(struct vs_oom *oom, uint64_t bytes)
{
    char text[96];
    snprintf(text, sizeof text, bytes >= oom->missing ? "enough for the missing %s"
                                                      : "not enough alone for the missing %s",
             vs_sizes_apart(oom->missing, bytes).a);
    return keep(oom, text);
}

uint64_t vs_oom_available(const struct vs_oom *oom)
{
    return oom->free_bytes + oom->empty_bytes;
}

uint64_t vs_oom_at_once(const struct vs_oom *oom)
{
    uint64_t available = vs_oom_available(oom);
    return oom->largest_hole > available ? oom->largest_hole : available;
}

void vs_oom_explain_missing(struct vs_oom *oom)
{
    if (oom->missing == 0)
        return;
    struct vs_size_pair two = vs_sizes_apart(oom->need, vs_oom_available(oom));
    if (oom->need != oom->failure.requested)
        vs_oom_evidence(oom, "needs %s from the device (%s rounded up), %s available: short by %s",
                        two.a, vs_sizes_apart(oom->failure.requested, oom->need).a, two.b,
                        vs_oom_size(oom, oom->missing));
    else
        vs_oom_evidence(oom, "needs %s, %s available: short by %s", two.a, two.b,
                        vs_oom_size(oom, oom->missing));
}

void vs_oom_smaller_request(struct vs_oom *oom)
{
    uint64_t request = oom->failure.requested, most = vs_oom_at_once(oom);
    struct vs_size_pair two = vs_sizes_apart(most, request);
    vs_oom_remedy(oom, "smaller_request", most, true,
                  "allocate in smaller pieces: up to %s at once would have fit (%s requested)",
                  two.a, two.b);
}

void vs_oom_bigger_device(struct vs_oom *oom)
{
    uint64_t bytes = oom->total + oom->missing;
    if (oom->total == 0 || oom->limit)
        return;
    struct vs_size_pair two = vs_sizes_apart(bytes, oom->total);
    vs_oom_remedy(oom, "bigger_device", bytes, true,
                  "a device with at least %s (this one has %s) fits this request; later ones may "
                  "need more", two.a, two.b);
}

/* Of remedies that do not suffice alone, those that give less than a tenth are omitted. */
static bool worth_naming(const struct vs_oom *oom, uint64_t bytes)
{
    return bytes > 0 && bytes >= oom->missing / 10;
}

void vs_oom_common_remedies(struct vs_oom *oom)
{
    uint64_t step = oom->in_step ? oom->step_bytes : 0;
    uint64_t site = oom->sites.count ? oom->sites.items[0].bytes : 0;
    if (oom->empty_bytes > 0 && (oom->missing == 0 || worth_naming(oom, oom->empty_bytes)))
        vs_oom_remedy(oom, "release_cache", oom->empty_bytes, vs_oom_available(oom) >= oom->need,
                      "release cached segments that nothing uses: %s, %s",
                      vs_oom_size(oom, oom->empty_bytes),
                      vs_oom_available(oom) >= oom->need ? "enough for the request"
                                                         : "not enough alone");
    if (oom->missing == 0)
        return;
    if (worth_naming(oom, step / 2))
        vs_oom_remedy(oom, "smaller_step", step / 2, step / 2 >= oom->missing,
                      "halve the memory of a step (batch, context length, checkpointing): this one "
                      "had allocated %s; half of that, %s, is %s", vs_oom_size(oom, step),
                      vs_sizes_apart(step / 2, oom->missing).a, vs_oom_enough(oom, step / 2));
    if (worth_naming(oom, site / 2))
        vs_oom_remedy(oom, "shrink_site", site / 2, site / 2 >= oom->missing,
                      "halve what %s holds (%s; for example 16-bit instead of 32-bit values): "
                      "frees %s, %s", vs_oom_site(oom, &oom->sites.items[0], 2),
                      vs_oom_size(oom, site), vs_sizes_apart(site / 2, oom->missing).a,
                      vs_oom_enough(oom, site / 2));
    vs_oom_bigger_device(oom);
}
