/* SPDX-License-Identifier: Apache-2.0
 *
 * The CSV log that RMM's logging_resource_adaptor writes, for RMM's replay benchmark and other
 * readers of such logs: a line for each allocation, free and failure, with the bytes that were
 * requested. At the user's level, as RMM's log is: a framework's tensors, and device memory that does not
 * hold them. The trace is read once to learn what does. */
#include "viewer/export/export.h"

#include <inttypes.h>

#include "analysis/checkpoint/trace_state.h"
#include "analysis/state/user_level.h"
#include "base/vs_text.h"
#include "analysis/state/history_blocks.h"

struct rmm_csv {
    FILE *out;
    const struct vs_export_options *options;
    struct vs_history_blocks blocks;
    uint64_t written;
};

/* RMM's reader takes "0x7f" for the default stream, and its replay accepts no other: a decimal
 * number would be refused. It reads a thread as a number, and needs all six fields. */
static void write_line(struct rmm_csv *r, const struct vs_replay *replay, uint64_t time_ns, uint32_t tid,
                       const char *action, uint64_t addr, uint64_t size, uint64_t stream)
{
    uint64_t start = replay->has_process ? replay->process.process.start_realtime_ns : 0;
    uint64_t us = (start + vs_replay_since(replay, time_ns)) / 1000, second = us / 1000000;
    char pointer[VS_TEXT_HEX_MAX] = "(nil)";
    if (addr)
        vs_text_hex(pointer, vs_history_address(addr));
    fprintf(r->out, "%" PRIu32 ",%02u:%02u:%02u.%06u,%s,%s,%" PRIu64 ",%s%" PRIx64 "\n", tid,
            (unsigned)(second / 3600 % 24), (unsigned)(second / 60 % 60), (unsigned)(second % 60),
            (unsigned)(us % 1000000), action, pointer, size, stream ? "0x" : "", stream);
    r->written++;
}

static bool is_wanted(const struct rmm_csv *r, const struct vs_replay *replay, unsigned account)
{
    return account != VS_HOST_INDEX && (!r->options->one_device ||
                                        replay->accounts[account]->device == r->options->device);
}

static void on_change(void *context, const struct vs_replay *replay, const struct vs_published *change)
{
    struct rmm_csv *r = context;
    const struct vs_live *live = change->live;
    const struct vs_failure *failure = change->failure;
    uint64_t time_ns = change->event->time_ns;
    uint32_t tid = change->event->tid;
    if (change->kind == VS_CHANGE_REFUSED) {
        if (is_wanted(r, replay, failure->account) && failure->requested &&
            failure->framework == r->blocks.framework[failure->account])
            write_line(r, replay, time_ns, tid, "allocate failure", 0, failure->requested, failure->stream);
        return;
    }
    if (!is_wanted(r, replay, live->device) || !live->counted || vs_history_holds(&r->blocks, live))
        return;
    bool born = change->kind == VS_CHANGE_BORN;
    uint64_t stream = born ? vs_history_born(&r->blocks, change)
                           : vs_history_stream(&r->blocks, replay, live);
    write_line(r, replay, time_ns, tid, born ? "allocate" : "free", live->addr, live->requested, stream);
}

/* What is live when the part begins is allocated there. */
static void write_start(struct rmm_csv *r, const struct vs_replay *replay)
{
    const struct vs_live *live;
    for (unsigned account = 0; account < replay->account_count; account++)
        for (size_t cursor = 0; (live = vs_user_live_next(replay, account, &cursor)) != NULL;)
            if (is_wanted(r, replay, account) && live->counted && !vs_history_holds(&r->blocks, live))
                write_line(r, replay, replay->now_ns, live->tid, "allocate", live->addr, live->requested, 0);
}

enum vs_err vs_export_rmm_csv(struct vs_reader *reader, FILE *out, const struct vs_export_options *options,
                              struct vs_export_result *result)
{
    static const struct vs_time_window whole;
    const struct vs_time_window *window = options->window ? options->window : &whole;
    struct rmm_csv r = {.out = out, .options = options};
    struct vs_trace_state *state = NULL;
    enum vs_err err = vs_span_open(reader, window, &state);
    if (!err)
        err = vs_reading_run(reader, state->replay, window, NULL, 0);
    if (!err) {
        vs_history_blocks_learn(&r.blocks, state->replay);
        if (!window->to.given)
            vs_export_ended(reader, result);
        vs_export_recording(&state->replay->recording, vs_replay_start_ns(state->replay), result);
        if (options->one_device && vs_replay_account(state->replay, options->device) == VS_ACCOUNT_NONE)
            err = VS_ERR_NOT_FOUND;
    }
    vs_trace_state_close(state);
    state = NULL;
    if (!err)
        err = vs_span_open(reader, window, &state);
    if (!err) {
        fputs("Thread,Time,Action,Pointer,Size,Stream\n", out);
        write_start(&r, state->replay);
        vs_replay_subscribe(state->replay, VS_CHANGE_BORN | VS_CHANGE_ENDED | VS_CHANGE_LOST | VS_CHANGE_REFUSED,
                            on_change, &r);
        err = vs_reading_run(reader, state->replay, window, NULL, 0);
    }
    vs_trace_state_close(state);
    vs_history_blocks_free(&r.blocks);
    result->written = r.written;
    return err;
}
