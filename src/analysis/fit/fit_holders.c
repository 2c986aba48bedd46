/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass with a table of the live allocations of one device at one level, by
 * address; a freed place in the table is used again. Then the allocations are summed by stack and
 * mark, and those sums by the text of their line. */
#include "analysis/fit/fit_holders.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/fit/fit_where.h"
#include "analysis/naming/user_line.h"
#include "base/reading/vs_vec.h"
#include "base/vs_map.h"
#include "ledger/change.h"

#define NAMED_MAX 400 /* sums whose line is looked up: the largest */

struct fit_block {
    uint64_t stack, mark, bytes, count;
    uint64_t next_free;
};

struct fit_holding {
    uint64_t device;
    bool tensors;
    struct fit_block *blocks;
    size_t count, capacity;
    uint64_t free_list; /* index + 1 */
    struct vs_map by_addr; /* address -> index + 1 */
    struct vs_line_mark mark;
};

static void forget(struct fit_holding *held, uint64_t addr)
{
    uint64_t slot;
    if (!addr || !vs_map_remove(&held->by_addr, addr, &slot))
        return;
    held->blocks[slot - 1] = (struct fit_block){.next_free = held->free_list};
    held->free_list = slot;
}

static void hold(struct fit_holding *held, uint64_t addr, uint64_t bytes, uint64_t stack)
{
    if (!addr)
        return;
    forget(held, addr); /* its free is not in the trace */
    uint64_t slot = held->free_list;
    if (slot) {
        held->free_list = held->blocks[slot - 1].next_free;
    } else {
        vs_vec_room(&held->blocks, &held->capacity, held->count + 1, sizeof *held->blocks);
        slot = ++held->count;
    }
    held->blocks[slot - 1] = (struct fit_block){
        .stack = stack, .mark = held->mark.name, .bytes = bytes, .count = 1};
    vs_xmap_put(&held->by_addr, addr, slot);
}

static void follow(struct fit_holding *held, const struct vs_event *event)
{
    if (held->tensors && event->kind == VS_EVENT_framework_alloc &&
        event->framework_alloc.device == held->device) {
        hold(held, event->framework_alloc.addr, event->framework_alloc.size,
             event->framework_alloc.stack);
        return;
    }
    if (held->tensors && event->kind == VS_EVENT_framework_free)
        forget(held, event->framework_free.addr);
    if (!held->tensors && event->kind == VS_EVENT_alloc && event->alloc.device == held->device &&
        vs_family_on_device(event->alloc.family)) {
        hold(held, event->alloc.addr, event->alloc.size, event->alloc.stack);
        return;
    }
    if (!held->tensors && event->kind == VS_EVENT_free)
        forget(held, event->free.addr);
}

/* Numbers count as in the replay: one per event that the reader returns. */
static enum vs_err read_to(struct vs_reader *reader, struct fit_holding *held, uint64_t last)
{
    struct vs_event event;
    enum vs_err err = VS_OK;
    vs_reader_rewind(reader);
    for (uint64_t n = 0; !err && n < last && (err = vs_reader_next(reader, &event)) == VS_OK; n++) {
        vs_line_mark_event(&held->mark, reader, &event);
        follow(held, &event);
    }
    return err == VS_ERR_END ? VS_OK : err;
}

static int by_stack(const void *a, const void *b)
{
    const struct fit_block *x = a, *y = b;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return x->mark < y->mark ? -1 : x->mark > y->mark;
}

static int by_bytes(const void *a, const void *b)
{
    const struct fit_block *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return by_stack(a, b);
}

/* Sums the blocks of the same stack and mark, in place; the largest sum comes first. */
static void sum_by_stack(struct fit_holding *held)
{
    size_t kept = 0;
    if (held->count)
        qsort(held->blocks, held->count, sizeof *held->blocks, by_stack);
    for (size_t i = 0; i < held->count; i++) {
        struct fit_block *sum = kept ? &held->blocks[kept - 1] : NULL;
        if (sum && sum->stack == held->blocks[i].stack && sum->mark == held->blocks[i].mark) {
            sum->bytes += held->blocks[i].bytes;
            sum->count += held->blocks[i].count;
        } else {
            held->blocks[kept++] = held->blocks[i];
        }
    }
    held->count = kept;
    if (kept)
        qsort(held->blocks, kept, sizeof *held->blocks, by_bytes);
}

static int larger_holder(const void *a, const void *b)
{
    const struct vs_fit_holder *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->where, y->where);
}

static enum vs_err name_holders(const struct fit_holding *held, const struct vs_summary *summary,
                                struct vs_fit_holders *out)
{
    size_t named = 0, limit = held->count < NAMED_MAX ? held->count : NAMED_MAX;
    struct vs_fit_holder *lines = vs_xcalloc(limit + 1, sizeof *lines);
    for (size_t i = 0; i < held->count; i++) {
        const struct fit_block *sum = &held->blocks[i];
        out->total_bytes += sum->bytes;
        if (i >= limit || !sum->bytes)
            continue;
        const char *where = vs_fit_where(summary, sum->stack, sum->mark, !held->tensors);
        size_t k = 0;
        while (where && k < named && strcmp(lines[k].where, where) != 0)
            k++;
        if (!where || vs_summary_part(summary, sum->stack, sum->bytes, sum->count, &lines[k].parts)) {
            free(lines);
            return VS_ERR_NOMEM;
        }
        named += k == named;
        lines[k].where = where;
        lines[k].bytes += sum->bytes;
        lines[k].count += sum->count;
    }
    qsort(lines, named, sizeof *lines, larger_holder);
    for (size_t i = 0; i < named && out->count < VS_FIT_HOLDERS_MAX; i++)
        if (lines[i].bytes) {
            vs_summary_sort_parts(&lines[i].parts);
            out->items[out->count++] = lines[i];
        }
    free(lines);
    return VS_OK;
}

enum vs_err vs_fit_holders(struct vs_reader *reader, const struct vs_summary *summary, uint64_t event,
                           uint64_t device, bool tensors, struct vs_fit_holders *out)
{
    struct fit_holding held = {.device = device, .tensors = tensors};
    *out = (struct vs_fit_holders){0};
    enum vs_err err = read_to(reader, &held, event);
    if (!err) {
        sum_by_stack(&held);
        err = name_holders(&held, summary, out);
    }
    free(held.blocks);
    vs_map_free(&held.by_addr);
    return err;
}
