/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of cuSPARSELt that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/cusparselt/vs_cusparselt_api.h"

/* cuSPARSELt uses cuSPARSE's status codes. */
enum { CUSPARSE_STATUS_NOT_SUPPORTED = 10 };

const struct vs_library vs_library = {"cuSPARSELt", "cusparselt", CUSPARSE_STATUS_NOT_SUPPORTED, "CUSPARSE_STATUS_NOT_SUPPORTED"};

VS_CUSPARSELT_FUNCTIONS(VS_LIBRARY_FALLBACK)
