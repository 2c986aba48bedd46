/* SPDX-License-Identifier: Apache-2.0
 *
 * In a package for other machines (VRAMSCOPE_BUNDLE): arc4random for the C++ runtime inside the
 * command, which otherwise needs glibc 2.36 for this one function; Ubuntu 22.04 has 2.35. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void);

uint32_t arc4random(void)
{
    uint32_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        abort(); /* no randomness: the kernel is older than glibc requires */
    return number;
}
