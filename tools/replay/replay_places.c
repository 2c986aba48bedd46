/* SPDX-License-Identifier: Apache-2.0
 *
 * Where in the program the replayed failures happen: at the recorded event of the request, named as
 * in `vramscope oom`. */

#include "analysis/naming/naming.h"
#include "analysis/report/site_text.h"
#include "analysis/report/summary.h"
#include "analysis/state/phases.h"
#include "tools/replay/replay_command.h"

#define FRAMES_SHOWN 6

struct place_search {
    struct vs_reader *reader;
    struct vs_summary summary;
    struct vs_phases phases;
    struct vs_line_mark mark;
};

static void follow(struct place_search *f, const struct vs_event *e)
{
    vs_line_mark_event(&f->mark, f->reader, e);
    switch (e->kind) {
    case VS_EVENT_process: f->phases.main_tid = (uint32_t)e->process.pid; break;
    case VS_EVENT_range_push:
        vs_phases_push(&f->phases, e->tid, vs_reader_string(f->reader, e->range_push.name),
                       e->range_push.domain, e->time_ns);
        break;
    case VS_EVENT_range_pop:
        vs_phases_pop(&f->phases, e->tid, e->range_pop.domain, e->time_ns);
        break;
    case VS_EVENT_range_start:
        vs_phases_start(&f->phases, e->range_start.range, e->tid,
                        vs_reader_string(f->reader, e->range_start.name), e->time_ns);
        break;
    case VS_EVENT_range_end:
        vs_phases_end(&f->phases, e->range_end.range, e->time_ns);
        break;
    default: break;
    }
}

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

enum vs_err vs_replay_places(struct vs_reader *reader, struct vs_arena *memory,
                             struct vs_replay_view *view)
{
    struct place_search f = {.reader = reader, .summary = {.memory = memory}};
    struct vs_replay *replay = vs_replay_open(reader); /* of no event: it only has the reader */
    struct vs_event event;
    uint64_t last = 0;
    for (size_t i = 0; i < view->count; i++)
        last = view->rows[i].outcome.fail_event > last ? view->rows[i].outcome.fail_event : last;
    if (!last) {
        vs_replay_close(replay);
        return VS_OK;
    }
    vs_phases_init(&f.phases);
    f.summary.symbols = vs_symbols_open(reader);
    enum vs_err err = VS_OK;
    f.summary.replay = replay;
    vs_reader_rewind(reader);
    for (uint64_t n = 1; !err && n <= last && !(err = vs_reader_next(reader, &event)); n++) {
        follow(&f, &event);
        for (size_t i = 0; i < view->count; i++)
            if (view->rows[i].outcome.fail_event == n) {
                char text[VS_PLACE_TEXT_MAX], chain[VS_CHAIN_TEXT_MAX] = "";
                struct vs_report_site site = {.api = ""};
                vs_summary_frames(&f.summary, stack_of(&event), f.mark.name, &site);
                if (site.frame_count || site.line)
                    vs_text_site(chain, &site, FRAMES_SHOWN);
                vs_phases_text(&f.phases, vs_phases_place(&f.phases, event.tid), text);
                view->rows[i].place = vs_text_copy(memory, text);
                view->rows[i].where = vs_text_copy(memory, chain);
            }
    }
    vs_symbols_close(f.summary.symbols);
    vs_replay_close(replay);
    vs_phases_free(&f.phases);
    return err == VS_ERR_END ? VS_OK : err;
}
