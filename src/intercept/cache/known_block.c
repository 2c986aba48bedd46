/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Allocation numbers come from three disjoint ranges: the driver counts from 1, our
 * allocators' numbers have the top bit set (caching.c), and those of opened blocks the two top
 * bits. */
#include "intercept/cache/known_block.h"

#include "base/vs_lock.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/ipc_import.h"

#define OPENED_SERIALS (UINT64_C(3) << 62)

bool vs_known_cached(CUdeviceptr ptr, struct vs_cached_block *block)
{
    enum vs_process_state state = vs_process_state();
    /* programs query pointers during exit too, but also in a handler that interrupted us */
    if (vs_thread.inside || !vs_process_serving() || state == VS_PROCESS_SILENT ||
        (state == VS_PROCESS_EXITING && vs_lock_held()))
        return false;
    vs_thread.inside++;
    bool found = vs_caching_find(ptr, block);
    vs_thread.inside--;
    if (found && ptr - block->addr >= block->requested)
        block->live = false;
    return found;
}

bool vs_known_block(CUdeviceptr ptr, struct vs_cached_block *block)
{
    struct vs_ipc_opened opened;
    if (vs_known_cached(ptr, block))
        return true;
    if (vs_thread.inside || !vs_ipc_find(ptr, &opened))
        return false;
    *block = (struct vs_cached_block){.addr = opened.addr,
                                      .requested = opened.bytes,
                                      .size = opened.bytes,
                                      .segment = opened.addr,
                                      .serial = OPENED_SERIALS | opened.serial,
                                      .live = true};
    return true;
}
