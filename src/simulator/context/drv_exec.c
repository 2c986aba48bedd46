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

bool vs_sim_exec_data(const struct vs_sim_op *op)
{
    bool copies = op->kind == VS_SIM_OP_COPY;
    const struct vs_sim_end *target = copies ? &op->u.copy.to : &op->u.set.to;
    struct vs_sim_hold from, to;
    if (copies && !vs_sim_end_hold(&op->u.copy.from, false, &from))
        return false;
    bool there = vs_sim_end_hold(target, true, &to);
    if (there && copies)
        vs_sim_transfer_copy(&op->u.copy);
    else if (there)
        vs_sim_transfer_set(&op->u.set);
    if (there)
        vs_sim_end_release(&to);
    if (copies)
        vs_sim_end_release(&from);
    return there;
}

/* ---- one op ---- */

/* Work of *s* took from *start* to *end*: tells NVML's utilisation and the observer. */
static void worked(struct vs_sim_stream *s, const struct vs_sim_op *op, uint64_t start,
                   uint64_t end)
{
    static atomic_uint_least64_t serial;
    struct vs_sim_device *device = s->ctx->device;
    const struct vs_sim_launch_op *launch = &op->u.launch;
    const struct vs_sim_copy *copy = &op->u.copy;
    const struct vs_sim_set *set = &op->u.set;
    uint32_t ordinal = (uint32_t)device->ordinal;
    struct vs_sim_activity a = {.kind = op->kind == VS_SIM_OP_KERNEL ? VS_SIM_ACTIVITY_KERNEL
                                        : op->kind == VS_SIM_OP_COPY ? VS_SIM_ACTIVITY_COPY
                                                                     : VS_SIM_ACTIVITY_SET,
                                .submit_ns = op->submit_ns,
                                .start_ns = start,
                                .end_ns = end,
                                .device = ordinal,
                                .context = s->ctx->id,
                                .stream = s->id,
                                .correlation = op->correlation,
                                .graph = op->graph,
                                .graph_node = op->graph_node};
    s->last_end_ns = end;
    atomic_fetch_add_explicit(op->kind == VS_SIM_OP_KERNEL ? &device->kernel_ns
                                                           : &device->transfer_ns,
                              end - start, memory_order_relaxed);
    if (op->kind == VS_SIM_OP_MOVE || !vs_sim_wants(VS_SIM_WANT(a.kind)))
        return;
    if (op->kind == VS_SIM_OP_KERNEL) {
        a.u.kernel.name = launch->function->name;
        memcpy(a.u.kernel.grid, launch->grid, sizeof launch->grid);
        memcpy(a.u.kernel.block, launch->block, sizeof launch->block);
        a.u.kernel.shared_bytes = launch->shared_bytes;
        a.u.kernel.serial = atomic_fetch_add(&serial, 1) + 1;
    } else if (op->kind == VS_SIM_OP_COPY) {
        a.u.copy.bytes = (uint64_t)copy->width * copy->height * copy->depth;
        a.u.copy.from = (uint8_t)copy->from.memory;
        a.u.copy.to = (uint8_t)copy->to.memory;
        a.u.copy.async = copy->async;
        a.u.copy.from_device = copy->from.device < 0 ? ordinal : (uint32_t)copy->from.device;
        a.u.copy.to_device = copy->to.device < 0 ? ordinal : (uint32_t)copy->to.device;
    } else {
        a.u.set.bytes = (uint64_t)set->width * set->height * set->element;
        a.u.set.value = set->value;
        a.u.set.memory = (uint8_t)set->to.memory;
        a.u.set.async = set->async;
    }
    vs_sim_report(&a);
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
    worked(s, op, start, end);
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
            start = later(vs_clock_ns(), s->last_end_ns);
            vs_sim_kernel_run(s->ctx, op);
            worked(s, op, start, later(vs_clock_ns(), start));
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
