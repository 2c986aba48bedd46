/* SPDX-License-Identifier: Apache-2.0
 *
 * Which sets of changes are tried. The state is the set so far, at first none. In each round the next
 * changes of one tier, for which there is a reason at the state's peak, are tried beside it at the same
 * time. If one fits, it is run on the GPU asked for, and the search ends; otherwise the first that saves
 * a hundredth joins the state. A change that saved nothing is tried again when the peak has moved to
 * another phase. What the program needs is known only where it does not fail: if it does not fit, all but
 * the last run of a plan are on the same GPU with more memory. */
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "tools/advise/advise_internal.h"
#include "tools/common/paths.h"

#define NEVER_AGAIN UINT64_MAX

int64_t vs_trial_headroom(const struct vs_search *search, const struct vs_trial *trial)
{
    return (int64_t)search->total_bytes - (int64_t)trial->used;
}

static bool has_margin(const struct vs_search *search, int64_t headroom)
{
    return headroom >= (int64_t)search->margin_bytes;
}

bool vs_trial_enough(const struct vs_search *search, const struct vs_trial *trial)
{
    return trial && trial->fits && !trial->replayed && strcmp(trial->gpu, search->gpu) == 0 &&
           has_margin(search, vs_trial_headroom(search, trial));
}

/* Whether it is worth a run on the GPU asked for: there PyTorch empties its cache before it fails. */
static bool may_fit(const struct vs_search *search, const struct vs_trial *trial)
{
    uint64_t cached = trial->reserved > trial->peak ? trial->reserved - trial->peak : 0;
    if (trial->replayed) /* with that memory already */
        cached = 0;
    return !trial->why && trial->used && (!trial->replayed || trial->fits) &&
           has_margin(search, vs_trial_headroom(search, trial) + (int64_t)cached);
}

static bool pays(const struct vs_trial *state, const struct vs_trial *trial)
{
    return !trial->why && trial->used && trial->used <= state->used && trial->peak <= state->peak &&
           ((state->used - trial->used) * 100 >= state->used ||
            (state->peak - trial->peak) * 100 >= state->peak);
}

/* "backward" of "step 2 / backward" */
static const char *phase_of(const struct vs_trial *trial)
{
    const char *place = trial->shown->run.worst_device ? trial->shown->run.worst_device->peak_place : "";
    const char *slash = strstr(place, " / ");
    return slash ? slash + 3 : place;
}

/* Why *change* cannot help at the peak of *state*; NULL: it may. */
static const char *no_reason(const struct vs_search *search, const struct vs_trial *state,
                             const struct vs_advise_change *change)
{
    static const struct {
        const char *name, *text;
        enum vs_kind kind;
    } needs[] = {{"activations", "activations hold", VS_KIND_ACTIVATIONS},
                 {"state", "the optimizer's state holds", VS_KIND_OPTIMIZER_STATE},
                 {"gradients", "gradients hold", VS_KIND_GRADIENTS}};
    const char *phase = phase_of(state);
    const struct vs_kinds_table *table = &state->shown->run.worst_device->kinds;
    const struct vs_kind_sum *kinds = table->kinds;
    uint64_t cached = state->reserved > state->peak ? state->reserved - state->peak : 0;
    bool in_optimizer = strstr(phase, "optimizer") != NULL;
    if (vs_text_same(change->needs, "cache") && cached * 100 < state->used)
        return vs_xarena_printf(search->memory, "only %s is reserved beyond the peak", vs_size_text(cached));
    if (vs_text_same(change->needs, "optimizer") && *phase && !in_optimizer)
        return vs_xarena_printf(search->memory, "the peak is in %s, not in the optimizer", phase);
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        uint64_t bytes = kinds[needs[i].kind].bytes + kinds[VS_KIND_UNKNOWN].bytes;
        if (needs[i].kind == VS_KIND_ACTIVATIONS && !in_optimizer) /* before backward began */
            bytes += kinds[VS_KIND_TEMPORARIES].bytes + kinds[VS_KIND_OTHER].bytes;
        if (vs_text_same(change->needs, needs[i].name) && bytes * 100 < table->total.bytes)
            return vs_xarena_printf(search->memory, "%s %s at the peak", needs[i].text, vs_size_text(bytes));
    }
    return NULL;
}

static uint64_t set_with(const struct vs_search *search, uint64_t set, size_t change)
{
    for (size_t i = 0; i < search->changes.count; i++)
        if (search->changes.items[i].groups & search->changes.items[change].groups)
            set &= ~(UINT64_C(1) << i);
    return set | UINT64_C(1) << change;
}

/* The trial of *set* beside *state*, which may be done; NULL: settings that cannot be replayed. */
static struct vs_trial *trial_beside(struct vs_search *search, const struct vs_trial *state, uint64_t set)
{
    uint64_t settings = 0;
    for (size_t i = 0; i < search->changes.count; i++)
        settings |= search->changes.items[i].conf ? UINT64_C(1) << i : 0;
    struct vs_trial *known = vs_trial_of(&search->trials, set, search->large, false);
    if (known || !(set & settings) || (set & ~settings) != (state->shown->set & ~settings))
        return known ? known : vs_trial_of(&search->trials, set, search->large, true);
    return vs_trial_replay(&search->trials, state->shown, set, search->large, search->total_bytes);
}

/* Runs *set* on the GPU asked for. */
static int prove(struct vs_search *search, uint64_t set, bool *enough)
{
    struct vs_trial *trial = vs_trial_of(&search->trials, set, search->gpu, true);
    if (trial->replayed) { /* both GPUs are the same one */
        trial->replayed = trial->done = trial->fits = false;
        trial->shown = trial;
    }
    int status = vs_trials_run(&search->trials, &trial, 1);
    *enough = !status && trial->done && vs_trial_enough(search, trial);
    return status;
}

struct wave {
    struct vs_trial *trials[VS_CHANGES_MAX];
    size_t changes[VS_CHANGES_MAX], count;
};

/* The next changes to try beside *state*; *all*: every change that is not absent. */
static void next_wave(struct vs_search *search, const struct vs_trial *state, bool all, struct wave *wave)
{
    size_t most = vs_trials_at_once(&search->trials);
    wave->count = 0;
    for (size_t i = 0; i < search->changes.count; i++) {
        struct vs_advise_change *change = &search->changes.items[i];
        bool settings = change->conf != NULL;
        bool done = change->tried == state->set + 1 || change->tried == NEVER_AGAIN ||
                    (change->tried && change->phase && strcmp(change->phase, phase_of(state)) == 0);
        if (change->absent || (state->set >> i & 1) || (done && !all))
            continue;
        change->idle = all ? NULL : no_reason(search, state, change);
        if (change->idle)
            continue;
        if (!all && wave->count && (!vs_text_same(search->changes.items[wave->changes[0]].tier, change->tier) ||
                                    (!settings && wave->count == most)))
            return;
        struct vs_trial *trial = trial_beside(search, state, set_with(search, state->set, i));
        change->tried = state->set + 1;
        if (!trial) {
            change->idle = "the requests of this run cannot be replayed";
            continue;
        }
        wave->changes[wave->count] = i;
        wave->trials[wave->count++] = trial;
    }
}

/* Runs a wave, and proves the first that fits. *next*: the first that pays; NULL: none. */
static int run_wave(struct vs_search *search, const struct vs_trial *state, struct wave *wave,
                    struct vs_trial **next)
{
    int status = vs_trials_run(&search->trials, wave->trials, wave->count);
    *next = NULL;
    for (size_t i = 0; i < wave->count && !status && !vs_fit_interrupted(); i++) {
        struct vs_advise_change *change = &search->changes.items[wave->changes[i]];
        struct vs_trial *trial = wave->trials[i];
        bool paid = pays(state, trial);
        /* what paid may pay in any state; what failed does not */
        change->phase = paid ? NULL : phase_of(state);
        if (trial->why)
            change->tried = NEVER_AGAIN;
        if (!search->found && may_fit(search, trial)) {
            status = prove(search, trial->set, &search->found);
            search->plan = trial->set;
        }
        if (paid && !*next)
            *next = trial;
    }
    return status;
}

/* Leaves out changes of the plan that it fits without: they were cheaper, but not enough. */
static int shorten(struct vs_search *search)
{
    int status = 0;
    for (size_t i = search->changes.count; i-- > 0 && !status && !vs_fit_interrupted();) {
        uint64_t rest = search->plan & ~(UINT64_C(1) << i);
        bool enough;
        if (rest == search->plan || !rest)
            continue;
        struct vs_trial *known = vs_trial_of(&search->trials, rest, search->large, false);
        if (known && known->done && !may_fit(search, known))
            continue;
        status = prove(search, rest, &enough);
        if (enough)
            search->plan = rest;
    }
    return status;
}

/* The runs that say how much each change of the plan saves: its first one, its first two, … */
static int chain(struct vs_search *search, uint64_t set)
{
    struct vs_trial *wanted[VS_CHANGES_MAX];
    const struct vs_trial *before = search->base;
    size_t count = 0;
    uint64_t part = 0;
    for (size_t i = 0; i < search->changes.count; i++) {
        if (!(set >> i & 1))
            continue;
        part |= UINT64_C(1) << i;
        struct vs_trial *trial = trial_beside(search, before, part);
        if (trial)
            wanted[count++] = trial;
        before = trial && trial->shown->run.worst ? trial : before;
    }
    return vs_trials_run(&search->trials, wanted, count);
}

int vs_search_run(struct vs_search *search)
{
    struct vs_trials *trials = &search->trials;
    struct vs_trial *both[2] = {vs_trial_of(trials, 0, search->gpu, true),
                                vs_trial_of(trials, 0, search->large, true)};
    bool all = search->job->fit.all;
    search->base_asked = both[0];
    int status = vs_trials_run(trials, both, vs_trials_at_once(trials) > 1 ? 2 : 1);
    if (status || vs_fit_interrupted() || both[0]->run.answer == VS_FIT_UNKNOWN)
        return status;
    search->found = vs_trial_enough(search, both[0]);
    if (search->found && !all)
        return 0;
    if (both[0]->fits)
        search->large = search->gpu;
    else
        status = vs_trials_run(trials, &both[1], 1);
    search->base = both[0]->fits ? both[0] : both[1];
    if (!status && !both[0]->fits && search->base->fits && vs_fit_takes_share(&search->base->run))
        return vs_tool_fail(search->job->fit.who, "the program takes a part of whatever memory there is, %s of 1 TiB: what a "
                            "change would save is not known; give that part a fixed size, or ask vramscope fit with "
                            "other values of it", vs_size_text(search->base->run.used_peak));
    if (status || vs_fit_interrupted() || !search->base->fits)
        return status;
    vs_survey_read(search->base->process.folder, search->base->run.worst->pid, search->memory,
                   &search->survey);
    vs_changes_list(search->job, &search->survey, search->base->peak, search->memory, &search->changes);
    struct vs_trial *state = search->base, *next;
    struct wave wave;
    bool fitted = search->found;
    if (all) { /* each alone; the search below takes their results */
        next_wave(search, state, true, &wave);
        search->found = true;
        status = run_wave(search, state, &wave, &next);
        search->found = fitted;
        for (size_t i = 0; i < search->changes.count; i++)
            if (search->changes.items[i].tried != NEVER_AGAIN)
                search->changes.items[i].tried = 0;
    }
    while (!status && !search->found && !vs_fit_interrupted()) {
        next_wave(search, state, false, &wave);
        if (!wave.count)
            break;
        status = run_wave(search, state, &wave, &next);
        state = next ? next : state;
    }
    if (!status && search->found && !fitted)
        status = shorten(search);
    if (!status && !fitted && !vs_fit_interrupted())
        status = chain(search, search->found ? search->plan : state->set);
    if (!search->found)
        search->plan = state->set;
    return status;
}
