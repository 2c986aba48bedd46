/* SPDX-License-Identifier: Apache-2.0
 *
 * The live view of a build without ncurses. */
#include "tools/common/command.h"
#include "tools/top/top_command.h"

int vs_top_live(const char *who, struct vs_top_sources *sources)
{
    (void)sources;
    return vs_tool_fail(who, "this vramscope was built without ncurses; use --once, or install libncurses-dev "
                        "(Debian) or ncurses-devel (Fedora) and build it again");
}
