/* SPDX-License-Identifier: Apache-2.0
 *
 * An auditor of the dynamic loader that changes nothing, but makes the loader bind symbols in its
 * audit mode. */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned la_version(unsigned version);
EXPORT unsigned la_version(unsigned version)
{
    return version;
}

EXPORT unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie);
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
    (void)map, (void)space, (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
