/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of a running program. Its figures are those of `vramscope top`, which follows the trace; for
 * the page's data the trace is read anew each time, because they depend on all of it, with the blocks of
 * the latest events. Nothing of it is kept, so memory does not grow with the trace. Once the program
 * has ended, its trace stays open, as with --serve. */
#include "tools/view/view_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_clock.h"
#include "tools/common/command.h"

#define READ_NS UINT64_C(100000000) /* of the trace, before the next request is looked at */
#define LIVE_EVENTS 200000u         /* whose blocks a page is soon made of, and shows at once */

/* The trace of process *pid*; NULL, with a message, where there is none, or several. */
static char *trace_of_process(const char *who, uint64_t pid, uint64_t *recorder)
{
    struct vs_top_finds finds = {0};
    char why[VS_READER_WHY_MAX], *path = NULL;
    if (vs_top_find_pid(pid, &finds, why)) {
        vs_tool_fail(who, "%s", why);
    } else if (finds.count > 1) {
        vs_tool_fail(who, "process %llu has %zu recorded processes: give one of them, such as %llu "
                     "(%s)", (unsigned long long)pid, finds.count,
                     (unsigned long long)finds.items[0].pid, finds.items[0].path);
    } else {
        path = vs_xstrdup(finds.items[0].path);
        *recorder = finds.items[0].pid;
    }
    vs_top_finds_free(&finds);
    return path;
}

bool vs_view_live_open(const char *who, const char *word, const struct vs_view_options *options,
                       struct vs_view_live *live)
{
    struct stat st;
    uint64_t pid = 0;
    struct vs_reader *reader;
    size_t length = strlen(word), suffix = strlen(".live");
    *live = (struct vs_view_live){.options = *options, .events_max = options->events_max};
    live->options.partial = live->options.live = live->options.served = true;
    if (!live->options.events_max)
        live->options.events_max = LIVE_EVENTS;
    if (*word && strspn(word, "0123456789") == length && stat(word, &st))
        live->path = trace_of_process(who, strtoull(word, NULL, 10), &pid);
    else
        live->path = vs_xstrdup(word);
    if (!live->path)
        return false;
    if (!pid && length > suffix && strcmp(word + length - suffix, ".live") == 0)
        live->path[length - suffix] = 0;
    live->trace = (struct vs_view_trace){.who = who, .path = live->path};
    if (!vs_tool_open(who, live->path, &reader)) { /* says why */
        free(live->path);
        return false;
    }
    vs_reader_close(reader);
    vs_top_sources_add(&live->sources, live->path, pid);
    (void)!nice(VS_TOP_NICE); /* the program comes first */
    return true;
}

/* Reads on what the program recorded since. Returns whether it has ended. */
static bool read_on(struct vs_view_live *live)
{
    struct vs_top_source *source = &live->sources.items[0];
    struct vs_top_process *process = &live->sources.model.processes[0];
    live->behind = vs_top_sources_read(&live->sources, vs_clock_ns() + READ_NS, false, false);
    vs_top_names_read(&source->names, &process->view);
    return !process->error && !process->view.running;
}

bool vs_view_live_catch_up(struct vs_view_live *live)
{
    if (live->behind)
        read_on(live);
    return live->behind;
}

void vs_view_live_figures(struct vs_view_live *live, bool metrics, FILE *out)
{
    read_on(live);
    (metrics ? vs_top_metrics : vs_top_json)(&live->sources.model, out);
}

/* The blocks of the latest events; false: those of the whole trace. */
static bool latest(const struct vs_view_live *live, struct vs_time_window *out)
{
    uint64_t events = live->trace.span.extent.events, most = live->options.events_max;
    *out = (struct vs_time_window){{true, true, events - most + 1}, {true, true, events}};
    return !live->ended && events > most;
}

struct vs_page_data *vs_view_live_data(struct vs_view_live *live, uint64_t from, uint64_t to)
{
    struct vs_view_trace *trace = &live->trace;
    struct vs_time_window window;
    bool ends = read_on(live) && !live->ended;
    if (ends) { /* the page of the whole trace */
        live->ended = true;
        live->options.live = false;
        live->options.events_max = live->events_max ? live->events_max : VS_PAGE_EVENTS_MAX;
    }
    if (!trace->reader && !vs_view_open(trace->who, live->path, &live->options, trace)) {
        trace->reader = NULL;
        return NULL;
    }
    bool part = (to && vs_view_window(trace, from, to, &window)) || latest(live, &window);
    struct vs_page_data *data = vs_view_data(trace, &live->options, part ? &window : NULL);
    if (live->ended) {
        if (ends)
            vs_part_checkpoints(trace->who, live->path, trace->reader);
        return data;
    }
    vs_view_close(trace);
    trace->reader = NULL;
    return data;
}

void vs_view_live_close(struct vs_view_live *live)
{
    if (live->trace.reader)
        vs_view_close(&live->trace);
    vs_top_sources_free(&live->sources);
    free(live->path);
}
