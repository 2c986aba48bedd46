/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of `vramscope replay` for users, and for programs (schema "vramscope.replay/1"). */
#ifndef VS_REPLAY_TEXT_H
#define VS_REPLAY_TEXT_H

#include <stdio.h>

#include "analysis/whatif/whatif.h"
#include "viewer/common/text_style.h"

struct vs_replay_row {
    const char *setting;  /* "compact", or the text of PYTORCH_ALLOC_CONF */
    const char *gpu;      /* "rtx4090-24g"; "": --capacity, or the recorded device */
    uint64_t capacity;    /* 0: the recorded device */
    struct vs_whatif_outcome outcome;
    const char *place, *where; /* of the failure: "step 3 / forward", "f (train.py:12) < main:20";
                                * "" */
    uint64_t least_capacity;  /* --find-capacity; 0: none found */
    const char *least_gpu;    /* the smallest GPU on which it survives; "": none */
};

struct vs_replay_view {
    const char *path, *program, *device_name;
    const struct vs_whatif_recorded *recorded;
    bool modified; /* the other rows differ from the first in more than setting and device */
    bool find;  /* --find-capacity: the outcome of a row is that of its least capacity */
    struct vs_whatif_outcome as_recorded; /* of the first setting on the recorded device */
    struct vs_replay_row *rows; /* the first: as recorded, on the recorded device; then by device */
    size_t count;
};

/* vs_replay_agreement: how far the replay of the recorded setting is from the recording: (replayed -
 * recorded) / recorded of the peak of reserved. */
double vs_replay_agreement(const struct vs_replay_view *view);

void vs_replay_text(const struct vs_replay_view *view, const struct vs_style *style);
void vs_replay_json(const struct vs_replay_view *view, FILE *out);

#endif
