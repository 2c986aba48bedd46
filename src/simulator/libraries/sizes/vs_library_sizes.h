/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes that can be measured on a real device only: workspaces, memory of handles, communicators and contexts.
 * They stand in sizes.tsv, one row each with its source (docs/internals/simulator.md describes the columns). Where no row was measured, a caller's rule or a row of
 * kind "assumed" applies, and the run's notes name it. */
#ifndef VS_LIBRARY_SIZES_H
#define VS_LIBRARY_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulator/libraries/common/vs_library_base.h"

struct vs_size_query {
    const char *library; /* package: "cudnn" */
    int version;         /* major * 10000 + minor * 100 + patch */
    int architecture;    /* 90 for compute capability 9.0 */
    const char *what;    /* one word: "convolution", "handle", "rnn-reserve"; notes have the key after it */
    const char *key;     /* the problem, in the words that the library's stand-in writes */
};

struct vs_size_row {
    const char *library;
    int first, last;     /* versions */
    int architecture;    /* 0: any */
    const char *what, *key; /* key "*": every one */
    uint64_t bytes;
    bool measured;       /* false: the row's kind is "assumed" */
    const char *source;
};

/* vs_size_find: the row for *query* of *count* rows: the first measured one, else the first assumed one.
 * NULL without one. */
const struct vs_size_row *vs_size_find(const struct vs_size_row *table, size_t count,
                                       const struct vs_size_query *query);

/* vs_library_size: the size of *what* for this library (vs_library.package, its version and the
 * current device): measured, or *assumed* with a note of *why*. */
uint64_t vs_library_size(const char *what, const char *key, uint64_t assumed, const char *why);

/* vs_library_load: the first handle on a device loads the library's kernels there, with the size in
 * the table's row "handle", to the end of the context. false: the device has not so many free bytes. */
bool vs_library_load(void);

/* vs_library_workspace: the same for workspaces that the key workspace= of VRAMSCOPE_SIMULATE
 * replaces where none was measured. */
uint64_t vs_library_workspace(const char *what, const char *key, uint64_t assumed, const char *why);

#endif
