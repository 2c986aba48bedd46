/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the programs that make golden traces: a recorder whose modules and stacks are given
 * instead of found, so that every run writes the same bytes. Header-only; each program is one file.
 */
#ifndef VS_GOLDEN_TRACE_H
#define VS_GOLDEN_TRACE_H

#include "trace/record/recorder_internal.h"
#include "trace/read/rewrite.h"
#include "trace/symbols/symbol_set.h"

#define START_NS UINT64_C(9000000000000000000) /* later than any boot: stored unchanged */
#define MODULES_MAX 256

/* Starts a recording to *path* that writes only on request; false when it cannot. */
static bool open_recorder(const char *path, struct vs_recorder **out)
{
    struct vs_recorder_config config = {.path = path, .compression = 3, .flush_ms = 60000};
    struct vs_recorder *r;
    if (vs_recorder_open(&config, &r))
        return false;
    r->modules = vs_pages_map(MODULES_MAX * sizeof *r->modules);
    r->module_capacity = r->modules ? MODULES_MAX : 0;
    *out = r;
    return r->modules != NULL;
}

/* Module *index*, of an event already recorded, is at *base* from now on. */
static void place_module(struct vs_recorder *r, uint32_t index, uint64_t base)
{
    r->modules[index] = (struct vs_loaded_module){base, base, base + 0x10000, index, index};
    r->module_count = index + 1;
}

static uint64_t put_stack(struct vs_recorder *r, void *const *pcs, size_t count)
{
    vs_lock_acquire(&r->lock);
    uint64_t id = vs_intern_stack_add_locked(r, vs_intern_stack_hash(pcs, count), pcs, count);
    vs_lock_release(&r->lock);
    return id;
}

/* Adds the names in *set*, which is freed, to the trace, as `vramscope symbolize` does; returns 0
 * on success. */
static int add_names(const char *trace, struct vs_symbol_set *set)
{
    struct vs_rewrite *rewrite = NULL;
    unsigned char payload[4096];
    char why[VS_READER_WHY_MAX];
    size_t next = 0, bytes = 0;
    int failed = vs_symbol_set_encode(set, &next, payload, sizeof payload, &bytes) ||
                 vs_rewrite_open(trace, NULL, 0, &rewrite, why) ||
                 vs_rewrite_add(rewrite, VS_FRAME_SYMBOLS, 0, 0, payload, bytes) ||
                 vs_rewrite_commit(rewrite, why);
    vs_symbol_set_free(set);
    return failed;
}

#endif
