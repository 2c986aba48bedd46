/* SPDX-License-Identifier: Apache-2.0
 *
 * Distinct texts or records of the reading side, numbered from 0 in the order in which they first
 * came: for tables that refer to each other by number. Not thread-safe. */
#ifndef VS_INTERN_H
#define VS_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/vs_arena.h"
#include "base/vs_map.h"

/* Zero-initialise. */
struct vs_intern {
    const void **items; /* by number: copies, with a zero byte after each */
    size_t *lengths;
    size_t count, capacity, length_capacity;
    struct vs_map by_hash;
    struct vs_arena memory;
};

/* vs_intern: the number of the record of *length* bytes, which is added when new. Padding counts: a
 * record has none, or is zeroed first. */
uint32_t vs_intern(struct vs_intern *set, const void *bytes, size_t length);

/* vs_intern_find: false if the record is not there. */
bool vs_intern_find(const struct vs_intern *set, const void *bytes, size_t length,
                    uint32_t *number);

static inline uint32_t vs_intern_text(struct vs_intern *set, const char *text)
{
    return vs_intern(set, text, strlen(text));
}

void vs_intern_free(struct vs_intern *set);

#endif
