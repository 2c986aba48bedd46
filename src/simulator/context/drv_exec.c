/* SPDX-License-Identifier: Apache-2.0
 *
 * Execution of one piece of stream work, and its duration. Copies and memsets move real bytes
 * (drv_transfer.c); a kernel runs its host function or only takes time. A stream has a simulated clock: work starts at
 * its submission or at the end of its predecessor, whichever is later, and the executing thread
 * waits until the simulated end has passed. The next work in the queue makes up for oversleeping. A
 * kernel with a host function takes exactly as long as that function. */
#include "simulator/memory/vs_sim_ipc.h"
#include "simulator/memory/vs_sim_managed.h"
#include "simulator/memory/vs_sim_memory.h"

#include <string.h>

#include "base/vs_clock.h"

#define KERNEL_WAVE_NS 3000 /* for each full wave of blocks */
#define TRANSFER_BASE_NS 1000
#define HOST_GBPS 10

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The duration by the model, varied by the seed; 0 with time=off. */
static uint64_t duration(struct vs_sim_stream *s, uint64_t ns)
{
    if (vs_sim_spec.time_off)
        return 0;
    if (!vs_sim_spec.seed)
        return ns;
    s->random ^= s->random << 13; /* xorshift64 */
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return ns * (900 + s->random % 201) / 1000;
}

static uint64_t kernel_ns(const struct vs_sim_launch_op *launch)
{
    if (vs_sim_spec.kernel_us)
        return vs_sim_spec.kernel_us * UINT64_C(1000);
    if (launch->model_ns)
        return launch->model_ns;
    const struct vs_sim_preset *p = vs_sim_spec.preset;
    double threads = (double)launch->grid[0] * launch->grid[1] * launch->grid[2] *
                     launch->block[0] * launch->block[1] * launch->block[2];
    double waves = threads / ((double)p->sm_count * p->threads_per_sm);
    return VS_SIM_KERNEL_BASE_NS + (uint64_t)((waves < 1 ? 1 : waves) * KERNEL_WAVE_NS);
}

static uint64_t copy_ns(const struct vs_sim_copy *copy)
{
    const struct vs_sim_preset *p = vs_sim_spec.preset;
    uint64_t bytes = (uint64_t)copy->width * copy->height * copy->depth;
    bool from_host = vs_sim_on_host(&copy->from), to_host = vs_sim_on_host(&copy->to);
    uint64_t gbps; /* 10^9 bytes per second is bytes per nanosecond */
    if (from_host && to_host)
        gbps = HOST_GBPS;
    else if (!from_host && !to_host && copy->from.device == copy->to.device)
        gbps = p->memory_gbps / 2; /* read and write */
    else if (copy->from.memory == VS_SIM_MEMORY_PAGEABLE ||
             copy->to.memory == VS_SIM_MEMORY_PAGEABLE)
        gbps = p->link_gbps / 2;
    else
        gbps = p->link_gbps;
    return TRANSFER_BASE_NS + bytes / gbps;
}

/* Memory that was freed while this work was queued is an illegal address, as on a device. */
bool vs_sim_end_hold(const struct vs_sim_end *end, bool write, struct vs_sim_hold *hold)
{
    *hold = (struct vs_sim_hold){.mapped = end->mapped_bytes != 0};
    if (hold->mapped)
        vs_sim_mapped_hold();
    if (end->pool)
        hold->pins = vs_sim_pool_pin(end->pool, end->base);
    else if (end->id)
        hold->pins = vs_sim_range_pin(end->base, end->id);
    bool there = (hold->pins || (!end->pool && !end->id)) &&
                 (!hold->mapped || vs_sim_mapped_span(end->base, end->mapped_bytes, write));
    if (!there)
        vs_sim_end_release(hold);
    return there;
}

void vs_sim_end_release(const struct vs_sim_hold *hold)
{
    if (hold->pins)
        vs_sim_unpin(hold->pins);
    if (hold->mapped)
        vs_sim_mapped_release();
}

static bool do_copy(const struct vs_sim_copy *copy)
{
    struct vs_sim_hold from, to;
    if (!vs_sim_end_hold(&copy->from, false, &from))
        return false;
    bool there = vs_sim_end_hold(&copy->to, true, &to);
    if (there) {
        vs_sim_transfer_copy(copy);
        vs_sim_end_release(&to);
    }
    vs_sim_end_release(&from);
    return there;
}

static bool do_set(const struct vs_sim_set *set)
{
    struct vs_sim_hold to;
    if (!vs_sim_end_hold(&set->to, true, &to))
        return false;
    vs_sim_transfer_set(set);
    vs_sim_end_release(&to);
    return true;
}

bool vs_sim_exec_data(const struct vs_sim_op *op)
{
    return op->kind == VS_SIM_OP_COPY ? do_copy(&op->u.copy) : do_set(&op->u.set);
}

/* ---- activity ---- */

static struct vs_sim_activity activity_of(const struct vs_sim_stream *s, const struct vs_sim_op *op,
                                          uint64_t start_ns, uint64_t end_ns)
{
    return (struct vs_sim_activity){.submit_ns = op->submit_ns,
                                    .start_ns = start_ns,
                                    .end_ns = end_ns,
                                    .device = (uint32_t)s->ctx->device->ordinal,
                                    .context = s->ctx->id,
                                    .stream = s->id,
                                    .correlation = op->correlation,
                                    .graph = op->graph,
                                    .graph_node = op->graph_node};
}

static void report_kernel(struct vs_sim_activity *a, const struct vs_sim_launch_op *launch)
{
    static atomic_uint_least64_t serial;
    a->kind = VS_SIM_ACTIVITY_KERNEL;
    a->u.kernel.name = launch->function->name;
    memcpy(a->u.kernel.grid, launch->grid, sizeof launch->grid);
    memcpy(a->u.kernel.block, launch->block, sizeof launch->block);
    a->u.kernel.shared_bytes = launch->shared_bytes;
    a->u.kernel.serial = atomic_fetch_add(&serial, 1) + 1;
    vs_sim_report(a);
}

static void report_copy(struct vs_sim_activity *a, const struct vs_sim_copy *copy)
{
    a->kind = VS_SIM_ACTIVITY_COPY;
    a->u.copy.bytes = (uint64_t)copy->width * copy->height * copy->depth;
    a->u.copy.from = (uint8_t)copy->from.memory;
    a->u.copy.to = (uint8_t)copy->to.memory;
    a->u.copy.async = copy->async;
    a->u.copy.from_device = copy->from.device < 0 ? a->device : (uint32_t)copy->from.device;
    a->u.copy.to_device = copy->to.device < 0 ? a->device : (uint32_t)copy->to.device;
    vs_sim_report(a);
}

static void report_set(struct vs_sim_activity *a, const struct vs_sim_set *set)
{
    a->kind = VS_SIM_ACTIVITY_SET;
    a->u.set.bytes = (uint64_t)set->width * set->height * set->element;
    a->u.set.value = set->value;
    a->u.set.memory = (uint8_t)set->to.memory;
    a->u.set.async = set->async;
    vs_sim_report(a);
}

/* ---- one op ---- */

/* For the utilisation that NVML reports. */
static void worked(const struct vs_sim_stream *s, const struct vs_sim_op *op, uint64_t ns)
{
    struct vs_sim_device *device = s->ctx->device;
    atomic_fetch_add_explicit(op->kind == VS_SIM_OP_KERNEL ? &device->kernel_ns
                                                           : &device->transfer_ns,
                              ns, memory_order_relaxed);
}

static void exec_timed(struct vs_sim_stream *s, struct vs_sim_op *op, uint64_t start)
{
    struct vs_sim_context *ctx = s->ctx;
    uint64_t model_ns;
    bool ok = true;
    if (op->kind == VS_SIM_OP_KERNEL) {
        model_ns = kernel_ns(&op->u.launch);
    } else if (op->kind == VS_SIM_OP_COPY) {
        model_ns = copy_ns(&op->u.copy);
        ok = op->moved || vs_sim_exec_data(op);
    } else if (op->kind == VS_SIM_OP_MOVE) {
        model_ns = TRANSFER_BASE_NS +
                   vs_sim_managed_move(&op->u.move) / vs_sim_spec.preset->link_gbps;
    } else {
        const struct vs_sim_set *set = &op->u.set;
        model_ns = TRANSFER_BASE_NS + (uint64_t)set->width * set->height * set->element /
                                          vs_sim_spec.preset->memory_gbps;
        ok = op->moved || vs_sim_exec_data(op);
    }
    if (!ok)
        vs_sim_context_fail(ctx, CUDA_ERROR_ILLEGAL_ADDRESS);
    uint64_t end = start + duration(s, model_ns), now = vs_clock_ns();
    if (op->kind != VS_SIM_OP_KERNEL)
        end = later(end, now); /* the copy may take longer here than on the device */
    if (now < end)
        vs_sim_delay_until(end);
    s->last_end_ns = end;
    worked(s, op, end - start);
    struct vs_sim_activity a = activity_of(s, op, start, end);
    if (op->kind == VS_SIM_OP_KERNEL && vs_sim_wants(VS_SIM_WANT(VS_SIM_ACTIVITY_KERNEL)))
        report_kernel(&a, &op->u.launch);
    else if (op->kind == VS_SIM_OP_COPY && vs_sim_wants(VS_SIM_WANT(VS_SIM_ACTIVITY_COPY)))
        report_copy(&a, &op->u.copy);
    else if (op->kind == VS_SIM_OP_SET && vs_sim_wants(VS_SIM_WANT(VS_SIM_ACTIVITY_SET)))
        report_set(&a, &op->u.set);
}

static void exec_host_kernel(struct vs_sim_stream *s, struct vs_sim_op *op)
{
    uint64_t start = later(vs_clock_ns(), s->last_end_ns);
    vs_sim_kernel_run(s->ctx, op);
    uint64_t end = later(vs_clock_ns(), start);
    s->last_end_ns = end;
    worked(s, op, end - start);
    if (!vs_sim_wants(VS_SIM_WANT(VS_SIM_ACTIVITY_KERNEL)))
        return;
    struct vs_sim_activity a = activity_of(s, op, start, end);
    report_kernel(&a, &op->u.launch);
}

void vs_sim_exec(struct vs_sim_stream *s, struct vs_sim_op *op, bool waited)
{
    uint64_t start = later(waited ? vs_clock_ns() : op->submit_ns, s->last_end_ns);
    if (atomic_load(&s->ctx->fault) && op->kind != VS_SIM_OP_RECORD &&
        op->kind != VS_SIM_OP_CALLBACK && op->kind != VS_SIM_OP_UNMAP)
        return; /* a failed context completes its work without executing it */
    switch (op->kind) {
    case VS_SIM_OP_KERNEL:
        if (vs_sim_fault_kernel(s->ctx->device))
            return;
        if (op->u.launch.host) {
            exec_host_kernel(s, op);
            return;
        }
        exec_timed(s, op, start);
        return;
    case VS_SIM_OP_COPY:
    case VS_SIM_OP_MOVE:
    case VS_SIM_OP_SET: exec_timed(s, op, start); return;
    case VS_SIM_OP_RECORD:
        vs_sim_event_reached(op->u.record.event, op->u.record.generation, start);
        if (op->u.record.shared)
            vs_sim_ipc_slot_done(op->u.record.shared, op->u.record.shared_record);
        break;
    case VS_SIM_OP_WAIT_SHARED:
        vs_sim_ipc_slot_wait(op->u.wait_shared.slot, op->u.wait_shared.record, s->ctx);
        start = later(start, vs_clock_ns());
        break;
    case VS_SIM_OP_HOST:
        vs_sim_host_function_begin();
        op->u.host.fn(op->u.host.data);
        vs_sim_host_function_end();
        start = later(start, vs_clock_ns());
        break;
    case VS_SIM_OP_CALLBACK:
        vs_sim_host_function_begin();
        op->u.callback.fn((CUstream)s, (CUresult)atomic_load(&s->ctx->fault), op->u.callback.data);
        vs_sim_host_function_end();
        start = later(start, vs_clock_ns());
        break;
    case VS_SIM_OP_MAP: vs_sim_block_map(op->u.block); break;
    case VS_SIM_OP_UNMAP: vs_sim_block_unmap(op->u.block); break;
    case VS_SIM_OP_VALUES:
        if (!vs_sim_values_run(s->ctx, &op->u.values))
            vs_sim_context_fail(s->ctx, CUDA_ERROR_ILLEGAL_ADDRESS);
        start = later(start, vs_clock_ns());
        break;
    case VS_SIM_OP_NOTHING: break;
    }
    s->last_end_ns = start;
}
