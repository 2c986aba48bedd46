/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads of values that were not computed, which the simulated driver reports
 * (src/simulator/memory/drv_uncomputed.c). */
#ifndef VS_UNCOMPUTED_H
#define VS_UNCOMPUTED_H

/* vs_uncomputed_watch: the driver is the simulated one: it reports them from now on. */
void vs_uncomputed_watch(void);

#endif
