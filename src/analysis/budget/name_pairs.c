/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/budget/name_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/budget/culprits.h"

#define ALIKE 600     /* of 1000 */
#define ALIKE_FIRST 3 /* characters that they begin with; "head_forward" is not "block_forward" */

static int by_value(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

void vs_name_pairs_of(struct vs_name_pairs *out, const char *name, size_t length)
{
    length = length < VS_NAME_BYTES ? length : VS_NAME_BYTES;
    out->count = 0;
    for (size_t i = 0; i + 1 < length; i++)
        out->pairs[out->count++] =
            (uint16_t)((unsigned char)name[i] << 8 | (unsigned char)name[i + 1]);
    qsort(out->pairs, out->count, sizeof *out->pairs, by_value);
}

unsigned vs_name_similarity(const struct vs_name_pairs *a, const struct vs_name_pairs *b)
{
    uint32_t common = 0;
    if (!a->count || !b->count)
        return 0;
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        uint16_t x = a->pairs[i], y = b->pairs[j];
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    return 2 * common * 1000 / (a->count + b->count);
}

/* Whether two names differ only in numbers: "layer_1", "layer_12" are two functions. */
static bool numbered(const char *a, const char *b)
{
    size_t n = vs_function_length(a), m = vs_function_length(b), i = 0, k = 0;
    for (;; i++, k++) {
        i += strspn(a + i, "0123456789");
        k += strspn(b + k, "0123456789");
        if (i >= n || k >= m || a[i] != b[k])
            return i >= n && k >= m;
    }
}

bool vs_names_alike(const char *a, const struct vs_name_pairs *x, const char *b, const struct vs_name_pairs *y)
{
    return (strncmp(a, b, ALIKE_FIRST) == 0 || strstr(a, b) || strstr(b, a)) && vs_name_similarity(x, y) >= ALIKE &&
           !numbered(a, b);
}
