/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of nvJitLink that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/nvjitlink/vs_nvjitlink_api.h"

const struct vs_library vs_library = {"nvJitLink", "nvjitlink", NVJITLINK_ERROR_INTERNAL, "NVJITLINK_ERROR_INTERNAL"};

VS_NVJITLINK_FUNCTIONS(VS_LIBRARY_FALLBACK)
