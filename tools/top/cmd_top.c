/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope top: a live view of the memory of recorded processes. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_clock.h"
#include "tools/common/process_tree_tool.h"
#include "tools/common/symbol_tool.h"
#include "tools/common/tool_options.h"
#include "tools/common/whole_file.h"
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
    "  --metrics FILE  no view: write FILE for Prometheus at each interval, or with\n"
    "                  --once once; \"-\": standard output\n"
    "  --interval S    seconds between two updates (default: 1; 0.1 to 3600)\n"
    "  --sort KEY      auto (default: by time left while memory of a process is about\n"
    "                  to run out, otherwise by pid), allocated, reserved, rate,\n"
    "                  left or pid\n"
    "  --by-growth     call sites by growth instead of bytes (key g)\n"
    "  --sites N       with --once: call sites shown (default: 5)\n"
    "  --full          with --once: the call chains of the sites\n"
    "  --color WHEN    with --once: auto (default), always or never\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Keys: up, down, Tab select; s sort; e call tree; g call sites by growth;\n"
    "p pause; ? help; q quit.\n"
    "\n"
    "Exit codes: 0 shown; 1 with --once: no process is recorded; 2 a process or trace\n"
    "cannot be read, or wrong usage.\n";

struct top_arguments {
    bool once, json, full, by_growth;
    const char *metrics;
    struct vs_tool_colour colour;
    unsigned long long sites;
    double interval;
    enum vs_top_sort sort;
};

static bool parse_sort(const char *word, void *to)
{
    for (int i = 0; i < VS_TOP_SORT_COUNT; i++)
        if (strcmp(word, vs_top_sort_name((enum vs_top_sort)i)) == 0) {
            *(enum vs_top_sort *)to = (enum vs_top_sort)i;
            return true;
        }
    return false;
}

static bool parse_interval(const char *word, void *to)
{
    char *end;
    double seconds = strtod(word, &end);
    if (end == word || *end || !(seconds >= INTERVAL_MIN && seconds <= INTERVAL_MAX))
        return false;
    *(double *)to = seconds;
    return true;
}

static int parse(int argc, char **argv, struct top_arguments *args)
{
    static char sites[64];
    snprintf(sites, sizeof sites, "a number from 1 to %d", VS_WATCH_SITES_MAX);
    const struct vs_tool_option options[] = {
        {"once", .flag = &args->once},
        {"json", .flag = &args->json},
        {"full", .flag = &args->full},
        {"metrics", .text = &args->metrics},
        {"by-growth", .flag = &args->by_growth},
        {"interval", .parse = parse_interval, .to = &args->interval,
         .takes = "seconds, from 0.1 to 3600"},
        {"sort", .parse = parse_sort, .to = &args->sort,
         .takes = "auto, allocated, reserved, rate, left or pid"},
        {"sites", .count = &args->sites, .min = 1, .max = VS_WATCH_SITES_MAX, .takes = sites},
        {"color", .colour = &args->colour},
        {0}};
    int code = vs_tool_options(argc, argv, usage, options);
    if (!code && args->json && !args->once)
        return vs_tool_usage(argv[0], "--json needs --once");
    return code;
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

static int print_once(const char *who, struct vs_top_sources *sources,
                      const struct top_arguments *args)
{
    struct vs_top_model *model = &sources->model;
    vs_top_sources_read(sources, UINT64_MAX, true, true);
    for (size_t i = 0; i < model->count && !sources->search; i++)
        if (model->processes[i].error)
            return vs_tool_fail(who, "%s", model->processes[i].error);
    if (args->json) {
        vs_top_json(model, stdout);
        return vs_tool_finish(who, stdout, model->count ? VS_EXIT_OK : VS_EXIT_NO);
    }
    struct vs_style style = vs_tool_style(&args->colour, stdout);
    if (args->sites)
        style.sites = (size_t)args->sites;
    style.full = args->full;
    if (!model->count)
        vs_tool_print("no process is being recorded; start one with: vramscope run -- PROGRAM");
    else
        vs_top_once(model, &style);
    return vs_tool_finish(who, stdout, model->count ? VS_EXIT_OK : VS_EXIT_NO);
}

/* Whether the file may be replaced: it is new, empty, or begins as metrics do. */
static bool may_replace(const char *who, const char *path)
{
    char begin[2] = "# ";
    struct stat st;
    FILE *file = stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size ? fopen(path, "re") : NULL;
    bool good = !file || (fread(begin, 1, sizeof begin, file) == sizeof begin && memcmp(begin, "# ", 2) == 0);
    if (file)
        fclose(file);
    if (!good)
        vs_tool_fail(who, "%s exists and has no metrics: not overwritten; give another file", path);
    return good;
}

/* OpenMetrics to a file, until the command is ended by a signal. */
static int write_metrics(const char *who, struct vs_top_sources *sources, const struct top_arguments *args)
{
    const char *path = strcmp(args->metrics, "-") ? args->metrics : NULL;
    int code = VS_EXIT_OK;
    if (path && !may_replace(who, path))
        return VS_EXIT_UNUSABLE;
    (void)!nice(args->once ? 0 : VS_TOP_NICE); /* the watched programs come first */
    do {
        struct vs_whole_file file;
        vs_top_sources_search(sources);
        vs_top_sources_read(sources, args->once ? UINT64_MAX : vs_clock_ns() + (uint64_t)(args->interval * 1e9), args->once,
                            false);
        for (size_t i = 0; i < sources->count; i++)
            vs_top_names_read(&sources->items[i].names, &sources->model.processes[i].view);
        if (!vs_whole_file_open(who, path, false, &file))
            return VS_EXIT_UNUSABLE;
        vs_top_metrics(&sources->model, file.stream);
        code = vs_whole_file_end(who, &file, VS_EXIT_OK);
        if (!args->once)
            usleep((useconds_t)(args->interval * 1e6));
    } while (!args->once && !code);
    return code;
}

static int top_main(int argc, char **argv)
{
    struct top_arguments args = {.interval = 1};
    struct vs_top_sources *sources = vs_xcalloc(1, sizeof *sources);
    int code = VS_EXIT_UNUSABLE, parsed = parse(argc, argv, &args);
    if (parsed) {
        code = parsed < 0 ? VS_EXIT_OK : parsed;
    } else if (take_words(argv[0], argv + optind, (size_t)(argc - optind), sources)) {
        sources->model.sort = args.sort;
        sources->model.by_growth = args.by_growth;
        sources->model.interval_ms = (unsigned)(args.interval * 1000);
        vs_top_sources_search(sources);
        if (*sources->why && (args.once || !sources->may_come))
            code = vs_tool_fail(argv[0], "%s", sources->why);
        else if (args.metrics)
            code = write_metrics(argv[0], sources, &args);
        else
            code = args.once ? print_once(argv[0], sources, &args)
                             : vs_top_live(argv[0], sources);
    }
    free(sources->pids);
    vs_top_sources_free(sources);
    free(sources);
    return code;
}

const struct vs_command vs_cmd_top = {"top", "memory of running processes, live", usage, top_main, true};
