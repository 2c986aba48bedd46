/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope fit: whether a program fits on a GPU, found by running it on the simulated one. */
#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "tools/common/command.h"
#include "tools/fit/fit_internal.h"
#include "viewer/report/answer_text.h"

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

static int exit_code(const struct vs_fit_set *set)
{
    switch (vs_fit_set_answer(set, NULL)) {
    case VS_FIT_YES: return VS_EXIT_OK;
    case VS_FIT_NO: return VS_EXIT_NO;
    default: return VS_EXIT_UNUSABLE;
    }
}

static int answer(struct vs_fit_job *job)
{
    struct vs_fit_set set = {.vary = job->vary, .program = job->program};
    int status = vs_fit_folder_make(job);
    if (status)
        return status;
    set.kept = job->keep ? job->folder : NULL;
    vs_fit_signals_begin();
    status = vs_fit_search(job, &set);
    vs_fit_folder_remove(job);
    if (!status && !vs_fit_interrupted()) {
        struct vs_style style = vs_tool_style(&job->colour, stdout);
        if (job->json)
            vs_fit_json(&set, stdout);
        else
            vs_fit_text(&set, &style);
        status = vs_tool_finish(job->who, stdout, exit_code(&set));
    }
    for (size_t i = 0; i < set.count; i++)
        vs_fit_run_clear(&set.runs[i]);
    free(set.runs);
    return status;
}

static int fit_main(int argc, char **argv)
{
    struct vs_fit_job *job = vs_xcalloc(1, sizeof *job);
    int status = vs_fit_parse(job, usage, NULL, argc, argv);
    if (!status)
        status = answer(job);
    vs_fit_job_clear(job);
    free(job);
    if (vs_fit_interrupted())
        vs_fit_signals_leave();
    return status < 0 ? VS_EXIT_OK : status;
}

const struct vs_command vs_cmd_fit = {
    "fit", "answer whether a program fits on a GPU, without one", usage, fit_main, false};
