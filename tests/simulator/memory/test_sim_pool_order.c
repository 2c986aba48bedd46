/* SPDX-License-Identifier: Apache-2.0
 *
 * Which streams may immediately reuse memory that another stream has freed but not yet reached:
 * those ordered after the free (cuda.h, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES). */
#include "sim_test.h"

#define BYTES (3 * MIB)

static CUmemoryPool pool;
static CUstream a, b, c;
static CUevent event, second;
static atomic_int open_gate;
static CUdeviceptr kept[4]; /* so that no later request uses them instead */
static size_t kept_count;

BEFORE(begin)
{
    atomic_store(&open_gate, 0);
    a = sim_stream(CU_STREAM_NON_BLOCKING);
    b = sim_stream(CU_STREAM_NON_BLOCKING);
    c = sim_stream(CU_STREAM_NON_BLOCKING);
    return 0;
}

AFTER(end)
{
    atomic_store(&open_gate, 1);
    OK(cuCtxSynchronize());
    while (kept_count)
        OK(cuMemFree(kept[--kept_count]));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuStreamDestroy(c));
    OK(cuMemPoolTrimTo(pool, 0));
    return 0;
}

/* Freed in *s* behind a closed gate. */
static CUdeviceptr freed_in(CUstream s)
{
    CUdeviceptr p;
    OK(cuMemAllocAsync(&p, BYTES, s));
    sim_launch_gate(s, &open_gate);
    OK(cuMemFreeAsync(p, s));
    return p;
}

/* Does *s* get *p* for a request of the same size? */
static bool gets(CUstream s, CUdeviceptr p)
{
    CUdeviceptr got;
    OK(cuMemAllocAsync(&got, BYTES, s));
    if (got == p)
        OK(cuMemFreeAsync(got, s));
    else
        kept[kept_count++] = got;
    return got == p;
}

TEST(a_stream_that_waits_for_the_free_gets_the_block)
{
    CUdeviceptr p = freed_in(a);
    assert_false(gets(b, p));
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    assert_true(gets(b, p));
}

TEST(a_record_before_the_free_does_not_count)
{
    CUdeviceptr p;
    OK(cuMemAllocAsync(&p, BYTES, a));
    sim_launch_gate(a, &open_gate);
    OK(cuEventRecord(event, a));
    OK(cuMemFreeAsync(p, a));
    OK(cuStreamWaitEvent(b, event, 0));
    assert_false(gets(b, p));
}

TEST(waits_are_passed_on)
{
    CUdeviceptr p = freed_in(a);
    OK(cuEventRecord(second, b)); /* before b waits: does not order a */
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    OK(cuStreamWaitEvent(c, second, 0));
    assert_false(gets(c, p));
    OK(cuEventRecord(second, b));
    OK(cuStreamWaitEvent(c, second, 0));
    assert_true(gets(c, p));
}

TEST(the_attribute_turns_it_off)
{
    CUdeviceptr p = freed_in(a);
    int off = 0, on = 1;
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, &off));
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    assert_false(gets(b, p));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, &on));
    assert_true(gets(b, p));
}

TEST(the_legacy_stream_orders_too)
{
    CUstream blocking = sim_stream(CU_STREAM_DEFAULT), other = sim_stream(CU_STREAM_DEFAULT);
    CUdeviceptr p = freed_in(blocking);
    OK(cuEventRecord(event, NULL)); /* after the free */
    OK(cuEventRecord(second, other)); /* after that */
    assert_true(gets(other, p));
    atomic_store(&open_gate, 1);
}

SETUP(setup)
{
    sim_begin_on("a100-40g");
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    event = sim_event(CU_EVENT_DISABLE_TIMING);
    second = sim_event(CU_EVENT_DISABLE_TIMING);
    return 0;
}
