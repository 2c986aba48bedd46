/* SPDX-License-Identifier: Apache-2.0
 *
 * How similar two names are: by the pairs of neighbouring characters that both have, however often and
 * wherever. A name is taken apart once, so that a comparison costs the sum of two lengths. */
#ifndef VS_NAME_PAIRS_H
#define VS_NAME_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_NAME_BYTES 128 /* of a name, that are compared */

struct vs_name_pairs {
    uint32_t count; /* 0: a name of less than two characters */
    uint16_t pairs[VS_NAME_BYTES - 1]; /* sorted */
};

/* vs_name_pairs_of: of the first *length* bytes of *name*. */
void vs_name_pairs_of(struct vs_name_pairs *out, const char *name, size_t length);

/* vs_name_similarity: 0 to 1000: the pairs that both have, as a share of the mean of their numbers. */
unsigned vs_name_similarity(const struct vs_name_pairs *a, const struct vs_name_pairs *b);

/* vs_names_alike: whether function *a* may be function *b* after a renaming: "forward", "forward_pass".
 * *x* and *y* are their pairs. */
bool vs_names_alike(const char *a, const struct vs_name_pairs *x, const char *b, const struct vs_name_pairs *y);

#endif
