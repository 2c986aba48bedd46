/* SPDX-License-Identifier: Apache-2.0
 *
 * The changes that can be tried, in the order of their cost, each with the reason why it might help this
 * program or why it cannot. A change that excludes another one shares a group with it. */
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "tools/advise/advise_internal.h"

enum group {
    CONF = 1, GRADIENTS = 2, STEP = 4, ATTENTION = 8, CHECKPOINT = 16, LOSS = 32, OFFLOAD = 64, STATE = 128,
    TYPE = 256, BATCH = 512, ADAPTER = 1024
};

static void put(struct vs_advise_changes *changes, struct vs_advise_change change)
{
    if (changes->count < VS_CHANGES_MAX)
        changes->items[changes->count++] = change;
}

/* Whether *inner* is, or lies in, the module list *outer*. */
static bool is_within(const char *inner, const char *outer)
{
    size_t length = strlen(outer);
    return strncmp(inner, outer, length) == 0 && (!inner[length] || inner[length] == '.');
}

/* *spec*; if it has a path, once for each list of blocks that holds much: those with a tenth of the
 * activations of the largest, of lists that contain each other the one with more. */
static const char *of_lists(const struct vs_survey *survey, const char *spec, struct vs_arena *memory)
{
    const char *path = strstr(spec, "%s"), *joined = "";
    for (size_t i = 0; path && i < survey->list_count; i++) {
        const struct vs_survey_list *list = &survey->lists[i];
        bool nested = list->ready || list->activation_bytes * 10 < survey->lists[0].activation_bytes;
        for (size_t k = 0; k < i; k++)
            nested |= !survey->lists[k].ready && (is_within(list->path, survey->lists[k].path) ||
                                                  is_within(survey->lists[k].path, list->path));
        if (!nested)
            joined = vs_xarena_printf(memory, "%s%s%.*s%s%s", joined, *joined ? ";" : "", (int)(path - spec),
                                      spec, list->path, path + 2);
    }
    return path && *joined ? joined : spec;
}

/* What each change needs of the program: the members of the survey that it is judged by. */
enum what {
    GRADIENTS_KEPT, FUSED, FOREACH, MATH_ATTENTION, BLOCKS, LARGE_LOSS, TRAINING, STATE_ANY, FLOAT32, STATE_FLOAT32
};

/* In the order in which they are tried. "%s" stands for the path of a list of modules. */
static const struct form {
    const char *spec, *label;
    enum vs_tier tier;
    enum vs_need need;
    enum what what;
    unsigned groups;
} forms[] = {
    {"set-to-none", "set_to_none=True", VS_TIER_FREE, VS_NEED_GRADIENTS, GRADIENTS_KEPT, GRADIENTS},
    {"fused", "fused optimizer", VS_TIER_FREE, VS_NEED_OPTIMIZER, FUSED, STEP},
    {"foreach-off", "foreach=False", VS_TIER_FREE, VS_NEED_OPTIMIZER, FOREACH, STEP},
    {"sdpa:backend=efficient", "sdpa efficient", VS_TIER_FREE, VS_NEED_NOTHING, MATH_ATTENTION, ATTENTION},
    {"checkpoint:path=%s,every=2", "checkpoint every 2nd", VS_TIER_RECOMPUTATION, VS_NEED_ACTIVATIONS, BLOCKS,
     CHECKPOINT},
    {"checkpoint-ops:path=%s", "selective checkpoint", VS_TIER_RECOMPUTATION, VS_NEED_ACTIVATIONS, BLOCKS,
     CHECKPOINT},
    {"checkpoint:path=%s,every=1", "checkpoint each block", VS_TIER_RECOMPUTATION, VS_NEED_ACTIVATIONS, BLOCKS,
     CHECKPOINT},
    {"chunked-loss:chunks=8", "loss in 8 chunks", VS_TIER_RECOMPUTATION, VS_NEED_NOTHING, LARGE_LOSS, LOSS},
    {"offload-activations", "offload activations", VS_TIER_COPIES, VS_NEED_ACTIVATIONS, TRAINING, OFFLOAD},
    {"offload-optimizer", "offload optimizer", VS_TIER_COPIES, VS_NEED_STATE, STATE_ANY, STATE | STEP},
    {"autocast", "bf16 autocast", VS_TIER_PRECISION, VS_NEED_ACTIVATIONS, FLOAT32, TYPE},
    {"optimizer-bf16", "bf16 optimizer state", VS_TIER_PRECISION, VS_NEED_STATE, STATE_FLOAT32, STATE | STEP},
    {"optimizer-8bit", "8-bit optimizer state", VS_TIER_PRECISION, VS_NEED_STATE, STATE_ANY, STATE | STEP},
    {"accumulate:steps=2", "batch in 2 parts", VS_TIER_BATCH, VS_NEED_ACTIVATIONS, TRAINING, BATCH},
    {"accumulate:steps=4", "batch in 4 parts", VS_TIER_BATCH, VS_NEED_ACTIVATIONS, TRAINING, BATCH},
    {"accumulate:steps=8", "batch in 8 parts", VS_TIER_BATCH, VS_NEED_ACTIVATIONS, TRAINING, BATCH},
    {"lora:rank=16", "LoRA rank 16", VS_TIER_MODEL, VS_NEED_NOTHING, TRAINING, ADAPTER | STATE | STEP},
};
#define FORMS (sizeof forms / sizeof *forms)
#define BLOCKS_AT 4u /* the first of BLOCKS, and LARGE_LOSS behind them */
#define LOSS_AT 7u
#define LOSS_COPIES 4 /* of logits in 16 bits: in 32 bits, and its gradient */

static const char *why_no_blocks(const struct vs_survey *survey, uint64_t peak)
{
    uint64_t bytes = 0;
    bool ready = true;
    for (size_t i = 0; i < survey->list_count; i++) {
        bytes += survey->lists[i].ready ? 0 : survey->lists[i].activation_bytes;
        ready = ready && survey->lists[i].ready;
    }
    return !survey->list_count  ? "no list of repeated modules was found"
           : ready              ? "the repeated blocks are checkpointed or compiled already"
           : bytes * 100 < peak ? "the repeated blocks hold few activations" : NULL;
}

/* Why a change can do nothing for this program; NULL: it may. */
static const char *why_absent(enum what what, const struct vs_survey *survey, uint64_t peak)
{
    if (what != FLOAT32 && !survey->optimizers)
        return "no optimizer was created: this is no training";
    switch (what) {
    case GRADIENTS_KEPT: return survey->keeps_gradients ? NULL : "zero_grad() frees the gradients already";
    case FUSED: return survey->may_fuse ? NULL : "the optimizer is fused, or has no fused form";
    case FOREACH: return survey->may_foreach_off ? NULL : "the optimizer makes no lists of temporaries";
    case MATH_ATTENTION:
        return survey->math_attention ? NULL
               : survey->attention    ? "attention does not use the math backend"
                                      : "scaled_dot_product_attention is not called";
    case BLOCKS: return why_no_blocks(survey, peak);
    case LARGE_LOSS:
        return !survey->loss_bytes               ? "no loss over classes was found"
               : survey->loss_bytes * 100 < peak ? "the loss holds little memory" : NULL;
    case FLOAT32:
        return survey->autocast        ? "autocast is used already"
               : survey->float32_bytes ? NULL : "the parameters are not float32";
    case STATE_FLOAT32:
        if (survey->state_bytes && !survey->state_float32)
            return "the optimizer's state is not float32";
        /* fall through */
    case STATE_ANY: return survey->state_bytes ? NULL : "the optimizer has no state";
    default: return NULL;
    }
}

void vs_changes_list(const struct vs_advise_job *job, const struct vs_survey *survey, uint64_t peak,
                     struct vs_arena *memory, struct vs_advise_changes *out)
{
    static const char *const confs[][2] = {{"expandable_segments:True", "expandable_segments"},
                                           {"max_split_size_mb:128", "max_split_size_mb:128"}};
    for (size_t i = 0; i < sizeof confs / sizeof *confs; i++)
        put(out, (struct vs_advise_change){.conf = confs[i][0], .label = confs[i][1], .groups = CONF,
                                           .tier = VS_TIER_SETTINGS, .need = VS_NEED_CACHE});
    bool loss_first = survey->list_count && LOSS_COPIES * survey->loss_bytes > survey->lists[0].activation_bytes;
    for (size_t f = 0; survey->known && f < FORMS; f++) {
        /* of the two that compute again, the one that holds more comes first */
        const struct form *form = &forms[!loss_first || f < BLOCKS_AT || f > LOSS_AT ? f
                                         : f == BLOCKS_AT                           ? LOSS_AT : f - 1];
        if (form->groups != (ADAPTER | STATE | STEP) || job->lora)
            put(out, (struct vs_advise_change){
                .spec = of_lists(survey, form->spec, memory), .label = form->label, .tier = form->tier,
                .need = form->need, .groups = form->groups, .absent = why_absent(form->what, survey, peak)});
    }
    for (size_t i = job->fit.vary ? job->fit.value_count : 0; i-- > 0;) /* the largest first */
        if (job->fit.values[i] != job->base_value)
            put(out, (struct vs_advise_change){
                .value = job->fit.values[i], .tier = VS_TIER_BATCH, .groups = BATCH,
                .label = vs_xarena_printf(memory, "%s%s%s", job->fit.vary, *job->fit.vary ? " " : "",
                                          job->fit.values[i])});
}

const char *vs_set_join(const struct vs_advise_changes *changes, uint64_t set, bool conf, const char *between,
                        struct vs_arena *memory)
{
    const char *joined = "";
    for (size_t i = 0; i < changes->count; i++) {
        const char *text = conf ? changes->items[i].conf : changes->items[i].spec;
        if ((set >> i & 1) && text)
            joined = vs_xarena_printf(memory, "%s%s%s", joined, *joined ? between : "", text);
    }
    return joined;
}

const char *vs_set_label(const struct vs_advise_changes *changes, uint64_t set, struct vs_arena *memory)
{
    const char *joined = "";
    for (size_t i = 0; i < changes->count; i++)
        if (set >> i & 1)
            joined = vs_xarena_printf(memory, "%s%s%s", joined, *joined ? " + " : "",
                                      changes->items[i].label);
    return *joined ? joined : "as it is";
}

const char *vs_set_value(const struct vs_advise_job *job, const struct vs_advise_changes *changes, uint64_t set)
{
    for (size_t i = 0; i < changes->count; i++)
        if ((set >> i & 1) && changes->items[i].value)
            return changes->items[i].value;
    return job->base_value;
}
