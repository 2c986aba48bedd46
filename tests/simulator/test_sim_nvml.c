/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in NVML: it agrees with the driver to the byte, finds devices by UUID and bus number,
 * lists processes as nvidia-smi would, and has every function that PyTorch demands.
 *
 * A bug this guards against: PyTorch asserts that six functions exist, among them the first form of
 * nvmlDeviceGetComputeRunningProcesses, before it raises torch.OutOfMemoryError. Four were
 * missing, so running out of memory was reported as "INTERNAL ASSERT FAILED". This file calls
 * them. */
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

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t, unsigned *, nvmlProcessInfo_v1_t *);
nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t, unsigned, unsigned *);
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t, unsigned, nvmlPciInfo_t *);
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *);
nvmlReturn_t nvmlSystemGetNVMLVersion(char *, unsigned);
nvmlReturn_t nvmlSystemGetDriverVersion(char *, unsigned);
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t, int, nvmlFieldValue_t *);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t, char *, unsigned);
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t, unsigned *);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t, nvmlPciInfo_t *);
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t, nvmlPciInfo_v2_t *);
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t, int *, int *);
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t, unsigned *);
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t, unsigned *, unsigned *);
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t, nvmlBAR1Memory_t *);
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t, unsigned, unsigned *);
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t, nvmlUtilization_t *);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned *);
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t, unsigned *);
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t, unsigned, unsigned *);
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t, nvmlDevice_t, unsigned, unsigned *);
nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t, nvmlGpuFabricInfo_v3_t *);

static nvmlDevice_t device_of(unsigned index)
{
    return GOT(nvmlDevice_t, nvmlDeviceGetHandleByIndex_v2(index, &got));
}

TEST(nothing_works_before_init)
{
    unsigned count;
    FAILS(nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
    FAILS(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
    OK(nvmlInit_v2());
    OK(nvmlInit_v2()); /* counted */
    OK(nvmlShutdown());
    assert_int_equal(GOT(unsigned, nvmlDeviceGetCount_v2(&got)), 2);
}

TEST(a_process_shows_once_it_has_a_context)
{
    unsigned count = 4;
    nvmlProcessInfo_t list[4];
    OK(nvmlDeviceGetComputeRunningProcesses_v3(device_of(1), &count, list));
    assert_int_equal(count, 1);
    assert_int_equal(list[0].pid, VS_SIM_OTHERS_PID);
    assert_int_equal(list[0].usedGpuMemory, LIMIT * MIB);
}

TEST(used_memory_agrees_with_the_driver_to_the_byte)
{
    OK(cuInit(0));
    CUcontext context = sim_retain(1);
    OK(cuCtxSetCurrent(context));
    CUdeviceptr small = sim_alloc(100), large = sim_alloc(5 * MIB);
    size_t free_bytes, total;
    OK(cuMemGetInfo(&free_bytes, &total));
    nvmlMemory_v2_t memory = {.version = NVML_MEMORY_V2};
    OK(nvmlDeviceGetMemoryInfo_v2(device_of(1), &memory));
    assert_int_equal(memory.total, 15360 * MIB); /* the board's */
    assert_int_equal(memory.total - memory.reserved, total);
    assert_int_equal(memory.free, free_bytes);
    assert_int_equal(memory.used, (LIMIT + 109 + 2 + 6) * MIB);
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
    nvmlProcessInfo_v1_t old[2];
    count = 2;
    OK(nvmlDeviceGetComputeRunningProcesses(device_of(1), &count, old));
    assert_int_equal(count, 2);
    assert_int_equal(old[1].pid, getpid());
    assert_int_equal(old[1].usedGpuMemory, list[1].usedGpuMemory);
    count = 0;
    FAILS(nvmlDeviceGetComputeRunningProcesses(device_of(1), &count, NULL),
          NVML_ERROR_INSUFFICIENT_SIZE);
    assert_int_equal(count, 2);
    OK(nvmlDeviceGetGraphicsRunningProcesses_v3(device_of(1), &count, list));
    assert_int_equal(count, 0);
    OK(cuMemFree(small));
    OK(cuMemFree(large));
    OK(cuDevicePrimaryCtxRelease(1));
}

TEST(devices_are_found_by_uuid_and_bus)
{
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

TEST(nvml_and_the_driver_describe_the_same_device)
{
    char name[96], driver_name[96], bus[32], version[80];
    int major, minor, driver_major, driver_minor, cuda, driver_cuda, khz;
    unsigned mhz, arch, mig;
    nvmlPciInfo_t pci;
    nvmlBAR1Memory_t bar;
    OK(nvmlDeviceGetName(device_of(1), name, sizeof name));
    OK(cuDeviceGetName(driver_name, sizeof driver_name, 1));
    assert_string_equal(name, driver_name);
    FAILS(nvmlDeviceGetName(device_of(1), name, 4), NVML_ERROR_INSUFFICIENT_SIZE);
    OK(nvmlDeviceGetCudaComputeCapability(device_of(1), &major, &minor));
    OK(cuDeviceGetAttribute(&driver_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1));
    OK(cuDeviceGetAttribute(&driver_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 1));
    assert_int_equal(major * 10 + minor, driver_major * 10 + driver_minor);
    OK(nvmlSystemGetCudaDriverVersion_v2(&cuda));
    OK(cuDriverGetVersion(&driver_cuda));
    assert_int_equal(cuda, driver_cuda);
    OK(nvmlSystemGetNVMLVersion(version, sizeof version));
    assert_int_equal(atoi(version), driver_cuda / 1000);
    OK(nvmlSystemGetDriverVersion(name, sizeof name));
    assert_string_equal(strchr(version, '.') + 1, name);
    assert_string_equal(name, "580.0.0"); /* XLA reads three numbers */
    nvmlFieldValue_t fields[2] = {{.fieldId = 1}, {.fieldId = 2}};
    OK(nvmlDeviceGetFieldValues(device_of(1), 2, fields));
    assert_int_equal(fields[1].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
    assert_int_equal(GOT(unsigned, nvmlDeviceGetIndex(device_of(1), &got)), 1);
    OK(nvmlDeviceGetPciInfo_v3(device_of(1), &pci));
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, 1));
    assert_string_equal(pci.busIdLegacy, bus);
    assert_string_equal(pci.busId, "00000000:02:00.0"); /* the form that PyTorch compares */
    assert_int_equal(pci.pciDeviceId, 0x1eb810de);
    assert_string_equal(GOT(nvmlPciInfo_v2_t, nvmlDeviceGetPciInfo_v2(device_of(1), &got)).busId,
                        bus);
    assert_int_equal(sizeof pci, 68);
    OK(nvmlDeviceGetClockInfo(device_of(1), 1, &mhz));
    OK(cuDeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1));
    assert_int_equal(mhz, khz / 1000);
    FAILS(nvmlDeviceGetClockInfo(device_of(1), NVML_CLOCK_COUNT, &mhz), NVML_ERROR_INVALID_ARGUMENT);
    OK(nvmlDeviceGetArchitecture(device_of(1), &arch));
    assert_int_equal(arch, NVML_DEVICE_ARCH_TURING);
    FAILS(nvmlDeviceGetMigMode(device_of(1), &mig, &mig), NVML_ERROR_NOT_SUPPORTED);
    OK(nvmlDeviceGetBAR1MemoryInfo(device_of(1), &bar));
    assert_int_equal(bar.bar1Free + bar.bar1Used, bar.bar1Total);
}

TEST(devices_are_connected_as_the_driver_says)
{
    unsigned status, type;
    nvmlPciInfo_t pci;
    nvmlGpuFabricInfo_v3_t fabric = {.version = NVML_GPU_FABRIC_V3, .state = 7};
    OK(nvmlDeviceGetP2PStatus(device_of(0), device_of(1), NVML_P2P_CAPS_INDEX_READ, &status));
    assert_int_equal(status == NVML_P2P_STATUS_OK, GOT(int, cuDeviceCanAccessPeer(&got, 0, 1)));
    OK(nvmlDeviceGetP2PStatus(device_of(0), device_of(1), 2, &status)); /* NVLink */
    assert_int_equal(status, NVML_P2P_STATUS_NOT_SUPPORTED);
    FAILS(nvmlDeviceGetP2PStatus(device_of(0), device_of(1), 5, &status),
          NVML_ERROR_INVALID_ARGUMENT);
    FAILS(nvmlDeviceGetNvLinkRemoteDeviceType(device_of(0), 0, &type), NVML_ERROR_NOT_SUPPORTED);
    FAILS(nvmlDeviceGetNvLinkRemotePciInfo_v2(device_of(0), 0, &pci), NVML_ERROR_NOT_SUPPORTED);
    FAILS(nvmlDeviceGetNvLinkRemoteDeviceType(device_of(0), 99, &type),
          NVML_ERROR_INVALID_ARGUMENT);
    OK(nvmlDeviceGetGpuFabricInfoV(device_of(0), &fabric));
    assert_int_equal(fabric.state, NVML_GPU_FABRIC_STATE_NOT_SUPPORTED);
    fabric.version = 1;
    FAILS(nvmlDeviceGetGpuFabricInfoV(device_of(0), &fabric), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

/* One kernel of 0.3 s (kernel_us), longer than a sample period, so the answer after it is of a period
 * that contains it. */
TEST(utilisation_follows_the_simulated_work)
{
    nvmlUtilization_t before, after;
    unsigned idle_mw, busy_mw, limit_mw, celsius;
    CUcontext context = sim_retain(0);
    OK(cuCtxSetCurrent(context));
    OK(nvmlDeviceGetUtilizationRates(device_of(0), &before));
    OK(nvmlDeviceGetPowerUsage(device_of(0), &idle_mw));
    assert_int_equal(before.gpu, 0);
    OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(nvmlDeviceGetUtilizationRates(device_of(0), &after));
    OK(nvmlDeviceGetPowerUsage(device_of(0), &busy_mw));
    OK(nvmlDeviceGetEnforcedPowerLimit(device_of(0), &limit_mw));
    OK(nvmlDeviceGetTemperature(device_of(0), NVML_TEMPERATURE_GPU, &celsius));
    assert_in_range(after.gpu, 1, 100);
    assert_int_equal(after.memory, 0);
    assert_true(idle_mw < busy_mw && busy_mw <= limit_mw);
    assert_in_range(celsius, 30, 70);
    FAILS(nvmlDeviceGetTemperature(device_of(0), 1, &celsius), NVML_ERROR_INVALID_ARGUMENT);
    OK(cuDevicePrimaryCtxRelease(0));
}

SETUP(begin)
{
    setenv("VRAMSCOPE_SIMULATE", "t4-16g,devices=2,others=400MiB,kernel_us=300000", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    return 0;
}
