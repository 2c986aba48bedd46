/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of one library, as LIB_TABLE: those of its vs_NAME_api.h (LIB_HEADER, LIB_FUNCTIONS; not
 * every library has one), and those that the build writes (LIB_ROWS_HEADER, LIB_ROWS). */
#include "lib_table.h"

#include LIB_ROWS_HEADER

#define ROW(kind, name) {#kind, #name},
#ifdef LIB_HEADER
#include LIB_HEADER
#define DEFINED(result, name, parameters) {"STATUS", #name},
#else
#define LIB_FUNCTIONS(F)
#endif

static const struct lib_row rows[] = {LIB_FUNCTIONS(DEFINED) LIB_ROWS(ROW)};

const struct lib_table LIB_TABLE = {rows, sizeof rows / sizeof *rows};
