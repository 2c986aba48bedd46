/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that keeps device memory until its destructor runs, which is after those of
 * the program and of everything preloaded. */
#include <stddef.h>

static void *kept[64];
static size_t count;
static int (*give_back)(void *);

__attribute__((visibility("default"))) void late_keep(void *block, int (*give)(void *));
void late_keep(void *block, int (*give)(void *))
{
    give_back = give;
    if (count < sizeof kept / sizeof *kept)
        kept[count++] = block;
}

__attribute__((destructor)) static void late_destructor(void)
{
    for (size_t i = 0; i < count; i++)
        give_back(kept[i]);
}
