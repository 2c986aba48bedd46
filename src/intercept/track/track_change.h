/* SPDX-License-Identifier: Apache-2.0
 *
 * The only function that counts and records allocations, blocks, segments, graphs and a framework's
 * tensors. */
#ifndef VS_TRACK_CHANGE_H
#define VS_TRACK_CHANGE_H

#include "intercept/process/process.h"
#include "intercept/track/usage.h"
#include "trace/record/selection.h"

/* vs_track_sums: of a device below VS_DEVICES_MAX; read by vs_sum_read. */
static inline const struct vs_ledger *vs_track_sums(uint32_t device)
{
    return &vs_process_book.account[device];
}

/* vs_track_change: count *change* and record *event* (vs_recorder_change). The trace has the order
 * of these calls: a caller with a table of live memory holds that table's lock. Without a recorder
 * *event* is not used. */
VS_ALWAYS_INLINE static inline void vs_track_change(struct vs_change change, bool selected, struct vs_event *event)
{
    vs_recorder_change(vs_process_recorder(), &vs_process_book, change, selected, event);
    if ((change.level == VS_LEVEL_DEVICE || change.level == VS_LEVEL_SEGMENT) && !change.frees &&
        vs_book_has(&change))
        vs_usage_reserved(change.device, vs_sum_read(&vs_track_sums(change.device)->now.reserved));
}

#endif
