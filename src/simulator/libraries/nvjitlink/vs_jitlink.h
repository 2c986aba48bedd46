/* SPDX-License-Identifier: Apache-2.0
 *
 * What a row of nvjitlink.calls hands to its runner. */
#ifndef VS_JITLINK_H
#define VS_JITLINK_H

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/nvjitlink/vs_nvjitlink_api.h"

VS_NVJITLINK_FUNCTIONS(VS_LIBRARY_DECLARE)

struct vs_jitlink_call {
    uint32_t count;
    const char *const *options;
    int type;
    const void *data;
    size_t bytes;
    const char *path;
    bool is_file;
    bool is_image; /* the linked image, or else a log, which is an empty text */
    unsigned long *size;
    char *to;
};
int vs_jitlink_create(struct nvJitLink **handle, const struct vs_jitlink_call *call);
int vs_jitlink_destroy(struct nvJitLink **handle, const struct vs_jitlink_call *call);
int vs_jitlink_add(struct nvJitLink *handle, const struct vs_jitlink_call *call);
int vs_jitlink_complete(struct nvJitLink *handle, const struct vs_jitlink_call *call);
int vs_jitlink_get(struct nvJitLink *handle, const struct vs_jitlink_call *call);

#endif
