/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a rewrite: rewrite.c (open, add, commit) calls rewrite_finished.c or
 * rewrite_unfinished.c to copy the old trace, and all write through rewrite_output.c. Private to
 * these. Each function returns the first failure so far, stores it, and does nothing after a
 * failure. */
#ifndef VS_REWRITE_INTERNAL_H
#define VS_REWRITE_INTERNAL_H

#include <sys/stat.h>

#include "trace/read/reader_internal.h"
#include "trace/read/rewrite.h"

struct vs_rewrite {
    struct vs_reader *reader;
    char *target, *temporary; /* owned */
    struct stat before; /* the file at *target*, when it is not the trace; no inode: none */
    bool in_place, keep_live; /* keep_live: some of FILE.live is not in the new file */
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

/* vs_rewrite_fail: stores *err*, with errno, unless there was an earlier failure. */
enum vs_err vs_rewrite_fail(struct vs_rewrite *w, enum vs_err err);

/* vs_rewrite_copy: copies bytes *from* … *to* of the old trace. */
enum vs_err vs_rewrite_copy(struct vs_rewrite *w, uint64_t from, uint64_t to);

/* vs_rewrite_put_header: writes the file header, of a version that includes the added frames. */
enum vs_err vs_rewrite_put_header(struct vs_rewrite *w);

/* vs_rewrite_put_frame: writes a frame with *extension* (may be NULL) after its header; the payload
 * is already stored if *h says so, otherwise it is compressed here if that makes it smaller. */
enum vs_err vs_rewrite_put_frame(struct vs_rewrite *w, struct vs_frame_header *h,
                                 const struct vs_index_extension *extension, const void *payload);

/* vs_rewrite_make_room: called before each event frame except the first of a full index. */
void vs_rewrite_make_room(struct vs_rewrite *w);

/* vs_rewrite_enter: adds the event frame that begins at *offset* of the new file to the index. */
enum vs_err vs_rewrite_enter(struct vs_rewrite *w, const struct vs_frame_header *h,
                             uint64_t offset);

/* vs_rewrite_keep: adds *entry* to the new file's directory; VS_ERR_IO (EFBIG) when that is
 * full. */
enum vs_err vs_rewrite_keep(struct vs_rewrite *w, const struct vs_directory_entry *entry);

/* vs_rewrite_put_tail: writes directory, final index and trailer, which complete the file. */
enum vs_err vs_rewrite_put_tail(struct vs_rewrite *w);

/* --- the two ways to copy --- */

/* vs_rewrite_copy_finished: copies events, indexes and added frames, without the types in
 * *leave_out*. */
enum vs_err vs_rewrite_copy_finished(struct vs_rewrite *w, unsigned leave_out);

/* vs_rewrite_copy_unfinished: copies the readable events and adds an `end` event. *why*
 * (VS_READER_WHY_MAX bytes) receives the reason of a failure. */
enum vs_err vs_rewrite_copy_unfinished(struct vs_rewrite *w, char *why);

#endif
