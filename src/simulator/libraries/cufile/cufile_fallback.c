/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of cuFile that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/cufile/vs_cufile_api.h"

const struct vs_library vs_library = {"cuFile", "cufile", CU_FILE_PLATFORM_NOT_SUPPORTED, "CU_FILE_PLATFORM_NOT_SUPPORTED"};

VS_CUFILE_FUNCTIONS(VS_LIBRARY_FALLBACK)
