/* SPDX-License-Identifier: Apache-2.0
 *
 * External memory in the runtime. The structures differ from the driver's in their reserved fields,
 * so the others are copied. */
#include "simulator/runtime/vs_sim_runtime.h"

cudaError_t cudaImportExternalMemory_context(
    cudaExternalMemory_t *extMem_out, const struct cudaExternalMemoryHandleDesc *memHandleDesc)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {0};
    if (!memHandleDesc)
        return cudaErrorInvalidValue;
    desc.type = (CUexternalMemoryHandleType)memHandleDesc->type;
    desc.handle.fd = memHandleDesc->handle.fd;
    desc.size = memHandleDesc->size;
    desc.flags = memHandleDesc->flags;
    return vs_rt_error(vs_rt.ImportExternalMemory((CUexternalMemory *)extMem_out, &desc));
}

cudaError_t cudaExternalMemoryGetMappedBuffer_context(
    void **devPtr, cudaExternalMemory_t extMem,
    const struct cudaExternalMemoryBufferDesc *bufferDesc)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {0};
    if (!bufferDesc)
        return cudaErrorInvalidValue;
    desc.offset = bufferDesc->offset;
    desc.size = bufferDesc->size;
    desc.flags = bufferDesc->flags;
    return vs_rt_error(vs_rt.ExternalMemoryGetMappedBuffer((CUdeviceptr *)devPtr,
                                                           (CUexternalMemory)extMem, &desc));
}
