/* SPDX-License-Identifier: Apache-2.0
 *
 * Placement policy and memory limit of this process's allocators. The options are read once at the
 * start; a fraction may be set at any time and applies to existing and future allocators. A setting
 * that is impossible on this device costs one message, never the program. */
#include "intercept/cache/policy.h"

#include <stdatomic.h>
#include <string.h>

#include "allocator/core/alloc_conf.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "intercept/process/process.h"
#include "intercept/track/limit.h"

static _Atomic double fractions[VS_DEVICES_MAX]; /* atomic; 0: no limit */

/* Has the device virtual memory, and can an allocator be created with this configuration? */
static bool possible(const struct vs_context *context, const struct vs_device_ops *ops,
                     const struct vs_allocator_config *config)
{
    struct vs_allocator *probe;
    if (!ops->range_reserve ||
        vs_allocator_create(config, ops, (void *)(uintptr_t)context, NULL, NULL, &probe))
        return false;
    vs_allocator_destroy(probe);
    return true;
}

/* --- the text of PyTorch's options --- */

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_PROCESS, "policy");
static struct {
    bool read, set;
    struct vs_alloc_conf conf;
} texts[2]; /* guarded by lock; by enum vs_reuse */

static void warn(void *ctx, const char *message)
{
    (void)ctx;
    vs_log(VS_LOG_WARN, "allocator options: %s", message);
}

static void apply_text(enum vs_reuse reuse, struct vs_allocator_config *config)
{
    struct vs_alloc_conf_messages messages = {.warn = warn};
    const char *text = vs_process_options()->text[VS_OPT_alloc_conf];
    /* ours takes precedence. PyTorch's own variables apply to programs in which PyTorch would have
     * read them: those that replace its allocator by the stream-ordered entry points */
    if (!*text && reuse == VS_REUSE_STREAM_ORDERED) {
        text = vs_environment("PYTORCH_ALLOC_CONF");
        text = text ? text : vs_environment("PYTORCH_CUDA_ALLOC_CONF");
    }
    VS_LOCK_SCOPE(&lock);
    if (!texts[reuse].read && text && *text) {
        texts[reuse].set =
            vs_alloc_conf_parse(text, strlen(text), &texts[reuse].conf, &messages) == VS_OK;
        if (!texts[reuse].set)
            vs_log(VS_LOG_WARN, "allocator options '%.200s' are ignored: %s", text, messages.error);
        else if (texts[reuse].conf.backend != VS_BACKEND_NATIVE)
            vs_log(VS_LOG_WARN, "allocator options: the backend cudaMallocAsync is not used; "
                                "memory comes from vramscope's own cache");
    }
    texts[reuse].read = true;
    if (texts[reuse].set)
        *config = texts[reuse].conf.config;
}

/* --- what this device can do of it --- */

static void choose_policy(const struct vs_context *context, const struct vs_device_ops *ops,
                          struct vs_allocator_config *config)
{
    struct vs_allocator_config wish = *config;
    const struct vs_policy *policy = vs_policy_named(vs_process_options()->text[VS_OPT_policy]);
    if (policy && policy->mapped) {
        while (vs_policies[wish.policy] != policy)
            wish.policy++;
        wish.expandable_segments = false; /* the policy grows segments in its own way */
        if (possible(context, ops, &wish)) {
            *config = wish;
            return;
        }
        vs_log_once(VS_LOG_WARN, "the policy %s needs virtual memory, which device %u does not "
                                 "offer; using %s", policy->name, context->device,
                    vs_policies[0]->name);
    }
    if (config->expandable_segments && !possible(context, ops, config)) {
        vs_log_once(VS_LOG_WARN, "expandable_segments needs virtual memory, which device %u does not "
                                 "offer; segments have fixed sizes", context->device);
        config->expandable_segments = false;
    }
}

void vs_policy_config(const struct vs_context *context, const struct vs_device_ops *ops,
                      enum vs_reuse reuse, struct vs_allocator_config *config)
{
    double fraction = atomic_load(&fractions[context->device]);
    *config = (struct vs_allocator_config){0};
    apply_text(reuse, config);
    config->reuse = reuse;
    if (fraction != 0)
        config->memory_fraction = fraction;
    choose_policy(context, ops, config);
}

enum vs_err vs_policy_set_fraction(uint32_t device, double fraction)
{
    if (device >= VS_DEVICES_MAX || !(fraction >= 0 && fraction <= 1))
        return VS_ERR_ARG;
    atomic_store(&fractions[device], fraction);
    enum vs_err first_error = VS_OK;
    struct vs_context *c = NULL;
    int i = 0;
    for (struct vs_allocator *a; (a = vs_allocator_next(device, &c, &i));) {
        enum vs_err err = vs_allocator_set_memory_fraction(a, fraction);
        if (err && !first_error)
            first_error = err;
    }
    return first_error;
}

uint64_t vs_policy_most(const struct vs_context *context)
{
    bool cached = context && vs_process_caching();
    /* set by the program, else from the options */
    double fraction = cached ? atomic_load(&fractions[context->device]) : 0;
    if (cached && fraction == 0) {
        struct vs_allocator_config config = {0};
        apply_text(VS_REUSE_AFTER_SYNC, &config);
        fraction = config.memory_fraction;
    }
    uint64_t total = fraction > 0 && fraction < 1 ? vs_limit_total(context->device) : 0;
    return total ? (uint64_t)(fraction * (double)total) : UINT64_MAX;
}
