/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of one library: LIB_HEADER is its vs_NAME_api.h, LIB_FUNCTIONS the list in it, and
 * LIB_TABLE the table to define. */
#include "lib_table.h"

#include LIB_HEADER

#define ROW(releases, kind, result, name, parameters) {#kind, #result, #name},

static const struct lib_row rows[] = {LIB_FUNCTIONS(ROW)};

const struct lib_table LIB_TABLE = {rows, sizeof rows / sizeof *rows};
