/* SPDX-License-Identifier: Apache-2.0
 *
 * Updates and writes baselines; see baseline.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/baseline_internal.h"

#include "base/reading/vs_xalloc.h"

struct json_object *vs_baseline_object(struct json_object *object, const char *key)
{
    struct json_object *value;
    if (json_object_object_get_ex(object, key, &value) && json_object_is_type(value, json_type_object))
        return value;
    value = json_object_new_object();
    if (!value || json_object_object_add(object, key, value))
        vs_out_of_memory();
    return value;
}

void vs_baseline_put(struct json_object *object, const char *key, uint64_t number)
{
    struct json_object *value = json_object_new_int64((int64_t)number);
    if (!value || json_object_object_add(object, key, value))
        vs_out_of_memory();
}

static void put_quantity(struct json_object *process, const struct vs_quantity *quantity)
{
    char device[VS_DEVICE_KEY_MAX], key[64];
    struct json_object *at = vs_baseline_object(process, quantity->phase ? "phases" : "devices");
    if (quantity->phase)
        at = vs_baseline_object(at, quantity->phase);
    snprintf(device, sizeof device, "%" PRIu64, quantity->device);
    vs_baseline_put(vs_baseline_object(at, device), vs_baseline_key(quantity, key), quantity->value);
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

static bool same_number(struct json_object *a, struct json_object *b, const char *key)
{
    uint64_t x, y;
    return vs_baseline_number(vs_baseline_member(a, key, json_type_int), &x) &&
           vs_baseline_number(vs_baseline_member(b, key, json_type_int), &y) && x == y;
}

static bool same_list(struct json_object *a, struct json_object *b, const char *key)
{
    return json_object_equal(vs_baseline_member(a, key, json_type_object),
                             vs_baseline_member(b, key, json_type_object));
}

/* Which of several threads requests a segment that all use differs from run to run, and with it the
 * time of the peak. Where the value and the lines of allocated are as before, or the live blocks and what
 * is cached, the lists of *before* stay, so that the file does not change without a change of the program. */
static void keep_reserved(struct json_object *before, struct json_object *now, bool same_value)
{
    static const char *const lists[] = {"reserved in use", "reserved unused"};
    struct json_object *old = vs_baseline_member(before, lists[1], json_type_object);
    struct json_object *new = vs_baseline_member(now, lists[1], json_type_object);
    bool same_live = vs_baseline_member(before, lists[0], json_type_object) && same_list(before, now, lists[0]);
    if (!old || !new || !((same_value && same_list(before, now, "allocated")) ||
                          (same_live && sum_of(old) == sum_of(new))))
        return;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct json_object *list = vs_baseline_member(before, lists[i], json_type_object);
        json_object_object_del(now, lists[i]); /* a phase's live blocks may be those of allocated */
        if (list)
            json_object_object_add(now, lists[i], json_object_get(list));
    }
}

/* The parts of a process of a baseline, before an update. */
struct former_process {
    struct json_object *devices, *phases, *sites;
};

/* Of the whole program. */
static void keep_sites(const struct former_process *before, struct json_object *process)
{
    struct json_object *sites = vs_baseline_member(process, "sites", json_type_object);
    struct json_object *values = vs_baseline_member(process, "devices", json_type_object);
    if (!sites)
        return;
    json_object_object_foreach(sites, device, now) {
        struct json_object *old = vs_baseline_member(before->devices, device, json_type_object);
        struct json_object *new = vs_baseline_member(values, device, json_type_object);
        keep_reserved(vs_baseline_member(before->sites, device, json_type_object), now,
                      same_number(old, new, "reserved"));
    }
}

static void keep_sites_of_phases(const struct former_process *before, struct json_object *process)
{
    struct json_object *phases = vs_baseline_member(process, "phases", json_type_object);
    if (!phases)
        return;
    json_object_object_foreach(phases, path, devices) {
        struct json_object *former = vs_baseline_member(before->phases, path, json_type_object);
        json_object_object_foreach(devices, device, now) {
            struct json_object *old = vs_baseline_member(former, device, json_type_object);
            keep_reserved(vs_baseline_member(old, "sites", json_type_object),
                          vs_baseline_member(now, "sites", json_type_object), same_number(old, now, "reserved"));
        }
    }
}

void vs_baseline_update(struct vs_baseline *baseline, const char *process,
                        const struct vs_taken *taken, bool readings)
{
    static const char *const replaced[] = {"devices", "phases", "sites"};
    struct json_object *schema = json_object_new_string(VS_BASELINE_SCHEMA);
    if (!schema || json_object_object_add(baseline->root, "schema", schema))
        vs_out_of_memory();
    struct json_object *at = vs_baseline_object(vs_baseline_object(baseline->root, "processes"), process);
    readings |= vs_baseline_has_readings(baseline, process);
    vs_baseline_put(at, "steps", taken->steps);
    const struct former_process before = {
        .devices = json_object_get(vs_baseline_member(at, "devices", json_type_object)),
        .phases = json_object_get(vs_baseline_member(at, "phases", json_type_object)),
        .sites = json_object_get(vs_baseline_member(at, "sites", json_type_object))};
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        json_object_object_del(at, replaced[i]); /* a phase or device that is gone must not stay */
    for (size_t i = 0; i < taken->count; i++) {
        const struct vs_quantity *quantity = &taken->items[i].quantity;
        if (vs_baseline_kept(quantity) && (readings || !vs_baseline_is_reading(quantity)))
            put_quantity(at, quantity);
    }
    vs_baseline_put_sites(at, taken, readings);
    keep_sites(&before, at);
    keep_sites_of_phases(&before, at);
    json_object_put(before.devices);
    json_object_put(before.phases);
    json_object_put(before.sites);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

#define LINE_MEMBERS_MAX 4

/* Whether the value has few members, none of them an object or array: it goes on one line. */
static bool is_flat(struct json_object *value)
{
    bool flat = true;
    if (json_object_is_type(value, json_type_object) && json_object_object_length(value) > LINE_MEMBERS_MAX)
        return false;
    if (json_object_is_type(value, json_type_array))
        return json_object_array_length(value) == 0;
    if (!json_object_is_type(value, json_type_object))
        return true;
    json_object_object_foreach(value, key, member) {
        (void)key;
        flat &= !json_object_is_type(member, json_type_object) && !json_object_is_type(member, json_type_array);
    }
    return flat;
}

static void write_value(struct json_object *value, unsigned depth, FILE *out);

/* Members in the order of their names; json-c has them in the order in which they were added. */
static void write_object(struct json_object *value, unsigned depth, FILE *out)
{
    size_t count = 0, members = (size_t)json_object_object_length(value);
    bool flat = is_flat(value);
    const char **keys = vs_xcalloc(members + 1, sizeof *keys);
    json_object_object_foreach(value, key, member) {
        (void)member;
        keys[count++] = key;
    }
    qsort(keys, count, sizeof *keys, by_text);
    fputs("{", out);
    for (size_t i = 0; i < count; i++) {
        struct json_object *name = json_object_new_string(keys[i]);
        if (flat)
            fputs(i ? ", " : "", out);
        else
            fprintf(out, "%s\n%*s", i ? "," : "", (int)(2 * depth + 2), "");
        if (name)
            write_value(name, depth, out);
        json_object_put(name);
        fputs(": ", out);
        write_value(json_object_object_get(value, keys[i]), depth + 1, out);
    }
    if (!flat)
        fprintf(out, "\n%*s", (int)(2 * depth), "");
    fputs("}", out);
    free(keys);
}

/* A call site, and the quantities of a phase, are a line each: few lines to review. */
static void write_value(struct json_object *value, unsigned depth, FILE *out)
{
    if (json_object_is_type(value, json_type_object)) {
        write_object(value, depth, out);
    } else if (json_object_is_type(value, json_type_array) && !is_flat(value)) {
        fputs("[", out);
        for (size_t i = 0; i < json_object_array_length(value); i++) {
            fprintf(out, "%s\n%*s", i ? "," : "", (int)(2 * depth + 2), "");
            write_value(json_object_array_get_idx(value, i), depth + 1, out);
        }
        fprintf(out, "\n%*s]", (int)(2 * depth), "");
    } else {
        const char *text = json_object_to_json_string_ext(
            value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
        if (!text)
            vs_out_of_memory();
        fputs(text, out);
    }
}

void vs_baseline_write(const struct vs_baseline *baseline, FILE *out)
{
    write_value(baseline->root, 0, out);
    fputc('\n', out);
}
