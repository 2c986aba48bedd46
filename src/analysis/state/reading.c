/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/state/reading.h"

#include <assert.h>

#include "trace/read/seek.h"

enum vs_err vs_reading_run(struct vs_reader *reader, struct vs_replay *replay,
                           const struct vs_time_window *window, const struct vs_observer *observers,
                           size_t count)
{
    uint32_t before[VS_EVENT_CODE_MAX + 1], after[VS_EVENT_CODE_MAX + 1]; /* observers as bits */
    assert(count <= 32);
    for (unsigned kind = 0; kind <= VS_EVENT_CODE_MAX; kind++) {
        before[kind] = after[kind] = 0;
        for (size_t i = 0; i < count; i++) {
            if (!(observers[i].kinds & VS_KIND_BIT(kind)))
                continue;
            before[kind] |= (uint32_t)(observers[i].before != NULL) << i;
            after[kind] |= (uint32_t)(observers[i].after != NULL) << i;
        }
    }
    struct vs_event event;
    enum vs_err err;
    vs_reader_read_ahead(reader, true);
    while ((err = vs_reader_next(reader, &event)) == VS_OK) {
        if (window && !vs_span_holds(window, &event, replay->events + 1)) {
            vs_reader_unread(reader, &event);
            break;
        }
        for (uint32_t left = before[event.kind]; left && !err; left &= left - 1) {
            const struct vs_observer *observer = &observers[__builtin_ctz(left)];
            err = observer->before(observer->context, replay, &event);
        }
        if (!err)
            vs_replay_event(replay, &event);
        for (uint32_t left = after[event.kind]; left && !err; left &= left - 1) {
            const struct vs_observer *observer = &observers[__builtin_ctz(left)];
            err = observer->after(observer->context, replay, &event);
        }
        if (err)
            break;
    }
    vs_reader_read_ahead(reader, false);
    return err == VS_ERR_END ? VS_OK : err;
}
