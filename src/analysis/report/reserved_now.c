/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Decoding alone is fast: the part before the time is not replayed again. */
#include "analysis/report/reserved_now.h"

#include <stdlib.h>

#include "analysis/report/held_segments.h"
#include "analysis/report/segment_sites.h"

#define FAR_EVENTS ((uint64_t)1 << 22) /* a second or less to decode */

static enum vs_err read_segments(struct vs_reader *reader, uint64_t until, struct vs_held_segments *held)
{
    struct vs_event event;
    enum vs_err err = VS_OK;
    vs_reader_rewind(reader);
    for (uint64_t number = 1; !err && number <= until && (err = vs_reader_next(reader, &event)) == VS_OK; number++)
        vs_held_segments_event(held, &event);
    return err == VS_ERR_END ? VS_OK : err;
}

static void fill_device(struct vs_report_device *device, const struct vs_summary *summary,
                        const struct vs_held_segments *held)
{
    unsigned account = vs_replay_account(summary->replay, device->device);
    struct vs_held_segment *unused = NULL;
    size_t count = 0;
    if (account == VS_ACCOUNT_NONE)
        return;
    vs_held_unused(held, summary->replay, account, &unused, &count);
    vs_segment_sites(summary, unused, count, device->device, &device->cached);
    device->cached.weight = 1;
    free(unused);
}

enum vs_err vs_reserved_now_fill(struct vs_report *report, const struct vs_summary *summary,
                                 struct vs_reader *reader, bool far)
{
    const struct vs_replay *replay = summary->replay;
    struct vs_report_device *devices = (struct vs_report_device *)report->devices;
    struct vs_held_segments held = {0};
    bool segments = replay->segments.count > 0;
    if (vs_recording_partial(&report->recording) || (segments && !far && replay->events > FAR_EVENTS))
        return VS_OK;
    enum vs_err err = segments ? read_segments(reader, replay->events, &held) : VS_OK;
    for (size_t i = 0; i < report->device_count; i++)
        fill_device(&devices[i], summary, &held);
    vs_held_segments_free(&held);
    return err;
}
