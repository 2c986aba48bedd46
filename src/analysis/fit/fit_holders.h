/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lines of the user's hold a device's memory at one event of a trace. Not thread-safe. */
#ifndef VS_FIT_HOLDERS_H
#define VS_FIT_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/report/summary.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"

#define VS_FIT_HOLDERS_MAX 5

/* vs_fit_where: the label of the call site of *stack* with *mark*, as in the report
 * (vs_text_label). *native*: also of stacks without a line of the user's Python, whose names take
 * time to look up. "" when nothing is known. In the summary's arena. */
const char *vs_fit_where(const struct vs_summary *summary, uint64_t stack, uint64_t mark, bool native);

struct vs_fit_holder {
    const char *where; /* as vs_fit_where */
    uint64_t bytes, count;
    struct vs_site_parts parts; /* by function of an installed package that the line called */
};

struct vs_fit_holders {
    struct vs_fit_holder items[VS_FIT_HOLDERS_MAX]; /* largest first */
    size_t count;
    uint64_t total_bytes; /* of all of them, listed or not */
};

/* vs_fit_holders: reads the trace from its start to event number *event* (from 1), that one
 * included. *device*: the trace's number; *tensors*: a framework's memory instead of the
 * device's. Strings are in the summary's arena. Cost: the live set. */
enum vs_err vs_fit_holders(struct vs_reader *reader, const struct vs_summary *summary, uint64_t event,
                           uint64_t device, bool tensors, struct vs_fit_holders *out) VS_MUST_CHECK;

#endif
