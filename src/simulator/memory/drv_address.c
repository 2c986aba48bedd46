/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which a device hands out addresses: ties between free blocks of one size go by
 * address in caching allocators, so the order decides where their blocks lie.
 *
 * - fenced: round the window, with a page without access behind each allocation: an address is reused
 *   as late as possible, and an access past the end faults.
 * - lowest: the lowest address with room, each allocation directly behind the last. The spec's hole=
 *   keeps the space above the window's base free for the first allocations.
 * - linux: as on Linux, ranges of a multiple of 32 MiB, aligned to it, from the top of the window
 *   down. An allocation goes into the lowest unused tail of a range that it fits in, else into a new
 *   range in the highest gap. A range ends with its last allocation.
 *
 * Pages shared by small allocations lie at the other end of the window in the last two orders. */
#include "simulator/memory/vs_sim_address.h"

#include <stdlib.h>
#include <string.h>

#include "simulator/driver/vs_sim_driver.h"

/* above this number the kernel's limit of mappings matters more than fences */
#define FENCED_MAX 12000
#define RANGE_BYTES (UINT64_C(32) << 20) /* linux */

/* ---- lists ---- */

/* Index of the first span that ends above *address*. */
static size_t span_after(const struct address_list *list, uintptr_t address)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (list->at[mid].base + list->at[mid].bytes > address)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static bool span_add(struct address_list *list, uintptr_t base, size_t bytes)
{
    if (list->count == list->max) {
        size_t max = list->max ? list->max * 2 : 64;
        struct address_span *more = realloc(list->at, max * sizeof *more);
        if (!more)
            return false;
        list->at = more;
        list->max = max;
    }
    size_t i = span_after(list, base);
    memmove(list->at + i + 1, list->at + i, (list->count - i) * sizeof *list->at);
    list->at[i] = (struct address_span){base, bytes};
    list->count++;
    return true;
}

static size_t span_remove(struct address_list *list, uintptr_t base)
{
    size_t i = span_after(list, base), bytes = list->at[i].bytes;
    list->count--;
    memmove(list->at + i, list->at + i + 1, (list->count - i) * sizeof *list->at);
    return bytes;
}

/* The lowest address for *bytes* and a *fence* at or above *from*, below *limit*; 0 if there is no
 * room. *start*: of the window. */
static uintptr_t lowest_gap(const struct address_list *list, uintptr_t start, uintptr_t from,
                            uintptr_t limit, size_t bytes, size_t fence)
{
    size_t i = span_after(list, from > start + fence ? from - fence : start);
    for (; from + bytes + fence <= limit; i++) {
        if (i == list->count || list->at[i].base >= from + bytes + fence)
            return from;
        uintptr_t end = list->at[i].base + list->at[i].bytes + fence;
        if (end > from)
            from = end;
    }
    return 0;
}

/* The highest address for *bytes* between *from* and *limit*, aligned to *align*; 0 if there is no
 * room. */
static uintptr_t highest_gap(const struct address_list *list, uintptr_t from, uintptr_t limit,
                             size_t bytes, size_t align)
{
    for (size_t i = list->count + 1; i-- > 0;) {
        uintptr_t low = i ? list->at[i - 1].base + list->at[i - 1].bytes : from;
        uintptr_t high = i < list->count ? list->at[i].base : limit;
        uintptr_t at = high >= bytes ? (high - bytes) & ~(uintptr_t)(align - 1) : 0;
        if (at >= low && at + bytes <= high)
            return at;
    }
    return 0;
}

/* ---- orders ---- */

static uintptr_t take_fenced(struct vs_sim_addresses *a, size_t bytes)
{
    size_t fence = a->used.count < FENCED_MAX ? VS_SIM_PAGE_BYTES : 0;
    uintptr_t limit = a->window + a->window_bytes;
    if (!a->cursor)
        a->cursor = a->window;
    uintptr_t at = lowest_gap(&a->used, a->window, a->cursor, limit, bytes, fence);
    if (!at)
        at = lowest_gap(&a->used, a->window, a->window, limit, bytes, fence);
    if (at)
        a->cursor = at + bytes + fence;
    return at;
}

static uintptr_t take_lowest(struct vs_sim_addresses *a, size_t bytes, bool shared)
{
    uintptr_t limit = a->window + a->window_bytes;
    if (shared)
        return highest_gap(&a->used, a->window, limit, bytes, VS_SIM_PAGE_BYTES);
    size_t hole = a->taken++ < vs_sim_spec.hole_allocations ? vs_sim_spec.hole_bytes : 0;
    return lowest_gap(&a->used, a->window, a->window + hole, limit, bytes, 0);
}

/* The unused part behind the last allocation of a range. */
static uintptr_t tail_of(const struct vs_sim_addresses *a, const struct address_span *range)
{
    size_t i = span_after(&a->used, range->base + range->bytes - 1);
    if (i < a->used.count && a->used.at[i].base < range->base + range->bytes)
        return range->base + range->bytes; /* an allocation reaches its end */
    return i ? a->used.at[i - 1].base + a->used.at[i - 1].bytes : range->base;
}

static uintptr_t take_linux(struct vs_sim_addresses *a, size_t bytes, bool shared)
{
    uintptr_t limit = a->window + a->window_bytes, at;
    if (shared) {
        at = lowest_gap(&a->ranges, a->window, a->window, limit, bytes, 0);
        return at && span_add(&a->ranges, at, bytes) ? at : 0;
    }
    for (size_t i = 0; i < a->ranges.count; i++) {
        const struct address_span *range = &a->ranges.at[i];
        at = tail_of(a, range);
        if (at + bytes <= range->base + range->bytes)
            return at;
    }
    size_t whole = (bytes + RANGE_BYTES - 1) & ~(RANGE_BYTES - 1);
    at = highest_gap(&a->ranges, a->window, limit, whole, RANGE_BYTES);
    return at && span_add(&a->ranges, at, whole) ? at : 0;
}

/* The range ends with its last allocation. */
static void settle_range(struct vs_sim_addresses *a, uintptr_t base)
{
    const struct address_span *range = &a->ranges.at[span_after(&a->ranges, base)];
    size_t i = span_after(&a->used, range->base);
    if (i == a->used.count || a->used.at[i].base >= range->base + range->bytes)
        span_remove(&a->ranges, range->base);
}

uintptr_t vs_sim_address_take(struct vs_sim_addresses *a, size_t bytes, bool shared)
{
    uintptr_t at = 0;
    switch (vs_sim_spec.addresses) {
    case VS_SIM_ADDRESSES_FENCED: at = take_fenced(a, bytes); break;
    case VS_SIM_ADDRESSES_LOWEST: at = take_lowest(a, bytes, shared); break;
    case VS_SIM_ADDRESSES_LINUX: at = take_linux(a, bytes, shared); break;
    }
    if (at && !span_add(&a->used, at, bytes)) {
        if (vs_sim_spec.addresses == VS_SIM_ADDRESSES_LINUX)
            settle_range(a, at);
        return 0;
    }
    return at;
}

size_t vs_sim_address_drop(struct vs_sim_addresses *a, uintptr_t base)
{
    size_t bytes = span_remove(&a->used, base);
    if (vs_sim_spec.addresses == VS_SIM_ADDRESSES_LINUX)
        settle_range(a, base);
    return bytes;
}
