/* SPDX-License-Identifier: Apache-2.0
 *
 * The version that a library reports. Frameworks choose code by it, so a run can name the versions
 * that the framework was built for: VRAMSCOPE_SIMULATE_LIBRARIES="cudnn=9.20.0,nccl=2.29.3". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <library_types.h>

#include "simulator/libraries/common/vs_library_base.h"

struct vs_library_version vs_library_version(struct vs_library_version newest)
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
    return newest;
}

bool vs_library_property(struct vs_library_version version, int type, int *value)
{
    if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL)
        return false;
    *value = type == MAJOR_VERSION ? version.major : type == MINOR_VERSION ? version.minor : version.patch;
    return true;
}
