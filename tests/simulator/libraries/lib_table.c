/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of one library, which the build writes (LIB_ROWS_HEADER, LIB_ROWS), as LIB_TABLE. */
#include "lib_table.h"

#include LIB_ROWS_HEADER

#define ROW(kind, name) {#kind, #name},
static const struct lib_row rows[] = {LIB_ROWS(ROW)};

const struct lib_table LIB_TABLE = {rows, sizeof rows / sizeof *rows};
