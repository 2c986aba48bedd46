/* SPDX-License-Identifier: Apache-2.0
 *
 * Interface of one allocator in the benchmark. Some are built in, others come from a shared library
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
    /* Creates an allocator, empty except for what its users would reserve in advance; NULL:
     * failed. */
    void *(*open)(void);
    void (*close)(void *self); /* all memory has been freed before */
    /* Any thread. Allocates at least *bytes* for work on *stream*; 0: failed. */
    uint64_t (*take)(void *self, uint64_t bytes, unsigned stream);
    /* With the same bytes and stream as allocated; perhaps in another thread. */
    void (*give)(void *self, uint64_t addr, uint64_t bytes, unsigned stream);
};

/* Ours with PyTorch's rules, on a device without memory that answers immediately. */
extern const struct bench_contender bench_ours;
/* Our policies on that device, which has virtual memory; the last followed by NULL. */
extern const struct bench_contender *const bench_policies[];
/* Does nothing: the cost of the benchmark itself. */
extern const struct bench_contender bench_nothing;
/* The floor: mimalloc if its library is found, otherwise the C library's malloc. Requests are at
 * most 1 KiB, so it never calls the system. */
const struct bench_contender *bench_host(void);

/* Exported by such a library. NULL, with a line on standard error, if it cannot run here. */
__attribute__((visibility("default"))) const struct bench_contender *bench_contender(void);

#ifdef __cplusplus
}
#endif
#endif
