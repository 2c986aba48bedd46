/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan file, opened: read into memory of our own, its structure checked once, so that
 * whoever uses it needs no checks of its own. A plan is advice: nothing in it can
 * make two blocks overlap, for every placement is checked against the blocks that
 * are really there. Immutable; any thread. */
#ifndef VS_PLAN_H
#define VS_PLAN_H

#include <stddef.h>

#include "allocator/plan/plan_format.h"
#include "base/vs_err.h"

struct vs_plan {
    const struct vs_plan_header *header;
    const struct vs_plan_stream *streams;
    const struct vs_plan_entry *entries;
    size_t mapped_bytes; /* 0: the bytes are the caller's */
};

#define VS_PLAN_WHY_MAX 160

/* vs_plan_open: *why* gets a sentence for people on failure. VS_ERR_IO, VS_ERR_FORMAT,
 * VS_ERR_VERSION, VS_ERR_CORRUPT. Never malloc. */
enum vs_err vs_plan_open(const char *path, struct vs_plan *out, char why[VS_PLAN_WHY_MAX])
    VS_MUST_CHECK;
/* The same from memory, 8-byte aligned, that stays as it is until the plan is closed. */
enum vs_err vs_plan_open_bytes(const void *bytes, size_t size, struct vs_plan *out,
                               char why[VS_PLAN_WHY_MAX]) VS_MUST_CHECK;
/* Zeroed and already closed plans do nothing. */
void vs_plan_close(struct vs_plan *plan);

#endif
