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

static int add_gpu(const char *who, const char *spec, void *of)
{
    struct vs_fit_job *job = of;
    char why[VS_SIMULATED_WHY_MAX];
    if (job->gpu_count == VS_FIT_GPUS_MAX)
        return vs_tool_usage(who, "at most %d GPUs", VS_FIT_GPUS_MAX);
    if (!*spec)
        return vs_tool_usage(who, "--gpu needs a name, such as h100-80g");
    if (vs_simulated_check(spec, why))
        return vs_tool_fail(who, "--gpu %s: %s", spec, why);
    job->gpus[job->gpu_count++] = vs_xstrdup(spec);
    return 0;
}

static bool set_size(const char *text, void *to)
{
    return !vs_size_parse(text, to) && *(uint64_t *)to;
}

/* One option; *used*: how many arguments it takes. */
static int parse_one(struct vs_fit_job *job, const struct vs_tool_option *more, char **argv, int left,
                     int *used)
{
    const struct vs_tool_option table[] = {
        {"gpu", .run = add_gpu, .to = job},
        {"vary", .run = vs_fit_parse_vary, .to = job},
        {"keep", .text = &job->keep},
        {"color", .colour = &job->colour},
        {"steps", .count = &job->steps, .min = 1, .max = 1000000000, .takes = "a number, from 1"},
        {"jobs", .count = &job->jobs, .min = 1, .max = VS_FIT_GPUS_MAX, .takes = "a number from 1 to 64"},
        {"host-memory", .parse = set_size, .to = &job->host_memory, .takes = "a size, such as 16GiB"},
        {"json", .flag = &job->json},
        {"all", .flag = &job->all},
        {"quiet", 'q', .flag = &job->quiet},
        {0}};
    *used = vs_tool_option(job->who, table, argv, left);
    if (!*used)
        *used = vs_tool_option(job->who, more, argv, left);
    if (*used)
        return *used < 0 ? VS_EXIT_UNUSABLE : 0;
    if (strncmp(argv[0], "--", 2) != 0)
        return vs_tool_usage(job->who, "unknown option %s", argv[0]);
    enum vs_option_id id;
    struct vs_options checked;
    char why[VS_OPTION_TEXT_MAX];
    const char *value;
    *used = vs_tool_run_option(argv, left, &id, &value);
    if (*used < 0)
        return vs_tool_usage(job->who, "unknown option %s", argv[0]);
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (reserved[i].id == id)
            return vs_tool_usage(job->who, "%.*s cannot be given: %s", (int)strcspn(argv[0], "="), argv[0],
                                 reserved[i].instead);
    if (!*used)
        return vs_tool_usage(job->who, "option %s needs a value", argv[0]);
    if (vs_options_set(&checked, id, value, VS_FROM_COMMAND, why))
        return vs_tool_fail(job->who, "%s", why);
    if (id == VS_OPT_library) /* of the traces, which are read here */
        vs_symbol_tool_library(value);
    vs_fit_add_flag(job, argv[0], *used == 2 ? value : NULL);
    return 0;
}

int vs_fit_parse(struct vs_fit_job *job, const char *usage, const struct vs_tool_option *more, int argc,
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
    if (!job->vary || *job->vary || vs_fit_has_hole(job->program))
        return 0;
    return vs_tool_usage(job->who, "the command has no {}, where the values of --vary go; write {} "
                         "there, or give their name: --vary --batch=1,2,4");
}

int vs_fit_exit_code(enum vs_fit_answer answer)
{
    static const int codes[] = {[VS_FIT_UNKNOWN] = VS_EXIT_UNUSABLE, [VS_FIT_NO] = VS_EXIT_NO,
                                [VS_FIT_YES] = VS_EXIT_OK};
    return codes[answer];
}

int vs_fit_end(struct vs_fit_job *job, int status)
{
    for (size_t i = 0; i < job->gpu_count; i++)
        free(job->gpus[i]);
    for (size_t i = 0; i < job->value_count; i++)
        free(job->values[i]);
    for (char **flag = job->run_flags; flag && *flag; flag++)
        free(*flag);
    free(job->run_flags);
    free(job->vary);
    free(job);
    if (vs_fit_interrupted())
        vs_fit_signals_leave();
    return status < 0 ? VS_EXIT_OK : status;
}
