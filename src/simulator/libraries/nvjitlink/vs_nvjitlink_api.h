/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of nvjitlink, written by scripts/library_tables.py from the
 * headers of nvjitlink 12.4.127 (CUDA 12) and nvjitlink 13.5.37 (CUDA 13). Do not edit.
 * VS_NVJITLINK_FUNCTIONS(F): F(result, name, parameters) for each function that a C file defines. */
#ifndef VS_NVJITLINK_API_H
#define VS_NVJITLINK_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    NVJITLINK_SUCCESS = 0, NVJITLINK_ERROR_MISSING_ARCH = 2, NVJITLINK_ERROR_INVALID_INPUT = 3,
    NVJITLINK_ERROR_INTERNAL = 6,
};

struct nvJitLink;

#define VS_NVJITLINK_FUNCTIONS(F) \
    F(int, __nvJitLinkAddData_12_4, (struct nvJitLink *, int, const void *, size_t, const char *)) \
    F(int, __nvJitLinkAddData_13_5, (struct nvJitLink *, int, const void *, size_t, const char *)) \
    F(int, __nvJitLinkAddFile_12_4, (struct nvJitLink *, int, const char *)) \
    F(int, __nvJitLinkAddFile_13_5, (struct nvJitLink *, int, const char *)) \
    F(int, __nvJitLinkComplete_12_4, (struct nvJitLink *)) \
    F(int, __nvJitLinkComplete_13_5, (struct nvJitLink *)) \
    F(int, __nvJitLinkCreate_12_4, (struct nvJitLink **, uint32_t, const char **)) \
    F(int, __nvJitLinkCreate_13_5, (struct nvJitLink **, uint32_t, const char *const *)) \
    F(int, __nvJitLinkDestroy_12_4, (struct nvJitLink **)) \
    F(int, __nvJitLinkDestroy_13_5, (struct nvJitLink **)) \
    F(int, __nvJitLinkGetErrorLogSize_12_4, (struct nvJitLink *, unsigned long *)) \
    F(int, __nvJitLinkGetErrorLogSize_13_5, (struct nvJitLink *, unsigned long *)) \
    F(int, __nvJitLinkGetErrorLog_12_4, (struct nvJitLink *, char *)) \
    F(int, __nvJitLinkGetErrorLog_13_5, (struct nvJitLink *, char *)) \
    F(int, __nvJitLinkGetInfoLogSize_12_4, (struct nvJitLink *, unsigned long *)) \
    F(int, __nvJitLinkGetInfoLogSize_13_5, (struct nvJitLink *, unsigned long *)) \
    F(int, __nvJitLinkGetInfoLog_12_4, (struct nvJitLink *, char *)) \
    F(int, __nvJitLinkGetInfoLog_13_5, (struct nvJitLink *, char *)) \
    F(int, __nvJitLinkGetLinkedCubinSize_12_4, (struct nvJitLink *, unsigned long *)) \
    F(int, __nvJitLinkGetLinkedCubinSize_13_5, (struct nvJitLink *, unsigned long *)) \
    F(int, __nvJitLinkGetLinkedCubin_12_4, (struct nvJitLink *, void *)) \
    F(int, __nvJitLinkGetLinkedCubin_13_5, (struct nvJitLink *, void *)) \
    F(int, nvJitLinkVersion, (unsigned int *, unsigned int *))

#endif
