/* SPDX-License-Identifier: Apache-2.0
 *
 * A program linked statically, including libc: no library can be preloaded. */
#include <stdio.h>

int main(void)
{
    puts("no loader");
    return 3;
}
