/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands for physical memory on its way out of a process and into one, so that a
 * program which imports its own is not taken to have more. */
#ifndef VS_SHAREABLE_H
#define VS_SHAREABLE_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

/* vs_mix: *hash* with *bytes* more. */
uint64_t vs_mix(uint64_t hash, const void *data, size_t bytes);

/* vs_shareable_identity: a number for the memory behind a handle of *type*: the same for
 * every handle of it, and no other's. *fabric*: the bytes of one of that type, may be NULL;
 * *fd*: the descriptor otherwise. 0: the handle does not tell. */
uint64_t vs_shareable_identity(const void *fabric, int fd, unsigned type);

#endif
