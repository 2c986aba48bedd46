/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames at a known place, and the directory of the frames that were added to a trace after its
 * recording: it is stored before the final index frame, whose header has its position. None of the
 * bytes are trusted. */
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "trace/read/reader_internal.h"
#include "trace/read/rewrite.h"

bool vs_directory_final_index(const struct vs_source *file, struct vs_trailer *trailer,
                              struct vs_frame_header *header, unsigned char **rest)
{
    struct vs_frame_scratch scratch = {0};
    bool cut, good = vs_frame_has_trailer(file) &&
                     vs_source_read(file, file->size - sizeof *trailer, trailer, sizeof *trailer) ==
                         sizeof *trailer &&
                     !vs_frame_fetch(file, trailer->index_offset, &scratch, header, &cut) &&
                     header->type == VS_FRAME_INDEX && header->codec == VS_STORED &&
                     header->raw_bytes >= sizeof(struct vs_index_header);
    *rest = good ? scratch.stored : NULL;
    if (!good)
        free(scratch.stored);
    return good;
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
    struct vs_frame_scratch scratch = {0};
    *out = NULL;
    *count = 0;
    uint64_t offset = directory_offset(file);
    bool cut;
    if (!offset)
        return VS_OK;
    bool good = !vs_frame_fetch(file, offset, &scratch, &header, &cut) &&
                header.type == VS_FRAME_DIRECTORY && header.codec == VS_STORED;
    if (good) {
        *count = header.raw_bytes / sizeof **out;
        *out = vs_xcalloc(*count + 1, sizeof **out);
        memcpy(*out, vs_frame_stored(&scratch, &header), *count * sizeof **out);
    }
    vs_frame_scratch_free(&scratch);
    return good ? VS_OK : VS_ERR_CORRUPT;
}

enum vs_err vs_directory_read(const struct vs_source *file, const struct vs_directory_entry *entry,
                              void *raw, size_t *bytes)
{
    struct vs_frame_header header;
    struct vs_frame_scratch scratch = {0};
    enum vs_err err =
        vs_frame_payload(file, entry->offset, &scratch, &header, raw, VS_FRAME_RAW_MAX);
    vs_frame_scratch_free(&scratch);
    if (err)
        return err;
    *bytes = header.raw_bytes;
    return header.type == entry->type ? VS_OK : VS_ERR_CORRUPT;
}

bool vs_directory_check(const struct vs_source *file, const struct vs_directory_entry *entry,
                        uint64_t *bytes)
{
    struct vs_frame_header header;
    struct vs_frame_scratch scratch = {0};
    bool cut, good = !vs_frame_fetch(file, entry->offset, &scratch, &header, &cut) &&
                     header.type == entry->type && header.codec != VS_COLUMNS;
    vs_frame_scratch_free(&scratch);
    if (good)
        *bytes = (uint64_t)header.header_bytes + header.stored_bytes;
    return good;
}
