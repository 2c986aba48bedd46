/* SPDX-License-Identifier: Apache-2.0
 *
 * A function without a name is written as its module and its offset there. */
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

/* Bytes of one list. Not counted: addresses that the other list has as well, as of a stripped library; and names
 * without a file, such as "cudaMalloc", which are the same with and without names of functions. */
struct name_balance {
    uint64_t common;           /* of functions that the other list has as well */
    uint64_t named, addresses; /* that it does not have */
};

static struct name_balance balance_names(const struct vs_named_sites *sites, const struct vs_named_sites *other)
{
    struct name_balance out = {0};
    for (size_t i = 0, k = 0; i < sites->count; i++) {
        const struct vs_named_site *site = &sites->items[i];
        while (k < other->count && strcmp(other->items[k].name, site->name) < 0)
            k++;
        bool both = k < other->count && strcmp(other->items[k].name, site->name) == 0, bare = is_address(site->name);
        if (strstr(site->name, " (") && !(both && bare))
            *(both ? &out.common : bare ? &out.addresses : &out.named) += site->bytes;
    }
    return out;
}

/* Whether most of these bytes are addresses in one list, and names that are gone in the other. */
static bool are_apart(const struct name_balance *addresses, const struct name_balance *names)
{
    return addresses->addresses > addresses->named + addresses->common &&
           names->named > names->addresses + names->common;
}

enum vs_names_lack vs_names_lack(const struct vs_named_sites *now, const struct vs_named_sites *before)
{
    struct name_balance is = balance_names(now, before), was = balance_names(before, now);
    return are_apart(&is, &was) ? VS_NAMES_LACK_NOW : are_apart(&was, &is) ? VS_NAMES_LACK_BEFORE : VS_NAMES_LACK_NONE;
}
