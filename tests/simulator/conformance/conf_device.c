/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices: how many, what they are called, what they say of themselves. */
#include "conf.h"

static void ordinals_are_below_the_count(void **state)
{
    int count = 0;
    CUdevice device;
    (void)state;
    DO(cuDeviceGetCount(&count));
    FACT(count >= 1, "cuda.h, cuDeviceGetCount: number of devices available for execution");
    FACT_EQ(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE,
            "cuda.h, cuDeviceGet: ordinal in [0, cuDeviceGetCount()-1]");
    FACT_EQ(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE,
            "cuda.h, cuDeviceGet: ordinal in [0, cuDeviceGetCount()-1]");
    FACT_EQ(cuDeviceGet(NULL, 0), CUDA_ERROR_INVALID_VALUE, "cuda.h, cuDeviceGet: returns");
}

int conf_device(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinals_are_below_the_count),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
