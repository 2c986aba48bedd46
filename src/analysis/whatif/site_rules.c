/* SPDX-License-Identifier: Apache-2.0
 *
 * Only blocks of sites with a rule are linked. Blocks allocated before the first
 * step stay: they are the program's permanent memory. */
#include "analysis/whatif/site_rules.h"
#include "base/reading/vs_xalloc.h"

#include <stdlib.h>

void vs_site_rules_init(struct vs_site_rules *rules, const struct vs_whatif_log *log,
                        const struct vs_whatif_setting *setting)
{
    *rules = (struct vs_site_rules){.any = setting->site_count > 0};
    if (!rules->any)
        return;
    rules->site_count = log->site_count;
    rules->sites = vs_xcalloc(log->site_count + 1, sizeof *rules->sites);
    rules->slots = vs_xcalloc((size_t)log->slot_count + 1, sizeof *rules->slots);
    for (size_t i = 0; i < log->site_count; i++) {
        for (size_t k = 0; k < setting->site_count; k++) {
            if (setting->sites[k].stack != log->stacks[i])
                continue;
            rules->sites[i].rule = setting->sites[k].rule;
            rules->sites[i].bytes_min = setting->sites[k].bytes_min;
        }
    }
}

void vs_site_rules_free(struct vs_site_rules *rules)
{
    free(rules->sites);
    free(rules->slots);
    *rules = (struct vs_site_rules){0};
}

void vs_site_rules_add(struct vs_site_rules *rules, uint32_t number, uint32_t slot)
{
    struct vs_ruled_site *site = &rules->sites[number];
    if (!site->rule)
        return;
    rules->slots[slot] = (struct vs_ruled_slot){.before = site->last, .site = number,
                                                .linked = true, .step = rules->steps};
    if (site->last)
        rules->slots[site->last - 1].after = slot + 1;
    else
        site->first = slot + 1;
    site->last = slot + 1;
}

void vs_site_rules_remove(struct vs_site_rules *rules, uint32_t slot)
{
    struct vs_ruled_slot *s = &rules->slots[slot];
    struct vs_ruled_site *site = &rules->sites[s->site];
    if (!s->linked)
        return;
    *(s->before ? &rules->slots[s->before - 1].after : &site->first) = s->after;
    *(s->after ? &rules->slots[s->after - 1].before : &site->last) = s->before;
    s->linked = false;
}

void vs_site_rules_step(struct vs_site_rules *rules, uint64_t number,
                        void (*end)(void *ctx, uint32_t slot), void *ctx)
{
    if (!rules->any)
        return;
    rules->steps++;
    for (size_t i = 0; number && i < rules->site_count; i++) {
        struct vs_ruled_site *site = &rules->sites[i];
        if (site->rule != VS_WHATIF_FREE_AT_STEP_END)
            continue;
        for (uint32_t slot = site->first, after; slot; slot = after) {
            after = rules->slots[slot - 1].after;
            if (!rules->slots[slot - 1].step)
                continue; /* from before the first step */
            vs_site_rules_remove(rules, slot - 1);
            end(ctx, slot - 1);
        }
    }
}
