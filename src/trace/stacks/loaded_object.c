/* SPDX-License-Identifier: Apache-2.0
 *
 * Namespaces of the loader; see the header. glibc's functions are looked up by name at run time, so
 * that this library needs no newer glibc than the program has. The lists of the other namespaces
 * change under the lock that dl_iterate_phdr holds during its callback, so they are read from
 * inside a callback. */
#define _GNU_SOURCE
#include "trace/stacks/cfi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define HEADERS_MAX 4096u /* the headers of an object are in its first page */

#if defined(DLFO_STRUCT_HAS_EH_DBASE) /* glibc 2.35 */

typedef int find_fn(void *address, struct dl_find_object *result);

static _Atomic(find_fn *) find;                     /* set once */
static _Atomic(const struct r_debug_extended *) spaces; /* the program's own namespace */

void vs_loaded_object_init(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "_dl_find_object");
    find_fn *fn = NULL;
    memcpy(&fn, &symbol, sizeof fn);
    atomic_store(&find, fn);
    atomic_store(&spaces, fn ? dlsym(RTLD_DEFAULT, "_r_debug") : NULL);
}

/* The program headers of the object that begins at *start*; 0 when they cannot be read. */
static bool read_headers(const unsigned char *start, const unsigned char *end,
                         struct dl_phdr_info *info)
{
    ElfW(Ehdr) h;
    if ((size_t)(end - start) < sizeof h)
        return false;
    memcpy(&h, start, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_phentsize != sizeof(ElfW(Phdr)) ||
        h.e_phoff > HEADERS_MAX || h.e_phoff % _Alignof(ElfW(Phdr)) ||
        h.e_phnum > (HEADERS_MAX - h.e_phoff) / sizeof(ElfW(Phdr)) ||
        h.e_phoff + h.e_phnum * sizeof(ElfW(Phdr)) > (size_t)(end - start))
        return false;
    info->dlpi_phdr = (const void *)(start + h.e_phoff);
    info->dlpi_phnum = h.e_phnum;
    return true;
}

struct visit {
    vs_loaded_object_fn *fn;
    void *arg;
};

static int visit_object(const struct link_map *map, const struct dl_phdr_info *like,
                        const struct visit *v)
{
    struct dl_find_object object;
    struct dl_phdr_info info = *like; /* copies the loader's counts */
    /* the loader itself is in every list, but belongs to the program's own namespace */
    if (atomic_load(&find)(map->l_ld, &object) || object.dlfo_link_map != map ||
        !read_headers(object.dlfo_map_start, object.dlfo_map_end, &info))
        return 0;
    info.dlpi_addr = map->l_addr;
    info.dlpi_name = map->l_name;
    return v->fn(&info, sizeof info, v->arg);
}

static int visit_other_spaces(struct dl_phdr_info *like, size_t size, void *arg)
{
    const struct r_debug_extended *space = atomic_load(&spaces);
    (void)size;
    if (!space || space->base.r_version < 2)
        return 1;
    while ((space = space->r_next)) {
        for (const struct link_map *map = space->base.r_map; map; map = map->l_next) {
            if (visit_object(map, like, arg))
                return 1;
        }
    }
    return 1;
}

void vs_loaded_object_each(vs_loaded_object_fn *fn, void *arg)
{
    struct visit v = {fn, arg};
    if (!dl_iterate_phdr(fn, arg))
        dl_iterate_phdr(visit_other_spaces, &v);
}

const uint8_t *vs_loaded_object_frames(uint64_t pc, uint64_t *bytes)
{
    struct dl_find_object object;
    find_fn *fn = atomic_load(&find);
    if (!fn || fn((void *)(uintptr_t)pc, &object) || !object.dlfo_eh_frame)
        return NULL;
    const uint8_t *end = object.dlfo_map_end, *table = object.dlfo_eh_frame;
    *bytes = table < end ? (uint64_t)(end - table) : 0;
    return table;
}

#else /* an older C library: only the program's own namespace */

void vs_loaded_object_init(void)
{
}

void vs_loaded_object_each(vs_loaded_object_fn *fn, void *arg)
{
    dl_iterate_phdr(fn, arg);
}

const uint8_t *vs_loaded_object_frames(uint64_t pc, uint64_t *bytes)
{
    (void)pc, (void)bytes;
    return NULL;
}

#endif
