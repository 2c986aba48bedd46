/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory each device may seem to have: the value of the option `limit`.
 * "8GiB" and "50%" hold for every device, "1:16GiB" for the device of that ordinal
 * alone; several are separated by commas, and a device's own goes before what holds
 * for all. A share is one of the device's memory. Pure functions. */
#ifndef VS_LIMIT_SPEC_H
#define VS_LIMIT_SPEC_H

#include <stdint.h>

#include "base/vs_err.h"

#define VS_LIMIT_DEVICES_MAX 64
#define VS_LIMIT_NONE UINT64_MAX

struct vs_limit_amount {
    uint64_t bytes; /* 0: not this way */
    double percent; /* above 0 to 100; 0: not this way */
};

struct vs_limit_spec {
    struct vs_limit_amount all, own[VS_LIMIT_DEVICES_MAX];
};

/* vs_limit_parse: *text* into *spec*; the empty text limits nothing. VS_ERR_ARG, *spec*
 * unwritten, for anything else: no amount, nothing of it (0), more than 100 %, an ordinal
 * from VS_LIMIT_DEVICES_MAX on, one device told twice. */
enum vs_err vs_limit_parse(const char *text, struct vs_limit_spec *spec) VS_MUST_CHECK;

/* vs_limit_complaint: what is wrong with *text*, a few words; NULL when vs_limit_parse takes
 * it, or there is no more to say than that it is no amount. Static storage. */
const char *vs_limit_complaint(const char *text);

/* vs_limit_bytes: the limit of *device*, which has *total_bytes* (0: not known);
 * VS_LIMIT_NONE when it has none, or is a share of what is not known. May be more than
 * the device has. */
uint64_t vs_limit_bytes(const struct vs_limit_spec *spec, uint32_t device, uint64_t total_bytes);

#endif
