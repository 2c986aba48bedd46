/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel of torch.cuda._sleep takes as many clock cycles as its argument says. Programs keep a
 * stream busy with it; it took 5 us whatever its argument. */
#include "sim_test.h"

#define CYCLES INT64_C(40000000) /* some 20 ms */
#define SLEEP "_ZN2at4cuda40_GLOBAL__N__b51f33dc_8_Sleep_cu_088d913f11spin_kernelEl"

/* Simulated duration of *name* behind a kernel that holds the stream until all work is queued: no pause of
 * this process counts. */
static double duration_ms(const char *name, int64_t cycles)
{
    float ms;
    atomic_int open = 0;
    void *params[] = {&cycles};
    CUevent begin = sim_event(0), end = sim_event(0);
    sim_launch_gate(NULL, &open);
    OK(cuEventRecord(begin, NULL));
    OK(cuLaunchKernel(sim_function(name), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuEventRecord(end, NULL));
    atomic_store(&open, 1);
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&ms, begin, end));
    OK(cuEventDestroy(begin));
    OK(cuEventDestroy(end));
    return ms;
}

TEST(it_takes_its_cycles)
{
    int khz;
    OK(cuDeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 0));
    double expected = (double)CYCLES / khz, found = duration_ms(SLEEP, CYCLES);
    if (found < expected * 0.999 || found > expected * 1.01)
        fail_msg("%g ms instead of %g ms", found, expected);
}

TEST(others_do_not)
{
    assert_true(duration_ms("_ZN2at4cuda11spin_kernelEi", CYCLES) < 1);
    assert_true(duration_ms("spin_kernel", CYCLES) < 1);
    assert_true(duration_ms(SLEEP, 0) < 1);
    assert_true(duration_ms(SLEEP, -1) < 1);
}

SIM_TESTS_ON("h100-80g")
