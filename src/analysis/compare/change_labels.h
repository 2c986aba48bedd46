/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of call sites that no two of a list share: as few frames as tell a site from the others. Two
 * sites of an allocation function differ in its callers, two depths of a recursion in how often it
 * called itself. No state. */
#ifndef VS_CHANGE_LABELS_H
#define VS_CHANGE_LABELS_H

#include "analysis/budget/culprits.h"
#include "analysis/report/site_text.h"

/* vs_change_labels: sets the label of each of *sites*. Cost: a text for each site, and
 * another one for each time that it was the same as another site's. */
void vs_change_labels(struct vs_named_sites *sites);

/* vs_change_label_text: of a site with a label: "make_buffer (pool.c:9) < forward (net.c:20) < …". *out* has
 * VS_CHAIN_TEXT_MAX bytes. Returns out. */
char *vs_change_label_text(char *out, const struct vs_named_site *named);

#endif
