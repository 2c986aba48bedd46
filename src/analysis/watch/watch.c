/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading: each event is applied to the replay, the growth tracker and the history of its
 * device. */
#include "analysis/watch/watch.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/state/user_level.h"
#include "analysis/watch/watch_internal.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_clock.h"

#define EVENTS_BETWEEN_CLOCKS 4096u

uint64_t vs_watch_now_ns(const struct vs_watch *w)
{
    uint64_t now = vs_clock_ns();
    bool running = vs_follower_recorder(w->follower) != 0;
    return running && now > w->replay->now_ns ? now : w->replay->now_ns;
}

static void note_change(struct vs_watch *w, const struct vs_event *event)
{
    const struct vs_replay *replay = w->replay;
    unsigned account = replay->changed;
    if (replay->changed_site != VS_SITE_NONE)
        account = replay->sites.items[replay->changed_site].device;
    if (account >= VS_DEVICES_MAX || !replay->accounts[account])
        return;
    struct vs_memory_history *history = &w->history[account];
    vs_history_level(history, event->time_ns, vs_user_sums(replay, account).allocated);
    if (replay->changed_site == VS_SITE_NONE ||
        !vs_user_has_site(replay, &replay->sites.items[replay->changed_site]))
        return;
    if (event->kind == VS_EVENT_alloc)
        vs_history_request(history, event->time_ns, event->alloc.size);
    else if (event->kind == VS_EVENT_framework_alloc)
        vs_history_request(history, event->time_ns, event->framework_alloc.size);
}

static enum vs_err apply(struct vs_watch *w, const struct vs_event *event)
{
    const struct vs_reader *reader = w->replay->reader;
    vs_replay_event(w->replay, event);
    enum vs_err err = vs_growth_observe(w->tracker, w->replay, event);
    if (err)
        return err;
    if (event->kind == VS_EVENT_option &&
        strcmp(vs_reader_string(reader, event->option.name), "limit") == 0)
        w->limited = !vs_limit_parse(vs_reader_string(reader, event->option.value), &w->limit);
    else if (w->replay->changed != VS_ACCOUNT_NONE || w->replay->changed_site != VS_SITE_NONE)
        note_change(w, event);
    return VS_OK;
}

/* --- life --- */

static enum vs_err open_state(struct vs_watch *w, char *why)
{
    enum vs_err err = vs_follower_open(w->path, &w->follower, why);
    if (err)
        return err;
    w->replay = vs_replay_open(vs_follower_reader(w->follower));
    vs_growth_open(w->replay, &w->tracker);
    w->symbols = vs_symbols_open(vs_follower_reader(w->follower));
    return VS_OK;
}

static void close_state(struct vs_watch *w)
{
    vs_symbols_close(w->symbols);
    vs_growth_close(w->tracker);
    vs_replay_close(w->replay);
    vs_follower_close(w->follower);
    vs_map_free(&w->owners);
    vs_map_free(&w->growth.by_site);
    free(w->keys);
    *w = (struct vs_watch){.path = w->path};
}

enum vs_err vs_watch_open(const char *path, struct vs_watch **out, char *why)
{
    struct vs_watch *w = vs_xcalloc(1, sizeof *w);
    w->path = vs_xstrdup(path);
    enum vs_err err = open_state(w, why);
    if (err)
        vs_watch_close(w);
    else
        *out = w;
    return err;
}

void vs_watch_close(struct vs_watch *w)
{
    if (!w)
        return;
    close_state(w);
    free(w->path);
    free(w);
}

enum vs_err vs_watch_read(struct vs_watch *w, uint64_t until_ns)
{
    struct vs_event event;
    enum vs_err err;
    for (uint64_t n = 1; !(err = vs_follower_next(w->follower, &event)); n++) {
        err = apply(w, &event);
        if (err)
            return err;
        if (n % EVENTS_BETWEEN_CLOCKS == 0 && vs_clock_ns() >= until_ns) {
            w->behind = true;
            return VS_OK;
        }
    }
    if (err == VS_ERR_STATE) { /* bytes that were read are not those of the trace: from the start */
        close_state(w);
        return open_state(w, NULL);
    }
    w->caught_up |= err == VS_ERR_END;
    w->behind = false;
    return err == VS_ERR_END ? VS_OK : err;
}

bool vs_watch_ended(const struct vs_watch *w)
{
    return vs_follower_ended(w->follower);
}

bool vs_watch_complete(const struct vs_watch *w)
{
    return !w->behind;
}
