/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in NVML: it agrees with cuMemGetInfo to the byte, finds devices by UUID
 * and bus number, and lists processes as nvidia-smi would. */
#include <stdio.h>

#include "sim_test.h"
#include "simulator/driver/vs_sim_nvml.h"

#define LIMIT 400 /* MiB of a context, and of others= */

nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlShutdown(void);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned, nvmlDevice_t *);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *, nvmlDevice_t *);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *, nvmlDevice_t *);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t, char *, unsigned);
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t, nvmlMemory_v2_t *);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned *, nvmlProcessInfo_t *);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t, unsigned *, nvmlProcessInfo_t *);

static nvmlDevice_t device_of(unsigned index)
{
    nvmlDevice_t device;
    OK(nvmlDeviceGetHandleByIndex_v2(index, &device));
    return device;
}

static void nothing_works_before_init(void **state)
{
    (void)state;
    unsigned count;
    FAILS(nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
    FAILS(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
    OK(nvmlInit_v2());
    OK(nvmlInit_v2()); /* counted */
    OK(nvmlShutdown());
    OK(nvmlDeviceGetCount_v2(&count));
    assert_int_equal(count, 2);
}

static void a_process_shows_once_it_has_a_context(void **state)
{
    (void)state;
    unsigned count = 4;
    nvmlProcessInfo_t list[4];
    OK(nvmlDeviceGetComputeRunningProcesses_v3(device_of(1), &count, list));
    assert_int_equal(count, 1);
    assert_int_equal(list[0].pid, VS_SIM_OTHERS_PID);
    assert_int_equal(list[0].usedGpuMemory, LIMIT * MIB);
}

static void used_memory_agrees_with_the_driver_to_the_byte(void **state)
{
    (void)state;
    CUcontext context;
    CUdeviceptr small, large;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 1));
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&small, 100));
    OK(cuMemAlloc(&large, 5 * MIB));
    size_t free_bytes, total;
    OK(cuMemGetInfo(&free_bytes, &total));
    nvmlMemory_v2_t memory = {.version = NVML_MEMORY_V2};
    OK(nvmlDeviceGetMemoryInfo_v2(device_of(1), &memory));
    assert_int_equal(memory.total, total);
    assert_int_equal(memory.free, free_bytes);
    assert_int_equal(memory.used, (2 * LIMIT + 2 + 6) * MIB);
    memory.version = 0;
    FAILS(nvmlDeviceGetMemoryInfo_v2(device_of(1), &memory), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);

    unsigned count = 1;
    nvmlProcessInfo_t list[2];
    FAILS(nvmlDeviceGetComputeRunningProcesses_v3(device_of(1), &count, list),
          NVML_ERROR_INSUFFICIENT_SIZE);
    assert_int_equal(count, 2); /* the needed capacity */
    OK(nvmlDeviceGetComputeRunningProcesses_v3(device_of(1), &count, list));
    assert_int_equal(list[0].usedGpuMemory + list[1].usedGpuMemory, memory.used);
    assert_int_equal(list[1].pid, getpid());
    OK(nvmlDeviceGetGraphicsRunningProcesses_v3(device_of(1), &count, list));
    assert_int_equal(count, 0);
    OK(cuMemFree(small));
    OK(cuMemFree(large));
    OK(cuDevicePrimaryCtxRelease(1));
}

static void devices_are_found_by_uuid_and_bus(void **state)
{
    (void)state;
    char uuid[64], bus[32];
    CUuuid id;
    nvmlDevice_t device;
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, 1));
    OK(nvmlDeviceGetHandleByPciBusId_v2(bus, &device));
    assert_ptr_equal(device, device_of(1));
    OK(nvmlDeviceGetUUID(device, uuid, sizeof uuid));
    OK(nvmlDeviceGetHandleByUUID(uuid, &device));
    assert_ptr_equal(device, device_of(1));
    OK(cuDeviceGetUuid(&id, 1));
    char text[48];
    const unsigned char *b = (const unsigned char *)id.bytes;
    snprintf(text, sizeof text, "GPU-%02x%02x%02x%02x-", b[0], b[1], b[2], b[3]);
    assert_memory_equal(uuid, text, strlen(text));
    FAILS(nvmlDeviceGetHandleByUUID("GPU-0", &device), NVML_ERROR_NOT_FOUND);
    FAILS(nvmlDeviceGetHandleByPciBusId_v2("0000:09:00.0", &device), NVML_ERROR_NOT_FOUND);
    FAILS(nvmlDeviceGetHandleByIndex_v2(2, &device), NVML_ERROR_INVALID_ARGUMENT);
    FAILS(nvmlDeviceGetUUID((nvmlDevice_t)(void *)uuid, text, sizeof text),
          NVML_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_works_before_init),
        cmocka_unit_test(a_process_shows_once_it_has_a_context),
        cmocka_unit_test(used_memory_agrees_with_the_driver_to_the_byte),
        cmocka_unit_test(devices_are_found_by_uuid_and_bus),
    };
    setenv("VRAMSCOPE_SIMULATE", "t4-16g,devices=2,others=400MiB", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
