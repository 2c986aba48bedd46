/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/growth/found_steps.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/state/reading.h"
#include "base/reading/vs_xalloc.h"

bool vs_found_step_at(const struct vs_growth_steps *steps, uint64_t time_ns, uint64_t *number)
{
    size_t low = 0, high = steps && steps->source == VS_STEPS_FOUND ? steps->count : 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (steps->items[middle].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    *number = steps->first_number + (low - 1) * steps->stride;
    return true;
}

void vs_found_step_place(const struct vs_growth_steps *steps, uint64_t time_ns, struct vs_place *place)
{
    if (!place->step_known)
        place->step_known = vs_found_step_at(steps, time_ns, &place->step);
}

void vs_found_steps_keep(const struct vs_growth_steps *from, struct vs_growth_steps *out)
{
    size_t count = from->source == VS_STEPS_FOUND ? from->count : 0;
    struct vs_growth_step *items = vs_xcalloc(count + 1, sizeof *items);
    if (count)
        memcpy(items, from->items, count * sizeof *items);
    *out = *from;
    out->items = items;
    out->count = count;
}

enum vs_err vs_found_steps_replay(struct vs_reader *reader, struct vs_replay *replay, struct vs_growth_steps *out)
{
    struct vs_growth_tracker *tracker = NULL;
    struct vs_growth_result result;
    vs_growth_open(replay, &tracker);
    const struct vs_observer growth = {VS_KINDS_EVERY, NULL, vs_growth_observe, tracker};
    vs_reader_rewind(reader);
    enum vs_err err = vs_reading_run(reader, replay, NULL, &growth, 1);
    if (!err) {
        vs_growth_finish(tracker, &result);
        vs_found_steps_keep(&result.steps, out);
    }
    vs_growth_close(tracker);
    return err;
}

enum vs_err vs_found_steps_read(struct vs_reader *reader, struct vs_growth_steps *out)
{
    struct vs_replay *replay;
    enum vs_err err = vs_replay_open(reader, &replay);
    if (err)
        return err;
    err = vs_found_steps_replay(reader, replay, out);
    vs_replay_close(replay);
    return err;
}

void vs_found_steps_free(struct vs_growth_steps *steps)
{
    free((void *)steps->items);
    *steps = (struct vs_growth_steps){0};
}
