/* SPDX-License-Identifier: Apache-2.0
 *
 * One allocator as the benchmark sees it. Some are built in, others come from a shared
 * library given by --ours or --peer, which exports bench_contender(). */
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
    /* A fresh allocator, empty but for what its users would set aside; NULL: failed. */
    void *(*open)(void);
    void (*close)(void *self); /* everything has been given back before */
    /* Any thread. Address of at least *bytes* for work on *stream*; 0: failed. */
    uint64_t (*take)(void *self, uint64_t bytes, unsigned stream);
    /* As taken: same bytes, same stream; perhaps in another thread. */
    void (*give)(void *self, uint64_t addr, uint64_t bytes, unsigned stream);
};

/* Ours by PyTorch's rules, on a device without memory that answers at once. */
extern const struct bench_contender bench_ours;
/* Our policies on that device, which has virtual memory; the last followed by NULL. */
extern const struct bench_contender *const bench_policies[];
/* Does nothing at all: what the benchmark itself costs. */
extern const struct bench_contender bench_nothing;
/* The floor: mimalloc where its library is found, otherwise the C library's malloc.
 * It is asked for 1 KiB at most, so that it never goes to the system. */
const struct bench_contender *bench_host(void);

/* What such a library exports. NULL, with a line on standard error, when it cannot
 * run here. */
__attribute__((visibility("default"))) const struct bench_contender *bench_contender(void);

#ifdef __cplusplus
}
#endif
#endif
