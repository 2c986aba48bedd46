/* SPDX-License-Identifier: Apache-2.0
 *
 * Data ahead of time, for a host that computes the values of device memory itself when it submits
 * work (python/vramscope/values). While it is on, copies and memsets move their bytes when they are
 * submitted; in the stream they only take their time. This is an order that the program's streams
 * and events allow, and the order in which the host computes. Work that has to keep its place in
 * the stream (host functions, kernels with a host function, stream memory operations, copies behind
 * them) has an effect: each stream has the number of the newest of it, streams that wait inherit
 * it, and the host waits for it with vramscopeSimSettle before it touches memory. */
#include "simulator/driver/vs_sim_driver.h"

int vramscopeSimDataAtSubmit(int on);
int vramscopeSimPending(int device, CUstream stream);
void vramscopeSimSettle(int device, CUstream stream);

atomic_bool vs_sim_ahead;

static bool pending(struct vs_sim_stream *s)
{
    return atomic_load(&s->effect) > atomic_load(&s->completed);
}

/* The stream with the next effect that *s* has to wait for, or NULL. */
static struct vs_sim_stream *awaited(struct vs_sim_stream *s)
{
    if (pending(s))
        return s;
    if (s->flags & CU_STREAM_NON_BLOCKING)
        return NULL;
    if (!s->legacy)
        return pending(s->ctx->legacy) ? s->ctx->legacy : NULL;
    struct vs_sim_stream *found = NULL;
    pthread_mutex_lock(&s->ctx->submit_mu);
    for (struct vs_sim_stream *t = s->ctx->streams; t && !found; t = t->next)
        if (!(t->flags & CU_STREAM_NON_BLOCKING) && pending(t))
            found = t;
    pthread_mutex_unlock(&s->ctx->submit_mu);
    return found;
}

void vs_sim_move_ahead(struct vs_sim_stream *s, struct vs_sim_op *op)
{
    if ((op->kind != VS_SIM_OP_COPY && op->kind != VS_SIM_OP_SET) ||
        atomic_load(&s->ctx->fault) || awaited(s))
        return;
    for (uint32_t i = 0; i < op->dep_count; i++)
        if (pending(op->deps[i].stream))
            return;
    op->moved = vs_sim_exec_data(op);
}

bool vs_sim_has_effect(const struct vs_sim_op *op)
{
    for (uint32_t i = 0; i < op->dep_count; i++)
        if (pending(op->deps[i].stream))
            return true;
    switch (op->kind) {
    case VS_SIM_OP_COPY:
    case VS_SIM_OP_SET: return !op->moved;
    case VS_SIM_OP_KERNEL: return op->u.launch.host != NULL;
    case VS_SIM_OP_WAIT_SHARED:
    case VS_SIM_OP_HOST:
    case VS_SIM_OP_CALLBACK:
    case VS_SIM_OP_MOVE:
    case VS_SIM_OP_VALUES: return true;
    case VS_SIM_OP_NOTHING:
    case VS_SIM_OP_RECORD:
    case VS_SIM_OP_MAP:
    case VS_SIM_OP_UNMAP: return false;
    }
    return false;
}

/* ---- the host's calls ---- */

/* vramscopeSimDataAtSubmit: turns it on or off for the process. Returns what it was. Work that is
 * queued already keeps its place. */
VS_SIM_EXPORT int vramscopeSimDataAtSubmit(int on)
{
    return atomic_exchange(&vs_sim_ahead, on != 0);
}

static struct vs_sim_stream *stream_at(int device, CUstream handle)
{
    struct vs_sim_device *d = vs_sim_enter() ? NULL : vs_sim_device_find(device);
    struct vs_sim_stream *s;
    if (!d || !d->primary || !atomic_load(&d->primary->alive) ||
        vs_sim_stream_of(d->primary, handle, &s))
        return NULL;
    return s;
}

/* vramscopeSimPending: is there an effect before the end of *stream*, a stream of *device*'s
 * primary context (NULL: the legacy default stream)? */
VS_SIM_EXPORT int vramscopeSimPending(int device, CUstream stream)
{
    struct vs_sim_stream *s = stream_at(device, stream);
    return s && awaited(s);
}

/* vramscopeSimSettle: returns when there is none. Other work of the stream may still be queued. */
VS_SIM_EXPORT void vramscopeSimSettle(int device, CUstream stream)
{
    struct vs_sim_stream *s = stream_at(device, stream), *t;
    while (s && (t = awaited(s)))
        vs_sim_wait(t, atomic_load(&t->effect));
}
