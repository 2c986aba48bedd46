/* SPDX-License-Identifier: Apache-2.0
 *
 * Growable arrays: the only place where analysis and viewer call realloc. An array is a pointer
 * with a count and a capacity beside it; the owner frees it with free(). Never shrinks. */
#ifndef VS_VEC_H
#define VS_VEC_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_err.h"

/* vs_vec_grow: make room for *need* elements of *element* bytes. *array* is the
 * address of the element pointer. New elements are zeroed. VS_ERR_NOMEM leaves
 * everything as it was. Cost: amortised O(1) per element. */
static inline enum vs_err vs_vec_grow(void *array, size_t *capacity, size_t need, size_t element)
{
    if (need <= *capacity)
        return VS_OK;
    size_t wanted = *capacity ? *capacity * 2 : 16;
    if (wanted < need)
        wanted = need;
    if (wanted > SIZE_MAX / 2 / element)
        return VS_ERR_NOMEM;
    void *old;
    memcpy(&old, array, sizeof old);
    char *grown = realloc(old, wanted * element);
    if (!grown)
        return VS_ERR_NOMEM;
    memset(grown + *capacity * element, 0, (wanted - *capacity) * element);
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return VS_OK;
}

#endif
