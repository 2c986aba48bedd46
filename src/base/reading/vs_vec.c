/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* qsort_r */
#include "base/reading/vs_vec.h"

static int order(const void *left, const void *right, void *keys)
{
    for (const struct vs_sort_key *key = keys; key->type; key++) {
        const char *a = (const char *)left + key->offset, *b = (const char *)right + key->offset;
        int found = 0;
        switch ((unsigned)key->type) {
        case VS_SORT_TEXT: found = strcmp(*(const char *const *)a, *(const char *const *)b); break;
        case VS_SORT_SIGNED: found = VS_ORDER(*(const int64_t *)a, *(const int64_t *)b); break;
        case sizeof(uint64_t): found = vs_order_u64(a, b); break;
        case sizeof(uint32_t): found = vs_order_u32(a, b); break;
        case sizeof(bool): found = VS_ORDER(*(const uint8_t *)a, *(const uint8_t *)b);
        }
        if (found)
            return key->down ? -found : found;
    }
    return 0;
}

void vs_vec_sort_by(void *rows, size_t count, size_t size, const struct vs_sort_key *keys)
{
    if (count)
        qsort_r(rows, count, size, order, (void *)(uintptr_t)keys);
}
