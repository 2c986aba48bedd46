/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals are held back only while checkpoints are made: an unfinished file is then
 * removed before the signal ends the process. */
#include "tools/common/trace_part.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/growth/growth.h"
#include "analysis/state/user_level.h"
#include "base/vs_clock.h"
#include "base/vs_size.h"
#include "tools/common/command.h"
#include "viewer/common/text_style.h"

#define SHOW_AFTER_NS UINT64_C(1000000000)
#define SHOW_EVERY_NS UINT64_C(100000000)

static volatile sig_atomic_t stopped_by;
static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define SIGNALS (sizeof signals / sizeof *signals)
static struct sigaction before[SIGNALS];

static void stop(int signal)
{
    stopped_by = signal;
}

void vs_tool_progress_show(void *context, uint64_t bytes, uint64_t total)
{
    struct vs_tool_progress *progress = context;
    uint64_t now = vs_clock_ns();
    if (now - progress->begun_ns < SHOW_AFTER_NS || now - progress->shown_ns < SHOW_EVERY_NS ||
        !isatty(STDERR_FILENO))
        return;
    progress->shown = true;
    progress->shown_ns = now;
    fprintf(stderr, "\r%s: %s ", progress->who, progress->doing);
    vs_text_put(stderr, progress->path);
    fprintf(stderr, ": %3d %%", total ? (int)((double)bytes * 100 / (double)total) : 0);
    fflush(stderr);
}

void vs_tool_progress_end(struct vs_tool_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

static struct vs_tool_progress checkpoints;

static bool step(void *context, uint64_t bytes, uint64_t total)
{
    vs_tool_progress_show(context, bytes, total);
    return !stopped_by;
}

void vs_part_progress_begin(const char *who, const char *path,
                            struct vs_checkpoint_options *options)
{
    struct sigaction action = {.sa_handler = stop};
    checkpoints = (struct vs_tool_progress){who, "making checkpoints for", path, vs_clock_ns(), 0,
                                            false};
    options->progress = step;
    options->context = &checkpoints;
    stopped_by = 0;
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void vs_part_progress_end(bool go_on)
{
    vs_tool_progress_end(&checkpoints);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    if (stopped_by && !go_on)
        raise(stopped_by);
}

bool vs_part_option(const char *who, const char *name, const char *text, struct vs_part_args *args)
{
    struct vs_time_spec *spec = strcmp(name, "at") == 0     ? &args->at
                                : strcmp(name, "from") == 0 ? &args->from
                                                            : &args->to;
    static const char *const names[] = {"", "peak", "oom", "end"};
    for (int i = VS_PART_PEAK; spec == &args->at && i <= VS_PART_END; i++)
        if (strcmp(text, names[i]) == 0)
            args->named = (enum vs_part_named)i;
    if (spec == &args->at && args->named) {
        *spec = (struct vs_time_spec){VS_TIME_EVENT, 1}; /* until it is found */
    } else if (vs_time_spec_parse(text, spec) != VS_OK) {
        vs_tool_usage(who, "--%s takes a time such as 12.5s, 3m20s, -10s, 80%% or @1234%s, not '%s'",
                      name, spec == &args->at ? ", or peak, oom or end" : "", text);
        return false;
    }
    *(spec == &args->at ? &args->at_text : spec == &args->from ? &args->from_text : &args->to_text) =
        text;
    if (args->at.kind && (args->from.kind || args->to.kind)) {
        vs_tool_usage(who, "--at cannot be combined with --from or --to");
        return false;
    }
    return true;
}

bool vs_part_device(const char *text, void *to)
{
    struct vs_part_args *args = to;
    unsigned long long device;
    args->one_device = vs_tool_count(text, 0, ~0ull, &device);
    if (args->one_device)
        args->device = device;
    return args->one_device;
}

bool vs_part_steps(const char *text, uint64_t *from, uint64_t *to)
{
    unsigned long long first, last;
    char number[24];
    const char *dash = strchr(text, '-');
    size_t length = dash ? (size_t)(dash - text) : strlen(text);
    snprintf(number, sizeof number, "%.*s", (int)(length < 23 ? length : 23), text);
    if (length >= 23 || !vs_tool_count(number, 0, ~0ull, &first) ||
        !vs_tool_count(dash ? dash + 1 : number, first, ~0ull, &last))
        return false;
    *from = first;
    *to = last;
    return true;
}

bool vs_part_given(const struct vs_part_args *args)
{
    return args->at.kind || args->from.kind || args->to.kind || args->steps;
}

bool vs_part_checkpoints(const char *who, const char *path, struct vs_reader *reader)
{
    struct vs_checkpoint_options options = {0};
    vs_part_progress_begin(who, path, &options);
    enum vs_err err = vs_checkpoint_need(reader, VS_CHECKPOINT_TRACE_EVENTS, &options);
    vs_part_progress_end(false);
    if (err)
        vs_tool_fail(who, "%s: cannot make checkpoints: %s", path, vs_err_text(err));
    return !err;
}

/* Event numbers against times can only be compared by reading; the verb reports an empty part. */
static bool wrong_way_round(const struct vs_time_window *window)
{
    return window->from.given && window->to.given &&
           window->from.by_event == window->to.by_event && window->from.value > window->to.value;
}

/* Replays the trace to the end. The number of the event with the name *named*, from 1; 0: there is
 * none. */
static enum vs_err find_named(struct vs_reader *reader, const struct vs_part_args *args,
                              uint64_t *number)
{
    struct vs_replay *replay = vs_replay_open(reader);
    vs_reader_rewind(reader);
    enum vs_err err = vs_reading_run(reader, replay, NULL, NULL, 0);
    if (!err)
        vs_replay_finish(replay);
    uint64_t bytes = 0;
    *number = args->named == VS_PART_END ? replay->events : 0;
    for (unsigned i = 0; !err && args->named == VS_PART_PEAK && i < replay->account_count; i++) {
        const struct vs_peak *peak = vs_user_sums(replay, i).peak;
        bool wanted = !args->one_device || replay->accounts[i]->device == args->device;
        if (!wanted || peak->bytes <= bytes)
            continue;
        bytes = peak->bytes;
        *number = peak->event;
    }
    bool lasting = false; /* a failure that the program did not recover from is preferred */
    for (size_t i = 0; !err && args->named == VS_PART_OOM && i < replay->failure_count; i++) {
        const struct vs_failure *failure = &replay->failures[i];
        if (args->one_device && (failure->account == VS_HOST_INDEX ||
                                 replay->accounts[failure->account]->device != args->device))
            continue;
        if (lasting && failure->recovered)
            continue;
        lasting |= !failure->recovered;
        *number = failure->event;
    }
    vs_replay_close(replay);
    return err;
}

/* --at peak, oom or end as an event's number. */
static bool resolve_named(const char *who, const char *path, struct vs_reader *reader,
                          const struct vs_part_args *args, struct vs_time_spec *out)
{
    uint64_t number;
    enum vs_err err = find_named(reader, args, &number);
    if (err)
        vs_tool_fail(who, "%s: cannot read the trace: %s", path, vs_err_text(err));
    else if (!number && args->named == VS_PART_OOM)
        vs_tool_fail(who, "%s: --at oom: no allocation failed%s; try --at peak", path,
                     args->one_device ? " on that device" : "");
    else if (!number)
        vs_tool_fail(who, "%s: --at %s: nothing was allocated%s", path, args->at_text,
                     args->one_device ? " on that device" : "");
    else
        *out = (struct vs_time_spec){VS_TIME_EVENT, number};
    return !err && number;
}

/* Steps that the program marks, whose numbers may be any. */
struct marked_steps {
    uint64_t from, to;        /* numbers that are wanted */
    uint64_t begun, done;     /* so far; in all, completed */
    uint64_t lowest, highest; /* numbers */
    uint64_t first, after;    /* events: the first of these begins, the first behind them; 0: none */
};

static enum vs_err on_event(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct marked_steps *m = context;
    const struct vs_steps *steps = &replay->phases.steps;
    uint64_t number = steps->number;
    (void)event;
    if (steps->begun == m->begun)
        return VS_OK;
    m->lowest = m->begun && m->lowest < number ? m->lowest : number;
    m->highest = m->begun && m->highest > number ? m->highest : number;
    m->begun = steps->begun;
    bool wanted = number >= m->from && number <= m->to;
    if (wanted && !m->first)
        m->first = replay->events;
    else if (!wanted && m->first && !m->after)
        m->after = replay->events;
    return VS_OK;
}

static enum vs_err find_steps(struct vs_reader *reader, struct marked_steps *m)
{
    struct vs_replay *replay = vs_replay_open(reader);
    const struct vs_observer observer = {VS_KINDS_EVERY, NULL, on_event, m};
    struct vs_growth_steps found = {0};
    vs_reader_rewind(reader);
    enum vs_err err = vs_reading_run(reader, replay, NULL, &observer, 1);
    m->done = replay->phases.steps.done;
    vs_replay_close(replay);
    if (err || m->begun)
        return err;
    err = vs_found_steps_read(reader, &found);
    m->begun = m->done = found.count;
    m->lowest = found.first_number;
    m->highest = m->lowest + found.count * found.stride - 1;
    for (size_t i = 0; i < found.count; i++) {
        uint64_t number = m->lowest + i * found.stride;
        if (number + found.stride > m->from && number <= m->to)
            m->first = m->first ? m->first : found.items[i].event;
        else if (m->first && !m->after)
            m->after = found.items[i].event;
    }
    vs_found_steps_free(&found);
    return err;
}

/* From the begin of the first of the steps to that of the one after the last. */
static bool resolve_steps(const char *who, const char *path, struct vs_reader *reader,
                          const struct vs_part_args *args, struct vs_time_window *out)
{
    struct marked_steps m = {.from = args->step_from, .to = args->step_to};
    enum vs_err err = find_steps(reader, &m);
    if (err)
        vs_tool_fail(who, "%s: cannot read the trace: %s", path, vs_err_text(err));
    else if (!m.begun)
        vs_tool_fail(who, "%s: --steps: the program marks no steps, and its requests do not repeat; an NVTX range "
                     "named \"step N\" around each marks them, or give --from and --to", path);
    else if (!m.first)
        vs_tool_fail(who, "%s: no step %" PRIu64 "; the trace has steps %" PRIu64 " to %" PRIu64 ", %" PRIu64 " of them completed",
                     path, args->step_from, m.lowest, m.highest, m.done);
    out->from = (struct vs_time_window_end){true, true, m.first};
    out->to = (struct vs_time_window_end){m.after, true, m.after - 1};
    return !err && m.first;
}

bool vs_part_resolve(const char *who, const char *path, struct vs_reader *reader,
                     const struct vs_part_args *args, struct vs_time_window *out)
{
    char why[VS_READER_WHY_MAX];
    struct vs_span span;
    if (!vs_part_checkpoints(who, path, reader))
        return false;
    if (args->steps)
        return resolve_steps(who, path, reader, args, out);
    enum vs_err err = vs_span_of(reader, &span);
    if (err) {
        vs_tool_fail(who, "%s: cannot read the trace: %s", path, vs_err_text(err));
        return false;
    }
    struct vs_time_spec at = args->at;
    if (args->named && !resolve_named(who, path, reader, args, &at))
        return false;
    const struct vs_time_spec *to = args->at.kind ? &at : &args->to;
    const char *failed = NULL;
    if (!vs_span_end(&span, &args->from, &out->from, why))
        failed = "from";
    else if (!vs_span_end(&span, to, &out->to, why))
        failed = args->at.kind ? "at" : "to";
    if (failed)
        vs_tool_fail(who, "%s: --%s %s: %s", path, failed,
                     *failed == 'f' ? args->from_text : *failed == 'a' ? args->at_text : args->to_text,
                     why);
    else if (wrong_way_round(out))
        vs_tool_fail(who, "%s: --from %s is after --to %s; exchange the two", path, args->from_text,
                     args->to_text);
    else
        return true;
    return false;
}
