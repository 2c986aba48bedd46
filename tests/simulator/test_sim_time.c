/* SPDX-License-Identifier: Apache-2.0
 *
 * time=off: work is done in order and takes no simulated time, whatever the model's durations. A
 * kernel takes ten seconds in the model. */
#include "sim_test.h"

TEST(kernels_take_no_time)
{
    CUmodule module;
    CUfunction function;
    OK(cuModuleLoadData(&module, "any"));
    OK(cuModuleGetFunction(&function, module, "without_a_host_function"));
    CUevent begin = sim_event(0), end = sim_event(0);
    OK(cuEventRecord(begin, NULL));
    for (int i = 0; i < 1000; i++)
        OK(cuLaunchKernel(function, 1 << 20, 1, 1, 1024, 1, 1, 0, NULL, NULL, NULL));
    OK(cuEventRecord(end, NULL));
    OK(cuEventSynchronize(end));
    assert_true(GOT(float, cuEventElapsedTime(&got, begin, end)) >= 0);
}

TEST(copies_are_done_all_the_same)
{
    CUdeviceptr memory = sim_alloc(4096);
    for (int i = 0; i < 100; i++) {
        OK(cuMemsetD8Async(memory, (unsigned char)i, 4096, NULL));
        assert_int_equal(GOT(unsigned char, cuMemcpyDtoH(&got, memory + 4095, 1)), i);
    }
}

SIM_TESTS_ON("t4-16g,time=off,kernel_us=10000000,seed=5")
