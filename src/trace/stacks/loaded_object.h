/* SPDX-License-Identifier: Apache-2.0
 *
 * The objects that the loader has in memory, in every name space: dl_iterate_phdr shows
 * those of the program's own only, and code that came by dlmopen calls CUDA too. The other
 * name spaces are read as glibc (2.35 and later) keeps them for debuggers; elsewhere
 * they stay unknown. */
#ifndef VS_LOADED_OBJECT_H
#define VS_LOADED_OBJECT_H

#include <stddef.h>
#include <stdint.h>

struct dl_phdr_info; /* link.h */
typedef int vs_loaded_object_fn(struct dl_phdr_info *info, size_t size, void *arg);

/* vs_loaded_object_init: look for what the loader offers. Takes the loader's lock: no lock
 * of ours may be held. Once, before the others are of use; any thread. */
void vs_loaded_object_init(void);

/* vs_loaded_object_each: as dl_iterate_phdr, over all name spaces, the program's own
 * first. *fn* runs under the loader's lock. */
void vs_loaded_object_each(vs_loaded_object_fn *fn, void *arg);

/* vs_loaded_object_frames: the search table of call frame information (.eh_frame_hdr) of
 * the object that *pc* lies in, whatever its name space, and what can be read from there
 * on; NULL for none. Any thread, no lock. */
const uint8_t *vs_loaded_object_frames(uint64_t pc, uint64_t *bytes);

#endif
