/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope top: a live view of the memory of recorded processes. */
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_clock.h"
#include "tools/common/command.h"
#include "tools/common/process_tree_tool.h"
#include "tools/common/symbol_tool.h"
#include "tools/top/top_command.h"

#define INTERVAL_MIN 0.1
#define INTERVAL_MAX 3600.0

static const char usage[] =
    "usage: vramscope top [OPTIONS] [PID... | TRACE...]\n"
    "\n"
    "Shows the GPU memory of running processes that vramscope records, while they\n"
    "run: allocated, reserved, peak, rate, unused memory, the call sites that hold\n"
    "most, growth, and how long memory will last. Without arguments: all of this\n"
    "user's processes. The programs are only read about, in their traces: they are\n"
    "not stopped, signalled or slowed.\n"
    "\n"
    "  --once          print the state once, as text\n"
    "  --json          with --once: JSON (schema vramscope.top/1)\n"
    "  --interval S    seconds between two updates (default: 1; 0.1 to 3600)\n"
    "  --sort KEY      pid (default), allocated, reserved, rate or left\n"
    "  --sites N       with --once: call sites shown (default: 5)\n"
    "  --full          with --once: the call chains of the sites\n"
    "  --color WHEN    with --once: auto (default), always or never\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Keys: up, down, Tab select; s sort; e call chains; p pause; ? help; q quit.\n"
    "\n"
    "Exit codes: 0 shown; 1 with --once: no process is recorded; 2 a process or trace\n"
    "cannot be read, or wrong usage.\n";

struct top_arguments {
    bool once, json, full, colour_given, colour;
    unsigned long long sites;
    double interval;
    enum vs_top_sort sort;
};

static bool parse_sort(const char *word, enum vs_top_sort *out)
{
    static const char *const words[] = {"pid", "allocated", "reserved", "rate", "left"};
    for (int i = 0; i < VS_TOP_SORT_COUNT; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (enum vs_top_sort)i;
            return true;
        }
    return false;
}

static bool parse_interval(const char *word, double *out)
{
    char *end;
    double seconds = strtod(word, &end);
    if (end == word || *end || !(seconds >= INTERVAL_MIN && seconds <= INTERVAL_MAX))
        return false;
    *out = seconds;
    return true;
}

static int parse(int argc, char **argv, struct top_arguments *args)
{
    static const struct option options[] = {
        {"once", no_argument, NULL, 'o'},         {"json", no_argument, NULL, 'j'},
        {"interval", required_argument, NULL, 'i'}, {"sort", required_argument, NULL, 's'},
        {"sites", required_argument, NULL, 'n'},  {"full", no_argument, NULL, 'f'},
        {"color", required_argument, NULL, 'c'},  {"help", no_argument, NULL, 'h'},
        {0}};
    int c;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (c) {
        case 'o': args->once = true; break;
        case 'j': args->json = true; break;
        case 'f': args->full = true; break;
        case 'i':
            if (!parse_interval(optarg, &args->interval))
                return vs_tool_usage(argv[0], "--interval takes seconds, from 0.1 to 3600");
            break;
        case 's':
            if (!parse_sort(optarg, &args->sort))
                return vs_tool_usage(argv[0], "--sort takes pid, allocated, reserved, rate or left");
            break;
        case 'n':
            if (!vs_tool_count(optarg, 1, VS_WATCH_SITES_MAX, &args->sites))
                return vs_tool_usage(argv[0], "--sites takes a number from 1 to %d", VS_WATCH_SITES_MAX);
            break;
        case 'c':
            args->colour_given = strcmp(optarg, "auto") != 0;
            if (!vs_tool_colour(optarg, &args->colour))
                return vs_tool_usage(argv[0], "--color takes auto, always or never");
            break;
        case 'h': fputs(usage, stdout); return -1;
        default: return vs_tool_bad_option(argv, c);
        }
    }
    if (args->json && !args->once)
        return vs_tool_usage(argv[0], "--json needs --once");
    return VS_EXIT_OK;
}

/* Digits are a pid, unless there is such a file. */
static bool is_pid(const char *word)
{
    struct stat st;
    return *word && strspn(word, "0123456789") == strlen(word) && stat(word, &st) != 0;
}

/* false, with a message: exit with VS_EXIT_UNUSABLE. */
static bool take_words(const char *who, char **words, size_t count, struct vs_top_sources *sources)
{
    struct vs_trace_list list = {0};
    bool good = true;
    sources->search = count == 0;
    sources->pids = vs_xcalloc(count + 1, sizeof *sources->pids);
    for (size_t i = 0; good && i < count; i++) {
        if (is_pid(words[i]))
            sources->pids[sources->pid_count++] = strtoull(words[i], NULL, 10);
        else
            good = vs_trace_list_add(who, &list, words[i]);
    }
    for (size_t i = 0; good && i < list.count; i++) {
        struct vs_reader *reader;
        good = vs_tool_open(who, list.paths[i], &reader);
        if (good) {
            vs_reader_close(reader);
            vs_top_sources_add(sources, list.paths[i], 0);
        }
    }
    vs_trace_list_free(&list);
    return good;
}

static int print(const char *who, struct vs_top_sources *sources, const struct top_arguments *args)
{
    struct vs_style style;
    struct vs_top_model *model = &sources->model;
    for (size_t i = 0; i < model->count && !sources->search; i++)
        if (model->processes[i].error)
            return vs_tool_fail(who, "%s", model->processes[i].error);
    if (args->json) {
        vs_top_json(model, stdout);
        return vs_tool_finish(who, stdout, model->count ? VS_EXIT_OK : VS_EXIT_NO);
    }
    vs_style_init(&style, stdout);
    if (args->colour_given)
        style.colour = args->colour;
    if (args->sites)
        style.sites = (size_t)args->sites;
    style.full = args->full;
    if (!model->count)
        vs_tool_print("no process is being recorded; start one with: vramscope run -- PROGRAM");
    else
        vs_top_once(model, &style);
    return vs_tool_finish(who, stdout, model->count ? VS_EXIT_OK : VS_EXIT_NO);
}

static int once(const char *who, struct vs_top_sources *sources, const struct top_arguments *args)
{
    bool behind;
    enum vs_err err = vs_top_sources_read(sources, UINT64_MAX, true, true, &behind);
    return err ? vs_tool_fail(who, "%s", vs_err_text(err)) : print(who, sources, args);
}

static int top_main(int argc, char **argv)
{
    struct top_arguments args = {.interval = 1};
    struct vs_top_sources *sources = vs_xcalloc(1, sizeof *sources);
    int code = VS_EXIT_UNUSABLE, parsed = VS_EXIT_UNUSABLE;
    if (vs_symbol_tool_flags(&argc, argv))
        parsed = parse(argc, argv, &args);
    if (parsed) {
        code = parsed < 0 ? VS_EXIT_OK : parsed;
    } else if (!args.once && vs_terminal_missing()) {
        code = vs_tool_fail(argv[0], "%s", vs_terminal_missing());
    } else if (take_words(argv[0], argv + optind, (size_t)(argc - optind), sources)) {
        sources->model.sort = args.sort;
        sources->model.interval_ms = (unsigned)(args.interval * 1000);
        vs_top_sources_search(sources);
        if (*sources->why && (args.once || !sources->may_come))
            code = vs_tool_fail(argv[0], "%s", sources->why);
        else
            code = args.once ? once(argv[0], sources, &args) : vs_top_live(argv[0], sources);
    }
    free(sources->pids);
    vs_top_sources_free(sources);
    free(sources);
    return code;
}

const struct vs_command vs_cmd_top = {
    .name = "top",
    .summary = "memory of running processes, live",
    .usage = usage,
    .main = top_main,
};
