/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames at a known place, and the directory of the frames that were added to a trace after its
 * recording: it is stored before the final index frame, whose header has its position. None of the
 * bytes are trusted. */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/reading/vs_xalloc.h"
#include "trace/read/reader_internal.h"
#include "trace/read/rewrite.h"

#define ENTRIES_MAX (VS_FRAME_RAW_MAX / sizeof(struct vs_directory_entry))

/* Reads the header of the frame at *offset* and the bytes after it, checked. **rest* is malloc'ed:
 * the header's extension, then the stored payload. */
static enum vs_err read_checked(const struct vs_source *file, uint64_t offset,
                                struct vs_frame_header *h, unsigned char **rest)
{
    if (vs_source_read(file, offset, h, sizeof *h) != sizeof *h || h->sync != VS_FRAME_SYNC ||
        h->header_bytes < sizeof *h || h->header_bytes > 4096 || h->raw_bytes > VS_FRAME_RAW_MAX ||
        h->stored_bytes > ZSTD_compressBound(VS_FRAME_RAW_MAX) || h->codec > VS_ZSTD ||
        (h->codec == VS_STORED && h->stored_bytes != h->raw_bytes))
        return VS_ERR_CORRUPT;
    size_t bytes = h->header_bytes - sizeof *h + h->stored_bytes;
    if (bytes > file->size - offset)
        return VS_ERR_CORRUPT;
    *rest = vs_xcalloc(1, bytes + 1);
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, h, offsetof(struct vs_frame_header, checksum));
    if (vs_source_read(file, offset + sizeof *h, *rest, bytes) == bytes) {
        XXH64_update(&state, *rest, bytes);
        if (XXH64_digest(&state) == h->checksum)
            return VS_OK;
    }
    free(*rest);
    *rest = NULL;
    return VS_ERR_CORRUPT;
}

bool vs_directory_final_index(const struct vs_source *file, struct vs_trailer *trailer,
                              struct vs_frame_header *header, unsigned char **rest)
{
    *rest = NULL;
    if (!vs_frame_has_trailer(file) ||
        vs_source_read(file, file->size - sizeof *trailer, trailer, sizeof *trailer) !=
            sizeof *trailer ||
        read_checked(file, trailer->index_offset, header, rest))
        return false;
    if (header->type == VS_FRAME_INDEX && header->codec == VS_STORED &&
        header->raw_bytes >= sizeof(struct vs_index_header))
        return true;
    free(*rest);
    *rest = NULL;
    return false;
}

/* 0 when there is none. */
static uint64_t directory_offset(const struct vs_source *file)
{
    struct vs_trailer trailer;
    struct vs_frame_header header;
    struct vs_index_extension extension = {0};
    unsigned char *rest;
    if (!vs_directory_final_index(file, &trailer, &header, &rest))
        return 0;
    if (header.header_bytes >= sizeof header + sizeof extension)
        memcpy(&extension, rest, sizeof extension);
    free(rest);
    return extension.directory_offset < trailer.index_offset ? extension.directory_offset : 0;
}

enum vs_err vs_directory_load(const struct vs_source *file, struct vs_directory_entry **out,
                              size_t *count)
{
    struct vs_frame_header header;
    unsigned char *rest;
    *out = NULL;
    *count = 0;
    uint64_t offset = directory_offset(file);
    if (!offset)
        return VS_OK;
    enum vs_err err = read_checked(file, offset, &header, &rest);
    if (err)
        return err;
    size_t n = header.raw_bytes / sizeof **out;
    if (header.type != VS_FRAME_DIRECTORY || header.codec != VS_STORED || n > ENTRIES_MAX) {
        free(rest);
        return VS_ERR_CORRUPT;
    }
    *out = vs_xcalloc(1, n * sizeof **out + 1);
    memcpy(*out, rest + header.header_bytes - sizeof header, n * sizeof **out);
    *count = n;
    free(rest);
    return VS_OK;
}

enum vs_err vs_directory_read(const struct vs_source *file, const struct vs_directory_entry *entry,
                              void *raw, size_t *bytes)
{
    struct vs_frame_header header;
    unsigned char *rest;
    enum vs_err err = read_checked(file, entry->offset, &header, &rest);
    if (err)
        return err;
    const unsigned char *payload = rest + header.header_bytes - sizeof header;
    *bytes = header.raw_bytes;
    if (header.type != entry->type)
        err = VS_ERR_CORRUPT;
    else if (header.codec == VS_STORED)
        memcpy(raw, payload, header.raw_bytes);
    else if (ZSTD_decompress(raw, VS_FRAME_RAW_MAX, payload, header.stored_bytes) !=
             header.raw_bytes)
        err = VS_ERR_CORRUPT;
    free(rest);
    return err;
}

bool vs_directory_check(const struct vs_source *file, const struct vs_directory_entry *entry,
                        uint64_t *bytes)
{
    struct vs_frame_header header;
    unsigned char *rest;
    if (read_checked(file, entry->offset, &header, &rest))
        return false;
    free(rest);
    *bytes = (uint64_t)header.header_bytes + header.stored_bytes;
    return header.type == entry->type;
}
