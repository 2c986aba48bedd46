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

/* Which of two lists of call sites has addresses, "train+0x11a7 (train)", in place of the other's functions. */
enum vs_names_lack { VS_NAMES_LACK_NONE, VS_NAMES_LACK_NOW, VS_NAMES_LACK_BEFORE };

/* vs_names_lack: the list that has addresses in place of the other's functions: most of its bytes are of addresses
 * that the other does not have, and most of the other's of functions that it does not have. Addresses in both, as of
 * a stripped library, do not count. Both lists are ordered by name. */
enum vs_names_lack vs_names_lack(const struct vs_named_sites *now, const struct vs_named_sites *before);

#endif
