/* SPDX-License-Identifier: Apache-2.0
 *
 * The identity of this process and of its ancestors, unambiguous although process numbers are
 * reused: a number together with the start time of that process. */
#ifndef VS_LINEAGE_H
#define VS_LINEAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_LINEAGE_TEXT_MAX 1024
#define VS_LINEAGE_BOOT_MAX 64

struct vs_lineage {
    uint64_t born_ns, parent_born_ns; /* CLOCK_BOOTTIME, from the kernel; 0 = unknown */
    char boot[VS_LINEAGE_BOOT_MAX];   /* the kernel's id of this boot; "" = unknown */
    /* "PID@NS" for each process whose fork, at time NS, this memory went through, then "PID:NS" for
     * each live ancestor, started at NS; the nearest first */
    char text[VS_LINEAGE_TEXT_MAX];
};

/* vs_lineage_read: fills *out* for the calling process, now. Reads /proc; no malloc. Any thread. */
void vs_lineage_read(struct vs_lineage *out);

/* vs_lineage_forked: did this memory belong to another process before a fork by the C library? */
bool vs_lineage_forked(void);

#endif
