/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages to the user from inside another program's process. One line each, prefix
 * "vramscope[pid]: ", assembled in a stack buffer and written with one write(2) to stderr, as long
 * as descriptor 2 refers to the same file as at the start: a program that closes its stderr may
 * have its data there. No duplicate descriptor is kept: the reader of a pipe waits until every one
 * is closed. Silent except for what the user must know. Never allocates, never takes a lock. */
#ifndef VS_LOG_H
#define VS_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/vs_err.h"

enum vs_log_level { VS_LOG_ERROR = 0, VS_LOG_WARN = 1, VS_LOG_INFO = 2, VS_LOG_DEBUG = 3 };

/* vs_log_set_level: messages above *level* are dropped. Default VS_LOG_WARN. */
void vs_log_set_level(enum vs_log_level level);

/* vs_log_remember: records that descriptor 2 is stderr now; otherwise the first line does. */
void vs_log_remember(void);

/* vs_log: writes one line (at most 1023 bytes; a longer one is cut with "..."). *fmt* has no
 * trailing newline. Any thread; not from a signal handler. */
void vs_log(enum vs_log_level level, const char *fmt, ...) VS_PRINTF(2, 3);

/* vs_log_once: as vs_log, but at most once per call site and process. */
#define vs_log_once(level, ...)                                       \
    do {                                                              \
        static atomic_flag vs_log_said_ = ATOMIC_FLAG_INIT;           \
        if (!atomic_flag_test_and_set_explicit(&vs_log_said_,         \
                                               memory_order_relaxed)) \
            vs_log(level, __VA_ARGS__);                               \
    } while (0)

#endif
