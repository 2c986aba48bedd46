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

#define TRIALS_MAX 10

struct trial {
    const char *kind; /* of a remedy; that of an estimate that it replaces, if there is one */
    const char *text; /* what to do */
    struct vs_whatif_setting setting;
};

struct trials {
    struct trial items[TRIALS_MAX];
    size_t count;
    struct vs_whatif_site sites[VS_OOM_STACKS_MAX];
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
static bool has_requests(const struct vs_oom *oom, const struct vs_whatif_log *log)
{
    size_t count;
    const uint64_t *stacks = vs_whatif_stacks(log, &count);
    for (size_t i = 0; oom->cause_stack_count && i < count; i++)
        if (stacks[i] == oom->cause_stacks[0])
            return true;
    return false;
}

static void add_sites(struct trials *trials, struct vs_oom *oom,
                      const struct vs_whatif_log *log)
{
    bool growth = oom->verdict == &vs_verdict_growth;
    if (!has_requests(oom, log) || (!growth && oom->verdict != &vs_verdict_spike))
        return;
    for (size_t i = 0; i < oom->cause_stack_count; i++)
        trials->sites[i] = (struct vs_whatif_site){
            oom->cause_stacks[i],
            growth && oom->steps_begun ? VS_WHATIF_FREE_AT_STEP_END : VS_WHATIF_ABSENT};
    const char *where = vs_oom_site(oom, oom->guilty, 2);
    size_t more = growth ? oom->growing.count + oom->growing.omitted_count : 0;
    if (more > 1)
        where = vs_oom_text_of(oom, more == 2 ? "%s and the other growing call site"
                                              : "%s and the other growing call sites", where);
    struct trial *trial =
        !growth ? add(trials, "avoid_spike",
                      vs_oom_text_of(oom, "split or avoid the %s at %s",
                                     vs_oom_size(oom, oom->spike_bytes), where))
        : oom->steps_begun
            ? add(trials, "free_growth",
                  vs_oom_text_of(oom, "free the blocks of %s at the end of their step", where))
            : add(trials, "free_growth",
                  vs_oom_text_of(oom, "do not keep the blocks of %s", where));
    trial->setting.sites = trials->sites;
    trial->setting.site_count = oom->cause_stack_count;
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

static void add_device(struct trials *trials, struct vs_oom *oom,
                       const struct vs_whatif_recorded *recorded)
{
    if (recorded->pool_kept_peak)
        add(trials, "trim_pools", "call cudaMemPoolTrimTo(pool, 0), or set cudaMemPoolAttrReleaseThreshold to 0")
            ->setting.pool_keep = 0;
    if (recorded->others_peak)
        add(trials, "stop_others", "end or move the other processes")->setting.others_most = 0;
    const struct vs_remedy *limit = find(oom, "raise_limit");
    if (limit) {
        struct vs_size_pair two = vs_sizes_apart(limit->bytes, oom->limit);
        add(trials, "raise_limit",
            vs_oom_text_of(oom, "a limit of %s instead of %s", two.a, two.b))->setting.limit =
            limit->bytes;
    }
    if (oom->second && recorded->pool_kept_peak && recorded->others_peak) {
        struct trial *both = add(trials, "both", "trim the pools, and end or move the other processes");
        both->setting.pool_keep = both->setting.others_most = 0;
    }
}

/* Whether the trial shows more than that this request fits: it ends the growth of a program that
 * repeats itself, and got as much before. The trace ends with the failure: what other
 * trials would have met later is not in it. */
static bool goes_on(const struct vs_oom *oom, const struct trial *trial)
{
    return strcmp(trial->kind, "free_growth") == 0 && (oom->steps_done || oom->steps_found) &&
           (oom->request_before >= oom->failure.requested ||
            oom->largest >= oom->failure.requested);
}

static void note_outcome(struct vs_oom *oom, const struct trial *trial,
                         const struct vs_whatif_recorded *recorded,
                         const struct vs_whatif_outcome *outcome)
{
    struct vs_remedy *estimate = find(oom, trial->kind);
    bool policy = strcmp(trial->kind, "policy") == 0;
    if (outcome->err || !outcome->survives) {
        if (estimate && !policy)
            estimate->fits = false;
        return;
    }
    struct vs_size_pair two = vs_sizes_apart(outcome->held_peak, recorded->held_peak);
    struct vs_remedy tried = {.kind = trial->kind, .bytes = outcome->held_peak, .fits = true,
                              .replayed = true};
    const char *fits = goes_on(oom, trial) ? "fits"
                                           : "this request fits, later ones are not known";
    if (strcmp(two.a, two.b) == 0)
        tried.text = vs_oom_text_of(oom, "%s: %s; reserved peak %s", trial->text, fits, two.a);
    else
        tried.text = vs_oom_text_of(oom, "%s: %s; reserved peak %s instead of %s", trial->text,
                                    fits, two.a, two.b);
    if (estimate && !policy)
        *estimate = tried;
    else if (oom->remedy_count < VS_REMEDIES_MAX)
        oom->remedies[oom->remedy_count++] = tried;
}

/* The smallest device with which the recorded setting serves the failed request. */
static void find_capacity(struct vs_oom *oom, const struct vs_whatif_log *log)
{
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome outcome;
    struct vs_remedy *estimate = find(oom, "bigger_device");
    if (!estimate || oom->verdict == &vs_verdict_growth)
        return; /* growth fills any device */
    vs_whatif_setting_init(&setting);
    uint64_t least = vs_whatif_least_capacity(log, &setting, &outcome);
    if (least <= oom->total)
        return;
    struct vs_size_pair two = vs_sizes_apart(least, oom->total);
    *estimate = (struct vs_remedy){
        .kind = "bigger_device", .bytes = least, .fits = true, .replayed = true,
        .text = vs_oom_text_of(oom, "a device with %s instead of %s: this request fits; what the "
                               "program needs after it is unknown",
                               two.a, two.b)};
}

static bool fails_as_recorded(const struct vs_oom *oom, const struct vs_whatif_log *log)
{
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome outcome;
    vs_whatif_setting_init(&setting);
    vs_whatif_run(log, &setting, &outcome);
    const struct vs_whatif_recorded *recorded = vs_whatif_recorded(log);
    return !outcome.err && !outcome.survives &&
           (outcome.fail_event == oom->failure.event || outcome.fail_event == recorded->last_failure);
}

/* Whether the verdict is true capacity although another setting of the caching allocator that served
 * the program serves the request, too. */
static bool placed_otherwise(const struct vs_oom *oom, const struct vs_whatif_recorded *recorded,
                             const struct trials *trials, const struct vs_whatif_outcome *outcomes)
{
    bool any = false;
    for (size_t i = 0; i < trials->count; i++)
        any |= strcmp(trials->items[i].kind, "policy") == 0 && !outcomes[i].err &&
               outcomes[i].survives;
    return any && oom->verdict == &vs_verdict_capacity &&
           (recorded->cached || recorded->requests == VS_WHATIF_FRAMEWORK);
}

enum vs_err vs_oom_replay(struct vs_oom *oom, struct vs_reader *reader)
{
    struct trials trials = {.count = 0};
    struct vs_whatif_setting settings[TRIALS_MAX];
    struct vs_whatif_outcome outcomes[TRIALS_MAX];
    struct vs_whatif_log *log = NULL;
    struct vs_whatif_query query = {.device = oom->failure.device,
                                    .until_event = oom->failure.event};
    if (oom->failure.host || oom->failure.recovered || !oom->missing ||
        (oom->verdict->decides && oom->verdict->decides(oom)))
        return VS_OK;
    enum vs_err err = vs_whatif_open(reader, &query, &log);
    if (err)
        return err == VS_ERR_NOMEM ? err : VS_OK; /* not replayed */
    const struct vs_whatif_recorded *recorded = vs_whatif_recorded(log);
    if (fails_as_recorded(oom, log)) {
        add_sites(&trials, oom, log);
        if (oom->verdict != &vs_verdict_growth && oom->verdict != &vs_verdict_spike)
            add_policies(&trials, oom, recorded);
        add_device(&trials, oom, recorded);
        for (size_t i = 0; i < trials.count; i++)
            settings[i] = trials.items[i].setting;
        vs_whatif_run_all(log, settings, trials.count, outcomes);
        if (placed_otherwise(oom, recorded, &trials, outcomes))
            err = vs_diagnose_placement(oom);
        for (size_t i = 0; i < trials.count; i++)
            note_outcome(oom, &trials.items[i], recorded, &outcomes[i]);
        find_capacity(oom, log);
    }
    vs_whatif_close(log);
    vs_oom_sort_remedies(oom);
    return oom->no_memory ? VS_ERR_NOMEM : err;
}
