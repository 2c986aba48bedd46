/* SPDX-License-Identifier: Apache-2.0
 *
 * Rewrites a trace, from open to commit: the copy is made in a hidden file beside the target
 * (base/vs_output_file.h), extended, and replaces the target only if both are unchanged. The
 * old trace is copied by rewrite_finished.c and rewrite_unfinished.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_link.h"
#include "base/vs_output_file.h"
#include "trace/format/format.h"
#include "trace/read/rewrite_internal.h"

#define ADDED_SINCE_MINOR 3u /* minor version of version 1 that introduced the added frames */
#define COPY_BYTES ((size_t)1 << 20)

static void say(const struct vs_rewrite *w, char *why)
{
    if (w->out.err == VS_ERR_IO)
        snprintf(why, VS_READER_WHY_MAX, "cannot write %.400s: %s%s", w->target,
                 strerror(w->out.error),
                 w->out.error == ENOSPC
                     ? w->in_place
                           ? "; free some space, or copy the trace and its FILE.live to another disk"
                           : "; free some space, or write to another disk with -o"
                     : "");
    else
        snprintf(why, VS_READER_WHY_MAX, "cannot rewrite %.400s: %s", w->target,
                 vs_err_text(w->out.err));
}

static enum vs_err begin(struct vs_rewrite *w, unsigned leave_out, char *why)
{
    if (!w->target)
        vs_frame_output_fail(&w->out, VS_ERR_NOMEM);
    else if ((w->out.fd = vs_replacement_make(w->target, &w->temporary)) < 0)
        vs_frame_output_fail(&w->out, VS_ERR_IO);
    else if (!vs_replacement_like(w->out.fd, w->reader->file.fd, w->in_place)) {
        snprintf(why, VS_READER_WHY_MAX,
                 "%.400s belongs to another user, and a rewritten file would not; give another file "
                 "with -o", w->target);
        vs_frame_output_fail(&w->out, VS_ERR_STATE);
    } else if (vs_frame_has_trailer(&w->reader->file) && !(leave_out & VS_REWRITE_READABLE))
        vs_rewrite_copy_finished(w, leave_out);
    else
        vs_rewrite_copy_unfinished(w, why);
    if (w->out.err && !*why)
        say(w, why);
    return w->out.err;
}

enum vs_err vs_rewrite_copy(struct vs_rewrite *w, uint64_t from, uint64_t to)
{
    unsigned char *part = vs_xcalloc(1, COPY_BYTES);
    while (from < to && !w->out.err) {
        size_t want = to - from < COPY_BYTES ? (size_t)(to - from) : COPY_BYTES;
        size_t got = vs_source_read(&w->reader->file, from, part, want);
        if (!got) {
            errno = EIO;
            vs_frame_output_fail(&w->out, VS_ERR_IO);
        }
        vs_frame_output_bytes(&w->out, part, got);
        from += got;
    }
    free(part);
    return w->out.err;
}

enum vs_err vs_rewrite_put_header(struct vs_rewrite *w)
{
    struct vs_file_header header = w->reader->header;
    if (header.major == 1 && header.minor < ADDED_SINCE_MINOR)
        header.minor = ADDED_SINCE_MINOR;
    vs_header_seal(&header);
    vs_frame_output_bytes(&w->out, &header, sizeof header);
    return vs_rewrite_copy(w, sizeof header, header.header_bytes);
}

static bool is_same(const char *path, const char *to)
{
    struct stat a, b;
    return !stat(path, &a) && !stat(to, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The file that links lead to. */
static char *choose_target(const char *path, const char *to, bool in_place)
{
    char *target = in_place ? realpath(path, NULL) : vs_xcalloc(1, PATH_MAX);
    if (target && !in_place &&
        (snprintf(target, PATH_MAX, "%s", to) >= PATH_MAX || !vs_link_follow(target, PATH_MAX))) {
        free(target);
        target = vs_xstrdup(to);
    }
    return target;
}

/* Writes to *why* which process is recording *path*; false when there is none. */
static bool is_recorded(const char *path, char *why)
{
    char who[VS_RECORDER_TEXT_MAX];
    uint64_t recorder = vs_reader_recorded_by(path);
    if (recorder)
        snprintf(why, VS_READER_WHY_MAX, "%.400s is being recorded by %s; wait until it has ended", path,
                 vs_reader_recorder_text(who, recorder));
    return recorder != 0;
}

enum vs_err vs_rewrite_open(const char *path, const char *to, unsigned leave_out,
                            struct vs_rewrite **out, char *why)
{
    char ignored[VS_READER_WHY_MAX];
    why = why ? why : ignored;
    *why = 0;
    if (is_recorded(path, why))
        return VS_ERR_STATE;
    struct vs_rewrite *w = vs_xcalloc(1, sizeof *w);
    w->out.fd = -1;
    w->in_place = !to || is_same(path, to);
    w->target = choose_target(path, to, w->in_place);
    if (!w->target || lstat(w->target, &w->before))
        w->before.st_ino = 0;
    enum vs_err err = vs_reader_open(path, &w->reader, why);
    if (!err)
        err = begin(w, leave_out, why);
    if (err) {
        vs_rewrite_cancel(w);
        return err;
    }
    *out = w;
    return VS_OK;
}

enum vs_err vs_rewrite_add(struct vs_rewrite *w, enum vs_frame_type type, uint64_t time_ns,
                           uint64_t sequence, const void *payload, size_t bytes)
{
    if (bytes > VS_FRAME_RAW_MAX)
        return vs_frame_output_fail(&w->out, VS_ERR_LIMIT);
    struct vs_frame_header h = {.type = (uint8_t)type,
                                .codec = VS_ZSTD,
                                .raw_bytes = (uint32_t)bytes,
                                .first_event = w->out.index.events,
                                .base_ns = time_ns,
                                .last_ns = time_ns};
    struct vs_directory_entry entry = {
        .type = (uint32_t)type, .offset = w->out.offset, .time_ns = time_ns, .sequence = sequence};
    if (!vs_frame_output_put(&w->out, &h, NULL, payload))
        vs_frame_output_keep(&w->out, &entry);
    return w->out.err;
}

/* Whether the file at *target*, which is not the trace, is the same as at the start. */
static bool is_as_before(const struct vs_rewrite *w)
{
    struct stat now;
    if (lstat(w->target, &now))
        return errno == ENOENT;
    return now.st_ino == w->before.st_ino && now.st_dev == w->before.st_dev &&
           now.st_size == w->before.st_size;
}

/* The rename must not replace a file that was created meanwhile. */
static void check_unchanged(struct vs_rewrite *w, char *why)
{
    bool same = w->in_place ? vs_replacement_same(w->target, w->reader->file.fd,
                                                     w->reader->file.size) : is_as_before(w);
    if (is_recorded(w->target, why)) {
        vs_frame_output_fail(&w->out, VS_ERR_STATE);
    } else if (!same) {
        snprintf(why, VS_READER_WHY_MAX,
                 "%.400s was changed or replaced meanwhile; it is left unchanged", w->target);
        vs_frame_output_fail(&w->out, VS_ERR_STATE);
    }
}

enum vs_err vs_rewrite_commit(struct vs_rewrite *w, char *why)
{
    char said[VS_READER_WHY_MAX] = "";
    vs_frame_output_end(&w->out);
    if (!w->out.err && fsync(w->out.fd) && errno != EINVAL)
        vs_frame_output_fail(&w->out, VS_ERR_IO);
    if (!w->out.err)
        check_unchanged(w, said);
    if (!w->out.err && rename(w->temporary, w->target))
        vs_frame_output_fail(&w->out, VS_ERR_IO);
    enum vs_err err = w->out.err;
    if (err) {
        if (!*said)
            say(w, said);
        if (why)
            memcpy(why, said, sizeof said);
    } else {
        vs_replacement_forget(w->temporary);
        free(w->temporary);
        w->temporary = NULL;
        if (w->in_place && !w->keep_live && w->reader->live_path)
            unlink(w->reader->live_path);
    }
    vs_rewrite_cancel(w);
    return err;
}

void vs_rewrite_cancel(struct vs_rewrite *w)
{
    if (!w)
        return;
    if (w->out.fd >= 0)
        close(w->out.fd);
    if (w->temporary) {
        unlink(w->temporary);
        vs_replacement_forget(w->temporary);
    }
    vs_reader_close(w->reader);
    free(w->target);
    free(w->temporary);
    vs_frame_output_free(&w->out);
    free(w);
}

uint64_t vs_rewrite_bytes(const struct vs_rewrite *w)
{
    return w->out.offset;
}

uint64_t vs_rewrite_whole_bytes(const struct vs_rewrite *w)
{
    return vs_frame_output_whole_bytes(&w->out);
}

uint64_t vs_rewrite_recovered(const struct vs_rewrite *w)
{
    return w->recovered;
}

uint64_t vs_rewrite_left_out(const struct vs_rewrite *w)
{
    return w->left_out;
}
