/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of cuSPARSE that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/cusparse/vs_cusparse_api.h"

const struct vs_library vs_library = {"cuSPARSE", "cusparse", CUSPARSE_STATUS_NOT_SUPPORTED, "CUSPARSE_STATUS_NOT_SUPPORTED"};

VS_CUSPARSE_FUNCTIONS(VS_LIBRARY_FALLBACK)
