/* SPDX-License-Identifier: Apache-2.0
 *
 * Identity of physical memory that is exported from a process and imported into one, so that the
 * memory of a program that imports its own export is counted once. */
#ifndef VS_SHAREABLE_H
#define VS_SHAREABLE_H

#include <cuda.h>
#include <stdint.h>

/* vs_shareable_identity: a number for the memory of a handle of *type*: the same for all its
 * handles, and unique. *fabric*: the bytes of a handle of that type, may be NULL; *fd*: the
 * descriptor otherwise. 0: unknown. */
uint64_t vs_shareable_identity(const void *fabric, int fd, unsigned type);

#endif
