/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of cuFFT that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/cufft/vs_cufft_api.h"

const struct vs_library vs_library = {"cuFFT", "cufft", CUFFT_NOT_SUPPORTED, "CUFFT_NOT_SUPPORTED"};

VS_CUFFT_FUNCTIONS(VS_LIBRARY_FALLBACK)
