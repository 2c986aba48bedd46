/* SPDX-License-Identifier: Apache-2.0
 *
 * The call sites of a baseline, written and read. The whole program has them in the member "sites"; a
 * phase or test in its own quantities, a few of the largest. A phase whose peak is that of the phase or
 * program around it, reached by the same event, has none of its own: they are the same. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/baseline_internal.h"
#include "analysis/budget/culprits.h"
#include "analysis/budget/quantity_sites.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define SITES "sites"

/* "main (a.cu) #2" is the second site of its name. */
static const char *without_number(const char *key, struct vs_arena *memory, unsigned long *nth)
{
    const char *mark = strstr(key, " #");
    for (const char *later = mark; later; later = strstr(later + 1, " #"))
        mark = later;
    char *end = NULL;
    *nth = mark ? strtoul(mark + 2, &end, 10) : 1;
    if (!mark || !end || *end || *nth < 2) {
        *nth = 1;
        return key;
    }
    size_t length = (size_t)(mark - key);
    char *name = vs_xarena(memory, length + 1);
    return memcpy(name, key, length);
}

struct ordered_site {
    struct vs_named_site site;
    unsigned long nth;
};

/* The call sites of a list, ordered by name and number; of equal names without their numbers. *memory*
 * owns the result, except the names, which are the list's. */
static void read_list(struct json_object *list, struct vs_arena *memory, struct vs_named_sites *out)
{
    size_t most = (size_t)json_object_object_length(list), count = 0;
    struct ordered_site *rows = vs_xarena(memory, (most + 1) * sizeof *rows);
    struct vs_named_site *items = vs_xarena(memory, (most + 1) * sizeof *items);
    VS_EACH_MEMBER(list, member) {
        struct ordered_site *row = &rows[count];
        if (!json_object_is_type(lh_entry_v(member), json_type_object))
            continue;
        vs_baseline_number(lh_entry_v(member), "bytes", &row->site.bytes);
        vs_baseline_number(lh_entry_v(member), "count", &row->site.count);
        row->site.name = without_number(lh_entry_k(member), memory, &row->nth);
        count++;
    }
    VS_SORT(rows, count, VS_UP(site.name), VS_UP(nth));
    for (size_t i = 0; i < count; i++)
        items[i] = rows[i].site;
    *out = (struct vs_named_sites){items, count};
}

/* Copies have one list, of all ways and steps; reserved memory has two. *out* has 80 bytes. */
static const char *list_key(const struct vs_quantity *quantity, enum vs_site_list list, char *out)
{
    struct vs_quantity whole = *quantity;
    char key[64];
    if (vs_metric_of_copies(quantity->metric)) {
        whole.metric = VS_METRIC_COPIES;
        whole.way = VS_COPIES_ALL;
    }
    whole.per_step = false;
    snprintf(out, 80, "%s%s", vs_baseline_key(&whole, key), list == VS_SITES_IN_USE   ? " in use"
                                                            : list == VS_SITES_UNUSED ? " unused" : "");
    return out;
}

/* The object that has the lists of a device, of the whole program or of a phase. */
static struct json_object *lists_of(const struct vs_baseline *baseline, const char *process,
                                    const struct vs_quantity *quantity)
{
    char device[VS_DEVICE_KEY_MAX];
    if (quantity->phase)
        return vs_baseline_child(vs_baseline_values(baseline, process, quantity), SITES);
    snprintf(device, sizeof device, "%" PRIu64, quantity->device);
    return vs_baseline_member(vs_baseline_child(vs_baseline_process(baseline, process), SITES),
                              device, json_type_object);
}

/* Makes *quantity* that of the phase around its phase, or of the whole program. A range's name may have
 * " / " in itself: a path that is no phase is passed over by the caller. */
static void go_outside(struct vs_quantity *quantity, char *path)
{
    char *last = NULL;
    for (char *at = strstr(path, " / "); at; at = strstr(at + 1, " / "))
        last = at;
    if (last)
        *last = 0;
    quantity->phase = last ? path : NULL;
}

/* Whether the live blocks of a phase's reserved peak are those of its allocated one. */
static bool live_as_allocated(const struct vs_baseline *baseline, const char *process,
                              const struct vs_quantity *quantity)
{
    struct json_object *lists = quantity->phase ? lists_of(baseline, process, quantity) : NULL;
    return quantity->metric == VS_METRIC_RESERVED && vs_baseline_child(lists, "reserved unused") &&
           !vs_baseline_child(lists, "reserved in use");
}

/* The list of *quantity*, or that of the phase around it with the same peak. A file of an earlier
 * version has no lists of phases, so that none can be taken for another. */
static struct json_object *find_list(const struct vs_baseline *baseline, const char *process,
                                     const struct vs_quantity *quantity, const char *key)
{
    struct vs_quantity at = *quantity;
    uint64_t value, outer;
    struct json_object *list = vs_baseline_child(lists_of(baseline, process, &at), key);
    bool peak = at.metric == VS_METRIC_ALLOCATED || at.metric == VS_METRIC_RESERVED;
    if (list || !at.phase || !peak || !vs_baseline_value(baseline, process, &at, &value))
        return list;
    char *path = vs_xstrdup(at.phase);
    while (at.phase && !list) {
        go_outside(&at, path);
        if (vs_baseline_value(baseline, process, &at, &outer) && outer == value)
            list = vs_baseline_child(lists_of(baseline, process, &at), key);
    }
    at.phase = NULL;
    if (!vs_baseline_child(lists_of(baseline, process, &at), "reserved in use"))
        list = NULL;
    free(path);
    return list;
}

/* Copies of all directions in the whole run: their list has all of them. */
static uint64_t copied_all_ways(const struct vs_baseline *baseline, const char *process,
                                const struct vs_quantity *quantity)
{
    struct vs_quantity all = *quantity;
    uint64_t value = 0;
    all.way = VS_COPIES_ALL;
    all.per_step = false;
    vs_baseline_value(baseline, process, &all, &value);
    return value;
}

/* Earlier versions wrote an empty list where the lines that copy were not recorded. */
static bool copies_unknown(const struct vs_baseline *baseline, const char *process, const struct vs_quantity *quantity,
                           const struct json_object *list)
{
    struct vs_quantity number = *quantity;
    number.metric = VS_METRIC_COPIES;
    return vs_metric_of_copies(quantity->metric) && !json_object_object_length(list) &&
           copied_all_ways(baseline, process, &number);
}

/* Sites of less than this may be missing in a list of *count*: those that the file leaves out, and of these
 * none is larger than what the list lacks of the value. */
static uint64_t least_listed(const struct vs_quantity *quantity, uint64_t value, const struct vs_named_sites *list)
{
    uint64_t least = value / (quantity->phase ? VS_BASELINE_PHASE_SITE_PART : VS_BASELINE_SITE_PART);
    uint64_t lowest = UINT64_MAX, sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        lowest = list->items[i].bytes < lowest ? list->items[i].bytes : lowest;
        sum += list->items[i].bytes;
    }
    if (quantity->phase && list->count >= VS_BASELINE_PHASE_SITES_MAX && lowest >= least)
        least = lowest + 1;
    bool adds_up = quantity->metric == VS_METRIC_ALLOCATED || quantity->metric == VS_METRIC_LIVE_AT_END ||
                   quantity->metric == VS_METRIC_GROWTH;
    return adds_up && sum <= value && value - sum < least ? value - sum + 1 : least;
}

/* The same for copies: a line may be in the file for its bytes or for its number of copies. */
static uint64_t least_copied(const struct vs_baseline *baseline, const char *process,
                             const struct vs_quantity *quantity, const struct vs_named_sites *list)
{
    uint64_t all = copied_all_ways(baseline, process, quantity), least = all / VS_BASELINE_SITE_PART, sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += vs_site_amount(&list->items[i], quantity->metric);
    /* The lists of earlier versions leave out lines of few bytes, whatever their number of copies. */
    if (sum <= all && (all - sum < least || quantity->metric == VS_METRIC_COPIES))
        least = all - sum + 1;
    return least;
}

bool vs_baseline_sites(const struct vs_baseline *baseline, const char *process,
                       const struct vs_quantity *quantity, enum vs_site_list list,
                       struct vs_arena *memory, struct vs_named_sites *out, uint64_t *least)
{
    char key[80];
    struct vs_quantity stored = *quantity;
    uint64_t value = 0;
    if (list == VS_SITES_IN_USE && live_as_allocated(baseline, process, quantity)) {
        stored.metric = VS_METRIC_ALLOCATED;
        list = VS_SITES_ALL;
    }
    struct json_object *from = find_list(baseline, process, &stored, list_key(&stored, list, key));
    if (!from || copies_unknown(baseline, process, quantity, from))
        return false;
    read_list(from, memory, out);
    vs_baseline_value(baseline, process, quantity, &value);
    *least = vs_metric_of_copies(quantity->metric) ? least_copied(baseline, process, quantity, out)
                                 : least_listed(quantity, value, out);
    return true;
}

/* --- the most that each call site holds at any peak: of the program, of a phase or test, and of allocated or
 * reserved memory. Sites of one name are distinguished by their order in a list, which differs from list to
 * list, so all sites of a name are taken from the list in which they hold most. --- */

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
        read_list(list, memory, &sites);
    for (size_t i = 0; list && i < sites.count;) {
        struct named_group group = {.items = &sites.items[i], .count = vs_site_run(&sites, i)};
        for (size_t k = 0; k < group.count; k++)
            group.bytes += group.items[k].bytes;
        VS_VEC_ADD(groups->items, groups->count, groups->capacity, group);
        groups->sites += group.count;
        i += group.count;
    }
}

static void add_lists(struct group_list *groups, struct json_object *lists, struct vs_arena *memory)
{
    add_list(groups, vs_baseline_child(lists, "allocated"), memory);
    add_list(groups, vs_baseline_child(lists, "reserved in use"), memory);
}

/* By name, of one name the most bytes first. */
static int by_name_and_bytes(const void *a, const void *b)
{
    const struct named_group *x = a, *y = b;
    return vs_then(strcmp(x->items->name, y->items->name), VS_ORDER(y->bytes, x->bytes));
}

void vs_baseline_most(const struct vs_baseline *baseline, const char *process, uint64_t device,
                      struct vs_arena *memory, struct vs_named_sites *out)
{
    char key[VS_DEVICE_KEY_MAX];
    struct group_list groups = {0};
    struct json_object *of = vs_baseline_process(baseline, process);
    snprintf(key, sizeof key, "%" PRIu64, device);
    add_lists(&groups, vs_baseline_child(vs_baseline_child(of, SITES), key), memory);
    VS_EACH_MEMBER(vs_baseline_child(of, "phases"), phase)
        add_lists(&groups, vs_baseline_child(vs_baseline_child(lh_entry_v(phase), key), SITES), memory);
    struct vs_named_site *items = vs_xarena(memory, (groups.sites + 1) * sizeof *items);
    size_t count = 0;
    vs_vec_sort(groups.items, groups.count, sizeof *groups.items, by_name_and_bytes);
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

/* --- writing --- */

/* The least number of copies for which a line is stored that copies few bytes. */
static uint64_t least_number(const struct vs_named_sites *sites)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sites->count; i++)
        sum += sites->items[i].count;
    return (sum + VS_BASELINE_SITE_PART - 1) / VS_BASELINE_SITE_PART;
}

/* Sites are replaced as a whole: one that is gone must not stay. */
static void put_list(struct json_object *lists, const char *key,
                     const struct vs_named_sites *sites, const struct vs_quantity *quantity)
{
    bool of_phase = quantity->phase != NULL;
    uint64_t number = vs_metric_of_copies(quantity->metric) ? least_number(sites) : UINT64_MAX;
    unsigned nth = 0;
    /* The least bytes of a site that is stored, and how many sites of exactly that many bytes are. */
    uint64_t total = 0, *bytes = vs_xcalloc(sites->count + 1, sizeof *bytes);
    for (size_t i = 0; i < sites->count; i++)
        total += bytes[i] = sites->items[i].bytes;
    uint64_t least = total / (of_phase ? VS_BASELINE_PHASE_SITE_PART : VS_BASELINE_SITE_PART);
    size_t equal = SIZE_MAX, most = VS_BASELINE_PHASE_SITES_MAX;
    qsort(bytes, sites->count, sizeof *bytes, vs_order_u64);
    if (of_phase && sites->count > most && bytes[sites->count - most] >= least) {
        least = bytes[sites->count - most];
        equal = 0;
        for (size_t i = sites->count - most; i < sites->count; i++)
            equal += bytes[i] == least;
    }
    free(bytes);
    struct json_object *list = json_object_new_object();
    if (!list || json_object_object_add(lists, key, list))
        vs_out_of_memory();
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_named_site *site = &sites->items[i];
        char name[VS_SITE_NAME_MAX + 16];
        nth = i && strcmp(site->name, sites->items[i - 1].name) == 0 ? nth + 1 : 1;
        if (site->count < number && (site->bytes < least || (site->bytes == least && equal == 0)))
            continue;
        equal -= site->bytes == least && equal != SIZE_MAX;
        snprintf(name, sizeof name, nth > 1 ? "%s #%u" : "%s", site->name, nth);
        struct json_object *row = vs_baseline_object(list, name);
        vs_baseline_put(row, "bytes", site->bytes);
        vs_baseline_put(row, "count", site->count);
    }
}

/* A quantity whose call sites are stored. */
struct listed_quantity {
    const struct vs_taken_quantity *taken;
    struct vs_report_sites sites, unused;
    bool read;
};

static bool has_lists(const struct vs_taken_quantity *taken, bool readings)
{
    const struct vs_quantity *quantity = &taken->quantity;
    bool copies = quantity->metric == VS_METRIC_COPIES && quantity->way == VS_COPIES_ALL && !quantity->per_step &&
                  taken->run->report->copy_sites_known;
    bool memory = quantity->metric == VS_METRIC_ALLOCATED || quantity->metric == VS_METRIC_RESERVED ||
                  quantity->metric == VS_METRIC_LIVE_AT_END;
    if (quantity->phase)
        return memory && quantity->value;
    return !quantity->unknown && (copies || memory || quantity->metric == VS_METRIC_GROWTH ||
                                   (readings && quantity->metric == VS_METRIC_DEVICE));
}

static int by_place(const void *a, const void *b)
{
    const struct vs_quantity *x = &(*(const struct vs_taken_quantity *const *)a)->quantity;
    const struct vs_quantity *y = &(*(const struct vs_taken_quantity *const *)b)->quantity;
    return vs_then(VS_ORDER(x->metric, y->metric),
                   vs_then(VS_ORDER(x->device, y->device),
                           !x->phase || !y->phase ? !!x->phase - !!y->phase : strcmp(x->phase, y->phase)));
}

/* Whether the phase or program around has the same peak: reached by the same event of the same run.
 * *peaks* are ordered by by_place. */
static bool same_outside(const struct vs_taken_quantity **peaks, size_t count, const struct vs_taken_quantity *taken)
{
    struct vs_taken_quantity at = *taken;
    const struct vs_taken_quantity *key = &at, *const *found = NULL;
    char *path = taken->quantity.phase ? vs_xstrdup(taken->quantity.phase) : NULL;
    while (path && at.quantity.phase && !found) {
        go_outside(&at.quantity, path);
        found = bsearch(&key, peaks, count, sizeof *peaks, by_place);
    }
    free(path);
    return found && (*found)->run == taken->run && (*found)->quantity.event == taken->quantity.event;
}

/* Finds the sites of those whose value is that of *run*. */
static void read_run(struct vs_measured *run, struct listed_quantity *all, size_t count)
{
    struct vs_site_request *requests = vs_xcalloc(count + 1, sizeof *requests);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].taken->run != run)
            continue;
        all[i].read = true;
        requests[n++] = (struct vs_site_request){&all[i].taken->quantity, &all[i].sites, &all[i].unused};
    }
    vs_quantity_sites_all(run, requests, n);
    free(requests);
}

void vs_baseline_put_sites(struct json_object *process, const struct vs_taken *taken, bool readings)
{
    struct listed_quantity *all = vs_xcalloc(taken->count + 1, sizeof *all);
    const struct vs_taken_quantity **peaks = vs_xcalloc(taken->count + 1, sizeof *peaks);
    size_t count = 0, peak_count = 0;
    for (size_t i = 0; i < taken->count; i++)
        if (taken->items[i].quantity.metric <= VS_METRIC_RESERVED)
            peaks[peak_count++] = &taken->items[i];
    qsort(peaks, peak_count, sizeof *peaks, by_place);
    for (size_t i = 0; i < taken->count; i++) {
        const struct vs_taken_quantity *one = &taken->items[i];
        bool peak = one->quantity.metric <= VS_METRIC_RESERVED;
        if (has_lists(one, readings) && !(peak && same_outside(peaks, peak_count, one)))
            all[count++].taken = one; /* gets a list of its own */
    }
    free(peaks);
    for (size_t i = 0; i < count; i++)
        if (!all[i].read) /* each run once */
            read_run(all[i].taken->run, all, count);
    for (size_t i = 0; i < count; i++) {
        const struct vs_quantity *quantity = &all[i].taken->quantity;
        struct vs_arena *memory = &all[i].taken->run->memory;
        char device[VS_DEVICE_KEY_MAX], key[80];
        struct vs_named_sites named;
        bool of_phase = quantity->phase != NULL;
        bool held = quantity->metric == VS_METRIC_RESERVED || quantity->metric == VS_METRIC_DEVICE;
        struct json_object *at = vs_baseline_object(process, of_phase ? "phases" : SITES);
        if (of_phase)
            at = vs_baseline_object(at, quantity->phase);
        snprintf(device, sizeof device, "%" PRIu64, quantity->device);
        at = vs_baseline_object(at, device);
        if (of_phase)
            at = vs_baseline_object(at, SITES);
        vs_named_sites_of(memory, &all[i].sites, quantity->metric, &named);
        put_list(at, list_key(quantity, held ? VS_SITES_IN_USE : VS_SITES_ALL, key), &named,
                 quantity);
        if (held)
            vs_named_sites_of(memory, &all[i].unused, quantity->metric, &named);
        if (held)
            put_list(at, list_key(quantity, VS_SITES_UNUSED, key), &named, quantity);
        if (held && of_phase) {
            /* The live blocks of a phase's reserved peak are often those of its allocated peak. */
            struct json_object *live = vs_baseline_child(at, "reserved in use");
            struct json_object *allocated = vs_baseline_child(at, "allocated");
            if (live && allocated && json_object_equal(live, allocated))
                json_object_object_del(at, "reserved in use");
        }
    }
    free(all);
}
