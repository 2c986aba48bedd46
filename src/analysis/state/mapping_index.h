/* SPDX-License-Identifier: Apache-2.0
 *
 * Where physical memory (cuMemCreate) is mapped at one time of the replay, ordered by address: the
 * address ranges of programs that manage virtual memory, and of PyTorch's expandable segments. Not
 * thread-safe. */
#ifndef VS_MAPPING_INDEX_H
#define VS_MAPPING_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

struct vs_mapping {
    uint64_t addr, size;
    uint64_t memory; /* address of its `alloc` event; 0: of another process */
    unsigned device; /* index in the replay */
    uint64_t event;  /* 1-based index; 0: before the state that a checkpoint had */
};

/* Zero-initialise. */
struct vs_mappings {
    struct vs_mapping *items; /* ascending by addr */
    size_t count, capacity;
};

/* vs_mappings_add: insert; replaces one that starts at the same address. VS_ERR_NOMEM. */
void vs_mappings_add(struct vs_mappings *set, const struct vs_mapping *mapping);

/* vs_mappings_remove: remove the one that starts at *addr*; false when there is none. */
bool vs_mappings_remove(struct vs_mappings *set, uint64_t addr);

/* vs_mappings_at: the one that starts at *addr*, or NULL. Valid likewise. */
const struct vs_mapping *vs_mappings_at(const struct vs_mappings *set, uint64_t addr);

/* vs_mappings_find: the one that contains *addr*, or NULL. Valid until the next add or remove. */
const struct vs_mapping *vs_mappings_find(const struct vs_mappings *set, uint64_t addr);

void vs_mappings_free(struct vs_mappings *set);

#endif
