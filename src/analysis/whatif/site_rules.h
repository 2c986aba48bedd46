/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of a setting about single call sites, in one run: which blocks of such a site are live,
 * oldest first, and which of them end with a step. Internal to this folder. */
#ifndef VS_SITE_RULES_H
#define VS_SITE_RULES_H

#include "analysis/whatif/requests_read.h"

struct vs_ruled_site {
    enum vs_whatif_site_rule rule; /* 0: none */
    uint64_t bytes_min;
    uint32_t first, last;          /* live blocks, slot + 1; 0: none */
};

struct vs_site_rules {
    bool any;
    uint64_t steps;           /* steps that have begun */
    struct vs_ruled_site *sites; /* by number; NULL: no rules */
    size_t site_count;
    struct vs_ruled_slot {
        uint32_t before, after; /* slot + 1 */
        uint32_t site;
        bool linked;
        uint64_t step;          /* begun at its allocation */
    } *slots;
};

void vs_site_rules_init(struct vs_site_rules *rules, const struct vs_whatif_log *log,
                        const struct vs_whatif_setting *setting);
void vs_site_rules_free(struct vs_site_rules *rules);

static inline bool vs_site_absent(const struct vs_site_rules *rules, uint32_t site, uint64_t bytes)
{
    return rules->any && rules->sites[site].rule == VS_WHATIF_ABSENT &&
           bytes >= rules->sites[site].bytes_min;
}
/* vs_site_rules_add, _remove: a block became live, or not any more. */
void vs_site_rules_add(struct vs_site_rules *rules, uint32_t site, uint32_t slot);
void vs_site_rules_remove(struct vs_site_rules *rules, uint32_t slot);
/* vs_site_rules_step: a step ended (*number* 0: the first begins): calls *end* for every block that
 * ends with it, after removing it. */
void vs_site_rules_step(struct vs_site_rules *rules, uint64_t number,
                        void (*end)(void *ctx, uint32_t slot), void *ctx);

#endif
