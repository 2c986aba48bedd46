/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that come nearly in order: some are held back and sorted, so that they leave in order. The first two members of
 * a row are uint64_t: when it begins, and the order of those that begin together. Not thread-safe. */
#ifndef VS_SORTED_ROWS_H
#define VS_SORTED_ROWS_H

#include <stdbool.h>

#include "base/reading/vs_vec.h"

/* Zero-initialise, then set the first members; free(rows). */
struct vs_sorted_rows {
    size_t size, most;                         /* of a row; rows */
    void (*leaves)(void *context, void *row);
    char *rows;
    size_t count, capacity;
    bool unsorted;
};

static inline int vs_sorted_rows_order(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return vs_then(VS_ORDER(a[0], b[0]), VS_ORDER(a[1], b[1]));
}

/* vs_sorted_rows_leave: all rows but the last *keep* leave. */
static inline void vs_sorted_rows_leave(struct vs_sorted_rows *held, void *context, size_t keep)
{
    size_t count = held->count - keep;
    if (held->unsorted)
        vs_vec_sort(held->rows, held->count, held->size, vs_sorted_rows_order);
    held->unsorted = false;
    for (size_t i = 0; i < count; i++)
        held->leaves(context, held->rows + i * held->size);
    if (keep)
        memmove(held->rows, held->rows + count * held->size, keep * held->size);
    held->count = keep;
}

/* vs_sorted_rows_add: one more row; the first half leaves when there are *most*. */
static inline void vs_sorted_rows_add(struct vs_sorted_rows *held, void *context, const void *row)
{
    held->unsorted |= held->count && vs_sorted_rows_order(held->rows + (held->count - 1) * held->size, row) > 0;
    memcpy(vs_vec_push(&held->rows, &held->count, &held->capacity, held->size), row, held->size);
    if (held->count == held->most)
        vs_sorted_rows_leave(held, context, held->most / 2);
}

#endif
