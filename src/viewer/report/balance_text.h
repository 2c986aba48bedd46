/* SPDX-License-Identifier: Apache-2.0
 *
 * The balance of a device's memory (analysis/state/balance.h) as a table and as JSON. */
#ifndef VS_BALANCE_TEXT_H
#define VS_BALANCE_TEXT_H

#include "analysis/state/balance.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"

/* vs_balance_text: the table under an indent of two columns: at *peak* and at *last* (one
 * column where they are one moment), then who allocated and what the rest may be. Nothing
 * where the device never said what is free. *end_ns*: of the process, or
 * the part looked at, since its start; *end*: what that is, "the end". */
void vs_balance_text(const struct vs_style *style, const struct vs_balance *peak,
                     const struct vs_balance *last, uint64_t end_ns, const char *end);

/* vs_balance_rows: the table of one moment and what the rest may be, without a heading. */
void vs_balance_rows(const struct vs_style *style, const struct vs_balance *balance);

/* vs_balance_json: an object *key*: null where the device said nothing. */
void vs_balance_json(struct vs_json *json, const char *key, const struct vs_balance *balance);

#endif
