/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/command.h"

struct dirent *vs_tool_entry(DIR **folder)
{
    struct dirent *entry = *folder ? readdir(*folder) : NULL;
    if (*folder && !entry) {
        closedir(*folder);
        *folder = NULL;
    }
    return entry;
}
