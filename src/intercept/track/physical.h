/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's own physical memory (cuMemCreate), as the driver counts it: memory
 * lives while a handle, a mapping, a tile of an array or a multicast object refers to
 * it, and is recorded once, whichever of these was first or last. Mappings are
 * recorded as well. Memory of other processes is never counted: what of it is mapped
 * here is listed by address. Calls that free come in two halves around the driver's,
 * so that nobody gets an address or a handle again before it is forgotten here.
 *
 * All functions: with vs_thread.inside > 0; any thread; take rank PHYSICAL. */
#ifndef VS_PHYSICAL_H
#define VS_PHYSICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "intercept/track/tracker.h"

enum vs_physical_kind {
    VS_PHYSICAL_OWN,       /* of cuMemCreate in this process */
    VS_PHYSICAL_IMPORTED,  /* another process's */
    VS_PHYSICAL_MULTICAST, /* no memory, but what is bound to it is held by it */
};

/* vs_physical_made: *handle* names new memory. *live*: its size, device and family; its
 * addr is made here. Gives the event's time; 0 where none is recorded. */
uint64_t vs_physical_made(uint64_t handle, enum vs_physical_kind kind, const struct vs_tracked *live,
                          const char *api);

/* vs_physical_retained: *handle* was had once more, for what is mapped at *addr*. */
void vs_physical_retained(uint64_t handle, uint64_t addr);

/* vs_physical_releasing, _released: around cuMemRelease. *r* of the second: did the
 * driver do it? The first returns what the second needs; NULL: not known here. */
struct vs_reference;
struct vs_reference *vs_physical_releasing(uint64_t handle, const char *api);
void vs_physical_released(struct vs_reference *reference, bool done, const char *api);

/* vs_physical_mapped: after cuMemMap. */
void vs_physical_mapped(uint64_t addr, uint64_t bytes, uint64_t offset, uint64_t handle,
                        const char *api);

/* vs_physical_unmapping, _unmapped: around cuMemUnmap. NULL when the range is not made
 * up of whole mappings, which the driver refuses. */
struct vs_reference *vs_physical_unmapping(uint64_t addr, uint64_t bytes, const char *api);
void vs_physical_unmapped(struct vs_reference *list, bool done, const char *api);

/* vs_physical_attach: *owner* (an array's key, or vs_physical_key of a multicast object)
 * holds the memory at its place *at*, which whatever was there before leaves: by
 * *handle*, or by what is mapped at *addr* when that is 0. */
void vs_physical_attach(uint64_t owner, uint64_t at, uint64_t handle, uint64_t addr,
                        const char *api);

/* vs_physical_detach: *owner* lets go what it holds at *at*; UINT64_MAX: everything. */
void vs_physical_detach(uint64_t owner, uint64_t at, const char *api);

/* vs_physical_key: the addr under which *handle* is recorded; 0: not known here. */
uint64_t vs_physical_key(uint64_t handle);

/* vs_physical_device: of the memory that *handle* names, or that is mapped at *addr* when
 * that is 0; 0 when it is not known. */
uint32_t vs_physical_device(uint64_t handle, uint64_t addr);

/* vs_physical_exported: *handle* went out as what *identity* stands for (not 0); whoever
 * imports that here has the same memory. */
void vs_physical_exported(uint64_t handle, uint64_t identity);

/* vs_physical_imported: *handle* came from *identity*. False when it is not known to be
 * memory of this process. */
bool vs_physical_imported(uint64_t handle, uint64_t identity);

#endif
