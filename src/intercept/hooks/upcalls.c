/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header: the highest layer knows all parts. */
#include "intercept/route/upcalls.h"

#include "intercept/cache/caching.h"
#include "intercept/cache/device_ops.h"
#include "intercept/cache/sharing.h"
#include "intercept/cupti/collector.h"
#include "intercept/cupti/nvtx.h"
#include "intercept/cupti/nvtx_pending.h"
#include "intercept/process/process.h"
#include "intercept/torch/attach.h"
#include "intercept/torch/torch_pool.h"
#include "intercept/track/nvml.h"

static void trace_opened(void)
{
    if (vs_process_options()->number[VS_OPT_nvml])
        vs_nvml_open();
    vs_nvtx_pending_replay();
}

static void recording(bool injected)
{
    if (injected)
        vs_framework_lead_here();
    if (vs_process_options()->number[VS_OPT_kernels])
        vs_collector_start(injected);
}

static void ending(void)
{
    vs_end_wait();
    vs_collector_flush(true);
}

static void context_gone(struct vs_context *context, const char *api)
{
    vs_caching_context_gone(context, api);
    vs_torch_pool_context_gone(context);
    vs_event_ops_context_gone(context);
    vs_vmm_context_gone(context);
}

static bool cached_block(uint64_t address, uint64_t *base, uint64_t *bytes)
{
    struct vs_cached_block block;
    if (!vs_known_cached(address, &block))
        return false;
    *base = block.addr;
    *bytes = block.requested;
    return true;
}

const struct vs_upcalls vs_upcalls = {
    .cupti_found = vs_cupti_guard,
    .cupti_absent = vs_cupti_guard_absent,
    .share_all = vs_sharing_begin,
    .trace_opened = trace_opened,
    .recording = recording,
    .ending = ending,
    .context_gone = context_gone,
    .cached_block = cached_block,
    .stream_number = vs_collector_stream_id,
    .waited = vs_collector_waited,
    .annotation_ends = vs_nvtx_end_annotation,
};
