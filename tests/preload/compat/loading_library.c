/* SPDX-License-Identifier: Apache-2.0
 *
 * A library whose constructor and destructor call whom the program says: with the loader's
 * lock held, as those of all libraries that a program opens and closes. */
#include <stdint.h>
#include <stdlib.h>

static void call(const char *variable)
{
    const char *address = getenv(variable);
    void (*moment)(void) = address ? (void (*)(void))(uintptr_t)strtoull(address, NULL, 16) : NULL;
    if (moment)
        moment();
}

__attribute__((constructor)) static void loading(void)
{
    call("VICTIM_MOMENT");
}

__attribute__((destructor)) static void unloading(void)
{
    call("VICTIM_LAST_MOMENT");
}
