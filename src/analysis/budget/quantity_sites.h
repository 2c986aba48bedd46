/* SPDX-License-Identifier: Apache-2.0
 *
 * The call sites that make up a quantity at its time. */
#ifndef VS_QUANTITY_SITES_H
#define VS_QUANTITY_SITES_H

#include "analysis/budget/quantities.h"

#define VS_QUANTITY_SITES_MAX 512 /* call sites of a list */

/* vs_quantity_sites: the call sites of *quantity*, heaviest first: the blocks that were live at its
 * time; of reserved memory the segments; of copies the calls. *out* is empty where they are
 * unknown, and lives as long as *run*. Cost: for times that the report has no list
 * of, reads the trace up to there. */
void vs_quantity_sites(struct vs_measured *run, const struct vs_quantity *quantity,
                       struct vs_report_sites *out);

/* vs_quantity_is_held: whether the quantity is of memory that the program holds from the device, in use
 * or cached. *below_tensors*: a framework's tensors are the user's level of the device. */
bool vs_quantity_is_held(const struct vs_quantity *quantity, bool below_tensors);

/* A quantity, and where its call sites go. */
struct vs_site_request {
    const struct vs_quantity *quantity;
    struct vs_report_sites *out;
    /* Not NULL: for memory held from the device, *out* has the live blocks instead of the segments, and
     * this one the requests for the segments, with the bytes of them that are cached and not in use. */
    struct vs_report_sites *unused;
};

/* vs_quantity_sites_all: likewise for *count* quantities of one run; reorders *requests*. Cost: reads
 * the trace once. */
void vs_quantity_sites_all(struct vs_measured *run, struct vs_site_request *requests, size_t count);

#endif
