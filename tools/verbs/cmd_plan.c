/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope plan: from a trace, plans the place of every block in the next run. */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_size.h"
#include "tools/common/command.h"
#include "tools/common/symbol_tool.h"
#include "tools/common/plan_tool.h"

static const char usage[] =
    "usage: vramscope plan [OPTIONS] TRACE\n"
    "\n"
    "Plans an address for every block, assuming that the next run repeats the trace,\n"
    "and writes the plan for `vramscope run --policy=compact --plan`. Prints the\n"
    "repeating period, the planned peak, the minimum for any allocator, and what the\n"
    "policies pytorch (without and with expandable segments) and compact reserve.\n"
    "\n"
    "  -o FILE         the plan file (default: TRACE with .vsplan instead of .vst)\n"
    "  --device N      plan this device (default: the one with most memory in use)\n"
    "  --whole         plan the whole trace; do not look for repetition\n"
    "  --json          JSON (schema vramscope.plan/1)\n"
    "  --partial       use the readable events of a trace that is cut off or damaged\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Exit codes: 0 written; 2 the trace is unreadable or has no device allocations,\n"
    "the plan cannot be written, or wrong usage.\n";

struct plan_arguments {
    struct vs_plan_request request;
    const char *output;
    bool json;
};

static int parse(int argc, char **argv, struct plan_arguments *args)
{
    static const struct option options[] = {
        {"device", required_argument, NULL, 'd'}, {"whole", no_argument, NULL, 'w'},
        {"json", no_argument, NULL, 'j'},         {"partial", no_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},         {0}};
    unsigned long long device;
    int c;
    opterr = 0;
    args->request.device = VS_PLAN_DEVICE_ANY;
    args->request.needs = true;
    while ((c = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
        switch (c) {
        case 'o': args->output = optarg; break;
        case 'w': args->request.whole = true; break;
        case 'j': args->json = true; break;
        case 'p': args->request.partial = true; break;
        case 'd':
            if (!vs_tool_count(optarg, 0, 63, &device))
                return vs_tool_usage(argv[0], "--device takes a number from 0 to 63");
            args->request.device = device;
            break;
        case 'h': fputs(usage, stdout); return -1;
        default: return vs_tool_bad_option(argv, c);
        }
    }
    if (argc - optind != 1)
        return vs_tool_usage(argv[0], argc == optind ? "no trace given" : "takes one trace");
    args->request.trace = argv[optind];
    return VS_EXIT_OK;
}

static double over(uint64_t bytes, uint64_t bound)
{
    return bound ? 100.0 * ((double)bytes / (double)bound - 1.0) : 0.0;
}

/* "3,000 requests repeat 12 times". */
static void print_found(const struct vs_plan_summary_stream *s)
{
    char period[VS_SIZE_TEXT_MAX], times[VS_SIZE_TEXT_MAX];
    printf("%s requests repeat %s times, but ", vs_count_format(period, s->found_period),
           vs_count_format(times, s->found_repeats));
}

/* Steps of a program may differ; a plan needs the same sizes in the same order. */
static void print_why(const struct vs_plan_summary_stream *s)
{
    char text[VS_SIZE_TEXT_MAX];
    printf("    planned as one sequence: ");
    switch (s->why) {
    case VS_PLAN_WHOLE: puts("requested by --whole"); return;
    case VS_PLAN_PEAK_OUTSIDE:
        print_found(s);
        printf("have at most\n    %s in use together: at the peak, memory that outlives them is "
               "added\n", vs_size_format(text, s->found_bytes));
        return;
    case VS_PLAN_LIVES_DIFFER:
        print_found(s);
        printf("blocks\n    live longer in some repetitions than in others: %s would be needed\n",
               vs_size_format(text, s->found_bytes));
        return;
    default:
        puts("no sequence of sizes repeats three times and for\n"
             "    half of the requests (steps that differ in one size are none for a plan)");
    }
}

static void print_stream(const struct vs_plan_summary_stream *s)
{
    char text[VS_SIZE_TEXT_MAX], first[VS_SIZE_TEXT_MAX], count[VS_SIZE_TEXT_MAX];
    printf("  stream %" PRIx64 ": %s requests, %s at the peak\n", s->stream,
           vs_count_format(count, s->requests), vs_size_format(text, s->peak_bytes));
    if (s->period)
        printf("    the first %s, then a period of %s repeated %s times\n",
               vs_count_format(first, s->prologue), vs_count_format(text, s->period),
               vs_count_format(count, s->repeats));
    else
        print_why(s);
}

static void print_needs(const struct vs_plan_result *plan)
{
    char text[VS_SIZE_TEXT_MAX];
    for (int i = 0; i < VS_POLICY_COUNT; i++) {
        const struct vs_policy_need *n = &plan->needs[i];
        if (n->err)
            printf("%-18s  unknown: %s\n", vs_policies[i]->name, vs_err_text(n->err));
        else
            printf("%-18s %14s   %.2f %% above the minimum\n", vs_policies[i]->name,
                   vs_size_format(text, n->reserved_bytes),
                   over(n->reserved_bytes, plan->summary.live_bytes));
    }
}

static void print_text(const struct vs_plan_result *plan, const char *output)
{
    const struct vs_plan_summary *s = &plan->summary;
    char text[VS_SIZE_TEXT_MAX];
    vs_tool_print("%s, device %" PRIu32 ": %s requests%s",
                  plan->program[0] ? plan->program : "program", plan->identity.device,
                  vs_count_format(text, s->requests),
                  plan->framework ? " of PyTorch's allocator" : "");
    for (uint32_t i = 0; i < s->stream_count; i++)
        print_stream(&s->streams[i]);
    if (s->unplanned_streams)
        printf("  %s more stream%s not planned\n", vs_count_format(text, s->unplanned_streams),
               s->unplanned_streams == 1 ? " is" : "s are");
    if (plan->unmatched)
        printf("  %s free%s of memory that is not planned, or whose allocation is not\n"
               "  in the trace\n", vs_count_format(text, plan->unmatched),
               plan->unmatched == 1 ? "" : "s");
    printf("live at the peak   %14s   the minimum for any allocator\n", vs_size_format(text, s->live_bytes));
    if (!s->too_long)
        printf("planned            %14s   %.2f %% above the minimum\n",
               vs_size_format(text, s->planned_bytes), over(s->planned_bytes, s->live_bytes));
    if (s->too_long)
        puts("  too many blocks are in use together to plan them as one sequence: the policy\n"
             "  places them");
    else if (s->no_gain)
        printf("  no better than %s without a plan: the policy places them\n",
               vs_policies[vs_policy_plannable()]->name);
    puts("reserved without a plan, by policy");
    print_needs(plan);
    vs_tool_print("plan: %s (%s)", output, vs_size_format(text, plan->size));
}

static void print_json_needs(const struct vs_plan_result *plan)
{
    printf("],\"policies\":[");
    for (int i = 0; i < VS_POLICY_COUNT; i++) {
        const struct vs_policy_need *n = &plan->needs[i];
        printf("%s{\"policy\":\"%s\",\"reserved_bytes\":", i ? "," : "",
               vs_policies[i]->name);
        if (n->err || !plan->summary.live_bytes)
            printf("null,\"ratio\":null}");
        else
            printf("%" PRIu64 ",\"ratio\":%.6f}", n->reserved_bytes,
                   (double)n->reserved_bytes / (double)plan->summary.live_bytes);
    }
    puts("]}");
}

static const char *const why_keys[] = {[VS_PLAN_REPEATS] = "repeats",
                                       [VS_PLAN_WHOLE] = "not_searched",
                                       [VS_PLAN_NO_PERIOD] = "nothing",
                                       [VS_PLAN_PEAK_OUTSIDE] = "peak_outside",
                                       [VS_PLAN_LIVES_DIFFER] = "lives_differ"};

static void print_json(const struct vs_plan_result *plan)
{
    const struct vs_plan_summary *s = &plan->summary;
    printf("{\"schema\":\"vramscope.plan/1\",\"device\":%" PRIu32 ",\"requests\":%" PRIu64
           ",\"framework\":%s,\"unmatched_frees\":%" PRIu64 ",\"live_bytes\":%" PRIu64
           ",\"planned_bytes\":%" PRIu64 ",\"file_bytes\":%zu,\"streams\":[",
           plan->identity.device, s->requests, plan->framework ? "true" : "false",
           plan->unmatched, s->live_bytes, s->planned_bytes, plan->size);
    for (uint32_t i = 0; i < s->stream_count; i++) {
        const struct vs_plan_summary_stream *one = &s->streams[i];
        printf("%s{\"stream\":%" PRIu64 ",\"requests\":%" PRIu64 ",\"prologue\":%" PRIu32
               ",\"period\":%" PRIu32 ",\"repeats\":%" PRIu32 ",\"placed\":%" PRIu64
               ",\"bound_bytes\":%" PRIu64 ",\"peak_bytes\":%" PRIu64
               ",\"found\":\"%s\",\"found_period\":%" PRIu32 ",\"found_repeats\":%" PRIu32 "}",
               i ? "," : "", one->stream, one->requests, one->prologue, one->period, one->repeats,
               one->placed, one->bound_bytes, one->peak_bytes, why_keys[one->why],
               one->found_period, one->found_repeats);
    }
    print_json_needs(plan);
}

static int plan_main(int argc, char **argv)
{
    struct plan_arguments args = {0};
    struct vs_plan_result plan;
    char beside[4096];
    if (!vs_symbol_tool_flags(&argc, argv))
        return VS_EXIT_UNUSABLE;
    int code = parse(argc, argv, &args);
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    if (!args.output) {
        size_t length = strlen(args.request.trace);
        if (length > 4 && strcmp(args.request.trace + length - 4, ".vst") == 0)
            length -= 4;
        if (length + sizeof ".vsplan" > sizeof beside)
            return vs_tool_fail(argv[0], "the trace's path is too long");
        snprintf(beside, sizeof beside, "%.*s.vsplan", (int)length, args.request.trace);
        args.output = beside;
    }
    if (!vs_tool_plan(argv[0], &args.request, &plan))
        return VS_EXIT_UNUSABLE;
    code = vs_tool_plan_write(argv[0], args.output, &plan) ? VS_EXIT_OK : VS_EXIT_UNUSABLE;
    if (!code && args.json)
        print_json(&plan);
    else if (!code)
        print_text(&plan, args.output);
    free(plan.bytes);
    return vs_tool_finish(argv[0], stdout, code);
}

const struct vs_command vs_cmd_plan = {
    "plan",
    "plan the addresses of the next run's blocks from a trace",
    usage,
    plan_main,
};
