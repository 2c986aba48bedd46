/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/view_trace.h"

#include <unistd.h>

#include "base/vs_clock.h"
#include "base/vs_size.h"
#include "tools/common/command.h"
#include "tools/common/process_tree_tool.h"
#include "tools/common/symbol_tool.h"
#include "trace/read/seek.h"
#include "viewer/common/text_style.h"

#define LOOK_EVERY_EVENTS 65536

static struct vs_tool_progress progress_of(const struct vs_view_trace *trace, const char *doing)
{
    return (struct vs_tool_progress){trace->who, doing, trace->path, vs_clock_ns(), 0, false};
}

/* What follows the reading of the report. */
struct followers {
    struct vs_view_trace *trace;
    struct vs_tool_progress progress;
    struct vs_oom_watch *watch;
};

static void begin(void *context, struct vs_replay *replay, const struct vs_growth_tracker *growth)
{
    struct followers *followers = context;
    vs_oom_watch_begin(followers->watch, replay, growth);
    if (followers->trace->watch)
        vs_whatif_watch_begin(followers->trace->watch, replay);
    if (followers->trace->collected)
        vs_page_data_begin(followers->trace->collected, replay);
}

static enum vs_err after_event(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct followers *followers = context;
    if (replay->events % LOOK_EVERY_EVENTS == 0)
        vs_tool_progress_show(&followers->progress, vs_reader_position(replay->reader),
                              vs_reader_bytes(replay->reader));
    return vs_page_scan_event(&followers->trace->scan, replay, event);
}

/* The report, and in the same reading the curves, for a page of the whole trace the blocks, and what
 * *watch* needs for the post-mortem. */
static enum vs_err read_trace(struct vs_view_trace *trace, const struct vs_view_options *options,
                              struct vs_oom_watch *watch)
{
    struct followers followers = {trace, progress_of(trace, "reading"), watch};
    enum vs_err err = vs_span_of(trace->reader, &trace->span);
    if (err)
        return err;
    trace->scan.start_ns = trace->span.start_ns;
    trace->scan.end_ns = trace->span.extent.last_ns;
    struct vs_observer observers[4] = {{VS_KINDS_EVERY, NULL, after_event, &followers},
                                       vs_oom_watch_observer(watch)};
    size_t observer_count = 2;
    if (!options->no_whatif && !options->live) {
        trace->watch = vs_whatif_watch_open(trace->scan.start_ns, trace->scan.end_ns);
        observers[observer_count++] = vs_whatif_watch_observer(trace->watch);
    }
    if (!vs_part_given(&options->part) && trace->span.extent.events <= options->events_max) {
        trace->collected = vs_page_data_open(&trace->span);
        observers[observer_count++] = vs_page_observer(trace->collected);
    }
    struct vs_report_wish wish = {.everything = true};
    err = vs_report_build(trace->reader, trace->path,
                          &(struct vs_report_options){.wish = &wish, .timeline = true,
                                                      .sites_max = options->sites_max, .observers = observers,
                                                      .observer_count = observer_count,
                                                      .chosen = vs_oom_watch_peaks(watch),
                                                      .begin = begin, .observed = &followers,
                                                      .state = &trace->state},
                          &trace->report);
    vs_tool_progress_end(&followers.progress);
    vs_symbol_tool_done();
    return err;
}

bool vs_view_open(const char *who, const char *path, const struct vs_view_options *options,
                  struct vs_view_trace *trace)
{
    *trace = (struct vs_view_trace){.who = who, .path = path};
    if (!vs_tool_open(who, path, &trace->reader))
        return false;
    struct vs_oom_watch *watch = vs_oom_watch_open(0);
    enum vs_err err = read_trace(trace, options, watch);
    bool usable = !err && vs_tool_usable(who, path, trace->report->condition,
                                         trace->report->condition_text, options->partial,
                                         "--partial");
    if (usable)
        err = vs_oom_tool_build(trace->reader, trace->report, watch, 0, true,
                                &trace->oom);
    if (err == VS_ERR_STATE) {
        trace->message = "The failed allocation has no diagnosis: not every allocation before it was "
                         "recorded.";
        err = VS_OK;
    }
    vs_oom_watch_close(watch);
    if (!err && usable)
        vs_view_whatif(trace, options);
    if (err)
        vs_tool_fail(who, "%s: cannot read the trace: %s", path, vs_err_text(err));
    if (!err && usable)
        return true;
    vs_view_close(trace);
    return false;
}

bool vs_view_window(const struct vs_view_trace *trace, uint64_t from, uint64_t to,
                    struct vs_time_window *out)
{
    uint64_t start = trace->span.start_ns, length = trace->span.extent.last_ns - start;
    if (from > to || from > length)
        return false;
    *out = (struct vs_time_window){{true, false, start + from},
                                   {true, false, start + (to < length ? to : length)}};
    return true;
}

struct vs_page_data *vs_view_data(struct vs_view_trace *trace,
                                  const struct vs_view_options *options,
                                  const struct vs_time_window *window)
{
    struct vs_tool_progress progress = progress_of(trace, "collecting the blocks of");
    struct vs_page_source source = {
        .reader = trace->reader, .report = trace->report, .scan = &trace->scan,
        .span = &trace->span, .window = window, .end = trace->state->replay,
        .events_max = options->events_max, .served = options->served,
        .live = options->live, .progress = vs_tool_progress_show,
        .text = !options->no_source, .editor = vs_view_editor(trace->who, options->editor),
        .oom = trace->oom, .message = trace->message,
        .whatif = trace->whatif, .context = &progress};
    struct vs_page_data *data = NULL;
    if (!window) {
        source.collected = trace->collected;
        trace->collected = NULL;
    }
    enum vs_err err = vs_page_data_build(&source, &data);
    vs_tool_progress_end(&progress);
    vs_symbol_tool_done();
    if (err)
        vs_tool_fail(trace->who, "%s: cannot collect the blocks: %s", trace->path, vs_err_text(err));
    return err ? NULL : data;
}

struct vs_page_data *vs_view_page(struct vs_view_trace *trace,
                                  const struct vs_view_options *options)
{
    struct vs_time_window window;
    bool given = vs_part_given(&options->part);
    if (given && !vs_part_resolve(trace->who, trace->path, trace->reader, &options->part, &window))
        return NULL;
    struct vs_page_data *data = vs_view_data(trace, options, given ? &window : NULL);
    const struct vs_page_window *part = data ? vs_page_data_window(data) : NULL;
    if (part && !part->whole)
        vs_tool_fail(trace->who,
                     "%s: blocks from %s to %s, %s of %s events (%s); the curves are whole; --from "
                     "and --to choose another part", trace->path, vs_time_text(part->from_ns),
                     vs_time_text(part->to_ns),
                         vs_count_text(part->last_event + 1 - part->first_event),
                     vs_count_text(trace->span.extent.events), part->why);
    return data;
}

void vs_view_close(struct vs_view_trace *trace)
{
    vs_oom_free(trace->oom);
    vs_whatif_watch_close(trace->watch);
    vs_whatif_close(trace->log);
    vs_arena_free_all(&trace->memory);
    vs_page_data_free(trace->collected);
    vs_trace_state_close(trace->state);
    vs_report_free(trace->report);
    vs_page_scan_free(&trace->scan);
    vs_reader_close(trace->reader);
}
