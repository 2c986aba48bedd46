/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of nvrtc, written by scripts/library_tables.py from the
 * headers of nvrtc 12.4.127 (CUDA 12) and nvrtc 13.5.37 (CUDA 13). Do not edit.
 * VS_NVRTC_FUNCTIONS(F): F(releases, kind, result, name, parameters) for each function;
 * releases: 1 CUDA 12, 2 CUDA 13, 3 both; kind: STATUS, SIZE, TEXT, NUMBER, POINTER, NOTHING. */
#ifndef VS_NVRTC_API_H
#define VS_NVRTC_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_PROGRAM = 4,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    NVRTC_ERROR_INTERNAL_ERROR = 11,
};

#define NVRTC_INSTALL_HEADERS_FORCE_OVERWRITE 0x1
#define NVRTC_INSTALL_HEADERS_NO_WAIT 0x2
#define NVRTC_INSTALL_HEADERS_SKIP_IF_EXISTS 0x0

struct _nvrtcProgram;

typedef struct {
    int available;
    size_t compressedSize;
    size_t uncompressedSize;
    int cudaVersionMajor;
    int cudaVersionMinor;
    unsigned int numFiles;
} nvrtcBundledHeadersInfo;
_Static_assert(sizeof(nvrtcBundledHeadersInfo) == 40, "layout of nvrtcBundledHeadersInfo");


#define VS_NVRTC_FUNCTIONS(F) \
    F(3, STATUS, int, nvrtcAddNameExpression, (struct _nvrtcProgram *, const char *const)) \
    F(3, STATUS, int, nvrtcCompileProgram, (struct _nvrtcProgram *, int, const char *const *)) \
    F(3, STATUS, int, nvrtcCreateProgram, (struct _nvrtcProgram **, const char *, const char *, int, const char *const *, const char *const *)) \
    F(3, STATUS, int, nvrtcDestroyProgram, (struct _nvrtcProgram **)) \
    F(2, STATUS, int, nvrtcGetBundledHeadersInfo, (nvrtcBundledHeadersInfo *, const char **)) \
    F(3, STATUS, int, nvrtcGetCUBIN, (struct _nvrtcProgram *, char *)) \
    F(3, STATUS, int, nvrtcGetCUBINSize, (struct _nvrtcProgram *, unsigned long *)) \
    F(3, TEXT, const char *, nvrtcGetErrorString, (int)) \
    F(3, STATUS, int, nvrtcGetLTOIR, (struct _nvrtcProgram *, char *)) \
    F(3, STATUS, int, nvrtcGetLTOIRSize, (struct _nvrtcProgram *, unsigned long *)) \
    F(3, STATUS, int, nvrtcGetLoweredName, (struct _nvrtcProgram *, const char *const, const char **)) \
    F(1, STATUS, int, nvrtcGetNVVM, (struct _nvrtcProgram *, char *)) \
    F(1, STATUS, int, nvrtcGetNVVMSize, (struct _nvrtcProgram *, unsigned long *)) \
    F(3, STATUS, int, nvrtcGetNumSupportedArchs, (int *)) \
    F(3, STATUS, int, nvrtcGetOptiXIR, (struct _nvrtcProgram *, char *)) \
    F(3, STATUS, int, nvrtcGetOptiXIRSize, (struct _nvrtcProgram *, unsigned long *)) \
    F(2, STATUS, int, nvrtcGetPCHCreateStatus, (struct _nvrtcProgram *)) \
    F(2, STATUS, int, nvrtcGetPCHHeapSize, (unsigned long *)) \
    F(2, STATUS, int, nvrtcGetPCHHeapSizeRequired, (struct _nvrtcProgram *, unsigned long *)) \
    F(3, STATUS, int, nvrtcGetPTX, (struct _nvrtcProgram *, char *)) \
    F(3, STATUS, int, nvrtcGetPTXSize, (struct _nvrtcProgram *, unsigned long *)) \
    F(3, STATUS, int, nvrtcGetProgramLog, (struct _nvrtcProgram *, char *)) \
    F(3, STATUS, int, nvrtcGetProgramLogSize, (struct _nvrtcProgram *, unsigned long *)) \
    F(3, STATUS, int, nvrtcGetSupportedArchs, (int *)) \
    F(2, STATUS, int, nvrtcGetTileIR, (struct _nvrtcProgram *, char *)) \
    F(2, STATUS, int, nvrtcGetTileIRSize, (struct _nvrtcProgram *, unsigned long *)) \
    F(2, STATUS, int, nvrtcInstallBundledHeaders, (const char *, unsigned int, const char **)) \
    F(2, STATUS, int, nvrtcRemoveBundledHeaders, (const char *, const char **)) \
    F(2, STATUS, int, nvrtcSetFlowCallback, (struct _nvrtcProgram *, void *, void *)) \
    F(2, STATUS, int, nvrtcSetPCHHeapSize, (size_t)) \
    F(3, STATUS, int, nvrtcVersion, (int *, int *))

#endif
