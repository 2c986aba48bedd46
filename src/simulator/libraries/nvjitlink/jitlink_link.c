/* SPDX-License-Identifier: Apache-2.0
 *
 * nvJitLink: links device code while a program runs. Every minor release has symbols of its own
 * name (nvJitLink.h adds the release to each). The linked image is a header for the architecture of
 * the options, in which the simulated driver finds every kernel's name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/nvjitlink/vs_jitlink.h"

#define LINK 1

struct nvJitLink {
    int arch;
    bool linked;
    size_t inputs;
    char *ptx; /* of all inputs, or NULL */
};

int vs_jitlink_create(struct nvJitLink **handle, const struct vs_jitlink_call *c)
{
    int arch = 0;
    if (!handle || (c->count && !c->options))
        return NVJITLINK_ERROR_INVALID_INPUT;
    for (uint32_t i = 0; i < c->count; i++) {
        const char *found = c->options[i] ? strstr(c->options[i], "-arch=") : NULL;
        const char *number = found ? strchr(found, '_') : NULL;
        if (number)
            arch = atoi(number + 1);
    }
    if (!arch)
        return NVJITLINK_ERROR_MISSING_ARCH;
    *handle = vs_library_new(LINK, sizeof **handle);
    (*handle)->arch = arch;
    return NVJITLINK_SUCCESS;
}

int vs_jitlink_destroy(struct nvJitLink **handle, const struct vs_jitlink_call *c)
{
    if (!handle || !vs_library_object(*handle, LINK))
        return NVJITLINK_ERROR_INVALID_INPUT;
    free((*handle)->ptx);
    vs_library_delete(*handle, LINK);
    *handle = NULL;
    return NVJITLINK_SUCCESS;
}

int vs_jitlink_add(struct nvJitLink *handle, const struct vs_jitlink_call *c)
{
    FILE *file = c->is_file && c->path ? fopen(c->path, "rb") : NULL;
    bool given = c->is_file ? file != NULL : c->data != NULL;
    bool valid = vs_library_object(handle, LINK) && given && !handle->linked;
    if (valid && c->type == NVJITLINK_INPUT_PTX) {
        char *text = NULL;
        size_t bytes;
        FILE *all = vs_sim_need(open_memstream(&text, &bytes));
        fprintf(all, "%s\n", handle->ptx ? handle->ptx : "");
        if (!file)
            fprintf(all, "%.*s", (int)c->bytes, (const char *)c->data);
        for (int byte; file && (byte = fgetc(file)) > 0;)
            fputc(byte, all);
        fclose(all);
        free(handle->ptx);
        handle->ptx = vs_sim_need(text);
    }
    if (file)
        fclose(file);
    handle->inputs += valid;
    return valid ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INVALID_INPUT;
}

int vs_jitlink_complete(struct nvJitLink *handle, const struct vs_jitlink_call *c)
{
    if (!vs_library_object(handle, LINK) || !handle->inputs)
        return NVJITLINK_ERROR_INVALID_INPUT;
    handle->linked = true;
    return NVJITLINK_SUCCESS;
}

int vs_jitlink_get(struct nvJitLink *handle, const struct vs_jitlink_call *c)
{
    if (!vs_library_object(handle, LINK) || (c->is_image && !handle->linked) || (!c->size && !c->to))
        return NVJITLINK_ERROR_INVALID_INPUT;
    if (c->size)
        *c->size = c->is_image ? vs_library_cubin_bytes(handle->ptx) : 1;
    else if (c->is_image)
        vs_library_cubin(handle->arch, handle->ptx, c->to);
    else
        *c->to = 0;
    return NVJITLINK_SUCCESS;
}

int nvJitLinkVersion(unsigned int *major, unsigned int *minor)
{
    struct vs_library_version v = vs_library_version();
    if (!major || !minor)
        return NVJITLINK_ERROR_INVALID_INPUT;
    *major = (unsigned)v.major;
    *minor = (unsigned)v.minor;
    return NVJITLINK_SUCCESS;
}
