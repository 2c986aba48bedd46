/* SPDX-License-Identifier: Apache-2.0
 *
 * Log lines by write(2); see the header. The saved descriptor is close-on-exec
 * and above 99, out of the way of programs that expect low numbers. */
#define _GNU_SOURCE
#include "base/vs_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic int level_max = VS_LOG_WARN; /* atomic */
static _Atomic int log_fd = -1;             /* atomic; set once */

void vs_log_set_level(enum vs_log_level level)
{
    atomic_store_explicit(&level_max, (int)level, memory_order_relaxed);
}

static int log_fd_get(void)
{
    int fd = atomic_load_explicit(&log_fd, memory_order_acquire);
    if (fd >= 0)
        return fd;
    fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
    if (fd < 0)
        return STDERR_FILENO;
    int expected = -1;
    /* release pairs with the acquire above: a reader sees an open descriptor */
    if (!atomic_compare_exchange_strong_explicit(&log_fd, &expected, fd,
                                                 memory_order_release,
                                                 memory_order_acquire)) {
        close(fd);
        fd = expected;
    }
    return fd;
}

void vs_log(enum vs_log_level level, const char *fmt, ...)
{
    if ((int)level > atomic_load_explicit(&level_max, memory_order_relaxed))
        return;
    int saved_errno = errno;
    char line[1024];
    int n = snprintf(line, sizeof line, "vramscope[%d]: ", (int)getpid());
    va_list ap;
    va_start(ap, fmt);
    int m = vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
    va_end(ap);
    size_t len = (size_t)n + (size_t)(m < 0 ? 0 : m);
    if (len > sizeof line - 2) {
        len = sizeof line - 2;
        memcpy(line + len - 3, "...", 3);
    }
    line[len++] = '\n';
    ssize_t done = write(log_fd_get(), line, len);
    (void)done; /* nowhere left to say that saying failed */
    errno = saved_errno;
}
