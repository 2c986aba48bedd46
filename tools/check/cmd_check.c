/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope check: memory budgets for CI. An incomplete trace never passes without a message: the
 * missing part could exceed the budget. */

#include "tools/check/check_command.h"
#include "tools/common/command.h"
#include "tools/common/process_tree_tool.h"
#include "tools/common/symbol_tool.h"

static const char usage[] =
    "usage: vramscope check [OPTIONS] --max-peak SIZE TRACE|FOLDER...\n"
    "       vramscope check [OPTIONS] --budget FILE TRACE|FOLDER...\n"
    "       vramscope check [OPTIONS] --baseline FILE [--update-baseline]\n"
    "                       TRACE|FOLDER...\n"
    "\n"
    "Compares the GPU memory of each program in TRACE with limits, or with a\n"
    "baseline. For a limit that is exceeded: by how much, when, and which lines of\n"
    "the program made the difference. A program that failed or ran out of memory\n"
    "fails as well.\n"
    "\n"
    "Limits, for each device:\n"
    "  --max-peak SIZE         the highest allowed peak, such as 6GiB\n"
    "  --metric METRIC         what --max-peak limits: allocated (default), requested\n"
    "                          or reserved; under PyTorch allocated is that of its\n"
    "                          tensors, reserved that of the segments in which it\n"
    "                          keeps them\n"
    "  --max-allocated SIZE, --max-requested SIZE, --max-reserved SIZE\n"
    "                          one peak each\n"
    "  --max-tensors SIZE      the peak of PyTorch's tensors alone, as\n"
    "                          torch.cuda.max_memory_allocated has it; --max-peak\n"
    "                          also counts memory outside PyTorch, such as NCCL's\n"
    "  --max-device SIZE       the most memory in use on the device,\n"
    "                          other processes included\n"
    "  --min-free SIZE         the least free memory of the device\n"
    "  --max-growth-per-step SIZE\n"
    "                          growth of call sites from step to step\n"
    "  --max-leak SIZE, --no-leaks\n"
    "                          memory still allocated at the end\n"
    "                          (also --max-live-at-end)\n"
    "  --max-transfers [h2d:|d2h:|d2d:]SIZE[/step]\n"
    "                          bytes copied, or with 'N copies' their number\n"
    "  --device N, --phase NAME, --test NAME, --process NAME\n"
    "                          to what these limits apply\n"
    "  --budget FILE           limits from a file (docs/budgets.md)\n"
    "\n"
    "Baseline:\n"
    "  --baseline FILE         compare every quantity with those of an accepted run\n"
    "  --tolerance AMOUNT      how much more is accepted: 2% or 16MiB (default 0)\n"
    "  --update-baseline       write this run to the file\n"
    "  --device-readings       with --update-baseline: also device memory in use,\n"
    "                          and free\n"
    "\n"
    "Runs:\n"
    "  --take HOW              for several runs of one program: median or max of them\n"
    "                          (default each: every trace is checked alone)\n"
    "  --allow-oom             a run that ended in out of memory may pass\n"
    "  --allow-exit STATUS     so may one with this exit status (1,3 or any)\n"
    "  --allow-uncomputed      so may one that read values which no kernel of the\n"
    "                          simulated GPU computed; without it such a run cannot\n"
    "                          be checked\n"
    "  --partial               use the readable events of a trace that is cut off or\n"
    "                          damaged, or whose program was killed\n"
    "\n"
    "Output:\n"
    "  --format FORMAT         text (default), json, github (workflow commands),\n"
    "                          junit, markdown, gitlab (code quality), sarif or\n"
    "                          openmetrics\n"
    "  --output FORMAT=FILE    write that as well; may be repeated\n"
    "  --root DIR              folder to which files are relative in these formats\n"
    "                          (default: the checkout in CI, else the current folder)\n"
    "  --color WHEN            auto (default), always or never\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Exit codes: 0 every limit held; 1 a limit was exceeded; 2 a trace is unreadable\n"
    "or incomplete, lacks what a limit names, or wrong usage (2 takes precedence\n"
    "over 1).\n";

static int check_main(int argc, char **argv)
{
    struct vs_check_command command = {.who = argv[0], .out = stdout};
    struct vs_trace_list list = {0};
    int first = 0;
    int code = vs_check_parse(&command, argc, argv, usage, &first);
    if (!code && first == argc)
        code = vs_tool_usage(argv[0], "no trace given");
    if (!code)
        code = vs_check_ready(&command);
    for (int i = first; !code && i < argc; i++)
        code = vs_trace_list_add(argv[0], &list, argv[i]) ? 0 : VS_EXIT_UNUSABLE;
    if (!code)
        code = vs_check_traces(&command, list.paths, list.count);
    vs_trace_list_free(&list);
    vs_check_command_free(&command);
    return code < 0 ? VS_EXIT_OK : code;
}

const struct vs_command vs_cmd_check = {
    "check", "check memory budgets in CI: exit 0 met, 1 exceeded, 2 not checked", usage, check_main, true};
