/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: libraries outside the framework's allocator (or, without one, outside the program) hold
 * the memory that the request needs. */
#include "analysis/oom/verdict.h"

static void explain(struct vs_oom *oom)
{
    vs_oom_evidence(oom, oom->has_framework
                             ? "%s, %s of the device, is allocated outside PyTorch's allocator, most "
                               "of it by %s"
                             : "%s, %s of the device, is allocated by libraries, most of it by %s",
                    vs_size_text(oom->library_bytes),
                    vs_percent_text(oom->library_bytes, oom->total), oom->library);
    if (oom->library_site.count)
        vs_oom_evidence(oom, "most at %s: %s", vs_oom_site(oom, &oom->library_site, 3),
                        vs_size_text(oom->library_site.bytes));
    vs_oom_explain_missing(oom);
    vs_oom_explain_share(oom, &vs_verdict_library);
    vs_oom_remedy(oom, "shrink_library", oom->library_bytes, oom->library_bytes >= oom->missing,
                  "reduce the buffers of %s (NCCL: NCCL_BUFFSIZE, fewer communicators; cuBLAS: "
                  "CUBLAS_WORKSPACE_CONFIG), or create them later: up to %s",
                  oom->library, vs_size_text(oom->library_bytes));
    vs_oom_common_remedies(oom);
}

const struct vs_verdict vs_verdict_library = {
    .name = "outside_libraries", .words = "libraries: memory outside the program's own allocator",
    .noun = "the memory that libraries allocate themselves", .live = offsetof(struct vs_oom, library_bytes),
    .explain = explain, .site = offsetof(struct vs_oom, library_site)};
