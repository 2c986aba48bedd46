/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace that is followed while anything happens to its files, as `vramscope top` does beside
 * programs of other users. Input: see live_scene.h. With FOLLOW_VIEW in the input's flags, all of the
 * view is made of it; else each event is checked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/watch/watch.h"
#include "fuzz/check.h"
#include "fuzz/event_use.h"
#include "fuzz/live_scene.h"
#include "trace/read/follower.h"
#include "viewer/top/top_frame.h"

#define FOLLOW_VIEW 16u
#define EVENTS_MAX 200000u
#define RESTARTS_MAX 8u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- events --- */

struct reading {
    struct vs_follower *follow;
    uint64_t last_ns, events;
    unsigned restarts;
};

static bool restart(struct reading *r)
{
    vs_follower_close(r->follow);
    r->follow = NULL;
    r->last_ns = 0;
    return r->restarts++ < RESTARTS_MAX && !vs_follower_open(live_scene_path(), &r->follow, NULL);
}

/* Reads what is there. Returns false when the trace cannot be followed further. */
static bool drain(struct reading *r)
{
    struct vs_event event;
    enum vs_err err;
    while (r->events < EVENTS_MAX && !(err = vs_follower_next(r->follow, &event))) {
        check(event.time_ns >= r->last_ns);
        r->last_ns = event.time_ns;
        event_use(vs_follower_reader(r->follow), &event);
        r->events++;
    }
    if (r->events == EVENTS_MAX)
        return false;
    return err == VS_ERR_STATE ? restart(r) : err == VS_ERR_END;
}

static void follow(void)
{
    struct reading r = {0};
    char why[VS_READER_WHY_MAX];
    bool poll = true, good = !vs_follower_open(live_scene_path(), &r.follow, why);
    while (good && live_scene_step(&poll))
        if (poll)
            good = drain(&r);
    live_scene_end();
    good = good && drain(&r);
    if (good && r.follow && !r.restarts) {
        check(vs_follower_ended(r.follow) && !vs_follower_recorder(r.follow));
        vs_reader_condition(vs_follower_reader(r.follow), why);
    }
    vs_follower_close(r.follow);
}

/* --- the view --- */

static void draw(struct vs_watch *watch, struct vs_top_process *process)
{
    static struct vs_top_model model;
    static struct vs_grid grid;
    static char names[VS_WATCH_SITES_MAX][VS_WATCH_NAME_MAX];
    struct vs_watch_view *view = &process->view;
    vs_watch_fill(watch, true, view);
    for (size_t d = 0; d < view->device_count; d++)
        for (size_t i = 0; i < view->devices[d].site_count; i++) {
            vs_watch_line(watch, &view->devices[d].sites[i], names[i]);
            view->devices[d].sites[i].name = names[i];
        }
    model = (struct vs_top_model){.processes = process, .count = 1, .interval_ms = 1000};
    vs_top_sort_rows(&model);
    vs_grid_begin(&grid, 24, 80);
    vs_top_draw(&model, &grid);
    FILE *nowhere = fopen("/dev/null", "w");
    check(nowhere != NULL);
    vs_top_json(&model, nowhere);
    fclose(nowhere);
}

static void look(void)
{
    struct vs_watch *watch = NULL;
    struct vs_top_process process = {0};
    bool poll = true, good = !vs_watch_open(live_scene_path(), &watch, NULL);
    while (good && live_scene_step(&poll))
        if (poll && (good = !vs_watch_read(watch, 0)))
            draw(watch, &process);
    live_scene_end();
    if (good && !vs_watch_read(watch, 0))
        draw(watch, &process);
    vs_watch_view_free(&process.view);
    vs_watch_close(watch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_input in;
    if (!trace_input_make(data, size, &in))
        return 0;
    if (live_scene_open(&in)) {
        if (in.flags & FOLLOW_VIEW)
            look();
        else
            follow();
        live_scene_close();
    }
    trace_input_free(&in);
    return 0;
}
