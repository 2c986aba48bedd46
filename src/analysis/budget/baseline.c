/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads baselines; see the header. A file may have been edited by hand: a member of the wrong type
 * counts as absent. */
#include "analysis/budget/baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/baseline_internal.h"
#include "analysis/budget/budget_key.h"
#include "base/reading/vs_intern.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

#define FILE_BYTES_MAX (64 << 20)

struct vs_baseline *vs_baseline_new(void)
{
    struct vs_baseline *baseline = vs_xcalloc(1, sizeof *baseline);
    baseline->root = json_object_new_object();
    if (!baseline->root)
        vs_out_of_memory();
    return baseline;
}

void vs_baseline_free(struct vs_baseline *baseline)
{
    if (!baseline)
        return;
    json_object_put(baseline->root);
    free(baseline);
}

struct json_object *vs_baseline_member(struct json_object *object, const char *key, enum json_type type)
{
    struct json_object *value;
    if (!object || !json_object_object_get_ex(object, key, &value) ||
        !json_object_is_type(value, type))
        return NULL;
    return value;
}

/* "vramscope.baseline/1" is read; a later number is a later version's. */
static enum vs_err check_schema(struct json_object *root, const char *path, char *why)
{
    struct json_object *schema = vs_baseline_member(root, "schema", json_type_string);
    const char *text = schema ? json_object_get_string(schema) : "";
    const char *stem = "vramscope.baseline/";
    if (strcmp(text, VS_BASELINE_SCHEMA) == 0)
        return VS_OK;
    if (vs_text_begins(text, stem))
        snprintf(why, VS_BUDGET_WHY_MAX,
                 "%.300s: has schema \"%.60s\", this version reads \"" VS_BASELINE_SCHEMA
                 "\"; use a newer vramscope, or another file", path, text);
    else
        snprintf(why, VS_BUDGET_WHY_MAX,
                 "%.300s: not a baseline: it has no \"schema\": \"" VS_BASELINE_SCHEMA
                 "\"; write one with vramscope check TRACE --baseline FILE --update-baseline", path);
    return VS_ERR_ARG;
}

static enum vs_err no_json(const char *path, const char *problem, char *why)
{
    snprintf(why, VS_BUDGET_WHY_MAX, "%.300s: not a baseline: %.60s; restore it, or remove it and write one "
             "with vramscope check TRACE --baseline FILE --update-baseline", path, problem);
    return VS_ERR_ARG;
}

static enum vs_err load(const char *path, char **out, size_t *length, char *why)
{
    enum vs_err err = vs_budget_text_read(path, FILE_BYTES_MAX, out, length);
    int code = errno;
    if (err == VS_ERR_LIMIT)
        return no_json(path, "it is larger than 64 MiB", why);
    if (err == VS_ERR_IO || err == VS_ERR_NOT_FOUND)
        snprintf(why, VS_BUDGET_WHY_MAX, "%.300s: cannot read the baseline: %s; write one with "
                 "vramscope check TRACE --baseline FILE --update-baseline", path, strerror(code));
    return err == VS_ERR_IO ? VS_ERR_ARG : err;
}

/* Whether text follows the JSON object, such as the marks of a merge. */
static bool has_rest(const char *text, size_t length, size_t end)
{
    while (end < length && text[end] && strchr(" \t\r\n", text[end]))
        end++;
    return end < length;
}

static const char *text_of(struct json_object *object, const char *key)
{
    return json_object_get_string(vs_baseline_member(object, key, json_type_string)); /* NULL of NULL */
}

static void put_text(struct json_object *object, const char *key, const char *text)
{
    struct json_object *value = json_object_new_string(text);
    if (!value || json_object_object_add(object, key, value))
        vs_out_of_memory();
}

const char *vs_baseline_arguments(char out[VS_BASELINE_ARGUMENTS_MAX], const char *arguments)
{
    vs_text_hex(stpcpy(out, "fnv1a:"), vs_text_hash(VS_TEXT_HASH_START, arguments));
    return out;
}

/* Earlier versions stored the text. */
static void hide_arguments(struct json_object *root)
{
    VS_EACH_MEMBER(vs_baseline_child(root, "processes"), process) {
        char hash[VS_BASELINE_ARGUMENTS_MAX];
        const char *text = text_of(lh_entry_v(process), "arguments");
        if (text && !vs_text_begins(text, "fnv1a:0x"))
            put_text(lh_entry_v(process), "arguments", vs_baseline_arguments(hash, text));
    }
}

enum vs_err vs_baseline_read(const char *path, struct vs_baseline **out, char *why)
{
    char *text;
    size_t length;
    enum vs_err err = load(path, &text, &length, why);
    if (err)
        return err;
    struct vs_baseline *baseline = vs_xcalloc(1, sizeof *baseline);
    struct json_tokener *parser = json_tokener_new();
    if (!parser)
        vs_out_of_memory();
    json_tokener_set_flags(parser, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
    baseline->root = json_tokener_parse_ex(parser, text, (int)length);
    enum json_tokener_error problem = json_tokener_get_error(parser);
    if (problem == json_tokener_continue)
        err = no_json(path, "the JSON text ends too early", why);
    else if (!baseline->root)
        err = no_json(path, json_tokener_error_desc(problem), why);
    else if (!json_object_is_type(baseline->root, json_type_object))
        err = no_json(path, "it is not a JSON object", why);
    else if (has_rest(text, length, json_tokener_get_parse_end(parser)))
        err = no_json(path, "more text follows the JSON object", why);
    else
        err = check_schema(baseline->root, path, why);
    json_tokener_free(parser);
    free(text);
    if (err)
        vs_baseline_free(baseline);
    else
        hide_arguments((*out = baseline)->root);
    return err;
}

struct json_object *vs_baseline_process(const struct vs_baseline *baseline, const char *process)
{
    return vs_baseline_child(vs_baseline_child(baseline->root, "processes"), process);
}

bool vs_baseline_has(const struct vs_baseline *baseline, const char *process)
{
    return vs_baseline_process(baseline, process) != NULL;
}

bool vs_baseline_number(struct json_object *object, const char *key, uint64_t *out)
{
    struct json_object *value = vs_baseline_member(object, key, json_type_int);
    if (!value || json_object_get_int64(value) < 0)
        return false;
    *out = (uint64_t)json_object_get_int64(value);
    return true;
}

uint64_t vs_baseline_steps(const struct vs_baseline *baseline, const char *process)
{
    uint64_t steps = 0;
    vs_baseline_number(vs_baseline_process(baseline, process), "steps", &steps);
    return steps;
}

const char *vs_baseline_text(const struct vs_baseline *baseline, const char *process, const char *what)
{
    return text_of(vs_baseline_process(baseline, process), what);
}

bool vs_baseline_other_arguments(const struct vs_baseline *baseline, const char *process,
                                 const struct vs_measured *run)
{
    char hash[VS_BASELINE_ARGUMENTS_MAX];
    const char *before = vs_baseline_text(baseline, process, "arguments");
    return run->arguments && before && strcmp(vs_baseline_arguments(hash, run->arguments), before) != 0;
}

const char *vs_baseline_other_gpu(const struct vs_baseline *baseline, const char *process,
                                  const struct vs_report_device *device)
{
    char key[VS_DEVICE_KEY_MAX];
    snprintf(key, sizeof key, "%" PRIu64, device->device);
    const char *gpu = text_of(vs_baseline_child(vs_baseline_process(baseline, process), "gpus"), key);
    return gpu && device->name && strcmp(gpu, device->name) != 0 ? gpu : NULL;
}

bool vs_baseline_sampled(const struct vs_baseline *baseline, const char *process)
{
    uint64_t sample = 1;
    return vs_baseline_number(vs_baseline_process(baseline, process), "sample", &sample) && sample > 1;
}

char *vs_baseline_key(const struct vs_quantity *quantity, char *out)
{
    const char *way = vs_copy_way_name(quantity->way);
    snprintf(out, 64, "%s%s%s%s", vs_metric_name(quantity->metric), *way ? " " : "", way,
             quantity->per_step && quantity->metric != VS_METRIC_GROWTH ? " per step" : "");
    return out;
}

bool vs_baseline_has_copies(const struct vs_baseline *baseline)
{
    bool any = false;
    VS_EACH_MEMBER(vs_baseline_child(baseline->root, "processes"), process)
        VS_EACH_MEMBER(vs_baseline_child(lh_entry_v(process), "devices"), device)
            VS_EACH_MEMBER(lh_entry_v(device), value) {
                uint64_t count = 0;
                any |= strncmp(lh_entry_k(value), "copies ", 7) == 0 &&
                       vs_baseline_number(lh_entry_v(device), lh_entry_k(value), &count) && count;
            }
    return any;
}

bool vs_baseline_is_reading(const struct vs_quantity *quantity)
{
    return quantity->metric == VS_METRIC_DEVICE || quantity->metric == VS_METRIC_FREE;
}

bool vs_baseline_has_readings(const struct vs_baseline *baseline, const char *process)
{
    bool any = false;
    VS_EACH_MEMBER(vs_baseline_child(vs_baseline_process(baseline, process), "devices"), device)
        any |= vs_baseline_member(lh_entry_v(device), vs_metric_name(VS_METRIC_DEVICE),
                                  json_type_int) != NULL;
    return any;
}

/* Copies per step follow from the others and the steps. */
bool vs_baseline_kept(const struct vs_quantity *quantity)
{
    if (quantity->unknown || quantity->host || quantity->metric == VS_METRIC_TENSORS)
        return false;
    return !vs_metric_of_copies(quantity->metric) || (!quantity->per_step && quantity->way != VS_COPIES_ALL);
}

struct json_object *vs_baseline_values(const struct vs_baseline *baseline, const char *process,
                                     const struct vs_quantity *quantity)
{
    char device[VS_DEVICE_KEY_MAX];
    struct json_object *from = vs_baseline_process(baseline, process);
    from = vs_baseline_child(from, quantity->phase ? "phases" : "devices");
    if (quantity->phase)
        from = vs_baseline_child(from, quantity->phase);
    snprintf(device, sizeof device, "%" PRIu64, quantity->device);
    return vs_baseline_child(from, device);
}

static bool stored_value(const struct vs_baseline *baseline, const char *process,
                         const struct vs_quantity *quantity, uint64_t *value)
{
    char key[64];
    return vs_baseline_number(vs_baseline_values(baseline, process, quantity), vs_baseline_key(quantity, key), value);
}

bool vs_baseline_value(const struct vs_baseline *baseline, const char *process,
                       const struct vs_quantity *quantity, uint64_t *value)
{
    struct vs_quantity whole = *quantity;
    uint64_t one, sum = 0, steps = quantity->per_step ? vs_baseline_steps(baseline, process) : 1;
    bool any = false;
    if (stored_value(baseline, process, quantity, value))
        return true;
    if (!vs_metric_of_copies(quantity->metric) || !steps)
        return false;
    whole.per_step = false;
    for (int way = VS_COPIES_TO_DEVICE; way <= VS_COPIES_ON_DEVICE; way++) {
        whole.way = (enum vs_copy_way)way;
        if ((quantity->way == VS_COPIES_ALL || quantity->way == whole.way) &&
            stored_value(baseline, process, &whole, &one)) {
            sum += one;
            any = true;
        }
    }
    if (any)
        *value = (sum + steps - 1) / steps;
    return any;
}

bool vs_baseline_has_device(const struct vs_baseline *baseline, const char *process, uint64_t device)
{
    const struct vs_quantity any = {.device = device};
    return vs_baseline_values(baseline, process, &any) != NULL;
}

void vs_baseline_names(const struct vs_baseline *baseline, const char *process, const char *what,
                       struct vs_intern *out)
{
    struct json_object *of = process ? vs_baseline_process(baseline, process) : baseline->root;
    VS_EACH_MEMBER(vs_baseline_child(of, process ? what : "processes"), member)
        vs_intern_text(out, lh_entry_k(member));
}

/* --- Updates and writes baselines; see baseline.h. --- */

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
    VS_EACH_MEMBER(list, site) {
        uint64_t bytes = 0;
        vs_baseline_number(lh_entry_v(site), "bytes", &bytes);
        sum += bytes;
    }
    return sum;
}

static bool same_number(struct json_object *a, struct json_object *b, const char *key)
{
    uint64_t x, y;
    return vs_baseline_number(a, key, &x) && vs_baseline_number(b, key, &y) && x == y;
}

static bool same_list(struct json_object *a, struct json_object *b, const char *key)
{
    return json_object_equal(vs_baseline_child(a, key), vs_baseline_child(b, key));
}

/* Which of several threads requests a segment that all use differs from run to run, and with it the
 * time of the peak. Where the value and the lines of allocated are as before, or the live blocks and what
 * is cached, the lists of *before* stay, so that the file does not change without a change of the program. */
static void keep_reserved(struct json_object *before, struct json_object *now, bool same_value)
{
    static const char *const lists[] = {"reserved in use", "reserved unused"};
    struct json_object *old = vs_baseline_child(before, lists[1]);
    struct json_object *new = vs_baseline_child(now, lists[1]);
    bool same_live = vs_baseline_child(before, lists[0]) && same_list(before, now, lists[0]);
    if (!old || !new || !((same_value && same_list(before, now, "allocated")) ||
                          (same_live && sum_of(old) == sum_of(new))))
        return;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct json_object *list = vs_baseline_child(before, lists[i]);
        json_object_object_del(now, lists[i]); /* a phase's live blocks may be those of allocated */
        if (list)
            json_object_object_add(now, lists[i], json_object_get(list));
    }
}

/* What else the figures depend on. */
static void put_setting(struct json_object *process, const struct vs_measured *run)
{
    const struct vs_report *report = run->report;
    char hash[VS_BASELINE_ARGUMENTS_MAX];
    if (run->arguments)
        put_text(process, "arguments", vs_baseline_arguments(hash, run->arguments));
    if (*report->policy)
        put_text(process, "allocator", report->policy);
    if (report->recording.sample > 1)
        vs_baseline_put(process, "sample", report->recording.sample);
    for (size_t i = 0; i < report->device_count; i++) {
        char key[VS_DEVICE_KEY_MAX];
        snprintf(key, sizeof key, "%" PRIu64, report->devices[i].device);
        if (report->devices[i].name)
            put_text(vs_baseline_object(process, "gpus"), key, report->devices[i].name);
    }
}

/* The parts of a process of a baseline, before an update. */
struct former_process {
    struct json_object *devices, *phases, *sites;
};

void vs_baseline_update(struct vs_baseline *baseline, const char *process,
                        const struct vs_taken *taken, bool readings)
{
    static const char *const replaced[] = {"devices", "phases", "sites", "arguments", "allocator", "sample", "gpus"};
    put_text(baseline->root, "schema", VS_BASELINE_SCHEMA);
    struct json_object *at = vs_baseline_object(vs_baseline_object(baseline->root, "processes"), process);
    readings |= vs_baseline_has_readings(baseline, process);
    vs_baseline_put(at, "steps", taken->steps);
    const struct former_process before = {
        .devices = json_object_get(vs_baseline_child(at, "devices")),
        .phases = json_object_get(vs_baseline_child(at, "phases")),
        .sites = json_object_get(vs_baseline_child(at, "sites"))};
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        json_object_object_del(at, replaced[i]); /* a phase or device that is gone must not stay */
    put_setting(at, taken->first);
    for (size_t i = 0; i < taken->count; i++) {
        const struct vs_quantity *quantity = &taken->items[i].quantity;
        if (vs_baseline_kept(quantity) && (readings || !vs_baseline_is_reading(quantity)))
            put_quantity(at, quantity);
    }
    vs_baseline_put_sites(at, taken, readings);
    /* of the whole program, then of its phases */
    VS_EACH_MEMBER(vs_baseline_child(at, "sites"), now) {
        const char *device = lh_entry_k(now);
        struct json_object *old = vs_baseline_child(before.devices, device);
        struct json_object *new = vs_baseline_child(vs_baseline_child(at, "devices"), device);
        keep_reserved(vs_baseline_child(before.sites, device), lh_entry_v(now),
                      same_number(old, new, "reserved"));
    }
    VS_EACH_MEMBER(vs_baseline_child(at, "phases"), phase)
        VS_EACH_MEMBER(lh_entry_v(phase), device) {
            struct json_object *now = lh_entry_v(device), *old = vs_baseline_child(
                vs_baseline_child(before.phases, lh_entry_k(phase)), lh_entry_k(device));
            keep_reserved(vs_baseline_child(old, "sites"), vs_baseline_child(now, "sites"),
                          same_number(old, now, "reserved"));
        }
    json_object_put(before.devices);
    json_object_put(before.phases);
    json_object_put(before.sites);
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
    VS_EACH_MEMBER(value, member)
        flat &= !json_object_is_type(lh_entry_v(member), json_type_object) &&
                !json_object_is_type(lh_entry_v(member), json_type_array);
    return flat;
}

static void write_value(struct json_object *value, unsigned depth, FILE *out);

/* Members in the order of their names; json-c has them in the order in which they were added. */
static void write_object(struct json_object *value, unsigned depth, FILE *out)
{
    size_t count = 0, members = (size_t)json_object_object_length(value);
    bool flat = is_flat(value);
    struct {
        const char *name;
        struct json_object *value;
    } *of = vs_xcalloc(members + 1, sizeof *of);
    VS_EACH_MEMBER(value, member) {
        of[count].name = lh_entry_k(member);
        of[count++].value = lh_entry_v(member);
    }
    VS_SORT(of, count, VS_UP(name));
    fputs("{", out);
    for (size_t i = 0; i < count; i++) {
        struct json_object *name = json_object_new_string(of[i].name);
        if (flat)
            fputs(i ? ", " : "", out);
        else
            fprintf(out, "%s\n%*s", i ? "," : "", (int)(2 * depth + 2), "");
        if (name)
            write_value(name, depth, out);
        json_object_put(name);
        fputs(": ", out);
        write_value(of[i].value, depth + 1, out);
    }
    if (!flat)
        fprintf(out, "\n%*s", (int)(2 * depth), "");
    fputs("}", out);
    free(of);
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
