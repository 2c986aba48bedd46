/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of NCCL that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/nccl/vs_nccl_api.h"

const struct vs_library vs_library = {"NCCL", "nccl", ncclInvalidUsage, "ncclInvalidUsage"};

VS_NCCL_FUNCTIONS(VS_LIBRARY_FALLBACK)
