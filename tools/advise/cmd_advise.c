/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope advise: the cheapest change with which a program fits on a GPU, found by running it on the
 * simulated one under changes that are applied from outside. */
#include <json.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "tools/advise/advise_internal.h"
#include "tools/common/command.h"
#include "tools/common/paths.h"
#include "viewer/report/answer_text.h"

#define STEPS 3 /* of the program, unless --steps is given */

static const char usage[] =
    "usage: vramscope advise --gpu GPU [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs PROGRAM on a simulated GPU, then again under changes that are applied from\n"
    "outside, and prints the cheapest set of changes with which it fits, and the\n"
    "lines to change. PROGRAM is a training in PyTorch; it is not changed.\n"
    "\n"
    "  --gpu GPU       a GPU by its name, as for `vramscope fit`; of several, one\n"
    "                  answer each\n"
    "  --margin SIZE   memory that must be left: 5%, or 2GiB (default: none)\n"
    "  --vary NAME=V1,V2...\n"
    "                  also try these values of an argument, such as\n"
    "                  --vary --batch=1,2,4; as for `vramscope fit`\n"
    "  --all           try every change alone, also after one fits\n"
    "  --lora          also try LoRA, which trains something else\n"
    "  --shard N       also estimate sharding over N GPUs (FSDP2)\n"
    "  --steps N       end the program after N completed steps (default 3)\n"
    "  --jobs N        N runs at the same time (default: as many as processors and\n"
    "                  memory allow)\n"
    "  --no-cache      run everything again\n"
    "  --json          JSON (schema vramscope.advise/1)\n"
    "  --keep DIR      keep traces and output there instead of the cache\n"
    "  -q, --quiet     print no progress\n"
    "  --color WHEN    auto (default), always or never\n"
    "\n"
    "Options of `vramscope run` are passed on, as --values=off or --stacks=python.\n"
    "\n"
    "Exit codes: 0 it fits, as it is or with the changes shown; 1 nothing that was\n"
    "tried fits; 2 no answer: the program failed for another reason or used no GPU\n"
    "memory, or wrong usage; 128+n after signal n, with the table of what has run.\n";

static int set_margin(const char *who, const char *value, void *of)
{
    struct vs_advise_job *job = of;
    char *end;
    double share = strtod(value, &end);
    bool percent = end != value && strcmp(end, "%") == 0;
    bool good = percent ? share >= 0 && share < 100 : !vs_size_parse(value, &job->margin_bytes);
    job->margin_share = percent && good ? share / 100 : 0;
    return good ? 0 : vs_tool_usage(who, "--margin takes a share of the GPU, such as 5%%, or a size, such as 2GiB");
}

/* Some of `run` would take the place of what is tried. */
static int check_flags(struct vs_fit_job *fit)
{
    bool kernels = false;
    for (char **flag = fit->run_flags; flag && *flag; flag++) {
        kernels |= vs_text_begins(*flag, "--kernels") || vs_text_begins(*flag, "--no-kernels");
        if (vs_text_begins(*flag, "--changes") || vs_text_begins(*flag, "--survey"))
            return vs_tool_usage(fit->who, "%.*s cannot be given: it is set for each run",
                                 (int)strcspn(*flag, "="), *flag);
    }
    if (!kernels) /* for the cost of a step */
        vs_fit_add_flag(fit, "--kernels=api", NULL);
    return 0;
}

static int advise_gpu(struct vs_search *search, struct vs_advice *advice)
{
    const struct vs_advise_job *job = search->job;
    uint64_t taken;
    char why[VS_SIMULATED_WHY_MAX];
    search->large = vs_xarena_printf(search->memory, "%s" VS_FIT_MORE_MEMORY, search->gpu);
    if (vs_simulated_memory(search->gpu, &search->total_bytes, &taken, why) ||
        vs_simulated_check(search->large, why))
        return vs_tool_fail(job->fit.who, "--gpu %s: %s", search->gpu, why);
    search->margin_bytes = job->margin_share > 0
                               ? (uint64_t)(job->margin_share * (double)search->total_bytes)
                               : job->margin_bytes;
    search->trials = (struct vs_trials){.job = job, .changes = &search->changes, .memory = search->memory};
    int status = vs_search_run(search);
    if (!status)
        vs_search_rows(search, advice);
    return status;
}

static int answer(struct vs_advise_job *job)
{
    struct vs_fit_job *fit = &job->fit;
    struct vs_arena memory = {0};
    struct vs_search *searches = vs_xcalloc(fit->gpu_count, sizeof *searches);
    struct vs_advice_set set = {.items = vs_xcalloc(fit->gpu_count, sizeof *set.items),
                                .program = fit->program, .vary = fit->vary, .all = fit->all};
    bool temporary = job->fresh && !fit->keep;
    int code = VS_EXIT_OK;
    int status = fit->keep || temporary ? vs_fit_folder_make(fit) : vs_run_cache(fit, &temporary);
    if (!status)
        vs_fit_signals_begin();
    set.kept = fit->keep ? fit->folder : NULL;
    for (size_t g = 0; g < fit->gpu_count && !status && !vs_fit_interrupted(); g++) {
        searches[g] = (struct vs_search){.job = job, .gpu = fit->gpus[g], .memory = &memory};
        status = advise_gpu(&searches[g], &set.items[set.count]);
        if (status || (vs_fit_interrupted() && !set.items[set.count].row_count))
            break;
        int one = vs_fit_exit_code(set.items[set.count++].answer);
        code = one > code ? one : code;
    }
    if (!status && set.count) {
        struct vs_style style = vs_tool_style(&fit->colour, stdout);
        if (fit->json)
            vs_advice_json(&set, stdout);
        else
            vs_advice_text(&set, &style);
        status = vs_tool_finish(fit->who, stdout, code);
    }
    if (temporary)
        vs_fit_folder_remove(fit);
    for (size_t g = 0; g < fit->gpu_count; g++) {
        vs_trials_free(&searches[g].trials);
        json_object_put(searches[g].survey.json);
        free(set.items[g].rows);
        free(set.items[g].absent);
        free(set.items[g].spared);
    }
    free(searches);
    free(set.items);
    vs_arena_free_all(&memory);
    return status;
}

static int advise_main(int argc, char **argv)
{
    struct vs_advise_job *job = vs_xcalloc(1, sizeof *job);
    const struct vs_tool_option more[] = {
        {"margin", .run = set_margin, .to = job}, {"lora", .flag = &job->lora}, {"no-cache", .flag = &job->fresh},
        {"shard", .count = &job->shard, .min = 2, .max = 1000000, .takes = "a number of GPUs, from 2"}, {0}};
    int status = vs_fit_parse(&job->fit, usage, more, argc, argv);
    if (!status)
        status = check_flags(&job->fit);
    if (!status) {
        if (!job->fit.steps)
            job->fit.steps = STEPS;
        /* with {} the command has no value of its own: the largest is the program as it is */
        if (job->fit.value_count && vs_fit_has_hole(job->fit.program))
            job->base_value = job->fit.values[job->fit.ascending ? job->fit.value_count - 1 : 0];
        status = answer(job);
    }
    return vs_fit_end(&job->fit, status);
}

const struct vs_command vs_cmd_advise = {
    "advise", "find the cheapest change with which a program fits on a GPU", usage, advise_main, false};
