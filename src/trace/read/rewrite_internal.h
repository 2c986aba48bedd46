/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a rewrite: rewrite.c (open, add, commit) calls rewrite_finished.c or
 * rewrite_unfinished.c to copy the old trace, and all write through trace/output. Private to these.
 * Each function returns the first failure so far, stores it, and does nothing after a failure. */
#ifndef VS_REWRITE_INTERNAL_H
#define VS_REWRITE_INTERNAL_H

#include <sys/stat.h>

#include "trace/output/frame_output.h"
#include "trace/read/reader_internal.h"
#include "trace/read/rewrite.h"

struct vs_rewrite {
    struct vs_reader *reader;
    char *target, *temporary; /* owned */
    struct stat before; /* the file at *target*, when it is not the trace; no inode: none */
    bool in_place, keep_live; /* keep_live: some of FILE.live is not in the new file */
    struct vs_frame_output out; /* the new file */
    uint64_t recovered, left_out;
};

/* vs_rewrite_copy: copies bytes *from* … *to* of the old trace. */
enum vs_err vs_rewrite_copy(struct vs_rewrite *w, uint64_t from, uint64_t to);

/* vs_rewrite_put_header: writes the file header, of a version that includes the added frames. */
enum vs_err vs_rewrite_put_header(struct vs_rewrite *w);

/* --- the two ways to copy --- */

/* vs_rewrite_copy_finished: copies events, indexes and added frames, without the types in
 * *leave_out*. */
enum vs_err vs_rewrite_copy_finished(struct vs_rewrite *w, unsigned leave_out);

/* vs_rewrite_copy_unfinished: copies the readable events and adds an `end` event. *why*
 * (VS_READER_WHY_MAX bytes) receives the reason of a failure. */
enum vs_err vs_rewrite_copy_unfinished(struct vs_rewrite *w, char *why);

#endif
