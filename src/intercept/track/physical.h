/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's own physical memory (cuMemCreate), counted as the driver does: memory lives while a
 * handle, a mapping, a tile of an array or a multicast object refers to it, and is recorded once,
 * whichever of these was first or last. Mappings are recorded as well. Memory of other processes is
 * never counted: its mappings here are listed by address. Calls that free have two halves around
 * the driver's call, so that no thread gets an address or a handle again before its entry is
 * removed here.
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
    VS_PHYSICAL_MULTICAST, /* no memory, but holds the memory bound to it */
};

/* vs_physical_made: *handle* names new memory. *live*: its size, device and family; its addr is
 * assigned here. Returns the event's time; 0 when none is recorded. */
uint64_t vs_physical_made(uint64_t handle, enum vs_physical_kind kind, const struct vs_tracked *live,
                          const char *api);

/* vs_physical_retained: the program got *handle* once more, for the memory mapped at *addr*. */
void vs_physical_retained(uint64_t handle, uint64_t addr);

/* vs_physical_releasing, _released: around cuMemRelease. *r* of the second: did the driver succeed?
 * The first returns the second's argument; NULL: not registered here. */
struct vs_reference;
struct vs_reference *vs_physical_releasing(uint64_t handle, const char *api);
void vs_physical_released(struct vs_reference *reference, bool done, const char *api);

/* vs_physical_mapped: after cuMemMap. */
void vs_physical_mapped(uint64_t addr, uint64_t bytes, uint64_t offset, uint64_t handle,
                        const char *api);

/* vs_physical_unmapping, _unmapped: around cuMemUnmap. NULL when the range does not consist of
 * whole mappings, which the driver refuses. */
struct vs_reference *vs_physical_unmapping(uint64_t addr, uint64_t bytes, const char *api);
void vs_physical_unmapped(struct vs_reference *list, bool done, const char *api);

/* vs_physical_attach: *owner* (an array's key, or vs_physical_key of a multicast object) holds the
 * memory at its place *at*, replacing any memory held there: by *handle*, or if that is 0, the
 * memory mapped at *addr*. */
void vs_physical_attach(uint64_t owner, uint64_t at, uint64_t handle, uint64_t addr,
                        const char *api);

/* vs_physical_detach: *owner* releases the memory it holds at *at*; UINT64_MAX: at every place. */
void vs_physical_detach(uint64_t owner, uint64_t at, const char *api);

/* vs_physical_key: the addr under which *handle* is recorded; 0: not registered here. */
uint64_t vs_physical_key(uint64_t handle);

/* vs_physical_device: device of the memory that *handle* names, or if that is 0, of the memory
 * mapped at *addr*; 0 when it is unknown. */
uint32_t vs_physical_device(uint64_t handle, uint64_t addr);

/* vs_physical_exported: *handle* was exported as *identity* (not 0); an import of it in this
 * process gives the same memory. */
void vs_physical_exported(uint64_t handle, uint64_t identity);

/* vs_physical_imported: *handle* came from *identity*. False when that is not registered as memory
 * of this process. */
bool vs_physical_imported(uint64_t handle, uint64_t identity);

#endif
