/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A function without a name is written as its module and its offset there. */
#include "analysis/budget/named_memory.h"

#include <string.h>

struct vs_named_memory vs_named_memory(const struct vs_report *report)
{
    struct vs_named_memory out = {0};
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_report_sites *sites = &report->devices[i].at_peak;
        for (size_t s = 0; s < sites->count; s++) {
            const struct vs_report_site *site = &sites->items[s];
            bool known = site->line;
            for (size_t k = site->wrappers; k < site->frame_count && !known; k++)
                known = site->frames[k].known && !(site->folds && site->frames[k].library);
            out.all += site->bytes;
            out.with_stack += site->frame_count || site->line ? site->bytes : 0;
            out.with_names += known ? site->bytes : 0;
        }
    }
    return out;
}

bool vs_without_names(const struct vs_report *report)
{
    struct vs_named_memory memory = vs_named_memory(report);
    return memory.with_stack && memory.with_names < memory.with_stack / 2;
}

/* Whether every function of *name* is an address. */
static bool is_address(const char *name)
{
    for (; name; name = strstr(name, " < ")) {
        name += strncmp(name, " < ", 3) == 0 ? 3 : 0;
        const char *offset = strstr(name, "+0x"), *end = strpbrk(name, " ");
        if (!offset || (end && offset > end))
            return false;
    }
    return true;
}

bool vs_stored_without_names(const struct vs_named_sites *sites)
{
    uint64_t all = 0, named = 0;
    for (size_t i = 0; i < sites->count; i++) {
        all += sites->items[i].bytes;
        named += is_address(sites->items[i].name) ? 0 : sites->items[i].bytes;
    }
    return all && named < all / 2;
}
