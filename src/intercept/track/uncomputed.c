/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The driver calls on the program's own thread, inside the call that reads. */
#include "intercept/track/uncomputed.h"

#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/known_block.h"

static bool on_read(int what, int device, uint64_t bytes, const char *text)
{
    if (vs_thread.inside || vs_process_state() != VS_PROCESS_ACTIVE)
        return false;
    vs_thread.inside++;
    struct vs_event event = {.kind = VS_EVENT_uncomputed_read,
                             .uncomputed_read = {.device = (uint64_t)(device < 0 ? 0 : device),
                                                 .what = (uint64_t)what,
                                                 .bytes = bytes,
                                                 .text = vs_process_string(text ? text : ""),
                                                 .stack = vs_process_stack()}};
    vs_recorder_event(vs_process_recorder(), &event);
    vs_thread.inside--;
    return true;
}

static bool block_of(uint64_t address, uint64_t *base, uint64_t *bytes)
{
    struct vs_cached_block block;
    if (vs_thread.inside || !vs_process_serving() || !vs_known_cached(address, &block))
        return false;
    *base = block.addr;
    *bytes = block.requested;
    return true;
}

void vs_uncomputed_watch(void)
{
    void (*watch)(bool (*)(int, int, uint64_t, const char *), bool (*)(uint64_t, uint64_t *, uint64_t *));
    *(void **)&watch = vs_driver_symbol("vramscopeSimWatch");
    if (watch)
        watch(on_read, block_of);
}
