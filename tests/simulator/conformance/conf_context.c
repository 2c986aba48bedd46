/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts: primary ones and their reference count, explicit ones, the stack of each thread. By the
 * driver interface alone and before all other groups: the runtime's references to the primary
 * context are unspecified. */
#include "conf.h"

#include <pthread.h>

#define CREATE_RULE "cuCtxCreate: the context is pushed and current on return"
#define STACK_RULE "guide, driver API, context: a stack of current contexts"

static CUcontext new_context(unsigned flags)
{
    return GOT(CUcontext, cuCtxCreate(&got, NULL, flags, 0));
}

static int primary_active(void)
{
    unsigned flags;
    return GOT(int, cuDevicePrimaryCtxGetState(0, &flags, &got));
}

TEST(a_fresh_thread_has_no_context)
{
    CUdevice device;
    CUdeviceptr memory;
    CUcontext ctx = (CUcontext)state;
    DO(cuCtxGetCurrent(&ctx));
    FACT(!ctx, "cuCtxGetCurrent: NULL when no context is bound to the thread");
    RETURNS(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    RETURNS(cuMemAlloc(&memory, 4096), CUDA_ERROR_INVALID_CONTEXT);
    RETURNS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    RETURNS(cuCtxPopCurrent(&ctx), CUDA_ERROR_INVALID_CONTEXT);
    WORKS(cuCtxSetCurrent(NULL), "a no-op for NULL when the stack is empty");
}

TEST(the_primary_context_is_counted)
{
    CUcontext first = NULL, second = NULL;
    FACT_EQ(primary_active(), 0, "cuDevicePrimaryCtxGetState: 0 is inactive");
    FACT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT,
            "of a context that was not retained");
    DO(cuDevicePrimaryCtxRetain(&first, 0));
    FACT(first, "cuDevicePrimaryCtxRetain: the context's handle");
    FACT_EQ(primary_active(), 1, "cuDevicePrimaryCtxGetState: 1 is active");
    FACT(!conf_context(), "cuDevicePrimaryCtxRetain: does not push the context");
    DO(cuDevicePrimaryCtxRetain(&second, 0));
    FACT(first == second, "cuDevicePrimaryCtxRetain: one primary context per device");
    DO(cuDevicePrimaryCtxRelease(0));
    FACT_EQ(primary_active(), 1, "cuDevicePrimaryCtxRelease: one reference is left");
    DO(cuDevicePrimaryCtxRelease(0));
    FACT_EQ(primary_active(), 0,
            "cuDevicePrimaryCtxRelease: reset once the last reference is released");
    FACT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT,
            "of a context that was not retained");
}

TEST(releasing_the_primary_context_leaves_the_stack)
{
    CUcontext primary = NULL;
    DO(cuDevicePrimaryCtxRetain(&primary, 0));
    DO(cuDevicePrimaryCtxRetain(&primary, 0));
    DO(cuCtxPushCurrent(primary));
    DO(cuDevicePrimaryCtxRelease(0));
    FACT(conf_context() == primary,
         "cuDevicePrimaryCtxRelease: does not pop the context in any circumstances");
    DO(cuCtxPopCurrent(&primary));
    DO(cuDevicePrimaryCtxRelease(0));
}

TEST(flags_of_the_primary_context)
{
    unsigned flags = 99;
    int active = -1, count = 0;
    CUcontext primary = NULL;
    DO(cuDeviceGetCount(&count));
    DO(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
    DO(cuDevicePrimaryCtxGetState(0, &flags, &active));
    FACT_EQ(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC,
            "cuDevicePrimaryCtxSetFlags: seen by cuDevicePrimaryCtxGetState");
    DO(cuDevicePrimaryCtxRetain(&primary, 0));
    DO(cuCtxPushCurrent(primary));
    DO(cuCtxGetFlags(&flags));
    FACT_EQ(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC,
            "cuDevicePrimaryCtxSetFlags: used by the context");
    DO(cuCtxPopCurrent(NULL));
    DO(cuDevicePrimaryCtxRelease(0));
    DO(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_AUTO));
    RETURNS(cuDevicePrimaryCtxSetFlags(0, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuDevicePrimaryCtxRetain(&primary, count), CUDA_ERROR_INVALID_DEVICE);
    RETURNS(cuDevicePrimaryCtxRelease(count), CUDA_ERROR_INVALID_DEVICE);
    RETURNS(cuDevicePrimaryCtxGetState(count, &flags, &active), CUDA_ERROR_INVALID_DEVICE);
}

TEST(resetting_destroys_what_the_primary_context_held)
{
    CUcontext primary = NULL;
    CUmemorytype type;
    DO(cuDevicePrimaryCtxRetain(&primary, 0));
    DO(cuCtxPushCurrent(primary));
    CUdeviceptr memory = conf_alloc(1 << 20);
    DO(cuCtxPopCurrent(NULL));
    DO(cuDevicePrimaryCtxReset(0));
    WORKS(cuDevicePrimaryCtxRelease(0),
          "cuDevicePrimaryCtxReset: does not release, and releasing later is safe");
    DO(cuDevicePrimaryCtxRetain(&primary, 0));
    DO(cuCtxPushCurrent(primary));
    INVALID(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory),
            "cuDevicePrimaryCtxReset: destroys all allocations");
    DO(cuCtxPopCurrent(NULL));
    DO(cuDevicePrimaryCtxRelease(0));
}

TEST(a_created_context_is_current)
{
    CUcontext ctx = new_context(0);
    FACT(conf_context() == ctx, CREATE_RULE);
    FACT_EQ(GOT(CUdevice, cuCtxGetDevice(&got)), 0,
            "cuCtxGetDevice: the device of the current context");
    FACT(GOT(unsigned, cuCtxGetApiVersion(ctx, &got)) >= 3010, "cuCtxGetApiVersion: at least 3010");
    FACT_EQ(primary_active(), 0, "cuCtxCreate: is not the primary context");
    WORKS(cuCtxSynchronize(), "nothing to wait for");
    DO(cuCtxDestroy(ctx));
    FACT(!conf_context(), "cuCtxDestroy: pops the context if it is current");
    int count = conf_device_count();
    RETURNS(cuCtxCreate(&ctx, NULL, 0, count), CUDA_ERROR_INVALID_DEVICE);
    RETURNS(cuCtxCreate(&ctx, NULL, 0x80000000u, 0), CUDA_ERROR_INVALID_VALUE);
    FACT(!conf_context(), "cuCtxCreate: pushes nothing when it fails");
}

TEST(contexts_form_a_stack)
{
    CUcontext out = NULL, a = new_context(0), b = new_context(0);
    FACT(a != b, "cuCtxCreate: a new context");
    FACT(conf_context() == b, CREATE_RULE);
    DO(cuCtxPopCurrent(&out));
    FACT(out == b, "cuCtxPopCurrent: passes back the popped context");
    FACT(conf_context() == a, "cuCtxPopCurrent: the one below is current again");
    DO(cuCtxPushCurrent(a));
    DO(cuCtxPushCurrent(b));
    FACT(conf_context() == b, "cuCtxPushCurrent: becomes current");
    DO(cuCtxSetCurrent(a));
    FACT(conf_context() == a, "cuCtxSetCurrent: replaces the top of the stack");
    DO(cuCtxPopCurrent(&out));
    FACT(out == a, STACK_RULE);
    DO(cuCtxPopCurrent(&out));
    FACT(out == a, "cuCtxPushCurrent: one context may be there more than once");
    FACT(conf_context() == a, STACK_RULE);
    DO(cuCtxSetCurrent(NULL));
    FACT(!conf_context(), "cuCtxSetCurrent: NULL pops the top");
    RETURNS(cuCtxPopCurrent(&out), CUDA_ERROR_INVALID_CONTEXT);
    DO(cuCtxPushCurrent(a));
    DO(cuCtxDestroy(b));
    FACT(conf_context() == a, "cuCtxDestroy: one that is not current is not popped");
    DO(cuCtxPushCurrent(a));
    DO(cuCtxPopCurrent(NULL));
    FACT(conf_context() == a, "cuCtxPopCurrent: the one below is current again");
    DO(cuCtxDestroy(a));
}

TEST(ids_are_not_used_twice)
{
    unsigned long long a = 0, b = 0, now = 0;
    CUcontext ctx = new_context(0);
    DO(cuCtxGetId(ctx, &a));
    DO(cuCtxGetId(NULL, &now));
    FACT_EQ(now, a, "cuCtxGetId: NULL means the current context");
    DO(cuCtxDestroy(ctx));
    ctx = new_context(0);
    DO(cuCtxGetId(ctx, &b));
    FACT(a != b, "cuCtxGetId: unique for the life of the program");
    DO(cuCtxDestroy(ctx));
}

TEST(flags_of_a_context)
{
    CUcontext ctx = new_context(CU_CTX_SCHED_SPIN);
    FACT_EQ(GOT(unsigned, cuCtxGetFlags(&got)) & CU_CTX_SCHED_MASK, CU_CTX_SCHED_SPIN,
            "cuCtxGetFlags");
    DO(cuCtxSetFlags(CU_CTX_SCHED_YIELD));
    FACT_EQ(GOT(unsigned, cuCtxGetFlags(&got)) & CU_CTX_SCHED_MASK, CU_CTX_SCHED_YIELD,
            "cuCtxSetFlags: replaces the flags of the current context");
    RETURNS(cuCtxGetFlags(NULL), CUDA_ERROR_INVALID_VALUE);
    DO(cuCtxDestroy(ctx));
}

TEST(limits_can_be_raised)
{
    size_t value = 0;
    CUcontext ctx = new_context(0);
    DO(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    FACT(value > 0, "CU_LIMIT_STACK_SIZE: bytes of each GPU thread's stack");
    DO(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 8192));
    DO(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    FACT(value >= 8192, "cuCtxSetLimit: rounded up at most, within the hardware's bounds");
    DO(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 * CONF_MIB));
    DO(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    FACT(value >= 16 * CONF_MIB, "CU_LIMIT_MALLOC_HEAP_SIZE");
    DO(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 * CONF_MIB));
    DO(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
    FACT(value >= 2 * CONF_MIB, "CU_LIMIT_PRINTF_FIFO_SIZE");
    REFUSED(cuCtxGetLimit(&value, (CUlimit)1000), "CUDA_ERROR_UNSUPPORTED_LIMIT or INVALID_VALUE");
    RETURNS(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
    DO(cuCtxDestroy(ctx));
}

TEST(priorities_have_a_range)
{
    int least = 99, greatest = 99;
    CUfunc_cache config;
    CUcontext ctx = new_context(0);
    DO(cuCtxGetStreamPriorityRange(&least, &greatest));
    FACT(greatest <= least, "cuCtxGetStreamPriorityRange: lower numbers are greater");
    WORKS(cuCtxGetStreamPriorityRange(NULL, NULL), "NULL for what is not wanted");
    DO(cuCtxGetCacheConfig(&config));
    WORKS(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1), "a preference only");
    DO(cuCtxDestroy(ctx));
}

struct visit {
    CUcontext ctx, at_start;
    CUresult start, alloc_dead;
    pthread_barrier_t *barrier;
};

static void *visit_thread(void *arg)
{
    struct visit *v = arg;
    CUdeviceptr memory;
    v->start = cuCtxGetCurrent(&v->at_start);
    cuCtxSetCurrent(v->ctx);
    pthread_barrier_wait(v->barrier); /* it is current here */
    pthread_barrier_wait(v->barrier); /* it has been destroyed */
    v->alloc_dead = cuMemAlloc(&memory, 4096);
    cuCtxSetCurrent(NULL);
    return NULL;
}

TEST(each_thread_has_its_own_stack)
{
    pthread_barrier_t barrier;
    pthread_t thread;
    struct visit v = {.ctx = new_context(0), .at_start = (CUcontext)&barrier, .barrier = &barrier};
    pthread_barrier_init(&barrier, NULL, 2);
    DO(pthread_create(&thread, NULL, visit_thread, &v));
    pthread_barrier_wait(&barrier);
    CUcontext here = NULL;
    CUresult e = cuCtxGetCurrent(&here), destroyed = cuCtxDestroy(v.ctx);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    FACT_EQ(v.start, CUDA_SUCCESS, "cuCtxGetCurrent: returns");
    FACT(!v.at_start, "cuCtxGetCurrent: a thread starts without a context");
    FACT(e == CUDA_SUCCESS && here == v.ctx, "cuCtxSetCurrent: binds to many threads");
    FACT_EQ(destroyed, CUDA_SUCCESS,
            "cuCtxDestroy: regardless of how many threads it is current to");
    FACT_EQ(v.alloc_dead, CUDA_ERROR_CONTEXT_IS_DESTROYED,
            "cuCtxDestroy: remains current to other threads, whose calls then fail so");
    pthread_barrier_destroy(&barrier);
}

TEST(memory_goes_with_its_context)
{
    CUdeviceptr pooled = 0;
    CUmemorytype type = 0;
    CUcontext owner = NULL, a = new_context(0), b = new_context(0);
    CUdeviceptr memory = conf_alloc(4096);
    DO(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
    FACT(owner == b, "CU_POINTER_ATTRIBUTE_CONTEXT: where the memory was allocated");
    int pools = DEVICE_ATTRIBUTE(MEMORY_POOLS_SUPPORTED);
    if (pools) {
        DO(cuMemAllocAsync(&pooled, 4096, NULL));
        DO(cuStreamSynchronize(NULL));
    }
    DO(cuCtxDestroy(b));
    INVALID(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory),
            "cuCtxDestroy: the context's memory is cleaned up");
    if (pools) {
        WORKS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pooled),
              "cuCtxDestroy: does not destroy what cuMemAllocAsync allocated");
        WORKS(cuMemFreeAsync(pooled, NULL),
              "cuCtxDestroy: stream-ordered memory is freed explicitly");
    }
    DO(cuCtxDestroy(a));
}
