/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/budget/budget_key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/vs_size.h"
#include "base/vs_text.h"

static const char *const metric_names[VS_METRIC_COUNT] = {
    "allocated", "requested", "reserved", "live at end", "device", "free", "growth per step",
    "transferred", "copies", "tensors"};
static const char *const way_names[] = {"", "h2d", "d2h", "d2d"};

#define SIZE_WANTED "a size such as 6GiB"
#define TRANSFERS_WANTED \
    "a size or a number of copies, such as 64MiB, '12 copies/step' or h2d:1MiB/step"

const struct vs_budget_key vs_budget_keys[] = {
    {"max-peak", SIZE_WANTED, VS_KEY_LIMIT | VS_KEY_TOP, false},
    {"metric", "allocated, requested or reserved", VS_KEY_TOP, false},
    {"max-allocated", SIZE_WANTED, VS_KEY_LIMIT | VS_KEY_TOP, false},
    {"max-tensors", SIZE_WANTED, VS_KEY_LIMIT | VS_KEY_TOP, false},
    {"max-requested", SIZE_WANTED, VS_KEY_LIMIT | VS_KEY_TOP, false},
    {"max-reserved", SIZE_WANTED, VS_KEY_LIMIT | VS_KEY_TOP, false},
    {"max-device", SIZE_WANTED, VS_KEY_LIMIT | VS_KEY_TOP, false},
    {"min-free", "a size such as 512MiB", VS_KEY_LIMIT | VS_KEY_TOP, false},
    {"max-growth-per-step", "a size such as 0 or 64KiB", VS_KEY_LIMIT | VS_KEY_TOP, false},
    {"max-leak", "a size such as 0 or 64MiB", VS_KEY_LIMIT | VS_KEY_TOP, false},
    {"max-live-at-end", "a size such as 0 or 64MiB", VS_KEY_LIMIT | VS_KEY_TOP, false},
    {"no-leaks", "true or false", VS_KEY_LIMIT | VS_KEY_TOP, true},
    {"max-transfers", TRANSFERS_WANTED, VS_KEY_LIMIT | VS_KEY_TOP, false},
    {"baseline", "the name of a file", VS_KEY_TOP, false},
    {"tolerance", "a share or a size, such as 2% or 16MiB", VS_KEY_TOP, false},
    {"take", "each, median or max", VS_KEY_TOP, false},
    {"allow-oom", "true or false", VS_KEY_TOP, true},
    {"allow-exit", "a status from 0 to 255, or any", VS_KEY_TOP, false},
    {"allow-uncomputed", "true or false", VS_KEY_TOP, true},
    {"partial", "true or false", VS_KEY_TOP, true},
    {"device-readings", "true or false", VS_KEY_TOP, true},
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

enum vs_err vs_metric_parse(const char *text, enum vs_metric *out)
{
    for (int i = VS_METRIC_ALLOCATED; i <= VS_METRIC_RESERVED; i++) {
        if (strcmp(text, metric_names[i]) == 0) {
            *out = (enum vs_metric)i;
            return VS_OK;
        }
    }
    return VS_ERR_ARG;
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

static enum vs_err parse_take(const char *text, enum vs_take *out)
{
    static const char *const words[] = {"each", "median", "max"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = (enum vs_take)i;
            return VS_OK;
        }
    }
    return VS_ERR_ARG;
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
    vs_vec_room(&budget->limits, &budget->capacity, budget->count + 1, sizeof *budget->limits);
    budget->limits[budget->count++] = *limit;
}

/* The metric of a key that limits bytes; VS_METRIC_COUNT for the other keys. */
static enum vs_metric limited_by(const char *name)
{
    static const struct {
        const char *name;
        enum vs_metric metric;
    } rows[] = {
        {"max-peak", VS_METRIC_ALLOCATED},      {"max-allocated", VS_METRIC_ALLOCATED},
        {"max-requested", VS_METRIC_REQUESTED}, {"max-reserved", VS_METRIC_RESERVED},
        {"max-tensors", VS_METRIC_TENSORS},     {"max-device", VS_METRIC_DEVICE},       {"min-free", VS_METRIC_FREE},
        {"max-growth-per-step", VS_METRIC_GROWTH}, {"max-leak", VS_METRIC_LIVE_AT_END},
        {"max-live-at-end", VS_METRIC_LIVE_AT_END}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0)
            return rows[i].metric;
    return VS_METRIC_COUNT;
}

static enum vs_err set_limit(struct vs_budget *budget, const char *name, const char *value,
                             struct vs_budget_limit *limit)
{
    enum vs_err err = VS_OK;
    bool on = true;
    limit->metric = limited_by(name);
    limit->by_metric = strcmp(name, "max-peak") == 0;
    if (strcmp(name, "no-leaks") == 0) {
        limit->metric = VS_METRIC_LIVE_AT_END;
        err = parse_flag(value, &on);
    } else if (limit->metric != VS_METRIC_COUNT) {
        err = vs_size_parse(value, &limit->amount);
    } else {
        err = parse_transfers(value, limit);
    }
    if (!err && on)
        add_limit(budget, limit);
    return err;
}

/* Phases have no readings of the device, no growth and no copies of their own. */
static bool measured_in_phases(const struct vs_budget_limit *limit)
{
    return limit->metric <= VS_METRIC_LIVE_AT_END;
}

static enum vs_err set_other(struct vs_budget *budget, const char *name, const char *value,
                             const char *from)
{
    if (strcmp(name, "metric") == 0)
        return vs_metric_parse(value, &budget->metric);
    if (strcmp(name, "tolerance") == 0)
        return parse_tolerance(value, budget);
    if (strcmp(name, "take") == 0)
        return parse_take(value, &budget->take);
    if (strcmp(name, "allow-oom") == 0)
        return parse_flag(value, &budget->allow_oom);
    if (strcmp(name, "allow-exit") == 0)
        return parse_exits(value, budget);
    if (strcmp(name, "allow-uncomputed") == 0)
        return parse_flag(value, &budget->allow_uncomputed);
    if (strcmp(name, "device-readings") == 0)
        return parse_flag(value, &budget->device_readings);
    if (strcmp(name, "partial") == 0)
        return parse_flag(value, &budget->partial);
    if (!*value)
        return VS_ERR_ARG;
    budget->baseline = vs_budget_text_copy(budget, value);
    budget->baseline_from = from;
    return VS_OK;
}

static bool sets_limit(const struct vs_budget_key *key)
{
    return (key->places & VS_KEY_LIMIT) != 0;
}

enum vs_err vs_budget_set(struct vs_budget *budget, const struct vs_budget_key *key,
                          const char *value, const struct vs_budget_scope *scope, const char *from,
                          char *why)
{
    struct vs_budget_limit limit = {.scope = *scope, .from = vs_budget_text_copy(budget, from)};
    enum vs_err err;
    if (sets_limit(key)) {
        size_t before = budget->count;
        err = set_limit(budget, key->name, value, &limit);
        if (!err && budget->count > before && scope->phase && !measured_in_phases(&limit)) {
            snprintf(why, VS_BUDGET_WHY_MAX, "is measured for the whole program only, not for a %s",
                     scope->test ? "test" : "phase");
            return VS_ERR_ARG;
        }
    } else {
        err = set_other(budget, key->name, value, limit.from);
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
