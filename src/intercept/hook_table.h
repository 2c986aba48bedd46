/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table of hooks. Adding an entry point is one line here plus its
 * handler, a function of exactly that name. Names are those the libraries
 * export, versions included, because the driver's answer to cuGetProcAddress is
 * mapped back from the returned pointer to the hook of that exact symbol.
 *
 *   VS_DRIVER_HOOK(name, parameters, arguments)   returns CUresult
 *   VS_RUNTIME_HOOK(name, parameters, arguments)  returns cudaError_t
 *
 * No include guard: included with both macros defined by each user. */

/* --- how programs reach the driver: route.c --- */
VS_DRIVER_HOOK(cuGetProcAddress, (const char *symbol, void **pfn, int version, cuuint64_t flags),
               (symbol, pfn, version, flags))
VS_DRIVER_HOOK(cuGetProcAddress_v2,
               (const char *symbol, void **pfn, int version, cuuint64_t flags,
                CUdriverProcAddressQueryResult *status),
               (symbol, pfn, version, flags, status))

/* --- device memory: hooks_device.c --- */
VS_DRIVER_HOOK(cuMemAlloc_v2, (CUdeviceptr *ptr, size_t bytes), (ptr, bytes))
VS_DRIVER_HOOK(cuMemAllocPitch_v2,
               (CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height, unsigned element),
               (ptr, pitch, width, height, element))
VS_DRIVER_HOOK(cuMemFree_v2, (CUdeviceptr ptr), (ptr))
VS_DRIVER_HOOK(cuMemAllocManaged, (CUdeviceptr *ptr, size_t bytes, unsigned flags),
               (ptr, bytes, flags))

/* --- stream-ordered memory: hooks_async.c --- */
VS_DRIVER_HOOK(cuMemAllocAsync, (CUdeviceptr *ptr, size_t bytes, CUstream stream),
               (ptr, bytes, stream))
VS_DRIVER_HOOK(cuMemAllocAsync_ptsz, (CUdeviceptr *ptr, size_t bytes, CUstream stream),
               (ptr, bytes, stream))
VS_DRIVER_HOOK(cuMemAllocFromPoolAsync,
               (CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, CUstream stream),
               (ptr, bytes, pool, stream))
VS_DRIVER_HOOK(cuMemAllocFromPoolAsync_ptsz,
               (CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, CUstream stream),
               (ptr, bytes, pool, stream))
VS_DRIVER_HOOK(cuMemFreeAsync, (CUdeviceptr ptr, CUstream stream), (ptr, stream))
VS_DRIVER_HOOK(cuMemFreeAsync_ptsz, (CUdeviceptr ptr, CUstream stream), (ptr, stream))

/* --- page-locked host memory: hooks_host.c --- */
VS_DRIVER_HOOK(cuMemAllocHost_v2, (void **ptr, size_t bytes), (ptr, bytes))
VS_DRIVER_HOOK(cuMemHostAlloc, (void **ptr, size_t bytes, unsigned flags), (ptr, bytes, flags))
VS_DRIVER_HOOK(cuMemFreeHost, (void *ptr), (ptr))
VS_DRIVER_HOOK(cuMemHostRegister_v2, (void *ptr, size_t bytes, unsigned flags), (ptr, bytes, flags))
VS_DRIVER_HOOK(cuMemHostUnregister, (void *ptr), (ptr))

/* --- memory we only make room for: hooks_room.c --- */
VS_DRIVER_HOOK(cuArrayCreate_v2, (CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc), (array, desc))
VS_DRIVER_HOOK(cuArray3DCreate_v2, (CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc),
               (array, desc))
VS_DRIVER_HOOK(cuMipmappedArrayCreate,
               (CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels),
               (array, desc, levels))
VS_DRIVER_HOOK(cuMemCreate,
               (CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,
                unsigned long long flags),
               (handle, bytes, prop, flags))

/* --- questions whose answer the cache changes: hooks_query.c, hooks_pointer.c --- */
VS_DRIVER_HOOK(cuMemGetInfo_v2, (size_t *free_bytes, size_t *total_bytes), (free_bytes, total_bytes))
VS_DRIVER_HOOK(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device), (bytes, device))
VS_DRIVER_HOOK(cuMemGetAddressRange_v2, (CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr),
               (base, bytes, ptr))
VS_DRIVER_HOOK(cuPointerGetAttribute,
               (void *data, CUpointer_attribute attribute, CUdeviceptr ptr), (data, attribute, ptr))
VS_DRIVER_HOOK(cuPointerGetAttributes,
               (unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr),
               (count, attributes, data, ptr))
VS_DRIVER_HOOK(cuMemGetAccess,
               (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr),
               (flags, location, ptr))
VS_DRIVER_HOOK(cuPointerSetAttribute,
               (const void *value, CUpointer_attribute attribute, CUdeviceptr ptr),
               (value, attribute, ptr))

/* --- memory on its way to other processes and devices: hooks_share.c --- */
VS_DRIVER_HOOK(cuIpcGetMemHandle, (CUipcMemHandle *handle, CUdeviceptr ptr), (handle, ptr))
VS_DRIVER_HOOK(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle *handle, void *addr),
               (handle, addr))
VS_DRIVER_HOOK(cuMemGetHandleForAddressRange,
               (void *handle, CUdeviceptr ptr, size_t bytes, CUmemRangeHandleType type,
                unsigned long long flags),
               (handle, ptr, bytes, type, flags))

/* --- memory of others, mapped here: hooks_ipc.c --- */
VS_DRIVER_HOOK(cuIpcOpenMemHandle, (CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags),
               (ptr, handle, flags))
VS_DRIVER_HOOK(cuIpcOpenMemHandle_v2, (CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags),
               (ptr, handle, flags))
VS_DRIVER_HOOK(cuIpcCloseMemHandle, (CUdeviceptr ptr), (ptr))

/* --- contexts, synchronisation: hooks_context.c --- */
VS_DRIVER_HOOK(cuDevicePrimaryCtxRetain, (CUcontext *ctx, CUdevice device), (ctx, device))
VS_DRIVER_HOOK(cuDevicePrimaryCtxRelease, (CUdevice device), (device))
VS_DRIVER_HOOK(cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))
VS_DRIVER_HOOK(cuDevicePrimaryCtxReset, (CUdevice device), (device))
VS_DRIVER_HOOK(cuDevicePrimaryCtxReset_v2, (CUdevice device), (device))
VS_DRIVER_HOOK(cuCtxCreate, (CUcontext *ctx, unsigned flags, CUdevice device),
               (ctx, flags, device))
VS_DRIVER_HOOK(cuCtxCreate_v2, (CUcontext *ctx, unsigned flags, CUdevice device),
               (ctx, flags, device))
VS_DRIVER_HOOK(cuCtxCreate_v3,
               (CUcontext *ctx, CUexecAffinityParam *affinity, int count, unsigned flags,
                CUdevice device),
               (ctx, affinity, count, flags, device))
VS_DRIVER_HOOK(cuCtxCreate_v4,
               (CUcontext *ctx, CUctxCreateParams *params, unsigned flags, CUdevice device),
               (ctx, params, flags, device))
VS_DRIVER_HOOK(cuCtxDestroy, (CUcontext ctx), (ctx))
VS_DRIVER_HOOK(cuCtxDestroy_v2, (CUcontext ctx), (ctx))
VS_DRIVER_HOOK(cuCtxDetach, (CUcontext ctx), (ctx))
VS_DRIVER_HOOK(cuCtxSynchronize, (void), ())
VS_DRIVER_HOOK(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags), (peer, flags))

/* --- captures, the end of streams: hooks_capture.c --- */
VS_DRIVER_HOOK(cuStreamDestroy, (CUstream stream), (stream))
VS_DRIVER_HOOK(cuStreamDestroy_v2, (CUstream stream), (stream))
VS_DRIVER_HOOK(cuStreamBeginCapture, (CUstream stream), (stream))
VS_DRIVER_HOOK(cuStreamBeginCapture_ptsz, (CUstream stream), (stream))
VS_DRIVER_HOOK(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
VS_DRIVER_HOOK(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode),
               (stream, mode))
VS_DRIVER_HOOK(cuStreamBeginCaptureToGraph,
               (CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),
               (stream, graph, nodes, edges, count, mode))
VS_DRIVER_HOOK(cuStreamBeginCaptureToGraph_ptsz,
               (CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),
               (stream, graph, nodes, edges, count, mode))
VS_DRIVER_HOOK(cuStreamEndCapture, (CUstream stream, CUgraph *graph), (stream, graph))
VS_DRIVER_HOOK(cuStreamEndCapture_ptsz, (CUstream stream, CUgraph *graph), (stream, graph))

/* --- graphs that have memory: hooks_graph.c --- */
VS_DRIVER_HOOK(cuGraphAddMemAllocNode,
               (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                CUDA_MEM_ALLOC_NODE_PARAMS *params),
               (node, graph, dependencies, count, params))
VS_DRIVER_HOOK(cuGraphAddMemFreeNode,
               (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                CUdeviceptr ptr),
               (node, graph, dependencies, count, ptr))
VS_DRIVER_HOOK(cuGraphAddNode,
               (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                CUgraphNodeParams *params),
               (node, graph, dependencies, count, params))
VS_DRIVER_HOOK(cuGraphAddNode_v2,
               (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params),
               (node, graph, dependencies, edges, count, params))
VS_DRIVER_HOOK(cuGraphInstantiate,
               (CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *log, size_t bytes),
               (exec, graph, error, log, bytes))
VS_DRIVER_HOOK(cuGraphInstantiate_v2,
               (CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *log, size_t bytes),
               (exec, graph, error, log, bytes))
VS_DRIVER_HOOK(cuGraphInstantiateWithFlags,
               (CUgraphExec *exec, CUgraph graph, unsigned long long flags), (exec, graph, flags))
VS_DRIVER_HOOK(cuGraphInstantiateWithParams,
               (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
               (exec, graph, params))
VS_DRIVER_HOOK(cuGraphInstantiateWithParams_ptsz,
               (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
               (exec, graph, params))
VS_DRIVER_HOOK(cuGraphExecUpdate,
               (CUgraphExec exec, CUgraph graph, CUgraphNode *node,
                CUgraphExecUpdateResult *result),
               (exec, graph, node, result))
VS_DRIVER_HOOK(cuGraphExecUpdate_v2,
               (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info),
               (exec, graph, info))
VS_DRIVER_HOOK(cuGraphExecDestroy, (CUgraphExec exec), (exec))
VS_DRIVER_HOOK(cuGraphLaunch, (CUgraphExec exec, CUstream stream), (exec, stream))
VS_DRIVER_HOOK(cuGraphLaunch_ptsz, (CUgraphExec exec, CUstream stream), (exec, stream))
VS_DRIVER_HOOK(cuGraphUpload, (CUgraphExec exec, CUstream stream), (exec, stream))
VS_DRIVER_HOOK(cuGraphUpload_ptsz, (CUgraphExec exec, CUstream stream), (exec, stream))
VS_DRIVER_HOOK(cuDeviceGraphMemTrim, (CUdevice device), (device))
VS_DRIVER_HOOK(cuDeviceSetGraphMemAttribute,
               (CUdevice device, CUgraphMem_attribute which, void *value), (device, which, value))

/* --- runtime symbols: attribution only, hooks_runtime.c --- */
VS_RUNTIME_HOOK(cudaMalloc, (void **ptr, size_t bytes), (ptr, bytes))
VS_RUNTIME_HOOK(cudaMallocPitch, (void **ptr, size_t *pitch, size_t width, size_t height),
                (ptr, pitch, width, height))
VS_RUNTIME_HOOK(cudaMalloc3D, (struct cudaPitchedPtr *ptr, struct cudaExtent extent), (ptr, extent))
VS_RUNTIME_HOOK(cudaMallocManaged, (void **ptr, size_t bytes, unsigned flags), (ptr, bytes, flags))
VS_RUNTIME_HOOK(cudaMallocHost, (void **ptr, size_t bytes), (ptr, bytes))
VS_RUNTIME_HOOK(cudaHostAlloc, (void **ptr, size_t bytes, unsigned flags), (ptr, bytes, flags))
VS_RUNTIME_HOOK(cudaHostRegister, (void *ptr, size_t bytes, unsigned flags), (ptr, bytes, flags))
VS_RUNTIME_HOOK(cudaHostUnregister, (void *ptr), (ptr))
VS_RUNTIME_HOOK(cudaFree, (void *ptr), (ptr))
VS_RUNTIME_HOOK(cudaFreeHost, (void *ptr), (ptr))
VS_RUNTIME_HOOK(cudaMallocAsync, (void **ptr, size_t bytes, cudaStream_t stream),
                (ptr, bytes, stream))
VS_RUNTIME_HOOK(cudaMallocAsync_ptsz, (void **ptr, size_t bytes, cudaStream_t stream),
                (ptr, bytes, stream))
VS_RUNTIME_HOOK(cudaMallocFromPoolAsync,
                (void **ptr, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
                (ptr, bytes, pool, stream))
VS_RUNTIME_HOOK(cudaMallocFromPoolAsync_ptsz,
                (void **ptr, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
                (ptr, bytes, pool, stream))
VS_RUNTIME_HOOK(cudaFreeAsync, (void *ptr, cudaStream_t stream), (ptr, stream))
VS_RUNTIME_HOOK(cudaFreeAsync_ptsz, (void *ptr, cudaStream_t stream), (ptr, stream))
VS_RUNTIME_HOOK(cudaDeviceReset, (void), ())
VS_RUNTIME_HOOK(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
VS_RUNTIME_HOOK(cudaGraphLaunch_ptsz, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
VS_RUNTIME_HOOK(cudaGraphAddMemAllocNode,
                (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                 size_t count, struct cudaMemAllocNodeParams *params),
                (node, graph, dependencies, count, params))
