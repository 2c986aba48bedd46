/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks that are replayed when calls are only reported (inject.c):
 * VS_INJECT(symbol, when, arguments), *p* being CUPTI's parameters of the call.
 * BEFORE: run as the call begins, since afterwards another thread may own what it
 * gives up; taken back when the driver refuses. AFTER: run with the call's results.
 * Hooks that only answer for the cache, or wait for it, have no line here. No include
 * guard: included with VS_INJECT defined by each user. */

/* --- device memory --- */
VS_INJECT(cuMemAlloc_v2, AFTER, (p->dptr, p->bytesize))
VS_INJECT(cuMemAllocPitch_v2, AFTER,
          (p->dptr, p->pPitch, p->WidthInBytes, p->Height, p->ElementSizeBytes))
VS_INJECT(cuMemAllocManaged, AFTER, (p->dptr, p->bytesize, p->flags))
VS_INJECT(cuMemFree_v2, BEFORE, (p->dptr))

/* --- stream-ordered memory --- */
VS_INJECT(cuMemAllocAsync, AFTER, (p->dptr, p->bytesize, p->hStream))
VS_INJECT(cuMemAllocAsync_ptsz, AFTER, (p->dptr, p->bytesize, p->hStream))
VS_INJECT(cuMemAllocFromPoolAsync, AFTER, (p->dptr, p->bytesize, p->pool, p->hStream))
VS_INJECT(cuMemAllocFromPoolAsync_ptsz, AFTER, (p->dptr, p->bytesize, p->pool, p->hStream))
VS_INJECT(cuMemFreeAsync, BEFORE, (p->dptr, p->hStream))
VS_INJECT(cuMemFreeAsync_ptsz, BEFORE, (p->dptr, p->hStream))

/* --- page-locked host memory --- */
VS_INJECT(cuMemAllocHost_v2, AFTER, (p->pp, p->bytesize))
VS_INJECT(cuMemHostAlloc, AFTER, (p->pp, p->bytesize, p->Flags))
VS_INJECT(cuMemHostRegister_v2, AFTER, (p->p, p->bytesize, p->Flags))
VS_INJECT(cuMemFreeHost, BEFORE, (p->p))
VS_INJECT(cuMemHostUnregister, BEFORE, (p->p))

/* --- contexts and captures --- */
VS_INJECT(cuDevicePrimaryCtxRetain, AFTER, (p->pctx, p->dev))
VS_INJECT(cuDevicePrimaryCtxRelease, AFTER, (p->dev))
VS_INJECT(cuDevicePrimaryCtxRelease_v2, AFTER, (p->dev))
VS_INJECT(cuDevicePrimaryCtxReset, AFTER, (p->dev))
VS_INJECT(cuDevicePrimaryCtxReset_v2, AFTER, (p->dev))
VS_INJECT(cuCtxCreate_v2, AFTER, (p->pctx, p->flags, p->dev))
VS_INJECT(cuCtxCreate_v3, AFTER, (p->pctx, p->paramsArray, p->numParams, p->flags, p->dev))
#if CUDA_VERSION >= 12050
VS_INJECT(cuCtxCreate_v4, AFTER, (p->pctx, p->ctxCreateParams, p->flags, p->dev))
#endif
VS_INJECT(cuCtxDestroy_v2, AFTER, (p->ctx))
VS_INJECT(cuStreamDestroy_v2, BEFORE, (p->hStream))
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
