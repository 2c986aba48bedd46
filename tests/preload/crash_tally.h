/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared between crash_victim and test_crash, in a file that both have mapped: the calls of each
 * thread that have returned. */
#ifndef VS_CRASH_TALLY_H
#define VS_CRASH_TALLY_H

#include <stdatomic.h>
#include <stdint.h>

#define CRASH_THREADS 4
#define CRASH_CALLS_MAX 65536u

struct crash_call {
    uint64_t address, bytes; /* 0 bytes: a free */
};

struct crash_thread {
    _Atomic uint64_t tid, returned;
    struct crash_call calls[CRASH_CALLS_MAX];
};

struct crash_tally {
    _Atomic uint64_t pid;
    struct crash_thread threads[CRASH_THREADS];
};

#endif
