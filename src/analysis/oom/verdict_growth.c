/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: call sites keep memory in every step or, without marked steps, throughout the run, and
 * the request would have fitted without it. */
#include <string.h>

#include "analysis/oom/verdict.h"

#define TIMES_FEW 5

static uint64_t requested_bytes(const struct vs_oom *oom)
{
    uint64_t requested = 0;
    for (size_t i = 0; i < oom->growing.count; i++)
        requested += oom->growing.items[i].growth_bytes;
    return requested;
}

/* The bytes that it grew by as the program requested them, and with the driver's rounding where it adds any. */
static const char *grown(struct vs_oom *oom)
{
    uint64_t requested = requested_bytes(oom);
    if (requested >= oom->growth_bytes)
        return vs_oom_text_of(oom, "%s", vs_size_text(oom->growth_bytes));
    struct vs_size_pair two = vs_sizes_apart(requested, oom->growth_bytes);
    return vs_oom_text_of(oom, "%s (%s with the driver's rounding)", two.a, two.b);
}

/* *bytes* as requested, with the part of the driver's rounding that falls on them. */
static uint64_t with_rounding(const struct vs_oom *oom, uint64_t bytes)
{
    uint64_t requested = requested_bytes(oom);
    if (!requested || requested >= oom->growth_bytes)
        return bytes;
    return (uint64_t)((double)bytes * (double)oom->growth_bytes / (double)requested);
}

/* A size without ".0" where the size is exact: in a product. */
static const char *exact(struct vs_oom *oom, uint64_t bytes)
{
    uint64_t unit = bytes >= VS_GIB ? VS_GIB : bytes >= VS_MIB ? VS_MIB : VS_KIB;
    return bytes % unit ? vs_oom_text_of(oom, "%s", vs_size_text(bytes))
                        : vs_oom_text_of(oom, "%llu %s", (unsigned long long)(bytes / unit),
                                         unit == VS_GIB ? "GiB" : unit == VS_MIB ? "MiB" : "KiB");
}

/* "8.0 MiB every step", "6.0 MiB every 3 steps", "1.3 MiB a step on average"; *every* 0: irregular,
 * or several call sites together. */
static const char *rate(struct vs_oom *oom, uint64_t per_step, uint64_t every)
{
    if (every == 1)
        return vs_oom_text_of(oom, "%s every step", vs_size_text(per_step));
    if (every)
        return vs_oom_text_of(oom, "%s every %llu steps", vs_size_text(per_step * every),
                              (unsigned long long)every);
    return vs_oom_text_of(oom, "%s a step on average", vs_size_text(per_step));
}

bool vs_oom_more_in_holes(const struct vs_oom *oom)
{
    return oom->cache.scattered >= oom->missing && oom->cache.scattered >= oom->growth_bytes;
}

static void explain_replaced(struct vs_oom *oom)
{
    uint64_t live = oom->growth_bytes;
    vs_oom_evidence(oom, "the buffer of this line is replaced by a larger one each time: %s more in each "
                    "of %s repetitions, which come after %s completed step%s",
                    vs_size_text(oom->growth_each), vs_count_text(oom->growth_repeats),
                    vs_count_text(oom->steps_done), oom->steps_done == 1 ? "" : "s");
    vs_oom_explain_rising(oom);
    vs_oom_evidence(oom, "while it is replaced both are live, %s",
                    vs_size_text(live + oom->failure.requested));
    vs_oom_explain_missing(oom);
    vs_oom_remedy(oom, "free_growth", live, live >= oom->missing,
                  "keep the result of each repetition on the host (.cpu() before it is added; "
                  "eval_accumulation_steps=1 in the Trainer of transformers), or only what is computed "
                  "from it: %s", vs_size_text(live));
    vs_oom_remedy(oom, "bigger_device", oom->total + oom->missing, true,
                  "a larger GPU only delays it: it grows by %s with each repetition",
                  vs_size_text(oom->growth_each));
}

static void explain(struct vs_oom *oom)
{
    if (oom->growth_replaced) {
        explain_replaced(oom);
        return;
    }
    uint64_t requested = requested_bytes(oom), step = oom->growth_per_step;
    uint64_t steps = step ? requested / step : 0;
    const char *since = vs_count_text(oom->growth_since);
    if (oom->growth_passes)
        vs_oom_evidence(oom, "grows by %s with each of %s %s since %s: %s; no step of an optimizer came "
                        "between them", vs_size_text(oom->growth_each),
                        vs_count_text(oom->growth_repeats),
                        oom->growth_inputs ? "inputs" : "backward passes",
                        vs_time_text(oom->growth_since_ns), grown(oom));
    else if (oom->growth_repeats) /* in a loop without marks, after or beside the marked steps */
        vs_oom_evidence(oom, "grows by %s with each of %s repetitions since %s: %s; these mark no "
                        "steps and come %s", vs_size_text(oom->growth_each),
                        vs_count_text(oom->growth_repeats),
                        vs_time_text(oom->growth_since_ns), grown(oom),
                        oom->steps_done ? vs_oom_text_of(oom, "after %s completed step%s",
                                                         vs_count_text(oom->steps_done),
                                                         oom->steps_done == 1 ? "" : "s")
                                        : "before the first completed step");
    else if (!oom->steps_begun)
        vs_oom_evidence(oom, "since %s, %s allocations were never freed: %s; the program freed "
                        "other memory that it allocated between them",
                        vs_time_text(oom->growth_since_ns), vs_count_text(oom->growth_count),
                        grown(oom));
    else if (oom->growth_every != 1 || steps < 2 || requested % step >= steps)
        vs_oom_evidence(oom, "grows by %s since step %s: %s so far",
                        rate(oom, step, oom->growth_every), since, grown(oom));
    else /* every step added as much */
        vs_oom_evidence(oom, "grows every step since step %s: %s steps × %s = %s", since,
                        vs_count_text(steps), exact(oom, step),
                        requested < oom->growth_bytes ? grown(oom) : exact(oom, requested));
    if (oom->growth_repeats && !oom->growth_passes && !oom->steps_done)
        vs_oom_but(oom, "no step was completed: equal layers of an unfinished first step look "
                        "similar");
    else if (oom->growth_repeats && !oom->growth_passes && oom->growth_graph && vs_oom_first_step(oom))
        vs_oom_but(oom, "only %s completed: the first step of another optimizer looks similar",
                   oom->steps_done == 1 ? "1 step was"
                       : vs_oom_text_of(oom, "%s steps were", vs_count_text(oom->steps_done)));
    else if (!oom->growth_repeats && oom->steps_begun && oom->growth_times < TIMES_FEW)
        vs_oom_but(oom, "only %llu steps were completed", (unsigned long long)oom->steps_done);
    else if (!oom->growth_repeats && !oom->steps_begun && oom->steps_found && step)
        vs_oom_evidence(oom, "the requests repeat: %s steps were completed, and it grows by %s "
                        "since step %s", vs_count_text(oom->steps_found),
                        rate(oom, step, oom->growth_every), since);
    else if (!oom->growth_repeats && !oom->steps_begun && !oom->steps_found &&
             oom->growth_times < 2 * TIMES_FEW)
        vs_oom_but(oom, "the program marks no steps (NVTX) and few blocks are live so far: an "
                   "unfinished first step looks the same");
    size_t named = vs_oom_main_sites(&oom->growing), more = oom->growing.count - named;
    const char *failed = vs_oom_site(oom, &oom->failure.site, 3);
    uint64_t rest = 0;
    for (size_t i = 0; i < named; i++) {
        const struct vs_report_site *site = &oom->growing.items[i];
        const char *text = vs_oom_site(oom, site, 3);
        if (strcmp(text, failed) == 0)
            text = "the call site that failed";
        const char *counts = vs_oom_text_of(oom, "at %s: %s allocations, %s free%s", text,
                                            vs_count_text(site->allocs), vs_count_text(site->frees),
                                            site->frees == 1 ? "" : "s");
        const char *often = site->growth_in_steps && site->growth_per_step
                                ? rate(oom, site->growth_per_step, site->growth_every) : "";
        if (oom->growing.count > 1) /* its part and its rate */
            vs_oom_evidence(oom, "%s of it, %s%s%s, %s",
                            vs_percent_text(site->growth_bytes, requested),
                            vs_size_text(site->growth_bytes), *often ? ", " : "", often, counts);
        else
            vs_oom_evidence(oom, "%s", counts);
    }
    for (size_t i = named; i < oom->growing.count; i++)
        rest += oom->growing.items[i].growth_bytes;
    if (more)
        vs_oom_evidence(oom, "%s more at %zu other call site%s", vs_size_text(rest), more,
                        more == 1 ? "" : "s");
    vs_oom_explain_missing(oom);
    vs_oom_explain_share(oom, &vs_verdict_growth);
    if (vs_oom_more_in_holes(oom))
        vs_oom_but(oom, "%s more is cached in %s holes, the largest %s",
                   vs_sizes_apart(oom->cache.scattered, oom->cache.largest).a,
                   vs_count_text(oom->cache.pieces),
                   vs_sizes_apart(oom->cache.largest, oom->cache.scattered).a);
    vs_oom_remedy(oom, "free_growth", oom->growth_bytes, oom->growth_bytes >= oom->missing,
                  "free what %s keep%s, or keep it on the host: %s",
                  vs_oom_site_list(oom, &oom->growing, 2), oom->growing.count == 1 ? "s" : "",
                  vs_size_text(oom->growth_bytes));
    uint64_t times = oom->growth_repeats ? oom->growth_repeats : oom->growth_times;
    const struct vs_report_site *keeper = &oom->growth_keeper;
    const char *what = keeper->count ? vs_oom_text_of(oom, "the result of %s", vs_oom_site(oom, keeper, 2))
                                     : "a loss or an output";
    if (oom->failure.framework && oom->growth_forward && oom->growth_count >= 2 * times) /* more than one block each time */
        vs_oom_remedy(oom, "detach", oom->growth_bytes, oom->growth_bytes >= oom->missing,
                      oom->growth_graph ? "%s: %s" : "%s",
                      !oom->growth_graph
                          ? "if a loss or an output is kept, all that its backward pass needs is kept "
                            "with it: keep .item() or .detach() of it, and evaluate under torch.no_grad()"
                      : oom->growth_inputs
                          ? "each input's graph is kept until backward() runs: call backward() for each "
                            "(gradients add up), and keep .item() or .detach() of what is summed or "
                            "carried on"
                      : oom->growth_passes
                          ? "each backward pass goes through the graphs of those before it: detach() what "
                            "one takes over from the one before (h = h.detach()), and call backward() "
                            "without retain_graph=True"
                          : vs_oom_text_of(oom, "%s is kept, and with it all that its backward pass "
                                           "needs: if no backward() follows, keep .item() or .detach() of "
                                           "it, and evaluate under torch.no_grad(); otherwise make fewer "
                                           "repetitions before it", what),
                      vs_size_text(oom->growth_bytes));
    /* A larger GPU lasts for as many steps more as it has bytes. */
    uint64_t bytes = oom->total + oom->missing;
    if (!oom->total)
        return;
    if (oom->growth_per_step)
        vs_oom_remedy(oom, "bigger_device", bytes, true,
                      "a larger GPU only delays it: 1 step per %s",
                      exact(oom, with_rounding(oom, oom->growth_per_step)));
    else if (oom->growing.count == 1 || oom->growth_repeats)
        vs_oom_remedy(oom, "bigger_device", bytes, true,
                      "a larger GPU only delays it: it grows by %s with each repetition",
                      vs_size_text(with_rounding(oom, oom->growth_each)));
    else
        vs_oom_remedy(oom, "bigger_device", bytes, true, "a larger GPU only delays it");
}

static const struct vs_report_site *culprit(const struct vs_oom *oom)
{
    const struct vs_report_site *first = oom->growing.count ? oom->growing.items : NULL;
    return oom->growth_keeper.count ? &oom->growth_keeper : first;
}

const struct vs_verdict vs_verdict_growth = {
    .name = "growth", .words = "growth: the program keeps allocating memory that it does not free",
    .noun = "the growth", .live = offsetof(struct vs_oom, growth_bytes), .remedy = "free_growth",
    .explain = explain, .culprit = culprit};
