/* SPDX-License-Identifier: Apache-2.0
 *
 * An opened plan file: read into private memory, its structure checked once, so that users need no
 * further checks. A plan is advice: it cannot make two blocks overlap, because every placement is
 * checked against the existing blocks. Immutable; any thread. */
#ifndef VS_PLAN_H
#define VS_PLAN_H

#include <stddef.h>

#include "allocator/plan/plan_format.h"
#include "base/vs_err.h"

struct vs_plan {
    const struct vs_plan_header *header;
    const struct vs_plan_stream *streams;
    const struct vs_plan_entry *entries;
    size_t mapped_bytes; /* 0: the caller owns the bytes */
};

#define VS_PLAN_WHY_MAX 160

/* vs_plan_open: on failure *why* receives a sentence for users. VS_ERR_IO, VS_ERR_FORMAT,
 * VS_ERR_VERSION, VS_ERR_CORRUPT. Calls no malloc. */
enum vs_err vs_plan_open(const char *path, struct vs_plan *out, char why[VS_PLAN_WHY_MAX])
    VS_MUST_CHECK;
/* The same from memory, 8-byte aligned, that must not change until the plan is closed. */
enum vs_err vs_plan_open_bytes(const void *bytes, size_t size, struct vs_plan *out,
                               char why[VS_PLAN_WHY_MAX]) VS_MUST_CHECK;
/* Does nothing for zeroed and already closed plans. */
void vs_plan_close(struct vs_plan *plan);

#endif
