/* SPDX-License-Identifier: Apache-2.0
 *
 * A library whose constructor and destructor call a function of the program: with the loader's lock
 * held, like those of all libraries that a program opens and closes. Built a second time with a
 * DT_INIT function instead of a constructor, and with a resolver for dlsym. */
#include <stdint.h>
#include <stdlib.h>

static void call(const char *variable)
{
    const char *address = getenv(variable);
    void (*moment)(void) = address ? (void (*)(void))(uintptr_t)strtoull(address, NULL, 16) : NULL;
    if (moment)
        moment();
}

#ifdef LOADING_BY_INIT
void loading(void); /* exported to the linker */
void loading(void)
{
    call("VICTIM_MOMENT");
}

static void chosen(void)
{
}

static void (*choose(void))(void)
{
    call("VICTIM_CHOICE");
    return chosen;
}

__attribute__((visibility("default"), ifunc("choose"))) void loading_choice(void);
#else
__attribute__((constructor)) static void loading(void)
{
    call("VICTIM_MOMENT");
}
#endif

__attribute__((destructor)) static void unloading(void)
{
    call("VICTIM_LAST_MOMENT");
}
