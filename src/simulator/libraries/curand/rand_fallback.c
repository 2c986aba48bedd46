/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of cuRAND that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/curand/vs_curand_api.h"

const struct vs_library vs_library = {"cuRAND", "curand", CURAND_STATUS_TYPE_ERROR, "CURAND_STATUS_TYPE_ERROR"};

VS_CURAND_FUNCTIONS(VS_LIBRARY_FALLBACK)
