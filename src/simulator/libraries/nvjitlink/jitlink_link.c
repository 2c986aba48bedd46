/* SPDX-License-Identifier: Apache-2.0
 *
 * nvJitLink: links device code while a program runs. Every minor release has symbols of its own
 * name (nvJitLink.h adds the release to each). The linked image is a header for the architecture of
 * the options, in which the simulated driver finds every kernel's name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/nvjitlink/vs_nvjitlink_api.h"

#define LINK 1

struct nvJitLink {
    int arch;
    bool linked;
    size_t inputs;
};

static int create(struct nvJitLink **handle, uint32_t count, const char *const *options)
{
    int arch = 0;
    if (!handle || (count && !options))
        return NVJITLINK_ERROR_INVALID_INPUT;
    for (uint32_t i = 0; i < count; i++) {
        const char *found = options[i] ? strstr(options[i], "-arch=") : NULL;
        const char *number = found ? strchr(found, '_') : NULL;
        if (number)
            arch = atoi(number + 1);
    }
    if (!arch)
        return NVJITLINK_ERROR_MISSING_ARCH;
    *handle = vs_library_new(LINK, sizeof **handle);
    if (!*handle)
        return NVJITLINK_ERROR_INTERNAL;
    (*handle)->arch = arch;
    return NVJITLINK_SUCCESS;
}

static int destroy(struct nvJitLink **handle)
{
    if (!handle || !vs_library_delete(*handle, LINK))
        return NVJITLINK_ERROR_INVALID_INPUT;
    *handle = NULL;
    return NVJITLINK_SUCCESS;
}

static int add(struct nvJitLink *handle, const void *data)
{
    if (!vs_library_object(handle, LINK) || !data || handle->linked)
        return NVJITLINK_ERROR_INVALID_INPUT;
    handle->inputs++;
    return NVJITLINK_SUCCESS;
}

static int add_file(struct nvJitLink *handle, const char *path)
{
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file)
        return NVJITLINK_ERROR_INVALID_INPUT;
    fclose(file);
    return add(handle, path);
}

static int complete(struct nvJitLink *handle)
{
    if (!vs_library_object(handle, LINK) || !handle->inputs)
        return NVJITLINK_ERROR_INVALID_INPUT;
    handle->linked = true;
    return NVJITLINK_SUCCESS;
}

static int cubin_size(struct nvJitLink *handle, unsigned long *bytes)
{
    if (!vs_library_object(handle, LINK) || !handle->linked || !bytes)
        return NVJITLINK_ERROR_INVALID_INPUT;
    *bytes = vs_library_cubin_bytes();
    return NVJITLINK_SUCCESS;
}

static int cubin(struct nvJitLink *handle, void *to)
{
    if (!vs_library_object(handle, LINK) || !handle->linked || !to)
        return NVJITLINK_ERROR_INVALID_INPUT;
    vs_library_cubin(handle->arch, to);
    return NVJITLINK_SUCCESS;
}

/* The logs are empty texts. */
static int log_size(struct nvJitLink *handle, unsigned long *bytes)
{
    if (!vs_library_object(handle, LINK) || !bytes)
        return NVJITLINK_ERROR_INVALID_INPUT;
    *bytes = 1;
    return NVJITLINK_SUCCESS;
}

static int log_text(struct nvJitLink *handle, char *to)
{
    if (!vs_library_object(handle, LINK) || !to)
        return NVJITLINK_ERROR_INVALID_INPUT;
    *to = 0;
    return NVJITLINK_SUCCESS;
}

/* The symbols of one release. */
#define SYMBOL(result, name, parameters, call)                                                     \
    VS_LIBRARY_EXPORT result name parameters;                                                      \
    result name parameters { return call; }
#define RELEASE(v)                                                                                 \
    SYMBOL(int, __nvJitLinkCreate_##v,                                                             \
           (struct nvJitLink * *handle, uint32_t count, const char *const *options),               \
           create(handle, count, options))                                                         \
    SYMBOL(int, __nvJitLinkDestroy_##v, (struct nvJitLink * *handle), destroy(handle))             \
    SYMBOL(int, __nvJitLinkAddData_##v,                                                            \
           (struct nvJitLink * handle, int type, const void *data, size_t bytes, const char *name), \
           ((void)type, (void)bytes, (void)name, add(handle, data)))                               \
    SYMBOL(int, __nvJitLinkAddFile_##v, (struct nvJitLink * handle, int type, const char *path),   \
           ((void)type, add_file(handle, path)))                                                   \
    SYMBOL(int, __nvJitLinkComplete_##v, (struct nvJitLink * handle), complete(handle))            \
    SYMBOL(int, __nvJitLinkGetLinkedCubinSize_##v,                                                 \
           (struct nvJitLink * handle, unsigned long *bytes), cubin_size(handle, bytes))           \
    SYMBOL(int, __nvJitLinkGetLinkedCubin_##v, (struct nvJitLink * handle, void *to),              \
           cubin(handle, to))                                                                      \
    SYMBOL(int, __nvJitLinkGetErrorLogSize_##v, (struct nvJitLink * handle, unsigned long *bytes), \
           log_size(handle, bytes))                                                                \
    SYMBOL(int, __nvJitLinkGetErrorLog_##v, (struct nvJitLink * handle, char *to),                 \
           log_text(handle, to))                                                                   \
    SYMBOL(int, __nvJitLinkGetInfoLogSize_##v, (struct nvJitLink * handle, unsigned long *bytes),  \
           log_size(handle, bytes))                                                                \
    SYMBOL(int, __nvJitLinkGetInfoLog_##v, (struct nvJitLink * handle, char *to),                  \
           log_text(handle, to))
RELEASE(12_0)
RELEASE(12_1)
RELEASE(12_2)
RELEASE(12_3)
RELEASE(12_4)
RELEASE(12_5)
RELEASE(12_6)
RELEASE(12_7)
RELEASE(12_8)
RELEASE(12_9)
RELEASE(13_0)
RELEASE(13_1)
RELEASE(13_2)
RELEASE(13_3)
RELEASE(13_4)
RELEASE(13_5)

VS_LIBRARY_EXPORT int nvJitLinkVersion(unsigned int *major, unsigned int *minor);
int nvJitLinkVersion(unsigned int *major, unsigned int *minor)
{
    if (!major || !minor)
        return NVJITLINK_ERROR_INVALID_INPUT;
    bool older = vs_library_cuda_major() == 12;
    struct vs_library_version v =
        vs_library_version((struct vs_library_version){older ? 12 : 13, older ? 9 : 0, 0});
    *major = (unsigned)v.major;
    *minor = (unsigned)v.minor;
    return NVJITLINK_SUCCESS;
}
