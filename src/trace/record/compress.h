/* SPDX-License-Identifier: Apache-2.0
 *
 * zstd for the write side, loaded at run time and privately, so that preloading
 * us adds no library to a program's link. */
#ifndef VS_COMPRESS_H
#define VS_COMPRESS_H

#include <stddef.h>

/* vs_compress_load: load zstd, once per process; warns once when it is missing. Not for the
 * background thread: the loader's lock may be held by a thread that waits for it (a constructor
 * that records). */
void vs_compress_load(void);
/* vs_compress_open: a compression context; NULL when zstd is not loaded. Calls
 * malloc: background thread only. */
void *vs_compress_open(void);
void vs_compress_close(void *context);

/* vs_compress_bound: largest compressed size of *bytes*, for any level. */
static inline size_t vs_compress_bound(size_t bytes)
{
    return bytes + bytes / 128 + 512;
}

/* vs_compress: *bytes* at *from* into *to* (*room* bytes). Returns the size, or 0 when the result
 * does not fit *room*. One thread per context. */
size_t vs_compress(void *context, void *to, size_t room, const void *from, size_t bytes, int level);

#endif
