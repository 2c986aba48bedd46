/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/budget/budget_key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "base/vs_text.h"

static const char *const metric_names[VS_METRIC_COUNT] = {
    "allocated", "requested", "reserved", "live at end", "device", "free", "growth per step",
    "transferred", "copies", "tensors"};
static const char *const way_names[] = {"", "h2d", "d2h", "d2d"};

#define SIZE_WANTED "a size such as 6GiB"
#define TRANSFERS_WANTED \
    "a size or a number of copies, such as 64MiB, '12 copies/step' or h2d:1MiB/step"

#define LIMIT VS_KEY_LIMIT | VS_KEY_TOP
#define FLAG(name, field) \
    {name, "true or false", VS_KEY_TOP, true, VS_METRIC_COUNT, offsetof(struct vs_budget, field)}
const struct vs_budget_key vs_budget_keys[] = {
    {"max-peak", SIZE_WANTED, LIMIT, false, VS_METRIC_ALLOCATED, 0},
    {"metric", "allocated, requested or reserved", VS_KEY_TOP, false, VS_METRIC_COUNT, 0},
    {"max-allocated", SIZE_WANTED, LIMIT, false, VS_METRIC_ALLOCATED, 0},
    {"max-tensors", SIZE_WANTED, LIMIT, false, VS_METRIC_TENSORS, 0},
    {"max-requested", SIZE_WANTED, LIMIT, false, VS_METRIC_REQUESTED, 0},
    {"max-reserved", SIZE_WANTED, LIMIT, false, VS_METRIC_RESERVED, 0},
    {"max-device", SIZE_WANTED, LIMIT, false, VS_METRIC_DEVICE, 0},
    {"min-free", "a size such as 512MiB", LIMIT, false, VS_METRIC_FREE, 0},
    {"max-growth-per-step", "a size such as 0 or 64KiB", LIMIT, false, VS_METRIC_GROWTH, 0},
    {"max-leak", "a size such as 0 or 64MiB", LIMIT, false, VS_METRIC_LIVE_AT_END, 0},
    {"max-live-at-end", "a size such as 0 or 64MiB", LIMIT, false, VS_METRIC_LIVE_AT_END, 0},
    {"no-leaks", "true or false", LIMIT, true, VS_METRIC_LIVE_AT_END, 0},
    {"max-transfers", TRANSFERS_WANTED, LIMIT, false, VS_METRIC_COUNT, 0},
    {"baseline", "the name of a file", VS_KEY_TOP, false, VS_METRIC_COUNT, 0},
    {"tolerance", "a share or a size, such as 2% or 16MiB", VS_KEY_TOP, false, VS_METRIC_COUNT, 0},
    {"take", "each, median or max", VS_KEY_TOP, false, VS_METRIC_COUNT, 0},
    FLAG("allow-oom", allow_oom),
    {"allow-exit", "a status from 0 to 255, or any", VS_KEY_TOP, false, VS_METRIC_COUNT, 0},
    FLAG("allow-uncomputed", allow_uncomputed),
    FLAG("partial", partial),
    FLAG("device-readings", device_readings),
};
const size_t vs_budget_key_count = sizeof vs_budget_keys / sizeof *vs_budget_keys;

const char *vs_metric_name(enum vs_metric metric)
{
    return metric_names[metric];
}

bool vs_metric_of_copies(enum vs_metric metric)
{
    return metric == VS_METRIC_TRANSFERRED || metric == VS_METRIC_COPIES;
}

const char *vs_copy_way_name(enum vs_copy_way way)
{
    return way_names[way];
}

const struct vs_budget_key *vs_budget_key_find(const char *name, size_t length)
{
    for (size_t i = 0; i < vs_budget_key_count; i++)
        if (strlen(vs_budget_keys[i].name) == length &&
            memcmp(vs_budget_keys[i].name, name, length) == 0)
            return &vs_budget_keys[i];
    return NULL;
}

const char *vs_budget_text_copy(struct vs_budget *budget, const char *text)
{
    return vs_xarena_text(&budget->memory, text);
}

/* "12 copies", "12copies", "1 copy": the number; false for anything else. */
static bool parse_copies(const char *text, uint64_t *out)
{
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    end += strspn(end, " ");
    return !errno && (strcmp(end, "copies") == 0 || strcmp(end, "copy") == 0);
}

/* "[h2d:|d2h:|d2d:]AMOUNT[/step]". */
static enum vs_err parse_transfers(const char *text, struct vs_budget_limit *limit)
{
    char amount[64];
    for (int way = VS_COPIES_TO_DEVICE; way <= VS_COPIES_ON_DEVICE; way++) {
        if (strncmp(text, way_names[way], 3) == 0 && text[3] == ':') {
            limit->way = (enum vs_copy_way)way;
            text += 4;
            break;
        }
    }
    size_t length = strlen(text);
    const char *slash = strchr(text, '/');
    if (slash && strcmp(slash, "/step") == 0) {
        limit->per_step = true;
        length = (size_t)(slash - text);
    }
    if (length >= sizeof amount)
        return VS_ERR_ARG;
    memcpy(amount, text, length);
    amount[length] = 0;
    if (parse_copies(amount, &limit->amount)) {
        limit->metric = VS_METRIC_COPIES;
        return VS_OK;
    }
    limit->metric = VS_METRIC_TRANSFERRED;
    return vs_size_parse(amount, &limit->amount);
}

/* "5" of "5" or "5.5", which may be a share or a size; 0 is the same as either. */
static bool lacks_unit(const char *text)
{
    size_t digits = strspn(text, "0123456789. ");
    return digits && !text[digits] && strpbrk(text, "123456789");
}

/* "2%", "0.5 %" in millionths; or a size. */
static enum vs_err parse_tolerance(const char *text, struct vs_budget *budget)
{
    char *end;
    double share = strtod(text, &end);
    size_t spaces = strspn(end, " ");
    if (end != text && strcmp(end + spaces, "%") == 0) {
        if (!(share >= 0 && share <= 1000))
            return VS_ERR_ARG;
        budget->tolerance_millionths = (uint64_t)(share * 1e4 + 0.5);
        budget->tolerance_bytes = 0;
    } else {
        uint64_t bytes;
        enum vs_err err = lacks_unit(text) ? VS_ERR_ARG : vs_size_parse(text, &bytes);
        if (err)
            return err;
        budget->tolerance_bytes = bytes;
        budget->tolerance_millionths = 0;
    }
    budget->tolerance = vs_budget_text_copy(budget, text);
    return VS_OK;
}

/* Statuses separated by commas, or "any". */
static enum vs_err parse_exits(const char *text, struct vs_budget *budget)
{
    if (strcmp(text, "any") == 0) {
        budget->allow_any_exit = true;
        return VS_OK;
    }
    for (;;) {
        char *end;
        if (*text < '0' || *text > '9' || budget->allow_exit_count == VS_EXITS_MAX)
            return VS_ERR_ARG;
        unsigned long status = strtoul(text, &end, 10);
        if (status > 255 || (*end && *end != ','))
            return VS_ERR_ARG;
        budget->allow_exit[budget->allow_exit_count++] = status;
        if (!*end)
            return VS_OK;
        text = end + 1;
    }
}

static enum vs_err parse_flag(const char *text, bool *out)
{
    *out = strcmp(text, "true") == 0;
    return *out || strcmp(text, "false") == 0 ? VS_OK : VS_ERR_ARG;
}

/* The place of *text* among the three *words*. */
static enum vs_err parse_word(const char *text, const char *const words[3], unsigned *out)
{
    *out = 0;
    while (*out < 3 && strcmp(text, words[*out]) != 0)
        ++*out;
    return *out < 3 ? VS_OK : VS_ERR_ARG;
}

/* Whether the same limit was given twice. Two of different amounts are both checked. */
static bool repeats(const struct vs_budget_limit *a, const struct vs_budget_limit *b)
{
    return a->metric == b->metric && a->by_metric == b->by_metric && a->way == b->way &&
           a->amount == b->amount && a->per_step == b->per_step && vs_text_same(a->from, b->from) &&
           a->scope.one_device == b->scope.one_device && a->scope.device == b->scope.device &&
           vs_text_same(a->scope.phase, b->scope.phase) && vs_text_same(a->scope.process, b->scope.process);
}

static void add_limit(struct vs_budget *budget, const struct vs_budget_limit *limit)
{
    for (size_t i = 0; i < budget->count; i++)
        if (repeats(&budget->limits[i], limit))
            return;
    VS_VEC_ADD(budget->limits, budget->count, budget->capacity, *limit);
}

static enum vs_err set_limit(struct vs_budget *budget, const struct vs_budget_key *key,
                             const char *value, struct vs_budget_limit *limit)
{
    bool on = true;
    limit->metric = key->metric;
    limit->by_metric = strcmp(key->name, "max-peak") == 0;
    enum vs_err err = key->flag                        ? parse_flag(value, &on)
                      : key->metric != VS_METRIC_COUNT ? vs_size_parse(value, &limit->amount)
                                                       : parse_transfers(value, limit);
    if (!err && on)
        add_limit(budget, limit);
    return err;
}

/* Phases have no readings of the device, no growth and no copies of their own. */
static bool measured_in_phases(const struct vs_budget_limit *limit)
{
    return limit->metric <= VS_METRIC_LIVE_AT_END;
}

static enum vs_err set_other(struct vs_budget *budget, const struct vs_budget_key *key,
                             const char *value, const char *from)
{
    static const char *const takes[] = {"each", "median", "max"};
    const char *name = key->name;
    unsigned place;
    enum vs_err err;
    if (key->flag)
        return parse_flag(value, (bool *)((char *)budget + key->field));
    if (strcmp(name, "metric") == 0) { /* the first three: peaks */
        err = parse_word(value, metric_names, &place);
        budget->metric = err ? budget->metric : (enum vs_metric)place;
        return err;
    }
    if (strcmp(name, "tolerance") == 0)
        return parse_tolerance(value, budget);
    if (strcmp(name, "take") == 0) {
        err = parse_word(value, takes, &place);
        budget->take = err ? budget->take : (enum vs_take)place;
        return err;
    }
    if (strcmp(name, "allow-exit") == 0)
        return parse_exits(value, budget);
    if (!*value)
        return VS_ERR_ARG;
    budget->baseline = vs_budget_text_copy(budget, value);
    budget->baseline_from = from;
    return VS_OK;
}

enum vs_err vs_budget_set(struct vs_budget *budget, const struct vs_budget_key *key,
                          const char *value, const struct vs_budget_scope *scope, const char *from,
                          char *why)
{
    struct vs_budget_limit limit = {.scope = *scope, .from = vs_budget_text_copy(budget, from)};
    enum vs_err err;
    if (key->places & VS_KEY_LIMIT) {
        size_t before = budget->count;
        err = set_limit(budget, key, value, &limit);
        if (!err && budget->count > before && scope->phase && !measured_in_phases(&limit)) {
            snprintf(why, VS_BUDGET_WHY_MAX, "is measured for the whole program only, not for a %s",
                     scope->test ? "test" : "phase");
            return VS_ERR_ARG;
        }
    } else {
        err = set_other(budget, key, value, limit.from);
    }
    if (err == VS_ERR_ARG && strcmp(key->name, "tolerance") == 0 && lacks_unit(value))
        snprintf(why, VS_BUDGET_WHY_MAX, "takes a share or a size with its unit: %.100s%% or %.100sMiB, not '%.100s'", value,
                 value, value);
    else if (err == VS_ERR_ARG)
        snprintf(why, VS_BUDGET_WHY_MAX, "takes %s, not '%.100s'", key->wants, value);
    return err;
}

void vs_budget_finish(struct vs_budget *budget)
{
    for (size_t i = 0; i < budget->count; i++)
        if (budget->limits[i].by_metric)
            budget->limits[i].metric = budget->metric;
}

bool vs_budget_empty(const struct vs_budget *budget)
{
    return budget->count == 0 && !budget->baseline;
}

void vs_budget_free(struct vs_budget *budget)
{
    free(budget->limits);
    vs_arena_free_all(&budget->memory);
    *budget = (struct vs_budget){0};
}

/* The file may be a pipe (check --budget <(command)), so its size is not asked for:
 * one byte more than allowed is read. */

enum vs_err vs_budget_text_read(const char *path, size_t max, char **out, size_t *length)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return errno == ENOENT ? VS_ERR_NOT_FOUND : VS_ERR_IO;
    char *text = vs_xcalloc(1, max + 1);
    size_t bytes = fread(text, 1, max + 1, file);
    int code = ferror(file) ? errno : 0;
    fclose(file);
    enum vs_err err = code ? VS_ERR_IO : bytes > max ? VS_ERR_LIMIT : VS_OK;
    if (err) {
        free(text);
        errno = code;
        return err;
    }
    text[bytes] = 0;
    *out = text;
    *length = bytes;
    return VS_OK;
}
