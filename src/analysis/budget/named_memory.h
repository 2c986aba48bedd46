/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory has a call stack, and functions with names: of a stripped program, whose call sites
 * are addresses, those of two runs cannot be compared. No state. */
#ifndef VS_NAMED_MEMORY_H
#define VS_NAMED_MEMORY_H

#include "analysis/budget/culprits.h"

/* Bytes at the peaks of all devices. */
struct vs_named_memory {
    uint64_t all, with_stack, with_names;
};

struct vs_named_memory vs_named_memory(const struct vs_report *report);

/* vs_without_names: whether most of the memory with a call stack has functions without names. */
bool vs_without_names(const struct vs_report *report);

/* vs_stored_without_names: whether most of the memory of *sites*, of a baseline, has names that are
 * addresses: "train+0x11a7 (train)". */
bool vs_stored_without_names(const struct vs_named_sites *sites);

#endif
