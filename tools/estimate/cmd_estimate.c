/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope estimate: the memory that a model will need, from its description or from small runs.
 */
#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "tools/common/command.h"
#include "tools/estimate/estimate_internal.h"

static const char usage[] =
    "usage: vramscope estimate DESCRIPTION [--gpu NAME]... [--find batch|seq]\n"
    "       vramscope estimate [--gpu NAME]... [--find NAME] NAME=VALUE:TRACE...\n"
    "\n"
    "Estimates the memory of training a transformer before any run, or, from traces\n"
    "of runs with different arguments, how its peak grows and the largest argument\n"
    "that fits.\n"
    "\n"
    "Description (numbers may end in K, M, B or T, powers of 1000):\n"
    "  --params N      parameters; without it they are computed from the shape\n"
    "  --layers N, --width N, --heads N, --kv-heads N, --ffn N, --vocab N\n"
    "                  the shape; --ffn is 4 x width unless given\n"
    "  --mlp gelu|swiglu, --tied\n"
    "                  two or three matrices in each MLP; output layer shares the\n"
    "                  embedding\n"
    "  --batch N, --seq N\n"
    "                  sequences on one GPU, and tokens of each\n"
    "  --dtype fp32|bf16|fp16\n"
    "                  of parameters and gradients (default: fp32)\n"
    "  --amp           fp32 parameters with 16-bit autocast\n"
    "  --master-weights\n"
    "                  fp32 copy and optimizer state for 16-bit parameters\n"
    "  --optimizer adamw|adam|adam8bit|momentum|lion|sgd\n"
    "                  default: adamw\n"
    "  --fused         the optimizer is fused: it makes no temporaries\n"
    "  --trainable N   parameters that are trained (LoRA); default: all\n"
    "  --attention flash|math\n"
    "                  default: flash; math keeps the scores in memory\n"
    "  --dropout       dropout in every layer\n"
    "  --checkpointing none|selective|full\n"
    "                  activations that are computed again\n"
    "  --gpus N, --zero STAGE, --fsdp\n"
    "                  GPUs that share the model; --fsdp is --zero 3\n"
    "  --inference     no gradients, a KV cache for --seq tokens\n"
    "\n"
    "Both:\n"
    "  --gpu NAME      compare with a GPU, by its name as for `vramscope fit`\n"
    "  --capacity SIZE\n"
    "                  compare with a device of this size\n"
    "  --find NAME     the largest batch, seq or argument of the traces that fits\n"
    "                  each GPU\n"
    "  --at NAME=VALUE[,NAME=VALUE]\n"
    "                  traces: predict the peak there\n"
    "  --partial       use the readable events of a trace that is cut off or damaged\n"
    "  --json          JSON (schema vramscope.estimate/2)\n"
    "  --color WHEN    auto (default), always or never\n"
    "\n"
    "Exit codes: 0 fits on every GPU given (or none was given); 1 does not fit on\n"
    "one; 2 a trace is unreadable, activations are missing in what would fit, or\n"
    "wrong usage.\n";

static int exit_code(const struct vs_estimate_answer *a)
{
    uint64_t need = vs_estimate_need(a);
    for (size_t i = 0; i < a->gpu_count; i++) {
        if (a->find ? !vs_estimate_largest(a, &a->gpus[i], false)
                    : need > vs_estimate_usable(&a->gpus[i]))
            return VS_EXIT_NO;
    }
    bool partial = !a->run_count && !a->estimate.has_activations;
    return a->gpu_count && need && partial ? VS_EXIT_UNUSABLE : VS_EXIT_OK;
}

static int estimate_main(int argc, char **argv)
{
    struct vs_estimate_job *job = vs_xcalloc(1, sizeof *job);
    int status = vs_estimate_parse(job, usage, argc, argv);
    if (!status) {
        if (!job->answer.run_count)
            vs_model_memory(&job->answer.model, &job->answer.estimate);
        struct vs_style style = vs_tool_style(&job->colour, stdout);
        if (job->json)
            vs_estimate_json(&job->answer, stdout);
        else
            vs_estimate_text(&job->answer, &style);
        status = vs_tool_finish(argv[0], stdout, exit_code(&job->answer));
    }
    vs_estimate_clear(job);
    free(job);
    return status < 0 ? VS_EXIT_OK : status;
}

const struct vs_command vs_cmd_estimate = {
    "estimate", "estimate a model's memory before any run, or how it grows", usage, estimate_main, false};
