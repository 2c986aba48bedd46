/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/state/reading.h"

#include "trace/read/seek.h"

enum vs_err vs_reading_run(struct vs_reader *reader, struct vs_replay *replay,
                           const struct vs_time_window *window, const struct vs_observer *observers,
                           size_t count)
{
    uint64_t wanted = 0;
    for (size_t i = 0; i < count; i++)
        wanted |= observers[i].kinds;
    struct vs_event event;
    enum vs_err err;
    while ((err = vs_reader_next(reader, &event)) == VS_OK) {
        if (window && !vs_span_holds(window, &event, replay->events + 1)) {
            vs_reader_unread(reader, &event);
            return VS_OK;
        }
        uint64_t kind = VS_KIND_BIT(event.kind);
        if (!(wanted & kind)) {
            vs_replay_event(replay, &event);
        } else {
            for (size_t i = 0; !err && i < count; i++)
                if (observers[i].before && observers[i].kinds & kind)
                    err = observers[i].before(observers[i].context, replay, &event);
            if (!err)
                vs_replay_event(replay, &event);
            for (size_t i = 0; !err && i < count; i++)
                if (observers[i].after && observers[i].kinds & kind)
                    err = observers[i].after(observers[i].context, replay, &event);
        }
        if (err)
            break;
    }
    return err == VS_ERR_END ? VS_OK : err;
}
