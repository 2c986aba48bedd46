/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by moment_save.c and moment_load.c: the kinds of records, and the fields of each
 * (moment_fields.c). Private to these. One function serves both directions: it writes the fields
 * when the record is being written, otherwise reads them, and sets `bad` of the record for an
 * invalid value. */
#ifndef VS_MOMENT_FIELDS_H
#define VS_MOMENT_FIELDS_H

#include "analysis/checkpoint/moment.h"
#include "trace/read/state_record.h"

enum vs_moment_tag {
    VS_MOMENT_TOTALS = 1, VS_MOMENT_PHASE, VS_MOMENT_ACCOUNT, VS_MOMENT_USAGE, VS_MOMENT_SITES,
    VS_MOMENT_THREAD, VS_MOMENT_OPEN_STEPS, VS_MOMENT_LIVE, VS_MOMENT_SEGMENTS,
    VS_MOMENT_FRAMEWORK, VS_MOMENT_FAILURE, VS_MOMENT_KERNELS, VS_MOMENT_ACTIVITY,
    VS_MOMENT_EVENTS
};

/* Base of the next allocation's differences; zero at the start of a record. */
struct vs_moment_last_live {
    uint64_t addr, time_ns, epoch;
};

void vs_moment_io_totals(struct vs_state_record *r, struct vs_moment *m);
void vs_moment_io_event(struct vs_state_record *r, struct vs_event *event);
void vs_moment_io_account(struct vs_state_record *r, struct vs_account *a,
                          const struct vs_phases *phases);
/* Allocates the strings that are read; VS_ERR_NOMEM appears as `bad`. */
void vs_moment_io_usage(struct vs_state_record *r, struct vs_device_usage *u);
void vs_moment_io_site(struct vs_state_record *r, struct vs_site *site);
void vs_moment_io_live(struct vs_state_record *r, struct vs_live *live,
                       struct vs_moment_last_live *last);
/* *last*: the address of the record's previous segment, zero at its start. */
void vs_moment_io_segment(struct vs_state_record *r, struct vs_replay_segment *segment, uint64_t *last);
void vs_moment_io_failure(struct vs_state_record *r, struct vs_failure *f,
                          const struct vs_phases *phases);
void vs_moment_io_range(struct vs_state_record *r, struct vs_range *range,
                        const struct vs_phases *phases);
void vs_moment_io_device_activity(struct vs_state_record *r, struct vs_device_activity *row);
void vs_moment_io_kernel(struct vs_state_record *r, struct vs_kernel_row *row);

#endif
