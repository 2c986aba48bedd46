/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts for failures that device memory did not cause: page-locked memory, which the host could
 * not provide; a size larger than any device; a request that failed although enough memory was
 * free. */
#include "analysis/oom/verdict.h"

/* No device has as much; host memory that the device can reach may. */
#define ANY_DEVICE (UINT64_C(384) << 30)
#define TIB (UINT64_C(1) << 40)

static bool is_host(const struct vs_oom *oom)
{
    return oom->failure.host;
}

static void explain_host(struct vs_oom *oom)
{
    vs_oom_evidence(oom, "the device is not involved");
    vs_oom_evidence(oom, "%s of page-locked memory requested; the program already held %s of it",
                    vs_size_text(oom->failure.requested), vs_size_text(oom->allocated));
    if (oom->growing.count)
        vs_oom_evidence(oom, "%s of it was allocated again and again at %s, and never freed",
                        vs_size_text(oom->growth_bytes),
                        vs_oom_site(oom, &oom->growing.items[0], 3));
    vs_oom_remedy(oom, "less_pinned", oom->failure.requested, false,
                  "use fewer or smaller page-locked buffers (pin_memory, prefetching), or raise the "
                  "limit of locked memory (ulimit -l) or of the container");
}

const struct vs_verdict vs_verdict_host = {
    .name = "host_memory", .words = "host memory: the host refused page-locked memory",
    .decides = is_host, .explain = explain_host, .sites = offsetof(struct vs_oom, growing)};

static bool is_absurd(const struct vs_oom *oom)
{
    uint64_t bound = oom->failure.family == VS_FAMILY_MANAGED ? TIB : ANY_DEVICE;
    if (bound < oom->total * 2)
        bound = oom->total * 2;
    return oom->failure.requested > bound;
}

static void explain_absurd(struct vs_oom *oom)
{
    vs_oom_evidence(oom, "%s (%s bytes) requested from a device of %s",
                    vs_size_text(oom->failure.requested),
                    vs_count_text(oom->failure.requested), vs_size_text(oom->total));
    vs_oom_evidence(oom, "such sizes come from a negative or overflowed product, from a number of "
                    "bytes used as a number of elements, or from a value for each pair of elements");
    vs_oom_remedy(oom, "fix_size", oom->failure.requested, true, "correct the size at %s",
                  vs_oom_site(oom, &oom->failure.site, 2));
}

const struct vs_verdict vs_verdict_absurd = {
    .name = "absurd_request", .words = "absurd request: no device could hold it",
    .decides = is_absurd, .explain = explain_absurd};

static bool is_refused(const struct vs_oom *oom)
{
    return oom->free_known && oom->free_bytes >= oom->need;
}

static void explain_refused(struct vs_oom *oom)
{
    struct vs_size_pair two = vs_sizes_apart(oom->free_bytes, oom->need);
    if (oom->failure.framework && !oom->failure.attempts && !oom->limit) {
        vs_oom_evidence(oom, "PyTorch did not ask the device, which had %s free; the request needs "
                             "%s", two.a, two.b);
        vs_oom_evidence(oom, "possible cause: a limit of its own "
                             "(set_per_process_memory_fraction)");
        vs_oom_remedy(oom, "lift_limit", oom->free_bytes, true,
                      "raise the limit of PyTorch's allocator: %s was free, and it needs %s", two.a,
                      two.b);
        return;
    }
    vs_oom_evidence(oom, oom->limit ? "%s was free of the limit of %s; the request needs %s"
                                    : "the device reported %s free of %s; the request needs %s",
                    two.a, vs_size_text(oom->total), two.b);
    vs_oom_evidence(oom, "possible causes: a limit (MPS, MIG, the maximum of a pool), free memory "
                    "in small pieces, or an injected fault");
    vs_oom_remedy(oom, "lift_limit", oom->free_bytes, true,
                  "raise the limit that refused the request: %s was free, and it needs %s", two.a,
                  two.b);
}

const struct vs_verdict vs_verdict_refused = {
    .name = "refused", .words = "refused: the request was refused although enough memory was free",
    .decides = is_refused, .explain = explain_refused};
