/* SPDX-License-Identifier: Apache-2.0
 *
 * A process that reads modules' files for us: libdw trusts any bytes, may crash on them or take
 * minutes, and cannot be interrupted. It is started at the first request, restarted after a crash
 * (the module that caused it is then skipped), and killed when the time is used up. Private to
 * src/trace and its tests. Not thread-safe. */
#ifndef VS_SYMBOL_WORKER_H
#define VS_SYMBOL_WORKER_H

#include <sys/types.h>

#include "trace/symbols/elf_object.h"

/* Zero-initialise, then set *fd* to -1. */
struct vs_symbol_worker {
    int fd;
    pid_t pid;
    unsigned crashes;
    struct vs_symbols_options options;
    size_t resolved;
};

enum vs_worker_result {
    VS_WORKER_ANSWERED,
    VS_WORKER_CRASHED, /* because of this module */
    VS_WORKER_SLOW,    /* this module took half of the time */
    VS_WORKER_LATE,    /* the time is used up, or no worker can be started */
};

/* vs_symbol_worker_request: puts the names around *address* of the module of *query* into *set* as
 * module 0; *number* identifies the module across calls. */
enum vs_worker_result vs_symbol_worker_request(struct vs_symbol_worker *worker,
                                           const struct vs_debug_query *query, uint32_t number,
                                           uint64_t address, struct vs_symbol_set *set,
                                           struct vs_elf_facts *facts);

void vs_symbol_worker_stop(struct vs_symbol_worker *worker);

#endif
