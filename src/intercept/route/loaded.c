/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaded objects by name and by address. An object is identified by its soname as well as by its
 * file: the file may have any name, such as "libcudart.so" without a major version or
 * "libcudart-1b2f.so.12" in a wheel. */
#define _GNU_SOURCE
#include "intercept/route/loaded.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

size_t vs_loaded_value(const struct vs_loaded *object, ElfW(Sxword) tag)
{
    const ElfW(Dyn) *found = vs_elf_entry(object->dynamic, tag);
    return found ? (size_t)found->d_un.d_val : 0;
}

const struct link_map *vs_loaded_self(void)
{
    const struct link_map *map = _r_debug.r_map;
    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    return map;
}

bool vs_loaded_symbols(const struct vs_loaded *object, struct vs_elf_symbols *symbols)
{
    return vs_elf_symbols_read(object->base, object->dynamic, symbols);
}

void *vs_loaded_symbol(const struct vs_loaded *object, const char *name, const char *version)
{
    struct vs_elf_symbols s;
    return vs_loaded_symbols(object, &s) ? (void *)vs_elf_symbols_address(&s, name, version) : NULL;
}

static const char *last_part(const char *path)
{
    const char *last = path; /* without libc: see vs_loaded_self */
    for (; *path; path++) {
        if (*path == '/')
            last = path + 1;
    }
    return last;
}

static struct vs_loaded object_of(const char *path, uintptr_t base, const ElfW(Dyn) *dynamic)
{
    struct vs_loaded object = {.path = path ? path : "", .base = base, .dynamic = dynamic};
    const char *strings = vs_elf_pointer(base, dynamic, DT_STRTAB);
    size_t soname = vs_loaded_value(&object, DT_SONAME);
    object.name = soname && strings ? strings + soname : last_part(object.path);
    return object;
}

struct vs_loaded vs_loaded_from(const struct link_map *map)
{
    return object_of(map->l_name, map->l_addr, map->l_ld);
}

bool vs_loaded_is(const struct vs_loaded *object, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(object->name, prefix, n) == 0 || strncmp(last_part(object->path), prefix, n) == 0;
}

struct loaded_walk {
    int (*visit)(const struct vs_loaded *, void *);
    void *arg;
};

static int visit_one(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    const struct loaded_walk *walk = arg;
    struct vs_loaded object = object_of(info->dlpi_name, info->dlpi_addr, vs_elf_dynamic(info));
    return walk->visit(&object, walk->arg);
}

int vs_loaded_each(int (*visit)(const struct vs_loaded *, void *), void *arg)
{
    struct loaded_walk walk = {visit, arg};
    return dl_iterate_phdr(visit_one, &walk);
}

struct loaded_wanted {
    const char *prefix;
    struct vs_loaded_names *names;
};

static int is_wanted(const struct vs_loaded *object, void *arg)
{
    const struct loaded_wanted *wanted = arg;
    if (!vs_loaded_is(object, wanted->prefix))
        return 0;
    if (wanted->names) {
        snprintf(wanted->names->path, sizeof wanted->names->path, "%s", object->path);
        snprintf(wanted->names->name, sizeof wanted->names->name, "%s", object->name);
    }
    return 1;
}

bool vs_loaded_find(const char *prefix, struct vs_loaded_names *names)
{
    struct loaded_wanted wanted = {prefix, names};
    return vs_loaded_each(is_wanted, &wanted) != 0;
}

void *vs_loaded_open(const char *prefix)
{
    struct vs_loaded_names names;
    return vs_loaded_find(prefix, &names) && *names.path
               ? dlopen(names.path, RTLD_LAZY | RTLD_NOLOAD)
               : NULL;
}

static int take_object(const struct vs_loaded *object, void *arg)
{
    *(struct vs_loaded *)arg = *object;
    return 1;
}

struct covering {
    uintptr_t address;
    struct vs_loaded *object;
};

static int covers(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct covering *wanted = arg;
    struct loaded_walk walk = {take_object, wanted->object};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD &&
            wanted->address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return visit_one(info, size, &walk);
    }
    return 0;
}

bool vs_loaded_at_in_visit(const void *address, struct vs_loaded *object)
{
    struct covering wanted = {(uintptr_t)address, object};
    return dl_iterate_phdr(covers, &wanted) != 0;
}

bool vs_loaded_at(const void *address, struct vs_loaded *object)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (vs_loaded_at_in_visit(address, object))
        return true;
    if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    *object = vs_loaded_from(map);
    return true;
}

/* The loader lists the objects in the order of loading, itself among those loaded with the program.
 * Objects after it may be unloaded meanwhile: they are not read. */
bool vs_loaded_at_start(const struct vs_loaded *object)
{
    const struct link_map *map = _r_debug.r_map;
    while (map && map->l_ld != object->dynamic && map->l_addr != _r_debug.r_ldbase)
        map = map->l_next;
    return map && map->l_ld == object->dynamic;
}

bool vs_loaded_self_at_start(void)
{
    const struct link_map *self = vs_loaded_self();
    struct vs_loaded own;
    if (self)
        own = vs_loaded_from(self);
    return self && vs_loaded_at_start(&own);
}

#define KEPT_MAX 8 /* the driver, and a runtime of each version */
static _Atomic(const void *) kept[KEPT_MAX]; /* write-once; by the address of the dynamic section */

bool vs_loaded_stays(const struct vs_loaded *object)
{
    bool stays = vs_loaded_at_start(object);
    for (int i = 0; i < KEPT_MAX && !stays; i++)
        stays = atomic_load_explicit(&kept[i], memory_order_relaxed) == object->dynamic;
    if (stays)
        return true;
    if (!vs_loaded_is(object, "libcuda.so") && !vs_loaded_is(object, "libcudart"))
        return false;
    void *handle = dlopen(object->path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    const void *none = NULL;
    for (int i = 0; handle && i < KEPT_MAX &&
                    !atomic_compare_exchange_strong(&kept[i], &none, object->dynamic); i++)
        none = NULL;
    if (handle)
        dlclose(handle);
    return handle != NULL;
}
