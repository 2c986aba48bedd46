/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Columns are compressed part by part, since each has statistics of its own; texts
 * are few, occur once and are worth more effort than the rest. When windows queue up, the threads
 * of the program are about to wait for this one: then rows are compressed unchanged, which takes a
 * third of the time. */
#include "trace/record/pack.h"

#include <string.h>

#include "base/vs_arena.h"
#include "trace/format/columns.h"
#include "trace/record/compress.h"

#define ROWS_LEVEL_HURRIED 1
#define TEXT_LEVEL_MIN 9
#define COLUMNS_FROM 1024u /* bytes; a smaller frame is not worth a directory */

struct vs_packer {
    void *zstd;
    struct vs_splitter *splitter; /* NULL: no memory, rows are used */
    int level;
};

struct vs_packer *vs_packer_open(size_t raw_max, unsigned level)
{
    void *zstd = level ? vs_compress_open() : NULL;
    struct vs_packer *packer = zstd ? vs_pages_map(sizeof *packer) : NULL;
    if (!packer) {
        vs_compress_close(zstd);
        return NULL;
    }
    packer->zstd = zstd;
    packer->level = (int)level;
    packer->splitter = vs_splitter_open(raw_max);
    return packer;
}

void vs_packer_close(struct vs_packer *packer)
{
    if (!packer)
        return;
    vs_compress_close(packer->zstd);
    vs_splitter_close(packer->splitter);
    vs_pages_unmap(packer, sizeof *packer);
}

size_t vs_packer_bound(size_t raw_max)
{
    return vs_compress_bound(raw_max);
}

/* Columns into *out*, of which at most *room* is used. 0: rows are smaller. */
static size_t pack_columns(struct vs_packer *packer, const unsigned char *rows, size_t bytes,
                           unsigned char *out, size_t room)
{
    struct vs_column_part parts[VS_COLUMN_PARTS_MAX];
    const unsigned char *columns;
    size_t count, at = sizeof(uint32_t);
    size_t total = vs_splitter_split(packer->splitter, rows, bytes, &columns, parts, &count);
    if (!total || total > VS_FRAME_RAW_MAX + VS_COLUMNS_SLACK || room < at)
        return 0;
    uint32_t column_bytes = (uint32_t)total;
    memcpy(out, &column_bytes, sizeof column_bytes);
    for (size_t i = 0; i < count; i++) {
        int level = packer->level;
        if (parts[i].text && level < TEXT_LEVEL_MIN)
            level = TEXT_LEVEL_MIN;
        size_t n = vs_compress(packer->zstd, out + at, room - at, columns + parts[i].begin,
                               parts[i].bytes, level);
        if (!n)
            return 0;
        at += n;
    }
    return at;
}

size_t vs_packer_pack(struct vs_packer *packer, const unsigned char *rows, size_t bytes,
                      bool hurried, unsigned char *out, unsigned *codec)
{
    size_t n = 0, room = vs_packer_bound(bytes);
    if (packer && packer->splitter && !hurried && bytes >= COLUMNS_FROM) {
        *codec = VS_COLUMNS;
        n = pack_columns(packer, rows, bytes, out, room);
    }
    if (packer && !n) {
        *codec = VS_ZSTD;
        n = vs_compress(packer->zstd, out, room, rows, bytes,
                        hurried ? ROWS_LEVEL_HURRIED : packer->level);
    }
    if (n && n < bytes)
        return n;
    *codec = VS_STORED;
    memcpy(out, rows, bytes);
    return bytes;
}
