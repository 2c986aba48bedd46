/* SPDX-License-Identifier: Apache-2.0
 *
 * Selects the verdict, and the functions that write its sentences. All text is in the arena of the
 * struct vs_oom. */
#include "analysis/oom/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"

#define SITE_COLUMNS 120
#define NAMED_MOST 3 /* call sites in one sentence, each with at least */
#define MATTERS 20   /* such a part of the bytes */

static const struct vs_verdict *const verdicts[] = {
#define VS_VERDICT(id) &vs_verdict_##id,
#include "analysis/oom/verdict_table.h"
#undef VS_VERDICT
};

/* Where the program never ran at that level, a cause has to be a tenth of the device and a quarter
 * of what the program itself uses: otherwise its own need is the bulk. */
#define OF_DEVICE 10
#define OF_LIVE 4
#define OF_DEMAND 50     /* where a replay decides: of live memory and the request together */
#define TIMES_FILLING 8
#define OPTIMIZERS_MOST 3 /* of one iteration, beside the last */
#define DOMINANT 4       /* a later cause in the table must hold so many times as much */

/* --- the shares --- */

static uint64_t live_of(const struct vs_oom *oom, const struct vs_verdict *verdict)
{
    return verdict->live ? *(const uint64_t *)((const char *)oom + verdict->live) : 0;
}

static const struct vs_report_site *site_of(const struct vs_oom *oom, const struct vs_verdict *verdict)
{
    const char *at = (const char *)oom;
    if (verdict->culprit)
        return verdict->culprit(oom);
    if (!verdict->sites)
        return verdict->site ? (const struct vs_report_site *)(at + verdict->site) : NULL;
    const struct vs_report_sites *sites = (const struct vs_report_sites *)(at + verdict->sites);
    return sites->count ? &sites->items[0] : NULL;
}

static void find_shares(struct vs_oom *oom)
{
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        uint64_t own = live_of(oom, verdicts[i]), live = oom->live > own ? oom->live - own : 0;
        uint64_t bytes = verdicts[i]->recovers ? verdicts[i]->recovers(oom) : own;
        bool large = bytes && bytes >= oom->total / OF_DEVICE && bytes >= live / OF_LIVE;
        /* Whether the program would have needed no more than it needed before: then it is known to
         * run without this cause. A small part of the device that was kept a few times may be a
         * leak, or a buffer of fixed size which is being filled. Memory of libraries or a spike that is
         * a small part of what is live is in any program. */
        bool slight = own && own < oom->live / VS_SMALL_CAUSE && verdicts[i] != &vs_verdict_growth;
        bool ran = verdicts[i]->has_run || (oom->live_peak > 0 && !slight &&
                                            live + oom->failure.requested <= oom->live_peak);
        bool filling = verdicts[i] == &vs_verdict_growth && oom->growth_times < TIMES_FILLING &&
                       bytes < oom->total / OF_DEVICE;
        bool holes = verdicts[i] == &vs_verdict_fragmentation && vs_oom_first_step(oom);
        /* without the missing bytes, only a large share is a cause */
        if (!bytes || oom->cause_count == VS_CAUSES_MAX || (!oom->missing && !(oom->missing_unknown && large)))
            continue;
        const struct vs_report_site *site = site_of(oom, verdicts[i]);
        oom->causes[oom->cause_count++] = (struct vs_oom_cause){
            verdicts[i], bytes, bytes >= oom->missing,
            (large || (ran && !filling)) && !holes, /* the rest of that step may not fit either */
            site && (site->count || site->frame_count) ? site : NULL};
    }
}

const struct vs_oom_cause *vs_oom_cause_of(const struct vs_oom *oom,
                                           const struct vs_verdict *verdict)
{
    for (size_t i = 0; i < oom->cause_count; i++)
        if (oom->causes[i].verdict == verdict)
            return &oom->causes[i];
    return NULL;
}

/* --- the verdict --- */

/* The causes are in the table's order here. */
static const struct vs_oom_cause *one_that_suffices(const struct vs_oom *oom, bool last_resort)
{
    const struct vs_oom_cause *best = NULL;
    for (size_t i = 0; i < oom->cause_count; i++) {
        const struct vs_oom_cause *cause = &oom->causes[i];
        if (cause->enough && cause->suspected && cause->verdict->last_resort == last_resort &&
            (!best || cause->bytes / DOMINANT > best->bytes))
            best = cause;
    }
    return best;
}

/* The two largest suspected causes, if they are enough together. */
static bool two_that_suffice(struct vs_oom *oom)
{
    const struct vs_oom_cause *a = NULL, *b = NULL;
    for (size_t i = 0; i < oom->cause_count; i++) {
        const struct vs_oom_cause *cause = &oom->causes[i];
        if (!cause->suspected)
            continue;
        if (!a || cause->bytes > a->bytes) {
            b = a;
            a = cause;
        } else if (!b || cause->bytes > b->bytes) {
            b = cause;
        }
    }
    if (!b || a->bytes + b->bytes < oom->missing)
        return false;
    oom->verdict = a->verdict;
    oom->second = b->verdict;
    return true;
}

/* Whether it is unknown what the rest of the step needs, which no change of the allocator mends. */
static bool rest_matters(const struct vs_oom *oom, const struct vs_verdict *cause)
{
    return (cause == &vs_verdict_capacity || cause == &vs_verdict_after) && vs_oom_step_unknown(oom);
}

/* A larger device is a purchase: after all others that let the request fit. It does not end growth:
 * there it comes last, and freeing what grows comes first. Where a step needs more than there is, its
 * rest may not fit with another setting of the allocator: less in a step comes first. */
void vs_oom_sort_remedies(struct vs_oom *oom)
{
    const struct vs_verdict *cause = oom->refusal ? oom->refusal : oom->verdict;
    bool growth = cause == &vs_verdict_growth;
    bool unknown = rest_matters(oom, cause);
    const char *first = cause->remedy ? cause->remedy : "";
    size_t placed = 0;
    for (int rank = 6; rank >= 0; rank--)
        for (size_t i = placed; i < oom->remedy_count; i++) {
            struct vs_remedy remedy = oom->remedies[i];
            bool device = strcmp(remedy.kind, "bigger_device") == 0;
            int of = growth && device                                      ? 0
                     : unknown && strcmp(remedy.kind, "policy") == 0       ? 1
                     : unknown && strcmp(remedy.kind, "advise") == 0       ? 4
                     : strcmp(remedy.kind, first) == 0 && (growth || remedy.fits) ? 5
                     : growth && strcmp(remedy.kind, "detach") == 0 ? oom->growth_graph ? 6 : 4
                     : !remedy.fits                                        ? remedy.replayed
                     : device                                              ? 2
                                                                           : 3 + remedy.replayed;
            if (of != rank)
                continue;
            memmove(&oom->remedies[placed + 1], &oom->remedies[placed],
                    (i - placed) * sizeof remedy);
            oom->remedies[placed++] = remedy;
        }
}

/* Evidence and remedies of a further cause; remedies of a kind that is there already are left out. */
static void explain_further(struct vs_oom *oom, const struct vs_verdict *verdict)
{
    size_t before = oom->remedy_count, kept = before;
    verdict->explain(oom);
    for (size_t i = before; i < oom->remedy_count; i++) {
        bool known = false;
        for (size_t k = 0; k < before; k++)
            known |= strcmp(oom->remedies[k].kind, oom->remedies[i].kind) == 0;
        if (!known)
            oom->remedies[kept++] = oom->remedies[i];
    }
    oom->remedy_count = kept;
}

/* The cause that is needed with the first: they are enough together. */
static void explain_second(struct vs_oom *oom)
{
    const struct vs_oom_cause *a = vs_oom_cause_of(oom, oom->verdict),
                              *b = vs_oom_cause_of(oom, oom->second);
    size_t before = oom->remedy_count;
    oom->second_evidence = oom->evidence_count;
    explain_further(oom, oom->second);
    const char *one = NULL, *two = NULL; /* what to do against each: the first remedy that is no
                                          * purchase */
    for (size_t i = 0; i < oom->remedy_count; i++) {
        const char **text = i < before ? &one : &two;
        if (!*text && strcmp(oom->remedies[i].kind, "bigger_device") != 0)
            *text = oom->remedies[i].text;
    }
    uint64_t both = a && b ? a->bytes + b->bytes : 0;
    vs_oom_explain_share(oom, oom->verdict);
    vs_oom_explain_share(oom, oom->second);
    vs_oom_evidence(oom, "without both the device would have had %s more: the request fits",
                    vs_sizes_apart(both, oom->missing).a);
    if (one && two)
        vs_oom_remedy(oom, "both", both, true, "both: %s; and %s", one, two);
}

/* A suspected cause that the verdict does not name. With a quarter of the verdict's bytes or more it
 * is explained as well. */
static void explain_other(struct vs_oom *oom, const struct vs_oom_cause *cause)
{
    const struct vs_verdict *verdict = cause->verdict;
    const struct vs_oom_cause *named = vs_oom_cause_of(oom, oom->verdict);
    size_t count = oom->evidence_count;
    if (verdict->last_resort || (cause->enough && !cause->culprit)) {
        if (cause->enough)
            vs_oom_explain_share(oom, verdict);
        return;
    }
    if (cause->enough && oom->also_count < VS_ALSO_MAX && named &&
        cause->bytes >= named->bytes / DOMINANT) {
        oom->also[oom->also_count++] = cause;
        explain_further(oom, verdict);
        oom->evidence_count = count; /* one sentence is enough */
    }
    if (cause->enough && cause->bytes >= oom->live / VS_SMALL_CAUSE)
        vs_oom_evidence(oom, "without %s (%s, most at %s) the request fits, too", verdict->noun,
                        vs_size_text(cause->bytes), vs_oom_site(oom, cause->culprit, 3));
}

/* The evidence and remedies of the selected verdict. */
static void explain(struct vs_oom *oom)
{
    const struct vs_verdict *cause = oom->refusal ? oom->refusal : oom->verdict;
    const struct vs_verdict *rest = verdicts[sizeof verdicts / sizeof *verdicts - 1];
    bool share = oom->verdict->recovers || oom->verdict->live;
    /* The verdict's first, then that which is needed with it, then by bytes. */
    const struct vs_verdict *first[] = {oom->second, cause};
    VS_SORT(&oom->causes[0], oom->cause_count, VS_DOWN(bytes));
    for (size_t k = 0; k < sizeof first / sizeof *first; k++)
        for (size_t i = 1; i < oom->cause_count; i++) {
            struct vs_oom_cause moved = oom->causes[i];
            if (moved.verdict != first[k])
                continue;
            memmove(oom->causes + 1, oom->causes, i * sizeof moved);
            oom->causes[0] = moved;
        }
    oom->culprit = site_of(oom, cause);
    if (oom->refusal == rest || !oom->culprit ||
        (!oom->culprit->count && !oom->culprit->frame_count))
        oom->culprit = &oom->failure.site;
    oom->verdict->explain(oom);
    if (oom->refusal == rest)
        vs_oom_explain_missing(oom); /* it asked for more than there was: no advice is needed */
    else if (oom->refusal)
        oom->refusal->explain(oom);
    if (oom->second)
        explain_second(oom);
    for (size_t i = 0; i < oom->cause_count && share; i++) {
        const struct vs_oom_cause *other = &oom->causes[i];
        if (other->suspected && other->verdict != oom->verdict && other->verdict != oom->second)
            explain_other(oom, other);
    }
    if (oom->limit && oom->missing && share && oom->verdict != &vs_verdict_limit)
        vs_oom_raise_limit(oom);
    vs_oom_sort_remedies(oom);
}

void vs_diagnose(struct vs_oom *oom)
{
    find_shares(oom);
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts && !oom->verdict; i++)
        if (verdicts[i]->decides && verdicts[i] != &vs_verdict_recovered &&
            verdicts[i]->decides(oom))
            oom->verdict = verdicts[i];
    const struct vs_oom_cause *one = one_that_suffices(oom, false);
    if (!one)
        one = one_that_suffices(oom, true);
    if (!oom->verdict && one)
        oom->verdict = one->verdict;
    else if (!oom->verdict && !two_that_suffice(oom))
        oom->verdict = verdicts[sizeof verdicts / sizeof *verdicts - 1];
    if (vs_verdict_recovered.decides(oom)) {
        oom->refusal = oom->verdict;
        oom->verdict = &vs_verdict_recovered;
    }
    explain(oom);
}

void vs_diagnose_placement(struct vs_oom *oom)
{
    const struct vs_oom_cause *best = NULL;
    uint64_t demand = oom->live + oom->failure.requested;
    for (size_t i = 0; i < oom->cause_count; i++) {
        const struct vs_oom_cause *cause = &oom->causes[i];
        bool placement = cause->verdict == &vs_verdict_fragmentation ||
                         cause->verdict == &vs_verdict_cache;
        if (placement && cause->enough && cause->bytes >= demand / OF_DEMAND && (!best || cause->bytes > best->bytes))
            best = cause;
    }
    if (!best || vs_oom_step_unknown(oom))
        return;
    oom->verdict = best->verdict;
    oom->evidence_count = oom->remedy_count = oom->also_count = 0;
    explain(oom);
    vs_oom_but(oom, "the program never ran with as much live: later requests may not fit");
}

/* --- sentences --- */

static const char *sentence(struct vs_oom *oom, const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    return vs_xarena_text(&oom->memory, text);
}

/* Two causes may have the same sentence to say. */
static void add_evidence(struct vs_oom *oom, bool against, const char *text)
{
    for (size_t i = 0; i < oom->evidence_count; i++)
        if (strcmp(oom->evidence[i].text, text) == 0)
            return;
    if (oom->evidence_count < VS_EVIDENCE_MAX)
        oom->evidence[oom->evidence_count++] = (struct vs_evidence){text, against};
}

void vs_oom_evidence(struct vs_oom *oom, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_evidence(oom, false, sentence(oom, format, args));
    va_end(args);
}

void vs_oom_but(struct vs_oom *oom, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_evidence(oom, true, sentence(oom, format, args));
    va_end(args);
}

void vs_oom_remedy(struct vs_oom *oom, const char *kind, uint64_t bytes, bool fits,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (oom->remedy_count < VS_REMEDIES_MAX)
        oom->remedies[oom->remedy_count++] =
            (struct vs_remedy){kind, sentence(oom, format, args), bytes, fits, false};
    va_end(args);
}

const char *vs_oom_text_of(struct vs_oom *oom, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = sentence(oom, format, args);
    va_end(args);
    return text;
}

const char *vs_oom_site(struct vs_oom *oom, const struct vs_report_site *site, size_t frames)
{
    char chain[VS_CHAIN_TEXT_MAX], text[4 * SITE_COLUMNS + 4];
    return vs_xarena_text(&oom->memory, vs_text_clip(text, vs_text_site(chain, site, frames), SITE_COLUMNS));
}

size_t vs_oom_main_sites(const struct vs_report_sites *sites)
{
    uint64_t total = 0;
    size_t count = 0;
    for (size_t i = 0; i < sites->count; i++)
        total += sites->items[i].bytes;
    while (count < sites->count && count < NAMED_MOST &&
           (count == 0 || sites->items[count].bytes >= total / MATTERS))
        count++;
    return count;
}

const char *vs_oom_site_list(struct vs_oom *oom, const struct vs_report_sites *sites, size_t frames)
{
    size_t count = vs_oom_main_sites(sites), more = sites->count - count;
    const char *text = count ? vs_oom_site(oom, &sites->items[0], frames) : "";
    for (size_t i = 1; i < count; i++)
        text = vs_oom_text_of(oom, i + 1 == count && !more ? "%s and %s" : "%s, %s", text,
                              vs_oom_site(oom, &sites->items[i], frames));
    return more ? vs_oom_text_of(oom, "%s and %zu more call site%s", text, more,
                                 more == 1 ? "" : "s")
                : text;
}

/* Memory available from the device: free, and in unused cached segments. */
static uint64_t available(const struct vs_oom *oom)
{
    return oom->free_bytes + oom->empty_bytes;
}

void vs_oom_explain_missing(struct vs_oom *oom)
{
    if (oom->missing_unknown)
        vs_oom_evidence(oom, "the device did not report its free memory: the missing bytes are unknown");
    if (oom->missing == 0)
        return;
    struct vs_size_pair two = vs_sizes_apart(oom->need, available(oom));
    if (oom->beside_pool)
        vs_oom_evidence(oom, "%s's pool does not grow beyond its %s; %s of the device is free beside it",
                        oom->failure.api, vs_size_text(oom->cache.segment_bytes), vs_size_text(oom->beside_pool));
    if (oom->need_at_least)
        vs_oom_evidence(oom, "it needs more than the %s available; the driver does not say how much",
                        two.b);
    else if (oom->failure.overhead)
        vs_oom_evidence(oom, "needs about %s, as the other contexts do, %s available: short by %s",
                        two.a, two.b, vs_size_text(oom->missing));
    else if (strcmp(vs_size_text(oom->need), vs_size_text(oom->failure.requested)) != 0)
        vs_oom_evidence(oom, "needs %s from the device (%s rounded up), %s available: short by %s",
                        two.a, vs_sizes_apart(oom->failure.requested, oom->need).a, two.b,
                        vs_size_text(oom->missing));
    else
        vs_oom_evidence(oom, "needs %s, %s available: short by %s", two.a, two.b,
                        vs_size_text(oom->missing));
    if (oom->cache.other_class >= oom->missing)
        vs_oom_evidence(oom, "PyTorch serves requests of up to 1 MiB from segments of their own: the holes "
                        "in its %s segments, %s, cannot serve this one",
                        oom->failure.requested > UINT64_C(1) << 20 ? "small" : "large",
                        vs_size_text(oom->cache.other_class));
}

void vs_oom_explain_rising(struct vs_oom *oom)
{
    if (!oom->request_first)
        return;
    struct vs_size_pair two = vs_sizes_apart(oom->request_first, oom->rising_last);
    bool failing = oom->rising_site.frames == oom->failure.site.frames;
    vs_oom_evidence(oom, "the requests at %s grow: the first was %s, %s %s",
                    vs_oom_site(oom, &oom->rising_site, 2), two.a,
                    failing ? "this one is" : "the last", two.b);
}

void vs_oom_limit_requests(struct vs_oom *oom)
{
    if (!oom->request_first)
        return;
    struct vs_size_pair two = vs_sizes_apart(oom->request_first, oom->rising_last);
    uint64_t growth = oom->rising_last - oom->request_first;
    vs_oom_remedy(oom, "limit_requests", growth, growth >= oom->missing,
                  "limit the size of the requests at %s, which grew from %s to %s (a copy "
                  "that extends it holds the old and the new one: keep a list, or allocate it once)",
                  vs_oom_site(oom, &oom->rising_site, 2), two.a, two.b);
}

void vs_oom_explain_share(struct vs_oom *oom, const struct vs_verdict *verdict)
{
    const struct vs_oom_cause *cause = vs_oom_cause_of(oom, verdict);
    if (!cause)
        return;
    struct vs_size_pair two = vs_sizes_apart(cause->bytes, oom->missing);
    vs_oom_evidence(oom, oom->missing_unknown ? "without %s the device would have had %s more"
                         : cause->enough
                             ? "without %s the device would have had %s more: the request fits"
                             : "without %s the device would have had %s more: not sufficient alone",
                    verdict->noun, two.a);
}

void vs_oom_smaller_request(struct vs_oom *oom)
{
    uint64_t request = oom->failure.requested, most = available(oom);
    most = oom->largest_hole > most ? oom->largest_hole : most; /* would have succeeded */
    struct vs_size_pair two = vs_sizes_apart(most, request);
    if (oom->failure.overhead)
        return;
    vs_oom_remedy(oom, "smaller_request", most, true,
                  "allocate in smaller pieces: the largest request that fits is %s (%s requested)",
                  two.a, two.b);
}

bool vs_oom_first_step(const struct vs_oom *oom)
{
    return oom->in_step && oom->has_framework &&
           (!oom->steps_done || (oom->new_line && oom->steps_done <= OPTIMIZERS_MOST));
}

bool vs_oom_step_unknown(const struct vs_oom *oom)
{
    return vs_oom_first_step(oom) ||
           (oom->in_step && oom->failure.framework &&
            oom->live + oom->failure.requested > oom->steps_peak + oom->steps_peak / 10);
}

void vs_oom_explain_rest(struct vs_oom *oom)
{
    if (vs_oom_step_unknown(oom) || (oom->in_step && !oom->steps_done))
        vs_oom_evidence(oom, "%s: what its rest needs is unknown",
                        !oom->steps_done ? "the first step had not ended"
                        : oom->new_line ? "this step had not ended, and runs lines that none before it ran"
                                        : "this step had not ended, and needs more than those before it");
}

void vs_oom_bigger_device(struct vs_oom *oom)
{
    uint64_t bytes = oom->total + oom->missing;
    if (oom->total == 0 || oom->limit || oom->missing == 0)
        return;
    struct vs_size_pair two = vs_sizes_apart(bytes, oom->total);
    if (oom->need_at_least || rest_matters(oom, oom->verdict))
        return;
    vs_oom_remedy(oom, "bigger_device", bytes, true,
                  "a device with %s instead of %s: this request fits; what the program needs after "
                  "it is unknown", two.a, two.b);
}

/* Of remedies that are not enough alone, those that give less than a tenth are omitted. */
static bool worth_naming(const struct vs_oom *oom, uint64_t bytes)
{
    return bytes > 0 && bytes >= oom->missing / 10;
}

void vs_oom_smaller_step(struct vs_oom *oom)
{
    /* what one call site extends all the time is no matter of the step's size */
    bool extended = oom->request_first && oom->rising_last > oom->step_bytes;
    uint64_t half = oom->in_step && !extended ? oom->step_bytes / 2 : 0;
    bool unknown = vs_oom_first_step(oom) || rest_matters(oom, oom->verdict);
    if (worth_naming(oom, half))
        vs_oom_remedy(oom, "smaller_step", half, half >= oom->missing,
                      "use less memory in a step (batch, sequence length, checkpointing): this one "
                      "had allocated %s when it failed%s%s", vs_size_text(oom->step_bytes),
                      unknown ? "; vramscope fit --gpu NAME -- PROGRAM prints what the whole program needs"
                              : ", and was short by ",
                      unknown ? "" : vs_size_text(oom->missing));
}

void vs_oom_advise(struct vs_oom *oom)
{
    if (oom->failure.framework && oom->in_step)
        vs_oom_remedy(oom, "advise", 0, false,
                      "vramscope advise --gpu NAME -- PROGRAM tries checkpointing, autocast and other "
                      "changes on the simulated GPU, and prints the first that fits");
}

void vs_oom_common_remedies(struct vs_oom *oom)
{
    uint64_t site = oom->sites.count ? oom->sites.items[0].bytes : 0;
    if (oom->empty_bytes > 0 && (oom->missing == 0 || worth_naming(oom, oom->empty_bytes)))
        vs_oom_remedy(oom, "release_cache", oom->empty_bytes, available(oom) >= oom->need,
                      "release cached segments that nothing uses: %s",
                      vs_size_text(oom->empty_bytes));
    if (oom->missing == 0)
        return;
    vs_oom_smaller_step(oom);
    if (!oom->request_first && worth_naming(oom, site / 2))
        vs_oom_remedy(oom, "shrink_site", site / 2, site / 2 >= oom->missing,
                      "use less memory at %s, which holds %s; the request was short by %s",
                      vs_oom_site(oom, &oom->sites.items[0], 2), vs_size_text(site),
                      vs_size_text(oom->missing));
    vs_oom_bigger_device(oom);
}
