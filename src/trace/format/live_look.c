/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A FILE.live whose process was killed while creating it is empty or holds zeros.
 * One of a later format version is recognised, but not examined. */
#include "trace/format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_zero(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    while (n && !*p) {
        p++;
        n--;
    }
    return !n;
}

static bool was_used(const struct vs_live_header *h)
{
    if (h->major > VS_FORMAT_MAJOR || h->byte_order != VS_BYTE_ORDER)
        return true;
    for (unsigned i = 0; i < h->windows && i < VS_LIVE_WINDOWS_MAX; i++) {
        if (atomic_load_explicit(&h->window[i].sequence, memory_order_relaxed) &&
            atomic_load_explicit(&h->window[i].used, memory_order_relaxed))
            return true;
    }
    return false;
}

enum vs_live_look vs_live_look(const char *path, uint8_t uuid[16])
{
    struct vs_live_header header = {0};
    struct stat st;
    if (lstat(path, &st))
        return errno == ENOENT ? VS_LIVE_NONE : VS_LIVE_OTHER;
    if (!S_ISREG(st.st_mode))
        return VS_LIVE_OTHER;
    if (!st.st_size)
        return VS_LIVE_EMPTY;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    ssize_t n = fd >= 0 ? pread(fd, &header, sizeof header, 0) : -1;
    if (fd >= 0)
        close(fd);
    if (n == (ssize_t)sizeof header && is_zero(&header, sizeof header))
        return VS_LIVE_EMPTY;
    if (n != (ssize_t)sizeof header || memcmp(header.magic, VS_LIVE_MAGIC, VS_MAGIC_BYTES) != 0)
        return VS_LIVE_OTHER;
    if (!was_used(&header))
        return VS_LIVE_EMPTY;
    memcpy(uuid, header.uuid, sizeof header.uuid);
    return VS_LIVE_HOLDS;
}

bool vs_live_set_aside(const char *path, const uint8_t uuid[16], char kept[PATH_MAX])
{
    struct stat st;
    int n = snprintf(kept, PATH_MAX, "%s.%02x%02x%02x%02x", path, uuid[0], uuid[1], uuid[2],
                     uuid[3]);
    return n < PATH_MAX && lstat(kept, &st) && !rename(path, kept);
}
