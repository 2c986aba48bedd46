/* SPDX-License-Identifier: Apache-2.0
 *
 * The most that each call site of a baseline holds at any peak: of the program, of a phase or test, and of
 * allocated or reserved memory. Sites of one name are distinguished by their order in a list, which differs from
 * list to list, so all sites of a name are taken from the list in which they hold most. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/baseline_internal.h"
#include "analysis/budget/site_align.h"
#include "base/reading/vs_vec.h"

/* The sites of one name in one list. */
struct named_group {
    const struct vs_named_site *items;
    size_t count;
    uint64_t bytes;
};

struct group_list {
    struct named_group *items;
    size_t count, capacity, sites;
};

static void add_list(struct group_list *groups, struct json_object *list, struct vs_arena *memory)
{
    struct vs_named_sites sites;
    if (list)
        vs_baseline_read_list(list, memory, &sites);
    for (size_t i = 0; list && i < sites.count;) {
        struct named_group group = {.items = &sites.items[i], .count = vs_site_run(&sites, i)};
        for (size_t k = 0; k < group.count; k++)
            group.bytes += group.items[k].bytes;
        vs_vec_room(&groups->items, &groups->capacity, groups->count + 1, sizeof *groups->items);
        groups->items[groups->count++] = group;
        groups->sites += group.count;
        i += group.count;
    }
}

static void add_lists(struct group_list *groups, struct json_object *lists, struct vs_arena *memory)
{
    add_list(groups, vs_baseline_member(lists, "allocated", json_type_object), memory);
    add_list(groups, vs_baseline_member(lists, "reserved in use", json_type_object), memory);
}

/* By name, of one name the most bytes first. */
static int by_name_and_bytes(const void *a, const void *b)
{
    const struct named_group *x = a, *y = b;
    int order = strcmp(x->items->name, y->items->name);
    return order ? order : x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

void vs_baseline_most(const struct vs_baseline *baseline, const char *process, uint64_t device,
                      struct vs_arena *memory, struct vs_named_sites *out)
{
    char key[VS_DEVICE_KEY_MAX];
    struct group_list groups = {0};
    struct json_object *of = vs_baseline_process(baseline, process);
    struct json_object *phases = vs_baseline_member(of, "phases", json_type_object);
    snprintf(key, sizeof key, "%" PRIu64, device);
    struct json_object *whole = vs_baseline_member(of, "sites", json_type_object);
    add_lists(&groups, vs_baseline_member(whole, key, json_type_object), memory);
    if (phases) {
        json_object_object_foreach(phases, path, phase) {
            (void)path;
            struct json_object *at = json_object_is_type(phase, json_type_object)
                                         ? vs_baseline_member(phase, key, json_type_object) : NULL;
            add_lists(&groups, vs_baseline_member(at, "sites", json_type_object), memory);
        }
    }
    struct vs_named_site *items = vs_xarena(memory, (groups.sites + 1) * sizeof *items);
    size_t count = 0;
    if (groups.count)
        qsort(groups.items, groups.count, sizeof *groups.items, by_name_and_bytes);
    for (size_t i = 0; i < groups.count; i++) {
        const struct named_group *group = &groups.items[i];
        if (i && strcmp(group[-1].items->name, group->items->name) == 0)
            continue;
        memcpy(items + count, group->items, group->count * sizeof *items);
        count += group->count;
    }
    *out = (struct vs_named_sites){items, count};
    free(groups.items);
}
