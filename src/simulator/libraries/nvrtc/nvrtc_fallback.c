/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of NVRTC that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/nvrtc/vs_nvrtc_api.h"

const struct vs_library vs_library = {"NVRTC", "nvrtc", NVRTC_ERROR_INVALID_OPTION, "NVRTC_ERROR_INVALID_OPTION"};

VS_NVRTC_FUNCTIONS(VS_LIBRARY_FALLBACK)
