/* SPDX-License-Identifier: Apache-2.0
 *
 * The version that a library reports. Frameworks choose code by it, so a run can name the versions
 * that the framework was built for: VRAMSCOPE_SIMULATE_LIBRARIES="cudnn=9.20.0,nccl=2.29.3". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <library_types.h>

#include "simulator/libraries/common/vs_library_base.h"

struct vs_library_version vs_library_version(void)
{
    const char *text = getenv("VRAMSCOPE_SIMULATE_LIBRARIES");
    size_t length = strlen(vs_library.package);
    while (text && *text) {
        struct vs_library_version v = {0, 0, 0};
        if (!strncmp(text, vs_library.package, length) && text[length] == '=' &&
            sscanf(text + length + 1, "%d.%d.%d", &v.major, &v.minor, &v.patch) >= 2)
            return v;
        text = strchr(text, ',');
        text += text != NULL;
    }
    return vs_library_cuda_major() == 12 ? vs_library.newest_of_12 : vs_library.newest;
}

int vs_library_get_version(int *to, int major_scale, int minor_scale)
{
    struct vs_library_version v = vs_library_version();
    if (to)
        *to = v.major * major_scale + v.minor * minor_scale + v.patch;
    return to ? 0 : vs_library.wrong;
}

int vs_library_get_property(int type, int *to)
{
    struct vs_library_version v = vs_library_version();
    if (!to || type < MAJOR_VERSION || type > PATCH_LEVEL)
        return vs_library.wrong;
    *to = type == MAJOR_VERSION ? v.major : type == MINOR_VERSION ? v.minor : v.patch;
    return 0;
}
