/* SPDX-License-Identifier: Apache-2.0
 *
 * Private pools for the stream-ordered entry points: the memory of a captured graph stays reserved
 * for it, however often it is launched. PyTorch reports when allocation to a pool begins and ends,
 * and selects its streams by a std::function; it is called here with the layout of the GNU C++
 * library, with which PyTorch is built. PyTorch does not report whether a pool is for a graph: each
 * counts as one under capture between begin and end, which at worst delays reuse. */
#include "intercept/torch/torch_pool.h"

#include <stdatomic.h>

#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "intercept/cache/caching.h"
#include "intercept/cache/device_ops.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "vramscope.h"

#define BEGUN_MAX 32

/* std::function<bool(cudaStream_t)> */
union functor {
    void *words[2];
};
enum functor_operation { FUNCTOR_CLONE = 2, FUNCTOR_DESTROY = 3 };
struct function {
    union functor functor;
    bool (*manage)(union functor *to, const union functor *from, enum functor_operation operation);
    bool (*call)(const union functor *functor, CUstream *stream);
};

struct begun {
    const struct vs_context *context; /* NULL: the slot is free */
    struct vs_pool_id id;
    struct function filter; /* call NULL: by thread */
    uint64_t thread;
};

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_PROCESS, "private pools");
static struct begun begun[BEGUN_MAX];  /* places are taken and left under lock; one that is
                                          taken is read by the allocator's filter too */
static _Atomic unsigned begun_count;   /* atomic */

static _Thread_local char thread_mark __attribute__((tls_model("initial-exec")));

static uint64_t this_thread(void)
{
    return (uint64_t)(uintptr_t)&thread_mark;
}

static bool accepts(const struct begun *b, CUstream stream)
{
    return b->filter.call ? b->filter.call(&b->filter.functor, &stream)
                          : b->thread == this_thread();
}

/* For the allocator, which calls it with its locks held. */
static bool filter(void *ctx, uint64_t key)
{
    return accepts(ctx, (CUstream)(uintptr_t)vs_stream_key_handle(key));
}

bool vs_torch_pool_accepts(const struct vs_context *context, CUstream stream)
{
    bool accepted = false;
    if (!atomic_load(&begun_count))
        return false;
    VS_LOCK_SCOPE(&lock);
    for (int i = 0; i < BEGUN_MAX && !accepted; i++)
        accepted = begun[i].context == context && accepts(&begun[i], stream);
    return accepted;
}

/* With no context: a free slot. */
static struct begun *find_locked(const struct vs_context *context, struct vs_pool_id id)
{
    for (int i = 0; i < BEGUN_MAX; i++) {
        if (begun[i].context == context && begun[i].id.first == id.first &&
            begun[i].id.second == id.second)
            return &begun[i];
    }
    return NULL;
}

static void leave_locked(struct begun *b)
{
    if (b->filter.manage)
        b->filter.manage(&b->filter.functor, &b->filter.functor, FUNCTOR_DESTROY);
    *b = (struct begun){0};
    atomic_fetch_sub(&begun_count, 1);
}

static enum vs_err begin_locked(struct vs_context *context, struct vs_allocator *allocator,
                                struct vs_pool_id id, const struct function *streams)
{
    struct begun *b = find_locked(NULL, (struct vs_pool_id){0, 0});
    if (!b)
        return VS_ERR_LIMIT;
    *b = (struct begun){.context = context, .id = id, .thread = this_thread()};
    if (streams && streams->manage) {
        streams->manage(&b->filter.functor, &streams->functor, FUNCTOR_CLONE);
        b->filter.manage = streams->manage;
        b->filter.call = streams->call;
    }
    atomic_fetch_add(&begun_count, 1);
    enum vs_err err = vs_allocator_pool_begin(allocator, id, filter, b);
    if (err)
        leave_locked(b);
    return err;
}

void vs_torch_pool_context_gone(const struct vs_context *context)
{
    if (!atomic_load(&begun_count))
        return;
    VS_LOCK_SCOPE(&lock);
    for (int i = 0; i < BEGUN_MAX; i++) {
        if (begun[i].context == context)
            leave_locked(&begun[i]);
    }
}

enum action { POOL_BEGIN, POOL_END, POOL_RELEASE };

static void pool_call(enum action action, int device, struct vramscope_torch_pool pool,
                      const struct function *streams)
{
    if (vs_process_forked())
        return;
    vs_process_serve();
    vs_process_begin();
    VS_OWN_WORK();
    struct vs_pool_id id = {pool.first, pool.second};
    struct vs_context *context = device < 0 ? NULL : vs_context_on((uint32_t)device);
    struct vs_allocator *allocator =
        context ? vs_caching_allocator(context, VS_REUSE_STREAM_ORDERED) : NULL;
    enum vs_err err = VS_ERR_DEVICE;
    if (allocator) {
        VS_LOCK_SCOPE(&lock);
        struct begun *b = find_locked(context, id);
        err = action == POOL_BEGIN ? begin_locked(context, allocator, id, streams)
              : action == POOL_END ? vs_allocator_pool_end(allocator, id)
                                   : vs_allocator_pool_release(allocator, id);
        if (action == POOL_END && b && !err)
            leave_locked(b);
    }
    if (err)
        vs_log_once(VS_LOG_WARN, "a private pool of device %d: %s", device, vs_err_text(err));
}

VS_EXPORT void vramscope_torch_begin_allocate_to_pool(int device, struct vramscope_torch_pool pool,
                                                      void *streams)
{
    pool_call(POOL_BEGIN, device, pool, streams);
}

VS_EXPORT void vramscope_torch_end_allocate_to_pool(int device, struct vramscope_torch_pool pool)
{
    pool_call(POOL_END, device, pool, NULL);
}

VS_EXPORT void vramscope_torch_release_pool(int device, struct vramscope_torch_pool pool)
{
    pool_call(POOL_RELEASE, device, pool, NULL);
}
