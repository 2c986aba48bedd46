/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of cuDNN that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/cudnn/vs_cudnn_api.h"

const struct vs_library vs_library = {"cuDNN", "cudnn", CUDNN_STATUS_NOT_SUPPORTED, "CUDNN_STATUS_NOT_SUPPORTED"};

VS_CUDNN_FUNCTIONS(VS_LIBRARY_FALLBACK)
