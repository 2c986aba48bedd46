/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by trace_state_save.c and trace_state_load.c: the kinds of records, and the fields of each
 * (trace_state_fields.c). Private to these. One function serves both directions: it writes the
 * fields when the record is being written, otherwise reads them, and sets `bad` of the record for
 * an invalid value. */
#ifndef VS_TRACE_STATE_FIELDS_H
#define VS_TRACE_STATE_FIELDS_H

#include "analysis/checkpoint/trace_state.h"
#include "trace/read/state_record.h"

enum vs_trace_state_tag {
    VS_TRACE_STATE_TOTALS = 1, VS_TRACE_STATE_PHASE, VS_TRACE_STATE_ACCOUNT, VS_TRACE_STATE_USAGE,
    VS_TRACE_STATE_SITES, VS_TRACE_STATE_THREAD, VS_TRACE_STATE_OPEN_STEPS, VS_TRACE_STATE_LIVE,
    VS_TRACE_STATE_SEGMENTS, VS_TRACE_STATE_FRAMEWORK, VS_TRACE_STATE_FAILURE,
    VS_TRACE_STATE_KERNELS, VS_TRACE_STATE_ACTIVITY, VS_TRACE_STATE_EVENTS,
    /* of the user's level, which earlier versions did not keep */
    VS_TRACE_STATE_USER, VS_TRACE_STATE_FRAMEWORK_SITES, VS_TRACE_STATE_FRAMEWORK_BIRTHS,
    VS_TRACE_STATE_BIRTHS, VS_TRACE_STATE_BACKING,
    VS_TRACE_STATE_MAPPINGS, VS_TRACE_STATE_ROUNDING
};

/* Base of the next allocation's differences; zero at the start of a record. */
struct vs_trace_state_last_live {
    uint64_t addr, time_ns, epoch;
};

/* A phase with its number and its names. */
struct vs_trace_state_phase {
    struct vs_phase phase;
    uint64_t index;
    const char *name, *prefix;
    size_t length, prefix_length; /* of the prefix with its NUL; 0: it is the name */
};

void vs_trace_state_io_totals(struct vs_state_record *r, struct vs_trace_state *m);
/* Allocates the peaks that are read. *parent_max*: the highest number of a parent. */
void vs_trace_state_io_phase(struct vs_state_record *r, struct vs_trace_state_phase *one,
                             uint32_t parent_max);
void vs_trace_state_io_event(struct vs_state_record *r, struct vs_event *event);
void vs_trace_state_io_account(struct vs_state_record *r, struct vs_account *a,
                               const struct vs_phases *phases);
/* Allocates the contexts that are read. */
void vs_trace_state_io_usage(struct vs_state_record *r, struct vs_device_usage *u);
void vs_trace_state_io_site(struct vs_state_record *r, struct vs_site *site);
void vs_trace_state_io_live(struct vs_state_record *r, struct vs_live *live,
                            struct vs_trace_state_last_live *last);
/* The user's level of an account. */
void vs_trace_state_io_user(struct vs_state_record *r, struct vs_account *a,
                            const struct vs_phases *phases);
/* A site of a framework. */
void vs_trace_state_io_framework_site(struct vs_state_record *r, struct vs_site *site);
/* Who allocated *live*, and where; for a framework's block all but its address and size. */
void vs_trace_state_io_birth(struct vs_state_record *r, struct vs_live *live,
                             const struct vs_phases *phases);
void vs_trace_state_io_framework_birth(struct vs_state_record *r, struct vs_live *live,
                                       struct vs_trace_state_last_live *last,
                                       const struct vs_phases *phases);
/* Segments and mappings. *last*: the address of the record's previous one, zero at its start. */
void vs_trace_state_io_segment(struct vs_state_record *r, struct vs_replay_segment *segment,
                               uint64_t *last);
void vs_trace_state_io_mapping(struct vs_state_record *r, struct vs_replay_segment *mapping,
                               uint64_t *last);
void vs_trace_state_io_failure(struct vs_state_record *r, struct vs_failure *f,
                               const struct vs_phases *phases);
void vs_trace_state_io_range(struct vs_state_record *r, struct vs_range *range,
                             const struct vs_phases *phases);
void vs_trace_state_io_device_activity(struct vs_state_record *r, struct vs_device_activity *row);
void vs_trace_state_io_kernel(struct vs_state_record *r, struct vs_kernel_row *row);

#endif
