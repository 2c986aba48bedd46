/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes of streams and kernel nodes in the runtime: names and values are the
 * driver's. */
#include "simulator/runtime/vs_sim_runtime.h"

_Static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUlaunchAttributeValue),
               "passed through");
_Static_assert((int)cudaLaunchAttributeNvlinkUtilCentricScheduling ==
                   (int)CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
               "passed through");

typedef CUlaunchAttributeValue V;

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                            cudaLaunchAttributeValue *value_out)
{
    VS_RT_CALL(vs_rt.GraphKernelNodeGetAttribute(hNode, (CUlaunchAttributeID)attr, (V *)value_out));
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                            const cudaLaunchAttributeValue *value)
{
    VS_RT_CALL(vs_rt.GraphKernelNodeSetAttribute(hNode, (CUlaunchAttributeID)attr,
                                                 (const V *)value));
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc)
{
    VS_RT_CALL(vs_rt.GraphKernelNodeCopyAttributes(hDst, hSrc));
}

cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                   cudaLaunchAttributeValue *value_out)
{
    VS_RT_CALL(vs_rt.StreamGetAttribute(hStream, (CUlaunchAttributeID)attr, (V *)value_out));
}

cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                   const cudaLaunchAttributeValue *value)
{
    VS_RT_CALL(vs_rt.StreamSetAttribute(hStream, (CUlaunchAttributeID)attr, (const V *)value));
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)
{
    VS_RT_CALL(vs_rt.StreamCopyAttributes(dst, src));
}
