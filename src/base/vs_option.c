/* SPDX-License-Identifier: Apache-2.0
 *
 * The option table's parsers and sources; see the header. */
#define _GNU_SOURCE
#include "base/vs_option.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/vs_limit_spec.h"
#include "base/steps/vs_schedule.h"
#include "base/vs_size.h"
#include "base/vs_text.h"

#define ENV_PREFIX "VRAMSCOPE_"

extern char **environ;

static const char policy_choices[] =
#define VS_POLICY(ID, name, option) option
#include "base/vs_policy_table.h"
#undef VS_POLICY
    ;

#define VS_OPTION(name, type, def, min, max, unit, help) \
    {#name, def, unit, help, VS_OPTION_##type, min, max},
static const struct vs_option_info infos[VS_OPT_COUNT] = {
#include "base/vs_option_table.h"
};
#undef VS_OPTION

const struct vs_option_info *vs_option_describe(enum vs_option_id id)
{
    return &infos[id];
}

char *vs_option_env_name(enum vs_option_id id, char *out)
{
    int n = snprintf(out, VS_OPTION_ENV_MAX, ENV_PREFIX "%s", infos[id].name);
    for (int i = 0; i < n && i < VS_OPTION_ENV_MAX - 1; i++)
        out[i] = (char)toupper((unsigned char)out[i]);
    return out;
}

static bool name_equal(const char *table, const char *given, size_t length)
{
    if (strlen(table) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = (char)tolower((unsigned char)given[i]);
        if (table[i] != (c == '-' ? '_' : c))
            return false;
    }
    return true;
}

enum vs_err vs_option_find(const char *name, size_t length, enum vs_option_id *id)
{
    for (int i = 0; i < VS_OPT_COUNT; i++) {
        if (name_equal(infos[i].name, name, length)) {
            *id = (enum vs_option_id)i;
            return VS_OK;
        }
    }
    return VS_ERR_NOT_FOUND;
}

static enum vs_err parse_bool(const char *value, uint64_t *out)
{
    static const char *const yes[] = {"on", "1", "yes", "true"};
    static const char *const no[] = {"off", "0", "no", "false"};
    for (int i = 0; i < 4; i++) {
        if (strcasecmp(value, yes[i]) == 0 || strcasecmp(value, no[i]) == 0) {
            *out = strcasecmp(value, yes[i]) == 0;
            return VS_OK;
        }
    }
    return VS_ERR_ARG;
}

static enum vs_err parse_choice(const char *words, const char *value, uint64_t *out)
{
    size_t length = strlen(value);
    uint64_t index = 0;
    for (const char *w = words;; index++) {
        size_t n = strcspn(w, "|");
        if (n == length && strncmp(w, value, n) == 0) {
            *out = index;
            return VS_OK;
        }
        if (!w[n])
            return VS_ERR_ARG;
        w += n + 1;
    }
}

static enum vs_err parse_count(const char *value, uint64_t *out)
{
    if (!isdigit((unsigned char)*value))
        return VS_ERR_ARG;
    char *end;
    unsigned long long n = strtoull(value, &end, 10);
    if (*end)
        return VS_ERR_ARG;
    *out = n;
    return VS_OK;
}

/* 0, also written "off", turns off an option that has a least size. */
static bool is_off(const struct vs_option_info *info, uint64_t number)
{
    return info->type == VS_OPTION_SIZE && number == 0 &&
           (info->min == 0 || strcmp(info->fallback, "0") == 0);
}

/* Uses the name as given: of a flag, with its dashes. */
static void explain(const struct vs_option_info *info, const char *value,
                    enum vs_option_source source, char *why)
{
    if (!why)
        return;
    char expect[256], least[VS_SIZE_TEXT_MAX];
    const char *wrong = info->type == VS_OPTION_LIMIT ? vs_limit_complaint(value) : NULL;
    switch (info->type) {
    case VS_OPTION_BOOL:
        snprintf(expect, sizeof expect, *info->unit ? "on, off or %s" : "on or off", info->unit);
        break;
    case VS_OPTION_CHOICE:
        snprintf(expect, sizeof expect, "one of %s", info->unit);
        break;
    case VS_OPTION_COUNT:
        snprintf(expect, sizeof expect, "a number from %llu to %llu",
                 (unsigned long long)info->min, (unsigned long long)info->max);
        break;
    case VS_OPTION_SIZE:
        snprintf(expect, sizeof expect, "a size such as 8GiB%s", is_off(info, 0) ? ", or off" : "");
        if (info->min)
            snprintf(expect, sizeof expect, "a size of at least %s such as 2GiB%s",
                     vs_size_format(least, info->min), is_off(info, 0) ? ", or off" : "");
        break;
    case VS_OPTION_LIMIT:
        snprintf(expect, sizeof expect,
                 "a size or share such as 8GiB or 50%%, or per device 0:8GiB,1:16GiB");
        break;
    case VS_OPTION_STEPS:
        snprintf(expect, sizeof expect, "steps such as 10-12, or skip_first=10,wait=5,warmup=1,active=2,repeat=3");
        break;
    case VS_OPTION_STRING:
        snprintf(expect, sizeof expect, "a text of at most %d bytes", VS_OPTION_TEXT_MAX - 1);
        break;
    }
    char name[VS_OPTION_ENV_MAX];
    snprintf(name, sizeof name, "%s%s", source == VS_FROM_COMMAND ? "--" : "", info->name);
    for (char *p = name; source == VS_FROM_COMMAND && *p; p++)
        *p = *p == '_' ? '-' : *p;
    snprintf(why, VS_OPTION_TEXT_MAX, "'%.64s' is not a value for %s: %s%sexpected %s",
             value, name, wrong ? wrong : "", wrong ? "; " : "", expect);
}

enum vs_err vs_options_set(struct vs_options *options, enum vs_option_id id, const char *value,
                           enum vs_option_source source, char *why)
{
    const struct vs_option_info *info = &infos[id];
    struct vs_limit_spec limit;
    struct vs_schedule steps;
    uint64_t number = 0;
    enum vs_err err = VS_OK;
    switch (info->type) {
    case VS_OPTION_BOOL:
        err = parse_bool(value, &number);
        if (err && *info->unit && strcasecmp(value, info->unit) == 0)
            number = 2, err = VS_OK;
        break;
    case VS_OPTION_CHOICE:
        err = parse_choice(info->unit, value, &number);
        break;
    case VS_OPTION_COUNT:
        err = parse_count(value, &number);
        break;
    case VS_OPTION_SIZE:
        if (strcasecmp(value, "off") != 0 || !is_off(info, 0))
            err = vs_size_parse(value, &number);
        break;
    case VS_OPTION_LIMIT:
        err = vs_limit_parse(value, &limit);
        break;
    case VS_OPTION_STEPS:
        err = vs_schedule_parse(value, &steps);
        break;
    case VS_OPTION_STRING:
        break;
    }
    if (!err && (info->type == VS_OPTION_COUNT || info->type == VS_OPTION_SIZE) &&
        (number < info->min || number > info->max) && !is_off(info, number))
        err = VS_ERR_ARG;
    if (strlen(value) >= VS_OPTION_TEXT_MAX)
        err = VS_ERR_ARG;
    if (err) {
        explain(info, value, source, why);
        return VS_ERR_ARG;
    }
    strcpy(options->text[id], value);
    options->number[id] = number;
    options->source[id] = source;
    return VS_OK;
}

void vs_options_init(struct vs_options *options)
{
    memset(options, 0, sizeof *options);
    enum vs_err valid = VS_OK; /* the table's own defaults are; a unit test checks that */
    for (enum vs_option_id id = 0; id < VS_OPT_COUNT; id++)
        valid = vs_options_set(options, id, infos[id].fallback, VS_FROM_DEFAULT, NULL);
    (void)valid;
}

void vs_options_load_environment(struct vs_options *options,
                                 void (*warn)(const char *sentence, void *arg), void *arg)
{
    char sentence[VS_OPTION_TEXT_MAX], why[VS_OPTION_TEXT_MAX];
    for (char **e = environ; e && *e; e++) {
        if (!vs_text_begins(*e, ENV_PREFIX))
            continue;
        const char *name = *e + strlen(ENV_PREFIX);
        size_t length = strcspn(name, "=");
        if (!name[length] || vs_text_begins(name, "SIMULATE_") /* the simulated GPU's own */ ||
            vs_text_begins(name, "EDITOR=")) /* of the page */
            continue;
        enum vs_option_id id;
        if (vs_option_find(name, length, &id)) {
            snprintf(sentence, sizeof sentence,
                     "unknown option %s%.*s ignored; `vramscope options` lists them", ENV_PREFIX,
                     (int)(length < 64 ? length : 64), name);
            if (warn)
                warn(sentence, arg);
            continue;
        }
        if (vs_options_set(options, id, name + length + 1, VS_FROM_ENVIRONMENT, why)) {
            const char *kept = options->text[id];
            snprintf(sentence, sizeof sentence, "%s%.*s: %.400s; %s%.400s", ENV_PREFIX, (int)length,
                     name, why, *kept ? "using " : id == VS_OPT_limit ? "no limit" : "ignored", kept);
            if (warn)
                warn(sentence, arg);
        }
    }
}

bool vs_option_is(const struct vs_options *options, enum vs_option_id id, const char *word)
{
    return strcmp(options->text[id], word) == 0;
}

const char *vs_environment(const char *name)
{
    return getenv(name);
}

/* A number of a launcher; NULL if it is not set, or something else. */
static const char *launcher_number(const char *name)
{
    const char *v = getenv(name);
    size_t digits = v ? strspn(v, "0123456789") : 0;
    return digits && digits <= 9 && !v[digits] ? v : NULL;
}

/* Slurm's SLURM_NTASKS is also set in a batch script, which is one process. */
struct vs_rank_environment vs_rank_environment(void)
{
    static const char *const launchers[][3] = {
        {"RANK", "LOCAL_RANK", "WORLD_SIZE"},
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
        {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS"},
        {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"}};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *rank = launcher_number(launchers[i][0]);
        if (rank)
            return (struct vs_rank_environment){rank, launcher_number(launchers[i][1]),
                                                launcher_number(launchers[i][2])};
    }
    return (struct vs_rank_environment){0};
}

const char *vs_job_environment(void)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};
    const char *job = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && (!job || !*job); i++)
        job = getenv(names[i]);
    return job;
}

bool vs_output_is_ranked(void)
{
    return vs_rank_environment().rank != NULL;
}

enum vs_err vs_output_expand(const char *pattern, const char *program, long pid, char *out,
                             size_t out_max)
{
    char result[4096], number[64], host[256] = "host";
    const char *slash = strrchr(pattern, '/'), *rank = vs_rank_environment().rank;
    bool usual = strcmp(slash ? slash + 1 : pattern, VS_OUTPUT_DEFAULT) == 0;
    size_t n = 0;
    for (const char *p = pattern; *p; p++) {
        char one[2] = {*p, 0};
        const char *piece = one;
        if (*p == '%') {
            switch (*++p) {
            case 'n':
                piece = program;
                break;
            case 'p':
                if (usual && rank && (!slash || p > slash))
                    snprintf(number, sizeof number, "rank%s.%ld", rank, pid);
                else
                    snprintf(number, sizeof number, "%ld", pid);
                piece = number;
                break;
            case 'h':
                gethostname(host, sizeof host - 1);
                piece = host;
                break;
            case 'r':
                piece = rank ? rank : "0";
                break;
            case '%':
                break;
            default:
                return VS_ERR_ARG;
            }
        }
        size_t m = strlen(piece);
        if (n + m >= sizeof result)
            return VS_ERR_LIMIT;
        memcpy(result + n, piece, m);
        n += m;
    }
    if (n >= out_max)
        return VS_ERR_LIMIT;
    memcpy(out, result, n);
    out[n] = 0;
    return VS_OK;
}
