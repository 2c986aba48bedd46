/* SPDX-License-Identifier: Apache-2.0
 *
 * Growable arrays of the reading side (vs_xalloc.h): a pointer with a count and a capacity beside
 * it; the owner frees it with free(). Never shrinks. */
#ifndef VS_VEC_H
#define VS_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_err.h"

/* vs_vec_room: makes room for *need* elements of *element* bytes. *array* is the address of the
 * element pointer. New elements are zeroed. Ends the command without memory. Cost: amortised O(1)
 * per element. */
static inline void vs_vec_room(void *array, size_t *capacity, size_t need, size_t element)
{
    if (need <= *capacity)
        return;
    size_t wanted = *capacity ? *capacity * 2 : 16;
    if (wanted < need)
        wanted = need;
    void *old;
    memcpy(&old, array, sizeof old);
    char *grown = vs_xrealloc(old, wanted, element);
    memset(grown + *capacity * element, 0, (wanted - *capacity) * element);
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
}

/* vs_vec_push: one more element at the end of *count*. Valid until the next one. */
static inline void *vs_vec_push(void *array, size_t *count, size_t *capacity, size_t element)
{
    char *items;
    vs_vec_room(array, capacity, *count + 1, element);
    memcpy(&items, array, sizeof items);
    return items + (*count)++ * element;
}

/* VS_VEC_ADD: one more element, with the value that follows, at the end of *items*. */
#define VS_VEC_ADD(items, count, capacity, ...) \
    (vs_vec_room(&(items), &(capacity), (count) + 1, sizeof *(items)), \
     (items)[(count)++] = __VA_ARGS__)

/* vs_vec_sort: qsort, also of no elements. */
static inline void vs_vec_sort(void *items, size_t count, size_t element,
                               int (*compare)(const void *, const void *))
{
    if (count)
        qsort(items, count, element, compare);
}

/* VS_SORT: orders *rows* by the fields that follow, each VS_UP (the lowest first) or VS_DOWN of a number, a bool or a text:
 * rows that are equal in one are ordered by the next. Cost: a few ns more for a comparison than vs_vec_sort. */
struct vs_sort_key {
    uint32_t offset; /* of the field in a row */
    uint8_t type;    /* the size of a number without sign; or: */
    bool down;
};
#define VS_SORT_TEXT 16
#define VS_SORT_SIGNED 17
#define VS_SORT(rows, count, ...)                                                                  \
    __extension__({                                                                                \
        __typeof__(rows) vs_sorted = (rows);                                                       \
        vs_vec_sort_by(vs_sorted, count, sizeof *vs_sorted,                                        \
                       (const struct vs_sort_key[]){__VA_ARGS__, {.type = 0}});                    \
    })
#define VS_UP(field) VS_SORT_KEY(field, false)
#define VS_DOWN(field) VS_SORT_KEY(field, true)
#define VS_SORT_KEY(field, is_down)                                                                \
    {offsetof(__typeof__(*vs_sorted), field),                                                      \
     _Generic(vs_sorted->field, char *: VS_SORT_TEXT, const char *: VS_SORT_TEXT,                  \
              int64_t: VS_SORT_SIGNED, default: sizeof vs_sorted->field), is_down}
void vs_vec_sort_by(void *rows, size_t count, size_t size, const struct vs_sort_key *keys);

/* VS_VEC_BELOW, _UP_TO: how many of *items*, sorted by their uint64_t *field*, have one below *value*, at most
 * *value*: the index of the first of the others. */
static inline size_t vs_vec_below(const void *items, size_t count, size_t element, size_t offset, uint64_t value)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)((const char *)items + middle * element + offset) < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
#define VS_VEC_BELOW(items, count, field, value) \
    vs_vec_below(items, count, sizeof *(items), offsetof(__typeof__(*(items)), field), value)
#define VS_VEC_UP_TO(items, count, field, value) \
    ((value) == UINT64_MAX ? (count) : VS_VEC_BELOW(items, count, field, (value) + 1))

/* vs_vec_nth: the value that would be at *index* if the *count* values (fewer than 2^32) were
 * sorted; rearranges them. *count* is not 0. Cost: linear on average, also of values that rise and
 * then fall. */
static inline uint64_t vs_vec_nth(uint64_t *values, size_t count, size_t index)
{
    size_t low = 0, high = count - 1;
    uint64_t scatter = 0;
    while (low < high) {
        scatter = (scatter + count) * UINT64_C(0x9e3779b97f4a7c15);
        uint64_t pivot = values[low + (size_t)((scatter >> 32) * (high - low) >> 32)];
        size_t i = low, j = high;
        for (;; i++, j--) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            uint64_t value = values[i];
            values[i] = values[j];
            values[j] = value;
        }
        if (index <= j)
            high = j;
        else
            low = j + 1;
    }
    return values[index];
}

/* VS_ORDER: the order of two numbers, as for qsort. vs_then: *order*, of equal ones that of *next*. */
#define VS_ORDER(x, y) (((x) > (y)) - ((x) < (y)))
static inline int vs_then(int order, int next)
{
    return order ? order : next;
}

/* vs_order_u64, vs_order_u32: from small to large, for qsort. */
static inline int vs_order_u64(const void *left, const void *right)
{
    return VS_ORDER(*(const uint64_t *)left, *(const uint64_t *)right);
}
static inline int vs_order_u32(const void *left, const void *right)
{
    return VS_ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
}

#endif
