/* SPDX-License-Identifier: Apache-2.0
 *
 * Log lines by write(2); see the header. */
#define _GNU_SOURCE
#include "base/vs_log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vs_cancel.h"
#include "base/vs_signal_guard.h"

static _Atomic int level_max = VS_LOG_WARN; /* atomic */
static _Atomic uint64_t stderr_known;       /* atomic; stderr_now() at the start */
/* atomic; release pairs with acquire: stderr_known is set */
static _Atomic bool remembered;

void vs_log_set_level(enum vs_log_level level)
{
    atomic_store_explicit(&level_max, (int)level, memory_order_relaxed);
}

/* The identity of descriptor 2: a hash of its file; 0 if it is closed. */
static uint64_t stderr_now(void)
{
    struct stat st;
    if (fstat(STDERR_FILENO, &st))
        return 0;
    return ((uint64_t)st.st_dev * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)st.st_ino) | 1;
}

void vs_log_remember(void)
{
    atomic_store_explicit(&stderr_known, stderr_now(), memory_order_relaxed);
    atomic_store_explicit(&remembered, true, memory_order_release);
}

void vs_log(enum vs_log_level level, const char *fmt, ...)
{
    if ((int)level > atomic_load_explicit(&level_max, memory_order_relaxed))
        return;
    VS_KEEP_ERRNO();
    VS_CANCEL_SCOPE();
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
    for (size_t i = (size_t)n; i < len; i++) { /* one line, whatever characters a file name has */
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    }
    line[len++] = '\n';
    struct vs_signal_guard guard;
    vs_signal_guard_enter(&guard);
    if (!atomic_load_explicit(&remembered, memory_order_acquire))
        vs_log_remember();
    uint64_t known = atomic_load_explicit(&stderr_known, memory_order_relaxed);
    ssize_t done = known && known == stderr_now() ? write(STDERR_FILENO, line, len) : 0;
    (void)done; /* a failure to log cannot be logged */
    vs_signal_guard_leave(&guard);
}
