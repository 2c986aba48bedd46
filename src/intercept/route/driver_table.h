/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table of the driver's functions that we call for ourselves: VS_DRIVER_FUNCTION(name,
 * parameters), by exported name; older drivers lack some. VS_CALL (hook.h) calls one. A function
 * that is hooked as well is called here without its hook and without interposers.
 *
 * No include guard: included with VS_DRIVER_FUNCTION defined by each user. */
VS_DRIVER_FUNCTION(cuInit, (unsigned flags))
VS_DRIVER_FUNCTION(cuDriverGetVersion, (int *version))

VS_DRIVER_FUNCTION(cuDeviceGetCount, (int *count))
VS_DRIVER_FUNCTION(cuDeviceGetName, (char *name, int bytes, CUdevice device))
VS_DRIVER_FUNCTION(cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice device))
VS_DRIVER_FUNCTION(cuDeviceGetPCIBusId, (char *id, int bytes, CUdevice device))
VS_DRIVER_FUNCTION(cuDeviceGetAttribute, (int *value, CUdevice_attribute which, CUdevice device))
VS_DRIVER_FUNCTION(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device))
VS_DRIVER_FUNCTION(cuDeviceGetDefaultMemPool, (CUmemoryPool *pool, CUdevice device))
VS_DRIVER_FUNCTION(cuDeviceGetGraphMemAttribute,
                   (CUdevice device, CUgraphMem_attribute which, void *value))
VS_DRIVER_FUNCTION(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned *flags, int *active))

VS_DRIVER_FUNCTION(cuCtxGetCurrent, (CUcontext *ctx))
VS_DRIVER_FUNCTION(cuCtxGetDevice, (CUdevice *device))
VS_DRIVER_FUNCTION(cuCtxGetApiVersion, (CUcontext ctx, unsigned *version))
VS_DRIVER_FUNCTION(cuCtxPushCurrent_v2, (CUcontext ctx))
VS_DRIVER_FUNCTION(cuCtxPopCurrent_v2, (CUcontext *ctx))
VS_DRIVER_FUNCTION(cuCtxRecordEvent, (CUcontext ctx, CUevent event))

VS_DRIVER_FUNCTION(cuStreamGetCtx, (CUstream stream, CUcontext *ctx))
VS_DRIVER_FUNCTION(cuStreamGetId, (CUstream stream, unsigned long long *id))
VS_DRIVER_FUNCTION(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status))
VS_DRIVER_FUNCTION(cuStreamSynchronize, (CUstream stream))
VS_DRIVER_FUNCTION(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *mode))

VS_DRIVER_FUNCTION(cuEventCreate, (CUevent *event, unsigned flags))
VS_DRIVER_FUNCTION(cuEventRecord, (CUevent event, CUstream stream))
VS_DRIVER_FUNCTION(cuEventQuery, (CUevent event))
VS_DRIVER_FUNCTION(cuEventSynchronize, (CUevent event))

VS_DRIVER_FUNCTION(cuMemPoolGetAttribute,
                   (CUmemoryPool pool, CUmemPool_attribute which, void *value))
VS_DRIVER_FUNCTION(cuMemAddressReserve,
                   (CUdeviceptr *ptr, size_t bytes, size_t alignment, CUdeviceptr at,
                    unsigned long long flags))
VS_DRIVER_FUNCTION(cuMemAddressFree, (CUdeviceptr ptr, size_t bytes))
VS_DRIVER_FUNCTION(cuMemRelease, (CUmemGenericAllocationHandle handle))
VS_DRIVER_FUNCTION(cuMemMap,
                   (CUdeviceptr ptr, size_t bytes, size_t offset,
                    CUmemGenericAllocationHandle handle, unsigned long long flags))
VS_DRIVER_FUNCTION(cuMemUnmap, (CUdeviceptr ptr, size_t bytes))
VS_DRIVER_FUNCTION(cuMemSetAccess,
                   (CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *desc, size_t count))
VS_DRIVER_FUNCTION(cuMemGetAllocationGranularity,
                   (size_t *bytes, const CUmemAllocationProp *prop,
                    CUmemAllocationGranularity_flags which))

VS_DRIVER_FUNCTION(cuGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count))
VS_DRIVER_FUNCTION(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *type))
VS_DRIVER_FUNCTION(cuGraphMemAllocNodeGetParams,
                   (CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params))
VS_DRIVER_FUNCTION(cuGraphMemFreeNodeGetParams, (CUgraphNode node, CUdeviceptr *ptr))
VS_DRIVER_FUNCTION(cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *graph))

/* of the simulated GPU; their results are not CUDA's */
VS_DRIVER_FUNCTION(vramscopeSimRegisterKernel, (void))
VS_DRIVER_FUNCTION(vramscopeSimFindings,
                   (void (*found)(unsigned, uint64_t, uint64_t, const char *,
                                  void *const *const[3], const size_t[3])))
VS_DRIVER_FUNCTION(vramscopeSimWatch,
                   (bool (*on_read)(int, int, uint64_t, const char *),
                    bool (*cached)(uint64_t, uint64_t *, uint64_t *)))
