/* SPDX-License-Identifier: Apache-2.0
 *
 * The value of the option `limit`: how much memory each device appears to have. "8GiB" and "50%"
 * apply to every device, "1:16GiB" to the device of that ordinal; several values are separated by
 * commas, and a device's own value takes precedence. A percentage is of the device's memory. Pure
 * functions. */
#ifndef VS_LIMIT_SPEC_H
#define VS_LIMIT_SPEC_H

#include <stdint.h>

#include "base/vs_err.h"

#define VS_LIMIT_DEVICES_MAX 64
#define VS_LIMIT_NONE UINT64_MAX

struct vs_limit_amount {
    uint64_t bytes; /* 0: not given in bytes */
    double percent; /* above 0 to 100; 0: not given in percent */
};

struct vs_limit_spec {
    struct vs_limit_amount all, own[VS_LIMIT_DEVICES_MAX];
};

/* vs_limit_parse: parses *text* into *spec*; the empty text sets no limit. VS_ERR_ARG, *spec*
 * unwritten, for anything else: an invalid amount, 0, more than 100 %, an ordinal from
 * VS_LIMIT_DEVICES_MAX on, one device given twice. */
enum vs_err vs_limit_parse(const char *text, struct vs_limit_spec *spec) VS_MUST_CHECK;

/* vs_limit_complaint: the error in *text*, a few words; NULL if vs_limit_parse accepts it, or if it
 * is just not an amount. Static storage. */
const char *vs_limit_complaint(const char *text);

/* vs_limit_bytes: the limit of *device*, which has *total_bytes* (0: unknown); VS_LIMIT_NONE if
 * there is none, or if it is a percentage of an unknown size. May exceed the device's memory. */
uint64_t vs_limit_bytes(const struct vs_limit_spec *spec, uint32_t device, uint64_t total_bytes);

#endif
