/* SPDX-License-Identifier: Apache-2.0
 *
 * Two devices: peer access between their contexts, and copies, which do not need it. */
#include "conf.h"

static CUcontext one, two;

static void have_peers(void)
{
    int can = 0, count = conf_device_count();
    NEED(count >= 2, "fewer than two devices");
    DO(cuDeviceCanAccessPeer(&can, 0, 1));
    NEED(can, "devices 0 and 1 are no peers");
    DO(cuDevicePrimaryCtxRetain(&one, 0));
    DO(cuDevicePrimaryCtxRetain(&two, 1));
    DO(cuCtxSetCurrent(one));
}

static void done(void)
{
    DO(cuDevicePrimaryCtxRelease(0));
    DO(cuDevicePrimaryCtxRelease(1));
}

TEST(questions_about_no_pair_are_refused)
{
    int can = 1, value = 0;
    RETURNS(cuDeviceCanAccessPeer(&can, 0, 999), CUDA_ERROR_INVALID_DEVICE);
    FACT_EQ(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
            CUDA_ERROR_INVALID_DEVICE, "both devices represent the same device");
}

TEST(access_is_enabled_once)
{
    have_peers();
    FACT_EQ(GOT(int, cuDeviceGetP2PAttribute(&got, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1)),
            1, "cuDeviceGetP2PAttribute: ACCESS_SUPPORTED");
    FACT_EQ(cuCtxDisablePeerAccess(two), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "not enabled");
    INVALID(cuCtxEnablePeerAccess(two, 1), "Flags must be 0");
    FACT_EQ(cuCtxEnablePeerAccess(one, 0), CUDA_ERROR_INVALID_CONTEXT,
            "the current context is peerContext");
    DO(cuCtxEnablePeerAccess(two, 0));
    FACT_EQ(cuCtxEnablePeerAccess(two, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
            "already been enabled");
    DO(cuCtxSetCurrent(two));
    FACT_EQ(cuCtxDisablePeerAccess(one), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
            "cuCtxEnablePeerAccess: access is unidirectional");
    DO(cuCtxSetCurrent(one));
    DO(cuCtxDisablePeerAccess(two));
    FACT_EQ(cuCtxDisablePeerAccess(two), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "not enabled");
    done();
}

TEST(copies_need_no_access)
{
    unsigned char in[4096], out[4096] = {0};
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 31);
    have_peers();
    CUdeviceptr p = conf_alloc(sizeof in);
    DO(cuMemcpyHtoD(p, in, sizeof in));
    DO(cuCtxSetCurrent(two));
    CUdeviceptr q = conf_alloc(sizeof in);
    FACT_EQ(GOT(int, cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, q)), 1,
            "CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL");
    DO(cuMemcpyPeer(q, two, p, one, sizeof in));
    DO(cuMemcpyDtoH(out, q, sizeof out));
    FACT(!memcmp(in, out, sizeof in), "cuMemcpyPeer: copies between contexts");
    DO(cuMemsetD8(q, 0, sizeof in));
    WORKS(cuMemcpy(q, p, sizeof in),
          "guide, unified virtual address space: copies between devices");
    DO(cuMemcpyDtoH(out, q, sizeof out));
    FACT(!memcmp(in, out, sizeof in),
         "guide, unified virtual address space: copies between devices");
    DO(cuMemFree(q));
    DO(cuMemFree(p));
    done();
}

TEST(the_runtime_says_the_same)
{
    int count, can = 0;
    DO(cudaGetDeviceCount(&count));
    NEED(count >= 2, "fewer than two devices");
    DO(cudaDeviceCanAccessPeer(&can, 0, 1));
    NEED(can, "devices 0 and 1 are no peers");
    DO(cudaSetDevice(0));
    FACT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled, "not enabled");
    DO(cudaDeviceEnablePeerAccess(1, 0));
    FACT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled, "already enabled");
    DO(cudaDeviceDisablePeerAccess(1));
    cudaGetLastError();
}
