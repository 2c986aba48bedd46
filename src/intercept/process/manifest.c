/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. One write: other processes append as well. */
#define _GNU_SOURCE
#include "intercept/process/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/vs_log.h"

#define PIECES_MAX 32 /* a name with more newlines is truncated */

static struct iovec piece(const void *bytes, size_t length)
{
    return (struct iovec){(void *)bytes, length}; /* only read */
}

void vs_manifest_append(const char *manifest, char mark, const char *text)
{
    struct iovec pieces[PIECES_MAX];
    int count = 0;
    int fd = manifest && *manifest ? open(manifest, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    if (mark)
        pieces[count++] = piece(&mark, 1);
    while (count < PIECES_MAX - 2) {
        size_t length = strcspn(text, "\n");
        pieces[count++] = piece(text, length);
        text += length;
        if (!*text)
            break;
        pieces[count++] = piece("", 1);
        text++;
    }
    pieces[count++] = piece("\n", 1);
    if (writev(fd, pieces, count) < 0)
        vs_log(VS_LOG_DEBUG, "manifest not written: %s", strerror(errno));
    close(fd);
}
