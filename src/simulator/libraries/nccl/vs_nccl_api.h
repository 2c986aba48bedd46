/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and structures of nccl, written by scripts/library_tables.py from the
 * headers of nccl 2.21.5 (CUDA 12) and nccl 2.32.3 (CUDA 13). Do not edit. */
#ifndef VS_NCCL_API_H
#define VS_NCCL_API_H

#include "generated/vs_nccl_rows.h" /* VS_NCCL_FUNCTIONS */

enum {
    ncclSuccess = 0, ncclUnhandledCudaError = 1, ncclSystemError = 2, ncclInternalError = 3,
    ncclInvalidArgument = 4, ncclInvalidUsage = 5, ncclRemoteError = 6, ncclInProgress = 7,
    ncclNumResults = 9, ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4,
    ncclNumOps = 5, ncclInt8 = 0, ncclUint8 = 1, ncclInt32 = 2, ncclUint32 = 3, ncclInt64 = 4,
    ncclUint64 = 5, ncclFloat16 = 6, ncclFloat32 = 7, ncclFloat64 = 8, ncclNumTypes = 12,
    ncclScalarDevice = 0, ncclScalarHostImmediate = 1, ncclTimeout = 8, ncclStatGpuMemSuspend = 0,
    ncclStatGpuMemSuspended = 1, ncclStatGpuMemPersist = 2, ncclStatGpuMemTotal = 3,
    ncclBfloat16 = 9, ncclFloat8e4m3 = 10, ncclFloat8e5m2 = 11,
};

#define NCCL_API_MAGIC 0xcafebeef
#define NCCL_MAJOR 2
#define NCCL_MINOR 32
#define NCCL_PATCH 3
#define NCCL_REVOKE_DEFAULT 0x00
#define NCCL_SHRINK_ABORT 0x01
#define NCCL_SHRINK_DEFAULT 0x00
#define NCCL_SUSPEND_MEM 0x01
#define NCCL_VERSION_CODE 23203

typedef struct {
    char internal[128];
} ncclUniqueId;
_Static_assert(sizeof(ncclUniqueId) == 128, "layout of ncclUniqueId");

struct ncclConfig_v23100 {
    size_t size;
    unsigned int magic;
    unsigned int version;
    int blocking;
    int cgaClusterSize;
    int minCTAs;
    int maxCTAs;
    const char *netName;
    int splitShare;
    int trafficClass;
    const char *commName;
    int collnetEnable;
    int CTAPolicy;
    int shrinkShare;
    int nvlsCTAs;
    int nChannelsPerNetPeer;
    int nvlinkCentricSched;
    int graphUsageMode;
    int numRmaCtx;
    int maxP2pPeers;
    int graphStreamOrdering;
    int launchOrderImplicit;
    int numRmaSig;
    int rmaEagerInit;
    int hostCftMode;
    int nvlsHostMode;
};
_Static_assert(sizeof(struct ncclConfig_v23100) == 120, "layout of ncclConfig_v23100");

struct ncclSimInfo_v22200 {
    size_t size;
    unsigned int magic;
    unsigned int version;
    float estimatedTime;
};
_Static_assert(sizeof(struct ncclSimInfo_v22200) == 24, "layout of ncclSimInfo_v22200");

typedef struct ncclConfig_v23100 ncclConfig_t;
typedef struct ncclSimInfo_v22200 ncclSimInfo_t;

#endif
