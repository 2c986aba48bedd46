/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the version of the vramscope it was linked with. */
#include <stdio.h>
#include <vramscope.h>

int main(void)
{
    puts(vramscope_version());
    return 0;
}
