/* SPDX-License-Identifier: Apache-2.0
 *
 * A file: a fixed head, the build id and the debug link's name (each
 * with its NUL), then the payload of a symbol set, compressed. */
#define _GNU_SOURCE
#include "trace/symbols/symbol_cache.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_output_file.h"
#include "trace/read/reader_internal.h"

#define MAGIC "\x89VSN\r\n\x1a\n"
#define VERSION 2u /* raised also when names are built differently */
#define FILE_BYTES_MAX ((size_t)8 << 20)
#define FRESH_SECONDS 3600 /* a used file's time is updated at most once per this time */
#define STALE_SECONDS 3600
#define ZSTD_LEVEL 3

struct head {
    char magic[8];
    uint32_t version, raw_bytes;
    uint32_t id_bytes, link_bytes; /* with NUL */
    uint64_t module, separate;     /* signatures */
    uint64_t reserved;
    uint64_t checksum; /* XXH64 of the bytes before it and of everything after the head */
};
_Static_assert(sizeof(struct head) == 56, "on-disk size");

static uint64_t checksum_of(const struct head *head, const unsigned char *rest, size_t bytes)
{
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, head, offsetof(struct head, checksum));
    XXH64_update(&state, rest, bytes);
    return XXH64_digest(&state);
}

/* --- reading --- */

enum vs_err vs_symbol_cache_decode(const unsigned char *bytes, size_t count, const char *build_id,
                                   struct vs_symbol_set *set, struct vs_symbol_source *source)
{
    struct head head;
    if (count < sizeof head)
        return VS_ERR_NOT_FOUND;
    memcpy(&head, bytes, sizeof head);
    const unsigned char *rest = bytes + sizeof head;
    size_t left = count - sizeof head;
    if (memcmp(head.magic, MAGIC, sizeof head.magic) || head.version != VERSION ||
        head.raw_bytes > VS_FRAME_RAW_MAX || head.id_bytes != strlen(build_id) + 1 ||
        head.link_bytes == 0 || head.link_bytes > VS_DEBUG_LINK_MAX ||
        left < (size_t)head.id_bytes + head.link_bytes ||
        head.checksum != checksum_of(&head, rest, left) ||
        memcmp(rest, build_id, head.id_bytes))
        return VS_ERR_NOT_FOUND;
    memcpy(source->link, rest + head.id_bytes, head.link_bytes);
    source->link[head.link_bytes - 1] = '\0';
    source->signature = (struct vs_debug_signature){head.module, head.separate};
    rest += head.id_bytes + head.link_bytes;
    left -= head.id_bytes + head.link_bytes;
    unsigned char *raw = vs_xcalloc(1, (size_t)head.raw_bytes + 1);
    enum vs_err err = VS_ERR_NOT_FOUND;
    if (ZSTD_decompress(raw, head.raw_bytes, rest, left) == head.raw_bytes)
        err = vs_symbol_set_decode(set, raw, head.raw_bytes);
    free(raw);
    return err ? VS_ERR_NOT_FOUND : VS_OK;
}

static bool path_of(char *path, const char *dir, const char *build_id)
{
    return vs_debug_files_is_build_id(build_id) &&
           snprintf(path, PATH_MAX, "%s/%s", dir, build_id) < PATH_MAX;
}

enum vs_err vs_symbol_cache_load(const char *dir, const char *build_id, struct vs_symbol_set *set,
                                 struct vs_symbol_source *source)
{
    char path[PATH_MAX];
    struct stat st;
    int fd = path_of(path, dir, build_id) ? vs_debug_files_open(path) : -1;
    if (fd < 0)
        return VS_ERR_NOT_FOUND;
    enum vs_err err = VS_ERR_NOT_FOUND;
    if (!fstat(fd, &st) && st.st_size > 0 && (uint64_t)st.st_size <= FILE_BYTES_MAX) {
        const struct vs_source file = {.fd = fd, .size = (uint64_t)st.st_size};
        unsigned char *bytes = vs_xcalloc(1, file.size);
        if (vs_source_read(&file, 0, bytes, file.size) == file.size)
            err = vs_symbol_cache_decode(bytes, file.size, build_id, set, source);
        free(bytes);
    }
    if (!err && time(NULL) - st.st_mtim.tv_sec > FRESH_SECONDS)
        futimens(fd, NULL);
    close(fd);
    return err;
}

/* --- writing --- */

/* The bytes of a file; NULL when they are too many. The caller frees them. */
static unsigned char *encode(const char *build_id, struct vs_symbol_set *set,
                             const struct vs_symbol_source *source, size_t *count)
{
    struct head head = {.magic = MAGIC, .version = VERSION,
                        .id_bytes = (uint32_t)strlen(build_id) + 1,
                        .link_bytes = (uint32_t)strlen(source->link) + 1,
                        .module = source->signature.module,
                        .separate = source->signature.separate};
    size_t first = sizeof head + head.id_bytes + head.link_bytes, next = 0, raw_bytes = 0;
    size_t room = ZSTD_compressBound(VS_FRAME_RAW_MAX);
    unsigned char *raw = vs_xcalloc(1, VS_FRAME_RAW_MAX), *bytes = vs_xcalloc(1, first + room);
    size_t stored = 0;
    bool good = !vs_symbol_set_encode(set, &next, raw, VS_FRAME_RAW_MAX, &raw_bytes);
    if (good)
        stored = ZSTD_compress(bytes + first, room, raw, raw_bytes, ZSTD_LEVEL);
    free(raw);
    if (!good || ZSTD_isError(stored)) {
        free(bytes);
        return NULL;
    }
    memcpy(bytes + sizeof head, build_id, head.id_bytes);
    memcpy(bytes + sizeof head + head.id_bytes, source->link, head.link_bytes);
    head.raw_bytes = (uint32_t)raw_bytes;
    *count = first + stored;
    head.checksum = checksum_of(&head, bytes + sizeof head, *count - sizeof head);
    memcpy(bytes, &head, sizeof head);
    return bytes;
}

enum vs_err vs_symbol_cache_store(const char *dir, const char *build_id, struct vs_symbol_set *set,
                                  const struct vs_symbol_source *source)
{
    char path[PATH_MAX], hidden[PATH_MAX];
    size_t count;
    if (!path_of(path, dir, build_id))
        return VS_ERR_ARG;
    if (snprintf(hidden, sizeof hidden, "%s/.%s.XXXXXX", dir, build_id) >= (int)sizeof hidden ||
        !vs_folder_make(dir, 0700))
        return VS_ERR_IO;
    unsigned char *bytes = encode(build_id, set, source, &count);
    if (!bytes)
        return VS_ERR_NOMEM;
    int fd = mkostemp(hidden, O_CLOEXEC);
    bool good = fd >= 0 && vs_folder_write(fd, bytes, count);
    if (fd >= 0 && close(fd))
        good = false;
    free(bytes);
    if (good && rename(hidden, path) == 0)
        return VS_OK;
    if (fd >= 0)
        unlink(hidden);
    return VS_ERR_IO;
}

/* --- limiting its size --- */

/* Unfinished: .BUILD-ID.XXXXXX, and no other. */
static enum vs_folder_entry classify(const char *name)
{
    char id[VS_BUILD_ID_HEX_MAX];
    if (vs_debug_files_is_build_id(name))
        return VS_FOLDER_KEPT;
    const char *dot = *name == '.' ? strchr(name + 1, '.') : NULL;
    size_t n = dot ? (size_t)(dot - name) - 1 : sizeof id;
    if (n >= sizeof id || strlen(dot) != strlen(".XXXXXX"))
        return VS_FOLDER_FOREIGN;
    memcpy(id, name + 1, n);
    id[n] = 0;
    return vs_debug_files_is_build_id(id) ? VS_FOLDER_UNFINISHED : VS_FOLDER_FOREIGN;
}

void vs_symbol_cache_trim(const char *path, uint64_t bytes)
{
    vs_folder_trim(path, bytes, STALE_SECONDS, classify);
}
