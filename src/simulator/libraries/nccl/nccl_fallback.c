/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of NCCL that no other file here defines: "not supported". Those of nccl_device.h, for
 * kernels that communicate, are listed here, because that header is C++. */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/nccl/vs_nccl_api.h"

const struct vs_library vs_library = {"NCCL", "nccl", ncclInvalidUsage, "ncclInvalidUsage"};

VS_NCCL_FUNCTIONS(VS_LIBRARY_FALLBACK)

VS_LIBRARY_FALLBACK_STATUS(ncclDevCommCreate)
VS_LIBRARY_FALLBACK_STATUS(ncclDevCommDestroy)
VS_LIBRARY_FALLBACK_STATUS(ncclGetLsaDevicePointer)
VS_LIBRARY_FALLBACK_STATUS(ncclGetLsaMultimemDevicePointer)
VS_LIBRARY_FALLBACK_STATUS(ncclGetMultimemDevicePointer)
VS_LIBRARY_FALLBACK_STATUS(ncclGetPeerDevicePointer)
