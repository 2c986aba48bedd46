/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a rewriting: rewrite.c (open, add, commit) has the old trace copied by
 * rewrite_finished.c or rewrite_unfinished.c, and all write through rewrite_output.c.
 * Private to these. Each function returns the first failure so far, which it keeps, and
 * does nothing after one. */
#ifndef VS_REWRITE_INTERNAL_H
#define VS_REWRITE_INTERNAL_H

#include <sys/stat.h>

#include "trace/read/reader_internal.h"
#include "trace/read/rewrite.h"

struct vs_rewrite {
    struct vs_reader *reader;
    char *target, *temporary; /* owned */
    struct stat before; /* what is at *target*, when it is not the trace; no inode: nothing */
    bool in_place, keep_live; /* keep_live: FILE.live is not all in the new file */
    int fd;
    uint64_t offset;
    enum vs_err err; /* the first failure; errno of it in error */
    int error;
    unsigned char *buffer; /* a frame's payload as stored */
    size_t buffer_bytes;

    struct vs_index_header index; /* of the final index frame */
    struct vs_index_entry entries[VS_INDEX_ENTRIES_MAX];
    uint64_t last_ns, recovered, left_out;

    struct vs_directory_entry *added;
    size_t added_count, added_capacity;
};

/* --- rewrite_output.c --- */

/* vs_rewrite_fail: keep *err*, with errno, unless another came before. */
enum vs_err vs_rewrite_fail(struct vs_rewrite *w, enum vs_err err);

/* vs_rewrite_copy: bytes *from* … *to* of the old trace. */
enum vs_err vs_rewrite_copy(struct vs_rewrite *w, uint64_t from, uint64_t to);

/* vs_rewrite_put_header: the file header, of a version that has what may be added. */
enum vs_err vs_rewrite_put_header(struct vs_rewrite *w);

/* vs_rewrite_put_frame: a frame with *extension* (may be NULL) behind its header; the payload
 * is stored already when *h says so, else compressed here if that makes it smaller. */
enum vs_err vs_rewrite_put_frame(struct vs_rewrite *w, struct vs_frame_header *h,
                                 const struct vs_index_extension *extension, const void *payload);

/* vs_rewrite_make_room: before each event frame but the first of a full index. */
void vs_rewrite_make_room(struct vs_rewrite *w);

/* vs_rewrite_enter: the event frame that begins at *offset* of the new file is in it. */
enum vs_err vs_rewrite_enter(struct vs_rewrite *w, const struct vs_frame_header *h,
                             uint64_t offset);

/* vs_rewrite_keep: *entry* is listed in the new file's directory; VS_ERR_IO (EFBIG) when that
 * is full. */
enum vs_err vs_rewrite_keep(struct vs_rewrite *w, const struct vs_directory_entry *entry);

/* vs_rewrite_put_tail: directory, final index and trailer: the file is whole. */
enum vs_err vs_rewrite_put_tail(struct vs_rewrite *w);

/* --- the two ways to copy --- */

/* vs_rewrite_copy_finished: events, indexes and what was added, but types in *leave_out*. */
enum vs_err vs_rewrite_copy_finished(struct vs_rewrite *w, unsigned leave_out);

/* vs_rewrite_copy_unfinished: what is readable, with an `end` event. *why* (VS_READER_WHY_MAX
 * bytes) says why it is refused, where it is. */
enum vs_err vs_rewrite_copy_unfinished(struct vs_rewrite *w, char *why);

#endif
