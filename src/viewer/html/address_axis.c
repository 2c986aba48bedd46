/* SPDX-License-Identifier: Apache-2.0
 *
 * The treap's priorities are a hash of the index of the gap and of a random number,
 * which makes it about 2 log2(n) deep in any order of changes, also in one that a trace was made
 * for; functions recurse to that depth. The places do not depend on it. */
#include "viewer/html/address_axis.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/reading/vs_vec.h"

#define GRANULE 512
#define AXIS_END (UINT64_C(1) << 62)

static uint32_t priority(const struct vs_axis *axis, uint32_t gap)
{
    uint64_t word = (axis->seed + gap) * UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(word >> 32);
}

static void renew(struct vs_axis *axis, uint32_t gap)
{
    struct vs_axis_gap *g = &axis->gaps[gap];
    g->largest = g->size;
    if (g->left && axis->gaps[g->left].largest > g->largest)
        g->largest = axis->gaps[g->left].largest;
    if (g->right && axis->gaps[g->right].largest > g->largest)
        g->largest = axis->gaps[g->right].largest;
}

/* The gaps of *tree* that start before *at* into *low*, the others into *high*. */
static void split(struct vs_axis *axis, uint32_t tree, uint64_t at, uint32_t *low, uint32_t *high)
{
    if (!tree) {
        *low = *high = 0;
        return;
    }
    struct vs_axis_gap *g = &axis->gaps[tree];
    if (g->start < at) {
        split(axis, g->right, at, &g->right, high);
        *low = tree;
    } else {
        split(axis, g->left, at, low, &g->left);
        *high = tree;
    }
    renew(axis, tree);
}

static uint32_t merge(struct vs_axis *axis, uint32_t low, uint32_t high)
{
    if (!low || !high)
        return low ? low : high;
    uint32_t top = priority(axis, low) >= priority(axis, high) ? low : high;
    struct vs_axis_gap *g = &axis->gaps[top];
    if (top == low)
        g->right = merge(axis, g->right, high);
    else
        g->left = merge(axis, low, g->left);
    renew(axis, top);
    return top;
}

static enum vs_err new_gap(struct vs_axis *axis, uint64_t start, uint64_t size, uint32_t *out)
{
    if (!axis->unused) {
        size_t next = axis->count ? axis->count : 1;
        if (next > UINT32_MAX - 1)
            return VS_ERR_NOMEM;
        enum vs_err err = vs_vec_grow(&axis->gaps, &axis->capacity, next + 1, sizeof *axis->gaps);
        if (err)
            return err;
        axis->count = next + 1;
        *out = (uint32_t)next;
    } else {
        *out = axis->unused;
        axis->unused = axis->gaps[*out].left;
    }
    axis->gaps[*out] = (struct vs_axis_gap){.start = start, .size = size, .largest = size};
    return VS_OK;
}

/* Puts *gap* into the tree; no gap has its start. */
static void insert(struct vs_axis *axis, uint32_t gap)
{
    uint32_t low, high;
    split(axis, axis->root, axis->gaps[gap].start, &low, &high);
    axis->root = merge(axis, merge(axis, low, gap), high);
}

/* Takes the gap that starts at *start* out of the tree. */
static uint32_t take_out(struct vs_axis *axis, uint64_t start)
{
    uint32_t low, middle, high;
    split(axis, axis->root, start, &low, &high);
    split(axis, high, start + 1, &middle, &high);
    axis->root = merge(axis, low, high);
    return middle;
}

static void drop(struct vs_axis *axis, uint32_t gap)
{
    axis->gaps[gap].left = axis->unused;
    axis->unused = gap;
}

/* Moves the start of the lowest gap of at least *size* behind those bytes; the order of the gaps
 * stays. Returns its old start. *empty* receives the gap if nothing is left of it. */
static uint64_t cut(struct vs_axis *axis, uint32_t tree, uint64_t size, uint32_t *empty)
{
    struct vs_axis_gap *g = &axis->gaps[tree];
    uint64_t place;
    if (g->left && axis->gaps[g->left].largest >= size) {
        place = cut(axis, g->left, size, empty);
    } else if (g->size >= size) {
        place = g->start;
        g->start += size;
        g->size -= size;
        *empty = g->size ? 0 : tree;
    } else {
        place = cut(axis, g->right, size, empty);
    }
    renew(axis, tree);
    return place;
}

static uint64_t rounded(uint64_t size)
{
    return size > AXIS_END / 2 ? AXIS_END / 2
           : size             ? (size + GRANULE - 1) / GRANULE * GRANULE
                              : GRANULE;
}

enum vs_err vs_axis_take(struct vs_axis *axis, uint64_t size, uint64_t *place)
{
    uint32_t gap, empty = 0;
    size = rounded(size);
    if (!axis->count) {
        if (getrandom(&axis->seed, sizeof axis->seed, GRND_NONBLOCK) != sizeof axis->seed)
            axis->seed = (uintptr_t)axis; /* early at boot: where the kernel put the heap */
        enum vs_err err = new_gap(axis, 0, AXIS_END, &gap);
        if (err)
            return err;
        insert(axis, gap);
    }
    if (!axis->root || axis->gaps[axis->root].largest < size)
        return VS_ERR_NOMEM; /* absurd sizes of a damaged trace */
    *place = cut(axis, axis->root, size, &empty);
    if (empty)
        drop(axis, take_out(axis, axis->gaps[empty].start));
    if (*place + size > axis->end)
        axis->end = *place + size;
    return VS_OK;
}

enum vs_err vs_axis_give(struct vs_axis *axis, uint64_t place, uint64_t size)
{
    uint32_t before = 0, after = 0, gap;
    size = rounded(size);
    for (uint32_t at = axis->root; at;) {
        const struct vs_axis_gap *g = &axis->gaps[at];
        if (g->start < place) {
            before = at;
            at = g->right;
        } else {
            after = at;
            at = g->left;
        }
    }
    if (after && axis->gaps[after].start == place + size) {
        size += axis->gaps[after].size;
        drop(axis, take_out(axis, place + size - axis->gaps[after].size));
    }
    if (before && axis->gaps[before].start + axis->gaps[before].size == place) {
        place = axis->gaps[before].start;
        size += axis->gaps[before].size;
        drop(axis, take_out(axis, place));
    }
    enum vs_err err = new_gap(axis, place, size, &gap);
    if (!err)
        insert(axis, gap);
    return err;
}

void vs_axis_free(struct vs_axis *axis)
{
    free(axis->gaps);
    *axis = (struct vs_axis){0};
}
