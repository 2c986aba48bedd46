/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a Chrome trace event, and the merging of counter points. Internal to the Chrome
 * renderer. */
#ifndef VS_CHROME_EMIT_H
#define VS_CHROME_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "viewer/chrome/slices.h"

struct vs_emit {
    FILE *out;
    uint64_t start_ns; /* ts 0 */
    uint64_t written;
};

/* vs_emit_begin: `{"ph":…,"name":…,"pid":…,"tid":…,"ts":…` on a line of its own;
 * the caller adds members with a leading comma and the closing brace. */
void vs_emit_begin(struct vs_emit *emit, char phase, const char *name, uint64_t pid, uint64_t tid,
                   uint64_t time_ns);

/* vs_emit_name: a metadata event (ph M) with the argument "name" *value*. */
void vs_emit_name(struct vs_emit *emit, const char *what, uint64_t pid, uint64_t tid,
                  const char *value);
/* vs_emit_order: process_sort_index or thread_sort_index. */
void vs_emit_order(struct vs_emit *emit, const char *what, uint64_t pid, uint64_t tid,
                   uint64_t index);

/* vs_emit_slice: a kernel named *kernel*, or a copy or memset, on its stream of *pid*. */
void vs_emit_slice(struct vs_emit *emit, const struct vs_slice *slice, uint64_t pid,
                   const char *kernel);

/* One counter. Points within *window_ns* of the first are held back; the highest and the last of
 * them are written. Zero-initialise, then set name and pid. */
struct vs_chrome_counter {
    const char *name;
    uint64_t pid;
    bool open;        /* points are held back since window_start_ns */
    uint64_t window_start_ns;
    uint64_t high, high_ns, last, last_ns;
    uint64_t written; /* last written value */
};
void vs_counter_set(struct vs_chrome_counter *counter, struct vs_emit *emit, uint64_t value,
                    uint64_t time_ns, uint64_t window_ns);
void vs_counter_flush(struct vs_chrome_counter *counter, struct vs_emit *emit);

#endif
