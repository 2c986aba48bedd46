/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table of hooks. Adding an entry point is one line here plus its
 * handler, a function of exactly that name. Names are those the libraries
 * export, versions included, because the driver's answer to cuGetProcAddress is
 * mapped back from the returned pointer to the hook of that exact symbol.
 *
 *   VS_DRIVER_HOOK(name, parameters, arguments)   returns CUresult
 *   VS_RECORDED_HOOK(name, parameters, arguments) the same; its handler, vs_on_NAME, gets only
 *                                                 calls to be recorded, with vs_thread.inside > 0
 *   VS_RUNTIME_HOOK(name, parameters, arguments)  returns cudaError_t
 *
 * Hooks of one shape are rows alone; the function is written once, in the file of the family:
 *
 *   VS_CODE_HOOK(name, parameters, arguments, api, what, measured)     hooks_code.c
 *   VS_CONTEXT_HOOK(name, parameters, arguments, api, primary)         hooks_context.c
 *   VS_CAPTURE_HOOK(name, parameters, arguments, per_thread)           hooks_capture.c
 *   VS_INSTANTIATE_HOOK(name, parameters, arguments)                   hooks_graph.c
 *
 * No include guard: included with the macros defined by each user; a kind of driver hook that is
 * not defined is VS_DRIVER_HOOK. */
#ifndef VS_RECORDED_HOOK
#define VS_RECORDED_HOOK VS_DRIVER_HOOK
#endif
#ifndef VS_CODE_HOOK
#define VS_CODE_HOOK(name, params, args, api, what, measured) VS_DRIVER_HOOK(name, params, args)
#endif
#ifndef VS_CONTEXT_HOOK
#define VS_CONTEXT_HOOK(name, params, args, api, primary) VS_DRIVER_HOOK(name, params, args)
#endif
#ifndef VS_CAPTURE_HOOK
#define VS_CAPTURE_HOOK(name, params, args, per_thread) VS_DRIVER_HOOK(name, params, args)
#endif
#ifndef VS_INSTANTIATE_HOOK
#define VS_INSTANTIATE_HOOK VS_DRIVER_HOOK
#endif

/* --- how programs reach the driver: route.c --- */
VS_DRIVER_HOOK(cuGetProcAddress, (const char *symbol, void **pfn, int version, cuuint64_t flags),
               (symbol, pfn, version, flags))
VS_DRIVER_HOOK(cuGetProcAddress_v2,
               (const char *symbol, void **pfn, int version, cuuint64_t flags,
                CUdriverProcAddressQueryResult *status),
               (symbol, pfn, version, flags, status))

/* --- device memory: hooks_device.c --- */
VS_DRIVER_HOOK(cuMemAlloc_v2, (CUdeviceptr *ptr, size_t bytes), (ptr, bytes))
VS_RECORDED_HOOK(cuMemAllocPitch_v2,
                 (CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height, unsigned element),
                 (ptr, pitch, width, height, element))
VS_DRIVER_HOOK(cuMemFree_v2, (CUdeviceptr ptr), (ptr))
VS_RECORDED_HOOK(cuMemAllocManaged, (CUdeviceptr *ptr, size_t bytes, unsigned flags),
                 (ptr, bytes, flags))

/* --- stream-ordered memory: hooks_async.c --- */
VS_RECORDED_HOOK(cuMemAllocAsync, (CUdeviceptr *ptr, size_t bytes, CUstream stream),
                 (ptr, bytes, stream))
VS_RECORDED_HOOK(cuMemAllocAsync_ptsz, (CUdeviceptr *ptr, size_t bytes, CUstream stream),
                 (ptr, bytes, stream))
VS_RECORDED_HOOK(cuMemAllocFromPoolAsync,
                 (CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, CUstream stream),
                 (ptr, bytes, pool, stream))
VS_RECORDED_HOOK(cuMemAllocFromPoolAsync_ptsz,
                 (CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, CUstream stream),
                 (ptr, bytes, pool, stream))
VS_DRIVER_HOOK(cuMemFreeAsync, (CUdeviceptr ptr, CUstream stream), (ptr, stream))
VS_DRIVER_HOOK(cuMemFreeAsync_ptsz, (CUdeviceptr ptr, CUstream stream), (ptr, stream))

/* --- page-locked host memory: hooks_host.c --- */
VS_RECORDED_HOOK(cuMemAllocHost_v2, (void **ptr, size_t bytes), (ptr, bytes))
VS_RECORDED_HOOK(cuMemHostAlloc, (void **ptr, size_t bytes, unsigned flags), (ptr, bytes, flags))
VS_RECORDED_HOOK(cuMemFreeHost, (void *ptr), (ptr))
VS_RECORDED_HOOK(cuMemHostRegister, (void *ptr, size_t bytes, unsigned flags), (ptr, bytes, flags))
VS_RECORDED_HOOK(cuMemHostRegister_v2, (void *ptr, size_t bytes, unsigned flags),
                 (ptr, bytes, flags))
VS_RECORDED_HOOK(cuMemHostUnregister, (void *ptr), (ptr))

/* --- arrays: hooks_array.c --- */
VS_RECORDED_HOOK(cuArrayCreate_v2, (CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc),
                 (array, desc))
VS_RECORDED_HOOK(cuArray3DCreate_v2, (CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc),
                 (array, desc))
VS_RECORDED_HOOK(cuArrayDestroy, (CUarray array), (array))
VS_RECORDED_HOOK(cuMipmappedArrayCreate,
                 (CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels),
                 (array, desc, levels))
VS_RECORDED_HOOK(cuMipmappedArrayDestroy, (CUmipmappedArray array), (array))

/* --- physical memory and its mappings: hooks_vmm.c --- */
VS_RECORDED_HOOK(cuMemCreate,
                 (CUmemGenericAllocationHandle *handle, size_t bytes,
                  const CUmemAllocationProp *prop, unsigned long long flags),
                 (handle, bytes, prop, flags))
VS_RECORDED_HOOK(cuMemRelease, (CUmemGenericAllocationHandle handle), (handle))
VS_DRIVER_HOOK(cuMemMap,
               (CUdeviceptr ptr, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                unsigned long long flags),
               (ptr, bytes, offset, handle, flags))
VS_DRIVER_HOOK(cuMemAddressFree, (CUdeviceptr ptr, size_t bytes), (ptr, bytes))
VS_DRIVER_HOOK(cuMemUnmap, (CUdeviceptr ptr, size_t bytes), (ptr, bytes))
VS_DRIVER_HOOK(cuMemSetAccess,
               (CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *desc, size_t count),
               (ptr, bytes, desc, count))
VS_RECORDED_HOOK(cuMemExportToShareableHandle,
                 (void *shareable, CUmemGenericAllocationHandle handle,
                  CUmemAllocationHandleType type, unsigned long long flags),
                 (shareable, handle, type, flags))
VS_RECORDED_HOOK(cuMemImportFromShareableHandle,
                 (CUmemGenericAllocationHandle *handle, void *shareable,
                  CUmemAllocationHandleType type),
                 (handle, shareable, type))
VS_RECORDED_HOOK(cuMemMapArrayAsync, (CUarrayMapInfo *list, unsigned count, CUstream stream),
                 (list, count, stream))
VS_RECORDED_HOOK(cuMemMapArrayAsync_ptsz, (CUarrayMapInfo *list, unsigned count, CUstream stream),
                 (list, count, stream))
VS_RECORDED_HOOK(cuMulticastCreate,
                 (CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *prop),
                 (handle, prop))
VS_RECORDED_HOOK(cuMulticastBindMem,
                 (CUmemGenericAllocationHandle multicast, size_t offset,
                  CUmemGenericAllocationHandle handle, size_t from, size_t bytes,
                  unsigned long long flags),
                 (multicast, offset, handle, from, bytes, flags))
VS_RECORDED_HOOK(cuMulticastBindAddr,
                 (CUmemGenericAllocationHandle multicast, size_t offset, CUdeviceptr ptr,
                  size_t bytes, unsigned long long flags),
                 (multicast, offset, ptr, bytes, flags))
VS_RECORDED_HOOK(cuMulticastBindMem_v2,
                 (CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset,
                  CUmemGenericAllocationHandle handle, size_t from, size_t bytes,
                  unsigned long long flags),
                 (multicast, device, offset, handle, from, bytes, flags))
VS_RECORDED_HOOK(cuMulticastBindAddr_v2,
                 (CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset,
                  CUdeviceptr ptr, size_t bytes, unsigned long long flags),
                 (multicast, device, offset, ptr, bytes, flags))
VS_RECORDED_HOOK(cuMulticastUnbind,
                 (CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset,
                  size_t bytes),
                 (multicast, device, offset, bytes))

/* --- foreign memory mapped here: hooks_shared.c --- */
VS_DRIVER_HOOK(cuIpcOpenMemHandle, (CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags),
               (ptr, handle, flags))
VS_DRIVER_HOOK(cuIpcOpenMemHandle_v2, (CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags),
               (ptr, handle, flags))
VS_DRIVER_HOOK(cuIpcCloseMemHandle, (CUdeviceptr ptr), (ptr))
VS_RECORDED_HOOK(cuMemPoolImportPointer,
                 (CUdeviceptr *ptr, CUmemoryPool pool, CUmemPoolPtrExportData *data),
                 (ptr, pool, data))
VS_DRIVER_HOOK(cuImportExternalMemory,
               (CUexternalMemory *memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc),
               (memory, desc))
VS_RECORDED_HOOK(cuExternalMemoryGetMappedBuffer,
                 (CUdeviceptr *ptr, CUexternalMemory memory,
                  const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc),
                 (ptr, memory, desc))
VS_RECORDED_HOOK(cuExternalMemoryGetMappedMipmappedArray,
                 (CUmipmappedArray *array, CUexternalMemory memory,
                  const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc),
                 (array, memory, desc))

/* --- graphics resources: hooks_graphics.c --- */
VS_DRIVER_HOOK(cuGraphicsMapResources,
               (unsigned count, CUgraphicsResource *resources, CUstream stream),
               (count, resources, stream))
VS_DRIVER_HOOK(cuGraphicsMapResources_ptsz,
               (unsigned count, CUgraphicsResource *resources, CUstream stream),
               (count, resources, stream))
VS_RECORDED_HOOK(cuGraphicsUnmapResources,
                 (unsigned count, CUgraphicsResource *resources, CUstream stream),
                 (count, resources, stream))
VS_RECORDED_HOOK(cuGraphicsUnmapResources_ptsz,
                 (unsigned count, CUgraphicsResource *resources, CUstream stream),
                 (count, resources, stream))
VS_RECORDED_HOOK(cuGraphicsUnregisterResource, (CUgraphicsResource resource), (resource))
VS_RECORDED_HOOK(cuGraphicsResourceGetMappedPointer_v2,
                 (CUdeviceptr *ptr, size_t *bytes, CUgraphicsResource resource),
                 (ptr, bytes, resource))

/* --- code that programs load: hooks_code.c --- */
VS_CODE_HOOK(cuModuleLoad, (CUmodule *module, const char *path), (module, path),
             "cuModuleLoad", MODULE, ALWAYS)
VS_CODE_HOOK(cuModuleLoadData, (CUmodule *module, const void *image), (module, image),
             "cuModuleLoadData", MODULE, ALWAYS)
VS_CODE_HOOK(cuModuleLoadDataEx,
             (CUmodule *module, const void *image, unsigned count, CUjit_option *options,
              void **values),
             (module, image, count, options, values), "cuModuleLoadDataEx", MODULE, ALWAYS)
VS_CODE_HOOK(cuModuleLoadFatBinary, (CUmodule *module, const void *image), (module, image),
             "cuModuleLoadFatBinary", MODULE, ALWAYS)
VS_DRIVER_HOOK(cuModuleUnload, (CUmodule module), (module))
VS_CODE_HOOK(cuLibraryLoadData,
             (CUlibrary *library, const void *image, CUjit_option *jit, void **jit_values,
              unsigned jit_count, CUlibraryOption *options, void **values, unsigned count),
             (library, image, jit, jit_values, jit_count, options, values, count),
             "cuLibraryLoadData", MODULE, ALWAYS)
VS_CODE_HOOK(cuLibraryLoadFromFile,
             (CUlibrary *library, const char *path, CUjit_option *jit, void **jit_values,
              unsigned jit_count, CUlibraryOption *options, void **values, unsigned count),
             (library, path, jit, jit_values, jit_count, options, values, count),
             "cuLibraryLoadFromFile", MODULE, ALWAYS)
VS_DRIVER_HOOK(cuLibraryUnload, (CUlibrary library), (library))

/* --- lazily loaded code, and launches: hooks_code.c --- */
VS_CODE_HOOK(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name),
             (function, module, name), "cuModuleGetFunction", MODULE, FIRST_USE(module))
VS_CODE_HOOK(cuModuleGetGlobal_v2,
             (CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name),
             (ptr, bytes, module, name), "cuModuleGetGlobal", MODULE, FIRST_USE(module))
VS_CODE_HOOK(cuLibraryGetModule, (CUmodule *module, CUlibrary library), (module, library),
             "cuLibraryGetModule", MODULE, FIRST_USE(library))
VS_CODE_HOOK(cuLibraryGetGlobal,
             (CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name),
             (ptr, bytes, library, name), "cuLibraryGetGlobal", MODULE, FIRST_USE(library))
VS_CODE_HOOK(cuLibraryGetManaged,
             (CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name),
             (ptr, bytes, library, name), "cuLibraryGetManaged", MODULE, NEVER)
VS_CODE_HOOK(cuKernelGetFunction, (CUfunction *function, CUkernel kernel), (function, kernel),
             "cuKernelGetFunction", MODULE, FIRST_USE(NULL))
VS_CODE_HOOK(cuFuncLoad, (CUfunction function), (function), "cuFuncLoad", MODULE, FIRST_USE(NULL))
VS_CODE_HOOK(cuLaunchKernel,
             (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
              unsigned bz, unsigned shared, CUstream stream, void **params, void **extra),
             (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra),
             "cuLaunchKernel", LAUNCH, NEVER)
VS_CODE_HOOK(cuLaunchKernel_ptsz,
             (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
              unsigned bz, unsigned shared, CUstream stream, void **params, void **extra),
             (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra),
             "cuLaunchKernel", LAUNCH, NEVER)
VS_CODE_HOOK(cuLaunchKernelEx,
             (const CUlaunchConfig *config, CUfunction f, void **params, void **extra),
             (config, f, params, extra), "cuLaunchKernelEx", LAUNCH, NEVER)
VS_CODE_HOOK(cuLaunchKernelEx_ptsz,
             (const CUlaunchConfig *config, CUfunction f, void **params, void **extra),
             (config, f, params, extra), "cuLaunchKernelEx", LAUNCH, NEVER)
VS_CODE_HOOK(cuLaunchCooperativeKernel,
             (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
              unsigned bz, unsigned shared, CUstream stream, void **params),
             (f, gx, gy, gz, bx, by, bz, shared, stream, params),
             "cuLaunchCooperativeKernel", LAUNCH, NEVER)
VS_CODE_HOOK(cuLaunchCooperativeKernel_ptsz,
             (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
              unsigned bz, unsigned shared, CUstream stream, void **params),
             (f, gx, gy, gz, bx, by, bz, shared, stream, params),
             "cuLaunchCooperativeKernel", LAUNCH, NEVER)

/* --- queries with results that the cache changes: hooks_query.c, hooks_pointer.c --- */
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

/* --- export of memory to other processes and devices: hooks_share.c --- */
VS_DRIVER_HOOK(cuIpcGetMemHandle, (CUipcMemHandle *handle, CUdeviceptr ptr), (handle, ptr))
VS_DRIVER_HOOK(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle *handle, void *addr),
               (handle, addr))
VS_DRIVER_HOOK(cuMemGetHandleForAddressRange,
               (void *handle, CUdeviceptr ptr, size_t bytes, CUmemRangeHandleType type,
                unsigned long long flags),
               (handle, ptr, bytes, type, flags))

/* --- contexts, synchronisation: hooks_context.c --- */
VS_CONTEXT_HOOK(cuDevicePrimaryCtxRetain, (CUcontext *ctx, CUdevice device), (ctx, device),
                "cuDevicePrimaryCtxRetain", true)
VS_DRIVER_HOOK(cuDevicePrimaryCtxRelease, (CUdevice device), (device))
VS_DRIVER_HOOK(cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))
VS_DRIVER_HOOK(cuDevicePrimaryCtxReset, (CUdevice device), (device))
VS_DRIVER_HOOK(cuDevicePrimaryCtxReset_v2, (CUdevice device), (device))
VS_CONTEXT_HOOK(cuCtxCreate, (CUcontext *ctx, unsigned flags, CUdevice device),
                (ctx, flags, device), "cuCtxCreate", false)
VS_CONTEXT_HOOK(cuCtxCreate_v2, (CUcontext *ctx, unsigned flags, CUdevice device),
                (ctx, flags, device), "cuCtxCreate", false)
VS_CONTEXT_HOOK(cuCtxCreate_v3,
                (CUcontext *ctx, CUexecAffinityParam *affinity, int count, unsigned flags,
                 CUdevice device),
                (ctx, affinity, count, flags, device), "cuCtxCreate", false)
VS_CONTEXT_HOOK(cuCtxCreate_v4,
                (CUcontext *ctx, CUctxCreateParams *params, unsigned flags, CUdevice device),
                (ctx, params, flags, device), "cuCtxCreate", false)
VS_DRIVER_HOOK(cuCtxDestroy, (CUcontext ctx), (ctx))
VS_DRIVER_HOOK(cuCtxDestroy_v2, (CUcontext ctx), (ctx))
VS_DRIVER_HOOK(cuCtxDetach, (CUcontext ctx), (ctx))
VS_DRIVER_HOOK(cuCtxSynchronize, (void), ())
VS_DRIVER_HOOK(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags), (peer, flags))

/* --- captures, destruction of streams: hooks_capture.c --- */
VS_DRIVER_HOOK(cuStreamDestroy, (CUstream stream), (stream))
VS_DRIVER_HOOK(cuStreamDestroy_v2, (CUstream stream), (stream))
VS_CAPTURE_HOOK(cuStreamBeginCapture, (CUstream stream), (stream), false)
VS_CAPTURE_HOOK(cuStreamBeginCapture_ptsz, (CUstream stream), (stream), true)
VS_CAPTURE_HOOK(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (stream, mode),
                false)
VS_CAPTURE_HOOK(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode),
                (stream, mode), true)
VS_CAPTURE_HOOK(cuStreamBeginCaptureToGraph,
                (CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                 const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),
                (stream, graph, nodes, edges, count, mode), false)
VS_CAPTURE_HOOK(cuStreamBeginCaptureToGraph_ptsz,
                (CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                 const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),
                (stream, graph, nodes, edges, count, mode), true)
VS_DRIVER_HOOK(cuStreamEndCapture, (CUstream stream, CUgraph *graph), (stream, graph))
VS_DRIVER_HOOK(cuStreamEndCapture_ptsz, (CUstream stream, CUgraph *graph), (stream, graph))

/* --- graphs with memory: hooks_graph.c --- */
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
VS_INSTANTIATE_HOOK(cuGraphInstantiate,
                    (CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *log, size_t bytes),
                    (exec, graph, error, log, bytes))
VS_INSTANTIATE_HOOK(cuGraphInstantiate_v2,
                    (CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *log, size_t bytes),
                    (exec, graph, error, log, bytes))
VS_INSTANTIATE_HOOK(cuGraphInstantiateWithFlags,
                    (CUgraphExec *exec, CUgraph graph, unsigned long long flags), (exec, graph, flags))
VS_INSTANTIATE_HOOK(cuGraphInstantiateWithParams,
                    (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
                    (exec, graph, params))
VS_INSTANTIATE_HOOK(cuGraphInstantiateWithParams_ptsz,
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

/* --- memory taken without an allocation: hooks_usage.c --- */
VS_DRIVER_HOOK(cuMemPoolCreate, (CUmemoryPool *pool, const CUmemPoolProps *props), (pool, props))
VS_DRIVER_HOOK(cuMemPoolDestroy, (CUmemoryPool pool), (pool))
VS_DRIVER_HOOK(cuCtxSetLimit, (CUlimit limit, size_t value), (limit, value))

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
VS_RUNTIME_HOOK(cudaMallocArray,
                (cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                 size_t height, unsigned flags),
                (array, desc, width, height, flags))
VS_RUNTIME_HOOK(cudaMalloc3DArray,
                (cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                 struct cudaExtent extent, unsigned flags),
                (array, desc, extent, flags))
VS_RUNTIME_HOOK(cudaMallocMipmappedArray,
                (cudaMipmappedArray_t *array, const struct cudaChannelFormatDesc *desc,
                 struct cudaExtent extent, unsigned levels, unsigned flags),
                (array, desc, extent, levels, flags))
VS_RUNTIME_HOOK(cudaFreeArray, (cudaArray_t array), (array))
VS_RUNTIME_HOOK(cudaFreeMipmappedArray, (cudaMipmappedArray_t array), (array))
VS_RUNTIME_HOOK(cudaIpcOpenMemHandle, (void **ptr, cudaIpcMemHandle_t handle, unsigned flags),
                (ptr, handle, flags))
VS_RUNTIME_HOOK(cudaIpcCloseMemHandle, (void *ptr), (ptr))
VS_RUNTIME_HOOK(cudaMemPoolImportPointer,
                (void **ptr, cudaMemPool_t pool, struct cudaMemPoolPtrExportData *data),
                (ptr, pool, data))
VS_RUNTIME_HOOK(cudaImportExternalMemory,
                (cudaExternalMemory_t *memory, const struct cudaExternalMemoryHandleDesc *desc),
                (memory, desc))
VS_RUNTIME_HOOK(cudaExternalMemoryGetMappedBuffer,
                (void **ptr, cudaExternalMemory_t memory,
                 const struct cudaExternalMemoryBufferDesc *desc),
                (ptr, memory, desc))
VS_RUNTIME_HOOK(cudaExternalMemoryGetMappedMipmappedArray,
                (cudaMipmappedArray_t *array, cudaExternalMemory_t memory,
                 const struct cudaExternalMemoryMipmappedArrayDesc *desc),
                (array, memory, desc))
VS_RUNTIME_HOOK(cudaGraphicsResourceGetMappedPointer,
                (void **ptr, size_t *bytes, cudaGraphicsResource_t resource),
                (ptr, bytes, resource))
VS_RUNTIME_HOOK(cudaGraphicsUnmapResources,
                (int count, cudaGraphicsResource_t *resources, cudaStream_t stream),
                (count, resources, stream))
VS_RUNTIME_HOOK(cudaGraphicsUnregisterResource, (cudaGraphicsResource_t resource), (resource))

#undef VS_RECORDED_HOOK
#undef VS_CODE_HOOK
#undef VS_CONTEXT_HOOK
#undef VS_CAPTURE_HOOK
#undef VS_INSTANTIATE_HOOK
