/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints of traces that have none of their own, cached in XDG_CACHE_HOME/vramscope/checkpoints
 * (~/.cache without it), one file for each trace and size. The files are not trusted: they are
 * checked like a trace, and made again when they do not match. Their total size stays below
 * VS_CACHE_BYTES_MAX; the least recently used are removed first. Several processes may use the
 * cache at once. */
#ifndef VS_CHECKPOINT_CACHE_H
#define VS_CHECKPOINT_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

#define VS_CACHE_BYTES_MAX ((uint64_t)1 << 30)

struct vs_reader;
struct vs_cache_writer;

/* vs_checkpoint_cache_attach: uses the cached checkpoints of *reader*'s trace. VS_ERR_NOT_FOUND
 * when none match. */
enum vs_err vs_checkpoint_cache_attach(struct vs_reader *reader) VS_MUST_CHECK;

/* vs_cache_writer_open: creates a new file, invisible until it is committed. VS_ERR_IO when it
 * cannot be created. */
enum vs_err vs_cache_writer_open(struct vs_reader *reader, struct vs_cache_writer **out)
    VS_MUST_CHECK;
/* vs_cache_writer_add: writes a frame of type 3. */
enum vs_err vs_cache_writer_add(struct vs_cache_writer *writer, uint64_t time_ns,
                                uint64_t sequence, const void *payload, size_t bytes)
    VS_MUST_CHECK;
/* vs_cache_writer_bytes: bytes written so far. */
uint64_t vs_cache_writer_bytes(const struct vs_cache_writer *writer);
/* vs_cache_writer_commit: puts the file in place and removes the least recently used ones. Frees
 * *writer*, as does vs_cache_writer_cancel, which leaves no file. */
enum vs_err vs_cache_writer_commit(struct vs_cache_writer *writer) VS_MUST_CHECK;
void vs_cache_writer_cancel(struct vs_cache_writer *writer); /* NULL does nothing */

#endif
