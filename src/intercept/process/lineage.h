/* SPDX-License-Identifier: Apache-2.0
 *
 * Who this process is and whom it comes from, told so that nobody else can be meant
 * although process numbers are used again: a number together with the moment that
 * process was born. */
#ifndef VS_LINEAGE_H
#define VS_LINEAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_LINEAGE_TEXT_MAX 1024
#define VS_LINEAGE_BOOT_MAX 64

struct vs_lineage {
    uint64_t born_ns, parent_born_ns; /* CLOCK_BOOTTIME, as the kernel tells it; 0 = unknown */
    char boot[VS_LINEAGE_BOOT_MAX];   /* the kernel's name for this boot; "" = unknown */
    /* "PID@NS" for each process whose fork, at that moment, we lived through in memory, then
     * "PID:NS" for each forebear alive now, born at that moment; the nearest first */
    char text[VS_LINEAGE_TEXT_MAX];
};

/* vs_lineage_read: of the calling process, now. Reads /proc; no malloc. Any thread. */
void vs_lineage_read(struct vs_lineage *out);

/* vs_lineage_forked: was this memory another process's, up to a fork by the C library? */
bool vs_lineage_forked(void);

#endif
