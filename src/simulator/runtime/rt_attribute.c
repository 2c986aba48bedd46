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

#define CALL(call)                                      \
    do {                                                \
        cudaError_t e = vs_rt_enter_context();          \
        return vs_rt_result(e ? e : vs_rt_error(call)); \
    } while (0)

typedef CUlaunchAttributeValue V;

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                            cudaLaunchAttributeValue *value_out)
{
    CALL(vs_rt.GraphKernelNodeGetAttribute(hNode, (CUlaunchAttributeID)attr, (V *)value_out));
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                            const cudaLaunchAttributeValue *value)
{
    CALL(vs_rt.GraphKernelNodeSetAttribute(hNode, (CUlaunchAttributeID)attr, (const V *)value));
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc)
{
    CALL(vs_rt.GraphKernelNodeCopyAttributes(hDst, hSrc));
}

#define FORMS(suffix, per_thread)                                                              \
    cudaError_t cudaStreamGetAttribute##suffix(cudaStream_t hStream, cudaLaunchAttributeID attr, \
                                               cudaLaunchAttributeValue *value_out)            \
    {                                                                                          \
        CALL(vs_rt.StreamGetAttribute(vs_rt_stream(hStream, per_thread),                       \
                                      (CUlaunchAttributeID)attr, (V *)value_out));             \
    }                                                                                          \
    cudaError_t cudaStreamSetAttribute##suffix(cudaStream_t hStream, cudaLaunchAttributeID attr, \
                                               const cudaLaunchAttributeValue *value)          \
    {                                                                                          \
        CALL(vs_rt.StreamSetAttribute(vs_rt_stream(hStream, per_thread),                       \
                                      (CUlaunchAttributeID)attr, (const V *)value));           \
    }                                                                                          \
    cudaError_t cudaStreamCopyAttributes##suffix(cudaStream_t dst, cudaStream_t src)           \
    {                                                                                          \
        CALL(vs_rt.StreamCopyAttributes(vs_rt_stream(dst, per_thread),                         \
                                        vs_rt_stream(src, per_thread)));                       \
    }

FORMS(, false)
FORMS(_ptsz, true)
