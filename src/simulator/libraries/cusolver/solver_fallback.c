/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of cuSOLVER that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/cusolver/vs_cusolver_api.h"

const struct vs_library vs_library = {"cuSOLVER", "cusolver", CUSOLVER_STATUS_NOT_SUPPORTED, "CUSOLVER_STATUS_NOT_SUPPORTED"};

VS_CUSOLVER_FUNCTIONS(VS_LIBRARY_FALLBACK)
