/* SPDX-License-Identifier: Apache-2.0
 *
 * A program linked statically, libc and all: nothing can be preloaded into it. */
#include <stdio.h>

int main(void)
{
    puts("no loader");
    return 3;
}
