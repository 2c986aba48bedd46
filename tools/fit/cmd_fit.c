/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope fit: whether a program fits on a GPU, found by running it on the simulated one. */
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "tools/common/command.h"
#include "tools/fit/fit_internal.h"
#include "viewer/report/answer_text.h"

#define PER_NODE 8 /* ranks, where nothing says how many */

static const char usage[] =
    "usage: vramscope fit --gpu GPU [--gpu GPU]... [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs PROGRAM on each simulated GPU, without a real one, and prints whether it\n"
    "fits: its peak, the memory that was left, and where the first allocation failed.\n"
    "PROGRAM is unchanged; its output is not shown.\n"
    "\n"
    "  --gpu GPU       a GPU by its name, with keys as for\n"
    "                  `vramscope run --simulate`: h100-80g, or h100-80g,devices=4\n"
    "                  for a program that uses four\n"
    "  --vary NAME=V1,V2...\n"
    "                  find the largest value that fits: --vary --batch=1,2,4,8 puts\n"
    "                  --batch 4 into the command, or replaces its value there; with\n"
    "                  {} in the command the value goes there. Numbers are searched\n"
    "                  by halves\n"
    "  --all           try every value of --vary\n"
    "  --ranks N       a job of N ranks, of which only those that can differ are run,\n"
    "                  each alone: fit --gpu h100-80g --ranks 1024 -- torchrun\n"
    "                  --nproc-per-node 8 train.py\n"
    "  --per-node N    ranks, and GPUs, of a node (default: the command's, or 8)\n"
    "  --rank N,N...   run these ranks, too\n"
    "  --steps N       end the program after N completed steps; otherwise it runs to\n"
    "                  its end\n"
    "  --jobs N        run on N GPUs at the same time (default: one for each\n"
    "                  processor)\n"
    "  --host-memory SIZE  end a run that takes more of the host's own memory\n"
    "  --json          JSON (schema vramscope.fit/1)\n"
    "  --keep DIR      keep traces and output there, for `vramscope report` and\n"
    "                  `vramscope oom`\n"
    "  -q, --quiet     print no progress\n"
    "  --color WHEN    auto (default), always or never\n"
    "\n"
    "Options of `vramscope run` are passed on, as --values=off or --stacks=python.\n"
    "\n"
    "Exit codes: 0 fits on every GPU (with --vary: some value does); 1 does not fit\n"
    "on one; 2 no answer: the program failed for another reason or used no GPU\n"
    "memory, or wrong usage.\n";

static int add_ranks(const char *who, const char *value, void *of)
{
    struct vs_fit_job *job = of;
    char *copy = vs_xstrdup(value), *state;
    bool good = *value != 0;
    for (char *word = strtok_r(copy, ",", &state); word && good; word = strtok_r(NULL, ",", &state))
        good = job->rank_count < VS_FIT_RANKS_LISTED &&
               vs_tool_count(word, 0, VS_FIT_RANKS_MAX, &job->rank_list[job->rank_count++]);
    free(copy);
    return good ? 0 : vs_tool_usage(who, "--rank takes numbers of ranks, such as 0,7,1023");
}

/* What the options about ranks need of each other. */
static int check_ranks(struct vs_fit_job *job)
{
    if (!job->ranks)
        return job->per_node || job->rank_count
                   ? vs_tool_usage(job->who, "%s needs --ranks, the number of ranks of the whole job",
                                   job->per_node ? "--per-node" : "--rank") : 0;
    if (job->vary)
        return vs_tool_usage(job->who, "--vary and --ranks cannot be combined; run fit once per value");
    for (size_t i = 0; i < job->rank_count; i++)
        if (job->rank_list[i] >= job->ranks)
            return vs_tool_usage(job->who, "--rank %llu: the ranks are 0 to %llu", job->rank_list[i],
                                 job->ranks - 1);
    const char *devices = strstr(job->gpus[0], ",devices=");
    unsigned long long of_gpu = devices ? strtoull(devices + strlen(",devices="), NULL, 10) : 0;
    if (!job->per_node)
        job->per_node = vs_fit_per_node(job->program);
    if (!job->per_node)
        job->per_node = of_gpu ? of_gpu : PER_NODE;
    if (job->per_node > job->ranks)
        job->per_node = job->ranks;
    if (of_gpu && of_gpu < job->per_node)
        return vs_tool_usage(job->who, "%llu ranks on each node need as many GPUs: leave devices=%llu out, or give "
                             "--per-node %llu", job->per_node, of_gpu, of_gpu);
    if (job->ranks % job->per_node)
        return vs_tool_usage(job->who, "--ranks %llu is not a multiple of the %llu ranks on each node; give "
                             "--per-node", job->ranks, job->per_node);
    return *vs_fit_without_launcher(job->program, &job->launcher) ? 0
               : vs_tool_usage(job->who, "no program after %s", job->program[0]);
}

static int answer(struct vs_fit_job *job)
{
    struct vs_fit_set set = {.vary = job->vary, .program = job->program};
    int status = vs_fit_folder_make(job);
    if (status)
        return status;
    set.kept = job->keep ? job->folder : NULL;
    vs_fit_signals_begin();
    status = job->ranks ? vs_fit_ranks(job, &set) : vs_fit_search(job, &set);
    vs_fit_folder_remove(job);
    if (!status && (!vs_fit_interrupted() || set.answered)) {
        struct vs_style style = vs_tool_style(&job->colour, stdout);
        if (job->json)
            vs_fit_json(&set, stdout);
        else
            vs_fit_text(&set, &style);
        status = vs_tool_finish(job->who, stdout, vs_fit_exit_code(vs_fit_set_answer(&set, NULL)));
    }
    for (size_t i = 0; i < set.count; i++)
        vs_fit_run_clear(&set.runs[i]);
    free(set.runs);
    return status;
}

static int fit_main(int argc, char **argv)
{
    struct vs_fit_job *job = vs_xcalloc(1, sizeof *job);
    const struct vs_tool_option more[] = {
        {"ranks", .count = &job->ranks, .min = 1, .max = VS_FIT_RANKS_MAX, .takes = "a number from 1 to 1000000"},
        {"per-node", .count = &job->per_node, .min = 1, .max = VS_FIT_RANKS_MAX, .takes = "a number, from 1"},
        {"rank", .run = add_ranks, .to = job},
        {0}};
    int status = vs_fit_parse(job, usage, more, argc, argv);
    if (!status)
        status = check_ranks(job);
    if (!status)
        status = answer(job);
    return vs_fit_end(job, status);
}

const struct vs_command vs_cmd_fit = {
    "fit", "answer whether a program fits on a GPU, without one", usage, fit_main, false};
