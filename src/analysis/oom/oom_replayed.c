/* SPDX-License-Identifier: Apache-2.0
 *
 * Remedies that are tried: the requests up to the failure are run again with each (whatif.h). One
 * that lets the failed request fit is added, and replaces the estimate of its kind; an estimate
 * whose replay fails as well no longer counts as one that fits. Nothing is added if the recorded
 * setting does not fail in the replay: it is not exact enough for this trace then. */
#include <string.h>

#include "analysis/oom/verdict.h"
#include "analysis/whatif/whatif.h"
#include "base/vs_size.h"

#define TRIALS_MAX 12

struct trial {
    const char *kind; /* of a remedy; that of an estimate that it replaces, if there is one */
    const char *text; /* what to do */
    struct vs_whatif_setting setting;
};

struct trials {
    struct trial items[TRIALS_MAX];
    size_t count;
    struct vs_whatif_site sites[2 * VS_OOM_STACKS_MAX]; /* of growth, then of the spike */
    size_t growing, spikes;
};

static struct trial *add(struct trials *trials, const char *kind, const char *text)
{
    struct trial *trial = &trials->items[trials->count];
    if (trials->count < TRIALS_MAX - 1)
        trials->count++;
    trial->kind = kind;
    trial->text = text;
    vs_whatif_setting_init(&trial->setting);
    return trial;
}

/* Whether the log has requests of the site that keeps most: without them the trial says nothing. */
static bool has_requests(const struct vs_oom_stacks *cause, const struct vs_whatif_log *log)
{
    size_t count;
    const uint64_t *stacks = vs_whatif_stacks(log, &count);
    for (size_t i = 0; cause->count && i < count; i++)
        if (stacks[i] == cause->stack[0])
            return true;
    return false;
}

/* Whether what grows is freed at the end of its step in a trial; in a loop without marks nothing is. */
static bool freed_at_step_end(const struct vs_oom *oom)
{
    return oom->steps_begun && !oom->growth_repeats;
}

/* Changes *setting* so that it has no part of the cause *verdict*; its first sites are those of the
 * trials. Returns what to do, or NULL: this cause cannot be replayed. *kind*: of the remedy. */
static const char *without(const struct trials *trials, struct vs_oom *oom,
                           const struct vs_whatif_recorded *recorded,
                           const struct vs_verdict *verdict, struct vs_whatif_setting *setting,
                           const char **kind)
{
    if (verdict == &vs_verdict_growth && trials->growing) {
        *kind = "free_growth";
        setting->sites = trials->sites;
        setting->site_count += trials->growing;
        const char *where = vs_oom_site_list(oom, &oom->growing, 2);
        return vs_oom_text_of(oom, freed_at_step_end(oom)
                                       ? "free the blocks of %s at the end of their step"
                                       : "do not keep the blocks of %s", where);
    }
    if (verdict == &vs_verdict_spike && trials->spikes) {
        *kind = "avoid_spike";
        if (!setting->sites)
            setting->sites = trials->sites + trials->growing;
        setting->site_count += trials->spikes;
        return vs_oom_spike_remedy(oom);
    }
    if (verdict == &vs_verdict_pool && recorded->pool_kept_peak) {
        *kind = "trim_pools";
        setting->pool_keep = 0;
        return "call cudaMemPoolTrimTo(pool, 0), or set cudaMemPoolAttrReleaseThreshold to 0";
    }
    if (verdict == &vs_verdict_others && recorded->others_peak) {
        *kind = "stop_others";
        setting->others_most = 0;
        return "end or move the other processes";
    }
    return NULL;
}

static void add_cause(struct trials *trials, struct vs_oom *oom,
                      const struct vs_whatif_recorded *recorded, const struct vs_verdict *verdict)
{
    struct vs_whatif_setting setting;
    const char *kind;
    vs_whatif_setting_init(&setting);
    const char *text = without(trials, oom, recorded, verdict, &setting, &kind);
    if (text)
        add(trials, kind, text)->setting = setting;
}

/* One text of PYTORCH_ALLOC_CONF; "": its defaults. */
static void add_conf(struct trials *trials, struct vs_oom *oom, const char *conf)
{
    char why[VS_WHATIF_WHY_MAX];
    struct trial *trial =
        add(trials, "policy", *conf ? vs_oom_text_of(oom, "`PYTORCH_ALLOC_CONF=%s`", conf)
                                    : "`PYTORCH_ALLOC_CONF=expandable_segments:False`");
    if (vs_whatif_setting_conf(&trial->setting, conf, why))
        trials->count--;
}

static void add_policies(struct trials *trials, struct vs_oom *oom,
                         const struct vs_whatif_recorded *recorded)
{
    static const char *const confs[] = {"max_split_size_mb:128", "garbage_collection_threshold:0.8"};
    bool torch = recorded->requests == VS_WHATIF_FRAMEWORK;
    if (!torch && !recorded->cached)
        vs_whatif_setting_policy(&add(trials, "policy", "`--allocator=caching`")->setting,
                                 VS_POLICY_PYTORCH);
    /* below PyTorch's own cache a policy of ours changes little */
    if (!torch && (recorded->policy != VS_POLICY_COMPACT || !recorded->cached)) {
        struct trial *trial = add(trials, "policy", recorded->cached
                                                        ? "`--policy=compact`"
                                                        : "`--allocator=caching --policy=compact`");
        vs_whatif_setting_policy(&trial->setting, VS_POLICY_COMPACT);
    }
    if (torch)
        add_conf(trials, oom, recorded->expandable ? "" : "expandable_segments:True");
    for (size_t i = 0; torch && i < sizeof confs / sizeof *confs; i++)
        add_conf(trials, oom, confs[i]);
}

static struct vs_remedy *find(struct vs_oom *oom, const char *kind)
{
    for (size_t i = 0; i < oom->remedy_count; i++)
        if (strcmp(oom->remedies[i].kind, kind) == 0)
            return &oom->remedies[i];
    return NULL;
}

/* The peak with the remedy beside the recorded one. Reserved memory does not include cached memory of
 * pools and memory of other processes: for these, the device's use with the request served, and at
 * its failure. */
static const char *peak_text(struct vs_oom *oom, const struct trial *trial,
                             const struct vs_whatif_outcome *now,
                             const struct vs_whatif_outcome *before, uint64_t *bytes)
{
    bool device = trial->setting.pool_keep == 0 || trial->setting.others_most == 0;
    uint64_t old = device ? before->used_at_last : before->held_peak;
    *bytes = device ? now->used_at_last : now->held_peak;
    struct vs_size_pair two = vs_sizes_apart(*bytes, old);
    if (device)
        return vs_oom_text_of(oom, "with it %s of the device are in use (this request included), "
                              "without it %s", two.a, two.b);
    if (*bytes > old)
        return vs_oom_text_of(oom, "reserved peak %s, recorded %s", two.a, two.b);
    return vs_oom_text_of(oom, *bytes < old ? "reserved peak %s instead of %s"
                                            : "reserved peak %s, as recorded", two.a, two.b);
}

static void note_outcome(struct vs_oom *oom, const struct trial *trial,
                         const struct vs_whatif_outcome *outcome,
                         const struct vs_whatif_outcome *before)
{
    struct vs_remedy *estimate = find(oom, trial->kind);
    bool policy = strcmp(trial->kind, "policy") == 0;
    if (outcome->err || !outcome->survives) {
        if (estimate && !policy)
            estimate->fits = false;
        return;
    }
    struct vs_remedy tried = {.kind = trial->kind, .fits = true, .replayed = true};
    /* Whether the trial shows more than that this request fits: it ends the growth of a program
     * that repeats itself, and got as much before. The trace ends with the failure: what other
     * trials would have met later is not in it. */
    bool goes_on = strcmp(trial->kind, "free_growth") == 0 &&
        (oom->steps_done || oom->steps_found) && (oom->request_before >= oom->failure.requested ||
                    oom->largest >= oom->failure.requested);
    const char *fits = goes_on ? "fits" : "this request fits, later ones are not known";
    const char *peak = peak_text(oom, trial, outcome, before, &tried.bytes);
    tried.text = vs_oom_text_of(oom, "%s: %s; %s", trial->text, fits, peak);
    if (estimate && !policy)
        *estimate = tried;
    else if (oom->remedy_count < VS_REMEDIES_MAX)
        oom->remedies[oom->remedy_count++] = tried;
}

/* Whether *verdict* is one of the causes that are explained. */
static bool is_cause(const struct vs_oom *oom, const struct vs_verdict *verdict)
{
    bool also = oom->verdict == verdict || oom->second == verdict;
    for (size_t i = 0; i < oom->also_count; i++)
        also |= oom->also[i]->verdict == verdict;
    return also;
}

void vs_oom_replay(struct vs_oom *oom, struct vs_reader *reader)
{
    struct trials trials = {.count = 0};
    struct vs_whatif_setting settings[TRIALS_MAX];
    struct vs_whatif_outcome outcomes[TRIALS_MAX], before;
    struct vs_whatif_log *log = NULL;
    struct vs_whatif_query query = {.device = oom->failure.device,
                                    .until_event = oom->failure.event};
    if (oom->failure.host || oom->failure.recovered || !oom->missing ||
        (oom->verdict->decides && oom->verdict->decides(oom)))
        return;
    if (vs_whatif_open(reader, &query, &log))
        return; /* not replayed */
    const struct vs_whatif_recorded *recorded = vs_whatif_recorded(log);
    struct vs_whatif_setting as_recorded;
    vs_whatif_setting_init(&as_recorded);
    vs_whatif_run(log, &as_recorded, &before);
    if (!before.err && !before.survives &&
        (before.fail_event == oom->failure.event || before.fail_event == recorded->last_failure)) {
        const struct vs_oom_stacks *growth = &oom->growth_stacks, *spike = &oom->spike_stacks;
        if (has_requests(growth, log))
            trials.growing = growth->count;
        for (size_t i = 0; i < trials.growing; i++)
            trials.sites[i] = (struct vs_whatif_site){
                .stack = growth->stack[i],
                .rule = freed_at_step_end(oom) ? VS_WHATIF_FREE_AT_STEP_END : VS_WHATIF_ABSENT};
        if (!oom->spike_is_request && has_requests(spike, log)) /* it cannot be replayed without */
            trials.spikes = spike->count;
        for (size_t i = 0; i < trials.spikes; i++)
            trials.sites[trials.growing + i] =
                (struct vs_whatif_site){.stack = spike->stack[i], .rule = VS_WHATIF_ABSENT,
                                        .bytes_min = spike->bytes_min[i]};
        /* The two causes that are enough only together. */
        bool spike_first = oom->verdict == &vs_verdict_spike; /* its site is behind those of
                                                               * growth */
        struct vs_whatif_setting both = as_recorded;
        const char *kind, *a = NULL, *b = NULL;
        if (oom->second) {
            a = without(&trials, oom, recorded, spike_first ? oom->second : oom->verdict, &both,
                        &kind);
            b = without(&trials, oom, recorded, spike_first ? oom->verdict : oom->second, &both,
                        &kind);
        }
        if (a && b)
            add(&trials, "both", vs_oom_text_of(oom, "%s; and %s", a, b))->setting = both;
        if (is_cause(oom, &vs_verdict_growth))
            add_cause(&trials, oom, recorded, &vs_verdict_growth);
        if (is_cause(oom, &vs_verdict_spike))
            add_cause(&trials, oom, recorded, &vs_verdict_spike);
        if ((oom->verdict != &vs_verdict_growth && oom->verdict != &vs_verdict_spike) ||
            (oom->verdict == &vs_verdict_growth && vs_oom_more_in_holes(oom)))
            add_policies(&trials, oom, recorded);
        if (vs_oom_cause_of(oom, &vs_verdict_pool)) /* otherwise live blocks hold the pools' memory */
            add_cause(&trials, oom, recorded, &vs_verdict_pool);
        add_cause(&trials, oom, recorded, &vs_verdict_others);
        const struct vs_remedy *limit = find(oom, "raise_limit");
        if (limit) {
            struct vs_size_pair two = vs_sizes_apart(limit->bytes, oom->limit);
            add(&trials, "raise_limit",
                vs_oom_text_of(oom, "a limit of %s instead of %s", two.a, two.b))->setting.limit =
                limit->bytes;
        }
        for (size_t i = 0; i < trials.count; i++)
            settings[i] = trials.items[i].setting;
        vs_whatif_run_all(log, settings, trials.count, outcomes);
        bool served = false; /* by another setting of the caching allocator that served the
                              * program */
        for (size_t i = 0; i < trials.count; i++)
            served |= strcmp(trials.items[i].kind, "policy") == 0 && !outcomes[i].err &&
                outcomes[i].survives;
        if (served && oom->verdict == &vs_verdict_capacity &&
            (recorded->cached || recorded->requests == VS_WHATIF_FRAMEWORK))
            vs_diagnose_placement(oom);
        for (size_t i = 0; i < trials.count; i++)
            note_outcome(oom, &trials.items[i], &outcomes[i], &before);
        /* The smallest device with which the recorded setting serves the failed request; growth
         * fills any. */
        struct vs_remedy *estimate = oom->verdict == &vs_verdict_growth ? NULL
            : find(oom, "bigger_device");
        uint64_t least = estimate ? vs_whatif_least_capacity(log, &as_recorded, &before) : 0;
        struct vs_size_pair two = vs_sizes_apart(least, oom->total);
        if (estimate && least > oom->total)
            *estimate = (struct vs_remedy){
                .kind = "bigger_device", .bytes = least, .fits = true, .replayed = true,
                .text = vs_oom_text_of(oom, "a device with %s instead of %s: this request fits; "
                                       "what the program needs after it is unknown", two.a, two.b)};
    }
    vs_whatif_close(log);
    vs_oom_sort_remedies(oom);
}
