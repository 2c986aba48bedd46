/* SPDX-License-Identifier: Apache-2.0
 *
 * The balance of a device's memory (analysis/state/balance.h) as a table and as JSON. */
#ifndef VS_BALANCE_TEXT_H
#define VS_BALANCE_TEXT_H

#include "analysis/state/balance.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"

/* vs_balance_text: prints the table indented by two columns: at *peak* and at *last* (one column if
 * they are the same time), then the allocating libraries and possible causes of the unexplained
 * rest. Prints nothing if the free memory of the device was never recorded. *end_ns*: end of the
 * process, or of the selected part, since its start; *end*: its name, "the end". */
void vs_balance_text(const struct vs_style *style, const struct vs_balance *peak,
                     const struct vs_balance *last, uint64_t end_ns, const char *end);

/* vs_balance_rows: the table for one time with the possible causes of the rest, without a
 * heading. */
void vs_balance_rows(const struct vs_style *style, const struct vs_balance *balance);

/* vs_balance_json: an object *key*: null if the device was never queried. */
void vs_balance_json(struct vs_json *json, const char *key, const struct vs_balance *balance);

#endif
