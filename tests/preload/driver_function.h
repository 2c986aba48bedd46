/* SPDX-License-Identifier: Apache-2.0
 *
 * A function of the driver itself, whichever interposers exist: by the symbols of its library.
 * Header-only. */
#ifndef VS_DRIVER_FUNCTION_H
#define VS_DRIVER_FUNCTION_H

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static void *driver_function(const char *name)
{
    struct link_map *map = NULL;
    const ElfW(Sym) *symbol = NULL;
    const char *names = NULL;
    dlinfo(dlopen("libcuda.so.1", RTLD_LAZY), RTLD_DI_LINKMAP, &map);
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbol = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB)
            names = (const void *)d->d_un.d_ptr;
    }
    for (; (const char *)symbol < names; symbol++) /* the table of names follows */
        if (strcmp(names + symbol->st_name, name) == 0)
            return (char *)map->l_addr + symbol->st_value;
    return NULL;
}

#endif
