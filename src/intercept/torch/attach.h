/* SPDX-License-Identifier: Apache-2.0
 *
 * Recording of a program that runs already: the calls of its allocator are led here, and what it held before
 * is recorded as older than the recording. */
#ifndef VS_ATTACH_H
#define VS_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

/* vs_framework_lead_here: calls by which PyTorch's libraries report reach framework.c from here on. For a
 * library that was not there when they were linked; those of later libraries do not. */
void vs_framework_lead_here(void);

/* vs_framework_record: a block that was allocated, or if *bytes* is negative, freed. */
void vs_framework_record(uint64_t addr, int64_t bytes, uint64_t allocated, uint64_t reserved, int device);

/* vs_attach_lead: references to *symbol* in the tables of all loaded objects but this one become *to*. */
void vs_attach_lead(const char *symbol, void *to);

/* vs_attach_enter: is the memory from before being recorded? Then takes rank ATTACH until vs_attach_leave.
 * vs_attach_follows_locked: false for the free of a block that is not in the trace. */
bool vs_attach_enter(void);
bool vs_attach_follows_locked(uint64_t addr, bool frees);
void vs_attach_leave(bool entered);

#endif
