/* SPDX-License-Identifier: Apache-2.0
 *
 * Interface of an allocator in the benchmark. Some are built in, others come from a shared library
 * given by --ours or --peer, which exports bench_contender(). */
#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_STREAMS 8 /* streams are numbered from 0 */

struct bench_contender {
    const char *name; /* of its column: at most 10 characters */
    const char *what; /* product, version, settings: one line */
    /* A new allocator, empty except for memory that its users would reserve first; NULL: failed. */
    void *(*open)(void);
    void (*close)(void *self); /* all blocks have been freed before */
    /* Any thread. Allocates at least *bytes* for work on *stream*; returns the address, 0: failed. */
    uint64_t (*take)(void *self, uint64_t bytes, unsigned stream);
    /* Frees with the bytes and stream of the allocation; perhaps in another thread. */
    void (*give)(void *self, uint64_t addr, uint64_t bytes, unsigned stream);
};

/* Our allocator with PyTorch's rules, on a device without memory that returns at once. */
extern const struct bench_contender bench_ours;
/* Our policies on that device, which has virtual memory; the last followed by NULL. */
extern const struct bench_contender *const bench_policies[];
/* Does nothing: measures the benchmark itself. */
extern const struct bench_contender bench_nothing;
/* The floor: mimalloc if its library is found, otherwise the C library's malloc. Requests are at
 * most 1 KiB, so that it makes no system calls. */
const struct bench_contender *bench_host(void);

/* Exported by such a library. NULL, with a line on standard error, when it cannot run here. */
__attribute__((visibility("default"))) const struct bench_contender *bench_contender(void);

#ifdef __cplusplus
}
#endif
#endif
