/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of `vramscope fit`: its own options, and those of `vramscope run`, which are passed
 * on. Every GPU is checked before the first run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_option.h"
#include "base/vs_size.h"
#include "tools/common/command.h"
#include "tools/common/paths.h"
#include "tools/common/symbol_tool.h"
#include "tools/fit/fit_internal.h"

/* `fit` sets these itself; the second text says what to use instead. */
static const struct {
    enum vs_option_id id;
    const char *instead;
} reserved[] = {
    {VS_OPT_output, "use --keep DIR"},
    {VS_OPT_simulate, "use --gpu"},
    {VS_OPT_record, "fit reads the trace"},
    {VS_OPT_manifest, "it is set for each run"},
    {VS_OPT_simulate_notes, "it is set for each run"},
    {VS_OPT_via, "fit preloads the library"},
};

void vs_fit_add_flag(struct vs_fit_job *job, const char *name, const char *value)
{
    size_t count = 0;
    while (job->run_flags && job->run_flags[count])
        count++;
    char **grown = vs_xrealloc(job->run_flags, (count + 2), sizeof *grown);
    job->run_flags = grown;
    grown[count + 1] = NULL;
    grown[count] = value ? vs_xprintf("%s=%s", name, value) : vs_xstrdup(name);
}

static int add_gpu(struct vs_fit_job *job, const char *spec)
{
    char why[VS_SIMULATED_WHY_MAX];
    if (job->gpu_count == VS_FIT_GPUS_MAX)
        return vs_tool_usage(job->who, "at most %d GPUs", VS_FIT_GPUS_MAX);
    if (!*spec)
        return vs_tool_usage(job->who, "--gpu needs a name, such as h100-80g");
    if (vs_simulated_check(spec, why))
        return vs_tool_fail(job->who, "--gpu %s: %s", spec, why);
    job->gpus[job->gpu_count] = vs_xstrdup(spec);
    job->gpu_count++;
    return 0;
}

/* If *argument* is --NAME or --NAME=VALUE of ours: 1 or, where the value is the next argument, 2;
 * 0: another one. */
static int match(const struct vs_fit_flag *flag, char **argv, int left, const char **value)
{
    size_t length = strlen(flag->name);
    if (strncmp(argv[0], flag->name, length) != 0 || (argv[0][length] && argv[0][length] != '='))
        return 0;
    *value = argv[0][length] ? argv[0] + length + 1 : flag->valued && left > 1 ? argv[1] : NULL;
    return !argv[0][length] && flag->valued && *value ? 2 : 1;
}

/* One option; *used*: how many arguments it takes. */
static int parse_one(struct vs_fit_job *job, const struct vs_fit_flag *more, char **argv, int left,
                     int *used)
{
    static const struct vs_fit_flag flags[] = {
        {"--gpu", true, NULL},   {"--vary", true, NULL}, {"--keep", true, NULL},
        {"--color", true, NULL}, {"--steps", true, NULL}, {"--jobs", true, NULL},
        {"--host-memory", true, NULL},
        {"--json", false, NULL}, {"--all", false, NULL}, {"--quiet", false, NULL}};
    if (strcmp(argv[0], "-q") == 0) {
        job->quiet = true;
        return 0;
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const char *value = NULL;
        *used = match(&flags[i], argv, left, &value);
        if (!*used)
            continue;
        if (flags[i].valued && (!value || strcmp(value, "--") == 0))
            return vs_tool_usage(job->who, "%s needs a value", flags[i].name);
        if (!flags[i].valued && value)
            return vs_tool_usage(job->who, "%s takes no value", flags[i].name);
        switch (i) {
        case 0: return add_gpu(job, value);
        case 1: return vs_fit_parse_vary(job, value);
        case 2:
            job->keep = value;
            return *value ? 0 : vs_tool_usage(job->who, "--keep needs a folder");
        case 3:
            return vs_tool_colour(value, &job->colour)
                       ? 0 : vs_tool_usage(job->who, "--color takes auto, always or never");
        case 4:
            return vs_tool_count(value, 1, 1000000000, &job->steps)
                       ? 0 : vs_tool_usage(job->who, "--steps takes a number, from 1");
        case 5:
            return vs_tool_count(value, 1, VS_FIT_GPUS_MAX, &job->jobs)
                       ? 0 : vs_tool_usage(job->who, "--jobs takes a number from 1 to %d",
                                           VS_FIT_GPUS_MAX);
        case 6:
            return !vs_size_parse(value, &job->host_memory) && job->host_memory
                       ? 0 : vs_tool_usage(job->who, "--host-memory takes a size, such as 16GiB");
        case 7: job->json = true; return 0;
        case 8: job->all = true; return 0;
        default: job->quiet = true; return 0;
        }
    }
    for (; more && more->name; more++) {
        const char *value = NULL;
        *used = match(more, argv, left, &value);
        if (*used && more->valued != (value != NULL && strcmp(value, "--") != 0))
            return vs_tool_usage(job->who, "%s %s", more->name, value ? "takes no value" : "needs a value");
        if (*used)
            return more->set(job, value);
    }
    *used = 1;
    if (strncmp(argv[0], "--", 2) != 0)
        return vs_tool_usage(job->who, "unknown option %s", argv[0]);
    /* An option of `run`: "--NAME[=VALUE]" or "--no-NAME". *used*: how many arguments it takes. */
    const char *name = argv[0] + 2, *value = strchr(argv[0], '=');
    size_t length = strcspn(name, "=");
    enum vs_option_id id;
    struct vs_options checked;
    char why[VS_OPTION_TEXT_MAX];
    bool negated = length > 3 && strncmp(name, "no-", 3) == 0;
    bool found = !vs_option_find(name, length, &id) ||
                 (negated && !value && !vs_option_find(name + 3, length - 3, &id) &&
                  vs_option_describe(id)->type == VS_OPTION_BOOL);
    if (!found)
        return vs_tool_usage(job->who, "unknown option %s", argv[0]);
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (reserved[i].id == id)
            return vs_tool_usage(job->who, "%.*s cannot be given: %s", (int)length + 2, argv[0],
                                 reserved[i].instead);
    *used = 1;
    if (vs_option_describe(id)->type == VS_OPTION_BOOL && !value) {
        vs_fit_add_flag(job, argv[0], NULL);
        return 0;
    }
    if (!value && left < 2)
        return vs_tool_usage(job->who, "option %s needs a value", argv[0]);
    *used = value ? 1 : 2;
    if (vs_options_set(&checked, id, value ? value + 1 : argv[1], VS_FROM_COMMAND, why))
        return vs_tool_fail(job->who, "%s", why);
    if (id == VS_OPT_library) /* of the traces, which are read here */
        vs_symbol_tool_library(value ? value + 1 : argv[1]);
    vs_fit_add_flag(job, argv[0], value ? NULL : argv[1]);
    return 0;
}

int vs_fit_parse(struct vs_fit_job *job, const char *usage, const struct vs_fit_flag *more, int argc,
                 char **argv)
{
    int i = 1;
    job->who = argv[0];
    while (i < argc && argv[i][0] == '-') {
        int used = 1;
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return -1;
        }
        int status = parse_one(job, more, argv + i, argc - i, &used);
        if (status)
            return status;
        i += used;
    }
    job->program = argv + i;
    char why[VS_SIMULATED_WHY_MAX];
    if (!job->program || !*job->program)
        return vs_tool_usage(job->who, "no program given");
    if (!job->gpu_count) {
        vs_simulated_names(why);
        return vs_tool_usage(job->who, "no GPU given; --gpu takes one of: %s", why);
    }
    if (!job->vary || *job->vary)
        return 0;
    for (char **word = job->program; *word; word++)
        if (strstr(*word, "{}"))
            return 0;
    return vs_tool_usage(job->who, "the command has no {}, where the values of --vary go; write {} "
                         "there, or give their name: --vary --batch=1,2,4");
}

void vs_fit_job_clear(struct vs_fit_job *job)
{
    for (size_t i = 0; i < job->gpu_count; i++)
        free(job->gpus[i]);
    for (size_t i = 0; i < job->value_count; i++)
        free(job->values[i]);
    for (char **flag = job->run_flags; flag && *flag; flag++)
        free(*flag);
    free(job->run_flags);
    free(job->vary);
}
