/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VS_JPEG_H
#define VS_JPEG_H

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/nvjpeg/vs_nvjpeg_api.h"

VS_NVJPEG_FUNCTIONS(VS_LIBRARY_DECLARE)

#endif
