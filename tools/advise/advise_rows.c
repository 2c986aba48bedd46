/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer for one GPU, from the trials: a row for each set, what each change of the plan saves and the
 * lines to change, and what was not tried. */
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "tools/advise/advise_internal.h"

static void set_cost(const struct vs_search *search, const struct vs_trial *trial, struct vs_advice_row *row)
{
    const struct vs_fit_trace *now = trial->run.worst;
    const struct vs_fit_trace *before = search->base ? search->base->run.worst : NULL;
    if (trial->replayed || row->value || !now || !before || !now->cost.steps || !before->cost.steps ||
        !before->cost.kernel_ns)
        return;
    row->cost_known = true;
    row->compute = (double)now->cost.kernel_ns / (double)before->cost.kernel_ns - 1;
    row->copies = (int64_t)now->cost.copy_bytes - (int64_t)before->cost.copy_bytes;
}

/* Of two trials of a set, the one on the GPU asked for has the truth, if it ended well. */
static struct vs_advice_row row_of(const struct vs_search *search, const struct vs_trial *asked,
                                   const struct vs_trial *large)
{
    const struct vs_trial *shown = asked && (asked->fits || !large) ? asked : large;
    const struct vs_advise_changes *changes = &search->changes;
    struct vs_advice_row row = {
        .label = vs_set_label(changes, shown->set, search->memory),
        .changes = vs_set_join(changes, shown->set, false, ";", search->memory),
        .settings = vs_set_join(changes, shown->set, true, ",", search->memory),
        .value = vs_set_value(search->job, changes, shown->set),
        .source = shown->replayed ? VS_ADVICE_REPLAYED : VS_ADVICE_RUN,
        .why = asked && asked->why ? asked->why : shown->why,
        .known = shown->used != 0 && !shown->why, .cached = shown->cached, .wall_ns = shown->run.wall_ns};
    if (!row.why && !row.known)
        row.why = shown->run.answer == VS_FIT_NO ? "does not fit" : "no figures";
    row.no_answer = !row.known && shown->run.answer != VS_FIT_NO;
    if (!row.known)
        return row;
    row.peak = shown->peak;
    row.reserved = shown->reserved;
    row.used = shown->used;
    row.headroom = vs_trial_headroom(search, shown);
    row.saved = search->base ? (int64_t)search->base->used - (int64_t)shown->used : 0;
    row.proven = asked && asked->done && !asked->replayed;
    row.fits = row.proven ? vs_trial_enough(search, asked)
                          : shown->fits && row.headroom >= (int64_t)search->margin_bytes;
    row.if_assumed = row.fits && shown->run.if_assumed;
    if (row.proven && !asked->fits && row.headroom >= 0)
        row.why = "fails on the GPU itself";
    set_cost(search, shown, &row);
    return row;
}

/* What sharding saves, by the kinds at the peak: parameters, gradients and optimizer state are divided;
 * two blocks are gathered at a time. */
static struct vs_advice_row sharded(const struct vs_search *search, uint64_t gpus)
{
    const struct vs_trial *base = search->base;
    const struct vs_kind_sum *kinds = base->run.worst_device->kinds.kinds;
    uint64_t divided = kinds[VS_KIND_PARAMETERS].bytes + kinds[VS_KIND_GRADIENTS].bytes +
                       kinds[VS_KIND_OPTIMIZER_STATE].bytes;
    uint64_t saved = divided - divided / gpus;
    saved = saved > search->survey.gathered_bytes ? saved - search->survey.gathered_bytes : 0;
    struct vs_advice_row row = {.label = vs_xarena_printf(search->memory, "FSDP2 over %llu GPUs",
                                                          (unsigned long long)gpus),
                                .changes = "", .settings = "", .source = VS_ADVICE_ESTIMATED, .known = true,
                                .peak = base->peak - saved, .reserved = base->reserved - saved,
                                .used = base->used - saved, .saved = (int64_t)saved};
    row.headroom = (int64_t)search->total_bytes - (int64_t)row.used;
    row.fits = row.headroom >= (int64_t)search->margin_bytes;
    return row;
}

static void add_shards(const struct vs_search *search, struct vs_advice *advice, size_t *capacity)
{
    uint64_t asked = search->survey.processes > 1 ? search->survey.processes : search->job->shard;
    if ((!asked && search->found) || !search->base || !search->base->run.worst_device->kinds.total.bytes ||
        vs_text_same(search->survey.kind, "fsdp2"))
        return;
    for (uint64_t gpus = asked ? asked : 2; gpus <= (asked ? asked : 8); gpus *= 2) {
        struct vs_advice_row row = sharded(search, gpus);
        if (row.saved)
            VS_VEC_ADD(advice->rows, advice->row_count, *capacity, row);
        if (row.fits)
            return; /* more GPUs fit as well */
    }
}

/* The lines of the program for one change. */
static void set_lines(const struct vs_search *search, const struct vs_trial *trial,
                      const struct vs_advise_change *change, struct vs_advice_step *step)
{
    const struct vs_fit_note_list *list = &trial->shown->run.notes.lists[VS_FIT_CHANGED];
    struct vs_advice_line *lines = vs_xarena(search->memory, (list->count + 1) * sizeof *lines);
    step->lines = lines;
    if (change->conf || change->value)
        lines[step->line_count++] = (struct vs_advice_line){
            .place = "", .count = 1,
            .code = change->conf ? vs_xarena_printf(search->memory, "PYTORCH_ALLOC_CONF=%s", change->conf)
                                 : change->label};
    for (const struct vs_fit_note *note = NULL; (note = vs_note_of(list, change, note));)
        lines[step->line_count++] = (struct vs_advice_line){note->name, note->text, note->count};
}

static void add_steps(const struct vs_search *search, uint64_t set, struct vs_advice *advice)
{
    const struct vs_trial *whole = vs_trial_of((struct vs_trials *)&search->trials, set, search->gpu, false);
    const struct vs_trial *before = search->base;
    uint64_t part = 0;
    if (!whole || !whole->done)
        whole = vs_trial_of((struct vs_trials *)&search->trials, set, search->large, false);
    advice->steps = vs_xarena(search->memory, (search->changes.count + 1) * sizeof *advice->steps);
    for (size_t i = 0; i < search->changes.count && whole; i++) {
        const struct vs_advise_change *change = &search->changes.items[i];
        if (!(set >> i & 1))
            continue;
        part |= UINT64_C(1) << i;
        struct vs_trial *trial = vs_trial_of((struct vs_trials *)&search->trials, part, search->large, false);
        struct vs_advice_step *step = &advice->steps[advice->step_count++];
        *step = (struct vs_advice_step){.label = change->label,
                                        .change = change->spec   ? change->spec
                                                  : change->conf ? change->conf : change->value,
                                        .known = trial && trial->used && before && before->used};
        step->saved = step->known ? (int64_t)before->used - (int64_t)trial->used : 0;
        set_lines(search, whole, change, step);
        before = trial;
    }
}

static void add_left(struct vs_search *search, struct vs_advice *advice)
{
    size_t capacities[2] = {0};
    if (search->base && !search->survey.json && (search->job->fit.all || !search->found))
        VS_VEC_ADD(advice->absent, advice->absent_count, capacities[0],
                   (struct vs_advice_left){"changes of the code", "",
                                           "no survey was written: the program does not use PyTorch, or "
                                           "did not complete a step"});
    for (size_t i = 0; i < search->changes.count; i++) {
        const struct vs_advise_change *change = &search->changes.items[i];
        const char *why = change->no_effect;
        struct vs_advice_left left = {change->label,
                                      change->spec   ? change->spec
                                      : change->conf ? change->conf : change->value,
                                      why ? why : change->absent ? change->absent : change->idle};
        if (left.why && (!change->ran || why))
            VS_VEC_ADD(advice->absent, advice->absent_count, capacities[0], left);
        else if (!change->ran && (search->found || advice->interrupted)) /* a cheaper set was enough */
            VS_VEC_ADD(advice->spared, advice->spared_count, capacities[1], left);
    }
}

void vs_search_rows(struct vs_search *search, struct vs_advice *advice)
{
    struct vs_trials *trials = &search->trials;
    size_t capacity = 0;
    const struct vs_fit_run *as_it_is = &search->base_asked->run;
    *advice = (struct vs_advice){.gpu = search->gpu, .total_bytes = search->total_bytes,
                                 .margin_bytes = search->margin_bytes, .as_it_is = as_it_is,
                                 .torch = search->survey.torch ? search->survey.torch : "",
                                 .runs = trials->runs, .cached = trials->cached,
                                 .steps_run = search->job->fit.steps};
    uint64_t made = 0; /* the program may end before */
    for (size_t i = 0; i < trials->count; i++)
        if (trials->items[i]->run.worst && trials->items[i]->run.worst->steps > made)
            made = trials->items[i]->run.worst->steps;
    if (made && made < advice->steps_run)
        advice->steps_run = made;
    for (size_t i = 0; i < trials->count; i++) {
        struct vs_trial *trial = trials->items[i];
        struct vs_trial *asked = vs_trial_of(trials, trial->set, search->gpu, false);
        struct vs_trial *large = vs_trial_of(trials, trial->set, search->large, false);
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= trials->items[k]->set == trial->set;
        asked = asked && asked->done ? asked : NULL;
        large = large && large->done ? large : NULL;
        bool had_none = trial->why && trial->run.answer != VS_FIT_UNKNOWN; /* in the list of these */
        if (again || (!asked && !large) || (had_none && trial->set))
            continue;
        if (trial->set == search->plan)
            *(search->found ? &advice->plan : &advice->nearest) = advice->row_count;
        struct vs_advice_row row = row_of(search, asked, large);
        VS_VEC_ADD(advice->rows, advice->row_count, capacity, row);
    }
    add_shards(search, advice, &capacity);
    if (!search->found)
        advice->plan = advice->row_count;
    advice->answer = search->found ? VS_FIT_YES : VS_FIT_NO;
    advice->interrupted = vs_fit_interrupted() && advice->row_count;
    if (advice->interrupted && !search->found) {
        advice->answer = VS_FIT_UNKNOWN;
        advice->why = "interrupted";
    } else if (as_it_is->answer == VS_FIT_UNKNOWN || !search->base ? !search->found : !search->base->fits) {
        const struct vs_fit_run *failed = as_it_is->answer == VS_FIT_UNKNOWN || !search->base
                                              ? as_it_is : &search->base->run;
        advice->answer = VS_FIT_UNKNOWN;
        advice->errors = failed->errors;
        advice->why = *failed->why ? failed->why : "it does not fit on a GPU of 1 TiB either";
        return;
    }
    if (search->plan)
        add_steps(search, search->plan, advice);
    add_left(search, advice);
}
