/* SPDX-License-Identifier: Apache-2.0
 *
 * Where in the program the replayed failures happen: at the recorded event of the request, named as
 * in `vramscope oom`. */

#include "analysis/naming/naming.h"
#include "analysis/report/site_text.h"
#include "analysis/report/summary.h"
#include "analysis/state/reading.h"
#include "tools/replay/replay_command.h"

#define FRAMES_SHOWN 6

struct place_search {
    struct vs_summary summary;
    struct vs_replay_view *view;
};

static uint64_t stack_of(const struct vs_event *e)
{
    switch (e->kind) {
    case VS_EVENT_alloc: return e->alloc.stack;
    case VS_EVENT_alloc_failed: return e->alloc_failed.stack;
    case VS_EVENT_overhead_failed: return e->overhead_failed.stack;
    case VS_EVENT_framework_alloc: return e->framework_alloc.stack;
    case VS_EVENT_framework_oom: return e->framework_oom.stack;
    default: return 0;
    }
}

static enum vs_err after_event(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct place_search *search = context;
    for (size_t i = 0; i < search->view->count; i++) {
        struct vs_replay_row *row = &search->view->rows[i];
        char text[VS_PLACE_TEXT_MAX], chain[VS_CHAIN_TEXT_MAX] = "";
        struct vs_report_site site = {.api = ""};
        if (row->outcome.fail_event != replay->events)
            continue;
        vs_summary_frames(&search->summary, stack_of(event), replay->mark.name, &site);
        if (site.frame_count || site.line)
            vs_text_site(chain, &site, FRAMES_SHOWN);
        vs_phases_text(&replay->phases, vs_phases_place(&replay->phases, event->tid), text);
        row->place = vs_text_copy(search->summary.memory, text);
        row->where = vs_text_copy(search->summary.memory, chain);
    }
    return VS_OK;
}

enum vs_err vs_replay_places(struct vs_reader *reader, struct vs_arena *memory,
                             struct vs_replay_view *view)
{
    uint64_t last = 0;
    for (size_t i = 0; i < view->count; i++)
        last = view->rows[i].outcome.fail_event > last ? view->rows[i].outcome.fail_event : last;
    if (!last)
        return VS_OK;
    vs_reader_rewind(reader);
    struct vs_replay *replay = vs_replay_open(reader);
    struct place_search search = {{.memory = memory, .symbols = vs_symbols_open(reader), .replay = replay}, view};
    const struct vs_time_window window = {.to = {.given = true, .by_event = true, .value = last}};
    const struct vs_observer observer = {VS_KINDS_EVERY, NULL, after_event, &search};
    enum vs_err err = vs_reading_run(reader, replay, &window, &observer, 1);
    vs_symbols_close(search.summary.symbols);
    vs_replay_close(replay);
    return err;
}
