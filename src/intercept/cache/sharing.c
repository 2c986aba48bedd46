/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A driver handle stands for a whole allocation, and the importer sees its
 * beginning. A block at the beginning of its segment is exported as it is; one further inside by a
 * token with the offset (ipc_token.h); the driver cannot export mapped memory this way. Exported or
 * registered memory is never cached again (vs_allocator_keep), because the other side is not
 * notified of a free. */
#define _GNU_SOURCE
#include "intercept/cache/sharing.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "base/vs_log.h"
#include "base/vs_option.h"
#include "base/vs_text.h"
#include "intercept/route/hook.h"
#include "intercept/track/ipc_token.h"

static _Atomic bool sharing; /* atomic; never reset */

void vs_sharing_begin(void)
{
    atomic_store_explicit(&sharing, true, memory_order_relaxed);
}

bool vs_sharing_on(void)
{
    return atomic_load_explicit(&sharing, memory_order_relaxed);
}

/* Finds libraries that export the buffers they or the program get from cudaMalloc. */
static int shares_memory(struct dl_phdr_info *info, size_t size, void *arg)
{
    static const char *const names[] = {"libucp.so", "libuct.so",   "libmpi.so",
                                        "libnccl.so", "libnvshmem", "libmpi_cxx.so"};
    const char *slash = strrchr(info->dlpi_name, '/'), **found = arg;
    const char *name = slash ? slash + 1 : info->dlpi_name;
    (void)size;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (vs_text_begins(name, names[i]))
            *found = names[i];
    }
    return *found != NULL;
}

void vs_sharing_expect(void)
{
    static atomic_flag looked = ATOMIC_FLAG_INIT;
    const char *found = NULL;
    if (vs_sharing_on() || atomic_flag_test_and_set(&looked) ||
        !dl_iterate_phdr(shares_memory, &found))
        return;
    vs_log(VS_LOG_INFO, "%s is loaded: each cudaMalloc gets its own device memory, which can be shared "
                        "with other processes", found);
    vs_sharing_begin();
}

static bool mark(const struct vs_cached_block *block, unsigned set, unsigned clear)
{
    struct vs_allocator *allocator = vs_context_allocator_at(block->context, block->ordered);
    return allocator && vs_allocator_keep(allocator, block->addr, set, clear) == VS_OK;
}

bool vs_sharing_keep(const struct vs_cached_block *block, unsigned reason)
{
    vs_sharing_begin();
    return mark(block, reason, 0);
}

void vs_sharing_unmark(const struct vs_cached_block *block, unsigned reason)
{
    (void)mark(block, 0, reason); /* freed meanwhile: nothing to clear */
}

static CUresult refuse(const struct vs_cached_block *block)
{
    vs_log_once(VS_LOG_WARN,
                "cudaIpcGetMemHandle failed: the memory is inside %s; memory allocated from now "
                "on can be shared. Run with --ipc=always to share all memory",
                block->mapped ? "mapped cached memory" : "a cached segment");
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult vs_sharing_export(const struct vs_cached_block *block, CUdeviceptr ptr,
                           CUipcMemHandle *handle)
{
    struct vs_ipc_token token = {.offset = block->addr - block->segment,
                                 .bytes = block->requested};
    if (block->mapped) {
        vs_sharing_begin();
        return refuse(block);
    }
    CUresult r = VS_REAL(cuIpcGetMemHandle, &token.handle, block->segment);
    if (r != CUDA_SUCCESS)
        return r;
    /* the address from vramscope_torch_base_alloc: PyTorch sends the offset along, and keeps the
     * block for as long as others have it */
    if (block->ordered && ptr == block->segment) {
        *handle = token.handle;
        return CUDA_SUCCESS;
    }
    if (!vs_sharing_keep(block, VS_KEEP_EXPORTED))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!token.offset) {
        *handle = token.handle;
        return CUDA_SUCCESS;
    }
    if (!vs_ipc_token_make(&token, handle))
        return refuse(block);
    /* do child processes of this one, its most likely peers, load this library too? */
    const char *preload = vs_environment("LD_PRELOAD");
    vs_log_once(preload && strstr(preload, "libvramscope") ? VS_LOG_INFO : VS_LOG_WARN,
                "cudaIpcGetMemHandle of memory inside a cached segment: only programs under "
                "vramscope can open the handle. Run with --ipc=always for other programs");
    return CUDA_SUCCESS;
}
