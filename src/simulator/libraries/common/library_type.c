/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes of cudaDataType, which several libraries take. */
#include <library_types.h>

#include "simulator/libraries/common/vs_library_base.h"

int vs_library_bits(int type)
{
    switch (type) {
    case CUDA_R_64F: case CUDA_C_32F: case CUDA_C_32I: case CUDA_C_32U: case CUDA_R_64I:
    case CUDA_R_64U: return 64;
    case CUDA_C_64F: case CUDA_C_64I: case CUDA_C_64U: return 128;
    case CUDA_R_32F: case CUDA_R_32I: case CUDA_R_32U: case CUDA_C_16F: case CUDA_C_16BF:
    case CUDA_C_16I: case CUDA_C_16U: return 32;
    case CUDA_R_16F: case CUDA_R_16BF: case CUDA_R_16I: case CUDA_R_16U: case CUDA_C_8I:
    case CUDA_C_8U: return 16;
    case CUDA_R_4I: case CUDA_R_4U: return 4;
    case CUDA_R_8I: case CUDA_R_8U: case CUDA_C_4I: case CUDA_C_4U: return 8;
    case 28: case 29: case 30: return 8; /* CUDA_R_8F_E4M3, E5M2, UE8M0: not in every CUDA 12 */
    case 31: case 32: return 6;          /* CUDA_R_6F_E2M3, E3M2 */
    case 33: return 4;                   /* CUDA_R_4F_E2M1 */
    default: return 0;
    }
}

