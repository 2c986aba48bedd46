/* SPDX-License-Identifier: Apache-2.0
 *
 * A file consists of a header and frames as in a trace; it is written under another
 * name and renamed, so that no reader ever sees part of one. */
#define _GNU_SOURCE
#include "trace/read/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/reading/vs_vec.h"
#include "base/vs_output_file.h"
#include "base/vs_option.h"
#include "trace/output/frame_output.h"
#include "trace/read/reader_internal.h"
#include "trace/read/seek.h"

#define CACHE_MAGIC "\x89VSC\r\n\x1a\n"
#define CACHE_VERSION 2u /* raised when states of older files cannot be continued from */
#define CACHE_SUFFIX ".vsc"
#define FRAMES_MAX ((size_t)1 << 20)
#define STALE_SECONDS 86400

struct cache_header {
    char magic[VS_MAGIC_BYTES];
    uint32_t version, byte_order;
    uint8_t uuid[16];
    uint64_t trace_bytes, file_bytes;
    uint64_t reserved;
    uint64_t checksum; /* XXH64 of the bytes before it */
};
_Static_assert(sizeof(struct cache_header) == 64, "on-disk size");

static bool cache_name(const struct vs_reader *reader, char *out, size_t room, bool make)
{
    char directory[PATH_MAX - 128], uuid[33];
    if (!vs_folder_cache("checkpoints", directory, sizeof directory) || (make && !vs_folder_make(directory, 0700)))
        return false;
    for (size_t i = 0; i < 16; i++)
        snprintf(uuid + 2 * i, 3, "%02x", vs_reader_uuid(reader)[i]);
    int n = snprintf(out, room, "%s/%s-%llx" CACHE_SUFFIX, directory, uuid,
                     (unsigned long long)vs_reader_bytes(reader));
    return n > 0 && (size_t)n < room;
}

/* --- reading --- */

static bool header_good(const struct cache_header *h, const struct vs_reader *reader,
                        uint64_t size)
{
    return !memcmp(h->magic, CACHE_MAGIC, VS_MAGIC_BYTES) && h->byte_order == VS_BYTE_ORDER &&
           h->version == CACHE_VERSION &&
           !memcmp(h->uuid, vs_reader_uuid(reader), sizeof h->uuid) &&
           h->trace_bytes == vs_reader_bytes(reader) && h->file_bytes == size &&
           h->checksum == XXH64(h, offsetof(struct cache_header, checksum), 0);
}

/* Finds its frames; returns how many, 0 when they do not fill the file. */
static size_t find_frames(const struct vs_source *source, uint64_t **offsets)
{
    size_t count = 0, capacity = 0;
    uint64_t offset = sizeof(struct cache_header);
    struct vs_frame_header h;
    *offsets = NULL;
    while (offset < source->size) {
        if (count == FRAMES_MAX ||
            vs_source_read(source, offset, &h, sizeof h) != sizeof h ||
            h.sync != VS_FRAME_SYNC || h.header_bytes != sizeof h ||
            h.stored_bytes > source->size - offset - sizeof h)
            return 0;
        *(uint64_t *)vs_vec_push(offsets, &count, &capacity, sizeof **offsets) = offset;
        offset += sizeof h + h.stored_bytes;
    }
    return count;
}

enum vs_err vs_checkpoint_cache_attach(struct vs_reader *reader)
{
    char name[PATH_MAX];
    struct cache_header header;
    struct stat st;
    const struct vs_frame_list *frames = vs_reader_frames(reader);
    if (!cache_name(reader, name, sizeof name, false))
        return VS_ERR_NOT_FOUND;
    struct vs_source source = {.fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    if (source.fd < 0)
        return VS_ERR_NOT_FOUND;
    uint64_t *offsets = NULL;
    struct vs_checkpoints *checkpoints = NULL;
    enum vs_err err = VS_ERR_CORRUPT;
    if (!fstat(source.fd, &st) && S_ISREG(st.st_mode)) {
        source.size = (uint64_t)st.st_size;
        if (vs_source_read(&source, 0, &header, sizeof header) == sizeof header &&
            header_good(&header, reader, source.size)) {
            size_t count = find_frames(&source, &offsets);
            err = vs_checkpoints_open(&source, true, offsets, count, frames, &checkpoints);
        }
    }
    free(offsets);
    if (err) {
        close(source.fd);
        return VS_ERR_NOT_FOUND;
    }
    if (futimens(source.fd, NULL)) /* mark as used now; where that fails it is removed sooner */
        errno = 0;
    vs_reader_set_checkpoints(reader, checkpoints);
    return VS_OK;
}

/* --- limiting its size --- */

static enum vs_folder_entry classify(const char *name)
{
    if (!strstr(name, CACHE_SUFFIX))
        return VS_FOLDER_FOREIGN;
    return name[0] == '.' ? VS_FOLDER_UNFINISHED : VS_FOLDER_KEPT;
}

/* --- writing --- */

struct vs_cache_writer {
    struct vs_frame_output out;
    char name[PATH_MAX], temporary[PATH_MAX];
    struct cache_header header;
};

enum vs_err vs_cache_writer_open(struct vs_reader *reader, struct vs_cache_writer **out)
{
    struct vs_cache_writer *w = vs_xcalloc(1, sizeof *w);
    w->out.fd = -1;
    bool named = cache_name(reader, w->name, sizeof w->name, true);
    char *slash = strrchr(w->name, '/');
    if (named && slash) {
        int n = snprintf(w->temporary, sizeof w->temporary, "%.*s/.%s.%ld",
                         (int)(slash - w->name), w->name, slash + 1, (long)getpid());
        if (n > 0 && (size_t)n < sizeof w->temporary)
            w->out.fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    enum vs_err err = w->out.fd < 0 ? VS_ERR_IO : VS_OK;
    if (!err) {
        w->header = (struct cache_header){.magic = CACHE_MAGIC, .version = CACHE_VERSION,
                                          .byte_order = VS_BYTE_ORDER,
                                          .trace_bytes = vs_reader_bytes(reader)};
        memcpy(w->header.uuid, vs_reader_uuid(reader), sizeof w->header.uuid);
        /* written again at the end, with its checksum */
        err = vs_frame_output_bytes(&w->out, &w->header, sizeof w->header);
    }
    if (err) {
        vs_cache_writer_cancel(w);
        return err;
    }
    *out = w;
    return VS_OK;
}

enum vs_err vs_cache_writer_add(struct vs_cache_writer *w, uint64_t time_ns, uint64_t sequence,
                                const void *payload, size_t bytes)
{
    if (bytes > VS_FRAME_RAW_MAX)
        return VS_ERR_LIMIT;
    struct vs_frame_header h = {.type = VS_FRAME_CHECKPOINT, .codec = VS_ZSTD,
                                .raw_bytes = (uint32_t)bytes, .sequence = sequence,
                                .base_ns = time_ns, .last_ns = time_ns};
    return vs_frame_output_put(&w->out, &h, NULL, payload);
}

uint64_t vs_cache_writer_bytes(const struct vs_cache_writer *w)
{
    return w->out.offset;
}

enum vs_err vs_cache_writer_commit(struct vs_cache_writer *w)
{
    w->header.file_bytes = w->out.offset;
    w->header.checksum = XXH64(&w->header, offsetof(struct cache_header, checksum), 0);
    bool good = pwrite(w->out.fd, &w->header, sizeof w->header, 0) == sizeof w->header &&
                !rename(w->temporary, w->name);
    if (good)
        w->temporary[0] = 0;
    vs_cache_writer_cancel(w);
    char directory[PATH_MAX - 128];
    if (vs_folder_cache("checkpoints", directory, sizeof directory))
        vs_folder_trim(directory, VS_CACHE_BYTES_MAX, STALE_SECONDS, classify);
    return good ? VS_OK : VS_ERR_IO;
}

void vs_cache_writer_cancel(struct vs_cache_writer *w)
{
    if (!w)
        return;
    if (w->out.fd >= 0)
        close(w->out.fd);
    if (w->out.fd >= 0 && w->temporary[0])
        unlink(w->temporary);
    vs_frame_output_free(&w->out);
    free(w);
}
