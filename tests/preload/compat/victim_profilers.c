/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs with a profiler of their own (profiler_stand_in.h), which starts before ours, after it,
 * or repeatedly. It must work as without us; ours stops with one message, and continues to record
 * memory. */
#include "profiler_stand_in.h"

VICTIM("profilers")

#define ASIDE "another tool in this process uses CUPTI"

static void *memory;

/* Finds CUPTI, and has the memory of work(). */
static void begin(void)
{
    profiler_find();
    memory = take(MIB);
}

/* *n* copies, 2 *n* memsets and one allocation, all complete when it returns. */
static void work(int n)
{
    static char host[4096];
    void *p = take((size_t)n * 4096);
    for (int i = 0; i < n; i++) {
        OK(cudaMemset(memory, i, MIB));
        OK(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost));
        OK(cudaMemset(p, i, 4096));
    }
    OK(cudaDeviceSynchronize());
    give(p);
}

/* The profiler's part around *n* rounds of work. */
static void profiled_work(int n)
{
    work(n);
    profiler_stop();
    profiler_print();
}

CASE(comes_first, PROFILER_HOW "subscribes before the first allocation", 0, STDERR_HAS(ASIDE))
{
    profiler_find();
    OK(cuInit(0));
    profiler_subscribe();
    profiler_collect(true, true);
    memory = take(MIB);
    profiled_work(20);
    give(memory);
}

CASE(comes_later, PROFILER_HOW "subscribes later", 0, STDERR_HAS(ASIDE))
{
    begin();
    work(30);
    profiler_subscribe();
    profiler_collect(true, true);
    profiled_work(20);
    work(10);
    give(memory);
}

CASE(comes_and_goes, PROFILER_HOW "starts and stops five times, with different records", 0,
     STDERR_HAS(ASIDE))
{
    begin();
    for (int i = 1; i <= 5; i++) {
        work(3);
        profiler_subscribe();
        profiler_collect(i % 2, true);
        profiled_work(i);
    }
    give(memory);
}

CASE(records_without_subscription, PROFILER_HOW "collects records without a subscription", 0,
     STDERR_HAS(ASIDE))
{
    begin();
    work(5);
    profiler_collect(false, true);
    profiled_work(7);
    give(memory);
}

/* The same two if the driver loads the library (CUDA_INJECTION64_PATH): it then cannot detect
 * another profiler, so it must not use any records. */
CASE(records_from_the_start, PROFILER_HOW "collects records from before the first allocation", 0,
     ENV("VRAMSCOPE_LOG=error"), INJECTED)
{
    profiler_find();
    OK(cuInit(0));
    profiler_collect(true, true);
    memory = take(MIB);
    profiled_work(7);
    give(memory);
}

AGAIN(records_after_first_work, records_without_subscription,
      PROFILER_HOW "collects records of its later work", 0, ENV("VRAMSCOPE_LOG=error"), INJECTED)

CASE(enables_before_it_registers, PROFILER_HOW "enables records before it registers buffers", 0,
     STDERR_HAS(ASIDE))
{
    begin();
    work(5);
    profiler.begin_ns = wall_ns();
    profiler.copies_wanted = true;
    OK(use.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
    OK(use.cuptiActivityRegisterCallbacks(profiler_request, profiler_complete));
    profiled_work(9);
    give(memory);
}

CASE(callbacks_alone, PROFILER_HOW "uses callbacks, but no records", 0, STDERR_HAS(ASIDE))
{
    begin();
    work(5);
    profiler_subscribe();
    profiled_work(11);
    give(memory);
}

CASE(finalizes, PROFILER_HOW "ends with cuptiFinalize", 0, STDERR_HAS(ASIDE))
{
    begin();
    work(5);
    profiler_subscribe();
    profiler_collect(true, true);
    work(4);
    profiler_stop();
    OK(use.cuptiFinalize());
    profiler_print();
    work(5);
    give(memory);
}

/* It starts while other threads allocate. */
CASE(among_threads, PROFILER_HOW "starts while four threads allocate", 0, STDERR_HAS(ASIDE))
{
    pthread_t threads[4];
    begin();
    start_threads(threads, 4, churn);
    usleep(2000);
    for (int i = 0; i < 3; i++) {
        profiler_subscribe();
        profiler_collect(true, false);
        work(5);
        profiler_stop();
    }
    going = 0;
    join_threads(threads, 4, NULL);
    printf("copies %ld strays %ld\n", profiler.copies, profiler.strays);
    give(memory);
}

/* A second profiler is refused by the first, not by us. */
CASE(two_of_them, PROFILER_HOW "finds a second one", 0, STDERR_HAS(ASIDE))
{
    CUpti_SubscriberHandle second;
    begin();
    profiler_subscribe();
    printf("%d\n", (int)use.cuptiSubscribe(&second, profiler_called, NULL));
    profiler_stop();
    printf("%d\n", (int)use.cuptiSubscribe(&second, profiler_called, NULL));
    OK(use.cuptiUnsubscribe(second));
    give(memory);
}

/* Querying the time or the name of an error is not profiling: our collector stays. */
CASE(only_asks, PROFILER_HOW "only queries CUPTI's time", 0)
{
    uint64_t now;
    begin();
    OK(use.cuptiGetTimestamp(&now));
    CHECK(now > wall_ns() - 1000000000u && now <= wall_ns());
    work(3);
    give(memory);
}

/* With the option kernels=off we do not use CUPTI: the library is not opened, and a profiler is
 * unaffected. */
CASE(has_cupti_for_itself, PROFILER_HOW "runs with kernels=off", 0, ENV("VRAMSCOPE_KERNELS=off"))
{
    char line[4096];
    int mapped = 0;
    memory = take(MIB);
    FILE *maps = fopen("/proc/self/maps", "re");
    CHECK(maps);
    while (fgets(line, sizeof line, maps))
        mapped |= strstr(line, "libcupti") != NULL;
    fclose(maps);
    printf("mapped %d\n", mapped);
    profiler_find();
    profiler_subscribe();
    profiler_collect(true, true);
    profiled_work(6);
    give(memory);
}

/* Two devices copy to each other, with and without peer access. */
CASE(peer_copies, "copies between two devices, no other profiler", 0,
     SIMULATE("t4-16g,capacity=1GiB,context=400MiB,devices=2"), ENV("VRAMSCOPE_KERNELS=on"),
     INJECTED)
{
    memory = take(MIB);
    OK(cudaSetDevice(1));
    void *there = take(MIB);
    for (int i = 0; i < 5; i++)
        OK(cudaMemcpyPeer(there, 1, memory, 0, MIB));
    OK(cudaDeviceSynchronize());
    give(there);
    OK(cudaSetDevice(0));
    give(memory);
}
