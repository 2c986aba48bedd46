/* SPDX-License-Identifier: Apache-2.0
 *
 * Updates and writes baselines; see baseline.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/baseline_internal.h"

struct json_object *vs_baseline_object(struct json_object *object, const char *key)
{
    struct json_object *value;
    if (!object)
        return NULL;
    if (json_object_object_get_ex(object, key, &value) && json_object_is_type(value, json_type_object))
        return value;
    value = json_object_new_object();
    if (value && json_object_object_add(object, key, value)) {
        json_object_put(value);
        return NULL;
    }
    return value;
}

bool vs_baseline_put(struct json_object *object, const char *key, uint64_t number)
{
    struct json_object *value = object ? json_object_new_int64((int64_t)number) : NULL;
    if (value && json_object_object_add(object, key, value) == 0)
        return true;
    json_object_put(value);
    return false;
}

static bool put_quantity(struct json_object *process, const struct vs_quantity *quantity)
{
    char device[VS_DEVICE_KEY_MAX], key[64];
    struct json_object *at = vs_baseline_object(process, quantity->phase ? "phases" : "devices");
    if (quantity->phase)
        at = vs_baseline_object(at, quantity->phase);
    snprintf(device, sizeof device, "%" PRIu64, quantity->device);
    return vs_baseline_put(vs_baseline_object(at, device), vs_baseline_key(quantity, key), quantity->value);
}

/* The bytes of all call sites of *list*. */
static uint64_t sum_of(struct json_object *list)
{
    uint64_t sum = 0;
    json_object_object_foreach(list, key, site) {
        uint64_t bytes = 0;
        (void)key;
        vs_baseline_number(vs_baseline_member(site, "bytes", json_type_int), &bytes);
        sum += bytes;
    }
    return sum;
}

/* Which of several threads requests a segment that all use differs from run to run. Where the live
 * blocks and the sum are as before, the list of *before* stays, so that the file does not change without
 * a change of the program. */
static void keep_unused(struct json_object *before, struct json_object *now)
{
    static const char in_use[] = "reserved in use", unused[] = "reserved unused";
    struct json_object *old = vs_baseline_member(before, unused, json_type_object);
    struct json_object *new = vs_baseline_member(now, unused, json_type_object);
    struct json_object *live = vs_baseline_member(before, in_use, json_type_object);
    if (old && new && live && sum_of(old) == sum_of(new) &&
        json_object_equal(live, vs_baseline_member(now, in_use, json_type_object)))
        json_object_object_add(now, unused, json_object_get(old));
}

/* For every device of the object *before*. */
static void keep_unused_of(struct json_object *before, struct json_object *now, bool of_phase)
{
    if (!before || !now)
        return;
    json_object_object_foreach(before, device, lists) {
        struct json_object *new = vs_baseline_member(now, device, json_type_object);
        if (json_object_is_type(lists, json_type_object) && !of_phase)
            keep_unused(lists, new);
        else if (json_object_is_type(lists, json_type_object))
            keep_unused(vs_baseline_member(lists, "sites", json_type_object),
                        vs_baseline_member(new, "sites", json_type_object));
    }
}

static void keep_unused_all(struct json_object *sites, struct json_object *phases, struct json_object *process)
{
    keep_unused_of(sites, vs_baseline_member(process, "sites", json_type_object), false);
    struct json_object *now = vs_baseline_member(process, "phases", json_type_object);
    if (!phases || !now)
        return;
    json_object_object_foreach(phases, path, devices) {
        if (json_object_is_type(devices, json_type_object))
            keep_unused_of(devices, vs_baseline_member(now, path, json_type_object), true);
    }
}

enum vs_err vs_baseline_update(struct vs_baseline *baseline, const char *process,
                               const struct vs_taken *taken)
{
    static const char *const replaced[] = {"devices", "phases", "sites"};
    struct json_object *schema = json_object_new_string(VS_BASELINE_SCHEMA);
    if (!schema || json_object_object_add(baseline->root, "schema", schema))
        return VS_ERR_NOMEM;
    struct json_object *at = vs_baseline_object(vs_baseline_object(baseline->root, "processes"), process);
    enum vs_err err = vs_baseline_put(at, "steps", taken->steps) ? VS_OK : VS_ERR_NOMEM;
    struct json_object *sites = json_object_get(vs_baseline_member(at, "sites", json_type_object));
    struct json_object *phases = json_object_get(vs_baseline_member(at, "phases", json_type_object));
    for (size_t i = 0; !err && i < sizeof replaced / sizeof *replaced; i++)
        json_object_object_del(at, replaced[i]); /* a phase or device that is gone must not stay */
    for (size_t i = 0; !err && i < taken->count; i++) {
        const struct vs_quantity *quantity = &taken->items[i].quantity;
        if (vs_baseline_kept(quantity) && !put_quantity(at, quantity))
            err = VS_ERR_NOMEM;
    }
    if (!err)
        err = vs_baseline_put_sites(at, taken);
    if (!err)
        keep_unused_all(sites, phases, at);
    json_object_put(sites);
    json_object_put(phases);
    return err;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct json_object *sorted(struct json_object *from);

static struct json_object *sorted_array(struct json_object *from)
{
    struct json_object *out = json_object_new_array();
    for (size_t i = 0; out && i < json_object_array_length(from); i++)
        json_object_array_add(out, sorted(json_object_array_get_idx(from, i)));
    return out;
}

/* A copy with sorted keys; json-c writes members in the order in which they were added. NULL for
 * null, and when out of memory. */
static struct json_object *sorted(struct json_object *from)
{
    if (json_object_is_type(from, json_type_array))
        return sorted_array(from);
    if (!json_object_is_type(from, json_type_object))
        return json_object_get(from);
    size_t count = 0, members = (size_t)json_object_object_length(from);
    const char **keys = malloc((members + 1) * sizeof *keys);
    struct json_object *out = keys ? json_object_new_object() : NULL;
    json_object_object_foreach(from, key, value) {
        (void)value;
        if (out)
            keys[count++] = key;
    }
    if (out)
        qsort(keys, count, sizeof *keys, by_text);
    for (size_t i = 0; out && i < count; i++)
        json_object_object_add(out, keys[i], sorted(json_object_object_get(from, keys[i])));
    free(keys);
    return out;
}

enum vs_err vs_baseline_write(const struct vs_baseline *baseline, FILE *out)
{
    struct json_object *copy = sorted(baseline->root);
    const char *text = copy ? json_object_to_json_string_ext(copy, JSON_C_TO_STRING_PRETTY |
                                                                       JSON_C_TO_STRING_SPACED |
                                                                       JSON_C_TO_STRING_NOSLASHESCAPE)
                            : NULL;
    if (text)
        fprintf(out, "%s\n", text);
    json_object_put(copy);
    return text ? VS_OK : VS_ERR_NOMEM;
}
