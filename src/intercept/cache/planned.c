/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The plan stays in memory as long as the process lives, and so do the allocators:
 * nothing waits for their end. */
#include "intercept/cache/planned.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "allocator/plan/plan.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "intercept/process/process.h"

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_PROCESS, "planned");
static bool tried;          /* guarded by lock */
static struct vs_plan plan; /* guarded by lock; immutable once an allocator uses it */
static _Atomic(struct vs_allocator *) follower; /* release pairs with the report's acquire */

static bool for_device(const struct vs_context *context)
{
    uint32_t device = plan.header->device;
    return device == VS_PLAN_NONE || device == context->device;
}

/* The plan, opened by the first caller; false if there is none for this context. */
static bool plan_for(const struct vs_context *context, const char *path)
{
    char why[VS_PLAN_WHY_MAX];
    vs_lock_acquire(&lock);
    enum vs_err err = tried ? VS_OK : vs_plan_open(path, &plan, why);
    if (err)
        vs_log(VS_LOG_WARN, "the plan %s is not used: %s%s", path, why,
               err == VS_ERR_FORMAT ? "; `vramscope plan TRACE -o FILE` makes one from a trace" : "");
    tried = true;
    bool usable = plan.header && for_device(context);
    vs_lock_release(&lock);
    return usable;
}

void vs_planned_begin(const struct vs_context *context, struct vs_allocator *allocator)
{
    const char *path = vs_process_options()->text[VS_OPT_plan];
    struct vs_allocator *none = NULL;
    if (!*path || !plan_for(context, path) ||
        !atomic_compare_exchange_strong(&follower, &none, allocator))
        return;
    enum vs_err err = vs_allocator_use_plan(allocator, &plan);
    if (!err)
        return;
    atomic_store(&follower, NULL);
    if (err == VS_ERR_UNSUPPORTED)
        vs_log_once(VS_LOG_WARN, "a plan needs the policy %s; this one is not used",
                    vs_policies[vs_policy_plannable()]->name);
    else
        vs_log_once(VS_LOG_WARN, "the plan is not used: %s", vs_err_text(err));
}

void vs_planned_report(void)
{
    struct vs_allocator *allocator = atomic_load_explicit(&follower, memory_order_acquire);
    struct vs_plan_stats s;
    if (!allocator)
        return;
    vs_allocator_plan_stats(allocator, &s);
    vs_log(VS_LOG_INFO, "plan: %" PRIu64 " requests followed it, %" PRIu64 " deviated; %" PRIu64
           " were placed as planned, %" PRIu64 " found the place in use; resumed %" PRIu64 " times",
           s.followed, s.deviated, s.placed, s.occupied, s.resynchronised);
}
