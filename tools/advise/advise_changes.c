/* SPDX-License-Identifier: Apache-2.0
 *
 * The changes that can be tried, in the order of their cost: settings of the allocator, those of the survey that
 * vramscope's Python part wrote about the program (python/vramscope/changes/advised.py). Values of --vary come
 * behind a batch in parts, which trains the same, and before changes of the model. A change that excludes another
 * one shares a group with it. */
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "tools/advise/advise_internal.h"

enum { CONF = 1, BATCH = 2 }; /* groups: the first two of the names */

static void put(struct vs_advise_changes *changes, struct vs_advise_change change)
{
    if (changes->count < VS_CHANGES_MAX)
        changes->items[changes->count++] = change;
}

/* --- the survey: JSON, whose members may be missing --- */

static struct json_object *member(struct json_object *of, const char *key)
{
    struct json_object *value = NULL;
    return json_object_is_type(of, json_type_object) && json_object_object_get_ex(of, key, &value) ? value
                                                                                                 : NULL;
}

static uint64_t number(struct json_object *of, const char *key)
{
    int64_t n = json_object_get_int64(member(of, key));
    return n > 0 ? (uint64_t)n : 0;
}

/* NULL: it is null or missing. */
static const char *text(struct json_object *of, const char *key, struct vs_arena *memory)
{
    return vs_xarena_text(memory, json_object_get_string(member(of, key)));
}

static struct json_object *item(struct json_object *list, size_t i)
{
    bool has = json_object_is_type(list, json_type_array) && i < json_object_array_length(list);
    return has ? json_object_array_get_idx(list, i) : NULL;
}

/* The bit of the group *word*. */
static unsigned group_of(const char *word)
{
    static const char *const words[] = {"settings", "batch", "gradients", "step", "attention", "blocks", "loss",
                                        "offload", "state", "type", "adapter"};
    unsigned i = 0;
    while (i < sizeof words / sizeof *words && !vs_text_same(word, words[i]))
        i++;
    return 1u << i;
}

void vs_survey_read(const char *folder, uint64_t pid, struct vs_arena *memory, struct vs_survey *out)
{
    char name[64], path[PATH_MAX + 512];
    struct json_object *best = NULL;
    DIR *dir = opendir(folder);
    snprintf(name, sizeof name, "survey.%llu.json", (unsigned long long)pid);
    for (struct dirent *entry; (entry = vs_tool_entry(&dir));) {
        if (!vs_text_begins(entry->d_name, "survey.") || !vs_text_ends(entry->d_name, ".json") ||
            (best && strcmp(entry->d_name, name) != 0))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        struct json_object *found = json_object_from_file(path);
        bool known = vs_text_same(text(found, "schema", memory), "vramscope.survey/1");
        json_object_put(known ? best : found);
        best = known ? found : best;
    }
    *out = (struct vs_survey){.json = best, .torch = text(best, "torch", memory),
                              .processes = number(member(best, "distributed"), "world_size"),
                              .kind = text(member(best, "distributed"), "kind", memory)};
    struct json_object *blocks = item(member(best, "module_lists"), 0);
    if (number(blocks, "count"))
        out->gathered_bytes = 2 * number(blocks, "parameter_bytes") / number(blocks, "count");
}

/* *model*: those that train something else, otherwise those that do not. */
static void put_surveyed(const struct vs_survey *survey, bool model, uint64_t peak, struct vs_arena *memory,
                         struct vs_advise_changes *out)
{
    struct json_object *row, *group;
    for (size_t i = 0; (row = item(member(survey->json, "changes"), i)); i++) {
        struct vs_advise_change change = {
            .spec = text(row, "change", memory), .label = text(row, "label", memory),
            .tier = text(row, "tier", memory), .needs = text(row, "needs", memory),
            .absent = text(row, "absent", memory)};
        for (size_t k = 0; (group = item(member(row, "groups"), k)); k++)
            change.groups |= group_of(json_object_get_string(group));
        if (!change.absent && number(row, "bytes") * 100 < peak)
            change.absent = text(row, "few", memory);
        if (change.spec && change.label && model == vs_text_same(change.tier, "model"))
            put(out, change);
    }
}

void vs_changes_list(const struct vs_advise_job *job, const struct vs_survey *survey, uint64_t peak,
                     struct vs_arena *memory, struct vs_advise_changes *out)
{
    static const char *const confs[][2] = {{"expandable_segments:True", "expandable_segments"},
                                           {"max_split_size_mb:128", "max_split_size_mb:128"}};
    for (size_t i = 0; i < sizeof confs / sizeof *confs; i++)
        put(out, (struct vs_advise_change){.conf = confs[i][0], .label = confs[i][1], .groups = CONF,
                                           .tier = "settings", .needs = "cache"});
    put_surveyed(survey, false, peak, memory, out);
    for (size_t i = job->fit.vary ? job->fit.value_count : 0; i-- > 0;) /* the largest first */
        if (job->fit.values[i] != job->base_value)
            put(out, (struct vs_advise_change){
                .value = job->fit.values[i], .tier = "batch", .groups = BATCH,
                .label = vs_xarena_printf(memory, "%s%s%s", job->fit.vary, *job->fit.vary ? " " : "",
                                          job->fit.values[i])});
    if (job->lora)
        put_surveyed(survey, true, peak, memory, out);
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
