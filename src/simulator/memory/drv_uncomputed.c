/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads of values that no kernel computed. A kernel without a host function only takes time: what it
 * would have written is not there. Which memory that is cannot be found out (the number of its arguments
 * is in its device code, and memory holds pointers too), so that all memory counts as uncomputed from
 * its launch on, except what is allocated, copied from the host or set later. A kernel with a host
 * function spreads that from one of its arguments to the others, a copy from its source to its
 * target. A copy to the host from such memory is reported to the library that records the program, on
 * the thread that requests it, so that its stack is that of the request.
 *
 * Everything happens in the order of the submissions, which the program's streams, events and waits
 * allow, and which does not depend on time. A host that reads managed memory itself is not seen: a wait
 * after such a kernel counts as one read, while there is managed memory. Off where the host computes the
 * values (drv_ahead.c), which then reports them itself. */
#include "simulator/memory/vs_sim_memory.h"

#include <string.h>

#define SPANS_MAX 4096 /* more: memory that is overwritten stays uncomputed */

void vramscopeSimWatch(vramscope_sim_read_fn *read, vramscope_sim_block_fn *block);
void vramscopeSimDecided(const char *text);
uint64_t vramscopeSimUncomputedReads(void);

struct uncomputed_span {
    uintptr_t begin, end;
};

static _Atomic(vramscope_sim_read_fn *) on_read;
static _Atomic(vramscope_sim_block_fn *) on_block;
static atomic_uint_least64_t reads;
static atomic_uint managed; /* live allocations of managed memory */
static atomic_bool unread;  /* a kernel was not computed since the host last waited */
static _Atomic(const char *) kernel; /* the latest that was not computed; names are never freed */

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER; /* guards the spans; takes no other lock */
static struct uncomputed_span spans[SPANS_MAX];        /* in order, apart from each other */
static unsigned span_count;
static atomic_bool any, all; /* is there one; is it one of all memory */

/* ---- spans ---- */

/* The first span that ends behind *address*. */
static unsigned span_at_locked(uintptr_t address)
{
    unsigned low = 0, high = span_count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (spans[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Puts *with* spans in the place of those from *first* to before *last*. */
static void replace_locked(unsigned first, unsigned last, const struct uncomputed_span *with,
                           unsigned count)
{
    memmove(&spans[first + count], &spans[last], (span_count - last) * sizeof *spans);
    memcpy(&spans[first], with, count * sizeof *spans);
    span_count = span_count - (last - first) + count;
    atomic_store(&any, span_count != 0);
    atomic_store(&all, span_count == 1 && !spans[0].begin && spans[0].end == UINTPTR_MAX);
}

static bool touches(uintptr_t begin, uintptr_t end)
{
    if (!atomic_load(&any))
        return false;
    pthread_mutex_lock(&mu);
    unsigned i = span_at_locked(begin);
    bool found = i < span_count && spans[i].begin < end;
    pthread_mutex_unlock(&mu);
    return found;
}

static void add(uintptr_t begin, uintptr_t end)
{
    pthread_mutex_lock(&mu);
    unsigned first = span_at_locked(begin), last = first;
    struct uncomputed_span joined = {begin, end};
    for (; last < span_count && spans[last].begin < end; last++) {
        joined.begin = spans[last].begin < joined.begin ? spans[last].begin : joined.begin;
        joined.end = spans[last].end > joined.end ? spans[last].end : joined.end;
    }
    if (first == last && span_count == SPANS_MAX)
        joined = (struct uncomputed_span){0, UINTPTR_MAX}, first = 0, last = span_count;
    replace_locked(first, last, &joined, 1);
    pthread_mutex_unlock(&mu);
}

static void take(uintptr_t begin, uintptr_t end)
{
    if (!atomic_load(&any) || begin >= end)
        return;
    pthread_mutex_lock(&mu);
    unsigned first = span_at_locked(begin), last = first, kept = 0;
    struct uncomputed_span rest[2];
    while (last < span_count && spans[last].begin < end)
        last++;
    if (first < last && spans[first].begin < begin)
        rest[kept++] = (struct uncomputed_span){spans[first].begin, begin};
    if (first < last && spans[last - 1].end > end)
        rest[kept++] = (struct uncomputed_span){end, spans[last - 1].end};
    if (first < last && span_count - (last - first) + kept <= SPANS_MAX)
        replace_locked(first, last, rest, kept);
    pthread_mutex_unlock(&mu);
}

/* ---- work ---- */

/* The allocation that *word* points into, if it is a pointer to memory of CUDA. */
static bool argument(uintptr_t word, struct uncomputed_span *span)
{
    struct vs_sim_range range;
    vramscope_sim_block_fn *block = atomic_load(&on_block);
    uint64_t base, bytes;
    if (word < 4096 || !vs_sim_range_find(word, &range))
        return false;
    *span = (struct uncomputed_span){range.base, range.base + range.bytes};
    if (block(word, &base, &bytes)) /* the range is a segment of several allocations */
        *span = (struct uncomputed_span){base, base + bytes};
    return true;
}

/* A host function computes from what it finds. */
static void computed(const struct vs_sim_launch_op *launch)
{
    bool spreads = false;
    for (int turn = 0; turn < 1 + spreads; turn++)
        for (unsigned i = 0; i < launch->host->arg_count; i++)
            for (uint32_t at = 0; at + sizeof(uintptr_t) <= launch->host->bytes[i]; at += 8) {
                struct uncomputed_span span;
                uintptr_t word;
                memcpy(&word, launch->args + launch->host->offset[i] + at, sizeof word);
                if (!argument(word, &span))
                    continue;
                if (turn)
                    add(span.begin, span.end);
                else
                    spreads |= touches(span.begin, span.end);
            }
}

/* Each row of one end of a copy or a memset; rows without bytes between them are one. Returns whether
 * one of them touches a span, with no *change*. */
static bool rows(const struct vs_sim_end *end, size_t width, size_t height, size_t depth,
                 void (*change)(uintptr_t begin, uintptr_t end))
{
    bool found = false;
    if (depth > 1 && height > 1 && end->slice == end->pitch * height) {
        height *= depth;
        depth = 1;
    }
    if (height > 1 && end->pitch == width && depth == 1) {
        width *= height;
        height = 1;
    }
    for (size_t z = 0; z < depth; z++)
        for (size_t y = 0; y < height && !found; y++) {
            uintptr_t begin = end->base + z * end->slice + y * end->pitch;
            if (change)
                change(begin, begin + width);
            else
                found = touches(begin, begin + width);
        }
    return found;
}

static bool report(enum vs_sim_uncomputed what, int device, uint64_t bytes, const char *text)
{
    vramscope_sim_read_fn *read = atomic_load(&on_read);
    bool counts = read && read((int)what, device, bytes, text);
    atomic_fetch_add(&reads, counts && what != VS_SIM_MANAGED);
    return counts;
}

void vs_sim_uncomputed_submitted(const struct vs_sim_op *op)
{
    if (!atomic_load(&on_read) || atomic_load(&vs_sim_ahead))
        return;
    const struct vs_sim_launch_op *launch = &op->u.launch;
    if (op->kind == VS_SIM_OP_KERNEL && !launch->host && !launch->only_time) {
        atomic_store(&kernel, launch->function->name);
        atomic_store(&unread, true);
        if (!atomic_load(&all))
            add(0, UINTPTR_MAX);
    } else if (!atomic_load(&any)) {
        return;
    } else if (op->kind == VS_SIM_OP_KERNEL && launch->host) {
        computed(launch);
    } else if (op->kind == VS_SIM_OP_COPY) {
        const struct vs_sim_copy *c = &op->u.copy;
        bool uncomputed =
            !vs_sim_on_host(&c->from) && rows(&c->from, c->width, c->height, c->depth, NULL);
        if (!vs_sim_on_host(&c->to))
            rows(&c->to, c->width, c->height, c->depth, uncomputed ? add : take);
        else if (uncomputed && !c->staged) /* an answer was computed */
            report(VS_SIM_COPIED, c->from.device, (uint64_t)c->width * c->height * c->depth,
                   atomic_load(&kernel));
    } else if (op->kind == VS_SIM_OP_SET) {
        rows(&op->u.set.to, op->u.set.width * op->u.set.element, op->u.set.height, 1, take);
    }
}

void vs_sim_uncomputed_range(const struct vs_sim_range *range, bool freed)
{
    if (range->kind == VS_SIM_RANGE_MANAGED)
        atomic_fetch_add(&managed, freed ? -1u : 1u);
    /* other kinds may have been written before: at another address, or by a kernel that used a variable
     * before the host did */
    if (!freed && !range->variable && range->kind != VS_SIM_RANGE_MAPPED &&
        range->kind != VS_SIM_RANGE_OPENED)
        take(range->base, range->base + range->bytes);
}

void vs_sim_uncomputed_waited(void)
{
    if (atomic_load(&managed) && atomic_load(&unread) &&
        report(VS_SIM_MANAGED, -1, 0, atomic_load(&kernel)))
        atomic_store(&unread, false);
}

/* ---- the recording library, and the host that computes values ---- */

/* vramscopeSimWatch: *read* is called for each read from now on; *block* is asked for the allocation
 * that an address lies in. */
VS_SIM_EXPORT void vramscopeSimWatch(vramscope_sim_read_fn *read, vramscope_sim_block_fn *block)
{
    atomic_store(&on_block, block);
    atomic_store(&on_read, read);
}

/* vramscopeSimDecided: a value that this thread's host could not compute decided something: *text*
 * names the expression and the value that was read. */
VS_SIM_EXPORT void vramscopeSimDecided(const char *text)
{
    report(VS_SIM_DECIDED, -1, 0, text);
}

/* vramscopeSimUncomputedReads: how many reads there were in this process, without possible ones of managed memory. */
VS_SIM_EXPORT uint64_t vramscopeSimUncomputedReads(void) { return atomic_load(&reads); }
