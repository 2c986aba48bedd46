/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for devices of others (GPUDirect RDMA): a descriptor of an address range. read() and
 * write() act as a network device would, from the start of the range on. Unlike a real one, it does
 * not keep the memory alive: freed memory reads as zeros, or as the content of a later allocation.
 */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/memory/vs_sim_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

CUresult cuMemGetHandleForAddressRange_in(void *handle, CUdeviceptr dptr, size_t size,
                                          CUmemRangeHandleType handleType, unsigned long long flags)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), offset;
    struct vs_sim_range range;
    char path[32];
    int store;
    if (!handle || !size || dptr % page || size % page ||
        handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || !vs_sim_range_find(dptr, &range) ||
        size > range.bytes - (dptr - range.base))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags || range.kind != VS_SIM_RANGE_DEVICE ||
        !vs_sim_space_place(range.device, dptr, &store, &offset))
        return CUDA_ERROR_NOT_SUPPORTED;
    snprintf(path, sizeof path, "/proc/self/fd/%d", store);
    int fd = open(path, O_RDWR | O_CLOEXEC); /* with its own file position */
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    if (lseek(fd, (off_t)offset, SEEK_SET) < 0) {
        close(fd);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    *(int *)handle = fd;
    return CUDA_SUCCESS;
}
