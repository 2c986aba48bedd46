/* SPDX-License-Identifier: Apache-2.0
 *
 * The objects that the loader has in memory, in every namespace: dl_iterate_phdr lists only those
 * of the program's own, but code loaded by dlmopen calls CUDA too. The other namespaces are read
 * from the lists that glibc (2.35 and later) provides for debuggers; with other C libraries they
 * are not visible. */
#ifndef VS_LOADED_OBJECT_H
#define VS_LOADED_OBJECT_H

#include <stddef.h>
#include <stdint.h>

struct dl_phdr_info; /* link.h */
typedef int vs_loaded_object_fn(struct dl_phdr_info *info, size_t size, void *arg);

/* vs_loaded_object_init: finds the functions that the loader offers. Takes the loader's lock, so
 * the caller must hold none of our locks. Call once, before the other functions; any thread. */
void vs_loaded_object_init(void);

/* vs_loaded_object_each: like dl_iterate_phdr, over all namespaces, the program's own first. *fn*
 * runs under the loader's lock. */
void vs_loaded_object_each(vs_loaded_object_fn *fn, void *arg);

/* vs_loaded_object_frames: the search table of call frame information (.eh_frame_hdr) of the object
 * that contains *pc*, in any namespace. *bytes* receives how many bytes are readable from there.
 * NULL when there is none. Any thread, takes no lock. */
const uint8_t *vs_loaded_object_frames(uint64_t pc, uint64_t *bytes);

#endif
