/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a baseline keeps what. Private to this folder. */
#ifndef VS_BASELINE_INTERNAL_H
#define VS_BASELINE_INTERNAL_H

#include <json-c/json.h>

#include "analysis/budget/baseline.h"

#define VS_DEVICE_KEY_MAX 24

struct vs_baseline {
    struct json_object *root;
};

/* vs_baseline_key: the member of a device for *quantity*: "allocated", "copies h2d per step". *out*
 * has 64 bytes. Returns out. */
char *vs_baseline_key(const struct vs_quantity *quantity, char *out);

/* vs_baseline_process: the object of *process*, or NULL. */
struct json_object *vs_baseline_process(const struct vs_baseline *baseline, const char *process);

#endif
