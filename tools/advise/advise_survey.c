/* SPDX-License-Identifier: Apache-2.0
 *
 * The survey of a run (docs/advise.md): JSON that vramscope's Python part wrote about the program. Members
 * may be missing: what they would say is then unknown, and changes that need them are not tried. */
#include <dirent.h>
#include <json.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"
#include "tools/advise/advise_internal.h"

static struct json_object *member(struct json_object *of, const char *key)
{
    struct json_object *value = NULL;
    return json_object_is_type(of, json_type_object) && json_object_object_get_ex(of, key, &value) ? value
                                                                                                 : NULL;
}

static uint64_t number(struct json_object *of, const char *key)
{
    struct json_object *value = member(of, key);
    int64_t n = value ? json_object_get_int64(value) : 0;
    return n > 0 ? (uint64_t)n : 0;
}

static const char *text(struct json_object *of, const char *key, struct vs_arena *memory)
{
    struct json_object *value = member(of, key);
    bool is_text = json_object_is_type(value, json_type_string);
    return is_text ? vs_xarena_text(memory, json_object_get_string(value)) : "";
}

static size_t length(struct json_object *list)
{
    return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

/* true, or unknown, as of an optimizer whose value is chosen by PyTorch. */
static bool is_not(struct json_object *of, const char *key, bool value)
{
    struct json_object *found = member(of, key);
    return !found || json_object_get_boolean(found) != value;
}

static int most_activations(const void *a, const void *b)
{
    const struct vs_survey_list *x = a, *y = b;
    return x->activation_bytes != y->activation_bytes ? (x->activation_bytes < y->activation_bytes ? 1 : -1)
                                                      : strcmp(x->path, y->path);
}

static void read_lists(struct json_object *lists, struct vs_arena *memory, struct vs_survey *out)
{
    out->lists = vs_xarena(memory, (length(lists) + 1) * sizeof *out->lists);
    for (size_t i = 0; i < length(lists); i++) {
        struct json_object *list = json_object_array_get_idx(lists, i);
        struct vs_survey_list *one = &out->lists[out->list_count];
        *one = (struct vs_survey_list){
            .path = text(list, "path", memory), .type = text(list, "class", memory),
            .place = text(list, "place", memory), .count = number(list, "count"),
            .activation_bytes = number(list, "activation_bytes"),
            .parameter_bytes = number(list, "parameter_bytes"),
            .ready = json_object_get_boolean(member(list, "checkpointed")) ||
                     json_object_get_boolean(member(list, "compiled"))};
        out->list_count += *one->path != 0;
    }
    qsort(out->lists, out->list_count, sizeof *out->lists, most_activations);
}

static void read_optimizers(struct json_object *list, struct vs_arena *memory, struct vs_survey *out)
{
    static const char *const fused[] = {"Adam", "AdamW", "SGD", "Adagrad"};
    for (size_t i = 0; i < length(list); i++) {
        struct json_object *one = json_object_array_get_idx(list, i);
        const char *type = text(one, "class", memory);
        struct json_object *types = member(one, "dtypes");
        bool may_fuse = false;
        for (size_t k = 0; k < sizeof fused / sizeof *fused; k++)
            may_fuse |= strcmp(type, fused[k]) == 0;
        out->optimizers = true;
        out->may_fuse |= may_fuse && is_not(one, "fused", true);
        out->may_foreach_off |= is_not(one, "fused", true) && is_not(one, "foreach", false);
        struct json_object *none = member(one, "set_to_none");
        out->keeps_gradients |= none && json_object_is_type(none, json_type_boolean) &&
                                !json_object_get_boolean(none);
        out->state_bytes += number(one, "state_bytes");
        for (size_t k = 0; k < length(types); k++) {
            const char *name = json_object_get_string(json_object_array_get_idx(types, k));
            out->state_float32 |= name && strcmp(name, "float32") == 0;
        }
    }
}

static void read_file(const char *path, struct vs_arena *memory, struct vs_survey *out)
{
    struct json_object *root = json_object_from_file(path);
    *out = (struct vs_survey){.torch = "", .kind = ""};
    if (strcmp(text(root, "schema", memory), "vramscope.survey/1") == 0) {
        out->known = true;
        out->torch = text(root, "torch", memory);
        read_lists(member(root, "module_lists"), memory, out);
        read_optimizers(member(root, "optimizers"), memory, out);
        out->autocast = member(root, "autocast") != NULL;
        out->parameter_bytes = number(member(root, "parameters"), "bytes");
        out->float32_bytes = number(member(root, "parameters"), "float32");
        struct json_object *losses = member(root, "losses"), *attention = member(root, "attention");
        for (size_t i = 0; i < length(losses); i++) {
            uint64_t bytes = number(json_object_array_get_idx(losses, i), "bytes");
            out->loss_bytes = bytes > out->loss_bytes ? bytes : out->loss_bytes;
        }
        for (size_t i = 0; i < length(attention); i++) {
            const char *backend = text(json_object_array_get_idx(attention, i), "backend", memory);
            out->attention = true;
            out->math_attention |= strcmp(backend, "math") == 0;
        }
        struct json_object *distributed = member(root, "distributed");
        out->processes = number(distributed, "world_size");
        out->kind = text(distributed, "kind", memory);
    }
    json_object_put(root);
}

void vs_survey_read(const char *folder, uint64_t pid, struct vs_arena *memory, struct vs_survey *out)
{
    char name[64], path[PATH_MAX + 512];
    struct vs_survey best = {.torch = "", .kind = ""};
    DIR *dir = opendir(folder);
    struct dirent *entry;
    snprintf(name, sizeof name, "survey.%llu.json", (unsigned long long)pid);
    while (dir && (entry = readdir(dir))) {
        struct vs_survey found;
        if (!vs_text_begins(entry->d_name, "survey.") || !vs_text_ends(entry->d_name, ".json"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        read_file(path, memory, &found);
        if (found.known && (!best.known || strcmp(entry->d_name, name) == 0))
            best = found;
    }
    if (dir)
        closedir(dir);
    *out = best;
}
