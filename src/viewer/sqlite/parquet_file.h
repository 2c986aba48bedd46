/* SPDX-License-Identifier: Apache-2.0
 *
 * A table as a Parquet file (https://parquet.apache.org/docs/file-format). Every column may be NULL. Memory: a
 * group of rows, at most GROUP_BYTES. Private to this folder; not thread-safe. */
#ifndef VS_PARQUET_FILE_H
#define VS_PARQUET_FILE_H

#include "viewer/sqlite/sqlite_rows.h"

enum vs_parquet_type {
    VS_PARQUET_NUMBER,
    VS_PARQUET_TEXT,
    VS_PARQUET_TIME, /* µs since 1970 */
};

struct vs_parquet_file;

/* vs_parquet_begin: an empty table in *out*. vs_parquet_column: one more column, before the first row. */
struct vs_parquet_file *vs_parquet_begin(FILE *out);
void vs_parquet_column(struct vs_parquet_file *file, const char *name, enum vs_parquet_type type);

/* vs_parquet_row: adds a row; a value for each column. Write errors show in ferror(out). */
void vs_parquet_row(struct vs_parquet_file *file, const struct vs_database_value *values);

void vs_parquet_end(struct vs_parquet_file *file); /* completes and frees it */

#endif
