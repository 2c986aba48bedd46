/* SPDX-License-Identifier: Apache-2.0
 *
 * A time in a trace as users write it: "12.5s", "3m20s", "1h5m", "850ms" since the start; "-10s"
 * before the end; "80%" of the time; "@1234" the event of that number, from 1. The forms that
 * reports print ("2 min 05 s", "4.56 ms") are accepted too; a number alone is seconds. */
#ifndef VS_TIME_SPEC_H
#define VS_TIME_SPEC_H

#include <stdint.h>

#include "base/vs_err.h"

enum vs_time_spec_kind {
    VS_TIME_NONE,        /* not given */
    VS_TIME_SINCE_START, /* value: ns */
    VS_TIME_BEFORE_END,  /* ns */
    VS_TIME_PERCENT,     /* thousandths of a percent, at most 100000 */
    VS_TIME_EVENT        /* number, from 1 */
};

struct vs_time_spec {
    enum vs_time_spec_kind kind;
    uint64_t value;
};

/* vs_time_spec_parse: *out* is unwritten on failure. VS_ERR_ARG for anything else. */
enum vs_err vs_time_spec_parse(const char *text, struct vs_time_spec *out) VS_MUST_CHECK;

/* vs_time_spec_ns: the time in ns since the start of a trace that lasts *length_ns*; may be after
 * its end. VS_ERR_ARG for a time before the start, and for an event. */
enum vs_err vs_time_spec_ns(const struct vs_time_spec *spec, uint64_t length_ns, uint64_t *ns)
    VS_MUST_CHECK;

#endif
