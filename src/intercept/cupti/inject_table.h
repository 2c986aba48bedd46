/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks that are replayed when calls are only reported (inject.c):
 * VS_INJECT(symbol, when, arguments), *p* being CUPTI's parameters of the call.
 * BEFORE: run as the call begins, since afterwards another thread may own what it
 * gives up; taken back when the driver refuses. FREES: the same, of a free, whose refusal is
 * recorded. AFTER: run with the call's results.
 * ENDING: the same, of what ends a context: its kernels are collected before.
 * Hooks that only answer for the cache, or wait for it, have no line here. No include
 * guard: included with VS_INJECT defined by each user. */

/* --- device memory --- */
VS_INJECT(cuMemAlloc_v2, AFTER, (p->dptr, p->bytesize))
VS_INJECT(cuMemAllocPitch_v2, AFTER,
          (p->dptr, p->pPitch, p->WidthInBytes, p->Height, p->ElementSizeBytes))
VS_INJECT(cuMemAllocManaged, AFTER, (p->dptr, p->bytesize, p->flags))
VS_INJECT(cuMemFree_v2, FREES, (p->dptr))

/* --- stream-ordered memory --- */
VS_INJECT(cuMemAllocAsync, AFTER, (p->dptr, p->bytesize, p->hStream))
VS_INJECT(cuMemAllocAsync_ptsz, AFTER, (p->dptr, p->bytesize, p->hStream))
VS_INJECT(cuMemAllocFromPoolAsync, AFTER, (p->dptr, p->bytesize, p->pool, p->hStream))
VS_INJECT(cuMemAllocFromPoolAsync_ptsz, AFTER, (p->dptr, p->bytesize, p->pool, p->hStream))
VS_INJECT(cuMemFreeAsync, FREES, (p->dptr, p->hStream))
VS_INJECT(cuMemFreeAsync_ptsz, FREES, (p->dptr, p->hStream))
VS_INJECT(cuMemPoolCreate, AFTER, (p->pool, p->poolProps))
VS_INJECT(cuMemPoolDestroy, BEFORE, (p->pool))

/* --- page-locked host memory --- */
VS_INJECT(cuMemAllocHost_v2, AFTER, (p->pp, p->bytesize))
VS_INJECT(cuMemHostAlloc, AFTER, (p->pp, p->bytesize, p->Flags))
VS_INJECT(cuMemHostRegister, AFTER, (p->p, p->bytesize, p->Flags))
VS_INJECT(cuMemHostRegister_v2, AFTER, (p->p, p->bytesize, p->Flags))
VS_INJECT(cuMemFreeHost, FREES, (p->p))
VS_INJECT(cuMemHostUnregister, FREES, (p->p))

/* --- contexts and captures --- */
VS_INJECT(cuDevicePrimaryCtxRetain, AFTER, (p->pctx, p->dev))
VS_INJECT(cuDevicePrimaryCtxRelease, AFTER, (p->dev))
VS_INJECT(cuDevicePrimaryCtxRelease_v2, AFTER, (p->dev))
VS_INJECT(cuDevicePrimaryCtxReset, ENDING, (p->dev))
VS_INJECT(cuDevicePrimaryCtxReset_v2, ENDING, (p->dev))
VS_INJECT(cuCtxCreate, AFTER, (p->pctx, p->flags, p->dev))
VS_INJECT(cuCtxCreate_v2, AFTER, (p->pctx, p->flags, p->dev))
VS_INJECT(cuCtxCreate_v3, AFTER, (p->pctx, p->paramsArray, p->numParams, p->flags, p->dev))
#if CUDA_VERSION >= 12050
VS_INJECT(cuCtxCreate_v4, AFTER, (p->pctx, p->ctxCreateParams, p->flags, p->dev))
#endif
VS_INJECT(cuCtxDestroy, ENDING, (p->ctx))
VS_INJECT(cuCtxDestroy_v2, ENDING, (p->ctx))
VS_INJECT(cuCtxDetach, ENDING, (p->ctx))
VS_INJECT(cuStreamDestroy, BEFORE, (p->hStream))
VS_INJECT(cuStreamDestroy_v2, BEFORE, (p->hStream))
VS_INJECT(cuStreamBeginCapture, AFTER, (p->hStream))
VS_INJECT(cuStreamBeginCapture_ptsz, AFTER, (p->hStream))
VS_INJECT(cuStreamBeginCapture_v2, AFTER, (p->hStream, p->mode))
VS_INJECT(cuStreamBeginCapture_v2_ptsz, AFTER, (p->hStream, p->mode))
#if CUDA_VERSION >= 12030
VS_INJECT(cuStreamBeginCaptureToGraph, AFTER,
          (p->hStream, p->hGraph, p->dependencies, p->dependencyData, p->numDependencies, p->mode))
VS_INJECT(cuStreamBeginCaptureToGraph_ptsz, AFTER,
          (p->hStream, p->hGraph, p->dependencies, p->dependencyData, p->numDependencies, p->mode))
#endif
VS_INJECT(cuStreamEndCapture, AFTER, (p->hStream, p->phGraph))
VS_INJECT(cuStreamEndCapture_ptsz, AFTER, (p->hStream, p->phGraph))

/* --- graphs with memory --- */
VS_INJECT(cuGraphAddMemAllocNode, AFTER,
          (p->phGraphNode, p->hGraph, p->dependencies, p->numDependencies, p->nodeParams))
VS_INJECT(cuGraphAddMemFreeNode, AFTER,
          (p->phGraphNode, p->hGraph, p->dependencies, p->numDependencies, p->dptr))
VS_INJECT(cuGraphInstantiate, AFTER,
          (p->phGraphExec, p->hGraph, p->phErrorNode, p->logBuffer, p->bufferSize))
VS_INJECT(cuGraphInstantiate_v2, AFTER,
          (p->phGraphExec, p->hGraph, p->phErrorNode, p->logBuffer, p->bufferSize))
VS_INJECT(cuGraphInstantiateWithFlags, AFTER, (p->phGraphExec, p->hGraph, p->flags))
VS_INJECT(cuGraphExecUpdate, AFTER,
          (p->hGraphExec, p->hGraph, p->hErrorNode_out, p->updateResult_out))
#if CUDA_VERSION >= 12000
VS_INJECT(cuGraphInstantiateWithParams, AFTER, (p->phGraphExec, p->hGraph, p->instantiateParams))
VS_INJECT(cuGraphInstantiateWithParams_ptsz, AFTER,
          (p->phGraphExec, p->hGraph, p->instantiateParams))
VS_INJECT(cuGraphExecUpdate_v2, AFTER, (p->hGraphExec, p->hGraph, p->resultInfo))
#endif
#if CUDA_VERSION >= 12030
VS_INJECT(cuGraphAddNode, AFTER,
          (p->phGraphNode, p->hGraph, p->dependencies, p->numDependencies, p->nodeParams))
VS_INJECT(cuGraphAddNode_v2, AFTER,
          (p->phGraphNode, p->hGraph, p->dependencies, p->dependencyData, p->numDependencies,
           p->nodeParams))
#endif
VS_INJECT(cuGraphExecDestroy, BEFORE, (p->hGraphExec))
VS_INJECT(cuGraphLaunch, AFTER, (p->hGraph, p->hStream))
VS_INJECT(cuGraphLaunch_ptsz, AFTER, (p->hGraphExec, p->hStream))
VS_INJECT(cuGraphUpload, AFTER, (p->hGraph, p->hStream))
VS_INJECT(cuGraphUpload_ptsz, AFTER, (p->hGraphExec, p->hStream))
VS_INJECT(cuDeviceGraphMemTrim, AFTER, (p->device))
VS_INJECT(cuDeviceSetGraphMemAttribute, BEFORE, (p->device, p->attr, p->value))

/* --- arrays, physical memory and foreign memory --- */
VS_INJECT(cuArrayCreate_v2, AFTER, (p->pHandle, p->pAllocateArray))
VS_INJECT(cuArray3DCreate_v2, AFTER, (p->pHandle, p->pAllocateArray))
VS_INJECT(cuArrayDestroy, FREES, (p->hArray))
VS_INJECT(cuMipmappedArrayCreate, AFTER,
          (p->pHandle, p->pMipmappedArrayDesc, p->numMipmapLevels))
VS_INJECT(cuMipmappedArrayDestroy, FREES, (p->hMipmappedArray))
VS_INJECT(cuMemCreate, AFTER, (p->handle, p->size, p->prop, p->flags))
VS_INJECT(cuMemRelease, FREES, (p->handle))
VS_INJECT(cuMemMap, AFTER, (p->ptr, p->size, p->offset, p->handle, p->flags))
VS_INJECT(cuMemUnmap, AFTER, (p->ptr, p->size))
VS_INJECT(cuMemRetainAllocationHandle, AFTER, (p->handle, p->addr))
VS_INJECT(cuMemExportToShareableHandle, AFTER,
          (p->shareableHandle, p->handle, p->handleType, p->flags))
VS_INJECT(cuMemImportFromShareableHandle, AFTER, (p->handle, p->osHandle, p->shHandleType))
VS_INJECT(cuMemMapArrayAsync, AFTER, (p->mapInfoList, p->count, p->hStream))
VS_INJECT(cuMemMapArrayAsync_ptsz, AFTER, (p->mapInfoList, p->count, p->hStream))
VS_INJECT(cuIpcOpenMemHandle, AFTER, (p->pdptr, p->handle, p->Flags))
VS_INJECT(cuIpcOpenMemHandle_v2, AFTER, (p->pdptr, p->handle, p->Flags))
VS_INJECT(cuIpcCloseMemHandle, FREES, (p->dptr))
VS_INJECT(cuMemPoolImportPointer, AFTER, (p->ptr_out, p->pool, p->shareData))
VS_INJECT(cuExternalMemoryGetMappedBuffer, AFTER, (p->devPtr, p->extMem, p->bufferDesc))
VS_INJECT(cuExternalMemoryGetMappedMipmappedArray, AFTER, (p->mipmap, p->extMem, p->mipmapDesc))
VS_INJECT(cuGraphicsResourceGetMappedPointer_v2, AFTER, (p->pDevPtr, p->pSize, p->resource))
VS_INJECT(cuGraphicsUnmapResources, BEFORE, (p->count, p->resources, p->hStream))
VS_INJECT(cuGraphicsUnmapResources_ptsz, BEFORE, (p->count, p->resources, p->hStream))
VS_INJECT(cuGraphicsUnregisterResource, BEFORE, (p->resource))
#if CUDA_VERSION >= 12010
VS_INJECT(cuMulticastCreate, AFTER, (p->mcHandle, p->prop))
VS_INJECT(cuMulticastBindMem, AFTER,
          (p->mcHandle, p->mcOffset, p->memHandle, p->memOffset, p->size, p->flags))
VS_INJECT(cuMulticastBindAddr, AFTER, (p->mcHandle, p->mcOffset, p->memptr, p->size, p->flags))
VS_INJECT(cuMulticastUnbind, AFTER, (p->mcHandle, p->dev, p->mcOffset, p->size))
#endif

/* --- code, visible in the device's figures --- */
VS_INJECT(cuModuleLoad, AFTER, (p->module, p->fname))
VS_INJECT(cuModuleLoadData, AFTER, (p->module, p->image))
VS_INJECT(cuModuleLoadDataEx, AFTER,
          (p->module, p->image, p->numOptions, p->options, p->optionValues))
VS_INJECT(cuModuleLoadFatBinary, AFTER, (p->module, p->fatCubin))
VS_INJECT(cuModuleUnload, AFTER, (p->hmod))
