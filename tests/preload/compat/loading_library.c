/* SPDX-License-Identifier: Apache-2.0
 *
 * A library whose constructor calls whom the program says: with the loader's lock held, as
 * all constructors of libraries that a program opens. */
#include <stdint.h>
#include <stdlib.h>

__attribute__((constructor)) static void loading(void)
{
    const char *address = getenv("VICTIM_MOMENT");
    void (*moment)(void) = address ? (void (*)(void))(uintptr_t)strtoull(address, NULL, 16) : NULL;
    if (moment)
        moment();
}
