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
    TYPE = 256, BATCH = 512, ADAPTER = 1024, SHARDS = 2048
};

static struct vs_advise_change *put(struct vs_advise_changes *changes, struct vs_advise_change change)
{
    if (changes->count < VS_CHANGES_MAX)
        changes->items[changes->count++] = change;
    return &changes->items[changes->count - 1];
}

/* Whether *inner* is, or lies in, the module list *outer*. */
static bool is_within(const char *inner, const char *outer)
{
    size_t length = strlen(outer);
    return strncmp(inner, outer, length) == 0 && (!inner[length] || inner[length] == '.');
}

/* One change for all lists of blocks that hold much: those with a tenth of the activations of the
 * largest. Of lists that contain each other, the one with more activations. *what* comes before
 * its path. NULL: there is none. */
static const char *of_lists(const struct vs_survey *survey, const char *what, const char *after,
                            struct vs_arena *memory)
{
    const char *spec = NULL;
    for (size_t i = 0; i < survey->list_count; i++) {
        const struct vs_survey_list *list = &survey->lists[i];
        bool nested = list->checkpointed || list->activation_bytes * 10 < survey->lists[0].activation_bytes;
        for (size_t k = 0; k < i; k++)
            nested |= !survey->lists[k].checkpointed && (is_within(list->path, survey->lists[k].path) ||
                                                         is_within(survey->lists[k].path, list->path));
        if (!nested)
            spec = vs_xarena_printf(memory, "%s%s%s%s%s", spec ? spec : "", spec ? ";" : "", what,
                                    list->path, after);
    }
    return spec;
}

static void add_checkpoints(const struct vs_survey *survey, uint64_t peak, struct vs_arena *memory,
                            struct vs_advise_changes *out)
{
    static const struct {
        const char *what, *after, *label;
    } forms[] = {{"checkpoint:path=", ",every=2", "checkpoint every 2nd"},
                 {"checkpoint-ops:path=", "", "selective checkpoint"},
                 {"checkpoint:path=", ",every=1", "checkpoint each block"}};
    uint64_t bytes = 0;
    bool checkpointed = survey->list_count > 0;
    for (size_t i = 0; i < survey->list_count; i++) {
        bytes += survey->lists[i].checkpointed ? 0 : survey->lists[i].activation_bytes;
        checkpointed = checkpointed && survey->lists[i].checkpointed;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *spec = of_lists(survey, forms[i].what, forms[i].after, memory);
        put(out, (struct vs_advise_change){
            .spec = spec ? spec : forms[i].what, .label = forms[i].label, .tier = VS_TIER_RECOMPUTATION,
            .need = VS_NEED_ACTIVATIONS, .groups = CHECKPOINT,
            .absent = checkpointed              ? "the repeated blocks are checkpointed already"
                      : !spec                   ? "no list of repeated modules was found"
                      : bytes * 100 < peak      ? "the repeated blocks hold few activations"
                                                : NULL});
    }
}

void vs_changes_list(const struct vs_advise_job *job, const struct vs_survey *survey, uint64_t peak,
                     struct vs_arena *memory, struct vs_advise_changes *out)
{
    static const char *const confs[][2] = {{"expandable_segments:True", "expandable_segments"},
                                           {"max_split_size_mb:128", "max_split_size_mb:128"}};
    const char *no_optimizer = survey->optimizers ? NULL : "no optimizer was found";
    const char *no_state = no_optimizer       ? no_optimizer
                           : !survey->state_bytes ? "the optimizer has no state" : NULL;
    for (size_t i = 0; i < sizeof confs / sizeof *confs; i++)
        put(out, (struct vs_advise_change){.conf = confs[i][0], .label = confs[i][1], .groups = CONF,
                                    .tier = VS_TIER_SETTINGS, .need = VS_NEED_CACHE});
    if (survey->known) {
        put(out, (struct vs_advise_change){
            .spec = "set-to-none", .label = "set_to_none=True", .tier = VS_TIER_FREE, .groups = GRADIENTS,
            .need = VS_NEED_GRADIENTS, .absent = no_optimizer ? no_optimizer : survey->keeps_gradients
                ? NULL : "zero_grad() frees the gradients already"});
        put(out, (struct vs_advise_change){
            .spec = "fused", .label = "fused optimizer", .tier = VS_TIER_FREE, .groups = STEP,
            .need = VS_NEED_OPTIMIZER, .absent = no_optimizer ? no_optimizer : survey->may_fuse
                ? NULL : "the optimizer is fused, or has no fused form"});
        put(out, (struct vs_advise_change){
            .spec = "foreach-off", .label = "foreach=False", .tier = VS_TIER_FREE, .groups = STEP,
            .need = VS_NEED_OPTIMIZER, .absent = no_optimizer ? no_optimizer : survey->may_foreach_off
                ? NULL : "the optimizer makes no lists of temporaries"});
        put(out, (struct vs_advise_change){
            .spec = "sdpa:backend=efficient", .label = "sdpa efficient", .tier = VS_TIER_FREE,
            .groups = ATTENTION, .absent = survey->math_attention ? NULL
                : survey->attention ? "attention does not use the math backend"
                                    : "scaled_dot_product_attention is not called"});
        add_checkpoints(survey, peak, memory, out);
        put(out, (struct vs_advise_change){
            .spec = "chunked-loss:chunks=8", .label = "loss in 8 chunks", .tier = VS_TIER_RECOMPUTATION,
            .groups = LOSS, .absent = !survey->loss_bytes ? "no loss over classes was found"
                : survey->loss_bytes * 100 < peak ? "the loss holds little memory" : NULL});
        put(out, (struct vs_advise_change){.spec = "offload-activations", .label = "offload activations",
                                    .tier = VS_TIER_COPIES, .need = VS_NEED_ACTIVATIONS, .groups = OFFLOAD,
                                    .absent = survey->optimizers ? NULL : "no training was seen"});
        put(out, (struct vs_advise_change){.spec = "offload-optimizer", .label = "offload optimizer",
                                    .tier = VS_TIER_COPIES, .need = VS_NEED_STATE, .groups = STATE | STEP,
                                    .absent = no_state});
        put(out, (struct vs_advise_change){
            .spec = "autocast", .label = "bf16 autocast", .tier = VS_TIER_PRECISION, .groups = TYPE,
            .need = VS_NEED_ACTIVATIONS, .absent = survey->autocast ? "autocast is used already"
                : !survey->float32_bytes ? "the parameters are not float32" : NULL});
        put(out, (struct vs_advise_change){
            .spec = "optimizer-bf16", .label = "bf16 optimizer state", .tier = VS_TIER_PRECISION,
            .need = VS_NEED_STATE, .groups = STATE | STEP, .absent = no_state ? no_state
                : survey->state_float32 ? NULL : "the optimizer's state is not float32"});
        put(out, (struct vs_advise_change){.spec = "optimizer-8bit", .label = "8-bit optimizer state",
                                    .tier = VS_TIER_PRECISION, .need = VS_NEED_STATE,
                                    .groups = STATE | STEP, .absent = no_state});
    }
    if (job->fit.vary) { /* the largest first */
        for (size_t i = job->fit.value_count; i-- > 0;) {
            const char *value = job->fit.values[i];
            if (value == job->base_value)
                continue;
            put(out, (struct vs_advise_change){
                .value = value, .tier = VS_TIER_BATCH, .groups = BATCH,
                .label = vs_xarena_printf(memory, "%s%s%s", job->fit.vary, *job->fit.vary ? " " : "", value)});
        }
    }
    if (survey->known)
        for (unsigned parts = 2; parts <= 8; parts *= 2)
            put(out, (struct vs_advise_change){
                .spec = vs_xarena_printf(memory, "accumulate:steps=%u", parts), .tier = VS_TIER_BATCH,
                .label = vs_xarena_printf(memory, "batch in %u parts", parts), .need = VS_NEED_ACTIVATIONS,
                .groups = BATCH, .absent = no_optimizer});
    if (job->lora && survey->known)
        put(out, (struct vs_advise_change){.spec = "lora:rank=16", .label = "LoRA rank 16", .tier = VS_TIER_MODEL,
                                    .groups = ADAPTER | STATE | STEP});
    if (survey->distributed && strcmp(survey->kind, "fsdp2") != 0) {
        const char *spec = of_lists(survey, "fsdp2:wrap=", "", memory);
        put(out, (struct vs_advise_change){.spec = spec ? spec : "fsdp2", .label = "FSDP2", .tier = VS_TIER_MODEL,
                                    .groups = SHARDS,
                                    .absent = spec ? NULL : "no list of repeated modules was found"});
    }
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
