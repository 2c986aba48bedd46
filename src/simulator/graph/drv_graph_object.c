/* SPDX-License-Identifier: Apache-2.0
 *
 * User objects: reference-counted, held by the program, by graphs and by executable graphs. The
 * destructor runs on a separate thread, where it may not call CUDA; for an executable graph, after
 * its launches. */
#include "simulator/graph/vs_sim_graph.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/prctl.h>

#define OBJECT_MARK 0x76734f42u

struct vs_sim_object {
    atomic_uint mark;
    atomic_ullong count;
    CUhostFn destroy;
    void *data;
};

struct release { /* due when the stream has completed seq */
    struct release *next;
    struct vs_sim_held *held;
    struct vs_sim_stream *stream;
    uint64_t seq;
};

static pthread_mutex_t due_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t due_some = PTHREAD_COND_INITIALIZER;
static struct release *due_first, **due_last = &due_first; /* guarded by due_mu */
static bool thread_started;                                /* guarded by due_mu */
static struct vs_sim_kept objects = {.mu = PTHREAD_MUTEX_INITIALIZER};

static void object_end(struct vs_sim_object *o)
{
    vs_sim_host_function_begin();
    o->destroy(o->data);
    vs_sim_host_function_end();
    atomic_store(&o->mark, 0);
    vs_sim_kept_give(&objects, o);
}

static void drop_all(struct vs_sim_held *held)
{
    while (held) {
        struct vs_sim_held *next = held->next;
        struct vs_sim_object *o = held->object;
        if (atomic_fetch_sub(&o->count, held->count) == held->count)
            object_end(o);
        free(held);
        held = next;
    }
}

static void *releaser_main(void *arg)
{
    prctl(PR_SET_NAME, "vs-sim-objects");
    for (;;) {
        pthread_mutex_lock(&due_mu);
        while (!due_first)
            pthread_cond_wait(&due_some, &due_mu);
        struct release *r = due_first;
        due_first = r->next;
        if (!due_first)
            due_last = &due_first;
        pthread_mutex_unlock(&due_mu);
        if (r->stream)
            vs_sim_wait(r->stream, r->seq);
        drop_all(r->held);
        free(r);
    }
    return NULL;
}

/* Where no thread may start, the references are never released. */
static void release_later(struct vs_sim_held *held, struct vs_sim_stream *stream, uint64_t seq)
{
    if (!held)
        return;
    struct release *r = vs_sim_need(malloc(sizeof *r));
    *r = (struct release){.held = held, .stream = stream, .seq = seq};
    pthread_mutex_lock(&due_mu);
    thread_started = thread_started || vs_sim_thread_start(releaser_main, NULL);
    *due_last = r; /* a later call may get a thread */
    due_last = &r->next;
    pthread_cond_signal(&due_some);
    pthread_mutex_unlock(&due_mu);
}

static struct vs_sim_held *held_new(struct vs_sim_object *object, unsigned count)
{
    struct vs_sim_held *h = vs_sim_need(malloc(sizeof *h));
    *h = (struct vs_sim_held){.object = object, .count = count};
    return h;
}

void vs_sim_objects_copy(struct vs_sim_graph *to, const struct vs_sim_graph *from)
{
    for (const struct vs_sim_held *h = from->objects; h; h = h->next) {
        struct vs_sim_held *copy = held_new(h->object, h->count);
        atomic_fetch_add(&h->object->count, h->count);
        copy->next = to->objects;
        to->objects = copy;
    }
}

void vs_sim_objects_release(struct vs_sim_graph *g, struct vs_sim_stream *stream, uint64_t seq)
{
    release_later(g->objects, stream, seq);
    g->objects = NULL;
}

/* ---- entry points ---- */

static struct vs_sim_object *object_of(CUuserObject handle, unsigned count)
{
    struct vs_sim_object *o = (struct vs_sim_object *)handle;
    return o && atomic_load(&o->mark) == OBJECT_MARK && count && count <= INT_MAX ? o : NULL;
}

CUresult cuUserObjectCreate_entered(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                                    unsigned int initialRefcount, unsigned int flags)
{
    if (!object_out || !destroy || !initialRefcount || initialRefcount > INT_MAX ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_object *o = vs_sim_kept_take(&objects, sizeof *o, NULL);
    o->destroy = destroy;
    o->data = ptr;
    atomic_store(&o->count, initialRefcount);
    atomic_store(&o->mark, OBJECT_MARK);
    *object_out = (CUuserObject)o;
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain_entered(CUuserObject object, unsigned int count)
{
    struct vs_sim_object *o = object_of(object, count);
    if (!o)
        return CUDA_ERROR_INVALID_VALUE;
    atomic_fetch_add(&o->count, count);
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease_entered(CUuserObject object, unsigned int count)
{
    struct vs_sim_object *o = object_of(object, count);
    if (!o || atomic_load(&o->count) < count)
        return CUDA_ERROR_INVALID_VALUE;
    release_later(held_new(o, count), NULL, 0);
    return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject_locked(struct vs_sim_graph *g, CUuserObject object,
                                        unsigned int count, unsigned int flags)
{
    struct vs_sim_object *o = object_of(object, count);
    if (!o || (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE))
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_held *h = g->objects;
    while (h && h->object != o)
        h = h->next;
    if (h) {
        h->count += count;
    } else {
        h = held_new(o, count);
        h->next = g->objects;
        g->objects = h;
    }
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE))
        atomic_fetch_add(&o->count, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject_locked(struct vs_sim_graph *g, CUuserObject object,
                                         unsigned int count)
{
    struct vs_sim_object *o = object_of(object, count);
    struct vs_sim_held **p = &g->objects;
    while (*p && (*p)->object != o)
        p = &(*p)->next;
    if (!o || !*p || (*p)->count < count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!((*p)->count -= count)) {
        struct vs_sim_held *empty = *p;
        *p = empty->next;
        free(empty);
    }
    release_later(held_new(o, count), NULL, 0);
    return CUDA_SUCCESS;
}
