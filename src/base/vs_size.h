/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing and printing of sizes, times and counts for users. */
#ifndef VS_SIZE_H
#define VS_SIZE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

#define VS_KIB (UINT64_C(1) << 10)
#define VS_MIB (UINT64_C(1) << 20)
#define VS_GIB (UINT64_C(1) << 30)
#define VS_SIZE_TEXT_MAX 32

/* vs_size_parse: parses "8GiB", "1.5 GiB", "512M", "80gb", "4096" (bytes). K/M/G/T with or without
 * "iB"/"i" are powers of 1024; "kB/MB/GB/TB" are powers of 1000 (SI). Case-insensitive apart from
 * that rule: "mb" is MB. The whole string must be consumed. *bytes* is unwritten on failure.
 * Returns VS_OK, or VS_ERR_ARG for anything else (negative, empty, overflow). */
enum vs_err vs_size_parse(const char *text, uint64_t *bytes) VS_MUST_CHECK;

/* vs_size_format: writes "0 B", "512 B", "1.5 KiB", "12.34 GiB" to *out* (at least VS_SIZE_TEXT_MAX
 * bytes); one decimal from 1 KiB on, two from 1 GiB on, and a value is never rounded up to 1024 of its
 * unit. Returns out. */
char *vs_size_format(char *out, uint64_t bytes);

/* vs_sizes_apart: formats two sizes for one sentence with enough digits to differ if the sizes do:
 * "4.0 MiB" and "4.1 MiB", "4.00 MiB" and "4.01 MiB", else both in bytes, "4,194,305 B". */
struct vs_size_pair {
    char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX];
};
struct vs_size_pair vs_sizes_apart(uint64_t a, uint64_t b);

/* vs_time_format: writes a duration in ns as "850 ns", "12.3 µs", "4.56 ms", "1.234 s", "2 min 05
 * s" to *out* (VS_SIZE_TEXT_MAX bytes). Returns out. */
char *vs_time_format(char *out, uint64_t time_ns);

/* vs_count_format: thousands separated by commas: "1,234,567". */
char *vs_count_format(char *out, uint64_t count);

/* vs_number_format: "1 block", "1,234 blocks", in *out* (VS_NUMBER_TEXT_MAX bytes). Returns out. */
#define VS_NUMBER_TEXT_MAX 64
char *vs_number_format(char *out, uint64_t count, const char *noun);

/* The same texts in memory of the enclosing block, valid until its end. */
#define vs_size_text(bytes) vs_size_format((char[VS_SIZE_TEXT_MAX]){""}, bytes)
#define vs_time_text(time_ns) vs_time_format((char[VS_SIZE_TEXT_MAX]){""}, time_ns)
#define vs_count_text(count) vs_count_format((char[VS_SIZE_TEXT_MAX]){""}, count)
#define vs_number_text(count, noun) vs_number_format((char[VS_NUMBER_TEXT_MAX]){""}, count, noun)

#endif
